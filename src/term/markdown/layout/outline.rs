//! Where the outermost blocks of a part of a document begin.

use pulldown_cmark::{Event, Parser, Tag};

use super::{Kind, line_start, options};

/// A block of the outermost level, or an item of a list there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::term::markdown) struct Begin {
    /// Where its first line begins.
    pub(in crate::term::markdown) at: usize,
    pub(in crate::term::markdown) kind: Kind,
}

/// Returns the begins of a part's outermost blocks and of the items of its outermost lists.
pub(in crate::term::markdown) fn outline(source: &str) -> Vec<Begin> {
    let mut begins = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        let at = line_start(source, range.start);
        match &event {
            Event::Start(tag) => {
                if depth == 0 {
                    let kind = kind_of(tag);
                    begins.push(Begin { at, kind });
                } else if depth == 1 && matches!(tag, Tag::Item) {
                    begins.push(Begin {
                        at,
                        kind: Kind::List,
                    });
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Rule if depth == 0 => begins.push(Begin {
                at,
                kind: Kind::Rule,
            }),
            _ => {}
        }
    }
    begins
}

fn kind_of(tag: &Tag<'_>) -> Kind {
    match tag {
        Tag::Heading { .. } => Kind::Heading,
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::CodeBlock(_) => Kind::Code,
        Tag::List(_) => Kind::List,
        Tag::Table(_) => Kind::Table,
        Tag::HtmlBlock => Kind::Html,
        _ => Kind::Paragraph,
    }
}
