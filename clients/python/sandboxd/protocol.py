"""The types of the protocol, with the names and members of docs/protocol/messages.schema.json; a test holds them against it."""

# fmt: off
# A member is a word and a type: several on a line read better here than one.

from typing import Any, Literal, NotRequired, TypedDict

__all__ = [
    "ApprovalAnswer", "ApprovalList", "ApprovalRequest", "Call", "CancelResult", "Console", "ConsoleLine", "DecideResult",
    "DescribeResult", "DescribedTool", "InitializeResult", "Isolation", "Level", "Limits", "Outcome", "Peer", "PoolStatus",
    "ProfileInfo", "Program", "ProgramError", "Progress", "Result", "Scope", "Stats", "StatusResult", "Tool",
    "ToolAnnotations", "ToolCall", "ToolName", "Truncated",
]

Outcome = Literal[
    "ok", "invalid", "error", "timeout", "cpu", "memory", "output", "calls",
    "denied", "violation", "crash", "cancelled", "busy", "internal",
]
Scope = Literal["call", "run"]
Level = Literal["log", "info", "warn", "error", "debug"]


class Peer(TypedDict):
    name: str; version: NotRequired[str]

class ToolAnnotations(TypedDict, total=False):
    title: str; readOnlyHint: bool; destructiveHint: bool; idempotentHint: bool; openWorldHint: bool

class Tool(TypedDict):
    server: str; name: str; description: NotRequired[str]; input_schema: NotRequired[Any]
    output_schema: NotRequired[Any]; annotations: NotRequired[ToolAnnotations]

class Limits(TypedDict, total=False):
    """Times are milliseconds, sizes bytes; absent: as the profile says."""
    wall_ms: int; cpu_ms: int; memory_bytes: int; calls: int; concurrent_calls: int; output_bytes: int
    console_bytes: int; source_bytes: int; argument_bytes: int; result_bytes: int

class Isolation(TypedDict):
    seccomp: str; landlock: int; cgroup: str; namespaces: list[str]; rlimits: list[str]; verified: bool
    missing: list[str]

class ProfileInfo(TypedDict):
    name: str; description: str; limits: Limits; isolation: NotRequired[Isolation]

class InitializeResult(TypedDict):
    protocol_version: str; server: Peer; profiles: list[ProfileInfo]

class Program(TypedDict):
    source: str; profile: NotRequired[str]; input: NotRequired[Any]; servers: NotRequired[list[str]]
    limits: NotRequired[Limits]; token: NotRequired[str]; progress: NotRequired[bool]; console: NotRequired[bool]
    traceparent: NotRequired[str]; intent: NotRequired[str]; constraints: NotRequired[list[str]]
    seed: NotRequired[int]; now: NotRequired[int]; time_zone: NotRequired[str]

class ProgramError(TypedDict):
    """Where, in the program as it was sent, and what to do instead."""
    kind: Outcome; message: str; line: NotRequired[int]; column: NotRequired[int]; frame: NotRequired[str]
    hint: NotRequired[str]; retry_after_ms: NotRequired[int]; id: NotRequired[str]

class ConsoleLine(TypedDict):
    level: Level; text: str

class Truncated(TypedDict, total=False):
    console_lines: int; console_bytes: int

class Call(TypedDict):
    n: int; server: str; tool: str; state: Literal["not_started", "denied", "succeeded", "failed", "unknown"]
    decision: NotRequired[Literal["deny", "ask", "allow"]]; rule: NotRequired[str]
    verdict: NotRequired[Literal["block", "ask", "allow"]]; approved_by: NotRequired[str]; bytes: int; ms: float
    error: NotRequired[str]; redacted: NotRequired[int]; unchecked: NotRequired[str]

class Stats(TypedDict):
    queue_ms: float; lease_ms: float; wall_ms: float; cpu_ms: float; tool_ms: float; approval_ms: float
    peak_memory_bytes: int; warm: bool

class Result(TypedDict):
    run: str; token: NotRequired[str]; outcome: Outcome; value: Any; error: NotRequired[ProgramError]
    hint: NotRequired[str]; console: list[ConsoleLine]; truncated: Truncated; calls: list[Call]; seed: int; now: int
    time_zone: str; stats: Stats; isolation: Isolation

class CancelResult(TypedDict):
    cancelled: int

class ToolName(TypedDict):
    server: str; tool: NotRequired[str]

class DescribedTool(TypedDict):
    server: str; tool: str; signature: str

class DescribeResult(TypedDict):
    tools: list[DescribedTool]; declarations: NotRequired[str]

class PoolStatus(TypedDict):
    profile: str; size: int; ready: int; failing: NotRequired[str]

class StatusResult(TypedDict):
    version: str; running: int; waiting: int; pool: list[PoolStatus]

class ToolCall(TypedDict):
    run: str; token: NotRequired[str]; n: int; idempotency_key: str; server: str; tool: str; arguments: dict[str, Any]
    origin: Literal["code"]; trigger: Literal["user_request", "tool_result"]; traceparent: NotRequired[str]

class Progress(TypedDict):
    run: str; token: NotRequired[str]; elapsed_ms: float; calls: int; finished: int; doing: str

class Console(TypedDict):
    run: str; token: NotRequired[str]; level: Level; text: str

class ApprovalRequest(TypedDict):
    """server, tool, arguments and what is taken from them are the work of a program that nobody has read."""
    id: str; run: str; token: NotRequired[str]; n: int; server: str; tool: str; rule: NotRequired[str]
    reasons: NotRequired[list[str]]; evidence: NotRequired[list[str]]; task: NotRequired[str]; caller: str
    asked_at: str; expires_at: str; arguments_bytes: int; arguments: NotRequired[dict[str, Any]]
    arguments_start: NotRequired[str]

class ApprovalAnswer(TypedDict):
    approve: bool; scope: NotRequired[Scope]; reason: NotRequired[str]

class ApprovalList(TypedDict):
    approvals: list[ApprovalRequest]; more: NotRequired[int]

class DecideResult(TypedDict):
    id: str; approve: bool; scope: Scope; by: str
