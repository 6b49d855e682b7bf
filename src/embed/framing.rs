//! What some models want in front of a text: they were trained to tell questions from what answers them by it. What
//! their makers publish, for the models that people run at home; any other model gets the text as it is.

use std::borrow::Cow;

/// What a text is embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be found.
    Document,
    /// To find others.
    Question,
}

/// Describes models by a part of their names.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) part: &'static str,
    /// What stands in front of a document, and of a question.
    document: &'static str,
    question: &'static str,
    /// What makes a vector of it in this process.
    pub(super) pooling: Pooling,
}

/// Which of an encoder's last states make the vector of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
}

const fn model(
    part: &'static str,
    (document, question): (&'static str, &'static str),
    pooling: Pooling,
) -> Known {
    Known {
        part,
        document,
        question,
        pooling,
    }
}

const SEARCHING: &str = "Represent this sentence for searching relevant passages: ";
const E5: (&str, &str) = ("passage: ", "query: ");

/// The first whose part a name has counts.
const KNOWN: [Known; 13] = [
    model(
        "nomic-embed-text",
        ("search_document: ", "search_query: "),
        Pooling::Mean,
    ),
    model("e5-small", E5, Pooling::Mean),
    model("e5-base", E5, Pooling::Mean),
    model("e5-large", E5, Pooling::Mean),
    model("mxbai-embed", ("", SEARCHING), Pooling::First),
    model("bge-small-en", ("", SEARCHING), Pooling::First),
    model("bge-base-en", ("", SEARCHING), Pooling::First),
    model("bge-large-en", ("", SEARCHING), Pooling::First),
    model("snowflake-arctic-embed2", ("", "query: "), Pooling::First),
    model("arctic-embed", ("", SEARCHING), Pooling::First),
    model("gte-small", ("", ""), Pooling::Mean),
    model("gte-base", ("", ""), Pooling::Mean),
    model("gte-large", ("", ""), Pooling::Mean),
];

pub(super) fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|model| name.contains(model.part))
}

/// A text as a model wants it.
pub fn framed<'a>(model: &str, purpose: Purpose, text: &'a str) -> Cow<'a, str> {
    let front = known(model).map_or("", |model| match purpose {
        Purpose::Document => model.document,
        Purpose::Question => model.question,
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
