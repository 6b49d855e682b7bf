//! `/pin`, `/unpin` and `/scratch`: what stands in every request of a session, and its short texts under keys.

use super::{CommandError, Next, ReplContext, cannot, usage};
use crate::chat::{Pins, Scratchpad};
use crate::repl::listing::count;
use crate::repl::transcript::first_words;

/// What `/scratch` takes first, beside a key.
pub(super) const WORDS: [&str; 1] = [RM];
const RM: &str = "rm";
/// Characters of a text in a list.
const SHOWN: usize = 100;

/// `/pin [TEXT]`.
pub(super) async fn pin(repl: &mut ReplContext, text: &str) -> Result<Next, CommandError> {
    if text.is_empty() {
        return Next::answer(pinned(repl.session().pins()));
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let names_a_pin = rest.is_empty() || rest == "all" || rest.parse::<u32>().is_ok();
    if word == RM && names_a_pin {
        return Err(usage("pin", "takes a text; use `/unpin N` to remove a pin"));
    }
    let pinned = repl.agent.pin(text).await?;
    let text = format!(
        "Pinned as {}; pins use {} of {} bytes. Remove with `/unpin {}`",
        pinned.id,
        pinned.bytes,
        Pins::MAX_BYTES,
        pinned.id
    );
    Ok(Next::with(text, pinned.warning))
}

pub(super) fn pinned(pins: &Pins) -> String {
    if pins.is_empty() {
        return "No pins; add one with `/pin TEXT`".to_owned();
    }
    let row = |pin: &crate::chat::Pin| format!("{:>4}  {}", pin.id, pin.text);
    pins.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// `/unpin N|all`.
pub(super) async fn unpin(repl: &mut ReplContext, which: &str) -> Result<Next, CommandError> {
    if which == "all" {
        let (gone, warning) = repl.agent.unpin_all();
        return Ok(Next::with(
            format!("Unpinned {}", count(gone, "text")),
            warning,
        ));
    }
    let number = which.strip_prefix('#').unwrap_or(which);
    let number = number
        .parse()
        .map_err(|_| usage("unpin", "needs a pin number, or all"))?;
    let (pin, warning) = repl.agent.unpin(number)?;
    let words = first_words(&pin.text, SHOWN);
    Ok(Next::with(format!("Unpinned: {words}"), warning))
}

/// `/scratch [KEY [VALUE]|rm KEY]`.
pub(super) async fn scratch(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let split = arguments.split_once(char::is_whitespace);
    let (key, value) = split.unwrap_or((arguments, ""));
    let value = value.trim();
    if key == RM {
        return scratch_off(repl, value);
    }
    let scratchpad = repl.session().scratchpad();
    if key.is_empty() {
        let rows = scratchpad.entries().map(|(key, text)| {
            let chars = count(text.chars().count(), "character");
            format!("{key}  {chars}: {}", first_words(text, SHOWN))
        });
        let rows: Vec<String> = rows.collect();
        return Next::answer(if rows.is_empty() {
            "The scratchpad is empty; write to it with `/scratch KEY VALUE`".to_owned()
        } else {
            rows.join("\n")
        });
    }
    if value.is_empty() {
        let text = scratchpad.get(key);
        let text = text.ok_or_else(|| no_key(key))?;
        return Next::answer(text.to_owned());
    }
    let (written, warning) = repl.agent.scribble(key, value)?;
    let cut = if written.is_cut {
        "; the rest was cut off"
    } else {
        ""
    };
    let chars = count(written.chars, "character");
    Ok(Next::with(format!("Stored {key}: {chars}{cut}"), warning))
}

fn no_key(key: &str) -> CommandError {
    cannot(
        format!("the scratchpad has no key {key:?}"),
        "`/scratch` lists them",
    )
}

/// Takes a key off, whoever wrote it. Its text is shown whole: nothing else keeps it.
fn scratch_off(repl: &mut ReplContext, key: &str) -> Result<Next, CommandError> {
    if key.is_empty() {
        return Err(usage("scratch", "rm needs a key; `/scratch` lists them"));
    }
    let removed = repl.agent.unscribble(key);
    let (text, warning) = removed.ok_or_else(|| no_key(key))?;
    let back = if Scratchpad::is_reserved(key) {
        "only cogtrix can write it again".to_owned()
    } else {
        format!("restore it with `/scratch {key} TEXT`")
    };
    Ok(Next::with(
        format!("Removed {key}; {back}. It was:\n{text}"),
        warning,
    ))
}
