//! Captured, read, noted and taken back, on a disk in memory.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::chat::fixture;
use crate::chat::{
    Compaction, Form, Message, MessageId, Record, Role, SessionName, Timestamp, Tokens,
};
use crate::files::{Disk, Fault, FaultyDisk, MemoryDisk, Moment, Schedule};
use crate::long_term::entries::{Entry, EntryStore, Scope, StoreSettings, Wanted, unmasked};
use crate::long_term::notes::{Receipt, RuleFiles, WorkspaceSettings};
use crate::memory::capture::WalSettings;
use crate::memory::facts::FactsSettings;
use crate::memory::forgetting::redact;
use crate::memory::known_secrets;
use crate::memory::{Backend, Prompt, Recovery};
use crate::text::patterns::Checked;
use crate::text::secrets::Known;
use crate::text::statement::Statement;

const STATE: &str = "w/sessions/work/SESSION-STATE.md";
const BUFFER: &str = "w/sessions/work/working-buffer.md";
const SAID: &str = "Actually, I prefer dark mode. Remember that the key rotates monthly.";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn noon() -> Timestamp {
    at("2026-02-14T12:00:00Z")
}

fn name() -> SessionName {
    "work".parse().unwrap()
}

fn parts(disk: &MemoryDisk) -> Parts {
    parts_on(Arc::new(disk.clone()))
}

fn parts_on(disk: Arc<dyn Disk>) -> Parts {
    let mut settings = memory::Settings::default();
    // As the preset agenticx has it.
    settings.facts.memory_md_max_chars = 4_000;
    let lasting = WalSettings {
        durable: ["proper_noun", "preference", "remember"]
            .map(String::from)
            .to_vec(),
        ..WalSettings::default()
    };
    let workspace = Workspace::new(
        Arc::clone(&disk),
        "w".into(),
        WorkspaceSettings {
            project_files: Vec::new(),
            ..WorkspaceSettings::default()
        },
    );
    let cues = Prompt::new("recovery.yaml", "en: ['where were we']");
    Parts {
        workspace,
        receipts: Receipts::new(disk, "memory/receipts.jsonl".into()),
        extractor: Some(Arc::new(Extractor::with(|_| None, &lasting).unwrap())),
        recovery: Some(Arc::new(RecoveryCues::parse(&cues, Checked::Now).unwrap())),
        facts: Some(Arc::new(
            FactCues::with(|_| None, &FactsSettings::default()).unwrap(),
        )),
        settings,
        recovers: true,
        buffer_from: 0.5,
        memories: false,
        project: "p".into(),
        rules: RuleFiles::default(),
    }
}

fn text(disk: &MemoryDisk, path: &str) -> String {
    let bytes = disk.read(Path::new(path)).unwrap_or_default();
    String::from_utf8(bytes).unwrap()
}

fn words(text: &str) -> Message {
    Message::text(MessageId::numbered(1), Role::User, text, None)
}

/// A session of turns with these inputs and replies.
fn session(turns: &[(&str, &str)]) -> Session {
    let mut session = Session::new(name());
    for (asked, replied) in turns {
        fixture::say(&mut session, *asked, *replied, None);
    }
    session
}

/// A guard compacted all there is.
fn shortened_by_a_guard(session: &Session) -> Record {
    let mut hybrid = session.hybrid().clone();
    hybrid.compaction = Some(Compaction {
        strategy: "proactive".to_owned(),
        form: Form::Notice,
        head: 0,
        upto: 2,
        covers: None,
        gone: None,
        untold: 0,
        made: 2,
        condensed: 0,
        text: "…".to_owned(),
        at: noon(),
        previous: None,
    });
    Record::HybridReplaced(hybrid)
}

fn end(long_term: &LongTermMemory, session: &Session, now: Timestamp, used: f64) -> Ran {
    let most = long_term.parts().newest_read();
    let turn = session.turns().last().unwrap();
    let (_, ran) = long_term.at_end(
        Ending::of(session, &known_secrets(session), turn, most, now, used),
        false,
    )();
    ran
}

/// Forgets the capture of a number, and what says the same.
fn forget(parts: &Parts, number: u64) -> Forgotten {
    let captures = parts.captures();
    let receipts = captures.all().unwrap();
    let receipt = receipts.iter().find(|it| it.number == number).unwrap();
    let statements = Statement::of(receipt.what.words()).into_iter().collect();
    let forgotten = captures.forget(&[number], &statements, &name(), noon());
    forgotten.unwrap()
}

fn numbers(receipts: &[Receipt]) -> Vec<u64> {
    receipts.iter().map(|it| it.number).collect()
}

fn lost(said: &str, shortened: Option<Shortened>) -> Lost {
    Lost {
        said: said.to_owned(),
        shortened,
        window: Tokens(32_768),
    }
}

