//! What is allowed and yet told.

use super::*;

#[test]
fn what_is_probably_not_meant_is_said() {
    let machine = Machine::with(
        "home/.cogtrix.yaml",
        "providers:\n  a: {type: openai}\n  b: {type: anthropic, api_key_env: B_KEY}\n  c: {type: openai, api_key: k}\n\
         models:\n  auto: {provider: a, model: m}\n  ollama/x: {provider: a, model: m}\n",
    )
    .variable("COGTRIX_MEMORY_MOD", "code")
    .variable("COGTRIX_QQQQ", "1")
    .variable("COGTRIX_TOOLS_MAX_STEP", "3")
    .variable("COGTRIX_UI_KEYS", "vi")
    .variable("OTHER", "1");
    let file = machine.at("home/.cogtrix.yaml");
    let warnings: Vec<_> = machine
        .config()
        .warnings
        .iter()
        .map(Warning::to_string)
        .collect();
    let mut expected = vec![
        "unknown variable COGTRIX_MEMORY_MOD; did you mean COGTRIX_MEMORY_MODE?".to_owned(),
        "unknown variable COGTRIX_QQQQ; docs/CONFIG.md lists them".to_owned(),
        "unknown variable COGTRIX_TOOLS_MAX_STEP; set tools.max_steps in the config file"
            .to_owned(),
        "unknown variable COGTRIX_UI_KEYS; set ui.keys in the config file".to_owned(),
        "providers.a has no api_key or api_key_env, and OPENAI_API_KEY is not set".to_owned(),
        "providers.b.api_key_env names B_KEY, which is not set".to_owned(),
        "the model alias \"auto\" cannot be used: auto is reserved for an automatic choice"
            .to_owned(),
        "the model alias \"ollama/x\" cannot be used: it is read as a model of the provider ollama"
            .to_owned(),
    ];
    if cfg!(unix) {
        expected.push(format!(
            "{} contains an api_key and is readable by other users; chmod 600 it, or use api_key_env",
            file.display()
        ));
    }
    assert_eq!(warnings, expected);
}

#[test]
fn a_model_that_cannot_embed_is_said() {
    let models = "models: {cl: {provider: anthropic, model: c}, emb: {provider: local, model: m}}\n\
                  providers: {local: {type: ollama}}\n";
    for (model, warned) in [
        ("cl", true),
        ("offline/x", true),
        ("emb", false),
        ("ollama/bge-m3", false),
        ("''", false),
    ] {
        let text = format!("{models}rag: {{model: {model}}}\n");
        let warnings = Machine::with("home/.cogtrix.yaml", &text).config().warnings;
        let is_one = |warning: &Warning| matches!(warning, Warning::CannotEmbed { .. });
        assert_eq!(warnings.iter().any(is_one), warned, "{warnings:?}");
    }
}

#[test]
fn defaults_give_no_warning() {
    assert_eq!(Machine::new().config().warnings, []);
}

#[test]
fn a_variable_that_a_server_will_not_get_and_a_program_without_servers_are_said() {
    let machine = Machine::with(
        "home/.cogtrix.yaml",
        "mcp_servers:\n  a: {command: x, pass_env: [SET, UNSET]}\n  b: {command: x, pass_env: [UNSET], enabled: false}\n",
    )
    .variable("SET", "1");
    let expected = if cfg!(feature = "mcp") {
        Warning::NothingToPass {
            server: "a".to_owned(),
            variable: "UNSET".to_owned(),
        }
    } else {
        Warning::NoMcp
    };
    assert_eq!(machine.config().warnings, [expected]);
}

#[test]
fn a_backend_of_other_programs_is_told_of_and_files_are_used() {
    let machine = Machine::with("home/.cogtrix.yaml", "memory: {backend: sqlite}\n");
    let config = machine.config();
    let warnings: Vec<_> = config.warnings.iter().map(Warning::to_string).collect();
    assert_eq!(
        warnings,
        ["memory.backend sqlite is not supported; using files"]
    );
}
