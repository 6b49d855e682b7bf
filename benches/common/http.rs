//! The least of HTTP that a model server needs: reading a request whole, and answers as bytes.

use std::io::{BufRead, BufReader, Read, Result};
use std::net::TcpStream;

pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Reads the next request of a connection; `None` at its end.
pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { path, body }))
}

pub(crate) fn http(status: &str, media: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// A reply in the form of `OpenAI`, streamed word by word; the words need no escapes.
pub(crate) fn openai<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let chunk = |delta: String, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut body: String = words
        .map(|word| chunk(format!("{{\"content\":\"{word}\"}}"), "null"))
        .collect();
    body += &chunk("{}".to_owned(), "\"stop\"");
    body + "data: [DONE]\n\n"
}
