//! What may be printed and how: values decided once, from what the person asked for and where the
//! streams lead. Reads no environment; `config` passes in what it found there.

use super::settings::Theme;

/// Where a stream leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Someone looks at it: text is made harmless, lines may be redrawn.
    Terminal,
    /// A pipe or a file: bytes go out as they are.
    File,
}

/// How much is told beside replies and answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Warnings and errors only.
    Quiet,
    #[default]
    Normal,
    /// Details too.
    Verbose,
}

/// What the person asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub verbosity: Verbosity,
    /// Whether color and emphasis are wanted where a terminal can show them (`NO_COLOR`, A1).
    pub paint: Paint,
    pub replies: Replies,
    pub features: Features,
}

/// What the terminal does beyond the usual, as far as its variables tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// It is tmux, which keeps sequences for the terminal around it unless they are wrapped.
    pub is_tmux: bool,
    /// It shows links (OSC 8).
    pub links: bool,
    /// It breaks lines anew when its width changes.
    pub reflows: bool,
}

impl Features {
    /// From the environment.
    pub fn from_variables<'v>(get: impl Fn(&str) -> Option<&'v str>) -> Self {
        let is_tmux = get("TMUX").is_some();
        Self {
            is_tmux,
            links: shows_links(is_tmux, &get),
            reflows: is_tmux || !cuts_lines(&get),
        }
    }
}

/// Terminals that are known to leave lines as they were printed: xterm, screen and the console.
fn cuts_lines<'v>(get: impl Fn(&str) -> Option<&'v str>) -> bool {
    let is_console = get("TERM").is_some_and(|term| ["linux", "vt100"].contains(&term));
    is_console
        || ["XTERM_VERSION", "STY"]
            .iter()
            .any(|name| get(name).is_some())
}

/// Terminals that are known to; the others may print the address.
fn shows_links<'v>(is_tmux: bool, get: impl Fn(&str) -> Option<&'v str>) -> bool {
    const PROGRAMS: [&str; 5] = ["iTerm.app", "WezTerm", "ghostty", "vscode", "rio"];
    const TERMS: [&str; 4] = ["xterm-kitty", "alacritty", "foot", "xterm-ghostty"];
    const VARIABLES: [&str; 2] = ["WT_SESSION", "KONSOLE_VERSION"];
    /// From 0.50 on.
    const VTE: u32 = 5_000;
    let program = get("TERM_PROGRAM");
    if is_tmux {
        // What the terminal around it set is still there; only tmux itself says whether it passes links on.
        let version = get("TERM_PROGRAM_VERSION").filter(|_| program == Some("tmux"));
        let mut parts = version.unwrap_or_default().split('.');
        let mut number = || {
            let part = parts.next().unwrap_or_default();
            let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
            digits.parse::<u32>().unwrap_or(0)
        };
        return (number(), number()) >= (3, 4);
    }
    let vte = get("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    program.is_some_and(|program| PROGRAMS.contains(&program))
        || get("TERM").is_some_and(|term| TERMS.contains(&term))
        || VARIABLES.iter().any(|name| get(name).is_some())
        || vte.is_some_and(|version| version >= VTE)
}

/// How a terminal shows replies. A file gets what the model wrote in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replies {
    /// As the model wrote them.
    #[default]
    Raw,
    /// Laid out, with the colours of code made for a background.
    Markdown(Theme),
}

/// What may be done to dress up a terminal. A file gets plain text in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    #[default]
    Full,
    /// `NO_COLOR`: lines may be redrawn; nothing has a colour, but words may be bold or in italics.
    Colorless,
    /// A terminal that knows no sequences at all (`TERM=dumb`).
    Bare,
}

impl Paint {
    /// From the values of `NO_COLOR` and `TERM`; an empty `NO_COLOR` counts as not set.
    pub fn from_variables(no_color: Option<&str>, term: Option<&str>) -> Self {
        if term == Some("dumb") {
            Self::Bare
        } else if no_color.is_some_and(|value| !value.is_empty()) {
            Self::Colorless
        } else {
            Self::Full
        }
    }
}

