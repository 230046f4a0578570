"""What a gateway in Python writes, and what its type checker must not let it write."""

from typing import Any, assert_type

import sandboxd


async def perform(call: sandboxd.ToolCall) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": call["idempotency_key"]}]}


async def approve(request: sandboxd.ApprovalRequest) -> sandboxd.ApprovalAnswer:
    return {"approve": request.get("arguments", {})["amount"] < 5, "scope": "call"}


def progress(p: sandboxd.Progress) -> None:
    print(p["doing"])


async def use(path: str) -> sandboxd.Outcome | int:
    announce: list[sandboxd.Tool] = [{"server": "a", "name": "b", "annotations": {"readOnlyHint": True}}]
    client = await sandboxd.connect(
        path, name="usage", servers=["a"], announce=announce, tools=perform, approvals=approve, progress=progress, console=lambda c: print(c["text"])
    )
    try:
        async with client:
            result = assert_type(await client.execute(source="return 1", limits={"wall_ms": 1}, input=[1]), sandboxd.Result)
            if result["outcome"] == "busy" and "error" in result:
                return result["error"].get("retry_after_ms", 0)
            described = await client.describe([{"server": "a"}], declarations=True)
            await client.cancel(token="x")
            await client.decide("x", approve=False, reason=described["tools"][0]["signature"])
            return (await client.status())["pool"][0]["ready"]
    except sandboxd.RefusedError as e:
        return e.code if e.code == sandboxd.INVALID_PARAMS else 0
    except sandboxd.ClosedError as e:
        return int(e.sent)


async def misuse(client: sandboxd.Client) -> None:
    await client.execute(source="return 1", langauge="typescript")  # pyright: ignore[reportCallIssue]
    await client.execute(limits={"wall_ms": 1})  # pyright: ignore[reportCallIssue]
    await client.decide("x", True, scope="forever")  # pyright: ignore[reportArgumentType]
    (await client.execute(source=""))["valeu"]  # pyright: ignore[reportGeneralTypeIssues]
