//! A person's own files of patterns: YAML -> patterns, and what they make of a message.

use cogtrix::chat::{Message, MessageId, Role};
use cogtrix::memory::capture::{Extractor, WalSettings};
use cogtrix::memory::facts::{FactCues, FactsSettings, facts};
use cogtrix::memory::tracking::Exchange;
use cogtrix::memory::tracking::readers::Readers;
use cogtrix::memory::{BadCues, Prompt, RecoveryCues};
use cogtrix::text::patterns::Checked;

/// Files that a person may have; the first byte of an input chooses one.
const FILES: [&str; 6] = [
    Extractor::FILE,
    FactCues::FILE,
    "cues/recovery.yaml",
    "cues/code.yaml",
    "cues/conversation.yaml",
    "cues/reasoning.yaml",
];

/// Somebody's words, with whatever patterns look for.
const SAID: &str = "I prefer tabs. Please remember: the port is 8080 😀. Don't fix src/main.rs, we decided to use SQLite \
    because it is small. Where were we? error[E0382]: use of moved value. Mening ismim Aziz. 继续上次的。";

/// A file of patterns is refused by name or used; used, it reads a message to its end and finds nothing but its words.
pub fn cues(input: &[u8]) {
    let Some((chosen, text)) = input.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let file = FILES[usize::from(*chosen) % FILES.len()];
    let own = |name: &str| (name == file).then(|| Prompt::new("own.yaml", text));
    let message = Message::text(MessageId::numbered(1), Role::User, SAID, None);
    let messages = [message];
    match file {
        Extractor::FILE => {
            // The languages of the file alone: compiling those of the program says nothing of the file.
            let settings = WalSettings {
                languages: Vec::new(),
                ..WalSettings::default()
            };
            let Some(extractor) = used(Extractor::with(own, &settings)) else {
                return;
            };
            for capture in extractor.capture(&messages[0], "") {
                let words = capture.detail.split_whitespace();
                for word in words.map(|word| word.trim_matches('…')) {
                    assert!(SAID.contains(word), "{capture:?} was not said");
                }
            }
        }
        FactCues::FILE => {
            let settings = FactsSettings {
                min_chat_turns: 0,
                cues: Vec::new(),
                ..FactsSettings::default()
            };
            let Some(cues) = used(FactCues::with(own, &settings)) else {
                return;
            };
            let found = facts(&[&messages[0]], "", &settings, &cues);
            assert!(found.len() <= settings.max_facts, "{found:?}");
        }
        "cues/recovery.yaml" => {
            if let Ok(cues) = RecoveryCues::parse(&Prompt::new("own.yaml", text), Checked::Now) {
                cues.ask("Where were we?");
            }
        }
        _ => {
            let Some(readers) = used(Readers::with(own)) else {
                return;
            };
            let reader = match file {
                "cues/code.yaml" => &readers.code,
                "cues/conversation.yaml" => &readers.conversation,
                _ => &readers.reasoning,
            };
            let exchange = Exchange::of(&messages);
            assert_eq!(reader.read(&exchange), reader.read(&exchange));
        }
    }
}

/// What came of a file; one that is refused is named.
fn used<T>(read: Result<T, BadCues>) -> Option<T> {
    match read {
        Ok(cues) => Some(cues),
        Err(error) => {
            assert!(error.to_string().starts_with("own.yaml: "), "{error}");
            None
        }
    }
}
