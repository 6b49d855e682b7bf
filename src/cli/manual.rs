//! Help, man pages and completion scripts, all made from the definition of the arguments.

use std::io::{self, Write};
use std::path::Path;
use std::process;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::args::{Args, examples};
use super::report::{CliError, Exit};
use crate::files::{Existing, write_for_person};
use crate::repl::listing::count;
use crate::term::Output;

/// How often a flag is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Often,
    /// `--help` leaves it out, `--help-all` has it.
    Seldom,
}
use Need::{Often, Seldom};

/// The flags of a chat under their headings, in the order in which these show them.
const GROUPS: [(&str, &[(&str, Need)]); 6] = [
    (
        "Session",
        &[
            ("session", Often),
            ("resume", Often),
            ("resume_last", Often),
            ("last", Seldom),
            ("private", Often),
            ("no_lock", Seldom),
        ],
    ),
    (
        "Model and memory",
        &[
            ("model", Often),
            ("mode", Often),
            ("context_preset", Seldom),
        ],
    ),
    (
        "One question",
        &[
            ("prompt", Often),
            ("prompt_file", Seldom),
            ("output", Often),
            ("json", Often),
            ("timeout", Seldom),
            ("lines", Often),
        ],
    ),
    (
        "Tools",
        &[
            ("tools", Often),
            ("no_confirm", Often),
            ("read_only", Often),
            ("sandbox", Seldom),
            ("project", Often),
            ("trust_folder", Seldom),
        ],
    ),
    (
        "Screen",
        &[
            ("plain", Often),
            ("no_stream", Seldom),
            ("no_banner", Seldom),
            ("quiet", Often),
            ("verbose", Often),
        ],
    ),
    (
        "Files",
        &[
            ("config_file", Often),
            ("data_dir", Often),
            ("workspace", Seldom),
            ("log", Seldom),
        ],
    ),
];

/// The arguments with every flag shown.
pub(super) fn all() -> Command {
    grouped(|_| false)
}

/// The arguments as they are parsed, and as `--help` shows them.
pub(super) fn usual() -> Command {
    grouped(|need| need == Seldom)
}

fn grouped(hides: impl Fn(Need) -> bool) -> Command {
    Args::command().mut_args(|arg| {
        let id = arg.get_id().as_str();
        let groups = GROUPS.iter().enumerate();
        let mut flags = groups.flat_map(|(group, (heading, flags))| {
            let flags = flags.iter().enumerate();
            flags.map(move |(index, flag)| (100 * (group + 1) + index, *heading, *flag))
        });
        let found = flags.find(|(_, _, (flag, _))| *flag == id);
        match found {
            Some((order, heading, (_, need))) => arg
                .help_heading(heading)
                .display_order(order)
                .hide(hides(need)),
            None => arg,
        }
    })
}

/// Prints the help with every flag.
pub(super) fn help_all(output: &mut Output) -> Exit {
    let help = all().after_help(examples(output.columns())).render_help();
    output.answer(&help.to_string());
    Exit::Ok
}

/// Prints the manual page, or writes the pages of all commands into a folder.
pub(super) fn print_or_write(folder: Option<&Path>, output: &mut Output) -> Result<Exit, CliError> {
    let mut command = all().disable_help_subcommand(true);
    command.build();
    let Some(folder) = folder else {
        let page = page(command)?.1;
        if !output.is_interactive() || !shown_by_man(&page) {
            output.answer(&page);
        }
        return Ok(Exit::Ok);
    };
    let mut pages = Vec::new();
    collect(command, &mut pages)?;
    for (name, text) in &pages {
        let path = folder.join(name);
        write_for_person(&path, text.as_bytes(), Existing::IsReplaced).map_err(|source| {
            CliError::File {
                action: "write",
                path,
                source,
            }
        })?;
    }
    let pages = count(pages.len(), "page");
    output.notice(&format!("{pages} written to {}", folder.display()));
    Ok(Exit::Ok)
}

/// Whether there is a `man` that showed the page.
fn shown_by_man(page: &str) -> bool {
    let mut man = process::Command::new("man");
    let Ok(mut man) = man.args(["-l", "-"]).stdin(process::Stdio::piped()).spawn() else {
        return false;
    };
    // Who leaves the pager early reads no further.
    let written = man
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(page.as_bytes()));
    drop(written);
    man.wait().is_ok_and(|status| status.success())
}

fn collect(command: Command, pages: &mut Vec<(String, String)>) -> Result<(), CliError> {
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        collect(inner.clone(), pages)?;
    }
    pages.push(page(command)?);
    Ok(())
}

/// A page: its file's name and its text.
fn page(command: Command) -> Result<(String, String), CliError> {
    let man = Man::new(command);
    let mut text = Vec::new();
    man.render(&mut text)
        .map_err(|source: io::Error| CliError::Runtime { source })?;
    // What the help ends with has a heading that says nothing.
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
    Ok((man.get_filename(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_its_heading_and_seldom_ones_are_only_in_the_long_help() {
        let usual = usual();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, flags)| flags.iter().map(|(id, _)| *id))
            .collect();
        for arg in usual.get_opts() {
            let id = arg.get_id().as_str();
            let has_place = grouped.contains(&id) || ["help_all", "fault"].contains(&id);
            assert!(has_place, "{id} has no heading");
        }
        let known = |id: &&str| usual.get_opts().any(|arg| arg.get_id() == *id);
        assert_eq!(grouped.iter().find(|id| !known(id)), None);
        let (all, short) = (all().render_long_help(), usual.clone().render_long_help());
        for flag in ["--no-lock", "--log", "--context-preset"] {
            assert!(all.to_string().contains(flag), "{flag}");
            assert!(!short.to_string().contains(flag), "{flag}");
        }
        usual.debug_assert();
    }
}
