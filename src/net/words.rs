//! What servers say, made fit to be shown: one line of bounded length, and how long they want to be left
//! alone. Pure. What an error means is left to who asked.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::chat::Timestamp;

/// Longer messages are cut; some servers answer with a whole stack trace.
pub const LONGEST: usize = 400;

/// The server's own words in an error object, in whichever vendor's shape.
pub fn said(value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => ["message", "detail", "msg", "error_description"]
            .into_iter()
            .find_map(|name| said(value.get(name)?)),
        Value::Array(list) => list.first().and_then(said),
        _ => None,
    };
    words.filter(|text| !text.trim().is_empty())
}

/// Returns what a body that explains a failure says: JSON in any vendor's shape, HTML, or text; secrets masked.
pub fn complaint(body: &[u8], mask: impl Fn(&str) -> String) -> String {
    let text = String::from_utf8_lossy(body);
    let words = match serde_json::from_str::<Value>(&text) {
        Ok(value) => value
            .get("error")
            .and_then(said)
            .or_else(|| said(&value))
            .unwrap_or_else(|| value.to_string()),
        Err(_) => html_title(&text).unwrap_or_else(|| text.into_owned()),
    };
    match one_line(&mask(&words)) {
        words if words.is_empty() => "no reason given".to_owned(),
        words => words,
    }
}

/// Returns what a web page calls itself, if `text` is one.
pub fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = lower.trim_start();
    if !start.starts_with("<!doctype") && !start.starts_with("<html") {
        return None;
    }
    let title = lower.find("<title>").and_then(|at| {
        let from = at + "<title>".len();
        let to = from + lower[from..].find('<')?;
        Some(format!("an HTML page, {:?}", text[from..to].trim()))
    });
    Some(title.unwrap_or_else(|| "an HTML page".to_owned()))
}

/// One line: white space collapsed, control characters gone, cut at [`LONGEST`] characters.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > LONGEST * 4 {
            break;
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// Tells whether the name of a model says that the model embeds and does not chat.
pub fn is_embedding_model(name: &str) -> bool {
    const EMBEDDING: [&str; 8] = [
        "embed", "bge", "e5-", "gte-", "minilm", "mxbai", "nomic", "jina",
    ];
    let name = name.to_lowercase();
    EMBEDDING.iter().any(|mark| name.contains(mark))
}

/// Returns how long the server asks to be left alone: `retry-after-ms`, or `retry-after` in seconds (a fraction is
/// allowed) or as a date. A date is compared with the server's own `date`, so that clocks need not agree.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
    let date = |text: &str| Some(chrono::DateTime::parse_from_rfc2822(text).ok()?.timestamp());
    if let Some(wait) = text("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let after = text("retry-after")?;
    seconds(after).or_else(|| {
        let from = text("date").and_then(date).unwrap_or(now.unix());
        let wait = u64::try_from(date(after)? - from).unwrap_or(0);
        Some(Duration::from_secs(wait))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trap 11.
    #[test]
    fn retry_after_is_read_as_seconds_fraction_date_or_milliseconds() {
        let now = Timestamp::parse("2026-02-14T15:00:00Z").unwrap();
        for (headers, expected) in [
            (&[("retry-after", "7")][..], Some(7_000)),
            (&[("retry-after", "0.25")], Some(250)),
            (
                &[("retry-after", "1"), ("retry-after-ms", "1500")],
                Some(1_500),
            ),
            (
                &[("retry-after", "Sat, 14 Feb 2026 15:00:09 GMT")],
                Some(9_000),
            ),
            (&[("retry-after", "Sat, 14 Feb 2026 14:00:00 GMT")], Some(0)),
            (
                &[
                    ("retry-after", "Mon, 01 Jan 2024 00:00:30 GMT"),
                    ("date", "Mon, 01 Jan 2024 00:00:10 GMT"),
                ],
                Some(20_000),
            ),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[], None),
        ] {
            let headers: HeaderMap = headers
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                .collect::<Vec<(reqwest::header::HeaderName, _)>>()
                .into_iter()
                .collect();
            let got = retry_after(&headers, now).map(|wait| wait.as_millis());
            assert_eq!(got, expected, "{headers:?}");
        }
    }
}
