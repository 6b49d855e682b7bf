//! Rules about values that no type holds: one line a rule. Unit: one layer, already typed.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use secrecy::ExposeSecret;

use super::decode::Fault;
use super::error::Problem;
use super::settings::Document;
use super::tree::KeyPath;
use crate::agent::ThinkSettings;
use crate::chat::SessionName;
use crate::context;
use crate::memory::capture::Category;
use crate::memory::{self, ModesSettings, RecallSettings};
use crate::provider::{ModelSettings, ProviderSettings};
use crate::tools::mcp::ServerSettings;

/// Providers that need no entry.
pub(super) const BUILT_IN: [&str; 4] = ["ollama", "openai", "anthropic", "offline"];

/// More of anything that is counted is a slip, and sums of it must not overflow.
const MAX: usize = 1_000_000;
const MAX_DIMENSIONS: usize = 4_096;
const MAX_TOKENS: u32 = 1_000_000_000;
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_hours(24);

/// What a value must keep to.
struct Rule {
    key: KeyPath,
    broken: Option<Problem>,
}

/// Every broken rule. `modes` are the names of the memory modes there are.
pub(super) fn check(document: &Document, modes: &[String]) -> Vec<Fault> {
    let mut rules = fixed_rules(document, modes);
    for (name, provider) in &document.providers {
        rules.extend(provider_rules(name, provider));
    }
    for (alias, model) in &document.models.aliases {
        rules.extend(model_rules(alias, model, &document.providers));
    }
    for (name, server) in &document.mcp_servers {
        rules.extend(server_rules(name, server));
    }
    rules
        .into_iter()
        .filter_map(|rule| {
            rule.broken.map(|problem| Fault {
                path: rule.key,
                problem,
            })
        })
        .collect()
}

fn fixed_rules(document: &Document, modes: &[String]) -> Vec<Rule> {
    let Document {
        network, context, ..
    } = document;
    let threshold = context.warning_threshold;
    let mut rules = vec![
        rule("session", session_name(&document.session)),
        rule("memory.mode", one_of(&document.memory.mode, modes)),
        rule(
            "context.warning_threshold",
            (!(0.0..=1.0).contains(&threshold))
                .then(|| bad_value("a number from 0 to 1", threshold)),
        ),
        rule(
            "embedding.dim",
            count(document.embedding.dim, 1..=MAX_DIMENSIONS),
        ),
        rule("embedding.source", web_address(&document.embedding.source)),
        rule("rag.model", embedding_model(document)),
        rule(
            "rag.chunk_size",
            count(document.rag.chunk_size, 200..=100_000),
        ),
        rule(
            "rag.chunk_overlap",
            count(document.rag.chunk_overlap, 0..=document.rag.chunk_size / 2),
        ),
        rule("network.tries", count(network.tries, 1..=100)),
        rule("network.connect", time(network.connect, SHORTEST)),
        rule("network.idle", time(network.idle, SHORTEST)),
        rule("network.timeout", time(network.timeout, Duration::ZERO)),
        rule(
            "context.tool_output_trim_chars",
            count(context.tool_output_trim_chars, 0..=MAX),
        ),
        rule(
            "context.tool_result_max_chars",
            count(context.tool_result_max_chars, 200..=MAX),
        ),
        rule(
            "tools.max_steps",
            count(document.tools.max_steps, 1..=1_000),
        ),
        rule("lock_wait", time(document.lock_wait, Duration::ZERO)),
        rule(
            "shutdown_grace",
            time(document.shutdown_grace, Duration::ZERO),
        ),
    ];
    rules.extend(context_rules(context));
    rules.extend(think_rules(document.deep_think));
    rules.extend(recall_rules(&document.memory.recall));
    rules.extend(mode_rules(&document.memory.modes));
    rules.extend(lasting_rules(&document.memory));
    rules
}

