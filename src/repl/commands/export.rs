//! `/export`: the whole session in a file of the person's own.

use std::path::{Path, PathBuf};

use super::{CommandError, Next, ReplContext, usage};
use crate::chat::Session;
use crate::files::{Existing, write_for_person};
use crate::repl::listing::count;
use crate::repl::{html, transcript};
use crate::store;

/// Words for the formats, and what each is good for.
pub const FORMATS: [(&str, &str); 3] = [
    ("md", "Markdown, to read and edit"),
    ("json", "everything, to process or import"),
    ("html", "one page, to read and search"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Markdown,
    Json,
    Html,
}

pub(super) async fn run(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let (format, file) = parse(arguments)?;
    let session = repl.session();
    let text = match format {
        Format::Markdown => markdown(session),
        Format::Json => store::export_json(session),
        Format::Html => html::page(session),
    };
    let path = typed_path(file, repl.env.places.home.as_deref());
    write_for_person(&path, text.as_bytes(), Existing::Stays).map_err(|source| {
        CommandError::Export {
            path: file.to_owned(),
            source,
        }
    })?;
    Next::answer(format!(
        "{} written to {file}",
        count(session.messages().len(), "message")
    ))
}

/// A path as a shell would read it.
pub(super) fn typed_path(typed: &str, home: Option<&Path>) -> PathBuf {
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, _) | (_, None) => PathBuf::from(typed),
    }
}

/// The format is named before the file, or read off its ending.
fn parse(arguments: &str) -> Result<(Format, &str), CommandError> {
    let (first, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let (format, file) = match (first, rest.trim()) {
        ("md", file) => (Some(Format::Markdown), file),
        ("json", file) => (Some(Format::Json), file),
        ("html", file) => (Some(Format::Html), file),
        _ => (None, arguments),
    };
    if file.is_empty() {
        return Err(usage("export", "needs a file name"));
    }
    let ending = Path::new(file).extension().unwrap_or_default();
    // `xml talk.xml`, and `xml talk`.
    let is_format = ending.is_empty() || ending.eq_ignore_ascii_case(first);
    let format = match (format, ending.to_ascii_lowercase().to_str()) {
        (Some(format), _) => format,
        (None, _) if is_format && !rest.is_empty() => {
            return Err(usage(
                "export",
                format!("has no format {first:?} (md, json or html)"),
            ));
        }
        (None, Some("json")) => Format::Json,
        (None, Some("html" | "htm")) => Format::Html,
        (None, Some("" | "md" | "markdown")) => Format::Markdown,
        (None, _) => {
            let ending = ending.to_string_lossy();
            return Err(usage(
                "export",
                format!("cannot write {ending:?}; name a format first: md, json or html"),
            ));
        }
    };
    Ok((format, file))
}

fn markdown(session: &Session) -> String {
    let turns = session.turns().iter().map(|turn| {
        let mark = if turn.withdrawn.is_some() {
            " (withdrawn)"
        } else {
            ""
        };
        let messages = session.messages_of(turn).iter().map(|message| {
            let time = message.at.map(|at| format!(" · {at}")).unwrap_or_default();
            format!(
                "**{}**{time}{mark}\n\n{}\n",
                transcript::speaker(message.role),
                transcript::body(message)
            )
        });
        messages.collect::<Vec<_>>().join("\n")
    });
    let turns = turns.collect::<Vec<_>>().join("\n---\n\n");
    format!("# {}\n\n{turns}", session.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = Some(Path::new("/home/me"));
        for (typed, home, expected) in [
            ("~/notes.md", home, "/home/me/notes.md"),
            ("~/notes.md", None, "~/notes.md"),
            ("notes.md", home, "notes.md"),
            ("/~/notes.md", home, "/~/notes.md"),
        ] {
            assert_eq!(typed_path(typed, home), Path::new(expected), "{typed}");
        }
    }

    #[test]
    fn the_format_is_named_or_read_off_the_file() {
        for (arguments, expected) in [
            ("md notes.txt", Some((Format::Markdown, "notes.txt"))),
            ("json notes", Some((Format::Json, "notes"))),
            ("notes.json", Some((Format::Json, "notes.json"))),
            ("html notes", Some((Format::Html, "notes"))),
            ("Notes.HTML", Some((Format::Html, "Notes.HTML"))),
            ("my notes.md", Some((Format::Markdown, "my notes.md"))),
            ("notes", Some((Format::Markdown, "notes"))),
            ("", None),
            ("md", None),
            ("pdf notes", None),
            ("xml talk.xml", None),
            ("talk.pdf", None),
            ("talk.foo", None),
            ("talk.markdown", Some((Format::Markdown, "talk.markdown"))),
        ] {
            assert_eq!(parse(arguments).ok(), expected, "{arguments:?}");
        }
    }
}
