//! One connection of the scripted server: HTTP/1.1 by hand, because a test has to say where a body is cut.
//! Each piece of a body is a chunk and a write of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::render::{Body, Format};
use super::reply::{Fault, Reply, What};
use super::rules;
use super::{PATIENCE, Request, Script, Shared, fail, raw};
use crate::embed::Hashed;

/// Dimensions of the vectors it sends.
pub(super) const DIMENSIONS: usize = 16;

/// What becomes of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Keep,
    Stale,
    Close,
}

pub(super) fn connection(shared: &Shared, socket: TcpStream) {
    // An error here is the other side hanging up, which is its right.
    drop(serve(shared, socket));
}

fn serve(shared: &Shared, mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut reader = BufReader::new(socket.try_clone()?);
    let mut after = After::Keep;
    while let Some(request) = read(&mut reader)? {
        if after == After::Stale {
            break;
        }
        let reply = answer(shared, &request);
        after = write(&mut socket, &mut reader, &request, &reply)?;
        if after == After::Close {
            break;
        }
    }
    // The log holds another handle, so dropping ours would not close the connection.
    socket.shutdown(std::net::Shutdown::Both)
}

fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut request = Request {
        method: words.next().unwrap_or_default(),
        path: words.next().unwrap_or_default(),
        ..Request::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let name = name.to_ascii_lowercase();
        request.headers.insert(name, value.trim().to_owned());
    }
    let length = request.headers.get("content-length");
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(request))
}

fn answer(shared: &Shared, request: &Request) -> Reply {
    let format = Format::of(request);
    // Nothing is asked of a chat: it is to say that it is there.
    let is_empty = request.body == json!({});
    let broken = match format {
        Some(format) if !is_empty => rules::broken(format, request),
        Some(_) | None => Vec::new(),
    };
    let refusal = broken.join("; ");
    {
        let mut log = shared.log();
        log.requests.push(request.clone());
        log.violations.extend(broken);
    }
    shared.arrived.notify_all();
    if !refusal.is_empty() {
        return fail(400, &refusal);
    }
    let mut script = shared.script.lock().unwrap_or_else(PoisonError::into_inner);
    let path = request.path.split('?').next().unwrap_or_default();
    if let Some(reply) = script.first.remove(path) {
        return reply;
    }
    if let Some(reply) = script.routes.get(path) {
        return reply.clone();
    }
    match format {
        Some(_) if is_empty => fail(400, "you must provide a model parameter"),
        Some(_) => (script.answer)(request),
        None => aside(&script, request),
    }
}