/// Of what outlives a session.
fn lasting_rules(memory: &memory::Settings) -> impl Iterator<Item = Rule> {
    let memory::Settings {
        wal,
        facts,
        daily_notes,
        workspace,
        store,
        scratchpad,
        auto_recall,
        mem0,
        ..
    } = memory;
    let counts = [
        ("wal.max_bytes", wal.max_bytes, 1_000),
        ("facts.min_chat_turns", facts.min_chat_turns, 1),
        ("facts.max_facts", facts.max_facts, 1),
        ("facts.scan_messages", facts.scan_messages, 1),
        ("facts.daily_max_chars", facts.daily_max_chars, 0),
        ("facts.daily_compact_chars", facts.daily_compact_chars, 0),
        ("facts.memory_md_max_chars", facts.memory_md_max_chars, 0),
        ("daily_notes.user_chars", daily_notes.user_chars, 0),
        ("daily_notes.agent_chars", daily_notes.agent_chars, 0),
        ("daily_notes.search_files", daily_notes.search_files, 0),
        ("workspace.file_chars", workspace.file_chars, 0),
        ("workspace.total_chars", workspace.total_chars, 0),
        ("store.max_entries", store.max_entries, 1),
        ("scratchpad.max_keys", scratchpad.max_keys, 1),
        ("scratchpad.max_value_chars", scratchpad.max_value_chars, 1),
        ("auto_recall.user_messages", auto_recall.user_messages, 1),
        (
            "auto_recall.per_message_chars",
            auto_recall.per_message_chars,
            1,
        ),
        ("auto_recall.query_chars", auto_recall.query_chars, 1),
        ("auto_recall.limit", auto_recall.limit, 0),
        ("auto_recall.total_chars", auto_recall.total_chars, 0),
    ];
    let counts = counts
        .into_iter()
        .map(|(key, number, min)| rule(&format!("memory.{key}"), count(number, min..=MAX)));
    let project_file = workspace
        .project_files
        .iter()
        .find(|name| name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with(".."));
    let categories: Vec<String> = Category::ALL.iter().map(ToString::to_string).collect();
    let durable = wal
        .durable
        .iter()
        .find_map(|name| one_of(name, &categories));
    let others = [
        rule("memory.wal.durable", durable),
        rule(
            "memory.workspace.project_files",
            project_file.map(|_| refused("must be names of files in the project folder")),
        ),
        rule(
            "memory.store.debounce_ms",
            count(store.debounce_ms, 0..=60_000),
        ),
        rule("memory.mem0.base_url", web_address(&mem0.base_url)),
        rule(
            "memory.mem0.api_key_env",
            (!mem0.api_key_env.is_empty() && !is_variable_name(&mem0.api_key_env))
                .then(|| refused("must be the name of an environment variable")),
        ),
    ];
    counts.chain(others)
}

fn context_rules(context: &context::Settings) -> Vec<Rule> {
    let share = |key: &str, value: f64, valid: fn(f64) -> bool, wanted: &str| {
        let broken = (!valid(value)).then(|| bad_value(wanted, value));
        rule(&format!("context.{key}"), broken)
    };
    let is_share = |value: f64| value > 0.0 && value <= 1.0;
    let is_part = |value: f64| value > 0.0 && value < 1.0;
    let (auto, warning) = (context.auto_compact_threshold, context.warning_threshold);
    let auto_rule = if is_share(auto) {
        let broken = (auto > warning).then(|| refused("must not be above warning_threshold"));
        rule("context.auto_compact_threshold", broken)
    } else {
        share(
            "auto_compact_threshold",
            auto,
            is_share,
            "a number above 0 and at most 1",
        )
    };
    let counted = |key: &str, number| rule(&format!("context.{key}"), count(number, 0..=MAX));
    vec![
        auto_rule,
        share(
            "summarization_ratio",
            context.summarization_ratio,
            is_part,
            "a number between 0 and 1",
        ),
        share(
            "compaction_target",
            context.compaction_target,
            is_part,
            "a number between 0 and 1",
        ),
        share(
            "proactive_threshold",
            context.proactive_threshold,
            is_share,
            "a number above 0 and at most 1",
        ),
        share(
            "buffer_threshold",
            context.buffer_threshold,
            |value| (0.0..=1.0).contains(&value),
            "a number from 0 to 1",
        ),
        share(
            "safety_margin",
            context.safety_margin,
            |value| (1.0..=2.0).contains(&value),
            "a number from 1 to 2",
        ),
        counted("max_history_messages", context.max_history_messages),
        counted("threshold_messages", context.threshold_messages),
        counted("threshold_chars", context.threshold_chars),
        counted("retain_recent_messages", context.retain_recent_messages),
    ]
}