#[test]
fn all_captures_of_a_message_are_one_write_a_file() {
    let memory = MemoryDisk::default();
    let counting = Arc::new(FaultyDisk::new(Arc::new(memory.clone()), None));
    let lines = (0..40).map(|n| format!("Remember that item {n} is on shelf {}.", n * 7));
    let said = lines.collect::<Vec<_>>().join("\n");
    let taken = parts_on(counting.clone()).capture(&name(), &words(&said), "", noon());
    assert_eq!(taken.problems, Vec::<String>::new());
    assert!(taken.receipts.len() > 20, "{}", taken.receipts.len());
    assert!(taken.receipts.iter().all(|it| it.what.files.len() == 2));
    assert_eq!(counting.calls(), 3, "state, memory, receipts");
    let written = text(&memory, "w/MEMORY.md").matches("\n- **").count();
    assert_eq!(written, taken.receipts.len());
}

#[test]
fn each_file_that_refuses_a_capture_gets_it_once_with_the_time_it_was_said_at() {
    for (call, files) in [(1, ["MEMORY.md", "state"]), (2, ["state", "MEMORY.md"])] {
        let memory = MemoryDisk::default();
        let schedule = Schedule {
            fault: Fault::Fail(Moment::Before),
            at: call,
        };
        let parts = parts_on(Arc::new(FaultyDisk::new(
            Arc::new(memory.clone()),
            Some(schedule),
        )));
        let mut taken = parts.capture(&name(), &words("I prefer green tea."), "", noon());
        assert_eq!(taken.problems.len(), 1, "{taken:?}");
        let mut written = taken.receipts;
        let unwritten = taken.unwritten.pop().unwrap();
        assert_eq!(
            [unwritten.in_state, unwritten.in_memory],
            [call == 1, call == 2]
        );
        let again = parts.write_captures(unwritten);
        assert!(again.unwritten.is_empty() && again.problems.is_empty());
        written.extend(again.receipts);
        let of_receipts: Vec<bool> = written
            .iter()
            .map(|it| it.what.files == ["MEMORY.md"])
            .collect();
        assert_eq!(of_receipts, files.map(|file| file == "MEMORY.md"));
        assert_eq!(text(&memory, "w/MEMORY.md").matches("green tea").count(), 1);
        let state = text(&memory, STATE);
        assert_eq!(state.matches("[2026-02-14T12:00:00").count(), 1, "{state}");
    }
}

#[test]
fn what_a_killed_process_heard_is_captured_once_without_what_was_piped_in() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    let said = words("Remember that the key rotates monthly.\n\nRemember that the log lies.");
    let taken = parts.capture_missed(&name(), &said, noon());
    assert_eq!(taken.receipts.len(), 1);
    let memory = text(&disk, "w/MEMORY.md");
    assert!(
        memory.contains("rotates") && !memory.contains("lies"),
        "{memory}"
    );
    let again = parts.capture_missed(&name(), &said, noon());
    assert!(again.receipts.is_empty());
    // Also where it was taken back.
    parts.receipts.forget(1, noon()).unwrap();
    let again = parts.capture_missed(&name(), &said, noon());
    assert!(again.receipts.is_empty());
    assert_eq!(text(&disk, "w/MEMORY.md"), memory);
}

#[test]
fn of_one_message_the_later_words_count() {
    let disk = MemoryDisk::default();
    let said = words("I prefer dark mode. Sorry, I prefer light mode.");
    let taken = parts(&disk).capture(&name(), &said, "", noon());
    let superseded: Vec<usize> = taken
        .receipts
        .iter()
        .map(|it| it.what.superseded.len())
        .collect();
    let whole = text(&disk, "w/MEMORY.md");
    assert!(
        whole.contains("(superseded 2026-02-14) **preference**"),
        "{whole}"
    );
    assert_eq!(superseded.iter().sum::<usize>(), 1, "{whole}");
}

#[test]
fn each_capture_has_a_receipt_that_names_its_files() {
    let disk = MemoryDisk::default();
    let taken = parts(&disk).capture(&name(), &words(SAID), "", noon());
    assert_eq!(taken.problems, Vec::<String>::new());
    let files: Vec<usize> = taken
        .receipts
        .iter()
        .map(|receipt| receipt.what.files.len())
        .collect();
    assert_eq!(files, [2, 2], "a sentence has one number");
    assert_eq!(taken.receipts[0].what.category, "correction, preference");
    assert_eq!(text(&disk, STATE).matches("\n- [2026-02-14T12").count(), 3);
    assert_eq!(text(&disk, "w/MEMORY.md").matches("\n- **").count(), 2);
}

