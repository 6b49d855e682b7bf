//! cogtrix: a terminal chat agent whose memory is the point.
//!
//! Who may import whom (held by a test; `docs/ARCHITECTURE.md` has the whole story):
//!
//! ```text
//!  8                    main
//!  7                    cli                        arguments, composition root, report
//!  6                   config                      layers with sources -> Settings of all below
//!  5            repl          term                 shows TurnEvents, asks the person | the only printer
//!  4                   agent                       one turn
//!  3b                  tools                       what a model may do: registry, policy, the tools
//!  3a                  memory                      prepare, update, absorb
//!  2                   index                       finds what was said or kept
//!  1   context   embed   provider   store   long_term   mem0   siblings: none knows another
//!  0   chat   hint   clock   files   net   text   declare   values, and the smallest ports to the outside
//! ```

pub mod agent;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod context;
mod declare;
pub mod embed;
pub mod files;
pub mod hint;
pub mod index;
pub mod long_term;
pub mod mem0;
pub mod memory;
pub mod net;
pub mod provider;
pub mod repl;
pub mod store;
pub mod term;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod tools;
