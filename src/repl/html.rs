//! A session as one HTML file: it needs nothing from anywhere, runs no script but its own, and can be searched.
//!
//! What was said is never markup: HTML in a message is shown as its text, and the policy in the head forbids every
//! other script and every resource. Links lead to web pages and mail alone; pictures become links.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use sha2::{Digest, Sha256};

use super::listing::count;
use super::transcript::{ended, speaker};
use crate::chat::{Message, Part, Role, Session, Withdrawal};
use crate::term::{harmless, leads_out};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/find.js");

/// Returns the whole file.
pub(super) fn page(session: &Session) -> String {
    let name = escaped(session.name().as_str());
    let mut body = String::new();
    for turn in session.turns() {
        let mark = match turn.withdrawn {
            None => "",
            Some(Withdrawal::Undone) => "undone",
            Some(Withdrawal::Retried) => "asked again",
        };
        for message in session.messages_of(turn) {
            article(&mut body, message, mark);
        }
    }
    let messages = count(session.messages().len(), "message");
    let began = session.meta().created_at;
    let began = began.map_or_else(String::new, |at| format!(" \u{b7} started {at}"));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{name}</h1>\n<p>{messages}{began}</p>\n\
         <p id=\"search\" hidden><input id=\"find\" type=\"search\" placeholder=\"Find\" aria-label=\"Find\"> \
         <span id=\"found\" role=\"status\"></span></p>\n</header>\n<main>\n{body}</main>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// By this the policy knows a text of the file itself.
fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn article(page: &mut String, message: &Message, mark: &str) {
    let class = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let time = message.at.map_or_else(String::new, |at| {
        format!(" <time datetime=\"{}\">{at}</time>", at.iso())
    });
    let mark = if mark.is_empty() {
        String::new()
    } else {
        format!(" <em>{mark}</em>")
    };
    let speaker = speaker(message.role);
    let parts: String = message.parts.iter().map(|it| part(it, message)).collect();
    page.extend([
        format!("<article class=\"{class}\">\n<h2>{speaker}{time}{mark}</h2>\n"),
        parts,
        "</article>\n".to_owned(),
    ]);
}

fn part(part: &Part, message: &Message) -> String {
    match part {
        Part::Text(text) if message.role == Role::Assistant => markdown(text),
        Part::Text(text) => format!("<div class=\"said\">{}</div>\n", escaped(text)),
        Part::ToolCall(call) => folded(&format!("calls {}", call.name), &call.arguments),
        Part::ToolResult {
            name,
            output,
            failed,
            ..
        } => folded(&format!("{name} {}", ended(*failed, output)), output),
        Part::Attached(attached) => aside(&format!("attached {attached}")),
        Part::Image(image) => aside(&image.mark()),
    }
}

fn aside(text: &str) -> String {
    format!("<p class=\"aside\">{}</p>\n", escaped(text))
}

fn folded(summary: &str, text: &str) -> String {
    format!(
        "<details><summary>{}</summary><pre>{}</pre></details>\n",
        escaped(summary),
        escaped(text)
    )
}

/// Markdown as HTML, without any HTML of its own.
fn markdown(text: &str) -> String {
    let text = &harmless(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let events = Parser::new_ext(text, options).map(tamed);
    let mut page = String::new();
    html::push_html(&mut page, events);
    // The policy of the page forbids styles of an element's own. What was said has its `<` escaped.
    for cell in ["<th", "<td"] {
        for side in ["left", "center", "right"] {
            let style = format!("{cell} style=\"text-align: {side}\">");
            page = page.replace(&style, &format!("{cell} class=\"{side}\">"));
        }
    }
    page
}

fn tamed(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(link(link_type, dest_url, title, id)),
        Event::Start(Tag::Image {
            dest_url,
            title,
            id,
            ..
        }) => Event::Start(link(LinkType::Inline, dest_url, title, id)),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    }
}

/// A link that leads to a page or to mail; any other leads nowhere.
fn link<'a>(
    link_type: LinkType,
    dest_url: CowStr<'a>,
    title: CowStr<'a>,
    id: CowStr<'a>,
) -> Tag<'a> {
    let leads_out = link_type == LinkType::Email || leads_out(&dest_url);
    Tag::Link {
        link_type,
        dest_url: if leads_out { dest_url } else { "#".into() },
        title,
        id,
    }
}

/// A text in which nothing is markup and nothing controls anything.
fn escaped(text: &str) -> String {
    let text = harmless(text);
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn html_in_a_reply_is_text_and_links_lead_to_pages_alone() {
        let text = "<script>alert(1)</script>\n\n**bold** <img src=x onerror=alert(1)> \
                    [a](javascript:alert(1)) [b](https://x.org/?a&b) ![pic](https://x.org/p.png) [c](data:text/html,x)";
        let page = markdown(text);
        for evil in ["<script", "<img", "javascript:", "data:"] {
            assert!(!page.contains(evil), "{evil} in {page}");
        }
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
            "{page}"
        );
        assert!(page.contains("<strong>bold</strong>"), "{page}");
        assert!(
            page.contains("<a href=\"https://x.org/?a&amp;b\">b</a>"),
            "{page}"
        );
        assert!(
            page.contains("<a href=\"https://x.org/p.png\">pic</a>"),
            "{page}"
        );
        let page = markdown("| a |\n|--:|\n| b |\n\n`<td style=\"text-align: right\">`");
        assert!(page.contains("<td class=\"right\">b"), "{page}");
        assert!(page.contains("&lt;td style="), "{page}");
    }

    #[test]
    fn nothing_that_was_said_controls_a_terminal_or_turns_the_text_around() {
        let text = "a\u{0}b\u{1b}[2J\u{8}c\u{202e}d";
        for page in [escaped(text), markdown(text)] {
            assert!(page.contains("a␀b␛[2J␈c\u{fffd}d"), "{page:?}");
        }
    }

    #[test]
    fn the_policy_names_the_one_script_and_the_one_style_and_nothing_else() {
        let page = page(&Session::new("tea".parse().unwrap()));
        assert!(page.contains(&digest(SCRIPT)) && page.contains(&digest(STYLE)));
        assert!(page.contains("<title>tea</title>"), "{page}");
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(!page.contains("http://") && !page.contains("https://"));
    }

    proptest! {
        #[test]
        fn no_reply_makes_an_element_that_runs_or_loads_something(
            text in "(<|>|script|img|src=|\"|'|`|\\[|\\]|\\(|\\)|!|javascript:|on|&lt;|&#60;|\\n|\\\\| |a|-|\\|){0,40}"
        ) {
            let page = markdown(&text).to_lowercase();
            for evil in ["<script", "<img", "<iframe", "<style", "href=\"javascript"] {
                prop_assert!(!page.contains(evil), "{} in {}", evil, page);
            }
        }
    }
}
