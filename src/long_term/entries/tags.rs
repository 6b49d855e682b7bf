//! What a text speaks of, read from its words: paths, and names of functions, types and packages (G5).

use std::sync::LazyLock;

use regex::Regex;

/// Tags of one entry.
const MAX_TAGS: usize = 20;

/// A path stands at the beginning or behind a blank, so that no address on the web is one.
const PATH: &str = r"(?:^|\s)(/[a-zA-Z0-9_.\-/]+)";

const NAME: &str =
    r"\b(?:function|func|fn|def|class|struct|mod|package|crate)\s+([A-Za-z_][A-Za-z0-9_]*)";

/// What follows such a word in a sentence and is no name.
const NO_NAMES: [&str; 20] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "in", "is", "it", "of", "on",
    "that", "the", "to", "which", "with",
];

/// Reads tags; compiled when the first entry is written.
#[derive(Debug)]
pub(super) struct Tagger {
    path: LazyLock<Regex>,
    name: LazyLock<Regex>,
}

impl Tagger {
    pub(super) fn new() -> Self {
        Self {
            path: LazyLock::new(|| compiled(PATH)),
            name: LazyLock::new(|| compiled(NAME)),
        }
    }

    /// The tags given, then those of the text in the order of its words.
    pub(super) fn tags(&self, text: &str, given: &[String]) -> Vec<String> {
        let paths = self.path.captures_iter(text);
        let names = self.name.captures_iter(text);
        let mut found: Vec<(usize, &str)> = paths
            .chain(names)
            .filter_map(|captures| captures.get(1))
            .map(|group| (group.start(), group.as_str()))
            .collect();
        found.sort_unstable();
        let found = found.into_iter().map(|(_, tag)| tag.trim_end_matches('.'));
        let found = found.filter(|tag| tag.len() > 1 && !NO_NAMES.contains(tag));
        let mut tags: Vec<String> = Vec::new();
        for tag in given.iter().map(|tag| tag.trim()).chain(found) {
            if !tag.is_empty() && tags.len() < MAX_TAGS && !tags.iter().any(|it| it == tag) {
                tags.push(tag.to_owned());
            }
        }
        tags
    }
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is written above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_tags_in_the_order_of_their_words() {
        let many: Vec<String> = (0..30).map(|n| format!("/f{n}")).collect();
        let many = many.join(" ");
        for (text, given, expected) in [
            (
                "fn parse in /src/a.rs, see https://example.com/x",
                "",
                vec!["parse", "/src/a.rs"],
            ),
            (
                "/etc/hosts. struct Session and class Of; package main",
                "net",
                vec!["net", "/etc/hosts", "Session", "Of", "main"],
            ),
            (
                "the function that parses, def run, def run",
                "run",
                vec!["run"],
            ),
            ("nothing to see", "", vec![]),
        ] {
            let given: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
            assert_eq!(Tagger::new().tags(text, &given), expected, "{text}");
        }
        assert_eq!(Tagger::new().tags(&many, &[]).len(), MAX_TAGS);
    }
}
