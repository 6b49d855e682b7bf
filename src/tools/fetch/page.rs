//! A body as a model can read it. Unit: one answer of a server. Pure.

use std::borrow::Cow;

use html2text::{Element, Handle, config};

use crate::net::one_line;

/// Columns of a page's text.
const WIDTH: usize = 100;

/// Parts of a page that are not what it says.
const SKIPPED: [&str; 11] = [
    "script", "style", "nav", "noscript", "template", "svg", "iframe", "object", "dialog",
    "select", "button",
];

/// Reading a page takes time with the square of its depth, and deeper ones are made for that.
const DEEPEST: usize = 200;

/// Elements that end by themselves: those without content, and those that another of their kind ends.
const SHALLOW: [&str; 27] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "param", "rp", "rt", "source", "tbody", "td", "th", "thead", "tr",
    "track", "wbr",
];

/// What kind of text a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Other,
}

impl Kind {
    /// By the type that a server names, without its parameters and in lower case.
    pub(super) fn of(media_type: &str) -> Self {
        let is_text = media_type.starts_with("text/")
            || media_type.ends_with("+json")
            || media_type.ends_with("+xml")
            || TEXTS.contains(&media_type);
        match media_type {
            "text/html" | "application/xhtml+xml" => Self::Html,
            _ if is_text => Self::Text,
            _ => Self::Other,
        }
    }
}

const TEXTS: [&str; 8] = [
    "application/json",
    "application/x-ndjson",
    "application/xml",
    "application/javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
];

/// A page's title and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) text: String,
}

/// A web page as plain text with its links behind it; `None` if it cannot be read.
pub(super) fn page(html: &str) -> Option<Page> {
    if is_deep(html) {
        return None;
    }
    let settings = config::plain().link_footnotes(true).allow_width_overflow();
    let dom = settings.parse_html(html.as_bytes()).ok()?;
    let title = title(html);
    prune(&dom.document);
    let tree = settings.dom_to_render_tree(&dom).ok()?;
    let text = settings.render_to_string(tree, WIDTH).ok()?;
    Some(Page { title, text })
}

/// Whether elements lie too deep in each other, by their tags. What is never ended counts to the end of the page, as it may
/// for a parser, which opens it again and again.
fn is_deep(html: &str) -> bool {
    let mut open: Vec<String> = Vec::new();
    for tag in html.split('<').skip(1) {
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = name[..length].to_ascii_lowercase();
        let is_code = matches!(open.last().map(String::as_str), Some("script" | "style"));
        if is_end {
            if let Some(at) = open.iter().rposition(|open| *open == name) {
                open.remove(at);
            }
        } else if !is_code && !name.is_empty() && !SHALLOW.contains(&name.as_str()) {
            open.push(name);
        }
        if open.len() > DEEPEST {
            return true;
        }
    }
    false
}

/// Takes out what is not read.
fn prune(root: &Handle) {
    let mut next = vec![root.clone()];
    while let Some(node) = next.pop() {
        let mut children = node.children.borrow_mut();
        children.retain(|child| name(child).is_none_or(|name| !SKIPPED.contains(&name)));
        next.extend(children.iter().cloned());
    }
}

fn name(node: &Handle) -> Option<&str> {
    match &node.data {
        Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// What stands in the title, read as a page of its own for the sake of its entities.
fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let from = tag + lower[tag..].find('>')? + 1;
    let to = from + lower[from..].find("</title")?;
    let text = config::plain_no_decorate()
        .string_from_read(&html.as_bytes()[from..to], WIDTH)
        .ok()?;
    Some(one_line(&text)).filter(|title| !title.is_empty())
}

/// The character set that a page names itself, for a server that names none.
pub(super) fn own_charset(body: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&body[..body.len().min(2048)]).to_ascii_lowercase();
    let meta = &start[start.find("<meta")?..];
    let named = &meta[meta.find("charset=")? + "charset=".len()..];
    let named = named.trim_start_matches(['"', '\'']);
    let end = named.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'));
    let charset = &named[..end.unwrap_or(named.len())];
    Some(charset.to_owned()).filter(|charset| !charset.is_empty())
}

/// Blank lines one at a time.
pub(super) fn tidy(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.trim().lines().map(str::trim_end) {
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_words_and_links() {
        let html = "<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style></head><body>\
            <nav><a href=/menu>menu</a></nav><script>alert(1)</script><noscript>no</noscript>\
            <h1>Head</h1><p>Some <a href='https://example.com/x'>link</a> here.</p>\
            <ul><li>one<li>two</ul><button>press</button></body></html>";
        let page = page(html).unwrap();
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert_eq!(
            tidy(&page.text),
            "# Head\n\nSome [link][1] here.\n* one\n* two\n\n[1]: https://example.com/x\n"
        );
    }

    #[test]
    fn pages_that_are_no_pages_do_no_harm() {
        for (piece, n, is_read) in [
            ("", 1, true),
            ("<", 1, true),
            ("<title>", 1, true),
            ("<div>", DEEPEST, true),
            ("<div>", 100_000, false),
            ("<table><tr><td>", 6, true),
            ("<table><tr><td>", 10, true),
            ("<table><tr><td>", 2_000, false),
            ("<ul><li>", 50, true),
            ("<ul><li>", 20_000, false),
            ("<b></i>", 100_000, false),
            ("<div><b></div>", 100_000, false),
            ("<div><b>x</b></div>", 1_000, true),
            ("<script>'<div>'</script>", 1_000, true),
            ("<p>", 10_000, true),
            ("word ", 100_000, true),
        ] {
            let read = page(&piece.repeat(n));
            assert_eq!(read.is_some(), is_read, "{n} times {piece:?}");
        }
    }

    #[test]
    fn kinds_are_known_by_their_type() {
        for (media_type, expected) in [
            ("text/html", Kind::Html),
            ("application/xhtml+xml", Kind::Html),
            ("text/plain", Kind::Text),
            ("application/json", Kind::Text),
            ("application/ld+json", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("image/png", Kind::Other),
            ("application/pdf", Kind::Other),
            ("application/octet-stream", Kind::Other),
        ] {
            assert_eq!(Kind::of(media_type), expected, "{media_type}");
        }
    }

    #[test]
    fn a_page_may_name_its_characters_itself() {
        for (html, expected) in [
            ("<meta charset=\"ISO-8859-1\">", Some("iso-8859-1")),
            (
                "<head><META http-equiv=x content='text/html; charset=windows-1252'>",
                Some("windows-1252"),
            ),
            ("<meta charset=>", None),
            ("<p>charset=x", None),
        ] {
            assert_eq!(own_charset(html.as_bytes()).as_deref(), expected, "{html}");
        }
    }
}