#[test]
fn a_disk_that_refuses_is_told_and_gives_no_receipts() {
    let disk = MemoryDisk::default();
    disk.make_read_only();
    let taken = parts(&disk).capture(&name(), &words(SAID), "", noon());
    assert!(taken.receipts.is_empty());
    let mut long_term = LongTermMemory::new(parts(&disk));
    assert_eq!(long_term.news(taken.problems.clone()).len(), 1);
    assert!(long_term.news(taken.problems).is_empty(), "told once");
}

#[test]
fn what_is_taken_back_leaves_the_files_and_what_a_person_changed_stays() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    parts.capture(&name(), &words(SAID), "", noon());
    let forgotten = forget(&parts, 1);
    assert_eq!(forgotten.from.len(), 2, "{forgotten:?}");
    assert!(!text(&disk, "w/MEMORY.md").contains("dark mode"));
    let state = text(&disk, STATE);
    assert!(!state.contains("**preference**") && !state.contains("**correction**"));
    let receipt = &parts.captures().all().unwrap()[0];
    assert!(receipt.forgotten && receipt.number == 1 && receipt.what.text.is_empty());
    let edited = text(&disk, "w/MEMORY.md").replace("monthly", "weekly");
    disk.put("w/MEMORY.md", edited.as_bytes());
    let forgotten = forget(&parts, 2);
    assert_eq!(forgotten.changed, ["MEMORY.md"]);
    assert!(text(&disk, "w/MEMORY.md").contains("weekly"));
}

#[test]
fn what_was_said_twice_is_gone_once_either_is_taken_back() {
    for number in [1, 2] {
        let disk = MemoryDisk::default();
        let parts = parts(&disk);
        for said in ["I prefer dark mode.", "I prefer dark mode."] {
            let taken = parts.capture(&name(), &words(said), "", noon());
            assert_eq!(taken.receipts[0].what.files.len(), 2, "both hold it");
        }
        let forgotten = forget(&parts, number);
        assert_eq!(numbers(&forgotten.receipts), [1, 2]);
        assert!(!text(&disk, "w/MEMORY.md").contains("dark mode"));
        assert!(!text(&disk, STATE).contains("dark mode"));
        let all = parts.captures().all().unwrap();
        assert!(all.iter().all(|receipt| receipt.forgotten));
    }
}

#[test]
fn a_correction_is_kept_for_good_in_the_place_of_what_it_corrects_alone() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    let say = |said: &str| parts.capture(&name(), &words(said), "", noon());
    say("Remember the deadline is Thursday.");
    let taken = say("Actually, the deadline is Friday, not Thursday.");
    assert_eq!(taken.receipts[0].what.files.len(), 2);
    let memory = text(&disk, "w/MEMORY.md");
    assert!(
        memory.contains("(superseded 2026-02-14) **remember**"),
        "{memory}"
    );
    assert!(
        memory.contains("- **correction**: Actually, the deadline is Friday"),
        "{memory}"
    );
    say("Actually, the parrot is green, not red.");
    assert!(!text(&disk, "w/MEMORY.md").contains("parrot"));
}

/// A talk in which something was captured, noted and made a fact of; its exchanges are in the buffer too.
fn noted(disk: &MemoryDisk) -> (LongTermMemory, Session) {
    disk.put("w/MEMORY.md", b"# Mine\n");
    let long_term = LongTermMemory::new(parts(disk));
    let said = "Please note that I prefer tea over coffee. And book the ferry for Friday.";
    long_term.parts().capture(&name(), &words(said), "", noon());
    let turns = [(said, "Fine."), ("And so on", "Fine."), ("Go on", "Fine.")];
    for most in 1..=turns.len() {
        end(&long_term, &session(&turns[..most]), noon(), 0.6);
    }
    (long_term, session(&turns))
}

#[test]
fn what_is_taken_back_takes_its_facts_and_its_words_in_exchanges_along() {
    let disk = MemoryDisk::default();
    let (long_term, _) = noted(&disk);
    let day = "w/memory/2026-02-14.md";
    for file in ["w/MEMORY.md", STATE, day, BUFFER] {
        assert!(text(&disk, file).contains("tea over coffee"), "{file}");
    }
    let forgotten = forget(long_term.parts(), 1);
    let files = [
        "MEMORY.md",
        "memory/2026-02-14.md",
        "sessions/work/SESSION-STATE.md",
        "sessions/work/working-buffer.md",
    ];
    let mut from = forgotten.from;
    from.sort();
    assert_eq!(from, files);
    for file in ["w/MEMORY.md", STATE, day, BUFFER] {
        let left = text(&disk, file);
        assert!(!left.contains("tea over coffee"), "{file}: {left}");
    }
    let left = text(&disk, day);
    assert!(
        left.contains("**User:** [forgotten]. And book the ferry for Friday."),
        "{left}"
    );
    assert!(left.contains("**User:** And so on"), "{left}");
}

