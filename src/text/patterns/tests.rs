use proptest::prelude::*;

use super::*;

fn texts(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_pattern_needs_the_longest_words_that_no_match_is_without() {
    for (pattern, words) in [
        (
            r"(?:please )?(?:fix|repair)\b .+",
            Some(vec!["fix ", "repair "]),
        ),
        (r"^(?:if|when)\b", Some(vec!["if", "when"])),
        (r"\bdon['’]t\b", Some(vec!["don't", "don’t"])),
        (r"(?P<name>[A-Z]\w+) is my name", Some(vec![" is my name"])),
        (r"(?:ab)+c?", Some(vec!["ab"])),
        (r"\d+", None),
        (r"(?:fix|\w+) it?", Some(vec![" i"])),
        ("(open", None),
    ] {
        let found = needed::by(pattern);
        let found = found
            .as_ref()
            .map(|words| words.iter().map(String::as_str).collect());
        assert_eq!(found, words, "{pattern}");
    }
}

#[test]
fn what_is_not_needed_is_never_compiled() {
    let patterns = Patterns::new(Case::Ignored, texts(&["fix (.+)", "repair (.+)", r"^\d+$"]));
    let captured: Vec<_> = patterns.captures("Please FIX the door").collect();
    assert_eq!(captured.len(), 1);
    assert_eq!(&captured[0].1[1], "the door");
    let compiled = patterns
        .each
        .iter()
        .map(|lazy| lazy.compiled.get().is_some());
    assert_eq!(compiled.collect::<Vec<_>>(), [true, false, false]);
    // What a few words cost does not tell of a long text, or of one that is not ASCII.
    assert!(!patterns.is_match("möbel"));
    let compiled = patterns
        .each
        .iter()
        .map(|lazy| lazy.compiled.get().is_some());
    assert_eq!(compiled.collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn a_pattern_that_cannot_be_used_is_named_and_never_matches() {
    let patterns = Patterns::new(Case::Ignored, texts(&["a", "(open"]));
    let error = patterns.check().unwrap_err();
    assert_eq!(error.pattern, "(open");
    assert!(error.why.contains("unclosed group"), "{error}");
    assert_eq!(
        patterns
            .matching("a (open")
            .map(|(place, _)| place)
            .collect::<Vec<_>>(),
        [0]
    );
    assert!(!Patterns::default().is_match("anything"));
}

/// Pieces of patterns, and of texts that some of them match.
const PIECES: [&str; 21] = [
    "fix",
    "(?:please )?",
    r"\b",
    "[ij]",
    "(?:a|bc|)",
    r"\w+",
    "ß",
    "(?:σ|k)",
    ".",
    "^",
    "don['’]t",
    "(?:xy)*",
    "s?",
    " ",
    r"[^,;]{1,3}",
    r"(?-u:\b)",
    r"\d{1,2}",
    r"\s",
    "(?-i:fix)",
    r"\S\w*?",
    "$",
];
const SAID: [&str; 19] = [
    "fix", "FIX", "please ", "I", "bc", "ς", "Σ", "K", "ſ", "ẞ", "don’t", "DON'T", "xy", " ", "s",
    "a", "1", "12,", "\n",
];

proptest! {
    #[test]
    fn they_say_what_each_would_say_alone(
        parts in prop::collection::vec(prop::collection::vec(prop::sample::select(&PIECES[..]), 1..5), 1..6),
        said in prop::collection::vec(prop::sample::select(&SAID[..]), 0..8),
        counts in any::<bool>(),
    ) {
        let case = if counts { Case::Counts } else { Case::Ignored };
        let written: Vec<String> = parts.iter().map(|parts| parts.concat()).collect();
        let text = said.concat();
        let alone = written.iter().enumerate().filter(|(_, pattern)| {
            compile(pattern, case).unwrap().is_match(&text)
        });
        let alone: Vec<usize> = alone.map(|(place, _)| place).collect();
        let patterns = Patterns::new(case, written.clone());
        let together: Vec<usize> = patterns.matching(&text).map(|(place, _)| place).collect();
        prop_assert_eq!(&together, &alone, "{:?} in {:?}", written, text);
        prop_assert_eq!(patterns.is_match(&text), !alone.is_empty());
    }
}

#[test]
fn a_stored_sieve_tells_the_same_as_one_that_is_made() {
    let text = include_str!("../../../config/cues/recovery.yaml");
    let languages: std::collections::BTreeMap<String, Vec<String>> =
        serde_yaml::from_str(text).unwrap();
    for patterns in languages.into_values() {
        let patterns = Patterns::new(Case::Ignored, patterns);
        let stored = stored::sieve(&patterns).unwrap();
        let made = Sieve::new(patterns.case, patterns.texts());
        assert_eq!(stored.table, made.table);
        for text in [
            "OK, so WHERE were we?",
            "qayerda TO'XTADIK",
            "我们刚才说到哪了",
        ] {
            assert_eq!(stored.places(text), made.places(text), "{text}");
        }
    }
}
