//! Hits -> one for each thing that is said, with the other places that say it. Pure.
//!
//! Invariant: no place is lost, and lines count as the same only where their words are: what is captured stands in
//! MEMORY.md, in the session's state, in the day's notes and in the talk, each time behind another label.

use super::corpus::Kind;
use super::find::Hit;

/// Words of a label, and of what stands behind it at least, for a line to say the same as one without.
const LABEL: usize = 4;
const MIN: usize = 4;
/// Words of a line that was cut, for it to be the beginning of another.
const MIN_CUT: usize = 8;

/// Of hits that say the same one stays, where the best of them stood: one that is whole, and of these the one that a
/// person would look up first.
pub fn distinct(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<(Saying, Hit)> = Vec::new();
    for hit in hits {
        let saying = Saying::of(&hit);
        match kept.iter_mut().find(|(kept, _)| kept.is_same(&saying)) {
            Some(same) => join(same, (saying, hit)),
            None => kept.push((saying, hit)),
        }
    }
    kept.into_iter().map(|(_, hit)| hit).collect()
}

fn join(kept: &mut (Saying, Hit), mut further: (Saying, Hit)) {
    let score = kept.1.score.max(further.1.score);
    let order = |(saying, hit): &(Saying, Hit)| (saying.is_cut, rank(hit.kind));
    if order(&further) < order(kept) {
        std::mem::swap(kept, &mut further);
    }
    let (_, hit) = kept;
    hit.score = score;
    let place = format!("{}:{}", further.1.source, further.1.line);
    hit.also.push(place);
    hit.also.append(&mut further.1.also);
}

/// Where a thing is looked up first: what is kept for good before what was noted and said.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Note => 0,
        Kind::Entry => 1,
        Kind::OwnFile => 2,
        Kind::Document => 3,
        Kind::SessionState => 4,
        Kind::Daily => 5,
        Kind::Said => 6,
        Kind::External => 7,
    }
}

/// The words of a line.
struct Saying {
    words: Vec<String>,
    /// How many of them are a label, where there is one.
    label: usize,
    /// Whether the label is who said it.
    is_said: bool,
    /// Whether the line goes on elsewhere: its last word may be a part of one.
    is_cut: bool,
}

impl Saying {
    fn of(hit: &Hit) -> Self {
        let text = bare(&hit.content);
        let label = text
            .split_once(": ")
            .map_or(0, |(label, _)| words(label).len());
        Self {
            words: words(text),
            label,
            is_said: hit.kind == Kind::Said,
            is_cut: text.trim_end().ends_with('…'),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let said = self.unlabelled().zip(other.unlabelled());
        self.says(&self.words, other, &other.words)
            || self
                .unlabelled()
                .is_some_and(|words| self.says(words, other, &other.words))
            || other
                .unlabelled()
                .is_some_and(|words| self.says(&self.words, other, words))
            || (self.is_said != other.is_said
                && (self.spoken() == other.spoken()
                    || said.is_some_and(|(words, others)| self.says(words, other, others))))
    }

    /// The words without who said them.
    fn spoken(&self) -> &[String] {
        let speaker = if self.is_said { self.label } else { 0 };
        &self.words[speaker..]
    }

    /// The words behind a label, where there is one and enough behind it.
    fn unlabelled(&self) -> Option<&[String]> {
        let words = &self.words[self.label..];
        ((1..=LABEL).contains(&self.label) && words.len() >= MIN).then_some(words)
    }

    /// Whether words of this one are those of the other, or their beginning where they were cut.
    fn says(&self, words: &[String], other: &Self, others: &[String]) -> bool {
        let begins = |cut: &[String], whole: &[String]| {
            let known = &cut[..cut.len().saturating_sub(1)];
            known.len() >= MIN_CUT && whole.starts_with(known)
        };
        words == others
            || (self.is_cut && begins(words, others))
            || (other.is_cut && begins(others, words))
    }
}

/// A line without its list mark, time and bold label.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line);
    let line = timeless(line).unwrap_or(line);
    unlabelled(line).unwrap_or(line)
}

