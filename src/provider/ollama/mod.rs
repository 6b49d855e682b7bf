//! Ollama: request types from ollama-rs; the requests themselves over our own HTTP, because the crate's stream loses
//! text and errors, and it reads bodies of any length. Invariant: every request of a session asks for the same window
//! (`num_ctx`), the one the budget was made for: the server would otherwise load its own, far smaller one, and cut the
//! prompt without a word.

mod decode;
mod encode;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use self::decode::Decoder;
use super::http::Http;
use super::known::{self, Limits, Told};
use super::ndjson::{BadLine, Lines};
use super::reply::{self, Frames};
use super::target::{self, Offered, Target};
use super::{Abilities, ChatRequest, Delivery, EventStream, ModelName, Provider, ProviderError};
use crate::chat::Tokens;

/// Where Ollama listens unless told otherwise.
pub(super) const USUAL: &str = "http://127.0.0.1:11434";
/// The window asked for by default: more costs memory that not every machine has.
const USUAL_WINDOW: Tokens = Tokens(16_384);

/// A model on an Ollama server.
#[derive(Clone, Debug)]
pub(super) struct Ollama(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Target,
    http: Arc<Http>,
    /// What the server says of the model, once it was reached.
    shown: OnceCell<Shown>,
    /// Behind a lock because requests may run side by side; held for a copy only.
    sent: Mutex<Option<Sent>>,
}

/// What a server says of a model.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// The most it can hold; `None` if the server does not say.
    maximum: Option<Tokens>,
    /// Whether it replies in a chat, where the server says so.
    chats: Option<bool>,
    /// Whether it takes pictures, as far as the server says anything.
    sees: bool,
    /// Whether it calls tools, as far as the server says anything.
    calls: bool,
}

/// What the first request was sent with, right or wrong: with another window the server would load the model again.
#[derive(Clone, Copy, Debug)]
struct Sent {
    abilities: Abilities,
    /// Whether the server was there. One that was never reached has loaded nothing.
    reached: bool,
}

impl Ollama {
    pub(super) fn new(target: Target) -> Self {
        Self(Arc::new(Inner {
            http: Http::of(&target),
            shown: OnceCell::new(),
            sent: Mutex::new(None),
            target,
        }))
    }

    /// The way to the server, for a recorded answer.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn http(&self) -> &Arc<Http> {
        &self.0.http
    }
}

#[async_trait]
impl Provider for Ollama {
    fn model(&self) -> &ModelName {
        &self.0.target.name
    }

    async fn abilities(&self) -> Abilities {
        self.0.abilities().await
    }

    async fn takes_tools(&self) -> bool {
        self.0.shown().await.is_none_or(|shown| shown.calls)
    }

    async fn takes_images(&self) -> bool {
        self.0.shown().await.is_none_or(|shown| shown.sees)
    }

    async fn chats(&self) -> Option<bool> {
        self.0.shown().await.and_then(|shown| shown.chats)
    }

    fn loads_window(&self) -> bool {
        true
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.models()).await
    }

    async fn offers(&self) -> Result<Vec<Offered>, ProviderError> {
        target::aside(&self.0.http.shown(), self.0.offered()).await
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let inner = Arc::clone(&self.0);
        let reply = inner.http.reply_to(&request);
        reply::events(reply, Decoder, async move {
            target::open(inner.open(&request), inner.models()).await
        })
    }
}

impl Inner {
    async fn abilities(&self) -> Abilities {
        let Limits {
            context_window,
            num_ctx,
            ..
        } = self.target.limits;
        let known = self.target.known.as_ref();
        let sent = *self.sent();
        if let Some(Sent { abilities, .. }) = sent {
            return abilities;
        }
        if context_window > 0 || num_ctx > 0 {
            let window = match (context_window, num_ctx) {
                (0, only) | (only, 0) => only,
                (budget, loaded) => budget.min(loaded),
            };
            let limits = Limits {
                context_window: window,
                ..self.target.limits
            };
            return known::settle(limits, Told::default(), known);
        }
        let maximum = self.shown().await.and_then(|shown| shown.maximum);
        let told = Told {
            window: maximum,
            price: None,
        };
        let mut abilities = known::settle(self.target.limits, told, known);
        abilities.context_window = abilities.context_window.min(USUAL_WINDOW);
        abilities
    }

    async fn shown(&self) -> Option<Shown> {
        let asked = self.shown.get_or_try_init(|| async {
            let body = json!({"model": self.target.name.model});
            let shown = self.http.json(self.http.post("/api/show", &body)?);
            let shown = target::aside(&self.http.shown(), shown).await?;
            Ok::<_, ProviderError>(Shown {
                maximum: context_length(&shown),
                chats: target::chats(&shown),
                sees: is_able(&shown, "vision"),
                calls: is_able(&shown, "tools"),
            })
        });
        let asked = asked.await.inspect_err(|error| {
            tracing::debug!("the server does not say what the model can do: {error}");
        });
        asked.ok().copied()
    }

