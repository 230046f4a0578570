"""A gateway with one tool: it runs the program on its standard input in the daemon at $SANDBOXD_SOCKET."""

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from typing import Any

import sandboxd


async def call(c: sandboxd.ToolCall) -> dict[str, Any]:
    """Performs a tool call that the daemon let through, with whatever credentials it takes, and returns an MCP CallToolResult."""
    print(f"{c['idempotency_key']}: {c['server']}.{c['tool']}({json.dumps(c['arguments'])})", file=sys.stderr)
    return {"content": [], "structuredContent": {"now": datetime.now(UTC).isoformat()}}


TOOLS: list[sandboxd.Tool] = [{"server": "time", "name": "now", "input_schema": {"type": "object", "additionalProperties": False}}]


async def main() -> None:
    path = os.environ.get("SANDBOXD_SOCKET", sandboxd.DEFAULT_SOCKET)
    async with await sandboxd.connect(path, name="gateway-python", servers=["time"], announce=TOOLS, tools=call) as client:
        result = await client.execute(source=sys.stdin.read())
    if "error" in result:
        error = result["error"]  # for the model: it can mend its program
        at = f" (line {error['line']})" if "line" in error else ""
        sys.exit(f"{result['outcome']}: {error['message']}{at} {error.get('hint', '')}".rstrip())
    print(json.dumps(result["value"]))


asyncio.run(main())
