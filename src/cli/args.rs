//! The command line as typed. Making an [`Args`] does nothing but check its shape; what it means is
//! settled together with the other layers in `config`.

use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  cogtrix                               chat in the session `default`
  cogtrix -s trip -m ollama/qwen3:8b    chat in a session, with a model
  cogtrix what is a monad               ask one question
  git diff | cogtrix -p 'review this'   ask about what is piped in
  cogtrix --continue                    go on where you stopped

`cogtrix --help-all` has every flag, `cogtrix man` the manual page.";

/// A terminal chat agent whose memory is the point
#[derive(Debug, Parser)]
#[command(
    name = "cogtrix",
    version,
    about,
    args_conflicts_with_subcommands = false,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(flatten)]
    pub chat: ChatArgs,

    /// A question, asked as with -p; behind -- also one that begins like a command
    #[arg(value_name = "QUESTION", conflicts_with_all = ["prompt", "prompt_file", "lines"])]
    pub question: Vec<String>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Args {
    /// Edits by which a first word may differ from a command that is meant; of a short one at most half its letters.
    const MAX_EDITS: usize = 2;
    /// A word as short as this is only taken for a slip where it stands alone: `can` is no `man`.
    const SHORT: usize = 3;

    /// Makes the words of a question the prompt.
    ///
    /// # Errors
    /// The command that was likely meant, where a bare first word is nearly its name.
    pub fn settle_question(
        &mut self,
        typed: impl IntoIterator<Item = OsString>,
    ) -> Result<(), String> {
        let Some(first) = self.question.first() else {
            return Ok(());
        };
        let is_marked = typed.into_iter().any(|word| word == "--");
        let is_question = first.len() <= Self::SHORT && self.question.len() > 1;
        if !is_marked
            && !is_question
            && let Some(command) = Self::near_command(first)
        {
            return Err(command);
        }
        self.chat.prompt = Some(mem::take(&mut self.question).join(" "));
        Ok(())
    }

    fn near_command(word: &str) -> Option<String> {
        let commands = Self::command();
        let names = commands.get_subcommands().map(clap::Command::get_name);
        let distances = names.map(|name| (strsim::osa_distance(name, &word.to_lowercase()), name));
        let (distance, name) = distances.min()?;
        let max = Self::MAX_EDITS.min(name.len() / 2);
        (distance <= max).then(|| name.to_owned())
    }
}

/// Options of a chat; the places of files and data hold for every command.
#[derive(Clone, Debug, Default, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each switch, as typed"
)]
pub struct ChatArgs {
    /// Memory mode: conversation, code or reasoning
    #[arg(short = 'M', long = "memory-mode", value_name = "MODE", global = true)]
    pub mode: Option<String>,

    /// Session to open or begin
    #[arg(short, long, value_name = "NAME", global = true)]
    pub session: Option<String>,

    /// Open a session that exists; without a name choose one from a list, in a script the one used last
    #[arg(short, long, value_name = "NAME", num_args = 0..=1, conflicts_with = "session")]
    #[expect(
        clippy::option_option,
        reason = "clap's form of a flag whose value may be missing"
    )]
    pub resume: Option<Option<String>>,

    /// Go on with the session used last
    #[arg(long = "continue", conflicts_with_all = ["session", "resume"])]
    pub resume_last: bool,

    /// With -r or --continue: the last session even if it is that of a single question
    #[arg(long)]
    pub last: bool,

    /// Model: an alias of the config file, or provider/model
    #[arg(short, long, value_name = "MODEL", global = true)]
    pub model: Option<String>,

    /// Config file to use instead of the one that would be found
    #[arg(
        short,
        long = "config-file",
        alias = "config",
        value_name = "FILE",
        global = true
    )]
    pub config_file: Option<PathBuf>,

    /// Folder for sessions and everything else that is kept
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,

    /// Folder for notes, memories and other texts that outlive sessions
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,

    /// Tools the model is offered: all, none, mode, or names with commas between them
    #[arg(long, value_name = "TOOLS")]
    pub tools: Option<String>,

    /// Folder that tools work in and whose entries count, instead of the one cogtrix was started in
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,

    /// Let tools change, run and fetch without asking
    #[arg(short = 'y', long = "no-confirm")]
    pub no_confirm: bool,

    /// Refuse everything by which a tool could change something
    #[arg(long)]
    pub read_only: bool,

    /// Sandbox of commands: on, net (on, with the network), or off
    #[arg(long, value_name = "KIND")]
    pub sandbox: Option<String>,

    /// Settings of the context by name: default, cogtrix, co-cli, agenticx, gokin, qanot
    #[arg(long, value_name = "NAME")]
    pub context_preset: Option<String>,

    /// Ask this and leave; text piped on stdin is appended
    #[arg(short, long, value_name = "TEXT")]
    pub prompt: Option<String>,

    /// Ask what this file holds and leave
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub prompt_file: Option<PathBuf>,

    /// Write the reply to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write one JSON object: reply, session, model, usage, context
    #[arg(long)]
    pub json: bool,

    /// How long a run of one prompt may take in all, as 90s or 2h (an hour; 0s: no limit); in a chat, each reply
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,

    /// Read stdin line by line as if typed, commands included
    #[arg(long, conflicts_with_all = ["prompt", "prompt_file", "json", "output"])]
    pub lines: bool,

    /// Show a reply when it is complete
    #[arg(long)]
    pub no_stream: bool,

    /// Show replies as the model writes them, without layout
    #[arg(long)]
    pub plain: bool,

    /// Leave out the banner
    #[arg(long)]
    pub no_banner: bool,

    /// Only replies, warnings and errors
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub quiet: bool,

    /// Say more about what happens
    #[arg(short, long, global = true)]
    pub verbose: bool,

    /// Write a log to this file
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,

    /// Keep nothing of this session: it stays in memory and is gone at the end
    #[arg(long, conflicts_with_all = ["session", "resume", "resume_last"])]
    pub private: bool,

    /// Let a config file of this folder name servers and keys
    #[arg(long, global = true)]
    pub trust_folder: bool,

    /// Open the session to read in it, even if another process has it: commands show, nothing is written or asked
    #[arg(long, conflicts_with = "private")]
    pub no_lock: bool,

    /// Show the help with every flag
    #[arg(long)]
    pub help_all: bool,

    /// Fail at a write, for tests: kill-before@N, kill-torn@N, kill-after@N, full@N
    #[cfg(feature = "testing")]
    #[arg(long, value_name = "FAULT", hide = true, global = true)]
    pub fault: Option<crate::files::Schedule>,
}

