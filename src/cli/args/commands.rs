//! The subcommands as typed: everything but a chat. A variant of a command, a field an argument of it.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Everything but a chat.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// List, show, copy, rename, delete and restore sessions
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// List, search, import, export or forget what memory holds
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Search saved memory and all conversations; same as `memory search`
    Search(SearchArgs),
    /// Show, check or edit the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Find models and write a tested config file
    Init {
        /// Ask no questions; use what a chat would use
        #[arg(long)]
        yes: bool,
    },
    /// Diagnose the setup: config, models, folders, sandbox
    Doctor,
    /// Show which embedder recall uses, or download the local one
    Embedder {
        #[command(subcommand)]
        command: EmbedderCommand,
    },
    /// Test MCP servers
    #[cfg(feature = "mcp")]
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// List the models of each provider, with window and price
    Models {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script
    Completions {
        /// Shell to complete for
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder
    #[command(alias = "man")]
    Manual {
        /// Folder to write the pages to
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum SessionsCommand {
    /// List all sessions, most recently used first
    #[command(alias = "ls")]
    List,
    /// Print the messages of a session
    Show {
        /// Session name
        name: String,
    },
    /// Copy a session
    #[command(aliases = ["copy", "cp"])]
    Fork {
        /// Session name
        name: String,
        /// Name for the copy
        new: String,
        /// Copy only up to this turn; `show` lists turn numbers
        #[arg(long, value_name = "N")]
        at: Option<u32>,
    },
    /// Rename a session
    #[command(alias = "mv")]
    Rename {
        /// Session name
        name: String,
        /// New name
        new: String,
    },
    /// Move a session to the trash folder
    #[command(aliases = ["rm", "remove"])]
    Delete {
        /// Session name
        name: String,
    },
    /// Restore a deleted session
    Restore {
        /// Session name
        name: String,
        /// Which one, if several had this name: its deletion time in UTC, or the start of it (default: the latest)
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum MemoryCommand {
    /// List saved entries and notes from conversations
    List {
        /// List everything, not only the newest
        #[arg(long)]
        all: bool,

        /// Print everything as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show one item in full: a note by number, an entry by id or key, a workspace file by name
    Show {
        /// A number or id from `list`, the key of an entry, or a file such as MEMORY.md
        #[arg(value_name = "N|ID|FILE")]
        what: String,
    },
    /// Forget something: remove it from MEMORY.md, notes, entries, boards, summaries and later requests, but not from
    /// history
    Forget {
        /// Numbers or ids from `list`, ranges such as 2-8, the key of an entry, words, or `last`
        #[arg(value_name = "N|2-8|ID|WORDS|last", required = true)]
        what: Vec<String>,

        /// Redact it in history too
        #[arg(long)]
        redact: bool,

        /// Scope of the entry, if the key exists in several
        #[arg(long, value_name = "SCOPE")]
        scope: Option<KeptFor>,
    },
    /// Export project and global entries, one JSON object per line
    Export {
        /// What to export
        #[arg(long, value_name = "FORMAT", default_value = "entries")]
        format: ExportFormat,

        /// File to create; must not exist. Omitted or -: stdout
        file: Option<PathBuf>,
    },
    /// Import messages into sessions, or entries into memory; duplicates are skipped
    Import {
        /// jsonl: one {"session","id","role","speaker","timestamp","text"} object per line; entries: as written by
        /// `export`
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: ImportFormat,

        /// Import all entries as global
        #[arg(long)]
        global: bool,

        /// File to import; - is stdin
        file: PathBuf,
    },
    /// Search everything; with -s or --all, only sessions
    Search(SearchArgs),
    /// Rebuild the search indexes of all sessions, or of one with -s
    Reindex,
    /// Show the size and index coverage of each session
    Stats,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct SearchArgs {
    /// Question or words to search for
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub query: Vec<String>,

    /// Maximum number of results; at most 50 unless searching only sessions
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: u16,

    /// Search only sessions, all of them
    #[arg(long, conflicts_with = "session")]
    pub all: bool,

    /// Search the history of all sessions, or of the one in -s, including forgotten messages
    #[arg(long, conflicts_with_all = ["within", "batch"])]
    pub history: bool,

    /// Search only notes, entries and documents, or everything (the default)
    #[arg(long = "in", value_name = "WHERE", conflicts_with_all = ["all", "session", "batch"])]
    pub within: Option<Within>,

    /// Print one JSON object; --batch always prints JSON
    #[arg(long)]
    pub json: bool,

    /// Run a file of queries: for each line {"id","query","session"?} print {"id","hits":[{"id","score","session"}]}
    #[arg(long, value_name = "FILE")]
    pub batch: Option<PathBuf>,
}

/// Sources that are searched in place of sessions alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Within {
    Notes,
    Everything,
}

/// Whom an entry is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeptFor {
    Project,
    Global,
}

/// Formats that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    Jsonl,
    Entries,
}

/// Formats that can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Entries,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting and its source, with secrets masked
    Show,
    /// Check the config file for errors
    Check,
    /// Print the path of the config file
    Path,
    /// Open the config file in $VISUAL or $EDITOR, then check it
    Edit,
}

#[derive(Clone, Debug, Subcommand)]
pub enum EmbedderCommand {
    /// Show which embedder is used and why; contacts servers but sends them none of your data
    Show,
    /// Download and verify the local sentence encoder (91 MB)
    Install {
        /// Base URL or folder to get the files from; default: embedding.source in the config
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
}

#[cfg(feature = "mcp")]
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// Connect to a server, list its tools and optionally call them
    Probe(ProbeArgs),
}

/// The server, which is one of the two, and what is asked of it.
#[cfg(feature = "mcp")]
#[derive(Clone, Debug, ClapArgs)]
pub struct ProbeArgs {
    /// URL of a running server
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub url: Option<String>,

    /// Command that starts a server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Call this tool and print its result
    #[arg(long, value_name = "NAME")]
    pub call: Option<String>,

    /// Arguments for the call, as a JSON object
    #[arg(long, value_name = "JSON", requires = "call")]
    pub arguments: Option<String>,

    /// Call every tool whose required arguments can be generated, including tools that change things
    #[arg(long = "try", conflicts_with = "call")]
    pub try_all: bool,

    /// Send a header with its value taken from an environment variable
    #[arg(long, value_name = "HEADER=VARIABLE", requires = "url")]
    pub header_env: Vec<String>,

    /// Pass an environment variable to the command
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub pass_env: Vec<String>,
}
