//! What is done in each flow, in the order in which a person comes to it. All share one home.

use super::Key;

/// A start of the program and what is done with it.
pub(super) struct Flow {
    pub(super) name: &'static str,
    pub(super) args: &'static [&'static str],
    /// Whether the model of the config is used, or none.
    pub(super) has_model: bool,
    /// What it begins with.
    pub(super) begins: &'static str,
    /// None where the program ends by itself.
    pub(super) steps: &'static [Step],
}

pub(super) enum Step {
    /// A line, whose answer ends in a prompt or a question.
    Enter(&'static str),
    /// A line that shows something and goes on.
    Shows(&'static str, &'static str),
    Paste(&'static str),
    /// A key that brings the prompt back, and what it does.
    Press(Key, &'static str),
}

use Step::{Enter, Paste, Press, Shows};

const fn chat(name: &'static str, args: &'static [&'static str], steps: &'static [Step]) -> Flow {
    Flow {
        name,
        args,
        has_model: true,
        begins: ">",
        steps,
    }
}

/// One that begins with a question.
const fn asked(
    name: &'static str,
    args: &'static [&'static str],
    begins: &'static str,
    steps: &'static [Step],
) -> Flow {
    Flow {
        begins,
        ..chat(name, args, steps)
    }
}

const fn run(name: &'static str, args: &'static [&'static str]) -> Flow {
    chat(name, args, &[])
}

pub(super) const FLOWS: &[Flow] = &[
    run("help", &["--help"]),
    Flow {
        name: "no model",
        args: &[],
        has_model: false,
        begins: ">",
        steps: &[
            Enter("Where do I keep the keys?"),
            Enter("/status"),
            Enter("/mdoe"),
        ],
    },
    chat(
        "a reply",
        &["-s", "move"],
        &[
            Enter(
                "I am Ana. I move to Frankfurt on Friday, and the movers come at seven in the morning, please remember that.",
            ),
            Enter("plan the move"),
            Enter("/details"),
            Enter("/copy code"),
            Enter("and what about @notes/a.md and @none.md?"),
            Paste("one line\ntwo lines\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12"),
            Enter(""),
            Enter("!echo from the shell"),
            Shows("count slowly", "one two"),
            Press(Key::CtrlC, "Ctrl-C"),
            Enter("/retry"),
            Enter("fail"),
            Enter("/save reply.md"),
            Enter("/export talk.html"),
        ],
    ),
    chat(
        "a tool",
        &["-M", "code", "-s", "greet"],
        &[
            Enter("write a greeting"),
            Enter("what would it do?"),
            Enter("write the greeting after all"),
            Enter("y"),
            Enter("/diff"),
            Enter("/undo"),
            Enter("/approvals"),
            Enter("/approve"),
            Enter("/tools"),
            Enter("/mcp"),
        ],
    ),
    chat(
        "the memory",
        &["-s", "memory"],
        &[
            Enter("When do the movers come?"),
            Enter("/why"),
            Enter("/context"),
            Enter("/compact"),
            Enter("/compact undo"),
            Enter("/memory"),
            Enter("/memory list"),
            Enter("/search movers"),
            Enter("/history"),
            Enter("/cost"),
            Enter("/status"),
        ],
    ),
    chat(
        "modes and models",
        &["-s", "modes"],
        &[
            Enter("/help"),
            Enter("/help compact"),
            Enter("/mode"),
            Enter("/mode reasoning"),
            Enter("/mode nonsense"),
            Enter("/model"),
            Enter("/model other"),
            Enter("/model nope"),
            Enter("/config"),
        ],
    ),
    chat(
        "sessions",
        &["-r", "move"],
        &[
            Enter("/sessions"),
            Enter("/fork"),
            Enter("/rename frankfurt"),
            Enter("/delete memory"),
            Enter("y"),
            Enter("/sessions restore memory"),
            Enter("/session mvoe"),
            Enter("y"),
            Enter("/new"),
            Shows("/resume", "type to filter"),
            Press(Key::Enter, "Enter"),
        ],
    ),
    asked(
        "a choice of sessions",
        &["-r"],
        "type to filter",
        &[Shows("greet", "conversation>"), Enter("/status")],
    ),
    asked(
        "a session's name with a slip",
        &["-s", "gret"],
        "gret]",
        &[Shows("y", "conversation>"), Enter("/history 1")],
    ),
    asked(
        "a session open elsewhere",
        &["-s", "held"],
        "name:",
        &[Shows("r", "read-only>"), Enter("/undo")],
    ),
    chat("a second terminal", &[], &[Enter("/sessions")]),
    chat(
        "private",
        &["--private"],
        &[Enter("hello"), Enter("/memory list")],
    ),
    chat("the last one", &["--continue"], &[Enter("/status")]),
    run("one question", &["-p", "When do the movers come?"]),
    run("one question in words", &["when", "do", "they", "come"]),
    run("a slip", &["sesions"]),
    run("an unknown model", &["-m", "nope"]),
    run("list of sessions", &["sessions"]),
    run("search", &["search", "movers"]),
    run("models", &["models"]),
    run("doctor", &["doctor"]),
    run("config", &["config", "check", "-c", "broken.yaml"]),
    run("notes", &["memory", "list"]),
];