/// Everything but a chat.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// List, show, copy, rename, delete and restore sessions
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Bring in, search and index what was said in all sessions
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Search everything: what is kept and what was said; the same as `memory search`
    Search(SearchArgs),
    /// Show and check the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Find models, write a config file and try it
    Init {
        /// Ask nothing: take what a chat would take
        #[arg(long)]
        yes: bool,
    },
    /// Diagnose the setup: config, models, folders, sandbox
    Doctor,
    /// Show which embedder recall has, and fetch the local one
    Embedder {
        #[command(subcommand)]
        command: EmbedderCommand,
    },
    /// Try out MCP servers
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
        /// The shell it is for
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands
    Man {
        /// The folder to write them into
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum SessionsCommand {
    /// List all sessions, most recently used first
    List,
    /// Print what was said in a session
    Show {
        /// Its name
        name: String,
    },
    /// Copy a session
    Fork {
        /// Its name
        name: String,
        /// The name of the copy
        new: String,
        /// Copy it as it was when this turn had ended; `show` has the numbers
        #[arg(long, value_name = "N")]
        at: Option<u32>,
    },
    /// Give a session another name
    Rename {
        /// Its name
        name: String,
        /// The new one
        new: String,
    },
    /// Move a session to the trash folder
    Delete {
        /// Its name
        name: String,
    },
    /// Bring back a session that was deleted
    Restore {
        /// Its name
        name: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum MemoryCommand {
    /// List what is kept: entries, and what was captured from what was said
    List {
        /// All of it, not only the newest
        #[arg(long)]
        all: bool,

        /// Write one JSON object with all of it
        #[arg(long)]
        json: bool,
    },
    /// Show one of them whole: a capture by its number, an entry by its id or key, a file of the workspace by its name
    Show {
        /// A number or an id, as `list` shows them, the key of an entry, or a file such as MEMORY.md
        #[arg(value_name = "N|ID|FILE")]
        what: String,
    },
    /// Take something out of everything but history: MEMORY.md, notes, entries, boards, summaries, every later request
    Forget {
        /// Numbers and ids as `list` shows them, ranges such as 2-8, the key of an entry, words, or `last`
        #[arg(value_name = "N|2-8|ID|WORDS|last", required = true)]
        what: Vec<String>,

        /// Strike it in history, too: a mark stands in its place
        #[arg(long)]
        redact: bool,

        /// Where the entry of a key is, if several have it
        #[arg(long, value_name = "SCOPE")]
        scope: Option<KeptFor>,
    },
    /// Write the entries of this project and those of all projects to a file, one JSON object a line
    Export {
        /// What is written
        #[arg(long, value_name = "FORMAT", default_value = "entries")]
        format: ExportFormat,

        /// The file, which must not be there; without it, or with -, stdout
        file: Option<PathBuf>,
    },
    /// Add messages of a file to sessions, or entries to memory; what is there already is left alone
    Import {
        /// jsonl: one object {"session","id","role","speaker","timestamp","text"} a line; entries: as `export` writes them
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: ImportFormat,

        /// Keep entries for all projects, whatever they say
        #[arg(long)]
        global: bool,

        /// The file; - is stdin
        file: PathBuf,
    },
    /// Find what is kept, or what was said: everything, or with -s and --all sessions alone
    Search(SearchArgs),
    /// Make the indexes anew: of one session with -s, else of all
    Reindex,
    /// Show what is kept of each session, and how much of it can be found
    Stats,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct SearchArgs {
    /// What is looked for, as a question or in words
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pub query: Vec<String>,

    /// Hits wanted; 50 at most unless sessions alone are searched
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: u16,

    /// Search what was said in every session, and nothing else
    #[arg(long, conflicts_with = "session")]
    pub all: bool,

    /// Search what was said in every session, or in that of -s, with what was forgotten since: history keeps it
    #[arg(long, conflicts_with_all = ["within", "batch"])]
    pub history: bool,

    /// Search notes, entries and documents alone, or everything, as without it: those and all sessions
    #[arg(long = "in", value_name = "WHERE", conflicts_with_all = ["all", "session", "batch"])]
    pub within: Option<Within>,

    /// Write one JSON object; a batch always writes JSON
    #[arg(long)]
    pub json: bool,

    /// Answer each line {"id","query","session"?} of a file with a line {"id","hits":[{"id","score","session"}]}
    #[arg(long, value_name = "FILE")]
    pub batch: Option<PathBuf>,
}

/// What is searched in place of sessions alone.
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

/// What can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    Jsonl,
    Entries,
}

/// What can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Entries,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every value and where it comes from, secrets masked
    Show,
    /// Check the config file and say what is wrong with it
    Check,
}

#[derive(Clone, Debug, Subcommand)]
pub enum EmbedderCommand {
    /// Say which embedder is used and why; asks servers, but sends them nothing of yours
    Show,
    /// Fetch the files of the local sentence encoder (91 MB) and check them
    Install {
        /// Address below which the files are, or a folder that has them; else embedding.source of the config
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
}

#[cfg(feature = "mcp")]
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// Connect to a server, list its tools and, if wanted, call them
    Probe(ProbeArgs),
}

/// The server, which is one of the two, and what is asked of it.
#[cfg(feature = "mcp")]
#[derive(Clone, Debug, ClapArgs)]
pub struct ProbeArgs {
    /// Address of a server that runs
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub url: Option<String>,

    /// Program that is a server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Call this tool and print its result
    #[arg(long, value_name = "NAME")]
    pub call: Option<String>,

    /// Arguments of the call, a JSON object
    #[arg(long, value_name = "JSON", requires = "call")]
    pub arguments: Option<String>,

    /// Call every tool whose required arguments can be made up, also those that change things
    #[arg(long = "try", conflicts_with = "call")]
    pub try_all: bool,

    /// Send a header whose value stands in a variable of the environment
    #[arg(long, value_name = "HEADER=VARIABLE", requires = "url")]
    pub header_env: Vec<String>,

    /// Hand a variable of the environment on to the program
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub pass_env: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(typed: &[&str]) -> Result<Option<String>, String> {
        let mut args = Args::try_parse_from(typed).unwrap();
        assert!(args.command.is_none(), "{typed:?}");
        let typed = typed.iter().map(OsString::from);
        args.settle_question(typed).map(|()| args.chat.prompt)
    }

    #[test]
    fn words_that_are_no_command_are_a_question() {
        for (typed, asked) in [
            (&["cogtrix", "what", "is", "rust"][..], "what is rust"),
            (&["cogtrix", "-m", "x", "what is rust"], "what is rust"),
            (
                &["cogtrix", "explain", "memory", "please"],
                "explain memory please",
            ),
            (&["cogtrix", "what", "is", "-q", "rust"], "what is rust"),
            (&["cogtrix", "hello"], "hello"),
            (&["cogtrix", "can", "you", "help"], "can you help"),
            (&["cogtrix", "my", "name"], "my name"),
            (&["cogtrix", "--", "memory", "is", "what"], "memory is what"),
            (&["cogtrix", "--", "sesions"], "sesions"),
            (&["cogtrix", "sesions of what"], "sesions of what"),
        ] {
            assert_eq!(settled(typed), Ok(Some(asked.to_owned())), "{typed:?}");
        }
    }

    #[test]
    fn a_first_word_that_is_nearly_a_command_is_taken_for_a_slip() {
        for (typed, meant) in [
            (&["cogtrix", "sesions"][..], "sessions"),
            (&["cogtrix", "mmeory", "search", "x"], "memory"),
            (&["cogtrix", "Doctor"], "doctor"),
        ] {
            assert_eq!(settled(typed), Err(meant.to_owned()), "{typed:?}");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn resume_takes_a_name_or_none() {
        let resume = |args: &[&str]| Args::try_parse_from(args).unwrap().chat.resume;
        assert_eq!(resume(&["cogtrix"]), None);
        assert_eq!(resume(&["cogtrix", "-r"]), Some(None));
        assert_eq!(
            resume(&["cogtrix", "--resume", "work"]),
            Some(Some("work".into()))
        );
    }

    #[test]
    fn config_is_an_alias_of_config_file() {
        let args = Args::try_parse_from(["cogtrix", "--config", "x.yaml"]).unwrap();
        assert_eq!(args.chat.config_file, Some("x.yaml".into()));
    }
}
