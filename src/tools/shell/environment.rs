//! The variables of a command: a short list of those there are, and what keeps programs from asking questions. Pure.
//! Invariant: nothing whose name or value looks like a secret gets in, whoever asks for it.

use std::collections::BTreeMap;

use crate::text::secrets::has_form_of_secret;

/// Passed on when they are there.
const PASSED: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TZ", "LANGUAGE",
];

/// Where compilers, interpreters and certificates are, and how they are called.
#[rustfmt::skip] // a list, not one word a line
const TOOLCHAIN: [&str; 58] = [
    "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER", "RUST_BACKTRACE",
    "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE",
    "GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN",
    "JAVA_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "M2_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT",
    "NVM_DIR", "NODE_PATH", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYTHONPATH", "PIPX_HOME", "UV_CACHE_DIR",
    "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "DOTNET_ROOT",
    "CC", "CXX", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "SOURCE_DATE_EPOCH",
];

/// There is nobody at a terminal.
const SET: [(&str, &str); 5] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Where the loader looks first; an empty or relative element is whatever folder a program is started in.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

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

/// Returns what a command gets of `all`; `more` are names that a person wants passed on, or `NAME=VALUE`.
pub(super) fn passed(all: &BTreeMap<String, String>, more: &[String]) -> BTreeMap<String, String> {
    let is_wanted = |name: &str| {
        PASSED.contains(&name)
            || TOOLCHAIN.contains(&name)
            || name.starts_with("LC_")
            || more.iter().any(|more| more == name)
    };
    // A path may look random, and without these nothing runs.
    let is_secret = |name: &str, value: &str| {
        looks_secret(name) || (!PASSED.contains(&name) && has_form_of_secret(value))
    };
    let set = more.iter().filter_map(|more| more.split_once('='));
    let wanted = all
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| is_wanted(name))
        .chain(set);
    let mut passed = BTreeMap::from([("PATH".to_owned(), USUAL_PATH.to_owned())]);
    passed.extend(
        wanted
            .filter(|(name, value)| !is_secret(name, value))
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    if let Some(libraries) = passed.remove(LIBRARIES) {
        let absolute: Vec<&str> = libraries
            .split([':', ';'])
            .filter(|folder| folder.starts_with('/'))
            .collect();
        if !absolute.is_empty() {
            passed.insert(LIBRARIES.to_owned(), absolute.join(":"));
        }
    }
    passed.extend(SET.map(|(name, value)| (name.to_owned(), value.to_owned())));
    passed
}

/// Returns whether a variable is named as secrets are. Such a one is not passed on even if settings ask for it.
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
            "MINE",
        ]);
        let more = ["MINE", "MISSING", "MODE=fast"].map(str::to_owned);
        let passed = passed(&all, &more);
        let names: Vec<&str> = passed
            .keys()
            .map(String::as_str)
            .filter(|name| !SET.iter().any(|(set, _)| set == name))
            .collect();
        assert_eq!(
            names,
            ["CARGO_HOME", "HOME", "LC_ALL", "MINE", "MODE", "PATH"]
        );
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
        let set = secret.map(|name| format!("{name}=x"));
        let asked: Vec<String> = secret.map(str::to_owned).into_iter().chain(set).collect();
        let passed = passed(&variables(&secret), &asked);
        assert!(secret.iter().all(|name| !passed.contains_key(*name)));
        for name in ["SSH_ASKPASS", "GIT_AUTHOR_NAME", "PATH", "TMPDIR", "PWD"] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn nothing_with_a_secret_in_its_value_is_passed_on_and_toolchains_are() {
        for (name, value, is_passed) in [
            ("MINE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", false),
            (
                "GOPROXY",
                "https://me:hunter2hunter2@proxy.example.com",
                false,
            ),
            ("GOPROXY", "https://proxy.example.com,direct", true),
            ("RUSTFLAGS", "-C target-cpu=native -D warnings", true),
            ("JAVA_HOME", "/usr/lib/jvm/java-21-openjdk-amd64", true),
            (
                "PATH",
                "/nix/store/0c0dlrgb0b9hyk0y8ahdmpbmm7jgb1i4-x/bin",
                true,
            ),
        ] {
            let all = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            let passed = passed(&all, &["MINE".to_owned()]);
            assert_eq!(
                passed.get(name).is_some_and(|it| it == value),
                is_passed,
                "{name}={value}"
            );
        }
    }

    #[test]
    fn libraries_are_looked_for_in_absolute_folders_only() {
        for (value, expected) in [
            (":/opt/lib::lib:./x;/usr/lib:", Some("/opt/lib:/usr/lib")),
            ("lib:", None),
        ] {
            let all = BTreeMap::from([(LIBRARIES.to_owned(), value.to_owned())]);
            let passed = passed(&all, &[]);
            assert_eq!(passed.get(LIBRARIES).map(String::as_str), expected);
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
