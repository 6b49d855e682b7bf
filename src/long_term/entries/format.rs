//! A file of entries, made to be read and edited by hand (G2):
//!
//! ```text
//! {"version": 1, "project_path": "/home/ann/app", "entries": [ENTRY…], "removed": [ENTRY…], "about": {ID: ABOUT…}}
//! ENTRY  {"id", "key"?, "content", "type": "project", "kind"?, "tags", "timestamp", "project"?}
//! ABOUT  {"created"?, "from"?: {"session", "message", "timestamp"?}, "earlier"?: [{"content", "timestamp"}]}
//! ```
//! An entry needs no more than its content. Fields it does not know are kept; of a file that does not parse, the
//! entries that can be read are.

use serde_json::{Value, json};

use super::entry::{Earlier, Entry, EntryId, Kind, Origin, Scope};
use super::list::Entries;
use crate::chat::{Timestamp, Unknown};

pub(super) const VERSION: u64 = 1;

/// What is known of an entry beside its own fields: in a file it stands apart, so that an entry has no others (G2).
/// Files of earlier versions have it in the entries.
const ABOUT: [&str; 3] = ["created", "from", "earlier"];

/// What a file says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Document {
    pub(super) entries: Entries,
    /// Fields of the file that this program does not know.
    pub(super) unknown: Unknown,
    /// Whether something in it could not be read.
    pub(super) is_damaged: bool,
}

/// Reads a file; the error is the version it says it has. `now` is for entries that tell no time.
pub(super) fn read(bytes: &[u8], scope: Scope, now: Timestamp) -> Result<Document, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(mut fields) = serde_json::from_slice::<Unknown>(bytes) else {
        let text = String::from_utf8_lossy(bytes);
        let found = objects(&text);
        return Ok(damaged(
            found.filter_map(|it| entry(it, scope, now)).collect(),
        ));
    };
    if let Some(version) = fields.remove("version")
        && version.as_u64() != Some(VERSION)
    {
        return Err(version.to_string());
    }
    let mut is_damaged = false;
    let mut about = match fields.remove("about") {
        Some(Value::Object(about)) => about,
        Some(_) | None => Unknown::new(),
    };
    let mut list = |name| match fields.remove(name) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(stored)) => {
            let count = stored.len();
            let whole = stored.into_iter().map(|it| joined(it, &mut about));
            let read = whole.filter_map(|it| entry(it, scope, now));
            let read: Vec<Entry> = read.collect();
            is_damaged |= read.len() < count;
            read
        }
        Some(_) => {
            is_damaged = true;
            Vec::new()
        }
    };
    let entries = Entries::restore(list("entries"), list("removed"));
    fields.remove("project_path");
    Ok(Document {
        entries,
        unknown: fields,
        is_damaged,
    })
}

fn damaged(list: Vec<Entry>) -> Document {
    Document {
        entries: Entries::restore(list, Vec::new()),
        unknown: Unknown::new(),
        is_damaged: true,
    }
}