#[test]
fn a_line_that_a_person_wrote_more_on_keeps_that() {
    let disk = MemoryDisk::default();
    let (long_term, _) = noted(&disk);
    let day = "w/memory/2026-02-14.md";
    let changed = text(&disk, day).replace("User request: ", "User request: on Sundays, ");
    assert!(changed.contains("on Sundays"), "{changed}");
    disk.put(day, changed.as_bytes());
    forget(long_term.parts(), 1);
    let left = text(&disk, day);
    assert!(left.contains("on Sundays, [forgotten]"), "{left}");
    assert!(!left.contains("tea"), "{left}");
}

#[test]
fn what_a_capture_took_the_place_of_counts_again_once_it_is_taken_back() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    let said = [
        "I prefer dark mode.",
        "I prefer light mode.",
        "I prefer grey mode.",
    ];
    for said in said {
        parts.capture(&name(), &words(said), "", noon());
    }
    let memory = || text(&disk, "w/MEMORY.md");
    let forget = |number| forget(&parts, number);
    let is_marked = |mode: &str| {
        memory().contains(&format!(
            "(superseded 2026-02-14) **preference**: I prefer {mode}"
        ))
    };
    assert!(is_marked("dark") && is_marked("light"), "{}", memory());
    // One that a later one took the place of brings nothing back.
    assert_eq!(forget(2).restored, [""; 0]);
    assert!(is_marked("dark"), "{}", memory());
    // The newest brings back what counted before both.
    let restored = forget(3).restored;
    assert_eq!(restored.len(), 1, "{restored:?}");
    assert_eq!(
        memory()
            .matches("\n- **preference**: I prefer dark mode")
            .count(),
        1,
        "{}",
        memory()
    );
}

/// The name before it stayed marked: only the number that was asked for was looked at.
#[test]
fn what_was_said_twice_gives_its_place_back_whichever_is_taken_back() {
    for number in [2, 3] {
        let disk = MemoryDisk::default();
        let parts = parts(&disk);
        for said in ["My name is Anna.", "My name is Bobur.", "My name is Bobur."] {
            parts.capture(&name(), &words(said), "", noon());
        }
        assert_eq!(forget(&parts, number).restored.len(), 1, "{number}");
        let memory = text(&disk, "w/MEMORY.md");
        assert!(memory.contains("Anna") && !memory.contains("superseded"));
    }
}

#[test]
fn of_what_was_said_before_and_again_that_counts_which_stood_last() {
    for number in [2, 4] {
        let disk = MemoryDisk::default();
        let parts = parts(&disk);
        for mode in ["dark", "light", "grey", "light"] {
            let said = format!("I prefer {mode} mode.");
            parts.capture(&name(), &words(&said), "", noon());
        }
        let restored = forget(&parts, number).restored;
        assert_eq!(restored, ["- **preference**: I prefer grey mode"]);
        let memory = text(&disk, "w/MEMORY.md");
        assert!(!memory.contains("light"), "{memory}");
        assert_eq!(memory.matches("superseded").count(), 1, "{memory}");
    }
}

/// The other session's notes kept the words.
#[test]
fn what_was_said_in_two_sessions_leaves_the_notes_of_both() {
    let disk = MemoryDisk::default();
    let (long_term, first) = noted(&disk);
    let mut second = first;
    second.rename("two".parse().unwrap());
    let later = at("2026-02-15T12:00:00Z");
    let said = second.messages()[0].clone();
    long_term.parts().capture(second.name(), &said, "", later);
    end(&long_term, &second, later, 0.6);
    let places = [
        "w/memory/2026-02-14.md",
        "w/memory/2026-02-15.md",
        "w/sessions/two/working-buffer.md",
        BUFFER,
    ];
    // The exchange as it would have been noted then.
    let noted = text(&disk, places[0]);
    disk.put(places[1], noted.as_bytes());
    let buffer = text(&disk, BUFFER);
    disk.put(places[2], buffer.as_bytes());
    for file in places {
        assert!(text(&disk, file).contains("tea over coffee"), "{file}");
    }
    forget(long_term.parts(), 1);
    for file in places {
        let left = text(&disk, file);
        assert!(!left.contains("tea over coffee"), "{file}: {left}");
    }
}

#[test]
fn a_mark_that_a_person_took_off_or_changed_is_left_alone() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    for said in ["I prefer dark mode.", "I prefer light mode."] {
        parts.capture(&name(), &words(said), "", noon());
    }
    let edited = text(&disk, "w/MEMORY.md").replace("dark mode", "dark mode at night");
    disk.put("w/MEMORY.md", edited.as_bytes());
    let forgotten = forget(&parts, 2);
    assert_eq!(forgotten.restored, [""; 0]);
    assert!(text(&disk, "w/MEMORY.md").contains("(superseded 2026-02-14) **preference**"));
}

