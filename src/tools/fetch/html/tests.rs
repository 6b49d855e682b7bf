use super::*;

fn text(html: &str) -> String {
    convert(html, &CancellationToken::new()).text
}

#[test]
fn a_page_is_its_words_and_links() {
    let html = "<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style></head><body>\
        <nav><a href=/menu>menu</a></nav><script>alert('<p>1')</script><noscript><p>no</noscript>\
        <h1>Head<br>line</h1><p>Some <a href='https://example.com/x'>link</a>, <a href=#here>here</a>.</p>\
        <ul><li>one<li>two</ul><button>press</button></body></html>";
    let page = convert(html, &CancellationToken::new());
    assert_eq!(page.title.as_deref(), Some("A & B"));
    assert_eq!(
        page.text,
        "# Head line\n\nSome [link][1], here.\n\n* one\n* two\n\n[1]: https://example.com/x\n"
    );
    assert!(!page.is_cut);
}

#[test]
fn ordinary_elements_keep_their_form() {
    for (html, expected) in [
        ("a\n  b<b> c</b>d<i>e </i> f&nbsp;g", "a b cde f g\n"),
        (
            "<p>one<p>two<div>three</div>four",
            "one\n\ntwo\nthree\nfour\n",
        ),
        ("one<br>two<br><br>three", "one\ntwo\n\nthree\n"),
        ("<h2> Two </h2><h3></h3>text", "## Two\n\ntext\n"),
        (
            "<ol start=3><li><p>a</p><p>b</p></li><li>c<ul><li>d</li></ul></li></ol>e",
            "3. a\n\n  b\n4. c\n  * d\n\ne\n",
        ),
        ("<ul><li></li><li>x</ul>y", "* x\n\ny\n"),
        (
            "<blockquote><p>a</p><p>b</p></blockquote>c",
            "> a\n\n> b\n\nc\n",
        ),
        (
            "use <code> a  b </code>, <code></code>then",
            "use `a b` , then\n",
        ),
        (
            "<pre>\n<code>fn x() {\n\n    <b>1</b>\n}\n</code></pre>after",
            "```\nfn x() {\n\n    1\n}\n```\n\nafter\n",
        ),
        ("<ul><li><pre>a\nb</pre></ul>", "* ```\n  a\n  b\n  ```\n"),
        (
            "<table><tr><th>A</th><th>B</th><th>C</th></tr>\n<tr><td><p>1</p></td><td></td><td>3</td></tr></table>",
            "A | B | C\n1 | | 3\n",
        ),
        (
            "<table><tr><td><div>menu</div><div>more</div></td><td>words</td></tr></table>",
            "menu\nmore\nwords\n",
        ),
        (
            "<table><tr><td><table><tr><td>a<td>b</table><td>c</table>",
            "a | b | c\n",
        ),
        ("<dl><dt>term<dd>what it is</dl>", "term\nwhat it is\n"),
        ("a<hr>b", "a\n\n---\n\nb\n"),
        ("<img src=x alt='a  cat'><img alt='' src=y>", "[a cat]\n"),
        (
            "<a href='/a b'><div><h3>Card</h3>text</div></a><a href=x></a>",
            "### [Card\n\ntext][1]\n\n[1]: /a%20b\n",
        ),
        (
            "<a href='javascript:x()'>do</a> <a name=x>it</a>",
            "do it\n",
        ),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn tags_that_do_not_match_cost_form_and_no_words() {
    for (html, expected) in [
        ("<div><ul><li>a</div>b", "* a\n\nb\n"),
        ("<div><nav>menu</div>b", "b\n"),
        ("<b><div>a</b>b</div>c", "ab\nc\n"),
        ("</ul></td></a></pre>a</p></h1>b", "a\n\nb\n"),
        ("<table><tr><td></div></table>a", "a\n"),
        ("<a href=x><code>a</a>b</code>", "[`a`][1]b\n\n[1]: x\n"),
        ("<code><pre>a</code>b</pre>c", "```\nab\n```\n\nc\n"),
        ("<svg/>a<svg><title>t</title><path/></svg>b", "ab\n"),
        ("a<", "a<\n"),
        ("a<!-- b", "a\n"),
        ("&#0;&#x110000;&bogus;&amp", "\u{fffd}\u{fffd}&bogus;&\n"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn pages_made_to_be_costly_come_to_a_bounded_text() {
    const LENGTH: usize = 256 * 1024;
    for piece in [
        "<b>x</b>",
        "<div>x",
        "<ul><li>x",
        "<ul><li>x<br>",
        "<blockquote>x<p>",
        "<li>",
        "<ol><li>",
        "<h6>",
        "<table><tr><td>x",
        "<td>",
        "<tr><td>x<td>",
        "<a href=x>y</a>",
        "<a href=x>",
        "<a href=x></a>",
        "<code>",
        "<pre>",
        "<pre>\n",
        "<pre>x",
        "<svg><nav>",
        "</div>",
        "&amp;",
        "&",
        "&#120;",
        "<!--",
        "<![CDATA[",
        "<a b",
        "\n",
        "\u{fffd}",
        "x",
    ] {
        let page = convert(
            &piece.repeat(LENGTH / piece.len()),
            &CancellationToken::new(),
        );
        assert!(page.text.len() <= MAX_TEXT, "{piece}: {}", page.text.len());
    }
    let attribute = format!("<a href='{}'>x</a>", "y".repeat(LENGTH));
    assert_eq!(text(&attribute), "x\n");
    let lists = format!("{}x{}", "<ul><li>".repeat(200), "<br>x".repeat(1_000));
    assert!(text(&lists).len() < 50_000);
}

#[test]
fn deep_pages_keep_all_their_words() {
    let page = format!(
        "{}words{}end",
        "<div><ul><li>".repeat(100_000),
        "</div>".repeat(100_000)
    );
    let text = text(&page);
    assert!(text.contains("words") && text.ends_with("end\n"));
}

#[test]
fn a_longer_text_is_cut_and_says_so() {
    let page = convert(&"<p>é".repeat(1_000_000), &CancellationToken::new());
    assert!(page.is_cut);
    assert!(MAX_TEXT - page.text.len() < 2);
    assert!(page.text.starts_with("é\n\né\n"));
}

#[test]
fn a_conversion_that_nobody_waits_for_ends() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let page = convert(&"<b>x</b>".repeat(100_000), &cancel);
    assert!(page.text.len() < TOKENS_A_LOOK, "{}", page.text.len());
}
