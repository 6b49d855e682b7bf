//! The variables of a command: a short list of those there are, and what keeps programs from asking questions. Pure.
//! Invariant: nothing whose name looks like a secret gets in, whoever asks for it.

use std::collections::BTreeMap;

/// Passed on when they are there.
const PASSED: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TZ", "LANGUAGE",
];

/// There is nobody at a terminal.
const SET: [(&str, &str); 5] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Anywhere in a name.
const SECRET: [&str; 8] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "COOKIE",
];

/// As one of the words of a name: `SSH_ASKPASS` and `GIT_AUTHOR_NAME` hold these letters, too.
const SECRET_WORDS: [&str; 6] = ["PASS", "PAT", "AUTH", "PW", "JWT", "DSN"];

/// What a command gets of `all`; `more` are names that a person wants passed on.
pub(super) fn passed(all: &BTreeMap<String, String>, more: &[String]) -> BTreeMap<String, String> {
    let is_wanted = |name: &str| {
        PASSED.contains(&name) || name.starts_with("LC_") || more.iter().any(|more| more == name)
    };
    let mut passed = BTreeMap::from([("PATH".to_owned(), USUAL_PATH.to_owned())]);
    passed.extend(
        all.iter()
            .filter(|(name, _)| is_wanted(name) && !looks_secret(name))
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    passed.extend(SET.map(|(name, value)| (name.to_owned(), value.to_owned())));
    passed
}

/// Whether a variable is named as secrets are. Such a one is not passed on even if settings ask for it.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|part| name.contains(part))
        || name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| SECRET_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(names: &[&str]) -> BTreeMap<String, String> {
        let pair = |name: &&str| ((*name).to_owned(), format!("value of {name}"));
        names.iter().map(pair).collect()
    }

    #[test]
    fn only_what_is_listed_or_asked_for_is_passed_on() {
        let all = variables(&[
            "HOME",
            "LC_ALL",
            "RUST_LOG",
            "CARGO_HOME",
            "COGTRIX_DATA_DIR",
        ]);
        let passed = passed(&all, &["CARGO_HOME".to_owned(), "MISSING".to_owned()]);
        let names: Vec<&str> = passed
            .keys()
            .map(String::as_str)
            .filter(|name| !SET.iter().any(|(set, _)| set == name))
            .collect();
        assert_eq!(names, ["CARGO_HOME", "HOME", "LC_ALL", "PATH"]);
    }

    #[test]
    fn nothing_that_looks_like_a_secret_is_passed_on_even_if_asked_for() {
        let secret = [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "LC_SECRET",
            "PGPASSWORD",
            "db_pass",
            "AWS_CREDENTIALS",
            "npm_config__auth",
        ];
        let asked = secret.map(str::to_owned);
        let passed = passed(&variables(&secret), &asked);
        assert!(secret.iter().all(|name| !passed.contains_key(*name)));
        for name in ["SSH_ASKPASS", "GIT_AUTHOR_NAME", "PATH", "TMPDIR", "PWD"] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn the_terminal_is_always_a_dumb_one() {
        let all = variables(&["TERM", "PAGER"]);
        let passed = passed(&all, &["TERM".to_owned(), "PAGER".to_owned()]);
        assert_eq!(passed["TERM"], "dumb");
        assert_eq!(passed["PAGER"], "cat");
    }
}