#[test]
fn a_file_that_cannot_be_changed_keeps_no_other_from_forgetting() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    parts.capture(&name(), &words(SAID), "", noon());
    let whole = text(&disk, "w/MEMORY.md") + &"x".repeat(9 << 20);
    disk.put("w/MEMORY.md", whole.as_bytes());
    let forgotten = forget(&parts, 1);
    assert_eq!(forgotten.from, ["sessions/work/SESSION-STATE.md"]);
    let (file, why) = &forgotten.failed[0];
    assert!(file == "MEMORY.md" && why.contains("MEMORY.md"), "{why}");
    assert!(parts.captures().all().unwrap()[0].forgotten);
    // Where nothing was taken back, it is not noted as taken back.
    disk.put(STATE, b"");
    for _ in 0..2 {
        let failed = forget(&parts, 2);
        assert_eq!(
            (failed.from.len(), failed.failed.len()),
            (0, 1),
            "{failed:?}"
        );
        assert!(!parts.captures().all().unwrap()[1].forgotten);
    }
}

/// An entry as a store has it.
fn entry(store: &mut EntryStore, key: Option<&str>, content: &str) -> Entry {
    let wanted = Wanted {
        key: key.map(str::to_owned),
        content: content.to_owned(),
        ..Wanted::default()
    };
    store.add(Scope::Session, &wanted, noon()).unwrap().entry
}

fn store() -> EntryStore {
    EntryStore::session_only(StoreSettings::default(), unmasked)
}

#[test]
fn what_a_model_keeps_for_good_is_written_once() {
    let disk = MemoryDisk::default();
    let (mut parts, mut store) = (parts(&disk), store());
    let sea = entry(&mut store, None, "The  sea\nis calm");
    assert_eq!(parts.remember(&sea, noon()), "written");
    let again = entry(&mut store, Some("sea"), "the sea is calm");
    assert_eq!(parts.remember(&again, noon()), "already there");
    assert!(text(&disk, "w/MEMORY.md").contains("## Notes\n\n- The sea is calm\n"));
    parts.settings.backend = Backend::None;
    assert!(parts.remember(&sea, noon()).starts_with("not written"));
}

#[test]
fn what_a_model_keeps_is_known_by_whole_lines_alone() {
    let disk = MemoryDisk::default();
    let before = "# tea\n- the team meets at noon\n- she does not drink tea\n- (superseded 2026-01-01) Likes rum\n- **preference**: Likes  jazz.\n";
    disk.put("w/MEMORY.md", before.as_bytes());
    let (parts, mut store) = (parts(&disk), store());
    for text in ["tea", "drink tea", "likes rum"] {
        let entry = entry(&mut store, Some(text), text);
        assert_eq!(parts.remember(&entry, noon()), "written", "{text}");
        assert_eq!(parts.remember(&entry, noon()), "already there", "{text}");
    }
    let jazz = entry(&mut store, None, "likes jazz");
    assert_eq!(parts.remember(&jazz, noon()), "already there");
    assert!(text(&disk, "w/MEMORY.md").starts_with(before));
}

/// Both lines stayed and counted, whatever became of the entry.
#[test]
fn the_line_of_an_entry_is_marked_when_it_says_something_else_and_goes_with_it() {
    let disk = MemoryDisk::default();
    disk.put("w/MEMORY.md", b"# Memory\n\n- Athena\n");
    let (parts, mut store) = (parts(&disk), store());
    let zeus = entry(&mut store, Some("god"), "Zeus");
    assert_eq!(parts.keep_in_step(&zeus, noon()), None);
    assert_eq!(parts.remember(&zeus, noon()), "written");
    let hera = entry(&mut store, Some("god"), "Hera");
    assert_eq!(
        parts.keep_in_step(&hera, noon()).as_deref(),
        Some("written")
    );
    let memory = text(&disk, "w/MEMORY.md");
    assert!(
        memory.contains("- (superseded 2026-02-14) Zeus\n- Hera\n"),
        "{memory}"
    );
    // What a person wrote is nobody's.
    let athena = entry(&mut store, Some("god"), "Athena");
    assert_eq!(parts.remember(&athena, noon()), "already there");
    let memory = text(&disk, "w/MEMORY.md");
    assert!(
        memory.contains("- (superseded 2026-02-14) Hera\n"),
        "{memory}"
    );
    let gone = parts.captures().let_go(athena.id.as_str(), noon());
    assert_eq!((gone.lines, gone.changed, gone.failed), (2, 0, None));
    let memory = text(&disk, "w/MEMORY.md");
    assert!(memory.contains("- Athena\n"), "{memory}");
    assert!(
        !memory.contains("Zeus") && !memory.contains("Hera"),
        "{memory}"
    );
    assert_eq!(
        parts.captures().let_go(athena.id.as_str(), noon()).told(),
        None
    );
    // It is back.
    let hera = entry(&mut store, Some("god"), "Hera");
    assert_eq!(parts.keep_in_step(&hera, noon()), None);
    assert_eq!(parts.bring_back(&hera, noon()).as_deref(), Some("written"));
}

