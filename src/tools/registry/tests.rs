use super::super::{CurrentTime, tool};
use super::*;
use crate::testing::tools::named;

const REASONING: &str = "reasoning";

fn registry(selection: Selection) -> Registry {
    let others = ["read_file", "track", REQUEST_TOOLS, "write_file"].map(named);
    let tools = others.into_iter().chain([tool(CurrentTime)]);
    Registry::new(tools, selection)
}

fn offered(registry: &Registry, mode: &str) -> Vec<String> {
    let specs = registry.offered(mode).into_iter();
    specs.map(|spec| spec.name).collect()
}

#[test]
fn tools_that_a_model_was_trained_with_are_at_hand_in_every_mode() {
    let folder = std::path::PathBuf::from("/w");
    let workspace = crate::long_term::notes::Workspace::new(
        Arc::new(crate::files::MemoryDisk::default()),
        folder,
        crate::long_term::notes::WorkspaceSettings::default(),
    );
    let memories = || tool(super::super::Memories::new(workspace.clone()));
    let mut registry = Registry::new([memories(), named("shell")], Selection::Mode);
    assert_eq!(offered(&registry, REASONING), [""; 0]);
    registry.favour_trained(true);
    assert_eq!(offered(&registry, REASONING), ["memories"]);
    registry.switch("memories", Switch::Off).unwrap();
    assert_eq!(offered(&registry, REASONING), [""; 0]);
}

#[test]
fn a_mode_offers_its_few_and_a_choice_offers_what_it_says() {
    let always = ["current_time", "request_tools"].as_slice();
    let reasoning = ["current_time", "request_tools", "track"].as_slice();
    let all = [
        "current_time",
        "read_file",
        "request_tools",
        "track",
        "write_file",
    ];
    for (choice, mode, expected) in [
        ("mode", "conversation", always),
        ("mode", REASONING, reasoning),
        ("none", REASONING, &[]),
        ("all", "conversation", &all),
        ("read_file, track", "conversation", &["read_file", "track"]),
    ] {
        let registry = registry(Selection::parse(choice));
        assert_eq!(offered(&registry, mode), expected, "{choice} in {mode}");
    }
}

#[test]
fn what_a_model_loads_is_there_at_once_and_gone_with_the_turn() {
    let mut registry = registry(Selection::Mode);
    let answer = registry
        .load(&["read_file".to_owned()], &[], None, REASONING)
        .unwrap();
    assert_eq!(
        answer,
        "Tools you can call now: current_time, read_file, request_tools, track"
    );
    assert!(registry.callable("read_file", REASONING).is_some());
    registry.begin_turn();
    assert!(registry.callable("read_file", REASONING).is_none());
}

#[test]
fn a_tool_that_is_called_before_it_is_loaded_is_loaded() {
    let mut registry = registry(Selection::Mode);
    assert!(registry.callable("read_file", REASONING).is_none());
    assert!(registry.called("read_file", REASONING).is_some());
    assert!(registry.callable("read_file", REASONING).is_some());
    registry.switch("write_file", Switch::Off).unwrap();
    assert!(registry.called("write_file", REASONING).is_none());
    assert!(registry.called("nothing", REASONING).is_none());
    registry.select(Selection::parse("track"));
    assert!(registry.called("read_file", REASONING).is_none());
}

#[test]
fn in_code_mode_files_and_the_shell_are_at_hand() {
    let names = ["edit_file", "fetch_url", "read_file", "shell", "write_file"];
    let registry = Registry::new(names.map(named), Selection::Mode);
    assert_eq!(
        offered(&registry, "code"),
        ["edit_file", "read_file", "shell", "write_file"]
    );
}

#[test]
fn what_a_person_switched_stands_against_the_model() {
    let mut registry = registry(Selection::Mode);
    registry.switch("write_file", Switch::Off).unwrap();
    registry.switch("read_file", Switch::On).unwrap();
    registry.begin_turn();
    assert!(registry.callable("read_file", REASONING).is_some());
    let refused = registry.load(&["write_file".to_owned()], &[], None, REASONING);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "write_file was switched off by the user"
    );
    assert!(registry.further(REASONING).is_empty());
}

#[test]
fn of_no_tools_one_can_be_switched_on_and_none_puts_it_off_again() {
    let mut registry = registry(Selection::None);
    assert!(registry.offered(REASONING).is_empty());
    registry.switch("read_file", Switch::On).unwrap();
    assert_eq!(registry.offered(REASONING).len(), 1);
    registry.select(Selection::None);
    assert!(registry.offered(REASONING).is_empty());
}

#[test]
fn what_keeps_is_within_reach_where_it_is_offered_or_can_be_loaded() {
    for (selection, keeps) in [
        (Selection::Mode, true),
        (Selection::All, true),
        (Selection::None, false),
        (Selection::parse("read_file"), false),
        (Selection::parse("memorize"), true),
    ] {
        let tools = ["read_file", "memorize", REQUEST_TOOLS].map(named);
        let mut registry = Registry::new(tools, selection.clone());
        assert_eq!(registry.can_keep(REASONING), keeps, "{selection:?}");
        registry.switch("memorize", Switch::Off).unwrap();
        assert!(!registry.can_keep(REASONING), "{selection:?}");
    }
}

#[test]
fn a_name_that_is_almost_right_is_told() {
    let mut registry = registry(Selection::Mode);
    let unknown = registry.load(&["readfile".to_owned()], &[], None, REASONING);
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "unknown tool readfile; did you mean read_file?"
    );
    let kept = registry.load(&[], &["request_tools".to_owned()], None, REASONING);
    assert_eq!(
        kept.unwrap_err().to_string(),
        "request_tools cannot be removed"
    );
}

#[test]
fn the_catalogue_says_what_is_active_and_finds_by_words() {
    let mut registry = registry(Selection::Mode);
    let all = registry.load(&[], &[], None, REASONING).unwrap();
    assert!(all.contains("track (active): "), "{all}");
    assert!(all.contains("\nread_file: "), "{all}");
    let some = registry.load(&[], &[], Some("WRITE"), REASONING).unwrap();
    assert!(some.starts_with("write_file: ") && some.lines().count() == 1);
    assert!(
        registry
            .load(&[], &[], Some("xyz"), REASONING)
            .unwrap()
            .contains("no tool matches")
    );
}

#[test]
fn guests_replace_the_guests_before_them_and_never_a_tool_that_stays() {
    let mut registry = registry(Selection::Mode);
    let own = registry.own_names();
    let track = Arc::as_ptr(registry.get("track").unwrap()).cast::<()>();
    for (guests, expected) in [
        (vec!["a__x", "a__y", "track"], vec!["a__x", "a__y"]),
        (vec!["a__y", "b__z"], vec!["a__y", "b__z"]),
        (vec![], vec![]),
    ] {
        registry.welcome(guests.into_iter().map(named));
        let there = registry.names().filter(|name| name.contains("__"));
        assert_eq!(there.collect::<Vec<_>>(), expected);
        assert_eq!(registry.own_names(), own);
    }
    let still = Arc::as_ptr(registry.get("track").unwrap()).cast::<()>();
    assert_eq!(track, still);
}
