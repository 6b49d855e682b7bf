//! Rules about values that no type holds: one line a rule. Unit: one layer, already typed.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::decode::Fault;
use super::error::Problem;
use super::settings::Document;
use super::tree::KeyPath;
use crate::agent::ThinkSettings;
use crate::chat::SessionName;
use crate::context;
use crate::memory::capture::Category;
use crate::provider::{ModelSettings, ProviderSettings};
use crate::tools::mcp::ServerSettings;

/// Providers that need no entry.
pub(super) const BUILT_IN: [&str; 4] = ["ollama", "openai", "anthropic", "offline"];

/// More of anything that is counted is a slip, and sums of it must not overflow.
const MAX: usize = 1_000_000;
const MAX_DIMENSIONS: usize = 4_096;
const MAX_TOKENS: u32 = 1_000_000_000;
const MIN_TIME: Duration = Duration::from_millis(1);
const MAX_TIME: Duration = Duration::from_hours(24);

/// Checks fields of a block, one a line; the path of a field is its key below `$at`.
macro_rules! check_fields {
    ($at:expr, $block:expr, $($($field:ident).+ => $check:expr;)*) => {
        [$(fault(&$at, stringify!($($field).+), ($check)(&$block.$($field).+)),)*].into_iter().flatten()
    };
}

/// Every broken rule. `modes` are the names of the memory modes there are.
pub(super) fn check(document: &Document, modes: &[String]) -> Vec<Fault> {
    let mut faults = fixed_keys(document, modes);
    for (name, provider) in &document.providers {
        faults.extend(check_provider(name, provider));
    }
    for (alias, model) in &document.models.aliases {
        faults.extend(check_model(alias, model, &document.providers));
    }
    for (name, server) in &document.mcp_servers {
        faults.extend(check_server(name, server));
    }
    faults
}

fn fixed_keys(document: &Document, modes: &[String]) -> Vec<Fault> {
    let beam = *ThinkSettings::BEAM.start()
        ..=document
            .deep_think
            .num_branches
            .min(*ThinkSettings::BEAM.end());
    let faults = check_fields! { KeyPath::default(), document,
        session => text(session_name);
        memory.mode => text(|mode| one_of(mode, modes));
        embedding.dim => count(1..=MAX_DIMENSIONS);
        embedding.source => text(web_address);
        rag.model => text(|name| embedding_model(name, document));
        index.reranker => text(|name| embedding_model(name, document));
        rag.chunk_size => count(200..=100_000);
        rag.chunk_overlap => count(0..=document.rag.chunk_size / 2);
        network.tries => count(1..=100);
        network.connect => time(MIN_TIME);
        network.idle => time(MIN_TIME);
        network.timeout => time(Duration::ZERO);
        tools.max_steps => count(1..=1_000);
        lock_wait => time(Duration::ZERO);
        shutdown_grace => time(Duration::ZERO);

        context.warning_threshold => number(0.0..=1.0);
        context.tool_output_trim_chars => count(0..=MAX);
        context.tool_result_max_chars => count(200..=MAX);
        context.auto_compact_threshold => |value: &f64| auto_compact(*value, &document.context);
        context.summarization_ratio => |value: &f64| part(*value);
        context.compaction_target => |value: &f64| part(*value);
        context.proactive_threshold => |value: &f64| share(*value);
        context.buffer_threshold => number(0.0..=1.0);
        context.safety_margin => number(1.0..=2.0);
        context.max_history_messages => count(0..=MAX);
        context.threshold_messages => count(0..=MAX);
        context.threshold_chars => count(0..=MAX);
        context.retain_recent_messages => count(0..=MAX);

        deep_think.max_iterations => count(ThinkSettings::ITERATIONS);
        deep_think.num_branches => count(ThinkSettings::BRANCHES);
        deep_think.beam_width => count(beam);
        deep_think.temperature => number(0.0..=2.0);

        memory.recall.min_similarity => number(0.0..=1.0);
        memory.recall.share => number(0.0..=1.0);
        memory.recall.min_words => count(0..=MAX);

        memory.modes.conversation.working_memory_size => count(1..=MAX);
        memory.modes.code.working_memory_size => count(1..=MAX);
        memory.modes.reasoning.working_memory_size => count(1..=MAX);
        memory.modes.conversation.vector_recall_k => count(0..=MAX);
        memory.modes.code.vector_recall_k => count(0..=MAX);
        memory.modes.code.max_files => count(0..=MAX);
        memory.modes.code.max_errors => count(0..=MAX);
        memory.modes.reasoning.vector_recall_k => count(0..=MAX);
        memory.modes.reasoning.max_decisions => count(0..=MAX);
        memory.modes.reasoning.max_alternatives => count(0..=MAX);

        memory.wal.max_bytes => count(1_000..=MAX);
        memory.wal.durable => |names: &Vec<String>| categories(names);
        memory.facts.min_chat_turns => count(1..=MAX);
        memory.facts.max_facts => count(1..=MAX);
        memory.facts.scan_messages => count(1..=MAX);
        memory.facts.daily_max_chars => count(0..=MAX);
        memory.facts.daily_compact_chars => count(0..=MAX);
        memory.facts.memory_md_max_chars => count(0..=MAX);
        memory.daily_notes.user_chars => count(0..=MAX);
        memory.daily_notes.agent_chars => count(0..=MAX);
        memory.daily_notes.search_files => count(0..=MAX);
        memory.workspace.file_chars => count(0..=MAX);
        memory.workspace.total_chars => count(0..=MAX);
        memory.workspace.project_files => |names: &Vec<String>| file_names(names);
        memory.store.max_entries => count(1..=MAX);
        memory.store.debounce_ms => count(0..=60_000);
        memory.scratchpad.max_keys => count(1..=MAX);
        memory.scratchpad.max_value_chars => count(1..=MAX);
        memory.auto_recall.user_messages => count(1..=MAX);
        memory.auto_recall.per_message_chars => count(1..=MAX);
        memory.auto_recall.query_chars => count(1..=MAX);
        memory.auto_recall.limit => count(0..=MAX);
        memory.auto_recall.total_chars => count(0..=MAX);
        memory.mem0.base_url => text(web_address);
        memory.mem0.api_key_env => variable("must be the name of an environment variable");
    };
    faults.collect()
}

