//! Which embedder there is (C20-C22): candidates, tried in their order, the first that is there. Invariant: nothing is
//! asked or read before [`EmbedderChoice::resolve`], and no server is waited for longer than [`PROBE`]. Which
//! candidates there are is left to whoever knows the settings.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::listing::{Listed, listed_as, ollama_models, openai_models};
use super::{EmbedError, Embedder, Hashed, Ollama, OpenAi, RemoteSettings, Wanted};
use crate::files::Disk;
use crate::hint::Hint;
use crate::net::{Endpoint, is_embedding_model};

/// Longest wait for a server that may not be there.
pub const PROBE: Duration = Duration::from_secs(2);

/// What is tried.
#[derive(Clone, Debug)]
pub struct ChoiceSettings {
    /// In the order in which they are tried; none: nobody is ever asked.
    pub candidates: Vec<Candidate>,
    pub named: Named,
}

/// Whether the candidate was asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// That it is not there is worth a warning.
    Yes,
    /// There may well be none.
    No,
}

/// An embedder that may be there.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// There if the server lists the model. An empty one: the usual one, or one that the server has.
    Ollama {
        endpoint: Endpoint,
        model: String,
    },
    /// A vendor's server, which needs no asking: there is a key.
    Vendor {
        endpoint: Endpoint,
        model: String,
    },
    /// Any compatible server, there if it answers. An empty model: the usual one, or one that the server has.
    Compatible {
        endpoint: Endpoint,
        model: String,
    },
    /// There if its files are.
    Local {
        folder: PathBuf,
    },
    Hashed {
        dimensions: usize,
    },
    /// Settings that lead nowhere.
    Unusable {
        wanted: Wanted,
        why: EmbedError,
    },
}

/// What was found.
#[derive(Debug)]
pub struct Looked {
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Those that were tried before it and are not there.
    pub passed: Vec<NoEmbedder>,
}

/// A candidate that is not there, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot embed with {candidate}: {why}")]
pub struct NoEmbedder {
    pub candidate: String,
    pub why: EmbedError,
}

impl Hint for NoEmbedder {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.why.hint()
    }
}

/// Tries one candidate after the other.
pub async fn look(settings: &ChoiceSettings, disk: &Arc<dyn Disk>) -> Looked {
    let mut passed = Vec::new();
    for candidate in &settings.candidates {
        match candidate.open(disk).await {
            Ok(embedder) => {
                let embedder = Some(embedder);
                return Looked { embedder, passed };
            }
            Err(why) => {
                let candidate = candidate.name();
                tracing::debug!("cannot embed with {candidate}: {why}");
                passed.push(NoEmbedder { candidate, why });
            }
        }
    }
    Looked {
        embedder: None,
        passed,
    }
}

impl Candidate {
    /// As people know it; where it is stands in what goes wrong with it.
    pub fn name(&self) -> String {
        match self {
            Self::Ollama { model, .. } if model.is_empty() => "ollama".to_owned(),
            Self::Ollama { model, .. } => format!("ollama/{model}"),
            Self::Vendor { model, .. } | Self::Compatible { model, .. } if model.is_empty() => {
                "openai".to_owned()
            }
            Self::Vendor { model, .. } | Self::Compatible { model, .. } => {
                format!("openai/{model}")
            }
            Self::Local { .. } => "local".to_owned(),
            Self::Hashed { dimensions } => format!("hashed/{dimensions}"),
            Self::Unusable { wanted, .. } => wanted.to_string(),
        }
    }

    async fn open(&self, disk: &Arc<dyn Disk>) -> Result<Arc<dyn Embedder>, EmbedError> {
        Ok(match self {
            Self::Ollama { endpoint, model } => {
                let names = in_time(endpoint, ollama_models(endpoint, PROBE)).await?;
                let (wanted, found) = match model.as_str() {
                    "" => (Ollama::USUAL_MODEL, embedding(Ollama::USUAL_MODEL, &names)),
                    model => (model, listed_as(model, &names)),
                };
                let Some(model) = found else {
                    return Err(EmbedError::UnknownModel {
                        url: endpoint.shown(),
                        model: wanted.to_owned(),
                        message: installed(&names),
                    });
                };
                let settings = RemoteSettings::new(model);
                Arc::new(Ollama::new(endpoint.clone(), settings))
            }
            Self::Vendor { endpoint, model } => open_ai(endpoint, model),
            Self::Compatible { endpoint, model } => {
                let listed = in_time(endpoint, openai_models(endpoint, PROBE)).await?;
                let wanted = match model.as_str() {
                    "" => offered(&listed),
                    model => Some(model),
                };
                let Some(model) = wanted else {
                    return Err(EmbedError::NoEmbeddingModel {
                        url: endpoint.shown(),
                    });
                };
                open_ai(endpoint, model)
            }
            Self::Local { folder } => local(folder.clone(), Arc::clone(disk)).await?,
            Self::Hashed { dimensions } => Arc::new(Hashed::new(*dimensions)),
            Self::Unusable { why, .. } => return Err(why.clone()),
        })
    }
}

fn open_ai(endpoint: &Endpoint, model: &str) -> Arc<OpenAi> {
    Arc::new(OpenAi::new(endpoint.clone(), RemoteSettings::new(model)))
}

