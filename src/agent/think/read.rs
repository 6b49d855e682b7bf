//! What a model answers in thinking, read with goodwill: JSON as it stands, in a fence, or the first object in the
//! text; other words for a field, numbers as text. Pure. What cannot be read is `None`.

use serde_json::{Map, Value};

/// An idea, not worked out yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Approach {
    pub(super) title: String,
    pub(super) idea: String,
}

/// What an approach comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Work {
    pub(super) steps: Vec<String>,
    pub(super) result: String,
    pub(super) critique: String,
    pub(super) score: Option<f32>,
}

/// How approaches were weighed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Weighing {
    /// Score and reason of each approach, where they were given.
    pub(super) scores: Vec<Option<(f32, String)>>,
    /// A place among the approaches.
    pub(super) best: Option<usize>,
    pub(super) confidence: Option<f32>,
    /// Whether it says in so many words that it is enough.
    pub(super) stops: bool,
    pub(super) answer: String,
}

// Fields, each by the names that models give it; the first is the one they are asked for.
const APPROACHES: &[&str] = &["approaches", "branches", "options", "ideas", "alternatives"];
const TITLE: &[&str] = &["title", "name", "approach"];
const IDEA: &[&str] = &["idea", "description", "summary", "rationale", "approach"];
const STEPS: &[&str] = &["steps", "reasoning", "plan"];
const RESULT: &[&str] = &[
    "result",
    "answer",
    "solution",
    "analysis",
    "development",
    "conclusion",
    "content",
];
const CRITIQUE: &[&str] = &["critique", "self_critique", "weaknesses", "risks"];
const SCORE: &[&str] = &["score", "rating", "value"];
const SCORES: &[&str] = &["scores", "evaluations", "ranking", "approaches"];
const WHICH: &[&str] = &["approach", "id", "index", "number", "title", "name"];
const REASON: &[&str] = &["reason", "why", "rationale", "comment", "critique"];
const BEST: &[&str] = &["best", "best_approach", "best_index", "chosen", "winner"];
const CONFIDENCE: &[&str] = &["confidence"];
const GOES_ON: &[&str] = &["continue", "should_continue", "go_on", "needs_more"];
const STOPS: &[&str] = &["stop", "done", "should_stop"];
const ANSWER: &[&str] = &[
    "answer",
    "final_answer",
    "synthesis",
    "conclusion",
    "result",
];

/// Approaches, at most so many.
pub(super) fn approaches(text: &str, most: usize) -> Option<Vec<Approach>> {
    let value = json(text)?;
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(fields) => field(fields, APPROACHES)?.as_array()?,
        _ => return None,
    };
    let approaches: Vec<Approach> = list.iter().filter_map(approach).take(most).collect();
    (!approaches.is_empty()).then_some(approaches)
}

fn approach(value: &Value) -> Option<Approach> {
    let (title, idea) = match value {
        Value::String(text) => (text.clone(), String::new()),
        Value::Object(fields) => (text(fields, TITLE), text(fields, IDEA)),
        _ => return None,
    };
    let title = if title.is_empty() {
        idea.clone()
    } else {
        title
    };
    (!title.trim().is_empty()).then_some(Approach { title, idea })
}

/// The work on an approach. A text without any JSON is a result by itself; one with broken JSON is none.
pub(super) fn work(text: &str) -> Option<Work> {
    let fields = match json(text) {
        Some(Value::Object(fields)) => fields,
        Some(_) => return None,
        None if text.contains('{') || text.trim().is_empty() => return None,
        None => {
            return Some(Work {
                result: text.trim().to_owned(),
                ..Work::default()
            });
        }
    };
    let steps = field(&fields, STEPS).map(lines).unwrap_or_default();
    let result = self::text(&fields, RESULT);
    let is_there = !result.is_empty() || !steps.is_empty();
    is_there.then(|| Work {
        steps,
        result,
        critique: self::text(&fields, CRITIQUE),
        score: field(&fields, SCORE).and_then(number),
    })
}

