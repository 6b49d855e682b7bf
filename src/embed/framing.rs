//! What some models want in front of a text: they were trained to tell questions from what answers them by it. Unit:
//! one text. What their makers publish, for the models that people run at home; any other model gets the text as it is.

use std::borrow::Cow;

/// What a text is embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be found.
    Document,
    /// To find others.
    Question,
}

/// Part of a model's name, what stands in front of a document, and of a question. The first that fits counts.
const FRAMES: [(&str, &str, &str); 9] = [
    ("nomic-embed-text", "search_document: ", "search_query: "),
    ("e5-small", "passage: ", "query: "),
    ("e5-base", "passage: ", "query: "),
    ("e5-large", "passage: ", "query: "),
    ("mxbai-embed", "", SEARCHING),
    ("bge-small-en", "", SEARCHING),
    ("bge-base-en", "", SEARCHING),
    ("bge-large-en", "", SEARCHING),
    ("snowflake-arctic-embed2", "", "query: "),
];
const SEARCHING: &str = "Represent this sentence for searching relevant passages: ";

/// A text as a model wants it.
pub fn framed<'a>(model: &str, purpose: Purpose, text: &'a str) -> Cow<'a, str> {
    let frame = FRAMES.iter().find(|(part, ..)| model.contains(part));
    let front = frame.map_or("", |(_, document, question)| match purpose {
        Purpose::Document => document,
        Purpose::Question => question,
    });
    if front.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{front}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_are_told_what_a_text_is_for_and_others_are_not() {
        for (model, document, question) in [
            (
                "ollama/nomic-embed-text",
                "search_document: x",
                "search_query: x",
            ),
            (
                "openai/intfloat/multilingual-e5-large",
                "passage: x",
                "query: x",
            ),
            ("ollama/mxbai-embed-large", "x", &*format!("{SEARCHING}x")),
            ("openai/text-embedding-3-small", "x", "x"),
            ("openai/bge-m3", "x", "x"),
            ("local/bert-6x384-1", "x", "x"),
        ] {
            assert_eq!(framed(model, Purpose::Document, "x"), document, "{model}");
            assert_eq!(framed(model, Purpose::Question, "x"), question, "{model}");
        }
    }
}
