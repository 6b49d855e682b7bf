//! What a model calls a server's tool: `server__tool`, made of characters that every provider takes. Pure. Invariant:
//! no two tools get one name, and a name depends on the configuration and on the server's own list alone, never on who
//! came up first.
//!
//! The part before the first `__` tells the server: a part for a server holds no `__` and ends with no `_`. What was
//! changed to fit, and would meet another name, ends with a few digits of the digest of what it stood for.

use std::collections::BTreeSet;

use crate::files::digest;

const BETWEEN: &str = "__";
/// Longer names are refused by some providers.
const LONGEST: usize = 64;
const LONGEST_SERVER: usize = 24;
const DIGITS: usize = 6;

/// A part for each server, in order; `servers` are different from one another.
pub(super) fn of_servers<'a>(servers: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let servers: Vec<&str> = servers.into_iter().collect();
    let exact: BTreeSet<String> = servers
        .iter()
        .filter(|name| server_part(name) == **name)
        .map(|name| (*name).to_owned())
        .collect();
    let mut taken = exact.clone();
    servers
        .into_iter()
        .map(|name| {
            if exact.contains(name) {
                return name.to_owned();
            }
            let plain = server_part(name);
            free(plain, name, LONGEST_SERVER, &mut taken)
        })
        .collect()
}

/// A name for each tool of the server that has the part `server`, in order. `taken` are names of others.
pub(super) fn of_tools(server: &str, tools: &[&str], taken: &BTreeSet<String>) -> Vec<String> {
    let whole = |tool: &str| format!("{server}{BETWEEN}{tool}");
    let is_exact = |tool: &str| fitting(tool) == tool && whole(tool).len() <= LONGEST;
    let mut taken = taken.clone();
    let exact: Vec<bool> = tools
        .iter()
        .map(|tool| is_exact(tool) && taken.insert(whole(tool)))
        .collect();
    let tools = tools.iter().zip(exact);
    tools
        .map(|(tool, is_exact)| {
            if is_exact {
                return whole(tool);
            }
            free(whole(&fitting(tool)), tool, LONGEST, &mut taken)
        })
        .collect()
}

/// Returns whether a name is one of a tool of the server that has the part `server`.
pub(super) fn is_of(server: &str, name: &str) -> bool {
    name.split_once(BETWEEN)
        .is_some_and(|(part, tool)| part == server && !tool.is_empty())
}

/// Only what every provider takes in a name.
fn fitting(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn server_part(name: &str) -> String {
    let mut part = fitting(name);
    while part.contains(BETWEEN) {
        part = part.replace(BETWEEN, "_");
    }
    part.truncate(LONGEST_SERVER);
    let part = part.trim_end_matches('_');
    if part.is_empty() {
        "server".to_owned()
    } else {
        part.to_owned()
    }
}

/// `plain` if it is short enough and nobody has it, else cut and with digits of `original`'s digest.
fn free(plain: String, original: &str, longest: usize, taken: &mut BTreeSet<String>) -> String {
    if plain.len() <= longest && taken.insert(plain.clone()) {
        return plain;
    }
    let mut seed = original.to_owned();
    loop {
        let mut name = plain.clone();
        name.truncate(longest - DIGITS - 1);
        let name = format!("{name}-{}", digits(&seed));
        if taken.insert(name.clone()) {
            return name;
        }
        // Two names with the same digits, or one listed twice.
        seed.push('+');
    }
}

fn digits(text: &str) -> String {
    let mut digest = digest(text.as_bytes());
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tools(server: &str, tools: &[&str], taken: &[&str]) -> Vec<String> {
        let taken = taken.iter().map(|name| (*name).to_owned()).collect();
        of_tools(server, tools, &taken)
    }

    #[test]
    fn odd_characters_become_underscores_and_the_exact_name_wins() {
        assert_eq!(
            tools("files", &["read_file", "a.b"], &[]),
            ["files__read_file", "files__a_b"]
        );
        let met = tools("s", &["a.b", "a_b", "a b"], &[]);
        assert_eq!(met[1], "s__a_b");
        assert!(
            met[0].starts_with("s__a_b-") && met[2].starts_with("s__a_b-") && met[0] != met[2],
            "{met:?}"
        );
        assert_eq!(tools("s", &["日本"], &[]), ["s____"]);
    }

    #[test]
    fn a_name_of_somebody_else_is_left_to_them() {
        let names = tools("s", &["x", "y"], &["s__x"]);
        assert!(names[0].starts_with("s__x-"), "{names:?}");
        assert_eq!(names[1], "s__y");
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let (one, two) = (
            format!("{}1", "x".repeat(80)),
            format!("{}2", "x".repeat(80)),
        );
        let names = tools("server", &[&one, &two], &[]);
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| name.len() == LONGEST), "{names:?}");
    }

    #[test]
    fn servers_with_names_alike_get_parts_that_cannot_meet() {
        let parts = of_servers(["my.files", "my_files", "a__b", "a_b", "end_", ""]);
        assert_eq!((parts[1].as_str(), parts[3].as_str()), ("my_files", "a_b"));
        assert!(
            parts[0].starts_with("my_files-") && parts[2].starts_with("a_b-"),
            "{parts:?}"
        );
        assert_eq!((parts[4].as_str(), parts[5].as_str()), ("end", "server"));
    }

    proptest! {
        #[test]
        fn every_tool_of_every_server_has_a_name_of_its_own_that_any_provider_takes(
            servers in prop::collection::btree_map("[a-b_. é]{0,30}", prop::collection::vec("[a-b_. é]{0,70}", 0..6), 0..5)
        ) {
            let parts = of_servers(servers.keys().map(String::as_str));
            let mut seen = BTreeSet::new();
            for (part, listed) in parts.iter().zip(servers.values()) {
                let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
                for name in of_tools(part, &listed, &BTreeSet::new()) {
                    prop_assert!(name.len() <= LONGEST);
                    prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
                    prop_assert!(seen.insert(name.clone()), "{name} twice");
                }
            }
        }
    }
}
