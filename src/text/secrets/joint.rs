//! How the value of a secret is joined to its name: `:`, `is`, `for the box is`.

use std::ops::Range;

use super::words::{ADVERBS, CHANGES, FAR_VERBLESS, LEADS, NEIGHBOURS, VERBS, WIFI};

/// Words between a name and its `is`: `my password for the box is …`.
const BETWEEN: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// `: `, ` = `, `->`
    Sign,
    /// `NAME=value`, of a script.
    Tight,
    /// `is`
    Is,
    /// `for the box is`: what stands between says what it opens.
    Near,
    /// `policy is`: what stands between may be another thing.
    Far,
    /// `--password value`
    Option,
    Nothing,
}

impl Joint {
    /// Whether the value is said to be the value.
    pub(super) fn is_said(self) -> bool {
        !matches!(self, Self::Far | Self::Nothing)
    }
}

/// How the value of the name is joined, and where it begins.
pub(super) fn joint(text: &str, name: &Range<usize>) -> Option<(Joint, usize)> {
    let rest = &text[name.end..];
    let at = |rest: &str| text.len() - rest.len();
    if let Some(after) = ["'s ", "’s "]
        .iter()
        .find_map(|owns| rest.strip_prefix(owns))
    {
        let after = plainly(after);
        return Some((Joint::Is, at(after)));
    }
    let bare = rest.trim_start_matches(['"', '\'', '`', '*']);
    let bare = without_bracket(bare.trim_start_matches([' ', '\t']));
    if let Some(after) = bare
        .strip_prefix('=')
        .filter(|after| bare.len() == rest.len() && !after.starts_with([' ', '=', '>']))
    {
        return Some((Joint::Tight, at(after)));
    }
    if let Some(after) = after_sign(bare) {
        return Some((Joint::Sign, at(after)));
    }
    if let Some(after) = after_verb(bare) {
        return Some((Joint::Is, at(plainly(after))));
    }
    if text[name.clone()].starts_with("--") && bare.len() < rest.len() {
        return Some((Joint::Option, at(bare)));
    }
    if let Some(after) = changed(text, name, bare) {
        return Some((Joint::Is, at(after)));
    }
    let far = far(bare).map(|(joint, after)| (joint, at(after)));
    far.or_else(|| (bare.len() < rest.len()).then(|| (Joint::Nothing, at(plainly(bare)))))
}

/// `(wifi) : …`
fn without_bracket(text: &str) -> &str {
    let after = text.strip_prefix('(').and_then(|inner| {
        let end = inner
            .find(')')
            .filter(|end| *end <= 40 && !inner[..*end].contains('\n'))?;
        Some(inner[end + 1..].trim_start_matches([' ', '\t']))
    });
    after
        .filter(|after| after_sign(after).is_some() || after_verb(after).is_some())
        .unwrap_or(text)
}

fn after_sign(text: &str) -> Option<&str> {
    let signs = ["->", "=>", "→", "- ", ":", "=", "—", "–", "："];
    let after = signs.iter().find_map(|sign| text.strip_prefix(sign))?;
    Some(after.trim_start_matches(['=', ':', '>', ' ', '\t', '*']))
}

/// What stands after `is`, `was` or `bu`.
fn after_verb(text: &str) -> Option<&str> {
    VERBS.iter().find_map(|verb| {
        let head = text.get(..verb.len())?;
        let after = text.get(verb.len()..)?;
        let is_verb = head.to_lowercase() == *verb && after.starts_with([' ', ':', '\t']);
        is_verb.then(|| after.trim_start_matches([' ', ':', '\t']))
    })
}

/// Without the `still` and the `now` before a value.
fn plainly(text: &str) -> &str {
    let mut text = text;
    for _ in 0..3 {
        let Some(end) = text.find([' ', '\t']) else {
            break;
        };
        let word = text[..end].trim_end_matches([',', ':']).to_lowercase();
        if !ADVERBS.contains(&word.as_str()) {
            break;
        }
        text = text[end..].trim_start_matches([' ', '\t']);
    }
    text
}

/// `changed the password to …`: what stands after `to`.
fn changed<'t>(text: &str, name: &Range<usize>, bare: &'t str) -> Option<&'t str> {
    let after = bare
        .strip_prefix("to ")
        .or_else(|| bare.strip_prefix("as "))
        .or_else(|| replaced(bare))?;
    let line = text[..name.start].rfind('\n').map_or(0, |at| at + 1);
    let mut back = text[line..name.start].split_whitespace().rev().take(5);
    back.any(|word| CHANGES.contains(&word.to_lowercase().as_str()))
        .then(|| plainly(after))
}

/// What stands after `to` in `from … to …`.
fn replaced(bare: &str) -> Option<&str> {
    let (old, new) = bare.strip_prefix("from ")?.split_once(" to ")?;
    (!old.contains([' ', '\n'])).then_some(new)
}

/// A sentence that goes on, as far as its own `is` or its sign.
fn far(bare: &str) -> Option<(Joint, &str)> {
    let mut far = bare;
    let first = bare
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
        .to_lowercase();
    if NEIGHBOURS.contains(&first.as_str()) {
        return None;
    }
    let leads = LEADS.contains(&first.as_str()) || WIFI.contains(&first.as_str());
    for _ in 0..BETWEEN {
        let length = far.find(char::is_whitespace)?;
        let word = &far[..length];
        if far[length..].starts_with('\n') {
            return None;
        }
        far = far[length..].trim_start_matches([' ', '\t']);
        if leads && word.ends_with([':', '：']) {
            return Some((Joint::Near, far));
        }
        if word.ends_with(['.', ',', ';', '?', '!', ':']) {
            return None;
        }
        if let Some(after) = after_verb(far) {
            return Some((if leads { Joint::Near } else { Joint::Far }, plainly(after)));
        }
        if let Some(after) = after_sign(far).filter(|_| leads) {
            return Some((Joint::Near, after));
        }
        if FAR_VERBLESS.contains(&first.as_str())
            && far
                .split_whitespace()
                .next()
                .is_some_and(super::phrase::is_strange)
        {
            return Some((Joint::Far, far));
        }
    }
    None
}
