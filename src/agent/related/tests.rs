use super::*;
use crate::files::MemoryDisk;
use crate::index::fixture::{self, entry, index_of, now, session, workspace};
use crate::memory::{KeptFile, Prompts};

fn hit(line: usize, content: &str) -> Hit {
    fixture::hit(Kind::Note, "MEMORY.md", line, content)
}

#[test]
fn hits_are_cut_and_end_before_the_limit_of_characters() {
    let settings = AutoRecallSettings::default();
    let hits = (1..=5).map(|n| hit(n, &"word ".repeat(60))).collect();
    let related = section([hits, Vec::new()], &settings, "words").unwrap();
    let places: Vec<String> = related.places.iter().map(ToString::to_string).collect();
    assert_eq!(
        places,
        [
            "MEMORY.md:1 (matches 100 % of the words)",
            "MEMORY.md:2 (matches 100 % of the words)"
        ]
    );
    assert!(related.text.chars().count() <= 500, "{}", related.text);
    assert_eq!(section([Vec::new(), Vec::new()], &settings, "words"), None);
}

#[test]
fn a_heading_alone_never_comes_by_itself() {
    let comes = |content: &str| comes_by_itself(&hit(1, content), false);
    assert!(comes("# Plan\nShip on Friday") && comes("Ship on Friday"));
    assert!(!comes("# Daily Notes 2026-11-24"));
}

#[test]
fn the_heading_is_in_the_language_of_the_conversation_unless_it_is_set() {
    let mut settings = AutoRecallSettings::default();
    let texts = Prompts::embedded().kept;
    assert_eq!(
        heading(&settings, &texts, "where is the database?"),
        "Related memory (auto-recall)"
    );
    assert_eq!(
        heading(&settings, &texts, "数据库在哪里 db"),
        "## 相关历史记忆(自动召回)"
    );
    settings.heading = "What I know".to_owned();
    assert_eq!(heading(&settings, &texts, "数据库在哪里"), "What I know");
}

async fn places(
    index: &mut Index,
    said: &[&str],
    kept: &LongTermContext,
    entries: bool,
) -> Vec<String> {
    let settings = AutoRecallSettings::default();
    places_with(index, said, kept, (&settings, entries)).await
}

async fn places_with(
    index: &mut Index,
    said: &[&str],
    kept: &LongTermContext,
    (settings, entries): (&AutoRecallSettings, bool),
) -> Vec<String> {
    let session = session(said);
    let input = said.last().unwrap();
    let asking = Asking {
        session: &session,
        input,
        recall: &RecallSettings::default(),
        kept,
        settings,
        texts: &Prompts::with(|_| None).kept,
        entries,
        by_meaning: true,
        now: now(),
    };
    let external = std::future::ready(Ok(Vec::new()));
    let (related, _) = related(index, asking, external).await;
    let related = related.found;
    related.map_or_else(Vec::new, |related| {
        assert!(related.text.chars().count() <= settings.total_chars);
        related.places.into_iter().map(|place| place.what).collect()
    })
}

#[tokio::test]
async fn what_notes_hold_on_the_input_comes_and_nothing_on_what_they_do_not_speak_of() {
    let mut index = index_of(&workspace());
    let nothing_kept = LongTermContext::default();
    let asked = ["How do we deploy the service?"];
    assert_eq!(
        places(&mut index, &asked, &nothing_kept, true).await,
        ["MEMORY.md:3"]
    );
    let off_topic = [
        "How do we deploy the service?",
        "Who won the chess match in Oslo?",
    ];
    assert_eq!(
        places(&mut index, &off_topic, &nothing_kept, true).await,
        [""; 0]
    );
    let many_topics = [
        "My name is Bobur and I like green tea.",
        "Where does the ferry to the island leave?",
        "Please remember that the key of the vault rotates monthly.",
        "How do we deploy the service?",
    ];
    assert_eq!(
        places(&mut index, &many_topics, &nothing_kept, true).await,
        ["MEMORY.md:3"]
    );
    let follow_up = ["How do we deploy the service?", "and then?"];
    assert_eq!(
        places(&mut index, &follow_up, &nothing_kept, true).await,
        ["MEMORY.md:3"]
    );
    let file = KeptFile {
        name: "MEMORY.md".to_owned(),
        text: "- The deploy uses fly.io.".to_owned(),
    };
    let kept = LongTermContext {
        long_term: Some(file),
        ..LongTermContext::default()
    };
    assert_eq!(
        places(&mut index, &asked, &kept, true).await,
        [""; 0],
        "it is sent anyway"
    );
    let repeated = ["The deploy uses fly.io.", "How do we deploy the service?"];
    assert_eq!(
        places(&mut index, &repeated, &nothing_kept, true).await,
        [""; 0],
        "it was just said"
    );
    let off = AutoRecallSettings {
        enabled: false,
        ..AutoRecallSettings::default()
    };
    assert_eq!(
        places_with(&mut index, &asked, &nothing_kept, (&off, true)).await,
        [""; 0]
    );
}

#[tokio::test]
async fn entries_come_where_they_may_even_if_notes_may_not() {
    let disk = MemoryDisk::default();
    let mut index = index_of(&disk);
    index.set_entries([entry("mem_1", "deploy uses fly.io")]);
    let off = AutoRecallSettings {
        enabled: false,
        ..AutoRecallSettings::default()
    };
    let asked = ["How do we deploy?"];
    let kept = LongTermContext::default();
    for (entries, expected) in [(true, &["entry mem_1:1"][..]), (false, &[])] {
        let places = places_with(&mut index, &asked, &kept, (&off, entries)).await;
        assert_eq!(places, expected);
    }
}
