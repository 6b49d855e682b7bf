//! End-to-end tests: one binary, one file for each capability.

#![expect(clippy::unwrap_used, reason = "tests")]

mod behaviour;
mod capturing;
mod compact;
mod compaction;
mod compaction_again;
mod compaction_asked;
mod compaction_troubles;
mod config_cli;
mod context_budget;
mod crash;
mod damage;
mod doctor;
mod embedder_choice;
mod embedder_install;
mod embedders;
mod entries;
mod fetch;
mod further;
mod importing;
mod layers;
mod line_input;
mod long_session;
#[cfg(feature = "mcp")]
mod mcp;
mod mem0_client;
mod memories;
mod memory_modes;
mod mentions;
mod notes;
mod one_search;
mod oneshot;
mod owning;
mod pins;
mod prefix;
mod private;
mod providers;
mod real_servers;
mod recall;
mod recovering;
mod repeating;
mod repl;
mod searching;
mod secrets;
mod sessions_cli;
mod shell;
mod store;
mod summaries;
mod support;
mod think;
mod tools;
mod tracking;
mod turn;
