//! Presets fill what nobody sets, and nothing else.

use super::*;
use crate::context::{Guard, Strategy};

#[test]
fn a_preset_fills_only_what_no_layer_sets() {
    let machine = Machine::new();
    machine.write(
        "project/cogtrix.yaml",
        "context:\n  preset: co-cli\n  tool_result_policy: smart\nmemory:\n  modes:\n    code: {vector_recall_k: 2}\n",
    );
    let config = machine.config();
    let context = &config.settings.context;
    assert_eq!(context.strategy, Strategy::Window);
    assert!(context.guards.is_empty());
    assert_eq!(
        context.tool_result_policy,
        crate::context::ResultPolicy::Smart
    );
    let modes = &config.settings.memory.modes;
    assert_eq!(modes.conversation.vector_recall_k, 0);
    assert_eq!(modes.code.vector_recall_k, 2);
    assert_eq!(
        config.source("context.strategy"),
        Source::Preset("co-cli".into())
    );
}

#[test]
fn every_shipped_preset_is_valid_and_says_what_it_sets() {
    let choices = Machine::new().config().presets();
    let names: Vec<&str> = choices.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["default", "cogtrix", "co-cli", "agenticx", "gokin", "qanot"]
    );
    let found: Vec<(Strategy, Vec<Guard>)> = choices
        .iter()
        .map(|it| (it.context.strategy, it.context.guards.clone()))
        .collect();
    let expected = [
        (Strategy::Rolling, vec![Guard::Threshold]),
        (Strategy::Rolling, vec![]),
        (Strategy::Window, vec![]),
        (Strategy::Prefix, vec![]),
        (Strategy::Full, vec![Guard::Threshold]),
        (Strategy::Full, vec![Guard::Proactive]),
    ];
    assert_eq!(found, expected);
    assert!(choices[0].sets.is_empty());
    assert!(choices[2].sets.contains(&"context.strategy: window".into()));
}

#[test]
fn a_flag_wins_over_the_variable_and_the_variable_over_the_file() {
    let machine = Machine::new();
    machine.write("project/cogtrix.yaml", "context: {preset: gokin}\n");
    assert_eq!(machine.config().settings.context.preset, "gokin");
    let machine = machine.variable("COGTRIX_CONTEXT_PRESET", "qanot");
    assert_eq!(machine.config().settings.context.guards, [Guard::Proactive]);
    let machine = machine.flags(Flags {
        context_preset: Some("agenticx".into()),
        ..Flags::default()
    });
    assert_eq!(machine.config().settings.context.strategy, Strategy::Prefix);
}

#[test]
fn an_unknown_preset_is_an_error_that_names_all() {
    let machine = Machine::new().variable("COGTRIX_CONTEXT_PRESET", "gemini");
    let error = machine.error();
    assert!(
        error.contains("COGTRIX_CONTEXT_PRESET") && error.contains("agenticx"),
        "{error}"
    );
}

#[test]
fn the_variables_of_old_names_count_where_the_new_ones_are_not_set() {
    let machine = Machine::new()
        .variable("CO_CLI_MAX_HISTORY_MESSAGES", "12")
        .variable("CO_CLI_TOOL_OUTPUT_TRIM_CHARS", "99")
        .variable("COGTRIX_TOOL_OUTPUT_TRIM_CHARS", "7")
        .variable("CO_CLI_SUMMARIZATION_MODEL", "sum")
        .variable("COGTRIX_VECTOR_RECALL_K", "5");
    let config = machine.config();
    assert_eq!(config.settings.context.max_history_messages, 12);
    assert_eq!(config.settings.context.tool_output_trim_chars, 7);
    assert_eq!(config.settings.memory.summarization_model, "sum");
    assert_eq!(config.settings.memory.modes.reasoning.vector_recall_k, 5);
    assert_eq!(
        config.source("context.max_history_messages"),
        Source::Environment("CO_CLI_MAX_HISTORY_MESSAGES")
    );
    let machine = machine.variable("COGTRIX_MAX_HISTORY_MESSAGES", "many");
    let error = machine.error();
    assert!(error.contains("COGTRIX_MAX_HISTORY_MESSAGES"), "{error}");
}

#[test]
fn values_below_the_floors_are_raised_with_one_warning() {
    let machine = Machine::new();
    machine.write(
        "project/cogtrix.yaml",
        "context: {threshold_messages: 1, threshold_chars: 1, retain_recent_messages: 1}\n",
    );
    let config = machine.config();
    let context = &config.settings.context;
    let floors = (
        context.prefix_messages(),
        context.prefix_chars(),
        context.prefix_retained(),
    );
    assert_eq!(floors, (8, 4_000, 4));
    assert_eq!(config.warnings.len(), 1);
    let shown = config.warnings[0].to_string();
    assert!(shown.contains("threshold_chars 1 (using 4000)"), "{shown}");
}

#[test]
fn thresholds_that_contradict_each_other_are_mistakes() {
    for (text, key) in [
        (
            "auto_compact_threshold: 0.9, warning_threshold: 0.8",
            "auto_compact_threshold",
        ),
        ("auto_compact_threshold: 0", "auto_compact_threshold"),
        ("summarization_ratio: 1", "summarization_ratio"),
        ("proactive_threshold: 0", "proactive_threshold"),
        ("compaction_target: 1.5", "compaction_target"),
        ("safety_margin: 0.5", "safety_margin"),
        ("buffer_threshold: 2", "buffer_threshold"),
    ] {
        let machine = Machine::new();
        machine.write("project/cogtrix.yaml", format!("context: {{{text}}}\n"));
        let error = machine.error();
        assert!(error.contains(key), "{text}: {error}");
    }
    let machine = Machine::new();
    machine.write(
        "project/cogtrix.yaml",
        "context: {warning_threshold: 0.6}\n",
    );
    let context = machine.config().settings.context;
    assert!((context.compact_from() - 0.6).abs() < 1e-9);
}

/// A file without `default` stopped every start.
#[test]
fn presets_of_ones_own_stand_beside_the_shipped_ones_and_their_mistakes_name_the_file() {
    let machine = Machine::new();
    machine.write(
        "home/.config/cogtrix/presets.yaml",
        "mine: {context: {strategy: full}}\ngokin: {}\n",
    );
    let choices = machine.config().presets();
    let names: Vec<&str> = choices.iter().map(|it| it.name.as_str()).collect();
    let shipped = ["default", "cogtrix", "co-cli", "agenticx", "gokin", "qanot"];
    assert_eq!(names, [&shipped[..], &["mine"]].concat());
    assert!(choices[4].sets.is_empty());
    machine.write("project/cogtrix.yaml", "context: {preset: mine}\n");
    assert_eq!(machine.config().settings.context.strategy, Strategy::Full);
    machine.write(
        "home/.config/cogtrix/presets.yaml",
        "mine: {context: {strategy: fulll}}\n",
    );
    let error = machine.error();
    assert!(
        error.contains("presets.yaml") && error.contains("fulll"),
        "{error}"
    );
    machine.write("project/cogtrix.yaml", "");
    for empty in ["", "# nothing\n", "mine:\n"] {
        machine.write("home/.config/cogtrix/presets.yaml", empty);
        assert_eq!(machine.config().settings.context.preset, "default");
    }
}