fn think_rules(think: ThinkSettings) -> [Rule; 4] {
    let beam = *ThinkSettings::BEAM.start()..=think.num_branches.min(*ThinkSettings::BEAM.end());
    let temperature = think.temperature;
    [
        rule(
            "deep_think.max_iterations",
            count(think.max_iterations, ThinkSettings::ITERATIONS),
        ),
        rule(
            "deep_think.num_branches",
            count(think.num_branches, ThinkSettings::BRANCHES),
        ),
        rule("deep_think.beam_width", count(think.beam_width, beam)),
        rule(
            "deep_think.temperature",
            (!(0.0..=2.0).contains(&temperature))
                .then(|| bad_value("a number from 0 to 2", temperature)),
        ),
    ]
}

fn recall_rules(recall: &RecallSettings) -> [Rule; 4] {
    let share = |key, value: f32| {
        let is_wrong = !(0.0..=1.0).contains(&value);
        rule(
            key,
            is_wrong.then(|| bad_value("a number from 0 to 1", value)),
        )
    };
    [
        share("memory.recall.min_similarity", recall.min_similarity),
        share("memory.recall.share", recall.share),
        rule("memory.recall.min_words", count(recall.min_words, 0..=MAX)),
        rule("memory.recall.hnsw_min", count(recall.hnsw_min, 1..=MAX)),
    ]
}

/// An alias, or a model of a provider there is (C22).
fn embedding_model(document: &Document) -> Option<Problem> {
    let Document {
        models, providers, ..
    } = document;
    let name = &document.rag.model;
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
        return Some(refused(
            "is not an alias, as models is empty; write provider/model, such as ollama/nomic-embed-text",
        ));
    }
    one_of(name, &known)
}

fn mode_rules(modes: &ModesSettings) -> impl Iterator<Item = Rule> {
    let ModesSettings {
        conversation,
        code,
        reasoning,
    } = modes;
    let windows = [
        ("conversation", conversation.working_memory_size),
        ("code", code.working_memory_size),
        ("reasoning", reasoning.working_memory_size),
    ];
    let others = [
        ("conversation.vector_recall_k", conversation.vector_recall_k),
        ("code.vector_recall_k", code.vector_recall_k),
        ("code.max_files", code.max_files),
        ("code.max_errors", code.max_errors),
        ("reasoning.vector_recall_k", reasoning.vector_recall_k),
        ("reasoning.max_decisions", reasoning.max_decisions),
        ("reasoning.max_alternatives", reasoning.max_alternatives),
    ];
    let windows = windows.into_iter().map(|(mode, size)| {
        let key = format!("memory.modes.{mode}.working_memory_size");
        rule(&key, count(size, 1..=MAX))
    });
    let others = others
        .into_iter()
        .map(|(key, number)| rule(&format!("memory.modes.{key}"), count(number, 0..=MAX)));
    windows.chain(others)
}