    fn sent(&self) -> MutexGuard<'_, Option<Sent>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window to load, settled by the first request; the budget may be smaller if the config says both.
    async fn num_ctx(&self) -> Tokens {
        let abilities = self.abilities().await;
        let Sent { abilities, reached } = *self.sent().get_or_insert(Sent {
            abilities,
            reached: false,
        });
        let num_ctx = match self.target.limits.num_ctx {
            0 => abilities.context_window,
            set => Tokens(set),
        };
        if !reached {
            let source = abilities.window_source.as_str();
            tracing::info!(num_ctx = num_ctx.0, source, "the window for all requests");
        }
        num_ctx
    }

    /// A server that comes up later may still tell its window.
    fn settle<T>(&self, answer: &Result<T, ProviderError>) {
        let is_reached = !matches!(answer, Err(ProviderError::Unreachable { .. }));
        let mut sent = self.sent();
        match sent.as_mut() {
            Some(sent) if is_reached => sent.reached = true,
            Some(Sent { reached: true, .. }) | None => {}
            Some(Sent { reached: false, .. }) => *sent = None,
        }
    }

    async fn open(&self, request: &ChatRequest) -> Result<Frames<String>, ProviderError> {
        let num_ctx = self.num_ctx().await;
        let body = encode::body(&self.target.name.model, request, num_ctx);
        let response = self.http.send(self.http.post("/api/chat", &body)?).await;
        self.settle(&response);
        let response = response?;
        match request.delivery {
            Delivery::Streamed => {
                let bytes = Arc::clone(&self.http).bytes(response);
                Ok(lines(self.http.shown(), bytes))
            }
            // One object, which may be spread over several lines.
            Delivery::Whole => self.http.text(response).await,
        }
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(target::names(self.offered().await?))
    }

    async fn offered(&self) -> Result<Vec<Offered>, ProviderError> {
        let listed = self.http.json(self.http.get("/api/tags")?).await?;
        let models = listed.get("models").and_then(Value::as_array);
        let models = models.ok_or_else(|| self.http.protocol("not a model list".to_owned()))?;
        let offered = models.iter().filter_map(|model| {
            let name = model.get("name")?.as_str()?;
            Some(Offered {
                chats: target::chats(model),
                ..Offered::named(name.to_owned())
            })
        });
        Ok(offered.collect())
    }
}

/// Older servers list no capabilities.
fn is_able(shown: &Value, capability: &str) -> bool {
    let able = shown.get("capabilities").and_then(Value::as_array);
    able.is_none_or(|able| able.is_empty() || able.iter().any(|one| one == capability))
}

/// `model_info["ARCH.context_length"]`, whatever the architecture is called.
fn context_length(shown: &Value) -> Option<Tokens> {
    let info = shown.get("model_info")?.as_object()?;
    let length = info
        .iter()
        .find_map(|(key, value)| key.ends_with(".context_length").then(|| value.as_u64())?)?;
    u32::try_from(length).ok().filter(|n| *n > 0).map(Tokens)
}

fn lines(
    url: String,
    bytes: impl Stream<Item = Result<Vec<u8>, ProviderError>> + Send + 'static,
) -> Frames<String> {
    let ends = bytes.map(Some).chain(stream::iter([None]));
    ends.scan(Lines::default(), move |lines, bytes| {
        let bad = |bad: BadLine| ProviderError::Protocol {
            url: url.clone(),
            what: bad.to_string(),
        };
        let read: Vec<Result<String, ProviderError>> = match bytes {
            Some(Ok(bytes)) => lines
                .push(&bytes)
                .into_iter()
                .map(|line| line.map_err(bad))
                .collect(),
            Some(Err(error)) => vec![Err(error)],
            None => lines
                .end()
                .into_iter()
                .map(|line| line.map_err(bad))
                .collect(),
        };
        std::future::ready(Some(stream::iter(read)))
    })
    .flatten()
    .boxed()
}

/// What a running server has, for the one who picks a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Installed {
    pub(super) name: String,
    modified_at: i64,
}

/// Reads `/api/tags` or `/api/ps`: models that can chat.
pub(super) fn chat_models(list: &Value) -> Vec<Installed> {
    let models = list.get("models").and_then(Value::as_array);
    let read = |model: &Value| {
        let name = model.get("name").or_else(|| model.get("model"))?.as_str()?;
        let modified_at = model.get("modified_at").and_then(Value::as_str);
        let modified_at = modified_at.and_then(crate::chat::Timestamp::parse);
        can_chat(name, model).then(|| Installed {
            name: name.to_owned(),
            modified_at: modified_at.map_or(0, crate::chat::Timestamp::unix),
        })
    };
    models.into_iter().flatten().filter_map(read).collect()
}

/// The most recently modified one.
pub(super) fn newest(models: Vec<Installed>) -> Option<Installed> {
    models.into_iter().max_by_key(|model| model.modified_at)
}

/// Today's servers list capabilities; of older ones only name and family tell an embedder.
fn can_chat(name: &str, model: &Value) -> bool {
    if let Some(chats) = target::chats(model) {
        return chats;
    }
    let family = model.pointer("/details/family").and_then(Value::as_str);
    let name = name.to_lowercase();
    let is_embedder = ["embed", "minilm", "bge-", "rerank"]
        .iter()
        .any(|word| name.contains(word));
    !is_embedder && !family.is_some_and(|family| family.contains("bert"))
}
