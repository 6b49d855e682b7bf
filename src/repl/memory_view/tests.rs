//! What memory holds, looked at without a program around it.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::chat::{Message, MessageId, Role};
use crate::files::MemoryDisk;
use crate::hint::Hint;
use crate::long_term::entries::{EntryStore, Kind, Origin, Scope, StoreSettings, Wanted, unmasked};
use crate::long_term::notes::{Captured, Receipts, Workspace, WorkspaceSettings};
use crate::store::FileStore;
use crate::term::Verbosity;
use crate::testing::ManualClock;

/// Everything on one disk in memory.
struct Held {
    disk: MemoryDisk,
    entries: EntryStore,
    captures: Captures,
    store: FileStore,
    session: Session,
}

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000).unwrap()
}

impl Held {
    fn with(captured: &[&str]) -> Self {
        let disk = MemoryDisk::default();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let settings = WorkspaceSettings::default();
        let receipts = Receipts::new(Arc::clone(&shared), "/d/memory/receipts.jsonl".into());
        let files = Captures {
            workspace: Workspace::new(Arc::clone(&shared), "/d/workspace".into(), settings),
            receipts,
        };
        let mut session = Session::new("work".parse().unwrap());
        let said = Message::text(
            MessageId::new("work/m1"),
            Role::User,
            "I like tea.\nRemember that!",
            Some(now()),
        );
        session.import(vec![said]);
        let held = Self {
            entries: EntryStore::session_only(StoreSettings::default(), unmasked),
            store: FileStore::new(shared, "/d".into(), Arc::new(ManualClock::new())),
            captures: files,
            session,
            disk,
        };
        let captured = captured.iter().map(|text| captured_as(text)).collect();
        held.captures.receipts.add(captured, now()).unwrap();
        held
    }

    fn keep(&mut self, key: &str, content: &str, from: Option<Origin>) {
        let wanted = Wanted {
            key: Some(key.to_owned()),
            content: content.to_owned(),
            kind: Kind::Fact,
            from,
            ..Wanted::default()
        };
        self.entries.add(Scope::Session, &wanted, now()).unwrap();
    }

    fn look(&self) -> MemoryView<'_> {
        MemoryView {
            entries: &self.entries,
            captures: self.captures.clone(),
            store: &self.store,
            disk: &self.disk,
            data: Path::new("/d"),
            line_history: Some(Path::new("/d/line_history")),
            session: self.session.name(),
            open: Some(&self.session),
            now: now(),
            caller: Caller::Chat,
            has_external: false,
        }
    }
}

/// Forgets what is meant; tells what became of it.
fn forget(held: &MemoryView<'_>, asked: &str) -> Result<String, MemoryViewError> {
    let mut chosen = match held.find(asked, None, History::Kept)? {
        Found::One(chosen) => chosen,
        Found::Several(listed) => return Ok(listed),
    };
    held.settle(&mut chosen);
    let gone = held.forget(&chosen, History::Kept)?;
    Ok(held.told(&chosen, &gone, History::Kept, Verbosity::Verbose))
}

fn captured_as(text: &str) -> Captured {
    Captured {
        session: "work".to_owned(),
        message: "work/m1".to_owned(),
        category: "user_preference".to_owned(),
        text: text.to_owned(),
        files: vec!["MEMORY.md".to_owned()],
        superseded: Vec::new(),
        entry: None,
    }
}