/// A line that was taken back came again with the next change of its entry.
#[test]
fn what_a_person_took_back_does_not_come_again_with_its_entry() {
    let disk = MemoryDisk::default();
    let (parts, mut store) = (parts(&disk), store());
    let tea = entry(&mut store, Some("drink"), "I prefer green tea");
    parts.remember(&tea, noon());
    parts.capture(&name(), &words("I prefer green tea."), "", noon());
    assert_eq!(numbers(&forget(&parts, 2).receipts), [1, 2]);
    let more = entry(&mut store, Some("drink"), "I prefer green tea and rum");
    assert_eq!(parts.keep_in_step(&more, noon()), None);
    assert!(!text(&disk, "w/MEMORY.md").contains("green tea"));
}

#[test]
fn a_turn_goes_to_the_day_it_ends_on() {
    let disk = MemoryDisk::default();
    let long_term = LongTermMemory::new(parts(&disk));
    let session = session(&[("late", "yes")]);
    for (now, file) in [
        ("2026-02-14T23:59:59Z", "w/memory/2026-02-14.md"),
        ("2026-02-15T00:00:00Z", "w/memory/2026-02-15.md"),
        // The clock was set back.
        ("2026-02-13T08:00:00Z", "w/memory/2026-02-13.md"),
    ] {
        let ran = end(&long_term, &session, at(now), 0.0);
        assert_eq!(ran.failures, []);
        assert_eq!(text(&disk, file).matches("**User:** late").count(), 1);
    }
}

#[test]
fn what_is_noted_has_no_secret_and_no_thought() {
    let disk = MemoryDisk::default();
    let long_term = LongTermMemory::new(parts(&disk));
    let secret = "sk-proj-abc123DEF456ghi789";
    let asked = format!("Please could you store my key {secret} for the deployment?");
    let replied = format!("<think>hmm, so</think>Done: {secret} was stored.");
    let turn = (asked.as_str(), replied.as_str());
    end(&long_term, &session(&[turn; 3]), noon(), 0.6);
    for (file, bytes) in disk.files() {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("[secret]"), "{}", file.display());
        assert!(!text.contains(secret) && !text.contains("hmm"), "{text}");
    }
}

#[test]
fn facts_are_one_bullet_each_and_four_of_them_go_to_memory() {
    let disk = MemoryDisk::default();
    disk.put("w/MEMORY.md", b"# Mine\n");
    let long_term = LongTermMemory::new(parts(&disk));
    let turns: Vec<(String, String)> = (1..=3)
        .map(|n| {
            (
                format!("Please write report number {n} for the harbour office"),
                format!("Done: report {n} was created in the office."),
            )
        })
        .collect();
    let turns: Vec<(&str, &str)> = turns
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let ran = end(&long_term, &session(&turns), noon(), 0.0);
    assert_eq!(ran.failures, []);
    assert!(matches!(ran.records[..], [Record::ScratchpadReplaced(_)]));
    let day = text(&disk, "w/memory/2026-02-14.md");
    assert_eq!(day.matches("\n- User request: ").count(), 3, "{day}");
    assert_eq!(day.matches("\n- Completed: ").count(), 3, "{day}");
    let memory = text(&disk, "w/MEMORY.md");
    assert_eq!(memory.matches("\n- ").count(), 4, "{memory}");
    // Each tells which message it came from, and can be taken back.
    let captures = long_term.parts().captures();
    let receipts = captures.all().unwrap();
    let noted: Vec<(&str, &str)> = receipts
        .iter()
        .map(|it| (it.what.category.as_str(), it.what.message.as_str()))
        .collect();
    assert_eq!(noted, ["m1", "m2", "m3", "m4"].map(|id| ("fact", id)));
    let second = receipts[1].what.text.clone();
    assert!(memory.contains(&format!("\n- {second}\n")), "{memory}");
    let forgotten = forget(long_term.parts(), 2);
    assert_eq!(forgotten.from, ["MEMORY.md", "memory/2026-02-14.md"]);
    assert!(!text(&disk, "w/MEMORY.md").contains(&second));
}

