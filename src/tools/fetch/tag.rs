//! What the elements of HTML mean for a text, and the few attributes that matter. Unit: one tag. Pure.

use crate::net::one_line;

/// Bytes of a link's address; what is longer holds the data itself.
const MAX_ADDRESS: usize = 2_000;

/// Elements that are not what a page says.
const SKIPPED: [&[u8]; 16] = [
    b"script",
    b"style",
    b"nav",
    b"noscript",
    b"template",
    b"svg",
    b"iframe",
    b"object",
    b"dialog",
    b"select",
    b"button",
    b"textarea",
    b"audio",
    b"video",
    b"canvas",
    b"noframes",
];

/// What an element means for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Block,
    /// Pages leave out its end, so it is never an open element.
    Paragraph,
    /// The same, without blank lines around it.
    Line,
    Break,
    Rule,
    Image,
    Heading(usize),
    /// Its items have numbers.
    Ordered,
    List,
    Item,
    Quote,
    Pre,
    Code,
    Link,
    Table,
    Row,
    Cell,
    Title,
    /// By its index in `SKIPPED`.
    Skipped(usize),
}

impl Tag {
    /// Returns `None` for an element that changes nothing about its words.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"div" | b"section" | b"article" | b"main" | b"header" | b"footer" | b"aside"
            | b"form" | b"fieldset" | b"figure" | b"details" | b"address" | b"center" | b"dl" => {
                Self::Block
            }
            b"p" => Self::Paragraph,
            b"dt" | b"dd" | b"summary" | b"figcaption" | b"caption" | b"legend" => Self::Line,
            b"br" => Self::Break,
            b"hr" => Self::Rule,
            b"img" => Self::Image,
            [b'h', level @ b'1'..=b'6'] => Self::Heading(usize::from(level - b'0')),
            b"ol" => Self::Ordered,
            b"ul" | b"menu" => Self::List,
            b"li" => Self::Item,
            b"blockquote" => Self::Quote,
            b"pre" | b"xmp" => Self::Pre,
            b"code" | b"kbd" | b"samp" => Self::Code,
            b"a" => Self::Link,
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"title" => Self::Title,
            _ => Self::Skipped(SKIPPED.iter().position(|skipped| *skipped == name)?),
        })
    }

    /// Tells whether it can hold others.
    pub(super) fn is_open(self) -> bool {
        !matches!(
            self,
            Self::Paragraph | Self::Line | Self::Break | Self::Rule | Self::Image
        )
    }

    /// Tells whether an end of this element stays within `open` and does not reach what is around that.
    pub(super) fn ends_within(self, open: Self) -> bool {
        match self {
            Self::Table | Self::Skipped(_) => false,
            Self::Code | Self::Link => !matches!(open, Self::Code | Self::Link),
            Self::Row | Self::Cell => open == Self::Table,
            Self::Item => matches!(open, Self::List | Self::Ordered | Self::Table),
            _ => matches!(open, Self::Cell | Self::Table),
        }
    }
}

/// A start tag as far as it was read.
#[derive(Debug)]
pub(super) struct StartTag {
    pub(super) tag: Tag,
    pub(super) attribute: Option<Attribute>,
    pub(super) address: Option<String>,
    pub(super) alternative: String,
    pub(super) first_number: usize,
}

/// An attribute that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Address,
    Alternative,
    FirstNumber,
}

impl Attribute {
    pub(super) fn of(tag: Tag, name: &[u8]) -> Option<Self> {
        match (tag, name) {
            (Tag::Link, b"href") => Some(Self::Address),
            (Tag::Image, b"alt") => Some(Self::Alternative),
            (Tag::Ordered, b"start") => Some(Self::FirstNumber),
            _ => None,
        }
    }
}

impl StartTag {
    pub(super) fn new(tag: Tag) -> Self {
        Self {
            tag,
            attribute: None,
            address: None,
            alternative: String::new(),
            first_number: 1,
        }
    }

    pub(super) fn set(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        match self.attribute {
            None => {}
            Some(Attribute::Address) => self.address = address(&value),
            Some(Attribute::Alternative) => self.alternative = one_line(&value),
            Some(Attribute::FirstNumber) => {
                self.first_number = value.trim().parse().unwrap_or(1);
            }
        }
    }
}

/// The address of a link that leads to another page.
fn address(value: &str) -> Option<String> {
    let value = value.trim();
    let scheme = value
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let leads_nowhere = value.is_empty()
        || value.starts_with('#')
        || value.len() > MAX_ADDRESS
        || matches!(scheme.as_str(), "javascript" | "data");
    (!leads_nowhere).then(|| value.split_whitespace().collect::<Vec<_>>().join("%20"))
}
