//! What words may mean. Unit: one thing that is kept or was said, with all that says the same.

use crate::chat::Role;
use crate::long_term::notes::Captured;
use crate::repl::memory_view::forget::{Chosen, texts_beside};
use crate::repl::memory_view::{MemoryView, MemoryViewError, kind};
use crate::text::statement::{Author, Statement, sentences, without_label};

/// Something that the words may mean.
pub(in crate::repl::memory_view) struct Candidate {
    /// As it is named to be forgotten; nothing but its words where it has no number.
    pub(super) name: Option<String>,
    pub(super) text: String,
    pub(super) place: String,
    pub(super) chosen: Chosen,
}

impl MemoryView<'_> {
    /// What words may mean: what is kept first; only where that is nothing, what was said or stands in a file.
    pub(in crate::repl::memory_view) fn candidates(
        &self,
        words: &str,
    ) -> Result<Vec<Candidate>, MemoryViewError> {
        let speaks = |text: &str| Statement::of(text).is_some_and(|it| it.has_words(words));
        let mut found = self.captures_that(&speaks)?;
        for (scope, entry) in self.entries.all() {
            let key = entry.key.as_deref().unwrap_or_default();
            let earlier = entry.earlier.iter().any(|it| speaks(&it.content));
            if earlier || speaks(&format!("{key} {}", entry.content)) {
                add(
                    &mut found,
                    Candidate {
                        name: Some(entry.id.as_str().to_owned()),
                        text: entry.content.clone(),
                        place: scope.as_str().to_owned(),
                        chosen: self.of_entry_forgotten(entry),
                    },
                );
            }
        }
        if found.is_empty() {
            self.in_files(words, &mut found);
        }
        // A question tells nothing where something else does.
        for with_questions in [false, true] {
            if found.is_empty() {
                self.in_sessions(words, with_questions, &mut found);
            }
        }
        if found.is_empty() {
            // What a killed process did not come to.
            for (name, text) in self.captures.workspace.texts() {
                for line in text.lines() {
                    said_in(
                        without_label(line),
                        words,
                        &name,
                        Author::Derived,
                        &mut found,
                    );
                }
            }
        }
        Ok(found)
    }

    /// What was captured and is kept, newest first.
    pub(super) fn captures_that(
        &self,
        speaks: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Candidate>, MemoryViewError> {
        let mut found = Vec::new();
        for receipt in self.captures.all()?.iter().rev() {
            let is_kept = !receipt.forgotten && receipt.what.category != Captured::MASKED;
            if is_kept && speaks(receipt.what.words()) {
                add(
                    &mut found,
                    Candidate {
                        name: Some(receipt.number.to_string()),
                        text: receipt.what.words().to_owned(),
                        place: kind(&receipt.what.category),
                        chosen: self.of_receipt(receipt),
                    },
                );
            }
        }
        Ok(found)
    }

    fn in_files(&self, words: &str, found: &mut Vec<Candidate>) {
        let workspace = &self.captures.workspace;
        let sources = workspace.sources(self.session, 0).found;
        for source in sources {
            let text = workspace.text(&source).ok().flatten().unwrap_or_default();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                said_in(line, words, source.as_str(), Author::Person, found);
            }
        }
    }

    fn in_sessions(&self, words: &str, with_questions: bool, found: &mut Vec<Candidate>) {
        self.each_session(&mut |session| {
            let place = format!("session {}", session.name());
            let own = session.messages().iter().filter(|it| it.role == Role::User);
            for message in own {
                let said = message.said();
                let sentences = sentences(&said).map(|range| &said[range]);
                let those = sentences.filter(|it| with_questions || !is_question(it));
                those.for_each(|it| said_in(it, words, &place, Author::Person, found));
            }
            let beside = texts_beside(session);
            for text in beside {
                said_in(&text, words, &place, Author::Derived, found);
            }
        });
    }
}

/// Adds what is said, unless something that says the same is there: then both go together.
fn add(found: &mut Vec<Candidate>, candidate: Candidate) {
    let is_same = |it: &&mut Candidate| {
        let mut own = it.chosen.statements.iter();
        own.any(|own| {
            candidate
                .chosen
                .statements
                .iter()
                .any(|other| own.is_same(other))
        })
    };
    match found.iter_mut().find(is_same) {
        Some(same) => same.chosen = std::mem::take(&mut same.chosen).and(candidate.chosen),
        None => found.push(candidate),
    }
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with(['?', '？'])
}

/// Adds the sentences of a text that have the words.
fn said_in(text: &str, words: &str, place: &str, author: Author, found: &mut Vec<Candidate>) {
    for range in sentences(text) {
        let sentence = &text[range];
        // What was made of something that is listed goes with it.
        let is_made = author == Author::Derived
            && found
                .iter()
                .any(|it| it.chosen.statements.are_in(sentence, author));
        if is_made {
            continue;
        }
        let statement = Statement::of(sentence).filter(|it| it.has_words(words));
        if let Some(statement) = statement {
            add(
                found,
                Candidate {
                    name: None,
                    text: sentence.to_owned(),
                    place: place.to_owned(),
                    chosen: Chosen {
                        statements: std::iter::once(statement).collect(),
                        texts: vec![sentence.to_owned()],
                        ..Chosen::default()
                    },
                },
            );
        }
    }
}
