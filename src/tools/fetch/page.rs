//! A body as a model can read it. Unit: one answer of a server. Pure.

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
    /// Whether there is more than the text.
    pub(super) is_cut: bool,
}

impl Page {
    pub(super) fn untitled(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