/// Every whole object with a content in what is left of a file; those that were removed stay so.
fn objects(text: &str) -> impl Iterator<Item = Value> {
    let mut at = text.find("\"entries\"").unwrap_or(0);
    let behind = ["\"removed\"", "\"about\""].map(|name| text[at..].find(name));
    let end = behind.into_iter().flatten().min();
    let end = end.map_or(text.len(), |end| at + end);
    // Each try that fails reads on to the damage; of a file of braces not all are tried.
    let mut tries = 20_000;
    std::iter::from_fn(move || {
        while let Some(next) = text.get(at..end)?.find('{') {
            at += next;
            tries -= 1;
            if tries == 0 {
                return None;
            }
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) if value.get("content").is_some() => {
                    at += values.byte_offset();
                    return Some(value);
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// An entry of a file with what stands about it elsewhere.
fn joined(mut stored: Value, about: &mut Unknown) -> Value {
    let told = stored["id"].as_str().and_then(|id| about.remove(id));
    if let (Some(fields), Some(Value::Object(told))) = (stored.as_object_mut(), told) {
        for (name, value) in told {
            fields.entry(name).or_insert(value);
        }
    }
    stored
}

pub(super) fn entry(stored: Value, scope: Scope, now: Timestamp) -> Option<Entry> {
    let Value::Object(mut fields) = stored else {
        return None;
    };
    let content = text(fields.remove("content"))?;
    if content.trim().is_empty() {
        return None;
    }
    let key = text(fields.remove("key")).map(|key| key.trim().to_owned());
    let key = key.filter(|key| !key.is_empty());
    let id = text(fields.remove("id"));
    let id = id.and_then(|id| EntryId::parse(&id)).unwrap_or_else(|| {
        let texts = [scope.as_str(), key.as_deref().unwrap_or(""), &content];
        EntryId::of(&texts, 0)
    });
    let tags = match fields.remove("tags") {
        Some(Value::Array(tags)) => tags.into_iter().filter_map(|tag| text(Some(tag))).collect(),
        Some(_) | None => Vec::new(),
    };
    let kind = fields.get("kind").and_then(Value::as_str);
    let kind = kind.and_then(Kind::parse);
    if kind.is_some() {
        fields.remove("kind");
    }
    fields.remove("type");
    let time = |value: Option<Value>| Timestamp::parse(&text(value)?);
    let at = time(fields.remove("timestamp")).unwrap_or(now);
    Some(Entry {
        id,
        key,
        content,
        kind: kind.unwrap_or_default(),
        tags,
        at,
        created: time(fields.remove("created")),
        project: text(fields.remove("project")),
        from: fields.remove("from").and_then(|from| origin(&from)),
        earlier: earlier(fields.remove("earlier")),
        unknown: fields,
    })
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        Some(_) | None => None,
    }
}

fn origin(stored: &Value) -> Option<Origin> {
    let text = |name: &str| Some(stored.get(name)?.as_str()?.to_owned());
    Some(Origin {
        session: text("session")?,
        message: text("message")?,
        at: text("timestamp").and_then(|at| Timestamp::parse(&at)),
    })
}

fn earlier(stored: Option<Value>) -> Vec<Earlier> {
    let Some(Value::Array(stored)) = stored else {
        return Vec::new();
    };
    let earlier = |it: Value| {
        Some(Earlier {
            content: it.get("content")?.as_str()?.to_owned(),
            at: Timestamp::parse(it.get("timestamp")?.as_str()?)?,
        })
    };
    stored.into_iter().filter_map(earlier).collect()
}

/// The whole file.
pub(super) fn write(
    entries: &Entries,
    scope: Scope,
    project_path: Option<&str>,
    unknown: &Unknown,
) -> Vec<u8> {
    let mut about = Unknown::new();
    let mut stored = |it: &Entry| apart(stored(it, scope), &mut about);
    let mut fields = unknown.clone();
    fields.insert("version".to_owned(), VERSION.into());
    if let Some(path) = project_path {
        fields.insert("project_path".to_owned(), path.into());
    }
    let list: Vec<Value> = entries.iter().map(&mut stored).collect();
    let removed: Vec<Value> = entries.removed().iter().map(stored).collect();
    fields.insert("entries".to_owned(), list.into());
    if !removed.is_empty() {
        fields.insert("removed".to_owned(), removed.into());
    }
    if !about.is_empty() {
        fields.insert("about".to_owned(), about.into());
    }
    format!("{:#}\n", Value::Object(fields)).into_bytes()
}

/// The fields of an entry alone; what is known beside them goes to `about`.
fn apart(mut stored: Value, about: &mut Unknown) -> Value {
    let id = stored["id"].as_str().unwrap_or_default().to_owned();
    if let Some(fields) = stored.as_object_mut() {
        let told: Unknown = ABOUT
            .iter()
            .filter_map(|name| fields.remove_entry(*name))
            .collect();
        if !told.is_empty() {
            about.insert(id, told.into());
        }
    }
    stored
}

/// An entry with all that is known of it.
pub(super) fn stored(entry: &Entry, scope: Scope) -> Value {
    let mut fields = entry.unknown.clone();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("id", entry.id.as_str().into());
    put("content", entry.content.clone().into());
    put("type", scope.as_str().into());
    put("tags", entry.tags.clone().into());
    put("timestamp", entry.at.iso().into());
    if let Some(key) = &entry.key {
        put("key", key.clone().into());
    }
    if entry.kind != Kind::Note {
        put("kind", entry.kind.as_str().into());
    }
    if let Some(created) = entry.created {
        put("created", created.iso().into());
    }
    if let Some(project) = &entry.project {
        put("project", project.clone().into());
    }
    if let Some(from) = &entry.from {
        let mut said = json!({"session": from.session, "message": from.message});
        if let Some(at) = from.at {
            said["timestamp"] = at.iso().into();
        }
        put("from", said);
    }
    if !entry.earlier.is_empty() {
        let earlier = entry.earlier.iter();
        let earlier = earlier.map(|it| json!({"content": it.content, "timestamp": it.at.iso()}));
        put("earlier", earlier.collect());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_unix(1_800_000_000).unwrap()
    }

    const FILE: &str = r#"{"version": 1, "later": 7, "project_path": "/w", "entries": [
        {"id": "mem_0123456789abcdef", "key": "db", "content": "MySQL", "type": "project", "kind": "fact",
         "tags": ["db"], "timestamp": "2026-02-14T15:23:05Z", "created": "2026-02-13T15:23:05Z", "project": "abc",
         "from": {"session": "s", "message": "m1"}, "mood": "calm",
         "earlier": [{"content": "Postgres", "timestamp": "2026-02-14T15:23:05Z"}]},
        {"content": "by hand"}],
        "removed": [{"content": "gone"}]}"#;

    #[test]
    fn a_file_reads_back_with_what_it_does_not_know_and_a_hand_needs_only_a_content() {
        let read = |bytes: &[u8]| read(bytes, Scope::Project, now()).unwrap();
        let document = read(FILE.as_bytes());
        assert!(!document.is_damaged);
        assert_eq!(document.entries.len(), 2);
        let by_hand = document.entries.iter().next_back().unwrap();
        assert_eq!((by_hand.content.as_str(), by_hand.at), ("by hand", now()));
        let again = write(
            &document.entries,
            Scope::Project,
            Some("/w"),
            &document.unknown,
        );
        assert_eq!(read(&again), document);
        let again: Value = serde_json::from_slice(&again).unwrap();
        assert_eq!(again["later"], 7);
        let about = &again["about"]["mem_0123456789abcdef"];
        assert_eq!(about["earlier"][0]["content"], "Postgres");
        let fields = again["entries"][0].as_object().unwrap().keys();
        let mut fields: Vec<&str> = fields.map(String::as_str).collect();
        fields.sort_unstable();
        let mut own = vec![
            "id",
            "key",
            "content",
            "type",
            "kind",
            "tags",
            "timestamp",
            "project",
            "mood",
        ];
        own.sort_unstable();
        assert_eq!(fields, own);
        assert!(!about.to_string().contains("mood"));
        assert_eq!(again["entries"][0]["mood"], "calm");
        assert_eq!(again["removed"][0]["content"], "gone");
    }

    #[test]
    fn what_stands_about_an_entry_is_no_entry_in_a_damaged_file() {
        let document = read(FILE.as_bytes(), Scope::Project, now()).unwrap();
        let whole = write(
            &document.entries,
            Scope::Project,
            Some("/w"),
            &document.unknown,
        );
        let whole = String::from_utf8(whole).unwrap();
        let broken = whole.replace("\"version\": 1", "\"version\" 1");
        assert_ne!(broken, whole);
        let document = read(broken.as_bytes(), Scope::Project, now()).unwrap();
        let contents = document.entries.iter().map(|it| it.content.as_str());
        assert_eq!(contents.collect::<Vec<_>>(), ["MySQL", "by hand"]);
    }

    #[test]
    fn what_can_be_read_of_a_damaged_file_is() {
        let torn = &FILE[..FILE.find("by hand").unwrap()];
        let replaced = FILE.replace("{\"content\": \"by hand\"}", "17");
        for (text, entries, is_damaged) in [
            (torn, 1, true),
            (replaced.as_str(), 1, true),
            ("", 0, true),
            ("[1]", 0, true),
            ("{}", 0, false),
            (r#"{"entries": {}}"#, 0, true),
            (r#"{"entries": [{"content": " "}]}"#, 0, true),
        ] {
            let document = read(text.as_bytes(), Scope::Global, now()).unwrap();
            let found = (document.entries.len(), document.is_damaged);
            assert_eq!(found, (entries, is_damaged), "{text}");
        }
        let newer = read(br#"{"version": 2}"#, Scope::Global, now());
        assert_eq!(newer, Err("2".to_owned()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0..FILE.len()) {
            prop_assert!(read(&bytes, Scope::Global, now()).is_ok());
            let torn = FILE.as_bytes().get(..cut).unwrap_or_default();
            let document = read(torn, Scope::Global, now()).unwrap();
            prop_assert!(document.is_damaged);
        }
    }
}