#[test]
fn of_five_facts_the_one_to_be_remembered_is_the_first_of_the_four_in_memory() {
    let disk = MemoryDisk::default();
    disk.put("w/MEMORY.md", b"# Mine\n");
    let long_term = LongTermMemory::new(parts(&disk));
    let said = ["one", "two", "three", "four"]
        .map(|n| format!("Please write report number {n} for the harbour office"));
    let remember = "Please remember that the ferry never sails on Sundays";
    let turns: Vec<(&str, &str)> = said
        .iter()
        .map(String::as_str)
        .chain([remember])
        .map(|said| (said, "Fine."))
        .collect();
    end(&long_term, &session(&turns), noon(), 0.0);
    let memory = text(&disk, "w/MEMORY.md");
    let bullets: Vec<&str> = memory.lines().filter(|it| it.starts_with("- ")).collect();
    assert_eq!(bullets.len(), 4, "{memory}");
    assert!(bullets[0].contains("never sails on Sundays"), "{memory}");
}

#[test]
fn facts_are_in_the_scratchpad_although_a_file_refused_them_and_it_has_them_once_it_can() {
    let memory = MemoryDisk::default();
    // The first write is the exchange, the second one the facts.
    let schedule = Schedule {
        fault: Fault::Fail(Moment::Before),
        at: 2,
    };
    let disk = FaultyDisk::new(Arc::new(memory.clone()), Some(schedule));
    let long_term = LongTermMemory::new(parts_on(Arc::new(disk)));
    let asked = "Please write the report for the harbour office";
    let turns = [(asked, "Fine."), ("And so on", "Fine."), ("Well", "Fine.")];
    let mut talk = session(&turns);
    let ran = end(&long_term, &talk, noon(), 0.0);
    assert_eq!(ran.failures.len(), 1, "{ran:?}");
    for record in ran.records {
        talk.apply(record);
    }
    let noted = talk.scratchpad().facts().to_owned();
    assert!(noted.contains("harbour office"), "{noted}");
    let day = || text(&memory, "w/memory/2026-02-14.md");
    assert!(!day().contains("- User request"), "{}", day());
    for _ in 0..2 {
        let ran = end(&long_term, &talk, noon(), 0.0);
        assert_eq!(ran.failures, []);
    }
    assert_eq!(day().matches("- User request").count(), 1, "{}", day());
    assert_eq!(talk.scratchpad().facts(), noted);
}

#[test]
fn each_fact_is_noted_once_however_few_the_scratchpad_holds() {
    let disk = MemoryDisk::default();
    let mut parts = parts(&disk);
    parts.settings.scratchpad.max_value_chars = 70;
    let long_term = LongTermMemory::new(parts);
    let said: Vec<String> = (1..=5)
        .map(|n| format!("Please write report number {n} for the harbour office"))
        .collect();
    let turns: Vec<(&str, &str)> = said.iter().map(|said| (said.as_str(), "Fine.")).collect();
    let mut noted = Vec::new();
    let mut talk = session(&turns);
    for hour in 13..16 {
        // A file of another day has none of them.
        let now = at(&format!("2026-02-{hour}T12:00:00Z"));
        for record in end(&long_term, &talk, now, 0.0).records {
            talk.apply(record);
        }
        noted.push(talk.scratchpad().facts().to_owned());
    }
    let files = disk.files().into_values();
    let facts: usize = files
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .map(|text| text.matches("\n- User request").count())
        .sum();
    assert_eq!(facts, 5);
    let newest = "- User request: Please write report number 5 for the harbour office";
    assert_eq!(noted, [newest; 3]);
}

#[test]
fn facts_hold_nothing_that_was_taken_back_and_memory_says_nothing_twice() {
    let disk = MemoryDisk::default();
    let long_term = LongTermMemory::new(parts(&disk));
    long_term.parts().capture(&name(), &words(SAID), "", noon());
    let remember = "Please remember that the key rotates monthly, and write it down";
    let turns = [(SAID, "Fine."), (remember, "Fine."), ("And so on", "Fine.")];
    let mut talk = session(&turns);
    let statements = Statement::of("I prefer dark mode").into_iter().collect();
    for record in redact(&talk, &statements).records {
        talk.apply(record);
    }
    forget(long_term.parts(), 1);
    end(&long_term, &talk, noon(), 0.0);
    let facts = |file: &str| {
        let text = text(&disk, file);
        let facts = text
            .split_once("## Session Facts")
            .map(|(_, facts)| facts.to_owned());
        facts.unwrap_or_default()
    };
    let day = facts("w/memory/2026-02-14.md");
    assert!(
        !day.contains("dark mode") && day.contains("write it down"),
        "{day}"
    );
    let memory = text(&disk, "w/MEMORY.md");
    assert_eq!(memory.matches("key rotates monthly").count(), 1, "{memory}");
}