/// Behind `[2026-02-14T12:00:00+00:00]`.
fn timeless(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    time.starts_with(|c: char| c.is_ascii_digit())
        .then(|| rest.trim_start())
}

/// Behind `**preference**:` or `**User:**`.
fn unlabelled(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("**")?.split_once("**")?;
    Some(rest.strip_prefix(':').unwrap_or(rest).trim_start())
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::fixture;

    fn hit(kind: Kind, source: &str, content: &str, score: f32) -> Hit {
        Hit {
            score,
            ..fixture::hit(kind, source, 3, content)
        }
    }

    #[test]
    fn a_line_that_was_cut_is_the_whole_one_and_who_said_it_is_no_other_thing() {
        let words = "I move to Frankfurt on Friday, and the movers come at seven in the morning";
        let hits = distinct(vec![
            hit(
                Kind::Daily,
                "day",
                "**User:** I move to Frankfurt on Friday, and the movers com…",
                2.0,
            ),
            hit(
                Kind::Daily,
                "facts",
                &format!("- User asked to remember: {words}"),
                1.9,
            ),
            hit(Kind::Said, "session a", &format!("user: {words}."), 1.8),
            hit(
                Kind::Said,
                "session b",
                "user: I move to Frankfurt on Friday, too",
                1.7,
            ),
        ]);
        let shown: Vec<(&str, usize)> = hits
            .iter()
            .map(|hit| (hit.source.as_str(), hit.also.len()))
            .collect();
        assert_eq!(shown, [("facts", 2), ("session b", 0)]);
    }

    #[test]
    fn what_the_person_said_is_one_hit_with_its_day_however_short() {
        let hits = distinct(vec![
            hit(Kind::Daily, "day", "**User:** hello there", 2.0),
            hit(Kind::Said, "session a", "user: hello there", 1.9),
            hit(Kind::Said, "session a", "assistant: hello", 1.8),
        ]);
        let shown: Vec<(&str, usize)> = hits
            .iter()
            .map(|hit| (hit.source.as_str(), hit.also.len()))
            .collect();
        assert_eq!(shown, [("day", 1), ("session a", 0)]);
    }

    #[test]
    fn what_is_captured_is_one_hit_that_names_every_place() {
        let hits = distinct(vec![
            hit(
                Kind::Daily,
                "day",
                "**User:** Remember that the key rotates monthly.",
                2.0,
            ),
            hit(
                Kind::Note,
                "MEMORY.md",
                "- **remember**: Remember that the key rotates monthly",
                1.9,
            ),
            hit(
                Kind::Daily,
                "facts",
                "- User asked to remember: Remember that the key rotates monthly.",
                1.8,
            ),
            hit(
                Kind::SessionState,
                "state",
                "- [2026-02-14T12:00:00+00:00] **remember**: Remember that the key rotates monthly",
                1.7,
            ),
            hit(
                Kind::Said,
                "session a",
                "user: Remember that the key rotates monthly.",
                1.6,
            ),
        ]);
        assert_eq!(hits.len(), 1, "{hits:?}");
        assert_eq!((hits[0].source.as_str(), hits[0].score), ("MEMORY.md", 2.0));
        assert_eq!(hits[0].also, ["day:3", "facts:3", "state:3", "session a:3"]);
    }

    #[test]
    fn lines_that_differ_in_a_word_stay_apart() {
        let lines = [
            "- deploy: uses fly.io",
            "- hosting: uses fly.io",
            "use tabs in this project",
            "don't use tabs in this project",
            "I prefer dark mode",
            "I prefer light mode",
        ];
        let hits = lines.map(|line| hit(Kind::Note, "MEMORY.md", line, 1.0));
        assert_eq!(distinct(hits.to_vec()), hits);
    }
}
