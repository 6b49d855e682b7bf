//! Entries by words: how much of a question an entry speaks of. Rare words count more than frequent ones, and words of
//! the key more than words of the text.

use super::entry::{Entry, Scope};

/// An entry that speaks of what is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub scope: Scope,
    pub entry: Entry,
    /// The share of the question, in what its words are worth: over 0, at most 1.
    pub score: f64,
}

/// Words that say nothing of what is asked.
const EMPTY: [&str; 42] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from",
    "has", "have", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "that",
    "the", "this", "to", "us", "was", "we", "what", "when", "where", "which", "who", "with", "you",
    "your",
];

/// Letters that two forms of a word have in common at least.
const STEM: usize = 4;

/// The best first; of equals the newest, then by id.
pub(super) fn lookup<'a>(
    entries: impl Iterator<Item = (Scope, &'a Entry)>,
    query: &str,
    limit: usize,
) -> Vec<Found> {
    let asked = asked(query);
    let texts: Vec<(Scope, &Entry, Vec<String>)> = entries
        .map(|(scope, entry)| (scope, entry, of_entry(entry).collect()))
        .collect();
    let total = count(texts.len());
    let worth: Vec<f64> = asked
        .iter()
        .map(|word| {
            let having = texts.iter().filter(|(.., words)| has(words, word)).count();
            (1.0 + total / (1.0 + count(having))).ln()
        })
        .collect();
    let whole: f64 = worth.iter().sum();
    let scored = texts.iter().filter_map(|(scope, entry, words)| {
        let hits = asked.iter().zip(&worth);
        let hits = hits.filter(|(word, _)| has(words, word));
        let score = hits.map(|(_, worth)| worth).sum::<f64>() / whole;
        (score > 0.0).then(|| Found {
            scope: *scope,
            entry: (*entry).clone(),
            score,
        })
    });
    let mut found: Vec<Found> = scored.collect();
    found.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        let by_time = by_score.then(other.entry.at.cmp(&one.entry.at));
        by_time.then_with(|| one.entry.id.cmp(&other.entry.id))
    });
    found.truncate(limit);
    found
}

/// The words of a question; where none says anything, all of them.
fn asked(query: &str) -> Vec<String> {
    let mut all: Vec<String> = words(query).collect();
    all.sort_unstable();
    all.dedup();
    let telling: Vec<String> = all
        .iter()
        .filter(|word| !EMPTY.contains(&word.as_str()))
        .cloned()
        .collect();
    if telling.is_empty() { all } else { telling }
}

fn of_entry(entry: &Entry) -> impl Iterator<Item = String> {
    let key = entry.key.iter().map(String::as_str);
    let tags = entry.tags.iter().map(String::as_str);
    let texts = key.chain([entry.content.as_str()]).chain(tags);
    texts.flat_map(words)
}

/// Whether one of the words is this, or another form of it: `deploy` and `deploys`.
fn has(words: &[String], wanted: &str) -> bool {
    let long = wanted.chars().count() >= STEM;
    words.iter().any(|word| {
        let begins = word.starts_with(wanted)
            || wanted.starts_with(word.as_str()) && word.chars().count() >= STEM;
        word == wanted || long && begins
    })
}

/// Words in lower case. Scripts without blanks give pairs of letters.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty()).flat_map(|run| {
        let run = run.to_lowercase();
        let letters: Vec<char> = run.chars().collect();
        if letters.iter().any(|c| is_wide(*c)) && letters.len() > 2 {
            letters
                .windows(2)
                .map(|pair| pair.iter().collect())
                .collect()
        } else {
            vec![run]
        }
    })
}

/// Chinese, Japanese, Thai: written without blanks.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}')
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::entry::{EntryId, Kind};
    use super::*;
    use crate::chat::{Timestamp, Unknown};

    fn entry(key: &str, content: &str) -> Entry {
        Entry {
            id: EntryId::of(&[key, content], 0),
            key: (!key.is_empty()).then(|| key.to_owned()),
            content: content.to_owned(),
            kind: Kind::Note,
            tags: Vec::new(),
            at: Timestamp::from_unix(0).unwrap(),
            created: None,
            project: None,
            from: None,
            earlier: Vec::new(),
            unknown: Unknown::new(),
        }
    }

    #[test]
    fn what_speaks_of_the_question_is_found_and_nothing_else() {
        let entries = [
            entry("", "deploy uses fly.io"),
            entry("db", "Postgres 16 on port 5433"),
            entry("", "部署使用容器"),
            entry("", "the tests of the parser are slow"),
        ];
        for (query, expected) in [
            ("How do we deploy?", vec!["deploy uses fly.io"]),
            ("deployments", vec!["deploy uses fly.io"]),
            ("which db is it?", vec!["Postgres 16 on port 5433"]),
            ("怎么部署", vec!["部署使用容器"]),
            ("what is for lunch", vec![]),
            (
                "port of the parser",
                vec![
                    "Postgres 16 on port 5433",
                    "the tests of the parser are slow",
                ],
            ),
            ("", vec![]),
        ] {
            let found = lookup(entries.iter().map(|it| (Scope::Project, it)), query, 10);
            let mut texts: Vec<&str> = found.iter().map(|it| it.entry.content.as_str()).collect();
            texts.sort_unstable();
            assert_eq!(texts, expected, "{query}");
            assert!(found.iter().all(|it| it.score > 0.0 && it.score <= 1.0));
        }
    }
}
