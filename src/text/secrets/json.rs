//! Names and values of JSON that only look as if they were secrets: `"key": "theme"`, `"code": "E0308"`,
//! `"password_policy": "strong"`. Tools print such by the page, and nobody tells a secret in it. Unit: a string.

use std::ops::Range;

use super::labels::{Label, label};

/// What is told about a secret, where a name ends with it.
const ABOUT: [&str; 27] = [
    "algo",
    "algorithm",
    "count",
    "description",
    "enabled",
    "error",
    "expires",
    "field",
    "file",
    "format",
    "id",
    "kind",
    "label",
    "length",
    "limit",
    "mode",
    "name",
    "path",
    "policy",
    "required",
    "scope",
    "size",
    "status",
    "strength",
    "ttl",
    "type",
    "version",
];

/// Bytes of a code such as `E0308`; what is longer and has capitals within was drawn by lot.
const SHORT: usize = 8;

/// Letters and digits take turns at least so often in what somebody made up or drew by lot.
const TURNS: usize = 3;

/// Returns whether the place is a name, or the value of a name that says it is no secret.
pub(super) fn is_harmless(text: &str, place: &Range<usize>) -> bool {
    let Some(before) = text[..place.start].strip_suffix('"') else {
        return false;
    };
    let behind = text[place.end..].strip_prefix('"');
    let value = &text[place.clone()];
    let is_in_object = before.trim_end().ends_with(['{', ',']);
    if is_in_object && behind.is_some_and(|behind| behind.trim_start().starts_with(':')) {
        return turns(value) < TURNS;
    }
    let name = before.trim_end().strip_suffix(':');
    let name = name.and_then(|name| name.trim_end().strip_suffix('"'));
    let Some(name) = name.and_then(|name| name.rsplit('"').next()) else {
        return false;
    };
    let parts = parts(name);
    match parts.as_slice() {
        [only] => {
            is_vague(label(only))
                && !value.bytes().all(|b| b.is_ascii_digit())
                && turns(value) < TURNS
                && (value.len() <= SHORT || !value.chars().skip(1).any(char::is_uppercase))
        }
        // The id of a secret is one.
        [.., before, last] if last == "id" => before != "secret",
        [.., last] => ABOUT.contains(&last.as_str()),
        [] => false,
    }
}

/// Tells whether what a word names is mostly no secret where it stands alone.
fn is_vague(label: Label) -> bool {
    matches!(label, Label::Key | Label::Code)
}

/// The words of a name in any style, in small letters.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let is_break = !c.is_alphanumeric();
        if is_break || (c.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        if let (false, Some(part)) = (is_break, parts.last_mut()) {
            part.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_numeric();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// How often a letter follows a digit or a digit a letter.
fn turns(value: &str) -> usize {
    let chars: Vec<char> = value.chars().collect();
    let turns = chars.windows(2).filter(|pair| {
        let digits = pair.iter().filter(|c| c.is_numeric()).count();
        digits == 1 && pair.iter().all(|c| c.is_alphanumeric())
    });
    turns.count()
}

#[cfg(test)]
mod tests {
    use crate::text::secrets::found;

    #[test]
    fn names_and_ordinary_values_in_what_tools_print_are_no_secrets() {
        for text in [
            r#"{"key": "deploy-target", "value": "fly.io"}"#,
            r#"{"items":[{"key":"alpha","password_policy":"strong"},{"key":"beta","secret":false}]}"#,
            r#"{"author":{"login":"ana"},"node_id":"MDY6Q29tbWl0"}"#,
            r#"{"key":"PROJ-123","fields":{"summary":"Login page breaks"}}"#,
            r#"{"token_count":12,"auth_required":false,"password_hash_algo":"argon2id"}"#,
            r#"{"license_key_required":true,"pin_count":4,"code":"E0308","message":"mismatched types"}"#,
            r#"{"keys":["name","email","token"],"login":"root","user":"deploy"}"#,
        ] {
            assert_eq!(found("", text), [], "{text}");
        }
    }

    #[test]
    fn secrets_in_json_are_found() {
        for (text, secrets) in [
            (r#"{"password":"hunter2","user":"ana"}"#, &["hunter2"][..]),
            (
                r#"{"token":"s3cr3tvalue","client_secret":"Zx81-abcd"}"#,
                &["s3cr3tvalue", "Zx81-abcd"],
            ),
            (
                r#"{"pin":"4821","otp":"118822","key":"k9f2Lm-22xQ"}"#,
                &["4821", "118822", "k9f2Lm-22xQ"],
            ),
        ] {
            let found: Vec<&str> = found("", text)
                .into_iter()
                .map(|it| &text[it.place])
                .collect();
            assert_eq!(found, secrets, "{text}");
        }
    }
}
