//! The documents say what the code does.

use super::*;

fn document(text: &str) -> Document {
    let Ok(tree) = yaml::parse(text) else {
        panic!("not YAML: {text}")
    };
    decode(&tree).unwrap_or_else(|faulty| panic!("{:?}", faulty.faults))
}

/// The example, with its samples uncommented.
fn with_samples() -> String {
    EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(sample) if sample.starts_with("  ") => sample,
            _ if line == "providers: {}" => "providers:",
            _ if line == "mcp_servers: {}" => "mcp_servers:",
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_example_says_exactly_the_defaults() {
    assert_eq!(
        format!("{:#?}", document(EXAMPLE)),
        format!("{:#?}", Document::default())
    );
}

#[test]
fn the_samples_of_the_example_are_valid() {
    let document = document(&with_samples());
    assert_eq!(document.providers.len(), 2);
    assert_eq!(document.models.aliases.len(), 1);
    assert_eq!(document.mcp_servers.len(), 2);
    let modes = ["conversation".to_owned()];
    assert!(checks::check(&document, &modes).is_empty());
}

#[test]
fn every_valid_key_is_in_the_example_with_a_comment_and_in_the_manual() {
    let Ok(tree) = yaml::parse(&with_samples()) else {
        panic!("not YAML")
    };
    let written: Vec<_> = tree.leaves().into_iter().map(|(path, _)| path).collect();
    let manual = include_str!("../../../docs/CONFIG.md");
    let keys = keys_of::<Document>();
    let last = keys.last().map(ToString::to_string);
    assert_eq!(last.as_deref(), Some("shutdown_grace"), "all are found");
    for key in keys {
        let row = key.to_string();
        assert!(
            written.iter().any(|path| path.matches(&row)),
            "{row} is not in the example"
        );
        let shown = row.replace('*', "NAME");
        assert!(
            manual.contains(&format!("`{shown}`")),
            "{shown} is not in the manual"
        );
    }
    let lines: Vec<_> = EXAMPLE
        .lines()
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    for (path, _) in tree.leaves() {
        let at = lines
            .iter()
            .position(|line| line.starts_with(&format!("{}:", path.last())));
        let at = at.unwrap();
        assert!(
            !lines[at - 1].is_empty() && !lines[at - 1].ends_with(':'),
            "{path} has no comment"
        );
    }
}

#[test]
fn every_variable_is_in_the_manual() {
    let manual = include_str!("../../../docs/CONFIG.md");
    for variable in VARIABLES {
        assert!(
            manual.contains(&format!("`{}`", variable.name)),
            "{} is missing",
            variable.name
        );
        if let Target::Key(key) = variable.sets {
            assert!(manual.contains(&format!("`{key}`")), "{key} is missing");
        }
    }
}

/// The blocks people already have in their files (C60).
#[test]
fn blocks_of_the_first_cogtrix_are_understood_unchanged() {
    for (text, mode, changed) in [
        (
            "memory:\n  modes:\n    conversation:\n      working_memory_size: 25\n      summarization: true        # on or off\n      vector_recall_k: 3         # how many\n    code:\n      working_memory_size: 30\n      summarization: true\n      vector_recall_k: 3\n    reasoning:\n      working_memory_size: 30\n      summarization: true\n      vector_recall_k: 3\n",
            "conversation",
            false,
        ),
        (
            "memory:\n  mode: conversation\n  modes:\n    conversation:\n      working_memory_size: 25\n      summarization: true\n      vector_recall_k: 3\n",
            "conversation",
            false,
        ),
        (
            "memory:\n  mode: code\n  modes:\n    code:\n      working_memory_size: 30\n      max_files: 20\n      max_errors: 5\n      summarization: true\n      vector_recall_k: 3\n",
            "code",
            false,
        ),
        (
            "memory:\n  mode: reasoning\n  modes:\n    reasoning:\n      working_memory_size: 30\n      max_decisions: 20\n      max_alternatives: 10\n      summarization: true\n      vector_recall_k: 3\n      prefix_max_stale_turns: 3  # turns\n",
            "reasoning",
            false,
        ),
        (
            "memory:\n  mode: code\n  modes:\n    conversation:\n      working_memory_size: 25\n      summarization: true\n      vector_recall_k: 3\n    code:\n      working_memory_size: 30\n      summarization: true\n      vector_recall_k: 3\n    reasoning:\n      working_memory_size: 30\n      summarization: true\n      vector_recall_k: 3\n",
            "code",
            false,
        ),
        (
            "memory:\n  mode: code\n  modes:\n    conversation:\n      working_memory_size: 12\n      summarization: false\n      vector_recall_k: 0\n",
            "code",
            true,
        ),
    ] {
        let memory = document(text).memory;
        assert_eq!(memory.mode, mode);
        assert_eq!(
            memory.modes != crate::memory::ModesSettings::default(),
            changed,
            "the defaults are those of the blocks: {text}"
        );
    }
}