/// How approaches of these titles, numbered from 1, were weighed.
pub(super) fn weighing(text: &str, titles: &[&str]) -> Option<Weighing> {
    let Value::Object(fields) = json(text)? else {
        return None;
    };
    let scores = field(&fields, SCORES);
    let best = field(&fields, BEST).and_then(|best| match best {
        Value::Object(best) => place(field(best, WHICH)?, titles),
        best => place(best, titles),
    });
    let weighing = Weighing {
        scores: self::scores(scores, titles),
        best,
        confidence: field(&fields, CONFIDENCE).and_then(number),
        stops: field(&fields, GOES_ON).and_then(truth) == Some(false)
            || field(&fields, STOPS).and_then(truth) == Some(true),
        answer: self::text(&fields, ANSWER),
    };
    let says_something = best.is_some()
        || weighing.scores.iter().any(Option::is_some)
        || !weighing.answer.is_empty();
    says_something.then_some(weighing)
}

/// In a list, of objects that say which they mean or in the order of the approaches; or by number or title.
fn scores(value: Option<&Value>, titles: &[&str]) -> Vec<Option<(f32, String)>> {
    let mut scores = vec![None; titles.len()];
    let mut set = |at: Option<usize>, value: &Value| {
        let score = match value {
            Value::Object(fields) => {
                let score = field(fields, SCORE).and_then(number);
                score.map(|score| (score, text(fields, REASON)))
            }
            value => number(value).map(|score| (score, String::new())),
        };
        if let Some(slot) = at.and_then(|at| scores.get_mut(at)) {
            *slot = score;
        }
    };
    match value {
        Some(Value::Array(list)) => {
            for (order, value) in list.iter().enumerate() {
                let named = value.as_object().and_then(|fields| field(fields, WHICH));
                set(
                    named.map_or(Some(order), |named| place(named, titles)),
                    value,
                );
            }
        }
        Some(Value::Object(named)) => {
            for (name, value) in named {
                set(place(&Value::String(name.clone()), titles), value);
            }
        }
        _ => {}
    }
    scores
}

/// A place by its number from 1, or by its title.
fn place(value: &Value, titles: &[&str]) -> Option<usize> {
    let named = |name: &str| {
        let same = |title: &&str| title.trim().eq_ignore_ascii_case(name.trim());
        titles.iter().position(same)
    };
    let number = match value {
        Value::Number(number) => usize::try_from(number.as_u64()?).ok()?,
        Value::String(name) => match named(name) {
            Some(place) => return Some(place),
            None => name.trim().trim_start_matches('#').parse().ok()?,
        },
        _ => return None,
    };
    number.checked_sub(1).filter(|place| *place < titles.len())
}

