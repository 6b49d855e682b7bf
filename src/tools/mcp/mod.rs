//! Tools of other programs, by the Model Context Protocol.
//!
//! ```text
//!   settings     what a person says about a server
//!   setup        the same made concrete: a program and its variables, an address and its headers
//!   fleet        all servers: started in the background, what became of them, their tools
//!   server       the life of one server: start, listings, death, one more try
//!   process      a server that is a program: its process group, its last words
//!   guarded      what it writes, bounded before anything parses it
//!   web          a server behind an address
//!   client       what a server may ask of us and tell us
//!   listing      its tools, as far as they are fit to be shown to a model
//!   servers      what a conversation needs of all that, and how a server is: a port, there without the feature too
//!   handle       a server however it is now: calls, what to say where there can be none, its tools among ours
//!   link         one call to a server that is up
//!   content      what a call came back with, as text
//!   names        what the model calls a tool
//!   journal      a server's last lines
//! ```
//!
//! Whatever a server does, it costs that server and nothing else: every wait ends, everything it says is bounded, and a
//! call to one that is gone is an answer to the model. Without the feature `mcp` the settings can be read all the same.

mod servers;
mod settings;

#[cfg(feature = "mcp")]
mod client;
#[cfg(feature = "mcp")]
mod content;
#[cfg(feature = "mcp")]
mod fleet;
#[cfg(feature = "mcp")]
mod guarded;
#[cfg(feature = "mcp")]
mod handle;
#[cfg(feature = "mcp")]
mod journal;
#[cfg(feature = "mcp")]
mod link;
#[cfg(feature = "mcp")]
mod listing;
#[cfg(feature = "mcp")]
mod names;
#[cfg(feature = "mcp")]
mod process;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod setup;
#[cfg(feature = "mcp")]
mod web;

pub use servers::{Change, News, Servers, State, Status, UnknownServer, take_in};
pub use settings::{BadServer, ServerSettings};

#[cfg(feature = "mcp")]
pub use {
    fleet::Fleet,
    handle::{Handle, McpTool},
    listing::Listed,
};