fn tells(told: Option<&Recovery>, words: &str) -> bool {
    told.is_some_and(|told| told.files.iter().any(|file| file.text.contains(words)))
}

#[test]
fn what_went_wrong_is_recovered_once_for_each_compaction_and_when_asked_for() {
    let disk = MemoryDisk::default();
    let mut long_term = LongTermMemory::new(parts(&disk));
    let mut session = session(&[("the otter", "yes")]);
    let none = long_term
        .parts()
        .recover(&name(), &lost("go on", None), noon());
    assert_eq!(none, (None, Vec::new()));
    end(&long_term, &session, noon(), 0.5);
    assert!(text(&disk, BUFFER).contains("the otter"));
    session.apply(shortened_by_a_guard(&session));
    let shortened = long_term.shortened(&session);
    let (told, _) = long_term
        .parts()
        .recover(&name(), &lost("go on", shortened), noon());
    assert!(tells(told.as_ref(), "the otter"));
    assert!(
        text(&disk, BUFFER).contains("ACTIVE"),
        "not before it is answered"
    );
    long_term.recovered(&session);
    let put_away = long_term.parts().put_buffer_away(&name(), noon());
    assert_eq!(put_away, None);
    assert_eq!(text(&disk, BUFFER), "");
    // A new buffer of the same second is no reason to tell the same again.
    end(&long_term, &session, noon(), 0.5);
    assert_eq!(long_term.shortened(&session), None);
    let asked = lost("where were we?", None);
    let (told, _) = long_term.parts().recover(&name(), &asked, noon());
    assert!(tells(told.as_ref(), "the otter"));
}

#[test]
fn without_a_buffer_captures_and_notes_are_recovered_once_for_each_compaction() {
    let disk = MemoryDisk::default();
    let mut parts = parts(&disk);
    parts.buffer_from = 0.0;
    let mut long_term = LongTermMemory::new(parts);
    let mut session = session(&[("the otter", "yes")]);
    end(&long_term, &session, noon(), 0.9);
    assert_eq!(text(&disk, BUFFER), "");
    session.apply(shortened_by_a_guard(&session));
    let lost = lost("go on", long_term.shortened(&session));
    let (told, _) = long_term.parts().recover(&name(), &lost, noon());
    assert!(tells(told.as_ref(), "the otter"));
    long_term.recovered(&session);
    assert_eq!(long_term.shortened(&session), None);
}

#[test]
fn a_buffer_that_is_begun_for_what_leaves_is_begun_once() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    let gone = [("one".to_owned(), "<think>x</think>two".to_owned())];
    assert!(
        parts
            .buffer(&name(), &Known::default(), &gone, noon())
            .is_empty()
    );
    assert!(
        parts
            .buffer(&name(), &Known::default(), &gone, noon())
            .is_empty()
    );
    let buffer = text(&disk, BUFFER);
    assert_eq!(buffer.matches("] Human").count(), 1, "{buffer}");
    assert!(!buffer.contains("think"), "{buffer}");
}

#[test]
fn of_a_huge_exchange_no_more_is_looked_at_than_is_kept() {
    let disk = MemoryDisk::default();
    let parts = parts(&disk);
    let huge = "word ".repeat(2_000_000);
    let noted = parts.exchange(&Known::default(), &huge, &huge);
    for text in [noted.asked, noted.replied] {
        assert!(text.len() < 6_000 && text.len() > 4_000, "{}", text.len());
    }
}

#[test]
fn other_settings_count_from_the_next_turn_on() {
    let disk = MemoryDisk::default();
    let mut long_term = LongTermMemory::new(parts(&disk));
    let session = session(&[("the otter", "yes")]);
    let mut context = context::Settings {
        buffer_threshold: 0.9,
        recovery: false,
        ..context::Settings::default()
    };
    let mut settings = memory::Settings::default();
    settings.facts.enabled = false;
    long_term.resettle(&context, &settings);
    end(&long_term, &session, noon(), 0.8);
    assert_eq!(text(&disk, BUFFER), "", "it begins at nine tenths now");
    assert!(!long_term.parts().settings.facts.enabled);
    end(&long_term, &session, noon(), 0.9);
    assert!(text(&disk, BUFFER).contains("the otter"));
    let asked = lost("where were we?", None);
    let (told, _) = long_term.parts().recover(&name(), &asked, noon());
    assert_eq!(told, None, "recovery is off");
    context.recovery = true;
    settings.backend = crate::memory::Backend::None;
    long_term.resettle(&context, &settings);
    let (told, _) = long_term.parts().recover(&name(), &asked, noon());
    assert!(tells(told.as_ref(), "the otter"));
    assert!(
        long_term.parts().buffer_from > 0.0,
        "what lasts stays as it began"
    );
}
