"""One connection to the daemon, on which both ends may ask. What comes over the socket is bounded and checked before it is used."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, NoReturn, Self, Unpack

from .protocol import (
    ApprovalAnswer, ApprovalList, ApprovalRequest, CancelResult, Console, DecideResult, DescribeResult, InitializeResult,
    Progress, Program, Result, Scope, StatusResult, Tool, ToolCall, ToolName,
)  # fmt: skip

__all__ = [
    "BUSY", "DEFAULT_SOCKET", "INTERNAL", "INVALID_PARAMS", "INVALID_REQUEST", "PARSE", "PROTOCOL_VERSION", "REFUSED", "UNKNOWN_METHOD",
    "VERSION", "Client", "ClosedError", "RefusedError", "SandboxdError", "connect",
]  # fmt: skip

PROTOCOL_VERSION = "1"
DEFAULT_SOCKET = "/run/sandboxd/sandboxd.sock"

# Codes of a RefusedError.
PARSE, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
REFUSED, BUSY, VERSION = -32000, -32001, -32002

MAX_LINE = 8 << 20  # bytes of a message, of either end
MAX_HANDLERS = 1024  # requests of the daemon that are being answered
MAX_MESSAGE = 8 << 10  # characters of an error that goes to the program, which is told no more
WRITE_WAIT = 30.0  # seconds that the daemon may leave bytes unread
INITIAL_WAIT = 60.0  # seconds for its welcome; one that is being restarted may drain for 30 s first
LAST_WORDS = 2.0  # seconds after a cancel, and after a hang-up
CANCEL_AGAIN = 0.005  # seconds: the request to run it may not have arrived yet

Json = dict[str, Any]
Tools = Callable[[ToolCall], Awaitable[Json]]
Approvals = Callable[[ApprovalRequest], Awaitable[ApprovalAnswer]]


class SandboxdError(Exception):
    """What the others are."""


class RefusedError(SandboxdError):
    """The daemon did not take a request. Raised by a handler, it goes to the daemon with its code."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class ClosedError(SandboxdError):
    """The connection ended before there was an answer. sent: the daemon may have got the request; calls may have been made."""

    def __init__(self, message: str, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class _Broken(Exception):
    """The daemon broke the protocol; what can't be told apart from an answer that somebody waits for ends the connection."""

    def __init__(self, message: str, code: int = PARSE) -> None:
        super().__init__(message)
        self.code = code


async def connect(
    path: str,
    *,
    name: str,
    version: str | None = None,
    servers: Sequence[str] = (),
    announce: Sequence[Tool] = (),
    tools: Tools | None = None,
    approvals: Approvals | None = None,
    progress: Callable[[Progress], None] | None = None,
    console: Callable[[Console], None] | None = None,
) -> "Client":
    """Connect to the daemon whose socket is at path, and introduce the gateway.

    tools performs a call that the daemon allowed, and returns an MCP CallToolResult; what it raises, the program can catch. It is
    cancelled when the run ends. approvals answers for calls that need approval; without it, administrators are asked. progress and
    console are called for runs that ask for it. servers are the names below `tools` in a program, announce what their tools are.
    """
    peer = {"name": name} if version is None else {"name": name, "version": version}
    hello = {"client": peer, "servers": list(servers), "tools": list(announce), "approvals": approvals is not None}
    async with asyncio.timeout(INITIAL_WAIT):
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=MAX_LINE)
        except OSError as e:
            raise ClosedError(f"connect to sandboxd: {e}: {path}", sent=False) from e
        client = Client(reader, writer, tools, approvals, progress, console)
        try:
            client.welcome = await client.call("initialize", {"protocol_version": PROTOCOL_VERSION, **hello})
            if (theirs := client.welcome.get("protocol_version")) != PROTOCOL_VERSION:
                raise SandboxdError(f"the daemon speaks protocol version {theirs}, this client {PROTOCOL_VERSION}")
        except BaseException:
            await client.close()
            raise
    return client


