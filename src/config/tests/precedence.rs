//! Which value wins, which file is read, where data belong.

use super::*;

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let machine = Machine::new();
    assert_eq!(machine.config().settings.memory.mode, "conversation");
    assert_eq!(machine.config().source("memory.mode"), Source::Default);

    machine.write("project/cogtrix.yaml", "memory:\n  mode: code\n");
    let config = machine.config();
    assert_eq!(config.settings.memory.mode, "code");
    assert_eq!(
        config.source("memory.mode"),
        Source::File {
            path: machine.at("project/cogtrix.yaml"),
            at: Some(Position { line: 2, column: 3 }),
        }
    );

    let machine = machine.variable("COGTRIX_MEMORY_MODE", "reasoning");
    let config = machine.config();
    assert_eq!(config.settings.memory.mode, "reasoning");
    assert_eq!(
        config.source("memory.mode"),
        Source::Environment("COGTRIX_MEMORY_MODE")
    );

    let machine = machine.flags(Flags {
        memory_mode: Some("conversation".to_owned()),
        ..Flags::default()
    });
    let config = machine.config();
    assert_eq!(config.settings.memory.mode, "conversation");
    assert_eq!(config.source("memory.mode"), Source::Flag("--memory-mode"));
}

#[test]
fn every_variable_and_flag_sets_its_key() {
    let machine = Machine::new()
        .variable("COGTRIX_SESSION", "from-env")
        .variable("COGTRIX_MODEL", "ollama/a")
        .variable("COGTRIX_DATA_DIR", "kept/here")
        .variable("COGTRIX_MEMORY_MODE", "");
    let settings = machine.config().settings;
    assert_eq!(settings.session.as_str(), "from-env");
    assert_eq!(settings.provider.models.default, "ollama/a");
    assert_eq!(settings.data_dir, machine.at("project/kept/here"));
    assert_eq!(
        settings.memory.mode, "conversation",
        "empty is as good as unset"
    );

    let machine = machine.flags(Flags {
        session: Some("from-flag".to_owned()),
        model: Some("openai/b".to_owned()),
        data_dir: Some("~/elsewhere".into()),
        ..Flags::default()
    });
    let settings = machine.config().settings;
    assert_eq!(settings.session.as_str(), "from-flag");
    assert_eq!(settings.provider.models.default, "openai/b");
    assert_eq!(settings.data_dir, machine.at("home/elsewhere"));
}

#[test]
fn the_workspace_is_found_by_flag_file_variable_or_in_the_data_folder() {
    let machine = Machine::new().variable("COGTRIX_DATA_DIR", "kept");
    let workspace = |machine: &Machine| machine.config().settings.workspace;
    assert_eq!(workspace(&machine), machine.at("project/kept/workspace"));
    machine.write("home/.cogtrix.yaml", "memory: {path: ''}\n");
    let machine = machine.variable("AGX_WORKSPACE_ROOT", "other");
    assert_eq!(workspace(&machine), machine.at("project/other"));
    let source = machine.config().source("memory.path");
    assert_eq!(source, Source::Environment("AGX_WORKSPACE_ROOT"));
    let machine = machine.variable("COGTRIX_WORKSPACE_ROOT", "~/ours");
    assert_eq!(workspace(&machine), machine.at("home/ours"));
    let source = machine.config().source("memory.path");
    assert_eq!(source, Source::Environment("COGTRIX_WORKSPACE_ROOT"));
    machine.write("home/.cogtrix.yaml", "memory: {path: in-file}\n");
    assert_eq!(workspace(&machine), machine.at("home/in-file"));
    let machine = machine.flags(Flags {
        workspace: Some("flagged".into()),
        ..Flags::default()
    });
    assert_eq!(workspace(&machine), machine.at("project/flagged"));
    assert!(!machine.at("project/flagged").exists(), "nothing is made");
}

#[test]
fn the_first_file_of_the_search_is_the_only_one_read() {
    let places = [
        "project/cogtrix.yaml",
        "project/.cogtrix.yaml",
        "project/.cogtrix.yml",
        "project/config/cogtrix.yaml",
        "home/.config/cogtrix/cogtrix.yaml",
        "home/.cogtrix.yaml",
    ];
    let machine = Machine::with("named.yaml", "session: named\n");
    for (number, place) in places.iter().enumerate() {
        machine.write(place, format!("session: s{number}\n"));
    }
    for (number, place) in places.iter().enumerate() {
        let config = machine.config();
        assert_eq!(config.settings.session.as_str(), format!("s{number}"));
        assert_eq!(config.files(), [machine.at(place)]);
        fs::remove_file(machine.at(place)).unwrap();
    }
    assert!(machine.config().files().is_empty());

    let machine = machine.variable("COGTRIX_CONFIG_FILE", "../named.yaml");
    assert_eq!(machine.config().settings.session.as_str(), "named");
    machine.write("other.yaml", "session: other\n");
    let machine = machine.flags(Flags {
        config_file: Some("../other.yaml".into()),
        ..Flags::default()
    });
    assert_eq!(machine.config().settings.session.as_str(), "other");
}

#[test]
fn the_data_root_is_found_where_it_belongs() {
    let machine = Machine::new();
    assert_eq!(
        machine.config().settings.data_dir,
        machine.at("home/.local/share/cogtrix")
    );
    fs::create_dir_all(machine.at("project/data")).unwrap();
    assert_eq!(
        machine.config().settings.data_dir,
        machine.at("home/.local/share/cogtrix"),
        "a data folder without history/ is somebody else's"
    );
    fs::create_dir_all(machine.at("project/data/history")).unwrap();
    assert_eq!(
        machine.config().settings.data_dir,
        machine.at("project/data")
    );
    machine.write("home/.cogtrix.yaml", "data_dir: notes\n");
    assert_eq!(
        machine.config().settings.data_dir,
        machine.at("home/notes"),
        "a relative path starts at the file that says it"
    );
    machine.write("home/.cogtrix.yaml", "data_dir: ~/chats\n");
    assert_eq!(machine.config().settings.data_dir, machine.at("home/chats"));
}

#[test]
fn without_folders_of_the_platform_a_data_root_and_a_config_file_must_be_named() {
    let mut machine = Machine::new();
    machine.inputs.folders = Folders::default();
    assert!(matches!(machine.load(), Err(ConfigError::NoDataFolder)));
    let file = config_file(&machine.inputs);
    assert!(matches!(file, Err(ConfigError::NoConfigFile)), "{file:?}");
    let machine = machine.variable("COGTRIX_DATA_DIR", "/d");
    assert_eq!(machine.config().settings.data_dir, Path::new("/d"));
}

#[test]
fn the_environment_is_taken_as_it_is() {
    assert!(environment().get("PATH").is_some());
}