#[test]
fn the_newest_fifty_are_listed_and_how_many_are_older() {
    let texts: Vec<String> = (1..=53).map(|n| format!("word{n}.")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let held = Held::with(&texts);
    held.captures.receipts.forget(52, now()).unwrap();
    let list = held.look().list(Extent::Newest);
    assert!(list.starts_with("noted from your messages (remove with `/memory forget N`)"));
    assert!(
        list.contains("   53  user preference: word53.  ["),
        "{list}"
    );
    assert!(list.contains("… 2 older, `/memory list all`"), "{list}");
    assert!(!list.contains("word2.") && !list.contains("word52."));
    let all = held.look().list(Extent::All);
    assert!(all.contains("word1.") && !all.contains("older"), "{all}");
    let json = held.look().json();
    assert_eq!(json["captured"].as_array().unwrap().len(), 52);
    assert_eq!(json["captured"][0]["number"], 1);
}

#[test]
fn one_fact_is_listed_once_however_often_it_was_captured_or_kept() {
    let mut held = Held::with(&[
        "I like green tea",
        "My cat is called Mia",
        "Green tea, I like.",
    ]);
    let fact = Captured {
        category: Captured::FACT.to_owned(),
        ..captured_as("User request: Remember: my cat is called Mia, and buy milk")
    };
    held.captures.receipts.add(vec![fact], now()).unwrap();
    held.keep("number", "The build number is 4821", None);
    held.captures
        .receipts
        .add(vec![captured_as("The build number is 4821.")], now())
        .unwrap();
    let list = held.look().list(Extent::All);
    let rows: Vec<&str> = list
        .lines()
        .filter(|line| line.contains("user preference: "))
        .collect();
    assert_eq!(rows.len(), 2, "{list}");
    assert!(
        rows[0].contains("    3  user preference: Green tea, I like.")
            && rows[0].ends_with("] (same as 1)"),
        "{list}"
    );
    assert!(rows[1].contains("    2  user preference: My cat"), "{list}");
    assert!(
        !list.contains("buy milk") && list.matches("4821").count() == 1,
        "{list}"
    );
    assert_eq!(held.look().json()["captured"].as_array().unwrap().len(), 5);
}

#[test]
fn a_capture_and_an_entry_are_shown_with_the_message_they_came_from() {
    let mut held = Held::with(&["I like tea"]);
    let from = Origin {
        session: "work".to_owned(),
        message: "work/m1".to_owned(),
        at: None,
    };
    held.keep("drink", "coffee", None);
    held.keep("drink", "tea", Some(from));
    for name in ["1", "#1", "drink"] {
        let shown = held.look().show(name).unwrap();
        assert!(
            shown.contains("session work, turn 1, 2027-01-15 08:00"),
            "{shown}"
        );
        assert!(shown.contains("> I like tea.\n> Remember that!"), "{shown}");
        assert!(shown.contains("/memory forget"), "{shown}");
    }
    assert!(held.look().show("drink").unwrap().contains("coffee"));
    for asked in ["TEA like", "1", "drink"] {
        let why = held.look().why(asked).unwrap();
        assert!(why.contains("> I like tea."), "{why}");
    }
    assert!(held.look().why("ferry").unwrap().contains("No note"));
    assert!(held.look().why("8080").unwrap().contains("No note"));
}

#[test]
fn a_message_of_another_session_is_read_from_disk_or_it_is_said_why_not() {
    let mut held = Held::with(&["I like tea"]);
    let shown = |held: &Held| held.look().show("1").unwrap();
    held.session = Session::new("other".parse().unwrap());
    assert!(shown(&held).contains("cannot read the message"));
    held.session = Session::new("work".parse().unwrap());
    assert!(shown(&held).contains("no longer in session work"));
}

/// One file that cannot be read hid everything.
#[test]
fn entries_are_listed_also_where_receipts_cannot_be_read() {
    let mut held = Held::with(&[]);
    held.keep("drink", "tea", None);
    held.disk.put("/d/memory/receipts.jsonl", b"");
    held.disk.deny("/d/memory/receipts.jsonl");
    let list = held.look().list(Extent::Newest);
    assert!(list.contains("drink: tea"), "{list}");
    assert!(
        list.contains("could not list notes: cannot read /d/memory"),
        "{list}"
    );
    let json = held.look().json();
    assert_eq!(json["entries"][0]["text"], "tea");
    assert!(json["captured"].is_null() && json["problem"].is_string());
    let why = held.look().why("tea").unwrap();
    assert!(
        why.contains("drink: tea") && why.contains("could not list"),
        "{why}"
    );
}

#[test]
fn where_the_last_turn_noted_nothing_the_newest_is_named() {
    let mut held = Held::with(&["I like tea"]);
    let masked = Captured {
        category: Captured::MASKED.to_owned(),
        ..captured_as("Looks like a key; left out of memory (turn 2)")
    };
    held.captures.receipts.add(vec![masked], now()).unwrap();
    let chosen = held.look().kept_last().unwrap();
    assert_eq!(chosen.numbers, [1]);
    let later = Message::text(MessageId::new("work/m2"), Role::User, "And now?", None);
    held.session.import(vec![later]);
    let error = held.look().kept_last().unwrap_err();
    assert_eq!(error.to_string(), "nothing was saved in the last turn");
    let newest = "`/memory forget 1` removes the newest note, \"I like tea\"";
    assert_eq!(error.hint().unwrap(), newest);
}

/// The line of an entry that had left was in no list.
#[test]
fn a_line_for_good_is_listed_as_its_entry_while_that_is_there_and_else_by_itself() {
    let mut held = Held::with(&[]);
    held.keep("drink", "tea", None);
    let id = held.entries.all().next().unwrap().1.id.clone();
    let line = Captured {
        category: Captured::MEMORIZED.to_owned(),
        entry: Some(id.as_str().to_owned()),
        ..captured_as("tea")
    };
    held.captures.receipts.add(vec![line], now()).unwrap();
    held.disk.put("/d/workspace/MEMORY.md", b"- tea\n");
    let list = held.look().list(Extent::Newest);
    assert!(!list.contains("memorized"), "{list}");
    held.entries.remove("drink", None).unwrap();
    let list = held.look().list(Extent::Newest);
    assert!(list.contains("    1  memorized: tea"), "{list}");
    let told = forget(&held.look(), "1").unwrap();
    assert!(told.contains("\nRemoved from MEMORY.md"), "{told}");
}

#[test]
fn an_entry_that_says_the_same_goes_too_and_cannot_be_brought_back() {
    let mut held = Held::with(&[]);
    held.keep("drink", "I like tea", None);
    let id = held.entries.all().next().unwrap().1.id.to_string();
    let line = Captured {
        category: Captured::MEMORIZED.to_owned(),
        entry: Some(id.clone()),
        ..captured_as("I like tea")
    };
    let both = vec![line, captured_as("I like tea.")];
    held.captures.receipts.add(both, now()).unwrap();
    held.disk.put("/d/workspace/MEMORY.md", b"- I like tea\n");
    let Found::One(chosen) = held.look().find("2", None, History::Kept).unwrap() else {
        panic!()
    };
    assert_eq!(chosen.forget_entries(&mut held.entries, now()).unwrap(), 1);
    let told = forget(&held.look(), "2").unwrap();
    assert!(
        told.contains("\nAlso 1, saying the same. Still in history; `/forget 2 --redact` "),
        "{told}"
    );
    assert!(held.entries.all().next().is_none() && held.entries.restore(&id).is_err());
}

/// A session that was cleared begins at its first message again, and what it had kept told of the wrong one.
#[test]
fn of_a_session_begun_anew_or_with_another_name_no_wrong_message_is_quoted() {
    let mut held = Held::with(&["I like tea"]);
    let from = Origin {
        session: "work".to_owned(),
        message: "work/m1".to_owned(),
        at: Some(now()),
    };
    held.keep("drink", "tea", Some(from));
    let anew = Timestamp::from_unix(now().unix() + 60).unwrap();
    let other = |name: &str, at| {
        let mut session = Session::new(name.parse().unwrap());
        let (id, text) = (MessageId::new("work/m1"), "The weather is bad");
        session.import(vec![Message::text(id, Role::User, text, Some(at))]);
        session
    };
    let first = std::mem::replace(&mut held.session, other("work", anew));
    for asked in ["1", "drink", "tea"] {
        let why = held.look().why(asked).unwrap();
        assert!(!why.contains("weather"), "{why}");
        assert!(why.contains("no longer in session work"), "{why}");
    }
    let receipts = &held.captures.receipts;
    receipts.rename("work", "trip", anew).unwrap();
    held.session = Session::new("trip".parse().unwrap());
    held.session.import(first.messages().to_vec());
    for asked in ["1", "drink", "tea"] {
        let why = held.look().why(asked).unwrap();
        assert!(why.contains("session trip, turn 1, 2027"), "{why}");
        assert!(why.contains("> I like tea."), "{why}");
    }
}

#[test]
fn what_is_not_held_is_an_error_with_a_way_on() {
    let held = Held::with(&["I like tea"]);
    let huge = "9".repeat(5_000);
    for (name, expected) in [
        ("2", "no note 2"),
        (huge.as_str(), "no note 9"),
        (
            "../../etc/passwd",
            "no entry, note or file \"../../etc/passwd\"",
        ),
        ("\u{1b}[2J", "\\u{1b}"),
        ("USER.md", "file USER.md does not exist yet"),
    ] {
        let error = held.look().show(name).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(expected) && said.len() < 200, "{said}");
        assert!(error.hint().is_some(), "{said}");
    }
    assert!(forget(&held.look(), "0").is_err());
    assert!(held.look().draft("../../etc/passwd").is_err());
    forget(&held.look(), "1").unwrap();
    let again = forget(&held.look(), "1").unwrap_err().to_string();
    assert!(again.contains("already forgotten"), "{again}");
}

