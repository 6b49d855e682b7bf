use proptest::prelude::*;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix(1_000_000 + second).unwrap()
}

fn new(key: &str, content: &str, second: i64) -> New {
    New {
        scope: Scope::Project,
        key: (!key.is_empty()).then(|| key.to_owned()),
        content: content.to_owned(),
        kind: Kind::Note,
        tags: Vec::new(),
        at: at(second),
        project: None,
        from: None,
    }
}

fn add(entries: &mut Entries, key: &str, content: &str, second: i64) -> Applied {
    entries.apply(&Change::Add(new(key, content, second)), 5)
}

#[test]
fn the_same_key_keeps_id_and_first_time_and_what_was_said_before() {
    let mut entries = Entries::default();
    let Applied::Added { entry: first, .. } = add(&mut entries, "db", "Postgres", 0) else {
        panic!("it is new");
    };
    let Applied::Updated(second) = add(&mut entries, "db", "MySQL", 1) else {
        panic!("the key is there");
    };
    assert_eq!((&second.id, second.created), (&first.id, Some(at(0))));
    assert_eq!(second.earlier[0].content, "Postgres");
    let again = add(&mut entries, "db", "mysql.", 2);
    assert!(matches!(again, Applied::Unchanged(entry) if entry.content == "MySQL"));
    // And back: neither version is lost, nor there twice.
    add(&mut entries, "db", "Postgres", 3);
    let entry = entries.named("db").unwrap();
    let earlier: Vec<&str> = entry.earlier.iter().map(|it| it.content.as_str()).collect();
    assert_eq!(
        (entry.content.as_str(), earlier),
        ("Postgres", vec!["MySQL"])
    );
    assert_eq!(entries.len(), 1);
}

#[test]
fn what_says_the_same_without_a_key_is_kept_once() {
    let mut entries = Entries::default();
    let long = "the build of the server runs on every push to main and takes nine minutes in all";
    for (content, expected) in [
        (long, "added"),
        (&long.to_uppercase(), "unchanged"),
        (&format!("{long} roughly"), "updated"),
        ("the build runs at night", "added"),
        ("The build  runs at night.", "unchanged"),
        ("the build never runs at night", "added"),
    ] {
        let said = match add(&mut entries, "", content, 1) {
            Applied::Added { .. } => "added",
            Applied::Updated(_) => "updated",
            Applied::Unchanged(_) => "unchanged",
            other => panic!("{other:?}"),
        };
        assert_eq!(said, expected, "{content}");
    }
}

#[test]
fn the_sixth_of_five_pushes_out_the_oldest_and_never_itself() {
    let mut entries = Entries::default();
    for n in 0..5 {
        add(&mut entries, &format!("k{n}"), "x", 10 + n);
    }
    add(&mut entries, "k0", "touched", 20);
    // The clock was set back meanwhile.
    let Applied::Added { left, .. } = add(&mut entries, "late", "y", 0) else {
        panic!("it is new");
    };
    let keys: Vec<&str> = entries.iter().filter_map(|it| it.key.as_deref()).collect();
    assert_eq!((left, keys), (1, vec!["k2", "k3", "k4", "k0", "late"]));
}

#[test]
fn what_was_removed_comes_back_unless_its_key_was_given_away() {
    let mut entries = Entries::default();
    add(&mut entries, "db", "Postgres", 0);
    let id = entries.named("db").unwrap().id.clone();
    let (remove, restore) = (Change::Remove(id.clone()), Change::Restore(id));
    assert!(matches!(entries.apply(&remove, 5), Applied::Removed(_)));
    assert_eq!(entries.apply(&remove, 5), Applied::Missing);
    assert!(matches!(entries.apply(&restore, 5), Applied::Restored(_)));
    entries.apply(&remove, 5);
    add(&mut entries, "db", "MySQL", 1);
    let key = "db".to_owned();
    assert_eq!(entries.apply(&restore, 5), Applied::KeyTaken { key });
}

