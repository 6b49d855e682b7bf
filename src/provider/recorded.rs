//! A reply as recorded bytes, read as it would be from the wire (feature `testing`).

use std::io;
use std::sync::Arc;

use futures_util::stream;
use reqwest::{Body, Response, Url};

use super::anthropic::Anthropic;
use super::http::Http;
use super::known::Limits;
use super::ollama::Ollama;
use super::openai::OpenAi;
use super::target::Target;
use super::{
    ChatRequest, Delivery, EventStream, Images, ModelName, NetworkSettings, Provider, Purpose,
};
use crate::chat::{Message, MessageId, Role, Tokens};
use crate::net::{Endpoint, Key, Scheme};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    OpenAi,
    Anthropic,
    Ollama,
}

/// A model whose server answers with the bytes it is given.
#[derive(Debug)]
pub struct Recorded {
    provider: Box<dyn Provider>,
    http: Arc<Http>,
}

impl Recorded {
    pub fn new(wire: Wire) -> Self {
        let base = Url::parse("http://127.0.0.1:9/").expect("a constant address parses");
        let endpoint = Endpoint::new(base, Key::none(), Scheme::Bearer);
        let target = Target {
            name: ModelName {
                provider: "test".to_owned(),
                model: "recorded".to_owned(),
            },
            endpoint: endpoint.expect("an endpoint without a key needs no header"),
            // Told, so that nobody asks the server.
            limits: Limits {
                context_window: 8_192,
                ..Limits::default()
            },
            known: None,
            network: NetworkSettings::default(),
        };
        match wire {
            Wire::OpenAi => Self::of(OpenAi::new(target), OpenAi::http),
            Wire::Anthropic => Self::of(Anthropic::new(target), Anthropic::http),
            Wire::Ollama => Self::of(Ollama::new(target), Ollama::http),
        }
    }

    fn of<P: Provider + 'static>(provider: P, http: fn(&P) -> &Arc<Http>) -> Self {
        Self {
            http: Arc::clone(http(&provider)),
            provider: Box::new(provider),
        }
    }

    /// The events of a streamed reply that arrives in these pieces.
    pub fn events(&self, pieces: Vec<Vec<u8>>) -> EventStream {
        let pieces = pieces.into_iter().map(Ok::<_, io::Error>);
        let body = Body::wrap_stream(stream::iter(pieces));
        self.http
            .answer_once(Response::from(::http::Response::new(body)));
        let input = Message::text(MessageId::numbered(1), Role::User, "Hello", None);
        self.provider.stream(ChatRequest {
            system: Vec::new(),
            recalled: None,
            messages: [input].into(),
            images: Images::default(),
            tools: Vec::new(),
            max_tokens: Tokens(1_024),
            temperature: None,
            purpose: Purpose::Reply,
            delivery: Delivery::Streamed,
        })
    }
}
