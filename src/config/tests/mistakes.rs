//! What is refused, where, and in which words.

use super::*;

/// Every file is written as `project/cogtrix.yaml`.
fn check(text: &str, expected: &str) {
    assert_eq!(
        Machine::with("project/cogtrix.yaml", text).error(),
        expected,
        "of {text:?}"
    );
}

#[test]
fn each_names_file_line_key_and_what_was_meant() {
    for (text, expected) in [
        (
            "memroy:\n  mode: code\n",
            "project/cogtrix.yaml:1:1: memroy: unknown key; did you mean memory?",
        ),
        (
            "memory:\n  mod: code\n",
            "project/cogtrix.yaml:2:3: memory.mod: unknown key; did you mean memory.mode?",
        ),
        (
            "timestamps: all\n",
            "project/cogtrix.yaml:1:1: timestamps: unknown key; did you mean memory.timestamps?",
        ),
        (
            "model: ollama/x\n",
            "project/cogtrix.yaml:1:1: model: unknown key; did you mean models.default?",
        ),
        (
            "wal: {}\n",
            "project/cogtrix.yaml:1:1: wal: unknown key; did you mean memory.wal?",
        ),
        (
            "base_url: x\n",
            "project/cogtrix.yaml:1:1: base_url: unknown key; did you mean providers.NAME.base_url?",
        ),
        (
            "network:\n  zzz: 1\n",
            "project/cogtrix.yaml:2:3: network.zzz: unknown key; valid keys: connect, idle, tries, timeout",
        ),
        (
            "memory:\n  carry_pending: 3\n",
            "project/cogtrix.yaml:2:18: memory.carry_pending: expected true or false, found a number",
        ),
        (
            "session: 2026\n",
            "project/cogtrix.yaml:1:10: session: expected text (quote it if it looks like a number), found a number",
        ),
        (
            "memory:\n  modes: {code: {max_files: many}}\n",
            "project/cogtrix.yaml:2:29: memory.modes.code.max_files: expected a whole number of 0 or more, found text",
        ),
        (
            "memory:\n  modes: {code: {max_files: -1}}\n",
            "project/cogtrix.yaml:2:29: memory.modes.code.max_files: expected a whole number of 0 or more, found -1",
        ),
        (
            "network: {tries: 99999999999999999999999}\n",
            "project/cogtrix.yaml:1:18: network.tries: expected a whole number from 0 to 4294967295, found a number",
        ),
        (
            "network: {tries: 4294967296}\n",
            "project/cogtrix.yaml:1:18: network.tries: expected a whole number from 0 to 4294967295, found 4294967296",
        ),
        (
            "memory: fast\n",
            "project/cogtrix.yaml:1:9: memory: expected a mapping, found text",
        ),
        (
            "- memory\n",
            "project/cogtrix.yaml:1:1: expected a mapping, found a list",
        ),
        (
            "memory:\n  timestamps: usr\n",
            "project/cogtrix.yaml:2:15: memory.timestamps: \"usr\" is not one of all, user, off; did you mean user?",
        ),
        (
            "memory:\n  timestamps: false\n",
            "project/cogtrix.yaml:2:15: memory.timestamps: expected one of all, user, off, found true or false",
        ),
        (
            "memory: {mode: cde}\n",
            "project/cogtrix.yaml:1:16: memory.mode: \"cde\" is not one of conversation, code, reasoning; did you mean code?",
        ),
        (
            "lock_wait: soon\n",
            "project/cogtrix.yaml:1:12: lock_wait: expected a duration such as 10s or 5min, found \"soon\"",
        ),
        (
            "network: {idle: 10}\n",
            "project/cogtrix.yaml:1:17: network.idle: expected a duration such as 10s or 5min, found a number",
        ),
        (
            "network: {idle: 0s}\n",
            "project/cogtrix.yaml:1:17: network.idle: must be a duration of at least 1ms",
        ),
        (
            "context: {warning_threshold: 80}\n",
            "project/cogtrix.yaml:1:30: context.warning_threshold: expected a number from 0 to 1, found 80",
        ),
        (
            "context: {warning_threshold: .nan}\n",
            "project/cogtrix.yaml:1:30: context.warning_threshold: expected a number from 0 to 1, found NaN",
        ),
        (
            "memory: {modes: {code: {working_memory_size: 0}}}\n",
            "project/cogtrix.yaml:1:46: memory.modes.code.working_memory_size: expected a whole number from 1 to 1000000, found 0",
        ),
        (
            "embedding: {provider: olama}\n",
            "project/cogtrix.yaml:1:23: embedding.provider: \"olama\" is not one of auto, ollama, openai, local, hashed, none; did you mean ollama?",
        ),
        (
            "embedding: {dims: 3}\n",
            "project/cogtrix.yaml:1:13: embedding.dims: unknown key; did you mean embedding.dim?",
        ),
        (
            "embedding: {dim: 0}\n",
            "project/cogtrix.yaml:1:18: embedding.dim: expected a whole number from 1 to 4096, found 0",
        ),
        (
            "embedding: {source: files}\n",
            "project/cogtrix.yaml:1:21: embedding.source: must be a URL such as http://localhost:11434 or https://host/v1",
        ),
        (
            "rag: {model: emb}\nmodels: {embd: {provider: ollama, model: m}}\n",
            "project/cogtrix.yaml:1:14: rag.model: \"emb\" is not one of embd; did you mean embd?",
        ),
        (
            "rag: {model: emb}\n",
            "project/cogtrix.yaml:1:14: rag.model: \"emb\" is not PROVIDER/MODEL, such as ollama/nomic-embed-text",
        ),
        (
            "memory: {recall: {min_similarity: 2}}\n",
            "project/cogtrix.yaml:1:35: memory.recall.min_similarity: expected a number from 0 to 1, found 2",
        ),
        (
            "memory: {recall: {min_similarity: high}}\n",
            "project/cogtrix.yaml:1:35: memory.recall.min_similarity: expected a number, found text",
        ),
        (
            "memory: {store: {max_entries: 0}}\n",
            "project/cogtrix.yaml:1:31: memory.store.max_entries: expected a whole number from 1 to 1000000, found 0",
        ),
        (
            "lock_wait: 2days\n",
            "project/cogtrix.yaml:1:12: lock_wait: must be a duration of at most 24h",
        ),
        (
            "\"a\\e[2J\\nb\": 1\n",
            "project/cogtrix.yaml:1:1: a\\u{1b}[2J\\nb: unknown key; valid keys: session, data_dir, system_prompt_file, providers, models, network, embedding, rag, index, memory, context, tools, deep_think, mcp_servers, ui, lock_wait, shutdown_grace",
        ),
        (
            "session: ../x\n",
            "project/cogtrix.yaml:1:10: session: session name \"../x\" starts with a dot; use 1 to 64 letters, digits, spaces, or . _ - and do not start with a dot",
        ),
        (
            "providers:\n  local: {}\n",
            "project/cogtrix.yaml:2:3: providers.local: missing key type",
        ),
        (
            "providers:\n  local: {type: olama}\n",
            "project/cogtrix.yaml:2:17: providers.local.type: \"olama\" is not one of ollama, openai, anthropic, offline; did you mean ollama?",
        ),
        (
            "providers:\n  local: {type: ollama, base_url: localhost}\n",
            "project/cogtrix.yaml:2:35: providers.local.base_url: must be a URL such as http://localhost:11434 or https://host/v1",
        ),
        (
            "providers:\n  a/b: {type: ollama}\n",
            "project/cogtrix.yaml:2:3: providers.a/b: is not a valid provider name: it must not be empty or contain a /",
        ),
        (
            "models:\n  defualt: auto\n",
            "project/cogtrix.yaml:2:12: models.defualt: expected a mapping, found text; did you mean the key models.default?",
        ),
        (
            "models:\n  fast: {provider: lcal, model: m}\nproviders:\n  local: {type: ollama}\n",
            "project/cogtrix.yaml:2:20: models.fast.provider: \"lcal\" is not one of local, ollama, openai, anthropic, offline; did you mean local?",
        ),
        (
            "models:\n  fast: {provider: ollama, modle: m}\n",
            "project/cogtrix.yaml:2:28: models.fast.modle: unknown key; did you mean models.fast.model?",
        ),
        (
            "memory:\n  mode: code\n  mode: reasoning\n",
            "project/cogtrix.yaml:3:3: memory: duplicate key \"mode\"",
        ),
        (
            "memory: {mode: code\n",
            "project/cogtrix.yaml:2:1: did not find expected ',' or '}'",
        ),
        (
            "<<: {session: a}\n",
            "project/cogtrix.yaml:1:1: <<: unknown key; valid keys: session, data_dir, system_prompt_file, providers, models, network, embedding, rag, index, memory, context, tools, deep_think, mcp_servers, ui, lock_wait, shutdown_grace",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn all_of_a_file_are_told_at_once_in_its_order() {
    check(
        "lock_wait: x\nmemory:\n  mod: code\n  modes:\n    code: 3\nsesion: a\n",
        "project/cogtrix.yaml:1:12: lock_wait: expected a duration such as 10s or 5min, found \"x\"\n\
         project/cogtrix.yaml:3:3: memory.mod: unknown key; did you mean memory.mode?\n\
         project/cogtrix.yaml:5:11: memory.modes.code: expected a mapping, found a number\n\
         project/cogtrix.yaml:6:1: sesion: unknown key; did you mean session?",
    );
}

#[test]
fn a_bad_variable_or_flag_is_named() {
    let machine = Machine::new().variable("COGTRIX_MEMORY_MODE", "nope");
    assert_eq!(
        machine.error(),
        "$COGTRIX_MEMORY_MODE: \"nope\" is not one of conversation, code, reasoning"
    );
    let machine = machine.flags(Flags {
        memory_mode: Some("code".to_owned()),
        ..Flags::default()
    });
    assert_eq!(
        machine.config().settings.memory.mode,
        "code",
        "a variable that has no effect does no harm"
    );
    let machine = machine.flags(Flags {
        memory_mode: Some("resoning".to_owned()),
        session: Some("a/b".to_owned()),
        ..Flags::default()
    });
    assert_eq!(
        machine.error(),
        "--session: session name \"a/b\" contains '/'; use 1 to 64 letters, digits, spaces, or . _ - and do not start with a dot\n\
         --memory-mode: \"resoning\" is not one of conversation, code, reasoning; did you mean reasoning?"
    );
    assert_eq!(
        Machine::new()
            .variable("COGTRIX_DATA_DIR", "caf\u{fffd}")
            .error(),
        "$COGTRIX_DATA_DIR: is not UTF-8"
    );
}

#[test]
fn what_is_no_config_file_is_said_to_be_none() {
    let mut machine = Machine::new();
    machine.write("project/image.png", [0x89, b'P', b'N', b'G', 0xff]);
    machine.write("project/zero", "a: \0");
    machine.write("project/huge", "# ".repeat(200_000));
    for (name, expected) in [
        (
            "missing",
            "config file project/missing does not exist (set by --config-file)",
        ),
        (
            "image.png",
            "project/image.png is not a config file: it is not UTF-8 text",
        ),
        (
            "zero",
            "project/zero is not a config file: it contains binary data",
        ),
        (
            "huge",
            "project/huge is not a config file: it is larger than 256 KB",
        ),
        (
            "../home",
            "project/../home is not a config file: it is a folder",
        ),
    ] {
        machine.inputs.flags.config_file = Some(name.into());
        assert_eq!(machine.error(), expected);
        assert!(machine.load().unwrap_err().hint().is_some());
    }
    machine.inputs.flags.config_file = None;
    fs::create_dir(machine.at("project/cogtrix.yaml")).unwrap();
    assert_eq!(
        machine.error(),
        "project/cogtrix.yaml is not a config file: it is a folder"
    );
}

#[test]
fn odd_encodings_of_a_good_file_are_fine() {
    for text in [
        "\u{feff}session: a\n",
        "session: a\r\nmemory:\r\n  mode: code\r\n",
        "---\nsession: a\n",
        "{\"session\": \"a\"}",
        "session: a\nmemory:\nproviders: ~\nmodels:\n  default:\n",
    ] {
        let machine = Machine::with("project/cogtrix.yaml", text);
        assert_eq!(machine.config().settings.session.as_str(), "a", "{text:?}");
    }
}

#[test]
fn no_message_tells_a_secret() {
    const SECRET: &str = "sk-abc123secret";
    for text in [
        format!("providers: {{x: {{type: openai, api_key: [{SECRET}]}}}}\n"),
        format!("providers: {{x: {{type: openai, api_key: {SECRET}, typo: 1}}}}\n"),
        format!("providers:\n  x:\n    type: openai\n    api_key: {SECRET}: oops\n"),
        format!("providers:\n  x:\n    type: openai\n    api_key: '{SECRET}\n"),
        format!("providers:\n  x:\n    api_key: {SECRET}\n    api_key: {SECRET}\n"),
        format!("providers: {{x: {{type: openai, api_key_env: {SECRET}}}}}\n"),
        format!("providers: {{x: {{type: openai, base_url: 'ftp://a:{SECRET}@h'}}}}\n"),
        format!("providers: {{x: {SECRET}}}\n"),
    ] {
        let machine = Machine::with("home/.cogtrix.yaml", &text);
        let error = machine.load().err().unwrap();
        let all = format!("{error} {error:?} {:?}", error.hint());
        assert!(!all.contains("secret"), "{all}");
    }
}

/// A person may write anything; the answer is settings or an error, never a panic.
#[test]
fn any_text_is_read_or_refused() {
    let keys = keys_of::<Document>();
    let words = proptest::sample::select(
        keys.iter()
            .flat_map(|key| key.0.clone())
            .chain(
                [
                    "3", "-1", "[", "{", "}", "&a", "*a", "!t", "'", "\"", "~", "\u{1b}", "#", "é",
                ]
                .map(str::to_owned),
            )
            .collect::<Vec<_>>(),
    );
    let lines = proptest::collection::vec((0_usize..4, words.clone(), words), 0..12);
    proptest::proptest!(proptest::test_runner::Config::with_cases(300), |(lines in lines)| {
        let lines: Vec<_> = lines
            .iter()
            .map(|(depth, key, value)| format!("{}{key}: {value}\n", "  ".repeat(*depth)))
            .collect();
        let text = lines.concat();
        let modes = ["code".to_owned()];
        if let Ok(tree) = yaml::parse(&text) {
            match decode::<Document>(&tree) {
                Ok(document) => drop(checks::check(&document, &modes)),
                Err(faulty) => proptest::prop_assert!(!faulty.faults.is_empty()),
            }
        }
    });
}

#[test]
fn values_are_checked_where_other_lines_could_not_be_read() {
    let text = "memory:\n  mode: reasonng\n  recall: {share: lots}\n";
    check(
        text,
        "project/cogtrix.yaml:2:9: memory.mode: \"reasonng\" is not one of conversation, code, reasoning; did you mean reasoning?\n\
         project/cogtrix.yaml:3:19: memory.recall.share: expected a number, found text",
    );
}

#[test]
fn a_server_is_reached_in_one_way_and_its_variables_are_names() {
    for (text, expected) in [
        (
            "mcp_servers:\n  a: {}\n",
            "project/cogtrix.yaml:2:3: mcp_servers.a: needs either command (a program to start) or url (a running server)",
        ),
        (
            "mcp_servers:\n  a: {command: x, url: 'http://h/'}\n",
            "project/cogtrix.yaml:2:3: mcp_servers.a: has both command and url; use only one",
        ),
        (
            "mcp_servers:\n  a: {url: 'http://h/', args: [x]}\n",
            "project/cogtrix.yaml:2:3: mcp_servers.a: args is only for servers with a command, and this one has a url",
        ),
        (
            "mcp_servers:\n  a: {url: h}\n",
            "project/cogtrix.yaml:2:12: mcp_servers.a.url: must be a URL such as http://localhost:11434 or https://host/v1",
        ),
        (
            "mcp_servers:\n  a: {command: x, timeout: 0s}\n",
            "project/cogtrix.yaml:2:28: mcp_servers.a.timeout: must be a duration of at least 1ms",
        ),
        (
            "mcp_servers:\n  a: {url: 'http://h/', headers_env: {Authorization: 'Bearer x'}}\n",
            "project/cogtrix.yaml:2:54: mcp_servers.a.headers_env.Authorization: must be names of environment variables",
        ),
        (
            "mcp_servers:\n  a: {comand: x}\n",
            "project/cogtrix.yaml:2:7: mcp_servers.a.comand: unknown key; did you mean mcp_servers.a.command?",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn a_backend_that_is_not_here_is_refused_with_those_that_are() {
    check(
        "memory: {backend: postgres}\n",
        "project/cogtrix.yaml:1:19: memory.backend: \"postgres\" is not one of files, none",
    );
    check(
        "memory: {backend: file}\n",
        "project/cogtrix.yaml:1:19: memory.backend: \"file\" is not one of files, none; did you mean files?",
    );
}
