//! Pictures by what their first bytes are, whatever they are called.

/// Returns the media type of what models take: PNG, JPEG, GIF, WebP.
pub(super) fn media_type(head: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ];
    let known = KINDS.iter().find(|(start, _)| head.starts_with(start));
    let is_webp = || head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP");
    known
        .map(|(_, kind)| *kind)
        .or_else(|| is_webp().then_some("image/webp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_what_it_is() {
        for (head, expected) in [
            (b"\x89PNG\r\n\x1a\n....".as_slice(), Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVEfmt ", None),
            (b"RIFF", None),
            (b"<svg>", None),
            (b"", None),
        ] {
            assert_eq!(media_type(head), expected, "{head:?}");
        }
    }
}
