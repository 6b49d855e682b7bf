//! Every slash command: its names, its help and the function that carries it out.

use super::error::{nothing, usage};
use super::{
    Command, Completes, Next, board, compact, context, cost, export, help, history, memory, mode,
    model, owning, pins, recall, reply, search, servers, session, status, summary, tools, why,
};

/// Lets a plain async function stand in the table.
macro_rules! run {
    ($function:path) => {
        |desk, arguments| Box::pin($function(desk, arguments))
    };
}

/// Every command, in the order in which help lists them.
pub const COMMANDS: [Command; 47] = [
    Command {
        name: "help",
        aliases: &["h", "?"],
        arguments: "[COMMAND|modes]",
        summary: "List the commands, or explain one",
        details: "`/help modes` says which memory mode suits what; `/help model` says how to get a model.",
        completes: Completes::Commands,
        run: run!(help::run),
    },
    Command {
        name: "mode",
        aliases: &["M"],
        arguments: "[MODE]",
        summary: "List the memory modes, or switch to one",
        details: "Takes effect with the very next request. Nothing is lost: every mode reads every turn.",
        completes: Completes::Modes,
        run: run!(mode::run),
    },
    Command {
        name: "model",
        aliases: &["m"],
        arguments: "[ALIAS|PROVIDER/MODEL]",
        summary: "List the models, or switch to one",
        details: "Memory stays as it is. An alias is an entry of `models` in the config file.\n\
                  To get a model: install Ollama and `ollama pull` one, or set OPENAI_API_KEY or ANTHROPIC_API_KEY,\n\
                  or name an OpenAI-compatible server in the config file (`providers`, then `models`).",
        completes: Completes::Models,
        run: run!(model::run),
    },
    Command {
        name: "context",
        aliases: &[],
        arguments: "[full|proof|preset [NAME]]",
        summary: "Show what the last request held: sections, tokens, where from",
        details: "`/context full` prints the whole of it; `/context proof` says where every message of the session is,\n\
                  and fails where one is out of the model's reach. `/context preset` lists the presets of settings and what\n\
                  they set; with a name it takes one for the rest of this run.",
        completes: Completes::Words(&["full", "proof", "preset"]),
        run: run!(context::run),
    },
    Command {
        name: "why",
        aliases: &[],
        arguments: "",
        summary: "Show what in memory stood behind the last answer",
        details: "Each with its source, its date and why it was sent.",
        completes: Completes::Nothing,
        run: run!(why::run),
    },
    Command {
        name: "memory",
        aliases: &["mem"],
        arguments: "[MODE|list|show|forget|why|edit|…]",
        summary: "Show what memory holds; list, explain, edit and forget it",
        details: "Numbers are what `/drop` takes. A mode's name shows what that mode noted.\n\
                  `/memory list [all]` shows entries and what was captured from your words; `/memory show N|ID|FILE` one of them whole;\n\
                  `/memory forget N|2-8|ID|WORDS|last` takes it out of everything but history, which `--redact` changes, too;\n\
                  `/memory why N|WORDS` tells which message put it here.\n\
                  `/memory edit [FILE]` opens MEMORY.md, or another file of the workspace, in your editor.\n\
                  `/memory layers` and `/memory paths` show what there is, how large it is and where.\n\
                  `/memory add [--global|--session] [KEY:] TEXT` keeps an entry for this project, all of them, or this session;\n\
                  `/memory get KEY|ID` and `/memory rm KEY|ID` find and remove; `/memory restore ID` brings back.\n\
                  `/memory search WORDS` looks through what outlives sessions; `reindex` reads all of it again, which is never needed.",
        completes: Completes::Memory,
        run: run!(memory::run),
    },
    Command {
        name: "forget",
        aliases: &[],
        arguments: "[N|WORDS]",
        summary: "Forget what the last turn kept, or what is named",
        details: "`/forget` takes what the last turn kept out of everything but history; with a number or words it is `/memory forget`.\n\
                  `--redact` strikes it in history, too.",
        completes: Completes::Nothing,
        run: run!(owning::forget_last),
    },
    Command {
        name: "pin",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Pin a text to the session, or list what is pinned",
        details: "It stands in every request of this session, whatever is summarised or compacted.",
        completes: Completes::Nothing,
        run: run!(pins::pin),
    },
    Command {
        name: "unpin",
        aliases: &[],
        arguments: "N|all",
        summary: "Take a pin off by its number, or all of them",
        details: "",
        completes: Completes::Words(&["all"]),
        run: run!(pins::unpin),
    },
    Command {
        name: "scratch",
        aliases: &[],
        arguments: "[KEY [VALUE]|rm KEY]",
        summary: "Show the session's scratchpad, read, write or remove a key",
        details: "Models write on it too: `scratchpad_write`. `rm KEY` takes off any key, and shows what it said.",
        completes: Completes::Words(&pins::WORDS),
        run: run!(pins::scratch),
    },
    Command {
        name: "task",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or set the task (code mode)",
        details: "What is set by hand here and below is never overwritten by what the program reads.",
        completes: Completes::Nothing,
        run: run!(board::task),
    },
    Command {
        name: "done",
        aliases: &[],
        arguments: "[TEXT|N]",
        summary: "Note that something is done",
        details: "In reasoning mode a goal, by its number or words. Otherwise a step of the work; alone, the task itself.",
        completes: Completes::Nothing,
        run: run!(board::done),
    },
    Command {
        name: "goal",
        aliases: &[],
        arguments: "[TEXT|N STATUS]",
        summary: "Show or add goals (reasoning mode); the first is the objective",
        details: "Status is one of pending, in progress, completed, blocked.",
        completes: Completes::Nothing,
        run: run!(board::goal),
    },
    Command {
        name: "objective",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or replace the objective",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::objective),
    },
    Command {
        name: "phase",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or set the phase of the work",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::phase),
    },
    Command {
        name: "decide",
        aliases: &[],
        arguments: "[TEXT [:: WHY]]",
        summary: "Show or log decisions",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::decide),
    },
    Command {
        name: "reject",
        aliases: &[],
        arguments: "[OPTION [:: WHY]]",
        summary: "Show or log rejected options",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::reject),
    },
    Command {
        name: "constraint",
        aliases: &[],
        arguments: "[LABEL: VALUE]",
        summary: "Show or set constraints; the same label replaces",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::constraint),
    },
    Command {
        name: "assume",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or log assumptions",
        details: "",
        completes: Completes::Nothing,
        run: run!(board::assume),
    },
    Command {
        name: "note",
        aliases: &[],
        arguments: "KIND [TEXT]",
        summary: "Show or note anything else a mode keeps: a file, error, question, fact, …",
        details: "",
        completes: Completes::Kinds,
        run: run!(board::note),
    },
    Command {
        name: "drop",
        aliases: &[],
        arguments: "SECTION [N]",
        summary: "Take notes off: one by its number, or a whole section",
        details: "`/memory` shows sections and numbers. What is dropped is not read from the talk again.",
        completes: Completes::Sections,
        run: run!(board::drop),
    },
    Command {
        name: "compact",
        aliases: &[],
        arguments: "[HOW] [WISH]|dry [HOW]|undo",
        summary: "Let a summary stand for everything said so far, or for a part of it",
        details: "Only what is sent shrinks: history stays whole on disk, and `/compact undo` goes back.\n\
                  HOW is one of tools (older results of tools in short, without a model), aggressive (that and everything),\n\
                  rolling, window, prefix, threshold, proactive. `/compact dry [HOW]` only says what would go.\n\
                  Any other words are a wish for the summary: `/compact the dates of the harbour`.",
        completes: Completes::Words(&compact::WORDS),
        run: run!(compact::run),
    },
    Command {
        name: "summary",
        aliases: &[],
        arguments: "[history|undo]",
        summary: "Show the summary of what has left the window",
        details: "`/summary history` lists those it replaced; `/summary undo` goes back to the one before.",
        completes: Completes::Words(&["history", "undo"]),
        run: run!(summary::run),
    },
    Command {
        name: "recall",
        aliases: &[],
        arguments: "QUESTION",
        summary: "Show what memory would bring for a question",
        details: "Each exchange with its score, the share of the question's words in it, and where an embedder is, how near it is by meaning. A request gets the best of those that it does not hold anyway.",
        completes: Completes::Nothing,
        run: run!(recall::run),
    },
    Command {
        name: "search",
        aliases: &[],
        arguments: "QUERY|/REGEX/",
        summary: "Find something in all that is kept: notes, entries, documents, sessions",
        details: "Case does not matter. A regular expression between slashes finds what was said in this session.",
        completes: Completes::Nothing,
        run: run!(search::run),
    },
    Command {
        name: "tools",
        aliases: &[],
        arguments: "[on|off NAME] [all|none|mode]",
        summary: "List the tools the model may call, or switch some",
        details: "A mode has a few at hand; the model loads others when it needs them, for one turn. What is switched on or off\nhere stays so until you leave.",
        completes: Completes::Words(&["on", "off", "all", "none", "mode"]),
        run: run!(tools::tools),
    },
    Command {
        name: "mcp",
        aliases: &[],
        arguments: "[restart|log NAME]",
        summary: "List the MCP servers, start one again, or show its last lines",
        details: "They are entries of `mcp_servers` in the config file; their tools are called NAME__TOOL.",
        completes: Completes::Words(&["restart", "log"]),
        run: run!(servers::run),
    },
    Command {
        name: "approvals",
        aliases: &[],
        arguments: "[revoke N|all]",
        summary: "List what tools may do here without asking, or take it back",
        details: "Rules are kept for each project folder, in a file that can be edited.",
        completes: Completes::Words(&["revoke"]),
        run: run!(tools::approvals),
    },
    Command {
        name: "approve",
        aliases: &[],
        arguments: "[on|off]",
        summary: "Let tools do everything without asking, until you leave",
        details: "The same as -y. A rule that denies still denies.",
        completes: Completes::Words(&["on", "off"]),
        run: run!(tools::approve),
    },
    Command {
        name: "details",
        aliases: &[],
        arguments: "[N]",
        summary: "Show the thinking and the tool calls of the last turn whole",
        details: "",
        completes: Completes::Nothing,
        run: run!(tools::details),
    },
    Command {
        name: "history",
        aliases: &[],
        arguments: "[N]",
        summary: "Print the last N turns (default 5), or `all`",
        details: "Shows what is kept, whatever the model is sent: undone and failed turns are marked.",
        completes: Completes::Words(&["all"]),
        run: run!(history::run),
    },
    Command {
        name: "undo",
        aliases: &[],
        arguments: "",
        summary: "Take back the last turn: what was said, and what its tools changed in files",
        details: "The turn stays in the history on disk, marked. A file that was changed by hand since is left alone, and so is\nwhat commands of `shell` did.",
        completes: Completes::Nothing,
        run: run!(history::undo),
    },
    Command {
        name: "diff",
        aliases: &[],
        arguments: "[N|last]",
        summary: "Show what tools changed in files, in this session or its last N turns",
        details: "What commands of `shell` changed is not in it.",
        completes: Completes::Words(&["last"]),
        run: run!(history::diff),
    },
    Command {
        name: "retry",
        aliases: &[],
        arguments: "",
        summary: "Ask the last question again",
        details: "The new answer replaces the old one in what is sent; history keeps both. What the first try changed in files is\ntaken back as by `/undo`.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("retry", arguments).map(|()| Next::Retry) })
        },
    },
    Command {
        name: "think",
        aliases: &[],
        arguments: "TASK",
        summary: "Think a hard question through: several approaches, weighed",
        details: "Takes up to 15 model calls; Ctrl-C ends it with the best so far. The report is kept as a reply, and in\n\
                  reasoning mode what it chose and rejected is noted. `deep_think` in the config file says how far it goes.",
        completes: Completes::Nothing,
        run: |_, task| {
            Box::pin(async move {
                if task.is_empty() {
                    return Err(usage("think", "wants a task"));
                }
                Ok(Next::Think(task.to_owned()))
            })
        },
    },
    Command {
        name: "session",
        aliases: &["s"],
        arguments: "[NAME]",
        summary: "Show the session, or go on with another",
        details: "A name that is new begins a session.",
        completes: Completes::Sessions,
        run: run!(session::run),
    },
    Command {
        name: "sessions",
        aliases: &[],
        arguments: "",
        summary: "List all sessions, most recently used first",
        details: "",
        completes: Completes::Nothing,
        run: run!(session::list),
    },
    Command {
        name: "rename",
        aliases: &[],
        arguments: "NAME",
        summary: "Give this session another name",
        details: "",
        completes: Completes::Nothing,
        run: run!(session::rename),
    },
    Command {
        name: "delete",
        aliases: &[],
        arguments: "NAME",
        summary: "Move a session to the trash folder; asks first",
        details: "",
        completes: Completes::Sessions,
        run: run!(session::delete),
    },
    Command {
        name: "clear",
        aliases: &[],
        arguments: "",
        summary: "Begin this session anew; asks first",
        details: "What was said moves to the archive folder; nothing is deleted.",
        completes: Completes::Nothing,
        run: run!(session::clear),
    },
    Command {
        name: "export",
        aliases: &[],
        arguments: "[md|json|html] FILE",
        summary: "Write the whole session to a file",
        details: "Without a format the file's ending decides; Markdown otherwise. Never writes over a file.\n\
                  HTML is one file that needs nothing else: readable, searchable, light and dark.",
        completes: Completes::Words(&["md", "json", "html"]),
        run: run!(export::run),
    },
    Command {
        name: "save",
        aliases: &[],
        arguments: "FILE",
        summary: "Write the last reply to a file",
        details: "Asks before it overwrites a file; where nobody can be asked it refuses.",
        completes: Completes::Nothing,
        run: run!(reply::save),
    },
    Command {
        name: "copy",
        aliases: &[],
        arguments: "[N|code]",
        summary: "Copy the last reply, the Nth from the end, or the last code block",
        details: "Through the terminal (OSC 52), so it works over ssh and in tmux, where the terminal allows it.",
        completes: Completes::Words(&["code"]),
        run: run!(reply::copy),
    },
    Command {
        name: "status",
        aliases: &["info"],
        arguments: "",
        summary: "Show session, model, window, memory, sandbox and folders",
        details: "",
        completes: Completes::Nothing,
        run: run!(status::run),
    },
    Command {
        name: "cost",
        aliases: &[],
        arguments: "",
        summary: "Show tokens and price of the session and of this run, by model",
        details: "As servers report them. Prices come from the config file (`models.NAME.price`) or the server's list.",
        completes: Completes::Nothing,
        run: run!(cost::run),
    },
    Command {
        name: "paste",
        aliases: &[],
        arguments: "",
        summary: "Read several lines, up to a line with a single dot",
        details: "A message may also begin and end with \"\"\", or lines may end in \\.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("paste", arguments).map(|()| Next::Paste) })
        },
    },
    Command {
        name: "quit",
        aliases: &["exit", "q"],
        arguments: "",
        summary: "Save and leave; so does Ctrl-D",
        details: "",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("quit", arguments).map(|()| Next::Leave) })
        },
    },
];