fn provider_rules(name: &str, provider: &ProviderSettings) -> [Rule; 4] {
    let at = KeyPath::new("providers").child(name);
    [
        Rule {
            broken: (name.trim().is_empty() || name.contains('/'))
                .then(|| refused("is not a valid provider name: it must not be empty or contain a /")),
            key: at.clone(),
        },
        Rule {
            broken: web_address(&provider.base_url),
            key: at.child("base_url"),
        },
        Rule {
            broken: (!provider.api_key_env.is_empty() && !is_variable_name(&provider.api_key_env))
                .then(|| refused("must be the name of an environment variable; put the key itself in api_key")),
            key: at.child("api_key_env"),
        },
        Rule {
            // A header cannot carry one with a line end, which `|` in YAML leaves behind.
            broken: provider
                .api_key
                .as_ref()
                .is_some_and(|key| !key.expose_secret().chars().all(|c| c.is_ascii_graphic()))
                .then(|| refused("must be a single key without spaces or line breaks")),
            key: at.child("api_key"),
        },
    ]
}

fn model_rules(
    alias: &str,
    model: &ModelSettings,
    providers: &BTreeMap<String, ProviderSettings>,
) -> [Rule; 4] {
    let own = providers.keys().map(String::as_str);
    let known: Vec<_> = own
        .chain(
            BUILT_IN
                .into_iter()
                .filter(|&name| !providers.contains_key(name)),
        )
        .map(str::to_owned)
        .collect();
    let at = KeyPath::new("models").child(alias);
    let tokens = |key: &str, number| Rule {
        key: at.child(key),
        broken: count(number, 0..=MAX_TOKENS),
    };
    [
        Rule {
            key: at.child("provider"),
            broken: one_of(&model.provider, &known),
        },
        tokens("context_window", model.context_window),
        tokens("max_tokens", model.max_tokens),
        tokens("num_ctx", model.num_ctx),
    ]
}

fn server_rules(name: &str, server: &ServerSettings) -> Vec<Rule> {
    let at = KeyPath::new("mcp_servers").child(name);
    let unnamed = || refused("is not a valid server name: it must not be empty");
    let unreachable = || Some(Problem::Refused(server.way().err()?.to_string()));
    let of = |key: &str, broken| Rule {
        key: at.child(key),
        broken,
    };
    let mut rules = vec![
        of("url", web_address(&server.url)),
        of("timeout", time(server.timeout, SHORTEST)),
        of("call_timeout", time(server.call_timeout, SHORTEST)),
        of(
            "pass_env",
            variables(server.pass_env.iter().map(String::as_str)),
        ),
    ];
    rules.extend(server.env.keys().map(|variable| Rule {
        key: at.child("env").child(variable),
        broken: variables([variable.as_str()]),
    }));
    rules.extend(server.headers_env.iter().map(|(header, variable)| Rule {
        key: at.child("headers_env").child(header),
        broken: variables([variable.as_str()]),
    }));
    rules.push(Rule {
        broken: name.trim().is_empty().then(unnamed).or_else(unreachable),
        key: at,
    });
    rules
}

/// That one of them is no name of a variable; its value is not quoted, since it may be a secret put in the wrong place.
fn variables<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Problem> {
    let mut names = names.into_iter();
    let is_bad = names.any(|name| name.is_empty() || !is_variable_name(name));
    is_bad.then(|| refused("must be names of environment variables"))
}

fn rule(key: &str, broken: Option<Problem>) -> Rule {
    Rule {
        key: KeyPath::new(key),
        broken,
    }
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

fn count<N: Copy + PartialOrd + Display>(number: N, valid: RangeInclusive<N>) -> Option<Problem> {
    let wanted = || format!("a whole number from {} to {}", valid.start(), valid.end());
    (!valid.contains(&number)).then(|| bad_value(&wanted(), number))
}

fn time(time: Duration, shortest: Duration) -> Option<Problem> {
    (time < shortest || time > LONGEST).then(|| {
        Problem::Refused(if time > LONGEST {
            "must be a duration of at most 24h".to_owned()
        } else {
            "must be a duration of at least 1ms".to_owned()
        })
    })
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
