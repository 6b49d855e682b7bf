use super::super::wanted::unmasked;
use super::*;
use crate::files::MemoryDisk;

fn now() -> Timestamp {
    Timestamp::from_unix(1_800_000_000).unwrap()
}

fn open(disk: &MemoryDisk, project: &str) -> EntryStore {
    open_with(disk, project, StoreSettings::default())
}

fn open_with(disk: &MemoryDisk, project: &str, settings: StoreSettings) -> EntryStore {
    let folder = Folder {
        disk: Arc::new(disk.clone()),
        path: "/d/memory".into(),
        project: project.into(),
    };
    let mask: Mask = |text| text.replace("hunter2", "[secret]").into();
    let (store, notices) = EntryStore::open(&folder, settings, mask, now());
    assert!(notices.is_empty(), "{notices:?}");
    store
}

#[test]
fn an_entry_whose_key_a_nearer_scope_has_does_not_count() {
    let mut store = open(&MemoryDisk::default(), "/p");
    for (scope, key, content) in [
        (Scope::Global, "deploy", "uses heroku"),
        (Scope::Project, "deploy", "uses fly.io"),
        (Scope::Global, "editor", "vi"),
    ] {
        store.add(scope, &wanted(key, content), now()).unwrap();
    }
    let in_force: Vec<&str> = store.in_force().map(|it| it.content.as_str()).collect();
    assert_eq!(in_force, ["uses fly.io", "vi"]);
}

fn wanted(key: &str, content: &str) -> Wanted {
    Wanted {
        key: Some(key.to_owned()),
        content: content.to_owned(),
        ..Wanted::default()
    }
}

fn contents(store: &EntryStore) -> Vec<(Scope, &str)> {
    let all = store.all();
    all.map(|(scope, entry)| (scope, entry.content.as_str()))
        .collect()
}

#[test]
fn each_scope_ends_where_it_ends_and_the_nearest_is_found_first() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, "/w/a");
    for scope in Scope::ALL {
        store
            .add(scope, &wanted("k", scope.as_str()), now())
            .unwrap();
    }
    assert_eq!(store.get("k", None).unwrap().0, Scope::Session);
    assert_eq!(
        store.get("k", Some(Scope::Global)).unwrap().0,
        Scope::Global
    );
    let ambiguous = store.remove("k", None);
    assert!(matches!(ambiguous, Err(EntriesError::Ambiguous { found, .. }) if found.len() == 3));
    store.end_session();
    assert_eq!(store.get("k", None).unwrap().0, Scope::Project);
    assert!(store.flush(now()).is_empty());
    let (again, elsewhere) = (open(&disk, "/w/a"), open(&disk, "/w/b"));
    let (project, global) = ((Scope::Project, "project"), (Scope::Global, "global"));
    assert_eq!(contents(&again), [project, global]);
    assert_eq!(contents(&elsewhere), [global]);
}

#[test]
fn nothing_global_is_written_or_seen_where_that_is_not_allowed() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, "/w/a");
    store.add(Scope::Global, &wanted("k", "x"), now()).unwrap();
    store.flush(now());
    let settings = StoreSettings {
        allow_global: false,
        ..StoreSettings::default()
    };
    let mut closed = open_with(&disk, "/w/a", settings);
    assert_eq!(contents(&closed), []);
    let refused = closed.add(Scope::Global, &wanted("k", "y"), now());
    assert!(matches!(refused, Err(EntriesError::NoGlobal)));
    assert_eq!(closed.scope_of(Kind::Preference), Scope::Project);
}

#[test]
fn without_files_only_the_session_is_there() {
    let mut store = EntryStore::session_only(StoreSettings::default(), unmasked);
    let refused = store.add(Scope::Project, &wanted("k", "x"), now());
    assert!(matches!(refused, Err(EntriesError::NoFiles)));
    let scope = store.scope_of(Kind::Preference);
    store.add(scope, &wanted("k", "x"), now()).unwrap();
    assert_eq!(contents(&store), [(Scope::Session, "x")]);
    assert!(!store.is_waiting());
}

#[test]
fn a_secret_is_not_kept_and_bad_texts_are_refused() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, "/w/a");
    let kept = store.add(Scope::Project, &wanted("db", "password hunter2"), now());
    let kept = kept.unwrap();
    assert_eq!(
        (kept.entry.content.as_str(), kept.is_masked),
        ("password [secret]", true)
    );
    store.flush(now());
    let files = disk.files();
    assert!(
        files
            .values()
            .all(|file| !String::from_utf8_lossy(file).contains("hunter2"))
    );
    let empty = store.add(Scope::Project, &wanted("k", " \n"), now());
    assert!(matches!(empty, Err(EntriesError::Empty)));
    let long = store.add(Scope::Project, &wanted("k", &"é".repeat(8_001)), now());
    assert!(matches!(
        long,
        Err(EntriesError::TooLong { chars: 8_001, .. })
    ));
}

#[test]
fn what_is_forgotten_is_in_no_scope_or_project_and_nothing_brings_it_back() {
    let disk = MemoryDisk::default();
    let mut other = open(&disk, "/w/b");
    other
        .add(Scope::Project, &wanted("cat", "Mia"), now())
        .unwrap();
    other
        .add(Scope::Project, &wanted("db", "MySQL"), now())
        .unwrap();
    other.flush(now());
    let mut store = open(&disk, "/w/a");
    for content in ["Mia", "Rex", "Mia is grey"] {
        store
            .add(Scope::Global, &wanted("pet", content), now())
            .unwrap();
    }
    store
        .add(Scope::Project, &wanted("cat", "Mia"), now())
        .unwrap();
    let (_, removed) = store.remove("cat", None).unwrap();
    store
        .add(
            Scope::Project,
            &wanted("both", "Tom is red. Mia is grey."),
            now(),
        )
        .unwrap();
    let left = |_: &Entry, content: &str| {
        let first = content.split_once(" Mia").map_or("", |(first, _)| first);
        content.contains("Mia").then(|| first.to_owned())
    };
    let gone = store.forget(&left, now()).unwrap();
    assert_eq!(gone.len(), 3, "{gone:?}");
    store.flush(now());
    let both = (Scope::Project, "Tom is red.");
    assert!(contents(&open(&disk, "/w/a")).contains(&both));
    assert!(store.restore(removed.id.as_str()).is_err());
    for (path, file) in disk.files() {
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(!text.contains("Mia"), "{}: {text}", path.display());
    }
    assert_eq!(contents(&open(&disk, "/w/b")), [(Scope::Project, "MySQL")]);
    let texts: Vec<String> = disk
        .files()
        .into_values()
        .map(|it| String::from_utf8_lossy(&it).into_owned())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("\"/w/b\"")),
        "{texts:?}"
    );
}

#[test]
fn what_was_removed_is_brought_back_by_its_id_also_after_a_restart() {
    let disk = MemoryDisk::default();
    let mut store = open(&disk, "/w/a");
    store
        .add(Scope::Project, &wanted("db", "Postgres"), now())
        .unwrap();
    let revision = store.revision();
    let (_, entry) = store.remove("db", None).unwrap();
    assert!(store.revision() > revision);
    store.flush(now());
    let mut store = open(&disk, "/w/a");
    assert!(matches!(
        store.get("db", None),
        Err(EntriesError::Missing { .. })
    ));
    store.restore(entry.id.as_str()).unwrap();
    assert_eq!(store.get("db", None).unwrap().1.content, "Postgres");
    assert!(store.restore("mem_nonsense").is_err());
}
