//! Texts that a person replaces.

use super::*;

#[test]
fn a_file_of_the_same_name_replaces_a_text() {
    let machine = Machine::with("own/modes/code.md", "\u{feff}Mine.\n");
    let texts = Texts::load(Some(&machine.at("own"))).unwrap();
    let code = texts.get("modes/code.md").unwrap();
    assert_eq!(code.content, "Mine.\n");
    assert_eq!(
        code.source,
        TextSource::File(machine.at("own/modes/code.md"))
    );
    let base = texts.get("prompts/base.md").unwrap();
    assert_eq!(base.source, TextSource::Embedded);
    assert!(texts.get("modes/none.md").is_none());
    for text in Texts::load(None).unwrap().iter() {
        assert!(!text.content.trim().is_empty(), "{} is empty", text.name);
    }
}

#[test]
fn a_replacement_that_cannot_be_used_is_an_error_that_names_it() {
    for (bytes, why) in [
        (vec![b'x'; 65 * 1024], "larger than 64 KB"),
        (vec![0xff, 0xfe], "not UTF-8"),
        (b"a\0b".to_vec(), "binary"),
    ] {
        let machine = Machine::new();
        machine.write("own/modes/code.md", bytes);
        let error = Texts::load(Some(&machine.at("own"))).unwrap_err();
        assert!(error.to_string().contains("modes/code.md"), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.hint().is_some());
    }
    let machine = Machine::new();
    fs::create_dir_all(machine.at("own/modes/code.md")).unwrap();
    assert!(Texts::load(Some(&machine.at("own"))).is_err());
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_not_taken_for_no_file() {
    let machine = Machine::with("own/modes/x", "");
    std::os::unix::fs::symlink("/nowhere/at/all", machine.at("own/modes/code.md")).unwrap();
    assert!(Texts::load(Some(&machine.at("own"))).is_err());
    std::os::unix::fs::symlink("/nowhere/at/all", machine.at("project/cogtrix.yaml")).unwrap();
    assert!(matches!(
        machine.load(),
        Err(ConfigError::Unreadable { .. })
    ));
}
