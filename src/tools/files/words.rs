//! Small words for what the tools say: sizes, counts, paths. Values in, text out.

use std::path::Path;

/// `12 bytes`, `3.4 KB`, `1.0 MB`.
pub(super) fn size(bytes: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    match STEPS.into_iter().find(|(step, _)| bytes >= *step) {
        Some((step, unit)) => {
            let tenths = bytes.saturating_mul(10) / step;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => count(bytes, "byte"),
    }
}

/// Returns what a tool may say so that notes about it still fit into a result of so many characters.
pub(super) fn room(result_chars: usize) -> usize {
    const NOTES: usize = 250;
    let most = result_chars - result_chars / 20;
    most.min(result_chars.saturating_sub(NOTES)).max(100)
}

/// `1 line`, `2 lines`, `3 matches`, `4 entries`.
pub(super) fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with("ch") => format!("{number} {noun}es"),
        None => format!("{number} {noun}s"),
    }
}

/// A path on one line, with `/` between its names, whatever is in them.
pub(super) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        match c {
            '\\' if cfg!(windows) => text.push('/'),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_digit_behind_the_point() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KB"),
            (1536, "1.5 KB"),
            (10 << 20, "10.0 MB"),
            (u64::MAX, "1717986918.3 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn a_path_stays_on_its_line() {
        assert_eq!(shown(Path::new("a\n+++ b/ü")), "a\\n+++ b/ü");
        assert_eq!(count(1u8, "match"), "1 match");
        assert_eq!(count(2u8, "match"), "2 matches");
        assert_eq!(count(0u8, "entry"), "0 entries");
    }
}