fn auto_compact(value: f64, context: &context::Settings) -> Option<Problem> {
    let is_above = value > context.warning_threshold;
    share(value).or_else(|| is_above.then(|| refused("must not be above warning_threshold")))
}

fn categories(names: &[String]) -> Option<Problem> {
    let known: Vec<String> = Category::ALL.iter().map(ToString::to_string).collect();
    names.iter().find_map(|name| one_of(name, &known))
}

fn file_names(names: &[String]) -> Option<Problem> {
    let is_bad = |name: &String| {
        name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with("..")
    };
    let bad = names.iter().any(is_bad);
    bad.then(|| refused("must be names of files in the project folder"))
}

/// An alias, or a model of a provider there is (C22).
fn embedding_model(name: &str, document: &Document) -> Option<Problem> {
    let Document {
        models, providers, ..
    } = document;
    if name.is_empty() || models.aliases.contains_key(name) {
        return None;
    }
    if let Some((provider, model)) = name.split_once('/') {
        let is_there = providers.contains_key(provider) || BUILT_IN.contains(&provider);
        if is_there && !model.is_empty() {
            return None;
        }
    }
    let known: Vec<String> = models.aliases.keys().cloned().collect();
    if known.is_empty() {
        let why = format!("{name:?} is not PROVIDER/MODEL, such as ollama/nomic-embed-text");
        return Some(Problem::Refused(why));
    }
    one_of(name, &known)
}

fn check_provider(name: &str, provider: &ProviderSettings) -> impl Iterator<Item = Fault> {
    let at = KeyPath::new("providers").child(name);
    let is_bad_name = name.trim().is_empty() || name.contains('/');
    let bad_name = is_bad_name
        .then(|| refused("is not a valid provider name: it must not be empty or contain a /"));
    let fields = check_fields! { at, provider,
        base_url => text(web_address);
        api_key_env => variable("must be the name of an environment variable; put the key itself in api_key");
        api_key => |key: &Option<SecretString>| bad_key(key.as_ref()?);
    };
    fault(&at, "", bad_name).into_iter().chain(fields)
}

/// A header cannot carry one with a line end, which `|` in YAML leaves behind.
fn bad_key(key: &SecretString) -> Option<Problem> {
    let mut letters = key.expose_secret().chars();
    let is_one = letters.all(|c| c.is_ascii_graphic());
    (!is_one).then(|| refused("must be a single key without spaces or line breaks"))
}

fn check_model(
    alias: &str,
    model: &ModelSettings,
    providers: &BTreeMap<String, ProviderSettings>,
) -> impl Iterator<Item = Fault> {
    let own = providers.keys().map(String::as_str);
    let others = BUILT_IN
        .into_iter()
        .filter(|&name| !providers.contains_key(name));
    let known: Vec<_> = own.chain(others).map(str::to_owned).collect();
    check_fields! { KeyPath::new("models").child(alias), model,
        provider => text(|name| one_of(name, &known));
        context_window => count(0..=MAX_TOKENS);
        max_tokens => count(0..=MAX_TOKENS);
        num_ctx => count(0..=MAX_TOKENS);
    }
}

fn check_server(name: &str, server: &ServerSettings) -> Vec<Fault> {
    let at = KeyPath::new("mcp_servers").child(name);
    let unnamed = || refused("is not a valid server name: it must not be empty");
    let unreachable = || Some(Problem::Refused(server.way().err()?.to_string()));
    let own = name.trim().is_empty().then(unnamed).or_else(unreachable);
    let fields = check_fields! { at, server,
        url => text(web_address);
        timeout => time(MIN_TIME);
        call_timeout => time(MIN_TIME);
        pass_env => |names: &Vec<String>| variables(names);
    };
    let env = server.env.keys().map(|name| (("env", name), name));
    let headers = server.headers_env.iter();
    let headers = headers.map(|(header, name)| (("headers_env", header), name));
    let named = env.chain(headers).filter_map(|((block, key), name)| {
        fault(&at.child(block).child(key), "", variables([name]))
    });
    fields.chain(named).chain(fault(&at, "", own)).collect()
}

