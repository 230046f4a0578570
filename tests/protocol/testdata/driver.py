"""Plays the gateway of a transcript through the Python client, and writes what came of it: python3 -I driver.py CLIENT SOCKET TRANSCRIPT"""

import asyncio
import json
import sys

sys.path.insert(0, sys.argv[1])
import sandboxd  # noqa: E402

with open(sys.argv[3], encoding="utf-8") as transcript:
    lines = [json.loads(line) for line in transcript]
seen = 0  # of the daemon's lines
answers = {}
client = None


def say(report):
    print(json.dumps(report), flush=True)


def saw():
    global seen
    seen += 1


async def until(count):
    while seen < count:
        await asyncio.sleep(0.001)


def answer(method, key, value):
    """The future of what the gateway is to answer to the daemon's request."""
    for number, line in enumerate(lines):
        m = line["message"]
        if line["from"] == "daemon" and m.get("method") == method and m["params"][key] == value:
            return answers.setdefault(m["id"], asyncio.get_running_loop().create_future())
    raise AssertionError(f"{method} {value}")


def handler(method, key):
    async def handle(params):
        say({"method": method, "params": params})
        saw()
        try:
            return await answer(method, key, params[key])
        except asyncio.CancelledError:
            saw()
            raise

    return handle


def told(method):
    def tell(params):
        say({"method": method, "params": params})
        saw()

    return tell


async def perform(method, params):
    global client
    match method:
        case "initialize":
            client = await sandboxd.connect(
                sys.argv[2], **params["client"], servers=params["servers"], announce=params.get("tools", ()),
                tools=handler("tools/call", "idempotency_key"),
                approvals=handler("approvals/request", "id") if params.get("approvals") else None,
                progress=told("run/progress"), console=told("run/console"),
            )  # fmt: skip
            return client.welcome
        case "execute":
            return await client.execute(**params)
        case "cancel":
            return await client.cancel(**params)
        case "tools/describe":
            return await client.describe(**params or {})
        case "status":
            return await client.status()
        case "approvals/list":
            return await client.approvals()
        case "approvals/decide":
            return await client.decide(**params)
    return await client.call(method, params)


async def ask(line, method, params):
    try:
        say({"line": line, "result": await perform(method, params)})
    except sandboxd.RefusedError as e:
        data = {} if e.data is None else {"data": e.data}
        say({"line": line, "error": {"code": e.code, "message": str(e), **data}})
    saw()


async def main():
    before = 0  # of the daemon's lines, that must have come
    asked = []
    for number, line in enumerate(lines):
        m = line["message"]
        if line["from"] == "daemon":
            before += 1
            continue
        await until(before)
        if "method" in m:
            asked.append(asyncio.ensure_future(ask(number, m["method"], m.get("params"))))
        elif "error" in m:
            answers[m["id"]].set_exception(sandboxd.RefusedError(m["error"]["code"], m["error"]["message"]))
        else:
            answers[m["id"]].set_result(m["result"])
    await asyncio.gather(*asked)
    await until(before)
    if client:
        await client.close()


asyncio.run(main())
