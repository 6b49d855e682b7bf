//! Sessions in lines: the table of all, and the one that was opened.

use super::repl_context::Setting;
use crate::agent::Agent;
use crate::chat::{SessionName, Timestamp};
use crate::index::Hit;
use crate::store::SessionInfo;
use crate::term::{Align, NARROW, Table, fit_to, thousands, width};

/// `Resumed work (12 messages, last 3 days ago)`, or that it is new (C75).
pub fn opened(agent: &Agent, now: Timestamp) -> String {
    let session = agent.session();
    let name = session.name();
    if agent.is_blank() {
        return format!("New session {name}");
    }
    if session.is_empty() {
        return format!("Resumed {name} (no messages yet; `/memory` shows its notes)");
    }
    let messages = count(session.live_messages(), "message");
    let last = session
        .meta()
        .updated_at
        .map_or_else(String::new, |at| format!(", last {}", at.ago(now)));
    format!("Resumed {name} ({messages}{last})")
}

/// That parts of what the modes had noted cannot be read.
pub fn unread(places: &[String]) -> Option<String> {
    const NAMED: usize = 5;
    (!places.is_empty()).then(|| {
        let named = places[..places.len().min(NAMED)].join(", ");
        let more = match places.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "some mode notes could not be read and are kept under \"unread\" in the mode state file: {named}{more}"
        )
    })
}

/// The other places that say the same, a few of them; empty where there are none.
pub fn also(places: &[String]) -> String {
    const NAMED: usize = 3;
    let (named, more) = places.split_at(places.len().min(NAMED));
    match (named, more.len()) {
        ([], _) => String::new(),
        (named, 0) => format!("  (also {})", named.join(", ")),
        (named, more) => format!("  (also {} and {more} more)", named.join(", ")),
    }
}

/// The hits a person is shown: those that have something of the question, and behind them one that stands within two
/// lines of any. Where nothing has, all.
pub fn worth_showing(hits: &[Hit]) -> Vec<&Hit> {
    let (besides, mut shown): (Vec<&Hit>, Vec<&Hit>) = hits.iter().partition(|hit| hit.is_beside);
    if shown.is_empty() {
        return besides;
    }
    let is_near = |hit: &&Hit| {
        let mut matches = shown.iter();
        matches.any(|it| it.source == hit.source && it.line.abs_diff(hit.line) <= 2)
    };
    let beside = besides.into_iter().find(is_near);
    shown.extend(beside);
    shown
}

/// That a hit has nothing of the question itself.
pub fn beside(hit: &Hit) -> &'static str {
    if hit.is_beside {
        "  (next to a match)"
    } else {
        ""
    }
}

/// `940`, `4.1k`, `16k`, `1.0M`: tokens in a few letters.
pub fn thousand(n: u64) -> String {
    let tenths = |unit: u64| (n * 10 + unit / 2) / unit;
    let short = |tenths: u64, letter: char| match tenths {
        100.. => format!("{}{letter}", (tenths + 5) / 10),
        _ => format!("{}.{}{letter}", tenths / 10, tenths % 10),
    };
    match n {
        0..1_000 => n.to_string(),
        1_000..999_500 => short(tenths(1_000), 'k'),
        _ => short(tenths(1_000_000), 'M'),
    }
}

/// `1 message`, `2,000 messages`, `2 entries`.
pub fn count(n: usize, noun: &str) -> String {
    let number = thousands(n);
    match noun.strip_suffix('y') {
        _ if n == 1 => format!("{number} {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        Some(_) | None => format!("{number} {noun}s"),
    }
}

/// Settings in lines: key, value and where it is set, those that are not the defaults first.
pub fn settings<'a>(all: impl Iterator<Item = &'a Setting>, columns: usize) -> String {
    let (set, defaults): (Vec<_>, Vec<_>) = all.partition(|setting| setting.source.is_some());
    let keys = set
        .iter()
        .chain(&defaults)
        .map(|setting| width(&setting.key));
    // A few long keys do not push all values to the right.
    let beside = keys.max().unwrap_or(0).min((columns / 2).saturating_sub(2));
    let line = |setting: &&Setting| {
        let Setting { key, value, source } = *setting;
        let source = source.as_deref().unwrap_or("default");
        if columns < NARROW {
            return format!("{key}\n    {value}\n    # {source}");
        }
        let line = format!("{key:<beside$}  {value}  # {source}");
        if width(&line) <= columns {
            return line;
        }
        format!("{key:<beside$}  {value}\n{:beside$}  # {source}", "")
    };
    let groups = [set, defaults];
    let groups = groups.iter().filter(|group| !group.is_empty());
    let groups: Vec<String> = groups
        .map(|group| group.iter().map(line).collect::<Vec<_>>().join("\n"))
        .collect();
    groups.join("\n\n")
}