#[test]
fn of_two_forms_of_one_entry_the_later_words_stay_and_nothing_is_lost() {
    let mut entries = Entries::default();
    add(&mut entries, "db", "MySQL", 5);
    let there = entries.named("db").unwrap().clone();
    for (content, second, expected, earlier) in [
        ("Postgres", 1, "MySQL", vec!["Postgres"]),
        ("Postgres", 1, "MySQL", vec!["Postgres"]),
        ("SQLite", 9, "SQLite", vec!["Postgres", "MySQL"]),
        ("SQLite", 9, "SQLite", vec!["Postgres", "MySQL"]),
    ] {
        let new = Entries::default().made(&new("db", content, second));
        entries.apply(&Change::Put(Box::new(new)), 5);
        let entry = entries.named("db").unwrap();
        let said: Vec<&str> = entry.earlier.iter().map(|it| it.content.as_str()).collect();
        assert_eq!((entry.content.as_str(), said), (expected, earlier));
        assert_eq!((&entry.id, entries.len()), (&there.id, 1));
    }
}

#[test]
fn what_was_removed_is_back_when_it_comes_again_from_elsewhere() {
    let mut entries = Entries::default();
    add(&mut entries, "db", "MySQL", 5);
    let there = entries.named("db").unwrap().clone();
    entries.apply(&Change::Remove(there.id.clone()), 5);
    entries.apply(&Change::Put(Box::new(there.clone())), 5);
    assert_eq!(entries.named("db"), Some(&there));
    assert!(entries.removed().is_empty());
}

fn some_new() -> impl Strategy<Value = New> {
    ("[abc]?", "[a-d]{1,3}( [a-d]{1,3}){0,3}", 0..50i64)
        .prop_map(|(key, content, second)| new(&key, &content, second))
}

fn check(entries: &Entries) {
    let keys: Vec<&String> = entries.iter().filter_map(|it| it.key.as_ref()).collect();
    let ids: BTreeSet<&EntryId> = entries.iter().map(|it| &it.id).collect();
    let unique: BTreeSet<&&String> = keys.iter().collect();
    assert_eq!(keys.len(), unique.len(), "{entries:?}");
    assert_eq!(ids.len(), entries.len(), "{entries:?}");
}

proptest! {
    #[test]
    fn keys_are_unique_limits_hold_and_others_stay_as_they_are(
        news in proptest::collection::vec(some_new(), 1..40),
        removes in proptest::collection::vec(0..40usize, 0..10),
    ) {
        let mut entries = Entries::default();
        for (n, new) in news.into_iter().enumerate() {
            let before = entries.clone();
            let applied = entries.apply(&Change::Add(new), 6);
            let (own, left) = match &applied {
                Applied::Added { entry, left } => (entry.id.clone(), *left),
                Applied::Updated(entry) | Applied::Unchanged(entry) => (entry.id.clone(), 0),
                other => panic!("{other:?}"),
            };
            check(&entries);
            prop_assert!(entries.len() <= 6);
            let kept = before.iter().filter(|it| it.id != own);
            let gone = kept.filter(|it| entries.with_id(&it.id) != Some(*it)).count();
            prop_assert_eq!(gone, left);
            if removes.contains(&n) {
                let id = entries.iter().next().unwrap().id.clone();
                entries.apply(&Change::Remove(id.clone()), 6);
                prop_assert!(entries.with_id(&id).is_none());
                entries.apply(&Change::Restore(id), 6);
                check(&entries);
            }
        }
    }

    #[test]
    fn putting_the_same_again_changes_nothing(
        there in proptest::collection::vec(some_new(), 0..10),
        news in proptest::collection::vec(some_new(), 0..10),
    ) {
        let mut entries = Entries::default();
        for new in there {
            entries.apply(&Change::Add(new), 100);
        }
        let puts: Vec<Change> = news
            .iter()
            .map(|new| Change::Put(Box::new(Entries::default().made(new))))
            .collect();
        for put in puts.iter().chain(&puts) {
            entries.apply(put, 100);
            check(&entries);
        }
        let once = entries.clone();
        for put in &puts {
            let applied = entries.apply(put, 100);
            prop_assert!(matches!(applied, Applied::Unchanged(_)), "{:?}", applied);
        }
        prop_assert_eq!(entries, once);
    }

    #[test]
    fn a_file_with_anything_in_it_has_each_key_and_id_once(
        news in proptest::collection::vec(some_new(), 0..20),
    ) {
        let made = news.iter().map(|new| Entries::default().made(new)).collect();
        check(&Entries::restore(made, Vec::new()));
    }
}