/// Returns whether one of them is no name of a variable; its value is not quoted, since it may be a secret put in the
/// wrong place.
fn variables<'a>(names: impl IntoIterator<Item = &'a String>) -> Option<Problem> {
    let mut names = names.into_iter();
    let is_bad = names.any(|name| name.is_empty() || !is_variable_name(name));
    is_bad.then(|| refused("must be names of environment variables"))
}

/// Empty, or the name of a variable.
fn variable(why: &str) -> impl Fn(&String) -> Option<Problem> {
    move |name| (!name.is_empty() && !is_variable_name(name)).then(|| refused(why))
}

/// A problem with a field below `at`, or with `at` itself.
fn fault(at: &KeyPath, field: &str, problem: Option<Problem>) -> Option<Fault> {
    let mut path = at.clone();
    let names = field.split('.').map(str::trim);
    path.0
        .extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    problem.map(|problem| Fault { path, problem })
}

fn session_name(name: &str) -> Option<Problem> {
    let bad = name.parse::<SessionName>().err()?;
    Some(Problem::Refused(bad.explained()))
}

fn one_of(value: &str, known: &[String]) -> Option<Problem> {
    (!known.iter().any(|name| name == value)).then(|| Problem::NotOneOf {
        found: value.chars().take(60).collect(),
        known: known.to_vec(),
        nearest: None,
    })
}

fn text(check: impl Fn(&str) -> Option<Problem>) -> impl Fn(&String) -> Option<Problem> {
    move |text| check(text)
}

fn count<N: PartialOrd + Display>(valid: RangeInclusive<N>) -> impl Fn(&N) -> Option<Problem> {
    move |number| {
        let wanted = || format!("a whole number from {} to {}", valid.start(), valid.end());
        (!valid.contains(number)).then(|| bad_value(&wanted(), number))
    }
}

fn number<N: PartialOrd + Display>(valid: RangeInclusive<N>) -> impl Fn(&N) -> Option<Problem> {
    move |number| {
        let wanted = || format!("a number from {} to {}", valid.start(), valid.end());
        (!valid.contains(number)).then(|| bad_value(&wanted(), number))
    }
}

fn share(value: f64) -> Option<Problem> {
    let is_share = value > 0.0 && value <= 1.0;
    (!is_share).then(|| bad_value("a number above 0 and at most 1", value))
}

fn part(value: f64) -> Option<Problem> {
    let is_part = value > 0.0 && value < 1.0;
    (!is_part).then(|| bad_value("a number between 0 and 1", value))
}

fn time(min: Duration) -> impl Fn(&Duration) -> Option<Problem> {
    move |time| match *time {
        time if time > MAX_TIME => Some(refused("must be a duration of at most 24h")),
        time if time < min => Some(refused("must be a duration of at least 1ms")),
        _ => None,
    }
}

fn bad_value(wanted: &str, found: impl Display) -> Problem {
    Problem::BadValue {
        wanted: wanted.to_owned(),
        found: found.to_string(),
    }
}

fn refused(why: &str) -> Problem {
    Problem::Refused(why.to_owned())
}

/// Empty, or one.
fn web_address(url: &str) -> Option<Problem> {
    (!url.is_empty() && !is_web_address(url))
        .then(|| refused("must be a URL such as http://localhost:11434 or https://host/v1"))
}

/// `http` or `https`, with a host, in one piece.
fn is_web_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let host = rest
        .split(['/', '?', '#'])
        .next()
        .and_then(|authority| authority.rsplit('@').next())
        .unwrap_or_default();
    ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str())
        && !host.is_empty()
        && !host.starts_with(':')
        && !url.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_base_urls() {
        for good in [
            "http://localhost:11434",
            "https://api.example.com/v1",
            "HTTP://[::1]:80",
            "https://user:secret@host/x?y=1",
        ] {
            assert!(is_web_address(good), "{good} was refused");
        }
        for bad in [
            "localhost:11434",
            "ftp://host",
            "file:///etc/passwd",
            "http://",
            "https:///v1",
            "http://:80",
            "http://a b",
            "http://user@",
        ] {
            assert!(!is_web_address(bad), "{bad} was accepted");
        }
    }

    #[test]
    fn a_pasted_key_is_no_variable_name() {
        assert!(is_variable_name("OPENAI_API_KEY"));
        for bad in ["sk-proj-abc", "$OPENAI_API_KEY", "1KEY", "A B"] {
            assert!(!is_variable_name(bad), "{bad} was accepted");
        }
    }
}