/// One line a session: name, mode, messages, last used, first words; the open one marked. Names are what one types, so
/// they are not cut: mode and messages make room for them, and on a narrow screen the first words stand below.
pub fn table(
    sessions: &[SessionInfo],
    open: Option<&SessionName>,
    now: Timestamp,
    columns: usize,
) -> String {
    const ALIGN: [Align; 5] = [
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Left,
    ];
    const WORDS_MIN: usize = 16;
    const MODE_AND_MESSAGES: usize = "conversation  MESSAGES  ".len();
    if sessions.is_empty() {
        return "No sessions yet".to_owned();
    }
    let last_used = |info: &SessionInfo| info.updated_at.map_or_else(String::new, |at| at.ago(now));
    let mark = |info: &SessionInfo| if open == Some(&info.name) { '*' } else { ' ' };
    let words = |info: &SessionInfo| info.problem.as_ref().unwrap_or(&info.title).clone();
    let beside = sessions.iter().map(|info| {
        "*     ".len() + width(info.name.as_str()) + width(&last_used(info)).max("LAST USED".len())
    });
    let room = columns.saturating_sub(beside.max().unwrap_or(0));
    if columns < NARROW || room < WORDS_MIN {
        let lines = sessions.iter().map(|info| {
            let (mark, last) = (mark(info), last_used(info));
            let room = columns.saturating_sub("*   ".len() + width(&last));
            let name = fit_to(info.name.as_str(), room);
            let first = format!("{mark} {name}  {last}");
            let words = words(info).replace(['\n', '\r', '\t'], " ");
            let words = fit_to(&words, columns.saturating_sub(4));
            format!("{}\n    {words}", first.trim_end())
        });
        return lines.collect::<Vec<_>>().join("\n");
    }
    let shown: &[usize] = if room >= WORDS_MIN + MODE_AND_MESSAGES {
        &[0, 1, 2, 3, 4]
    } else {
        &[0, 3, 4]
    };
    let align: Vec<Align> = shown.iter().map(|&at| ALIGN[at]).collect();
    let mut table = Table::new(align).with_names();
    let heads = ["  SESSION", "MODE", "MESSAGES", "LAST USED", "FIRST WORDS"];
    table.row(shown.iter().map(|&at| heads[at]));
    for info in sessions {
        let cells = [
            format!("{} {}", mark(info), info.name),
            info.mode.clone().unwrap_or_default(),
            info.messages.to_string(),
            last_used(info),
            words(info),
        ];
        table.row(shown.iter().map(|&at| &cells[at]));
    }
    table.render(columns).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Kind;
    use crate::index::fixture::hit;

    #[test]
    fn settings_stand_below_their_keys_on_a_narrow_screen_and_those_that_are_set_come_first() {
        let setting = |key: &str, value: &str, source: Option<&str>| Setting {
            key: key.to_owned(),
            value: value.to_owned(),
            source: source.map(str::to_owned),
        };
        let long = "a.key.that.is.longer.than.any.value.beside.it";
        let all = [
            setting("session", "default", None),
            setting(long, "yes", None),
            setting("memory.mode", "code", Some("$COGTRIX_MEMORY_MODE")),
        ];
        insta::assert_snapshot!(settings(all.iter(), 80), @r#"
        memory.mode                             code  # $COGTRIX_MEMORY_MODE

        session                                 default  # default
        a.key.that.is.longer.than.any.value.beside.it  yes  # default
        "#);
        insta::assert_snapshot!(settings(all.iter(), 40), @r"
        memory.mode
            code
            # $COGTRIX_MEMORY_MODE

        session
            default
            # default
        a.key.that.is.longer.than.any.value.beside.it
            yes
            # default
        ");
    }

    #[test]
    fn sessions_have_their_first_words_below_on_a_narrow_screen() {
        let now = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
        let info = |name: &str, title: &str| SessionInfo {
            name: name.parse().unwrap(),
            mode: Some("conversation".to_owned()),
            model: None,
            messages: 12,
            updated_at: Timestamp::parse("2026-05-01T10:00:00Z"),
            title: title.to_owned(),
            problem: None,
        };
        let sessions = [
            info("work", "Which of the two databases is the better one"),
            info(&"n".repeat(64), "hi"),
        ];
        let open = "work".parse().ok();
        insta::assert_snapshot!(table(&sessions, open.as_ref(), now, 40), @r#"
        * work  2 hours ago
            Which of the two databases is the b…
          nnnnnnnnnnnnnnnnnnnnnnnn…  2 hours ago
            hi
        "#);
        insta::assert_snapshot!(table(&sessions, None, now, 80), @"
          work  2 hours ago
            Which of the two databases is the better one
          nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn  2 hours ago
            hi
        ");
        insta::assert_snapshot!(table(&sessions[..1], None, now, 80), @"
          SESSION  MODE          MESSAGES  LAST USED    FIRST WORDS
          work     conversation        12  2 hours ago  Which of the two databases is t…
        ");
        let asked = [info(
            &"q".repeat(39),
            "Which of the two databases is the better one",
        )];
        insta::assert_snapshot!(table(&asked, None, now, 80), @"
          SESSION                                  LAST USED    FIRST WORDS
          qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq  2 hours ago  Which of the two databa…
        ");
    }

    #[test]
    fn a_name_of_usual_length_is_never_cut() {
        let now = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
        let info = SessionInfo {
            name: "2026-11-23-1631-hi-there".parse().unwrap(),
            mode: Some("conversation".to_owned()),
            model: None,
            messages: 12,
            updated_at: Some(now),
            title: "hi there, can you tell me what the weather is like on the coast".to_owned(),
            problem: None,
        };
        let shown = table(&[info], None, now, 80);
        assert!(shown.contains("2026-11-23-1631-hi-there "), "{shown}");
    }

    #[test]
    fn what_is_far_from_any_match_is_not_shown_unless_nothing_matches() {
        let found = |source, line, is_beside| Hit {
            is_beside,
            ..hit(Kind::Said, source, line, "words")
        };
        let hits = [
            found("a", 5, true),
            found("a", 4, false),
            found("a", 3, true),
            found("a", 9, true),
            found("b", 4, true),
        ];
        let lines = |hits: &[Hit]| -> Vec<usize> {
            worth_showing(hits).iter().map(|hit| hit.line).collect()
        };
        assert_eq!(lines(&hits), [4, 5]);
        assert_eq!(lines(&hits[2..]), [3, 9, 4]);
    }
}
