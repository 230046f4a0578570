"""Runs a program beside each of some daemons that mean ill, and writes what came of it: python3 -I hostile.py CLIENT SOCKET…"""

import asyncio
import json
import sys

sys.path.insert(0, sys.argv[1])
import sandboxd  # noqa: E402


async def run(socket):
    began = 0

    async def tools(call):
        nonlocal began
        began += 1
        if call["tool"] == "hang":
            await asyncio.Event().wait()
        return {"content": [{"type": "text", "text": call["tool"]}]}

    def progress(_):
        nonlocal began
        began += 1_000_000

    try:
        async with await sandboxd.connect(socket, name="hostile", tools=tools, progress=progress) as client:
            ending = {"outcome": (await client.execute(source="return 1"))["outcome"]}
    except sandboxd.SandboxdError as e:
        ending = {"name": type(e).__name__, "message": str(e), "sent": getattr(e, "sent", None)}
    print(json.dumps({"began": began, **ending}))


async def main():
    for socket in sys.argv[2:]:
        await run(socket)


asyncio.run(main())
