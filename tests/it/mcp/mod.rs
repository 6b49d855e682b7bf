//! MCP servers end to end: programs by rote (`server.sh`) and an address on the loopback, the fleet over them, the
//! probe, and the chat that has their tools.

mod chat;
mod http;
mod probe;
mod real;
mod stdio;
mod support;
