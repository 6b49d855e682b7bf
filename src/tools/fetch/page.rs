//! A body as a model can read it. Unit: one answer of a server. Pure.

use std::borrow::Cow;

use html2text::{Handle, NodeData, RcDom, config};

/// Columns of a page's text.
const WIDTH: usize = 100;

/// Parts of a page that are not what it says.
const SKIPPED: [&str; 11] = [
    "script", "style", "nav", "noscript", "template", "svg", "iframe", "object", "dialog",
    "select", "button",
];

/// Deeper pages are made to break whoever reads them.
const DEEPEST: usize = 300;

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
    let settings = config::plain().link_footnotes(true).allow_width_overflow();
    let dom = settings.parse_html(html.as_bytes()).ok()?;
    let title = title(&dom);
    prune(&dom.document);
    let tree = settings.dom_to_render_tree(&dom).ok()?;
    let text = settings.render_to_string(tree, WIDTH).ok()?;
    Some(Page { title, text })
}

/// Takes out what is not read, and what is too deep.
fn prune(root: &Handle) {
    let mut next = vec![(root.clone(), 0)];
    while let Some((node, depth)) = next.pop() {
        let mut children = node.children.borrow_mut();
        if depth >= DEEPEST {
            children.clear();
        }
        children.retain(|child| name(child).is_none_or(|name| !SKIPPED.contains(&name)));
        next.extend(children.iter().map(|child| (child.clone(), depth + 1)));
    }
}

fn title(dom: &RcDom) -> Option<String> {
    let mut next = vec![dom.document.clone()];
    while let Some(node) = next.pop() {
        if name(&node) == Some("title") {
            let text: String = node.children.borrow().iter().filter_map(words).collect();
            let line = crate::net::one_line(&text);
            return Some(line).filter(|line| !line.is_empty());
        }
        // The first of them is looked at first.
        next.extend(node.children.borrow().iter().rev().cloned());
    }
    None
}

fn name(node: &Handle) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

fn words(node: &Handle) -> Option<String> {
    match &node.data {
        NodeData::Text { contents } => Some(contents.borrow().to_string()),
        _ => None,
    }
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
            "# Head\n\nSome [link][1] here.\n\n* one\n* two\n\n[1]: https://example.com/x\n"
        );
    }

    #[test]
    fn pages_that_are_no_pages_do_no_harm() {
        let deep = "<div>".repeat(100_000) + "x";
        let tables = "<table><tr><td>".repeat(2_000) + "x";
        let lists = "<ul><li>".repeat(20_000);
        let quotes = "<blockquote>".repeat(20_000) + "x";
        let words = "word ".repeat(200_000);
        for html in ["", "<", "<title>", &deep, &tables, &lists, &quotes, &words] {
            let text = page(html).unwrap_or_default().text;
            assert!(text.len() <= html.len() + 100_000, "{}", text.len());
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