/// Questions beside the chat.
fn aside(script: &Script, request: &Request) -> Reply {
    let path = request.path.split('?').next().unwrap_or_default();
    let ok = |body: Value| raw(200, "application/json", [body.to_string()]);
    if path.ends_with("/models") {
        let model = |name: &String| {
            let mut model =
                json!({"id": name, "object": "model", "created": 1, "owned_by": "test"});
            if let Some(window) = script.window {
                model["meta"] = json!({"n_ctx": window});
            }
            model
        };
        return ok(
            json!({"object": "list", "data": script.models.iter().map(model).collect::<Value>()}),
        );
    }
    if path.ends_with("/api/tags") {
        let model = |name: &String| {
            json!({
                "name": name, "model": name, "modified_at": "2026-02-14T15:23:05.1+01:00",
                "size": 1, "digest": "d", "details": {"family": "llama"},
            })
        };
        return ok(json!({"models": script.models.iter().map(model).collect::<Value>()}));
    }
    if path.ends_with("/api/ps") {
        return ok(json!({"models": []}));
    }
    if path.ends_with("/api/show") {
        let named = |name: &String| request.body["model"] == name.as_str();
        if !script.models.iter().any(named) {
            return raw(404, "application/json", [r#"{"error":"model not found"}"#]);
        }
        let info = script.window.map_or(
            json!({}),
            |window| json!({"general.architecture": "llama", "llama.context_length": window}),
        );
        return ok(
            json!({"model_info": info, "capabilities": ["completion", "tools"], "license": null}),
        );
    }
    if embeds(path) {
        return embeddings(script, request, path.ends_with("/api/embed"));
    }
    raw(404, "text/plain", ["404 page not found"])
}

/// Whether a request for this path wants vectors.
pub(super) fn embeds(path: &str) -> bool {
    path.ends_with("/api/embed") || path.ends_with("/embeddings")
}

/// Vectors in the shape of either format; the one that numbers them sends the last first.
fn embeddings(script: &Script, request: &Request, is_ollama: bool) -> Reply {
    let texts = request.body["input"].as_array();
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    let texts: Vec<&str> = texts.collect();
    let length = |text: &&str| text.chars().count();
    if texts.iter().any(|text| length(text) > script.longest_text) {
        let error = "the input length exceeds the context length";
        let error = if is_ollama {
            json!({"error": error})
        } else {
            json!({"error": {"message": error, "type": "invalid_request_error"}})
        };
        return raw(400, "application/json", [error.to_string()]);
    }
    let embedder = Hashed::new(script.dimensions);
    let vectors = texts.iter().map(|text| embedder.vector(text));
    let model = &request.body["model"];
    let body = if is_ollama {
        json!({"model": model, "embeddings": vectors.collect::<Value>()})
    } else {
        let one = |(index, embedding)| json!({"object": "embedding", "index": index, "embedding": embedding});
        let data: Value = (0..)
            .zip(vectors)
            .collect::<Vec<(usize, _)>>()
            .into_iter()
            .rev()
            .map(one)
            .collect();
        json!({"object": "list", "model": model, "data": data})
    };
    raw(200, "application/json", [body.to_string()])
}

fn write(
    socket: &mut TcpStream,
    reader: &mut impl Read,
    request: &Request,
    reply: &Reply,
) -> io::Result<After> {
    let format = Format::of(request).unwrap_or(Format::Openai);
    let (status, headers, body) = match &reply.what {
        What::HangUp => return Ok(After::Close),
        What::Silent => return stall(reader),
        What::Said(said) => {
            let body = format.write(said, request);
            let kind = ("content-type".to_owned(), body.content_type.to_owned());
            (200, vec![kind], body)
        }
        What::Failed {
            status,
            message,
            headers,
        } => {
            let error = format.error(*status, message).to_string();
            let mut headers = headers.clone();
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
            (*status, headers, bytes(vec![error.into_bytes()]))
        }
        What::Raw {
            status,
            headers,
            pieces,
        } => (*status, headers.clone(), bytes(pieces.clone())),
    };
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ntransfer-encoding: chunked\r\n");
    for (name, value) in headers {
        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    socket.write_all(format!("{head}\r\n").as_bytes())?;
    pieces(socket, reader, format, &body, reply)
}

fn bytes(pieces: Vec<Vec<u8>>) -> Body {
    Body {
        content_type: "",
        head: Vec::new(),
        pieces,
        end: Vec::new(),
    }
}

fn pieces(
    socket: &mut TcpStream,
    reader: &mut impl Read,
    format: Format,
    body: &Body,
    reply: &Reply,
) -> io::Result<After> {
    for piece in &body.head {
        chunk(socket, piece)?;
    }
    let whole = body.pieces.len();
    let good = reply.fault.as_ref().map_or(whole, |(n, _)| whole.min(*n));
    for piece in &body.pieces[..good] {
        chunk(socket, piece)?;
    }
    match reply.fault.as_ref().map(|(_, fault)| fault) {
        Some(Fault::Cut) => return Ok(After::Close),
        Some(Fault::Stall) => return stall(reader),
        Some(Fault::Unfinished) => {}
        Some(Fault::Error(message)) => chunk(socket, &format.broken_off(message))?,
        Some(Fault::Garbage(bytes)) => chunk(socket, bytes)?,
        Some(Fault::Hold(held)) => {
            held.wait(PATIENCE);
            rest(socket, body, good)?;
        }
        None => rest(socket, body, good)?,
    }
    socket.write_all(b"0\r\n\r\n")?;
    Ok(if reply.stale {
        After::Stale
    } else {
        After::Keep
    })
}

/// The pieces from `from` on, and the end of the body.
fn rest(socket: &mut TcpStream, body: &Body, from: usize) -> io::Result<()> {
    for piece in body.pieces[from..].iter().chain(&body.end) {
        chunk(socket, piece)?;
    }
    Ok(())
}

fn chunk(socket: &mut TcpStream, piece: &[u8]) -> io::Result<()> {
    if piece.is_empty() {
        // An empty chunk would end the body.
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    socket.write_all(&chunk)
}

/// Waits until the other side, or the drop of the server, closes the connection.
fn stall(reader: &mut impl Read) -> io::Result<After> {
    io::copy(reader, &mut io::sink())?;
    Ok(After::Close)
}
