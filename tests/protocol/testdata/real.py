"""What the Python client promises, beside a real daemon: python3 -I real.py CLIENT SOCKET"""

import asyncio
import sys

sys.path.insert(0, sys.argv[1])
import sandboxd  # noqa: E402

socket = sys.argv[2]
hanging: asyncio.Future[asyncio.Task[None]]


async def tools(call):
    match call["tool"]:
        case "echo":
            return {"structuredContent": call["arguments"]}
        case "refuse":
            raise sandboxd.RefusedError(sandboxd.INVALID_PARAMS, "not this one")
        case "fail":
            raise OSError(f'it said "no" — {"x" * 20_000}')
        case "nothing":
            return None
        case "circular":
            a = {"content": []}
            a["a"] = a
            return a
        case "large":
            return {"content": [{"type": "text", "text": "x" * (9 << 20)}]}
        case "nan":
            return {"structuredContent": float("nan")}
        case "key":
            return {"structuredContent": call["idempotency_key"] == f"{call['run']}/{call['n']}"}
    hanging.set_result(asyncio.current_task())
    await asyncio.Event().wait()


def begin():
    global hanging
    hanging = asyncio.get_running_loop().create_future()
    return hanging


async def raises(kind, text, waiting):
    try:
        await waiting
    except kind as e:
        assert text in str(e), e
        return e
    raise AssertionError(f"no {kind}")


async def main():
    client = await sandboxd.connect(socket, name="real", version="1", servers=["t"], tools=tools)
    assert client.welcome["server"]["name"] == "sandboxd"

    async def value(source, input=None):
        result = await client.execute(source=source, input=input)
        assert result["outcome"] == "ok", result
        return result["value"]

    async def caught(tool):
        return await value(f"return tools.t.{tool}({{}}).catch(e => e.message)")

    # Several at once, on one connection.
    inputs = [{"i": i, "text": f"é 😀 \u2028 {i}"} for i in range(20)]
    got = await asyncio.gather(*(value("return (await tools.t.echo({ input })).input", i) for i in inputs))
    assert got == inputs, got
    odd = {"half": "\ud800", "__proto__": {"a": None}, "n": -0.5e-7}
    assert await value("return input", odd) == odd
    assert await value("return tools.t.key({})") is True

    # What a handler does wrong is the program's to catch.
    for tool, text in (
        ("refuse", "not this one"), ("fail", 'it said "no" — xxx'), ("nothing", "it was carried out, but its answer can't be sent: the gateway's handler returned no dict"),
        ("circular", "Circular"), ("large", "it was carried out, but its answer can't be sent: a line is longer than 8388608 bytes"), ("nan", "not JSON compliant"),
    ):  # fmt: skip
        assert text in await caught(tool), tool

    # To cancel the task cancels the run, and the handler.
    begun = begin()
    run = asyncio.create_task(client.execute(source="await tools.t.hang({})"))
    handler = await begun
    run.cancel()
    await raises(asyncio.CancelledError, "", run)
    await asyncio.wait([handler], timeout=10)
    assert handler.done()
    early = asyncio.create_task(client.execute(source="await new Promise(() => setTimeout(() => {}, 20000))"))
    await asyncio.sleep(0)  # the request may not have arrived
    early.cancel()
    await raises(asyncio.CancelledError, "", early)
    for _ in range(2000):
        # The client has given both up, and the daemon has ended them.
        if len(asyncio.all_tasks()) == 2 and (await client.status())["running"] == 0:
            break
        await asyncio.sleep(0.005)
    else:
        raise AssertionError("they run on")

    # By its token, the result says what became of the call.
    begun = begin()
    run = asyncio.create_task(client.execute(source="await tools.t.hang({})", token="mine"))
    await begun
    assert await client.cancel(token="mine") == {"cancelled": 1}
    result = await run
    assert (result["outcome"], result["calls"][0]["state"]) == ("cancelled", "unknown"), result

    # Refusals have their code.
    e = await raises(sandboxd.RefusedError, "there is no", client.execute(source="return 1", profile="none"))
    assert e.code == sandboxd.INVALID_PARAMS
    e = await raises(sandboxd.RefusedError, "unknown method", client.call("nope"))
    assert e.code == sandboxd.UNKNOWN_METHOD
    await raises(TypeError, "", client.execute(source=b"1"))

    # A hang-up ends what waits.
    begun = begin()
    lost = asyncio.create_task(client.execute(source="await tools.t.hang({})"))
    handler = await begun
    await client.close()
    e = await raises(sandboxd.ClosedError, "execute: the gateway closed the connection", lost)
    assert e.sent and handler.done()
    e = await raises(sandboxd.ClosedError, "status", client.status())
    assert not e.sent
    e = await raises(sandboxd.ClosedError, "No such file", sandboxd.connect(socket + ".none", name="real"))
    assert not e.sent
    await raises(sandboxd.RefusedError, "twice", sandboxd.connect(socket, name="real", servers=["t", "t"]))
    assert len(asyncio.all_tasks()) == 1, asyncio.all_tasks()
    print('"ok"')


asyncio.run(main(), debug=False)
