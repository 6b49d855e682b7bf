//! Every slash command: its names, its help and the function that carries it out.

use super::error::{CommandError, nothing, usage};
use super::{
    Command, Completes, Next, board, compact, config, context, cost, export, help, history, memory,
    mode, model, owning, pins, recall, reply, search, servers, session, status, summary, tools,
    why,
};

/// Lets a plain async function stand in the table.
macro_rules! run {
    ($function:path) => {
        |repl, arguments| Box::pin($function(repl, arguments))
    };
}

/// Every command, in the order in which help lists them.
pub const COMMANDS: [Command; 52] = [
    Command {
        name: "help",
        aliases: &["h", "?"],
        arguments: "[COMMAND|keys|modes]",
        summary: "List commands, or explain one",
        details: "`/help modes` explains which memory mode to use; `/help model` how to connect a model; `/help keys` the keys.",
        completes: Completes::Commands,
        run: run!(help::run),
    },
    Command {
        name: "mode",
        aliases: &["M"],
        arguments: "[MODE]",
        summary: "List memory modes, or switch to one",
        details: "Takes effect with the next request. Nothing is lost: every mode sees every turn.",
        completes: Completes::Modes,
        run: run!(mode::run),
    },
    Command {
        name: "model",
        aliases: &["m"],
        arguments: "[ALIAS|PROVIDER/MODEL]",
        summary: "List models, or switch to one",
        details: "Memory is not affected. An alias is an entry under `models` in the config file.\n\
                  To get a model: run `cogtrix init`; or install Ollama and `ollama pull` one, or set OPENAI_BASE_URL,\n\
                  OPENAI_API_KEY or ANTHROPIC_API_KEY, or add a server to the config file (`providers`, then `models`).",
        completes: Completes::Models,
        run: run!(model::run),
    },
    Command {
        name: "context",
        aliases: &[],
        arguments: "[full|proof|preset [NAME]]",
        summary: "Show what the last request contained, with tokens",
        details: "`/context full` prints it in full. `/context proof` shows where every message of the session is,\n\
                  and fails if the model cannot reach one. `/context preset` lists the presets and their settings;\n\
                  with a name, it uses that one until you quit.",
        completes: Completes::Words(&["full", "proof", "preset"]),
        run: run!(context::run),
    },
    Command {
        name: "why",
        aliases: &[],
        arguments: "",
        summary: "Show which memories the last answer used",
        details: "Each with its source, its date and why it was sent.",
        completes: Completes::Nothing,
        run: |repl, arguments| Box::pin(async { why::run(&repl.agent, arguments) }),
    },
    Command {
        name: "memory",
        aliases: &["mem"],
        arguments: "[MODE|list|show|forget|why|edit|…]",
        summary: "Show memory; list, explain, edit or forget notes",
        details: "The numbers are for `/drop`. A mode's name shows that mode's notes.\n\
                  `/memory list [all]` lists entries and notes from your messages; `/memory show N|ID|FILE` shows one in full.\n\
                  `/memory forget N|2-8|ID|WORDS|last` removes something everywhere except history; `--redact` removes it there too.\n\
                  `/memory why N|WORDS` shows which message it came from.\n\
                  `/memory edit [FILE]` opens MEMORY.md, or another workspace file, in your editor.\n\
                  `/memory layers` and `/memory paths` show what is stored, how large it is and where.\n\
                  `/memory add [--global|--session] [KEY:] TEXT` saves an entry for this project, all projects, or this session.\n\
                  `/memory get KEY|ID` shows an entry, `/memory rm KEY|ID` removes it, `/memory restore ID` brings it back.\n\
                  `/memory search WORDS` searches long-term memory; `reindex` rebuilds its index, which is never needed.",
        completes: Completes::Memory,
        run: run!(memory::run),
    },
    Command {
        name: "forget",
        aliases: &[],
        arguments: "[N|WORDS]",
        summary: "Forget what the last turn saved, or what you name",
        details: "`/forget` removes what the last turn saved everywhere except history; with a number or words it is `/memory forget`.\n\
                  `--redact` removes it from history too.",
        completes: Completes::Nothing,
        run: run!(owning::forget_last),
    },
    Command {
        name: "pin",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Pin a text to the session, or list pins",
        details: "Pins are sent with every request of this session, even after summaries and compaction.",
        completes: Completes::Nothing,
        run: run!(pins::pin),
    },
    Command {
        name: "unpin",
        aliases: &[],
        arguments: "N|all",
        summary: "Unpin by number, or all",
        details: "",
        completes: Completes::Words(&["all"]),
        run: run!(pins::unpin),
    },
    Command {
        name: "scratch",
        aliases: &[],
        arguments: "[KEY [VALUE]|rm KEY]",
        summary: "Show the scratchpad; read, write or remove a key",
        details: "The model writes to it too, with `scratchpad_write`. `rm KEY` removes any key and prints its value.",
        completes: Completes::Words(&pins::WORDS),
        run: run!(pins::scratch),
    },
    Command {
        name: "task",
        aliases: &[],
        arguments: "[TEXT]",
        summary: "Show or set the task (code mode)",
        details: "What you set with this and the commands below is never overwritten automatically.",
        completes: Completes::Nothing,
        run: run!(board::task),
    },
    Command {
        name: "done",
        aliases: &[],
        arguments: "[TEXT|N]",
        summary: "Mark something as done",
        details: "In reasoning mode, a goal, by number or words. In other modes, a step; without arguments, the task itself.",
        completes: Completes::Nothing,
        run: run!(board::done),
    },
    Command {
        name: "goal",
        aliases: &[],
        arguments: "[TEXT|N STATUS]",
        summary: "Show or add goals (reasoning mode)",
        details: "The first is the objective. Status is one of pending, in progress, completed, blocked.",
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
        summary: "Show or set constraints; the same label overwrites",
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
        summary: "Show or add other notes, such as a file or a question",
        details: "",
        completes: Completes::Kinds,
        run: run!(board::note),
    },
    Command {
        name: "drop",
        aliases: &[],
        arguments: "SECTION [N]",
        summary: "Remove a note by number, or a whole section",
        details: "`/memory` shows sections and numbers. Dropped notes are not picked up from the conversation again.",
        completes: Completes::Sections,
        run: run!(board::drop),
    },
    Command {
        name: "compact",
        aliases: &[],
        arguments: "[HOW] [FOCUS]|dry [HOW]|undo",
        summary: "Replace the conversation so far with a summary",
        details: "Only what is sent shrinks: history stays complete on disk, and `/compact undo` reverts it.\n\
                  HOW is one of tools (shorten older tool results, without a model), aggressive (that, and summarise everything),\n\
                  rolling, window, prefix, threshold, proactive. `/compact dry [HOW]` only shows what would change.\n\
                  Any other words are the focus of the summary: `/compact the dates of the harbour`.",
        completes: Completes::Words(&compact::WORDS),
        run: run!(compact::run),
    },
    Command {
        name: "summary",
        aliases: &[],
        arguments: "[history|undo]",
        summary: "Show the summary of messages outside the window",
        details: "`/summary history` lists earlier summaries; `/summary undo` goes back to the previous one.",
        completes: Completes::Words(&["history", "undo"]),
        run: run!(summary::run),
    },
    Command {
        name: "recall",
        aliases: &[],
        arguments: "QUESTION",
        summary: "Show what memory would recall for a question",
        details: "Lists exchanges with their score, the share of the question's words they contain and, with an embedder, their similarity in meaning. A request gets the best of those it does not already contain.",
        completes: Completes::Nothing,
        run: run!(recall::run),
    },
    Command {
        name: "search",
        aliases: &[],
        arguments: "QUERY|/REGEX/",
        summary: "Search everything: notes, entries, documents, sessions",
        details: "Ignores case. A regular expression between slashes searches this session.",
        completes: Completes::Nothing,
        run: |repl, query| Box::pin(search::run(&mut repl.agent, query)),
    },
    Command {
        name: "tools",
        aliases: &[],
        arguments: "[on|off NAME] [all|none|mode]",
        summary: "List tools, or turn some on or off",
        details: "Each mode offers a few; the model loads others for a turn when it needs them. Changes made here last\nuntil you quit.",
        completes: Completes::Words(&["on", "off", "all", "none", "mode"]),
        run: run!(tools::tools),
    },
    Command {
        name: "mcp",
        aliases: &[],
        arguments: "[restart|log NAME]",
        summary: "List MCP servers, restart one, or show its log",
        details: "Servers are configured under `mcp_servers` in the config file; their tools are called NAME__TOOL.",
        completes: Completes::Words(&["restart", "log"]),
        run: run!(servers::run),
    },
    Command {
        name: "approvals",
        aliases: &[],
        arguments: "[revoke N|all]",
        summary: "List what needs no approval here, or revoke it",
        details: "Rules are stored per project folder, in a file you can edit.",
        completes: Completes::Words(&["revoke"]),
        run: run!(tools::approvals),
    },
    Command {
        name: "approve",
        aliases: &[],
        arguments: "[on|off]",
        summary: "Let tools act without asking, until you quit",
        details: "`on` is the same as -y. Deny rules still apply. Alone it lists the rules.",
        completes: Completes::Words(&["on", "off"]),
        run: run!(tools::approve),
    },
    Command {
        name: "details",
        aliases: &[],
        arguments: "[N]",
        summary: "Show the full thinking and tool calls of the last turn",
        details: "",
        completes: Completes::Nothing,
        run: run!(tools::details),
    },
    Command {
        name: "history",
        aliases: &[],
        arguments: "[N|all] [full]",
        summary: "Print the last N turns (default 5), or `all`",
        details: "Shows what is saved, not what the model is sent; undone and failed turns are marked. Of long messages only the\n\
                  beginning is printed, unless you add `full`.",
        completes: Completes::Words(&["all", "full"]),
        run: run!(history::run),
    },
    Command {
        name: "undo",
        aliases: &[],
        arguments: "",
        summary: "Undo the last turn and its file changes",
        details: "The turn stays in the history on disk, marked. Files edited by hand since are left alone, and so is\nwhat `shell` commands did.",
        completes: Completes::Nothing,
        run: run!(history::undo),
    },
    Command {
        name: "diff",
        aliases: &[],
        arguments: "[N|last]",
        summary: "Show which file changes tools made",
        details: "In this session, or in its last N turns. Changes made by `shell` commands are not included.",
        completes: Completes::Words(&["last"]),
        run: run!(history::diff),
    },
    Command {
        name: "retry",
        aliases: &[],
        arguments: "",
        summary: "Ask the last question again",
        details: "The new reply replaces the old one in what is sent; history keeps both. File changes of the first try are\nundone as by `/undo`.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("retry", arguments).map(|()| Next::Retry) })
        },
    },
    Command {
        name: "edit",
        aliases: &[],
        arguments: "",
        summary: "Edit and send your last message again",
        details: "It is sent as a new message. A file that is saved empty, or as it was, sends nothing.",
        completes: Completes::Nothing,
        run: run!(history::edit),
    },
    Command {
        name: "think",
        aliases: &[],
        arguments: "TASK",
        summary: "Think through a hard question",
        details: "Compares several approaches. Takes up to 15 model calls; Ctrl-C stops with the best so far. The report is saved as a reply, and\n\
                  reasoning mode notes what it chose and rejected. Set its limits with `deep_think` in the config file.",
        completes: Completes::Nothing,
        run: |repl, task| {
            Box::pin(async move {
                if task.is_empty() {
                    return Err(usage("think", "needs a task"));
                }
                // Before the turn begins, so that `/retry` still asks the last question.
                if repl.agent.provider().is_offline() {
                    return Err(CommandError::NeedsModel("think"));
                }
                Ok(Next::Think(task.to_owned()))
            })
        },
    },
    Command {
        name: "session",
        aliases: &["s"],
        arguments: "[NAME]",
        summary: "Choose a session, or open the one named",
        details: "In the list, type to filter by name or by what was said. A new name starts a session.",
        completes: Completes::Sessions,
        run: run!(session::run),
    },
    Command {
        name: "resume",
        aliases: &[],
        arguments: "[NAME]",
        summary: "Resume a session; without a name, choose one",
        details: "Like `/session`, but it never starts a new one; `/new NAME` does.",
        completes: Completes::Sessions,
        run: run!(session::resume),
    },
    Command {
        name: "new",
        aliases: &[],
        arguments: "[NAME]",
        summary: "Start a new session",
        details: "Without a name, it gets the usual name and the next free number.",
        completes: Completes::Nothing,
        run: run!(session::new),
    },
    Command {
        name: "fork",
        aliases: &[],
        arguments: "[NAME] [N]",
        summary: "Continue in a copy of this session",
        details: "With a number, the copy ends at that turn and has its summaries and notes; `/history` shows turn numbers.\n\
                  This session stays as it is.",
        completes: Completes::Nothing,
        run: run!(session::fork),
    },
    Command {
        name: "sessions",
        aliases: &[],
        arguments: "[restore [NAME]]",
        summary: "List all sessions, or bring back a deleted one",
        details: "If several deleted sessions had this name, the latest comes back; `--from TIME` picks another.",
        completes: Completes::Words(&["restore"]),
        run: run!(session::list),
    },
    Command {
        name: "rename",
        aliases: &[],
        arguments: "NAME",
        summary: "Rename this session",
        details: "",
        completes: Completes::Nothing,
        run: run!(session::rename),
    },
    Command {
        name: "delete",
        aliases: &[],
        arguments: "NAME",
        summary: "Move a session to the trash folder; asks first",
        details: "`/sessions restore NAME` brings it back.",
        completes: Completes::Sessions,
        run: run!(session::delete),
    },
    Command {
        name: "clear",
        aliases: &[],
        arguments: "",
        summary: "Clear this session; asks first",
        details: "Its messages move to the archive folder; nothing is deleted.",
        completes: Completes::Nothing,
        run: run!(session::clear),
    },
    Command {
        name: "export",
        aliases: &[],
        arguments: "[md|json|html] FILE",
        summary: "Export the whole session to a file",
        details: "Without a format, the file extension decides, else it is Markdown. Never overwrites a file.\n\
                  HTML is a single searchable page, light and dark.",
        completes: Completes::Formats,
        run: run!(export::run),
    },
    Command {
        name: "save",
        aliases: &[],
        arguments: "FILE",
        summary: "Write the last reply to a file",
        details: "Asks before overwriting a file; a script cannot overwrite one.",
        completes: Completes::Nothing,
        run: run!(reply::save),
    },
    Command {
        name: "copy",
        aliases: &[],
        arguments: "[N|code]",
        summary: "Copy the last reply, or its code",
        details: "`/copy 2` copies the reply before the last, `/copy code` the last code block. Through the terminal (OSC 52), so it works over ssh and in tmux, where the terminal allows it.",
        completes: Completes::Words(&["code"]),
        run: run!(reply::copy),
    },
    Command {
        name: "config",
        aliases: &[],
        arguments: "[WORDS]",
        summary: "Show settings and where each is set",
        details: "Without arguments, those that differ from the defaults; `/config memory recall` finds keys by their words.\n\
                  Settings are changed in the config file and read at the next start.",
        completes: Completes::Settings,
        run: |repl, words| Box::pin(async move { config::run(repl, words) }),
    },
    Command {
        name: "status",
        aliases: &["info"],
        arguments: "",
        summary: "Show session, model, memory, sandbox and folders",
        details: "",
        completes: Completes::Nothing,
        run: |repl, arguments| Box::pin(status::run(&repl.agent, &repl.env, arguments)),
    },
    Command {
        name: "cost",
        aliases: &[],
        arguments: "",
        summary: "Show tokens and price, by model",
        details: "Of the session and of this run, as servers report them. Prices come from the config file (`models.NAME.price`) or the server's list.",
        completes: Completes::Nothing,
        run: run!(cost::run),
    },
    Command {
        name: "paste",
        aliases: &[],
        arguments: "",
        summary: "Enter several lines, up to a line with a single dot",
        details: "You can also start and end a message with \"\"\", or end lines with \\.",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("paste", arguments).map(|()| Next::Paste) })
        },
    },
    Command {
        name: "quit",
        aliases: &["exit", "q"],
        arguments: "",
        summary: "Save and quit (also Ctrl-D)",
        details: "",
        completes: Completes::Nothing,
        run: |_, arguments| {
            Box::pin(async move { nothing("quit", arguments).map(|()| Next::Leave) })
        },
    },
];
