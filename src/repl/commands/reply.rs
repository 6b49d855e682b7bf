//! `/copy` and `/save`: a reply taken elsewhere.

use std::path::PathBuf;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{Answer, CommandError, Deed, Next, ReplContext, cannot, export, usage};
use crate::chat::{Role, Session};
use crate::files::{Existing, write_for_person};
use crate::repl::listing::count;

/// `/copy`, `/copy 2`, `/copy code`.
pub(super) async fn copy(repl: &mut ReplContext, arguments: &str) -> Result<Next, CommandError> {
    let session = repl.session();
    let (what, text) = match arguments {
        "code" => {
            let code = replies(session).find_map(|reply| last_code(&reply));
            let code = code.ok_or_else(|| cannot("no reply has a code block", None))?;
            ("the last code block".to_owned(), code)
        }
        "" => ("the last reply".to_owned(), reply(session, 1)?),
        number => {
            let n: usize = number
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| usage("copy", format!("does not know {number:?}")))?;
            let which = match n {
                1 => "the last reply".to_owned(),
                n => format!("reply {n} from the end"),
            };
            (which, reply(session, n)?)
        }
    };
    Ok(Next::Copy { what, text })
}

/// `/save FILE`.
pub(super) async fn save(repl: &mut ReplContext, file: &str) -> Result<Next, CommandError> {
    if file.is_empty() {
        return Err(usage("save", "needs a file name"));
    }
    let text = reply(repl.session(), 1)?;
    let reply = Saved {
        path: export::typed_path(file, repl.env.places.home.as_deref()),
        file: file.to_owned(),
        text,
    };
    // A script is not asked.
    if repl.questions.is_some() && reply.path.is_file() {
        let question = format!("{file} exists. Overwrite it?");
        return Ok(Next::Confirm(question, Deed::Save(reply)));
    }
    reply.write(Existing::Stays).map(Next::Answer)
}

/// A reply on its way to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    path: PathBuf,
    /// As it was typed.
    file: String,
    text: String,
}

impl Saved {
    pub(super) fn write(self, existing: Existing) -> Result<Answer, CommandError> {
        let Self { path, file, text } = self;
        let ended = format!("{}\n", text.trim_end_matches('\n'));
        write_for_person(&path, ended.as_bytes(), existing).map_err(|source| {
            CommandError::Export {
                path: file.clone(),
                source,
            }
        })?;
        let chars = count(text.chars().count(), "character");
        Ok(Answer {
            text: format!("Saved the last reply to {file} ({chars})"),
            warning: None,
        })
    }
}

/// Replies that count, newest first.
fn replies(session: &Session) -> impl Iterator<Item = String> {
    session.live_turns().rev().filter_map(|turn| {
        let last = session.messages_of(turn).last()?;
        let is_reply = last.role == Role::Assistant && !last.is_no_reply();
        is_reply.then(|| last.said().into_owned())
    })
}

fn reply(session: &Session, n: usize) -> Result<String, CommandError> {
    let mut replies = replies(session).peekable();
    if replies.peek().is_none() {
        return Err(CommandError::NoReplies);
    }
    replies.nth(n - 1).ok_or(CommandError::NoReply)
}

/// Returns the last code block of a Markdown text, as it was written.
fn last_code(text: &str) -> Option<String> {
    let mut last = None;
    let mut open: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => open = Some(String::new()),
            Event::Text(text) => {
                if let Some(code) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => last = open.take(),
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_code_block_is_taken_without_its_fence() {
        let text =
            "A:\n\n```sh\nls\n```\n\n- item\n\n  ```rust\n  fn main() {\n  }\n  ```\n\nend `x`";
        assert_eq!(last_code(text).as_deref(), Some("fn main() {\n}\n"));
        assert_eq!(last_code("no `code` block"), None);
        assert_eq!(last_code("```\nunclosed").as_deref(), Some("unclosed"));
    }
}
