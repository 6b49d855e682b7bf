//! Which words are paths of files, by tables of endings, names, and what only looks like a file.

use std::collections::HashSet;

use serde::Deserialize;

use super::patterns;
use super::scan::Line;
use crate::text::patterns::{BadPattern, Patterns};

/// What is known of file names, in every language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Endings that make a word a file.
    extensions: Vec<String>,
    /// Endings that do so only behind a folder, because fields are called so too.
    shy: Vec<String>,
    /// Endings that are fields behind a name of one letter or a receiver: `console.log`.
    fields: Vec<String>,
    /// Endings that are fields behind a name of one letter: `r.ts`.
    initials: Vec<String>,
    /// Files without ending.
    names: Vec<String>,
    /// Endings of paths to files without ending: `.ssh/config`.
    tails: Vec<String>,
    /// Beginnings of dotted names that are only endings: `.d.ts`, `.test.js`.
    doubles: Vec<String>,
    /// Words that look like files and are none.
    products: Vec<String>,
    receivers: Vec<String>,
    /// What has fields and never endings: `self.rs`.
    selves: Vec<String>,
    /// Last labels of domains.
    domains: Vec<String>,
    /// Schemes of addresses that are files all the same.
    schemes: Vec<String>,
    /// Parts of paths to files nobody edits.
    libraries: Vec<String>,
    /// Beginnings of the names of functions nobody edits, in traces.
    packages: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Paths {
    extensions: HashSet<String>,
    shy: HashSet<String>,
    fields: HashSet<String>,
    initials: HashSet<String>,
    names: HashSet<String>,
    tails: Vec<String>,
    doubles: HashSet<String>,
    products: HashSet<String>,
    receivers: HashSet<String>,
    selves: HashSet<String>,
    domains: HashSet<String>,
    pub(super) schemes: HashSet<String>,
    libraries: Patterns,
    packages: Vec<String>,
}

impl Paths {
    pub(super) fn new(table: Table) -> Self {
        let set = |words: Vec<String>| words.into_iter().collect();
        let parts: Vec<_> = table.libraries.iter().map(|l| regex::escape(l)).collect();
        Self {
            extensions: set(table.extensions),
            shy: set(table.shy),
            fields: set(table.fields),
            initials: set(table.initials),
            names: set(table.names),
            tails: table.tails,
            doubles: set(table.doubles),
            products: set(table.products),
            receivers: set(table.receivers),
            selves: set(table.selves),
            domains: set(table.domains),
            schemes: set(table.schemes),
            libraries: patterns([&format!("(?i){}", parts.join("|"))]),
            packages: table.packages,
        }
    }

    pub(super) fn check(&self) -> Result<(), BadPattern> {
        self.libraries.check()
    }

    /// Whether the path leads to code of others.
    pub(super) fn is_library(&self, path: &str) -> bool {
        self.libraries.is_match(&path.replace('\\', "/"))
    }

    /// Whether a line of a trace is about code of others: `at java.base/java.lang.Thread.run(Thread.java:840)`.
    pub(super) fn is_library_frame(&self, line: &str) -> bool {
        let Some(function) = line.trim_start().strip_prefix("at ") else {
            return false;
        };
        let function = function
            .rsplit_once('/')
            .map_or(
                function,
                |(module, rest)| {
                    if module.contains('(') { function } else { rest }
                },
            );
        let starts = |package: &String| function.starts_with(package.as_str());
        self.packages.iter().any(starts)
    }

    /// Calls `found` for every path, in order, with repeats.
    pub(super) fn scan<'t>(&self, text: &'t str, mut found: impl FnMut(&'t str)) {
        for line in text.lines() {
            if !self.is_library_frame(line) {
                Line::of(self, line).scan(&mut found);
            }
        }
    }

    /// Whether these words name a file.
    pub(super) fn has_file(&self, text: &str) -> bool {
        let mut has = false;
        self.scan(text, |_| has = true);
        has
    }

