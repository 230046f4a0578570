"""The client of sandboxd: runs model-written JavaScript in the daemon, and performs the tool calls that it lets through."""

from .client import *
from .protocol import *
