//! MCP servers end to end: programs by rote (`server.sh`) and an address on the loopback, the fleet over them, and the probe.

mod http;
mod probe;
mod real;
mod stdio;
mod support;
