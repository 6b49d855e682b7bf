//! What was found out aside, as a request lists it: a few lines of the newest (X25).

use super::report::Report;
use super::tracking::one_line;
use super::{Prompt, transcript};
use crate::chat::Scratchpad;
use crate::context::{Section, SectionKind, Source};

/// Results that are listed.
const SHOWN: usize = 5;
/// Characters of each.
const CHARS: usize = 200;

/// The block, where there is anything to list.
pub(super) fn section(scratchpad: &Scratchpad, prompt: &Prompt) -> Option<Section> {
    let results = scratchpad.sub_results();
    let shown = results.iter().take(SHOWN);
    let lines: Vec<String> = shown.map(|(name, text)| line(name, text)).collect();
    if lines.is_empty() {
        return None;
    }
    // What a model wrote must not pass for what the program says.
    let results = transcript::fenced(&lines.join("\n"));
    let text = prompt.fill(&[("results", &results)]);
    let source = Source::Scratchpad(lines.len());
    Some(Section::system(SectionKind::SubResults, source, text))
}

fn line(name: &str, text: &str) -> String {
    let gist = Report::parse(text).map_or_else(|| text.to_owned(), |report| report.gist());
    one_line(&format!("- {name}: {gist}"), CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Content;

    #[test]
    fn the_newest_five_are_listed_in_a_line_of_200_characters_each() {
        let prompt = Prompt::new("x", "{{results}}");
        assert_eq!(section(&Scratchpad::default(), &prompt), None);
        let mut scratchpad = Scratchpad::default();
        for n in 1..=7 {
            let text = format!("result {n}\n{}", "x".repeat(300));
            scratchpad.keep_thought(n, &text).unwrap();
        }
        let block = section(&scratchpad, &prompt).unwrap();
        let Content::System(text) = block.content() else {
            panic!("{block:?}")
        };
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[0].starts_with("- think-7: result 7 x"), "{text}");
        assert!(
            lines.iter().all(|line| line.chars().count() == 200),
            "{text}"
        );
    }
}
