//! The small files beside a history: `{session}_hybrid.json` (C26), `{session}_mode_state.json`
//! (C73), `{session}_scratchpad.json` (X23), `{session}_pins.json` (G12) and `{session}_forgotten.json`. Each is
//! replaced whole, is the truth for what it holds, and keeps the fields it does not know.

use serde_json::{Value, json};

use super::{VERSION, unknown_version};
use crate::chat::{
    Compaction, Form, Hybrid, Mask, MessageId, ModeStates, Pin, Pins, Redactions, Scratchpad,
    Summary, Timestamp, Unknown,
};

/// Why a side file cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) enum Unusable {
    Newer(String),
    Damaged,
}

fn object(bytes: &[u8]) -> Result<Unknown, Unusable> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut fields: Unknown = serde_json::from_slice(bytes).map_err(|_| Unusable::Damaged)?;
    match fields.remove("version").as_ref().and_then(unknown_version) {
        Some(unknown) => Err(Unusable::Newer(unknown)),
        None => Ok(fields),
    }
}

fn bytes(mut fields: Unknown, own: Value) -> Vec<u8> {
    fields.insert("version".to_owned(), VERSION.into());
    if let Value::Object(own) = own {
        fields.extend(own);
    }
    let mut bytes = Value::Object(fields).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

pub(in crate::store) fn read_hybrid(file: &[u8]) -> Result<Hybrid, Unusable> {
    let mut unknown = object(file)?;
    let compaction = match unknown.remove("compaction") {
        None | Some(Value::Null) => None,
        Some(stored) => Some(compaction(&stored, MAX_PREVIOUS).ok_or(Unusable::Damaged)?),
    };
    let replaced = match unknown.remove("summary_replaced") {
        Some(Value::Array(stored)) => stored.iter().filter_map(summary).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut count = |name| usize::try_from(unknown.remove(name)?.as_u64()?).ok();
    let failures = count("summary_failures");
    let undone = count("compaction_undone");
    Ok(Hybrid {
        learned: count("learned_upto").unwrap_or(0),
        undone,
        summary: current_summary(&mut unknown)?,
        replaced,
        failures: failures.and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
        compaction,
        unknown,
    })
}

pub(in crate::store) fn write_hybrid(hybrid: &Hybrid) -> Vec<u8> {
    let compaction = hybrid
        .compaction
        .as_ref()
        .map(|compaction| stored_compaction(compaction, MAX_PREVIOUS));
    let replaced: Vec<Value> = hybrid
        .replaced
        .iter()
        .map(|it| stored_summary(it).into())
        .collect();
    let mut own = json!({ "compaction": compaction });
    if let Some(summary) = &hybrid.summary
        && let Value::Object(own) = &mut own
    {
        own.extend(stored_summary(summary));
    }
    if !replaced.is_empty() {
        own["summary_replaced"] = replaced.into();
    }
    if hybrid.failures > 0 {
        own["summary_failures"] = hybrid.failures.into();
    }
    if let Some(undone) = hybrid.undone {
        own["compaction_undone"] = undone.into();
    }
    if hybrid.learned > 0 {
        own["learned_upto"] = hybrid.learned.into();
    }
    bytes(hybrid.unknown.clone(), own)
}

/// Fields of a summary, as they stand at the top of the file (C26) and in the list of replaced ones.
const SUMMARY: [&str; 6] = [
    "summary",
    "summary_idx",
    "summary_from",
    "summary_covers",
    "summary_updated_at",
    "summary_by",
];

/// Takes the fields of the summary out of the file's.
fn current_summary(fields: &mut Unknown) -> Result<Option<Summary>, Unusable> {
    let own = SUMMARY.iter().filter_map(|name| fields.remove_entry(*name));
    let own: Unknown = own.collect();
    match own.get("summary") {
        None | Some(Value::Null) => Ok(None),
        Some(_) => summary(&own.into()).map(Some).ok_or(Unusable::Damaged),
    }
}

/// Files of the first cogtrix hold text and index alone.
fn summary(stored: &Value) -> Option<Summary> {
    let text = |name: &str| stored.get(name).and_then(Value::as_str);
    let index = |name: &str| usize::try_from(stored.get(name)?.as_u64()?).ok();
    let id = |place: usize| {
        let id = stored
            .get("summary_covers")
            .and_then(|ids| ids.get(place)?.as_str());
        MessageId::new(id.unwrap_or_default())
    };
    Some(Summary {
        text: text("summary")?.to_owned(),
        from: index("summary_from").unwrap_or(0),
        upto: index("summary_idx")?,
        covers: (id(0), id(1)),
        at: text("summary_updated_at")
            .and_then(Timestamp::parse)
            .or(Timestamp::from_unix(0))?,
        by: text("summary_by").unwrap_or_default().to_owned(),
    })
}

fn stored_summary(summary: &Summary) -> Unknown {
    let (first, last) = &summary.covers;
    let values: [Value; 6] = [
        summary.text.clone().into(),
        summary.upto.into(),
        summary.from.into(),
        json!([first.as_str(), last.as_str()]),
        summary.at.iso().into(),
        summary.by.clone().into(),
    ];
    SUMMARY
        .iter()
        .map(|name| (*name).to_owned())
        .zip(values)
        .collect()
}

/// JSON must not nest too deeply.
const MAX_PREVIOUS: usize = Compaction::MAX_PREVIOUS;

/// Files of earlier versions have neither head nor what follows it: their texts stand for everything before `upto`.
fn compaction(stored: &Value, depth: usize) -> Option<Compaction> {
    let previous = match stored.get("previous") {
        Some(previous @ Value::Object(_)) if depth > 0 => {
            Some(Box::new(compaction(previous, depth - 1)?))
        }
        Some(_) | None => None,
    };
    let index = |name: &str| usize::try_from(stored.get(name)?.as_u64()?).ok();
    let upto = index("upto")?;
    Some(Compaction {
        strategy: stored.get("strategy")?.as_str()?.to_owned(),
        form: match stored.get("form").and_then(Value::as_str) {
            Some(NOTICE) => Form::Notice,
            Some(_) | None => Form::Summary,
        },
        head: index("head").unwrap_or(0).min(upto),
        upto,
        covers: stored.get("covers").and_then(|ids| {
            let id = |place: usize| Some(MessageId::new(ids.get(place)?.as_str()?));
            Some((id(0)?, id(1)?))
        }),
        gone: index("gone"),
        untold: index("untold").unwrap_or(0),
        made: index("made").unwrap_or(upto),
        condensed: index("condensed").unwrap_or(0),
        text: stored.get("text")?.as_str()?.to_owned(),
        at: Timestamp::parse(stored.get("at")?.as_str()?)?,
        previous,
    })
}

const NOTICE: &str = "notice";

fn stored_compaction(compaction: &Compaction, depth: usize) -> Value {
    let mut stored = json!({
        "strategy": compaction.strategy,
        "upto": compaction.upto,
        "made": compaction.made,
        "text": compaction.text,
        "at": compaction.at.iso(),
    });
    if compaction.form == Form::Notice {
        stored["form"] = NOTICE.into();
    }
    if compaction.head > 0 {
        stored["head"] = compaction.head.into();
    }
    if let Some((first, last)) = &compaction.covers {
        stored["covers"] = json!([first.as_str(), last.as_str()]);
    }
    if let Some(gone) = compaction.gone {
        stored["gone"] = gone.into();
    }
    if compaction.untold > 0 {
        stored["untold"] = compaction.untold.into();
    }
    if compaction.condensed > 0 {
        stored["condensed"] = compaction.condensed.into();
    }
    if let Some(previous) = &compaction.previous
        && depth > 0
    {
        stored["previous"] = stored_compaction(previous, depth - 1);
    }
    stored
}

/// Brings every index into history to what `fits` says of it, but for those of texts that say by its ids what they
/// stand for; tells whether one had to be changed (C29).
pub(in crate::store) fn clamp(hybrid: &mut Hybrid, fits: impl Fn(usize) -> usize) -> bool {
    let mut clamped = false;
    if let Some(index) = hybrid.unknown.get_mut("embedded_idx")
        && let Some(value) = index.as_u64()
    {
        let fit = fits(usize::try_from(value).unwrap_or(usize::MAX)) as u64;
        clamped |= fit != value;
        *index = fit.into();
    }
    hybrid.undone = hybrid.undone.map(&fits);
    let mut next = hybrid.compaction.as_mut();
    while let Some(compaction) = next {
        if compaction.covers.is_none() {
            let fit = fits(compaction.upto);
            clamped |= fit != compaction.upto;
            compaction.upto = fit;
            compaction.head = compaction.head.min(fit);
        }
        compaction.condensed = fits(compaction.condensed);
        next = compaction.previous.as_deref_mut();
    }
    clamped
}

/// The states of the modes, and the other fields of the file. Notes can be read again from the history: a
/// file whose version is no count, or that holds no modes, is another program's and stops nobody.
pub(in crate::store) fn read_mode_states(file: &[u8]) -> Result<(ModeStates, Unknown), Unusable> {
    let is_count = |version: &str| version.parse().is_ok_and(|count: f64| count > 0.0);
    let mut fields = match object(file) {
        Err(Unusable::Newer(version)) if !is_count(&version) => return Err(Unusable::Damaged),
        read => read?,
    };
    match fields.remove("modes") {
        Some(Value::Object(modes)) => Ok((ModeStates(modes), fields)),
        Some(_) | None => Err(Unusable::Damaged),
    }
}

pub(in crate::store) fn write_mode_states(states: &ModeStates, others: &Unknown) -> Vec<u8> {
    bytes(others.clone(), json!({ "modes": states.0 }))
}

/// Each field is an entry; what is no text stays as its JSON, so that nothing is lost.
pub(in crate::store) fn read_scratchpad(file: &[u8]) -> Result<Scratchpad, Unusable> {
    let entries = object(file)?.into_iter().map(|(key, value)| match value {
        Value::String(text) => (key, text),
        other => (key, other.to_string()),
    });
    Ok(Scratchpad::restore(entries))
}

pub(in crate::store) fn write_scratchpad(scratchpad: &Scratchpad) -> Vec<u8> {
    let entries = scratchpad.entries();
    let fields = entries.map(|(key, text)| (key.to_owned(), text.into()));
    bytes(Unknown::new(), Value::Object(fields.collect()))
}

/// The pins in their order; one without a text is damage. A bare list of them will do.
pub(in crate::store) fn read_pins(file: &[u8]) -> Result<Pins, Unusable> {
    if let Ok(stored) = serde_json::from_slice::<Vec<Value>>(file) {
        let list: Option<Vec<Pin>> = stored.into_iter().map(pin).collect();
        return Ok(Pins::restore(
            list.ok_or(Unusable::Damaged)?,
            1,
            Unknown::new(),
        ));
    }
    let mut fields = object(file)?;
    let next = fields.remove("next").and_then(|next| next.as_u64());
    let next = next.and_then(|next| u32::try_from(next).ok()).unwrap_or(1);
    let Some(Value::Array(stored)) = fields.remove("pins") else {
        return Err(Unusable::Damaged);
    };
    let list: Option<Vec<Pin>> = stored.into_iter().map(pin).collect();
    Ok(Pins::restore(list.ok_or(Unusable::Damaged)?, next, fields))
}

fn pin(stored: Value) -> Option<Pin> {
    let Value::Object(mut fields) = stored else {
        return None;
    };
    let Some(Value::String(text)) = fields.remove("text") else {
        return None;
    };
    let id = fields.remove("id").and_then(|id| id.as_u64());
    let at = fields.remove("ts");
    Some(Pin {
        id: id.and_then(|id| u32::try_from(id).ok()).unwrap_or(0),
        text,
        at: at.and_then(|at| Timestamp::parse(at.as_str()?)),
        unknown: fields,
    })
}

pub(in crate::store) fn write_pins(pins: &Pins) -> Vec<u8> {
    let stored = pins.iter().map(|pin| {
        let mut fields = pin.unknown.clone();
        fields.insert("id".to_owned(), pin.id.into());
        fields.insert("text".to_owned(), pin.text.clone().into());
        if let Some(at) = pin.at {
            fields.insert("ts".to_owned(), at.iso().into());
        }
        Value::Object(fields)
    });
    let stored: Vec<Value> = stored.collect();
    let own = json!({ "pins": stored, "next": pins.next() });
    bytes(pins.unknown.clone(), own)
}

/// `{"messages":{"m17":[[part,start,end,"digest"],…]}}`; a place that cannot be read is damage: it would be sent again.
pub(in crate::store) fn read_forgotten(file: &[u8]) -> Result<Redactions, Unusable> {
    if file.is_empty() {
        return Ok(Redactions::default());
    }
    let mut fields = object(file)?;
    let Some(Value::Object(messages)) = fields.remove("messages") else {
        return Err(Unusable::Damaged);
    };
    let mut forgotten = Redactions::default();
    for (id, masks) in messages {
        let masks: Vec<(usize, usize, usize, String)> =
            serde_json::from_value(masks).map_err(|_| Unusable::Damaged)?;
        for (part, start, end, digest) in masks {
            let mask = Mask {
                part,
                start,
                end,
                digest,
            };
            forgotten.add(&MessageId::new(id.as_str()), mask);
        }
    }
    forgotten.is_pending = fields.get("pending").and_then(Value::as_bool) == Some(true);
    Ok(forgotten)
}

pub(in crate::store) fn write_forgotten(forgotten: &Redactions) -> Vec<u8> {
    let messages = forgotten.iter().map(|(id, masks)| {
        let masks = masks
            .iter()
            .map(|it| json!([it.part, it.start, it.end, it.digest]));
        (id.as_str().to_owned(), masks.collect())
    });
    let messages: Unknown = messages.collect();
    let mut own = json!({ "messages": messages });
    if forgotten.is_pending {
        own["pending"] = true.into();
    }
    bytes(Unknown::new(), own)
}

#[cfg(test)]
mod tests;