class Client:
    """A connection. Several programs may run at once. It does not reconnect."""

    welcome: InitializeResult

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        tools: Tools | None, approvals: Approvals | None, progress: Callable[[Progress], None] | None, console: Callable[[Console], None] | None,
    ) -> None:  # fmt: skip
        self._asks: dict[str, Callable[[Any], Awaitable[Any]] | None] = {"tools/call": tools, "approvals/request": approvals}
        self._tells: dict[str, Callable[[Any], None] | None] = {"run/progress": progress, "run/console": console}
        self._writer = writer
        self._ended: str | None = None  # why
        self._refusal: str | None = None  # of the connection, not of a request
        self._next = self._tokens = self._serving = 0
        self._pending: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._handlers: dict[str, asyncio.Task[None]] = {}  # by what tools/cancel and approvals/cancel name
        self._tasks: set[asyncio.Task[None]] = set()
        self._start(self._read(reader))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def execute(self, **program: Unpack[Program]) -> Result:
        """Run a program. One that fails is a Result whose outcome is not "ok". Cancelling this coroutine cancels the run; to have
        the Result that says what became of each call, give the run a token and await cancel() instead."""
        self._tokens += 1
        token = program.get("token") or f"run-{self._tokens}"  # by which to cancel it
        result = asyncio.ensure_future(self.call("execute", {**program, "token": token}))
        result.add_done_callback(lambda done: done.cancelled() or done.exception())  # which nobody may wait for any more
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            self._start(self._give_up(token, result))
            raise

    async def _give_up(self, token: str, result: "asyncio.Future[Result]") -> None:
        try:
            async with asyncio.timeout(LAST_WORDS):
                while not result.done() and (await self.cancel(token=token))["cancelled"] == 0:
                    await asyncio.sleep(CANCEL_AGAIN)
                await result
        except (SandboxdError, TimeoutError):
            result.cancel()

    async def cancel(self, *, run: str | None = None, token: str | None = None) -> CancelResult:
        """End runs of this connection; their execute gets a Result of outcome "cancelled"."""
        return await self.call("cancel", {"token": token} if run is None else {"run": run})

    async def describe(self, tools: Sequence[ToolName] = (), declarations: bool = False) -> DescribeResult:
        """The announced tools as TypeScript."""
        return await self.call("tools/describe", {"tools": list(tools), "declarations": declarations})

    async def status(self) -> StatusResult:
        return await self.call("status")

    async def approvals(self) -> ApprovalList:
        """Calls of this connection's programs that wait for an approval."""
        return await self.call("approvals/list")

    async def decide(self, id: str, approve: bool, scope: Scope = "call", reason: str = "") -> DecideResult:
        return await self.call("approvals/decide", {"id": id, "approve": approve, "scope": scope, "reason": reason})

    async def call(self, method: str, params: Json | None = None) -> Any:
        """Any method of docs/protocol.md."""
        if self._ended is not None:
            raise ClosedError(f"sandboxd: {method}: {self._ended}", sent=False)
        self._next += 1
        number, answer = self._next, asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params or {}})
        self._pending[number] = method, answer
        try:
            await self._flush()
            return await answer
        finally:
            self._pending.pop(number, None)

    async def close(self) -> None:
        """Hang up, which ends all runs. Returns when handlers have, at most two seconds later."""
        self._end("the gateway closed the connection")
        if left := self._tasks - {asyncio.current_task()}:
            await asyncio.wait(left, timeout=LAST_WORDS)
        self._writer.transport.abort()  # what was said last has gone out, or is not read

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _end(self, why: str) -> None:
        if self._ended is not None:
            return
        self._ended = self._refusal or why
        for method, answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ClosedError(f"sandboxd: {method}: {self._ended}", sent=True))
        for handler in self._handlers.values():
            handler.cancel()
        self._writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        why = "the daemon hung up"
        try:
            while self._ended is None:
                await self._take(await reader.readuntil(b"\n"))
        except asyncio.IncompleteReadError as e:
            why += " in the middle of a line" if e.partial else ""
        except asyncio.LimitOverrunError:
            why = self._break(_Broken(f"a line is longer than {MAX_LINE} bytes", INVALID_REQUEST))
        except _Broken as e:
            why = self._break(e)
        except OSError as e:
            why = str(e)
        finally:
            self._end(why)

    def _break(self, e: _Broken) -> str:
        self._send({"id": None, "error": {"code": e.code, "message": str(e)}})
        return f"the daemon broke the protocol: {e}"

    async def _take(self, line: bytes) -> None:
        if not line.strip(b"\r\n"):
            return
        try:
            m = json.loads(line.decode(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise _Broken("a line is no JSON in UTF-8") from None
        if wrong := _malformed(m):
            raise _Broken(f"not a JSON-RPC 2.0 message: {wrong}")
        if "method" not in m:
            self._answered(m)
        elif m.get("id") is None:
            self._notified(m["method"], m.get("params"))
        else:
            self._serving += 1
            self._start(self._asked(m["id"], m["method"], m.get("params")))
            await self._flush()
            await asyncio.sleep(0)  # handlers begin in the order of the requests

    def _answered(self, m: Json) -> None:
        error = m.get("error")
        refused = error and RefusedError(error["code"], error["message"], error.get("data"))
        waiting = self._pending.pop(m["id"], None)
        if m["id"] is None:
            self._refusal = str(refused)
        if waiting is None or waiting[1].done():
            return  # given up, answered twice, or never asked
        if refused:
            waiting[1].set_exception(refused)
        else:
            waiting[1].set_result(m["result"])

    def _notified(self, method: str, params: Any) -> None:
        if method not in _KNOWN or _missing(method, params):
            return  # as JSON-RPC asks
        key = f"call {params['run']}/{params['n']}" if method == "tools/cancel" else f"request {params.get('id')}"
        if method in ("tools/cancel", "approvals/cancel") and key in self._handlers:
            self._handlers[key].cancel()
        try:
            if tell := self._tells.get(method):
                tell(params)
        except Exception as e:  # a mistake of the gateway, which must not end the connection
            asyncio.get_running_loop().call_exception_handler({"message": f"sandboxd: callback of {method}", "exception": e})

    async def _asked(self, id: int | str, method: str, params: Any) -> None:
        key, done, task = "", False, asyncio.current_task()
        assert task is not None
        try:
            if self._ended is not None:
                return
            if self._serving > MAX_HANDLERS:
                raise RefusedError(BUSY, f"more than {MAX_HANDLERS} unanswered requests on one connection")
            handler = self._asks.get(method)
            if handler is None:
                raise RefusedError(UNKNOWN_METHOD, f"this gateway answers no {method[:64]!r}")
            if wrong := _missing(method, params):
                raise RefusedError(INVALID_PARAMS, wrong)
            name = f"call {params['run']}/{params['n']}" if method == "tools/call" else f"request {params['id']}"
            if name in self._handlers:
                raise RefusedError(INVALID_PARAMS, f"{name} is under way")
            key = name
            self._handlers[key] = task
            result = await handler(params)
            done = True
            if not isinstance(result, dict):
                raise TypeError("the gateway's handler returned no dict")
            self._send({"id": id, "result": result})
        except asyncio.CancelledError:
            self._send({"id": id, "error": {"code": INTERNAL, "message": "nobody waits for this answer"}})
        except Exception as e:
            message = "it was carried out, but its answer can't be sent: " * done + (str(e)[:MAX_MESSAGE] or type(e).__name__)
            self._send({"id": id, "error": {"code": e.code if isinstance(e, RefusedError) else INTERNAL, "message": message}})
        finally:
            self._serving -= 1
            self._handlers.pop(key, None)
        await self._flush()

    def _send(self, message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False, separators=(",", ":")).encode()
        if len(line) > MAX_LINE:
            raise RefusedError(INVALID_REQUEST, f"a line is longer than {MAX_LINE} bytes")
        if not self._writer.is_closing():
            self._writer.write(line + b"\n")

    async def _flush(self) -> None:
        """Wait until the daemon has read most of what was sent."""
        try:
            async with asyncio.timeout(WRITE_WAIT):
                await self._writer.drain()
        except TimeoutError:
            self._end(f"the daemon has read nothing for {WRITE_WAIT:.0f} s")
        except OSError:
            pass  # the reader tells, after what the daemon said last


def _is(value: Any, kind: type) -> bool:
    return type(value) is kind  # a bool is no int


# What the daemon may send, and the members without which it means nothing.
_KNOWN: dict[str, dict[str, type]] = {
    "tools/call": {"run": str, "n": int, "idempotency_key": str, "server": str, "tool": str, "arguments": dict},
    "approvals/request": {"id": str, "run": str, "n": int, "server": str, "tool": str},
    "run/progress": {"run": str},
    "run/console": {"run": str, "level": str, "text": str},
    "tools/cancel": {"run": str, "n": int},
    "approvals/cancel": {"id": str},
}


def _missing(method: str, params: Any) -> str:
    for name, kind in _KNOWN[method].items():
        if not _is(params, dict) or not _is(params.get(name), kind):
            return f"params: {name} is missing, or not what docs/protocol.md says"
    return ""


_MEMBERS = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))


def _malformed(m: Any) -> str:
    """What is wrong with the envelope of a message."""
    if not _is(m, dict):
        return "no object"
    if strangers := m.keys() - _MEMBERS:
        return f"unknown member {min(strangers)[:40]!r}"
    if m.get("jsonrpc") != "2.0":
        return '"jsonrpc" must be "2.0"'
    id, error, answers = m.get("id"), m.get("error"), ("result" in m) + ("error" in m)
    if not (id is None or _is(id, int) or _is(id, str) and len(id) <= 64):
        return '"id" is neither a whole number nor a short string'
    if "method" in m:
        return "" if _is(m["method"], str) and answers == 0 else "no method, or an answer as well"
    if answers != 1 or "id" not in m:
        return 'neither "method" nor one of "result" and "error" with an "id"'
    if "error" in m and not (_is(error, dict) and _is(error.get("code"), int) and _is(error.get("message"), str)):
        return "an error without code and message"
    if "result" in m and (not _is(m["result"], dict) or id is None):
        return "a result that is no object, or of no id"
    return ""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
