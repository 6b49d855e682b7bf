//! What is piped in: the prompt of a one-shot run, or an addition to it (A3).

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use super::report::CliError;
use crate::agent::Input;

/// More than this is no prompt.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Where lines or a prompt come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stdin {
    Terminal,
    Piped,
}

pub(super) fn kind() -> Stdin {
    if io::stdin().is_terminal() {
        Stdin::Terminal
    } else {
        Stdin::Piped
    }
}

/// Everything piped in, as text; empty where nothing is.
pub(super) fn read() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes);
    read.map_err(|source| CliError::File {
        action: "read",
        path: PathBuf::from("stdin"),
        source,
    })?;
    text(bytes, "stdin")
}

/// A file that holds a prompt.
pub(super) fn read_file(path: &Path) -> Result<String, CliError> {
    let cannot = |source| CliError::File {
        action: "read",
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(cannot)?;
    text(bytes, &path.display().to_string())
}

fn text(bytes: Vec<u8>, from: &str) -> Result<String, CliError> {
    let refuse = |why: &str, hint| {
        Err(CliError::Usage {
            problem: format!("{from} {why}"),
            hint,
        })
    };
    if bytes.len() as u64 > MAX_BYTES {
        return refuse("is larger than 64 MB", "send a smaller part");
    }
    if bytes.contains(&0) {
        return refuse(
            "is not text: it contains NUL bytes",
            "convert it to text first",
        );
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The prompt of a one-shot run: what is given, then what is piped in (A3).
pub(super) fn joined(given: Option<String>, piped: &str) -> Input {
    let piped = piped.trim();
    match given {
        None => piped.to_owned().into(),
        Some(given) if piped.is_empty() => given.trim().to_owned().into(),
        Some(given) => Input::with_piped(given.trim(), piped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_follows_what_is_given() {
        for (given, piped, expected) in [
            (Some("explain"), "code\n", "explain\n\ncode"),
            (Some("explain"), "", "explain"),
            (None, "code\n", "code"),
            (None, " \n", ""),
        ] {
            assert_eq!(joined(given.map(str::to_owned), piped).text(), expected);
        }
    }

    #[test]
    fn binary_input_is_refused_and_odd_bytes_are_replaced() {
        assert!(matches!(
            text(vec![1, 0, 2], "stdin"),
            Err(CliError::Usage { .. })
        ));
        assert_eq!(text(vec![b'a', 0xff], "stdin").unwrap(), "a\u{fffd}");
    }
}
