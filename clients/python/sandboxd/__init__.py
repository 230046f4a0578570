"""The client of sandboxd: runs model-written JavaScript in the daemon, and performs the tool calls that it lets through."""

from .client import (
    BUSY, DEFAULT_SOCKET, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, PARSE, PROTOCOL_VERSION, REFUSED, UNKNOWN_METHOD, VERSION,
    Client, ClosedError, RefusedError, SandboxdError, connect,
)  # fmt: skip
from .protocol import *  # noqa: F403