/// How a piece of text is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Dim,
    Notice,
    Warning,
    Error,
    Added,
    Removed,
}

impl Style {
    /// That of a line of a unified diff.
    pub(super) fn of_change(line: &str) -> Self {
        match line.as_bytes().first() {
            Some(b'+') => Self::Added,
            Some(b'-') => Self::Removed,
            Some(b'@') => Self::Notice,
            Some(_) | None => Self::Dim,
        }
    }

    /// The sequence that switches it on.
    fn on(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\x1b[2m",
            Self::Notice => "\x1b[36m",
            Self::Warning => "\x1b[33m",
            Self::Error => "\x1b[1;31m",
            Self::Added => "\x1b[32m",
            Self::Removed => "\x1b[31m",
        }
    }

    /// Dresses a text for a device.
    pub(super) fn paint(self, text: &str, device: Device, paint: Paint) -> String {
        match (self, device, paint) {
            (Self::Plain, ..)
            | (_, Device::File, _)
            | (_, Device::Terminal, Paint::Colorless | Paint::Bare) => text.to_owned(),
            (_, Device::Terminal, Paint::Full) => format!("{}{text}\x1b[0m", self.on()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_counts_only_with_a_value_and_a_dumb_terminal_is_left_plain() {
        for (no_color, term, expected) in [
            (None, None, Paint::Full),
            (Some(""), Some("xterm"), Paint::Full),
            (Some("1"), Some("xterm"), Paint::Colorless),
            (None, Some("dumb"), Paint::Bare),
            (Some("1"), Some("dumb"), Paint::Bare),
        ] {
            assert_eq!(
                Paint::from_variables(no_color, term),
                expected,
                "NO_COLOR={no_color:?} TERM={term:?}"
            );
        }
    }

    #[test]
    fn links_are_shown_where_the_terminal_is_known_to_show_them() {
        for (variables, links) in [
            (&[("TERM", "xterm-256color")][..], false),
            (&[("TERM", "xterm-kitty")], true),
            (&[("VTE_VERSION", "7600")], true),
            (&[("VTE_VERSION", "4800")], false),
            (&[("TERM_PROGRAM", "WezTerm")], true),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[("TMUX", "/tmp/x"), ("VTE_VERSION", "7600")], false),
            (
                &[
                    ("TMUX", "/tmp/x"),
                    ("TERM_PROGRAM", "tmux"),
                    ("TERM_PROGRAM_VERSION", "3.5a"),
                ],
                true,
            ),
            (
                &[
                    ("TMUX", "/tmp/x"),
                    ("TERM_PROGRAM", "tmux"),
                    ("TERM_PROGRAM_VERSION", "3.3a"),
                ],
                false,
            ),
        ] {
            let get = |name: &str| {
                let known = variables.iter().find(|(known, _)| *known == name);
                known.map(|(_, value)| *value)
            };
            assert_eq!(Features::from_variables(get).links, links, "{variables:?}");
        }
    }

    #[test]
    fn lines_are_broken_anew_but_by_a_few_terminals() {
        for (variables, reflows) in [
            (&[("TERM", "xterm-256color")][..], true),
            (
                &[("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(390)")],
                false,
            ),
            (&[("TMUX", "/tmp/x"), ("XTERM_VERSION", "XTerm(390)")], true),
            (&[("TERM", "screen"), ("STY", "7.tty")], false),
            (&[("TERM", "linux")], false),
        ] {
            let get = |name: &str| {
                let known = variables.iter().find(|(known, _)| *known == name);
                known.map(|(_, value)| *value)
            };
            assert_eq!(
                Features::from_variables(get).reflows,
                reflows,
                "{variables:?}"
            );
        }
    }

    #[test]
    fn only_a_terminal_gets_color() {
        let paint = |device, paint| Style::Error.paint("no", device, paint);
        assert_eq!(paint(Device::Terminal, Paint::Full), "\x1b[1;31mno\x1b[0m");
        assert_eq!(paint(Device::Terminal, Paint::Colorless), "no");
        assert_eq!(paint(Device::File, Paint::Full), "no");
    }
}
