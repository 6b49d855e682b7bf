//! From what a model wrote to a path inside of `memories/`, by the letters alone. Whatever is odd is refused, so that a
//! name means the same on every system and to whoever decodes it once more.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::{MemoriesError, ROOT};

/// Bytes of one name, as most file systems have it, less what a temporary name may need.
const NAME_BYTES: usize = 200;
/// Folders one in the other.
const DEPTH: usize = 16;

/// Letters that are no part of a name, however often somebody decodes it.
const ENCODED: [&str; 5] = ["%2e", "%2f", "%5c", "%00", "%25"];

/// Relative to `memories/`, of plain names; empty for the folder itself.
pub(super) fn located(text: &str) -> Result<PathBuf, MemoriesError> {
    let refuse = |why| {
        Err(MemoriesError::Path {
            path: text.chars().take(200).collect(),
            why,
        })
    };
    let Some(inside) = text.strip_prefix(ROOT) else {
        return refuse("does not begin with /memories");
    };
    if !(inside.is_empty() || inside.starts_with('/')) {
        return refuse("does not begin with /memories");
    }
    if text.contains(|c: char| c == '\\' || c.is_control()) {
        return refuse("contains a backslash or a control character");
    }
    if text.contains(is_unseen) {
        return refuse("contains an invisible character");
    }
    // Two names that look the same would be two files.
    let composed: String = text.nfc().collect();
    if composed != text {
        return refuse("is not composed Unicode (NFC)");
    }
    let lower = text.to_ascii_lowercase();
    if ENCODED.iter().any(|encoded| lower.contains(encoded)) {
        return refuse("contains an encoded character");
    }
    let names: Vec<&str> = inside.split('/').filter(|name| !name.is_empty()).collect();
    if names.len() > DEPTH {
        return refuse("has too many nested folders");
    }
    for name in &names {
        if name.starts_with('.') {
            return refuse("has a name that begins with a dot");
        }
        if name.len() > NAME_BYTES {
            return refuse("has a name that is too long");
        }
        if name.trim() != *name || name.ends_with('.') || name.contains(':') {
            return refuse("has a name with a colon, or with a space or a dot at the end");
        }
    }
    Ok(names.into_iter().collect())
}

/// Characters of no width, and those that turn the order of others around.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// As a model writes it.
pub(super) fn shown(path: &Path) -> String {
    let mut text = ROOT.to_owned();
    for name in path {
        text.push('/');
        text.extend(name.to_string_lossy().chars().map(|c| {
            if c.is_control() || is_unseen(c) {
                '?'
            } else {
                c
            }
        }));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_inside_or_refused() {
        for (text, expected) in [
            ("/memories", Some("")),
            ("/memories/", Some("")),
            ("/memories/a.md", Some("a.md")),
            ("/memories//a/b c.md", Some("a/b c.md")),
            ("/memories/日本.md", Some("日本.md")),
            ("memories/a.md", None),
            ("/Memories/a.md", None),
            ("/memoriesx/a.md", None),
            ("a.md", None),
            ("", None),
            ("/etc/passwd", None),
            ("/memories/../MEMORY.md", None),
            ("/memories/a/../../x", None),
            ("/memories/./a", None),
            ("/memories/.hidden", None),
            ("/memories/%2e%2E/x", None),
            ("/memories/%252e%252e/x", None),
            ("/memories/a%2Fb", None),
            ("/memories/..\\x", None),
            ("/memories/a\0b", None),
            ("/memories/a\nb", None),
            ("/memories/C:/x", None),
            ("/memories/a ", None),
            ("/memories/a.", None),
            ("/memories/a\u{200b}b.md", None),
            ("/memories/a\u{202e}b.md", None),
            ("/memories/caf\u{e9}.md", Some("caf\u{e9}.md")),
            ("/memories/cafe\u{301}.md", None),
        ] {
            let found = located(text).ok();
            assert_eq!(found.as_deref(), expected.map(Path::new), "{text:?}");
        }
        assert_eq!(shown(Path::new("a\u{202e}b")), "/memories/a?b");
        assert!(located(&format!("/memories/{}", "n".repeat(201))).is_err());
        assert!(located(&format!("/memories{}", "/d".repeat(17))).is_err());
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_folder(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("memories".to_owned()),
                    Just("%2e%2e".to_owned()), Just("..\\".to_owned()), Just("a".to_owned()), "\\PC{0,3}",
                ],
                0..9,
            ),
        ) {
            for start in ["/memories/", "/", "", "/memories"] {
                let text = format!("{start}{}", parts.join("/"));
                if let Ok(path) = located(&text) {
                    let mut components = path.components();
                    prop_assert!(components.all(|part| matches!(part, Component::Normal(_))), "{text:?}");
                    prop_assert_eq!(located(&shown(&path)).ok(), Some(path));
                }
            }
        }
    }
}