    /// The path in a word, if it is one. `next` is what follows the word.
    pub(super) fn path<'t>(&self, word: &'t str, next: Option<char>) -> Option<&'t str> {
        let word = trimmed(word);
        if word.is_empty() || word.contains(['*', '%']) && !word.starts_with('%') {
            return None;
        }
        let at = word.rfind(['/', '\\']);
        let name = at.map_or(word, |at| &word[at + 1..]);
        let is_file = if name.is_empty() {
            false
        } else if at.is_some() {
            self.names_file(name) && !self.all_products(word) || self.ends_known(word)
        } else {
            self.names_file_alone(name, next)
        };
        (is_file && !self.is_library(word)).then_some(word)
    }

    fn ends_known(&self, path: &str) -> bool {
        self.tails.iter().any(|tail| {
            let before = path.strip_suffix(tail.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    }

    /// Behind a folder.
    pub(super) fn names_file(&self, name: &str) -> bool {
        if self.is_known_name(name) {
            return true;
        }
        let Some((stem, extension)) = name.rsplit_once('.') else {
            return false;
        };
        let is_only_ending = stem.is_empty() || self.is_double(stem);
        !is_only_ending
            && stem.contains(|c: char| c.is_alphanumeric() || c == '_' || c == ']')
            && (self.knows(extension, stem) || self.shy.contains(extension))
    }

    /// Without a folder, where more words only look like a file.
    fn names_file_alone(&self, name: &str, next: Option<char>) -> bool {
        if self.is_known_name(name) {
            return true;
        }
        let Some((stem, extension)) = name.rsplit_once('.') else {
            return false;
        };
        let first = stem.split('.').next().unwrap_or_default();
        let is_letter = stem.chars().take(2).count() == 1;
        let is_receiver = is_letter || self.receivers.contains(&first.to_lowercase());
        let is_field = self.selves.contains(&first.to_lowercase())
            || (is_receiver && self.fields.contains(extension))
            || (is_letter && (extension.len() == 1 || self.initials.contains(extension)));
        let is_call = next == Some('(');
        let is_shy = self.shy.contains(extension) && stem.starts_with("lib");
        let is_variable = name.starts_with('$');
        !(stem.is_empty() || is_field || is_call || is_variable || self.is_double(stem))
            && stem.contains(char::is_alphanumeric)
            && (self.knows(extension, stem) || is_shy)
            && !self.products.contains(&name.to_lowercase())
    }

    fn is_double(&self, stem: &str) -> bool {
        let stem = stem.strip_prefix('.');
        stem.is_some_and(|stem| self.doubles.contains(stem))
    }

    /// `README.MD` is a file, `org.hibernate.SQL` and `end.So` are none.
    fn knows(&self, extension: &str, stem: &str) -> bool {
        let is_upper = !extension.contains(|c: char| c.is_lowercase());
        self.extensions.contains(extension)
            || (is_upper
                && !stem.contains('.')
                && self.extensions.contains(&extension.to_lowercase()))
    }

    /// `Dockerfile`, `.env`, and with a lower-case ending: `Dockerfile.prod`, `.env.local`, `LICENSE-MIT`.
    fn is_known_name(&self, name: &str) -> bool {
        if self.names.contains(name) {
            return true;
        }
        let is_dotfile = name.len() > 3
            && name.starts_with('.')
            && !name[1..].contains('.')
            && (name.ends_with("rc") || name.ends_with("ignore"));
        let from = name.chars().next().map_or(0, char::len_utf8);
        let at = name[from..].find(['.', '-']).map(|at| at + from);
        let has_ending = at.is_some_and(|at| {
            let (base, ending) = (&name[..at], &name[at + 1..]);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            let license = name[at..].starts_with('-') && base == "LICENSE";
            let ends = ending.chars().all(|c| plain(c) || "-_.".contains(c));
            self.names.contains(base)
                && !base.contains('.')
                && (license || ends && !ending.is_empty() && name[at..].starts_with('.'))
                || base == ".env" && ends && !ending.is_empty()
        });
        is_dotfile || has_ending
    }

    /// `Vue.js/React.js`.
    fn all_products(&self, word: &str) -> bool {
        let mut parts = word.split('/').filter(|part| part.contains('.'));
        parts.all(|part| self.products.contains(&part.to_lowercase()))
    }

    /// Whether a word begins an address: `docs.example.io/guide`, `10.0.0.1`, `ops@example.com`.
    pub(super) fn is_address(&self, word: &str) -> bool {
        let first = word.split(['/', '\\']).next().unwrap_or_default();
        let is_mail = word
            .char_indices()
            .any(|(at, c)| c == '@' && at > 0 && !word[..at].ends_with('/'));
        let is_number =
            first.contains('.') && first.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let has_rest = first.len() < word.len();
        let label = first.trim_end_matches('.').rsplit_once('.');
        let is_domain = label.is_some_and(|(host, label)| {
            !self.is_known_name(first)
                && !host.is_empty()
                && !host.starts_with('.')
                && self.domains.contains(label)
        });
        let is_product = has_rest && self.products.contains(&first.to_lowercase());
        is_mail
            || (is_number && first.trim_end_matches('.').contains('.'))
            || is_domain
            || (is_product && !self.all_products(word))
            || first.starts_with("www.")
            || first == "localhost"
    }
}

/// Without emphasis, `./`, and what ends a sentence.
fn trimmed(word: &str) -> &str {
    let mut word = word.trim_end_matches(['*', '.', '-', '~', '+', '@', '$']);
    let bare = word.trim_start_matches('*');
    if bare.starts_with(char::is_alphanumeric) {
        word = bare;
    }
    word = word.trim_start_matches('-');
    if let Some(rest) = word.strip_prefix('@')
        && !rest.starts_with('/')
    {
        word = rest;
    }
    loop {
        let rest = ["./", ".../"].iter().find_map(|p| word.strip_prefix(p));
        match rest {
            Some(rest) => word = rest,
            None => return word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::embedded;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        embedded().paths.scan(text, |path| found.push(path));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn files_are_found_however_they_are_written() {
        for (text, expected) in [
            ("see main.rs, then ./lib/x.py.", ["main.rs", "lib/x.py"]),
            ("`a/b.ts:42:7` and x.cs(33,21): error", ["a/b.ts", "x.cs"]),
            (
                "[guide](docs/in.md#top) **src/auth.py**",
                ["docs/in.md", "src/auth.py"],
            ),
            (
                "app/[id]/page.tsx (app/(shop)/layout.tsx)",
                ["app/[id]/page.tsx", "app/(shop)/layout.tsx"],
            ),
            (
                "\"D:\\My Games\\a.bin\" ..\\b.exe",
                ["D:\\My Games\\a.bin", "..\\b.exe"],
            ),
            (
                "the Makefile and Dockerfile.dev",
                ["Makefile", "Dockerfile.dev"],
            ),
            (".env.local, ~/.gitconfig", [".env.local", "~/.gitconfig"]),
            ("diff --git a/x.rs b/y.rs", ["x.rs", "y.rs"]),
            (
                "at f (/app/a.js:1:2)\n  File \"b.py\", line 3",
                ["/app/a.js", "b.py"],
            ),
            (
                "--config=web.prod.js FILE=prod.env",
                ["web.prod.js", "prod.env"],
            ),
            (
                "我在编译src/net/a.cpp时，构建脚本是CMakeLists.txt。",
                ["src/net/a.cpp", "CMakeLists.txt"],
            ),
            (
                "file:///srv/x.mjs:3:1 Übersicht.md",
                ["/srv/x.mjs", "Übersicht.md"],
            ),
            (
                "+page.svelte at src/routes/+page.svelte",
                ["page.svelte", "src/routes/+page.svelte"],
            ),
            ("utils.py's tests/t.py::test_y", ["utils.py", "tests/t.py"]),
        ] {
            check(text, &expected);
        }
    }

    #[test]
    fn what_only_looks_like_a_file_is_none() {
        for text in [
            "https://x.org/a/b.html?c=d.json and www.x.com/i.html",
            "docs.example.io/guide/index.html 10.0.3.7:80/x.html localhost:80/a.js",
            "git@github.com:a/b.rs ops@example.com",
            "1.2.3 v2.0.0-rc.1 e.g. i.e. d.h. 24/7 3.5 TCP/IP",
            "os.path.join(a) res.json() console.log self.rs this.state.css r.ts",
            "Node.js, Vue.js and ASP.NET; done.Then style.So org.hibernate.SQL",
            "src/ ~/project /etc/nginx/ src/lib/helpers",
            "*.py **/*.{ts,tsx} src/*/x.rs test_*.py !**/*.d.ts",
            ".py .tsx .d.ts .test.js",
            "node_modules/a/b.js /usr/lib/python3/x.py ~/.cargo/registry/src/x/lib.rs",
            "\tat java.base/java.lang.Thread.run(Thread.java:840)",
            "#include <stdio.h>",
            "@babel/core lodash.merge@4.6.2 react@18.2.0/index.js",
            "${root}/x.py <id>/y.rs",
        ] {
            check(text, &[]);
        }
    }
}