/// Returns the model that a compatible server is asked for. One that keeps no list gets the usual name; a chat model is
/// never taken.
fn offered(listed: &Listed) -> Option<&str> {
    let Listed::Names(names) = listed else {
        return Some(OpenAi::USUAL_MODEL);
    };
    embedding(OpenAi::USUAL_MODEL, names)
}

/// Returns the usual model if it is listed, else the first whose name says that it embeds.
fn embedding<'a>(usual: &'a str, names: &'a [String]) -> Option<&'a str> {
    let embeds = |name: &&String| is_embedding_model(name);
    listed_as(usual, names).or_else(|| names.iter().find(embeds).map(String::as_str))
}

fn installed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "it has no models".to_owned(),
        names => {
            let rest = if names.len() > SHOWN { ", …" } else { "" };
            let shown = &names[..names.len().min(SHOWN)];
            format!("it has {}{rest}", shown.join(", "))
        }
    }
}

async fn in_time<T>(
    endpoint: &Endpoint,
    answer: impl Future<Output = Result<T, EmbedError>>,
) -> Result<T, EmbedError> {
    let waited = tokio::time::timeout(PROBE, answer).await;
    waited.unwrap_or_else(|_| {
        Err(EmbedError::Silent {
            url: endpoint.shown(),
            idle: PROBE,
        })
    })
}

#[cfg(feature = "local-embeddings")]
async fn local(folder: PathBuf, disk: Arc<dyn Disk>) -> Result<Arc<dyn Embedder>, EmbedError> {
    let at = folder.clone();
    let open = move || match disk.list(&folder) {
        Ok(files) if files.is_empty() => Err(EmbedError::Setup {
            what: format!("no model files in {}", folder.display()),
            hint: "run `cogtrix embedder install` to fetch them".to_owned(),
        }),
        Ok(_) | Err(_) => super::Local::open(&folder, disk),
    };
    let opened = tokio::task::spawn_blocking(open).await;
    let opened = opened.map_err(|error| EmbedError::weights(&at, &error))?;
    Ok(Arc::new(opened?))
}

#[cfg(not(feature = "local-embeddings"))]
#[expect(clippy::unused_async, reason = "as the other one")]
async fn local(_: PathBuf, _: Arc<dyn Disk>) -> Result<Arc<dyn Embedder>, EmbedError> {
    Err(EmbedError::Setup {
        what: "this build has no local embedder".to_owned(),
        hint: "build it with --features local-embeddings".to_owned(),
    })
}

/// A choice that is made when somebody needs it, and then kept. That none was found is not kept: a server
/// may come up later.
#[derive(Debug)]
pub struct EmbedderChoice {
    settings: ChoiceSettings,
    disk: Arc<dyn Disk>,
    chosen: OnceCell<Arc<dyn Embedder>>,
    /// What was not there the last time. Behind a lock because work in the background looks while a command
    /// tells; held for single steps.
    passed: Mutex<Option<Vec<NoEmbedder>>>,
}

impl EmbedderChoice {
    /// Asks nobody and reads nothing.
    pub fn new(settings: ChoiceSettings, disk: Arc<dyn Disk>) -> Self {
        Self {
            settings,
            disk,
            chosen: OnceCell::new(),
            passed: Mutex::new(None),
        }
    }

    /// Returns whether there is anything to look for.
    pub fn is_off(&self) -> bool {
        self.settings.candidates.is_empty()
    }

    /// Returns what was chosen so far; asks nobody.
    pub fn chosen(&self) -> Option<Arc<dyn Embedder>> {
        self.chosen.get().cloned()
    }

    /// Looks, unless one was chosen before. `None`: there is none, and nobody asked for one by name.
    pub async fn resolve(&self) -> Result<Option<Arc<dyn Embedder>>, NoEmbedder> {
        let looking = || async {
            let Looked { embedder, passed } = look(&self.settings, &self.disk).await;
            let first = passed.first().cloned();
            *self.passed.lock().unwrap_or_else(PoisonError::into_inner) = Some(passed);
            embedder.ok_or(first)
        };
        match (
            self.chosen.get_or_try_init(looking).await,
            self.settings.named,
        ) {
            (Ok(embedder), _) => Ok(Some(Arc::clone(embedder))),
            (Err(Some(absent)), Named::Yes) => Err(absent),
            (Err(_), Named::Yes | Named::No) => Ok(None),
        }
    }

    /// Those that were tried the last time and are not there.
    pub fn passed(&self) -> Vec<NoEmbedder> {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.clone().unwrap_or_default()
    }

    /// In words: which one with how many dimensions, or that there is none.
    pub fn describe(&self) -> String {
        if let Some(embedder) = self.chosen.get() {
            return described(embedder.as_ref());
        }
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        match (passed.as_deref(), self.settings.named) {
            (Some([absent, ..]), Named::Yes) => format!("{NONE} ({absent})"),
            (Some(_), _) => NONE.to_owned(),
            (None, _) if self.is_off() => NONE.to_owned(),
            (None, _) => "not checked yet".to_owned(),
        }
    }
}

const NONE: &str = "none: keyword search";

/// The model, and its dimensions where they are known.
pub fn described(embedder: &dyn Embedder) -> String {
    match embedder.dimensions() {
        Some(dimensions) => format!("{}, {dimensions} dimensions", embedder.model()),
        None => embedder.model().to_owned(),
    }
}