/// `8`, `"8.5"`, `"8.5/10"`, within 0 and 10.
fn number(value: &Value) -> Option<f32> {
    let number: f32 = match value {
        Value::Number(number) => number.to_string().parse().ok()?,
        Value::String(text) => text.split('/').next()?.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then(|| number.clamp(0.0, 10.0))
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn field<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let found = names.iter().find_map(|name| fields.get(*name));
    found.filter(|value| !value.is_null())
}

fn text(fields: &Map<String, Value>, names: &[&str]) -> String {
    let texts = names.iter().filter_map(|name| match fields.get(*name)? {
        Value::String(text) => Some(text.trim().to_owned()),
        list @ Value::Array(_) => Some(lines(list).join("\n")),
        _ => None,
    });
    texts
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn lines(value: &Value) -> Vec<String> {
    let line = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) => text(fields, &["step", "text", "description"]),
        _ => String::new(),
    };
    let lines: Vec<String> = match value {
        Value::Array(list) => list.iter().map(line).collect(),
        Value::String(text) => text.lines().map(|line| line.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// The text as JSON, else what a fence holds, else the first object in it that is whole.
fn json(text: &str) -> Option<Value> {
    let direct = whole(text.trim());
    direct
        .or_else(|| fenced(text))
        .or_else(|| first_object(text))
}

fn whole(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok();
    value.filter(|value: &Value| value.is_object() || value.is_array())
}

fn fenced(text: &str) -> Option<Value> {
    let blocks = text.split("```").skip(1).step_by(2);
    let mut values = blocks.filter_map(|block| {
        // What stands behind the opening marks is the name of a language.
        let body = block.trim_start_matches(|c: char| c.is_alphanumeric());
        whole(body.trim())
    });
    values.next()
}

fn first_object(text: &str) -> Option<Value> {
    // A text of nothing but braces is not worth more.
    const TRIES: usize = 64;
    let begins = text.match_indices('{').map(|(at, _)| at).take(TRIES);
    let mut objects = begins.filter_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok()
    });
    objects.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_as_it_stands_in_a_fence_and_within_words() {
        for text in [
            r#"{"approaches": [{"title": "A", "idea": "x"}]}"#,
            "Here:\n```json\n{\"approaches\": [{\"title\": \"A\", \"idea\": \"x\"}]}\n```\nDone.",
            "Well { not this } but {\"branches\": [{\"name\": \"A\", \"description\": \"x\"}]} is it {",
            r#"[{"title": "A", "idea": "x"}]"#,
        ] {
            let approach = Approach {
                title: "A".into(),
                idea: "x".into(),
            };
            assert_eq!(approaches(text, 3), Some(vec![approach]), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        for text in [
            "",
            "no idea",
            r#"{"approaches": []}"#,
            r#"{"approaches": [{"title": "A"}, {"tit"#,
            r#"{"approaches": [1, null, {"title": " "}]}"#,
            "{{{{{{{{",
        ] {
            assert_eq!(approaches(text, 3), None, "{text}");
        }
        assert_eq!(approaches(r#"["a", "b", "c"]"#, 2).unwrap().len(), 2);
    }

    #[test]
    fn work_is_read_from_json_or_plain_words_and_not_from_broken_json() {
        let whole =
            r#"{"steps": ["one", "two"], "result": "r", "critique": "c", "score": "7.5/10"}"#;
        let expected = Work {
            steps: vec!["one".into(), "two".into()],
            result: "r".into(),
            critique: "c".into(),
            score: Some(7.5),
        };
        assert_eq!(work(whole), Some(expected));
        assert_eq!(work("Just do it.").unwrap().result, "Just do it.");
        for broken in [r#"{"steps": ["one", "#, "", "{}", "[1]"] {
            assert_eq!(work(broken), None, "{broken}");
        }
    }

    #[test]
    fn scores_are_read_in_each_form_and_missing_ones_are_missing() {
        let titles = ["A", "B", "C"];
        for (scores, expected) in [
            ("[8, 5]", [Some(8.0), Some(5.0), None]),
            (
                r#"[{"approach": 3, "score": 4}, {"title": "a", "rating": 11}]"#,
                [Some(10.0), None, Some(4.0)],
            ),
            (r#"{"2": 6, "C": {"score": "x"}}"#, [None, Some(6.0), None]),
            (r#"[{"approach": 9, "score": 4}]"#, [None, None, None]),
        ] {
            let text = format!(r#"{{"scores": {scores}, "best": "b"}}"#);
            let read = weighing(&text, &titles).unwrap();
            let figures = read.scores.iter().map(|it| it.as_ref().map(|it| it.0));
            assert_eq!(figures.collect::<Vec<_>>(), expected, "{scores}");
            assert_eq!(read.best, Some(1));
        }
    }

    #[test]
    fn only_a_word_of_its_own_stops() {
        for (said, expected) in [
            (r#""continue": false"#, true),
            (r#""continue": "no""#, true),
            (r#""stop": true"#, true),
            (r#""continue": true"#, false),
            (r#""x": 1"#, false),
        ] {
            let text = format!(r#"{{"best": 1, {said}}}"#);
            assert_eq!(weighing(&text, &["A"]).unwrap().stops, expected, "{said}");
        }
        assert_eq!(weighing(r#"{"continue": false}"#, &["A"]), None);
    }
}