#[test]
fn a_file_is_shown_as_it_is_up_to_its_cap_and_harmless() {
    let held = Held::with(&[]);
    held.disk
        .put("/d/workspace/MEMORY.md", b"# Mine\n\x1b[2Jred\n");
    let shown = held.look().show("MEMORY.md").unwrap();
    assert!(
        shown.starts_with("# Mine\n") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    held.disk
        .put("/d/workspace/MEMORY.md", "ä".repeat(30_000).as_bytes());
    let shown = held.look().show("MEMORY.md").unwrap();
    assert!(shown.contains("… 20,000 more bytes in /d/workspace/MEMORY.md"));
    assert!(shown.chars().count() < 20_100);
}

#[test]
fn what_is_forgotten_leaves_its_file_also_where_a_later_line_took_its_place() {
    for (line, left) in [
        ("- **user_preference**: I like tea", "\n"),
        (
            "- (superseded 2026-02-14) **user_preference**: I like tea",
            "\n",
        ),
        (
            "- **user_preference**: I like tea with milk",
            "- **user_preference**: [forgotten] with milk\n\n",
        ),
    ] {
        let held = Held::with(&["I like tea"]);
        let file =
            format!("# Memory\n\n## Auto-captured\n\n{line}\n\n## Mine\n\nI like cake with tea\n");
        held.disk.put("/d/workspace/MEMORY.md", file.as_bytes());
        let told = forget(&held.look(), "1").unwrap();
        let file = held.disk.files()[Path::new("/d/workspace/MEMORY.md")].clone();
        let file = String::from_utf8(file).unwrap();
        let expected =
            format!("# Memory\n\n## Auto-captured\n\n{left}## Mine\n\nI like cake with tea\n");
        assert_eq!(file, expected, "{line}");
        assert!(told.contains("\nRemoved from MEMORY.md"), "{told}");
        assert!(
            told.starts_with("Forgotten: I like tea\nStill in history; "),
            "{told}"
        );
    }
}

#[test]
fn words_that_mean_several_things_list_them_and_choose_none() {
    let mut held = Held::with(&[
        "I like green tea",
        "My sister Gulnora lives in Tashkent",
        "I like tea at five",
    ]);
    held.keep("drink", "tea with milk", None);
    let listed = forget(&held.look(), "tea").unwrap();
    assert!(listed.starts_with("Several matches for tea:"), "{listed}");
    assert!(
        listed.contains(
            "
      3  I like tea at five  [user preference]
"
        ),
        "{listed}"
    );
    assert!(
        listed.contains(
            "
  mem_"
        ) && listed.contains("`/memory forget 3` forgets the first, `/memory forget tea #all` all"),
        "{listed}"
    );
    assert!(held.captures.all().unwrap().iter().all(|it| !it.forgotten));
    for (asked, numbers) in [
        ("gulnora", &[2][..]),
        ("tea #2", &[1]),
        ("tea #all", &[3, 1]),
        ("2-3", &[2, 3]),
        ("1 3", &[1, 3]),
        ("#1, 7", &[1]),
        ("last", &[3]),
    ] {
        let Found::One(chosen) = held.look().find(asked, None, History::Kept).unwrap() else {
            panic!("{asked}")
        };
        assert_eq!(chosen.numbers, numbers, "{asked}");
    }
    for asked in ["8-9", "ferry", "tea #9"] {
        let found = held.look().find(asked, None, History::Kept);
        assert!(!matches!(found, Ok(Found::One(_))), "{asked}");
    }
}

#[test]
fn what_was_never_captured_is_found_in_files_and_then_in_what_was_said() {
    let mut held = Held::with(&[]);
    held.disk
        .put("/d/workspace/USER.md", b"# Me\n\n- born in Samarkand\n");
    let said = "My brother Rustam rows. Does Rustam row? I saw Rustam in May.";
    let message = Message::text(MessageId::new("work/m2"), Role::User, said, Some(now()));
    held.session.import(vec![message]);
    let Found::One(chosen) = held.look().find("samarkand", None, History::Kept).unwrap() else {
        panic!()
    };
    assert_eq!(chosen.texts, ["born in Samarkand"]);
    let listed = forget(&held.look(), "rustam").unwrap();
    assert!(
        listed.contains(
            "
     #2  "
        ) && listed.contains("`/memory forget rustam #1`"),
        "{listed}"
    );
    assert!(!listed.contains("Does Rustam"), "{listed}");
}

#[test]
fn what_a_server_may_keep_and_a_file_that_cannot_be_changed_are_told() {
    let held = Held::with(&["I like tea", "I like jam"]);
    let line = "- **user_preference**: I like tea\n";
    held.disk.put("/d/workspace/MEMORY.md", line.as_bytes());
    let further = MemoryView {
        has_external: true,
        ..held.look()
    };
    let told = forget(&further, "1").unwrap();
    assert!(told.contains("mem0 may still have it"), "{told}");
    let told = forget(&held.look(), "2").unwrap();
    assert!(!told.contains("mem0"), "{told}");
    let large = format!("- **user_preference**: I like jam\n{}", "x".repeat(9 << 20));
    held.disk.put("/d/workspace/MEMORY.md", large.as_bytes());
    held.captures
        .receipts
        .add(vec![captured_as("I like jam")], now())
        .unwrap();
    let told = forget(&held.look(), "3").unwrap();
    assert!(
        told.contains("Still in MEMORY.md: ") && told.contains("MiB"),
        "{told}"
    );
}

#[test]
fn the_six_layers_have_their_files_with_size_and_path() {
    let held = Held::with(&[]);
    held.disk.put("/d/workspace/MEMORY.md", b"1234567");
    held.disk.put("/d/workspace/memory/2026-02-14.md", b"day");
    let layers = held.look().layers().unwrap();
    for layer in [
        "core",
        "episodic",
        "semantic",
        "short-term",
        "long-term",
        "workspace",
    ] {
        let begins = layers.lines().any(|line| line.starts_with(layer));
        assert!(begins, "{layer}: {layers}");
    }
    let line = |words: &str| layers.lines().find(|line| line.contains(words)).unwrap();
    assert!(line("/d/workspace/MEMORY.md").contains("7 B"), "{layers}");
    assert!(line("1 daily note").contains("3 B"), "{layers}");
    assert!(line("SOUL.md").contains(" - "), "{layers}");
    let paths = held.look().paths();
    assert!(
        paths.contains("/d/history/work.json  (does not exist yet)"),
        "{paths}"
    );
    assert!(paths.contains("/d/memory/receipts.jsonl"), "{paths}");
}

#[test]
fn a_category_that_the_first_words_name_is_not_written_twice() {
    for (category, text, shown) in [
        (
            "remember",
            "Remember that the key rotates",
            "Remember that the key rotates",
        ),
        ("remember", "Please remember: tea", "Please remember: tea"),
        ("goal", "My goal is tea", "My goal is tea"),
        ("preference", "I prefer tea", "preference: I prefer tea"),
        ("user_preference", "tea", "user preference: tea"),
        (
            "remember",
            "Tea is what I would remember",
            "reminder: Tea is what I would remember",
        ),
    ] {
        assert_eq!(labelled(category, text), shown);
    }
}
