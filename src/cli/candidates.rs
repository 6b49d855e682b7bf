//! From settings to the embedders that are tried (C21, C22). Unit: one configuration. Sends nothing.

use crate::config::Settings;
use crate::embed::{
    CacheSettings, Candidate, ChoiceSettings, EmbedError, Named, Ollama, OpenAi, Wanted,
};
use crate::hint::Hint;
use crate::provider::{Catalog, Host, Kind, Place, ProviderError};

/// Below the data root: vectors of texts that were embedded once.
const CACHE: &str = "cache/embeddings";

/// In the order of `auto`.
const AUTO: [Wanted; 3] = [Wanted::Ollama, Wanted::Openai, Wanted::Local];

/// What is tried, in which order.
pub(super) fn choice_settings(settings: &Settings, catalog: &Catalog) -> ChoiceSettings {
    let (candidates, named) = match settings.embedding.provider {
        Wanted::None => (Vec::new(), Named::No),
        wanted => match by_model(&settings.rag.model, catalog) {
            Some(candidate) => (vec![candidate], Named::Yes),
            None => by_provider(wanted, settings, catalog),
        },
    };
    ChoiceSettings {
        candidates,
        named,
        cache: CacheSettings::new(settings.data_dir.join(CACHE)),
    }
}

/// Whether `rag.model` makes the choice.
pub(super) fn is_by_model(settings: &Settings, catalog: &Catalog) -> bool {
    settings.embedding.provider != Wanted::None && by_model(&settings.rag.model, catalog).is_some()
}

/// The model that `rag.model` names; `None` also where its provider has no embeddings, which a warning of
/// the configuration says.
fn by_model(model: &str, catalog: &Catalog) -> Option<Candidate> {
    if model.is_empty() {
        return None;
    }
    let wanted = match catalog.kind(model) {
        Ok(Kind::Openai) | Err(_) => Wanted::Openai,
        Ok(Kind::Ollama) => Wanted::Ollama,
        Ok(Kind::Anthropic | Kind::Offline) => return None,
    };
    Some(at(wanted, catalog.place(model)))
}

fn by_provider(wanted: Wanted, settings: &Settings, catalog: &Catalog) -> (Vec<Candidate>, Named) {
    match wanted {
        Wanted::Auto => {
            let each = AUTO.map(|wanted| by_provider(wanted, settings, catalog).0);
            (each.into_iter().flatten().collect(), Named::No)
        }
        Wanted::Ollama => one(at(wanted, catalog.place_of(Kind::Ollama))),
        Wanted::Openai => one(at(wanted, catalog.place_of(Kind::Openai))),
        Wanted::Local => one(Candidate::Local {
            folder: settings.embedding_folder.clone(),
        }),
        Wanted::Hashed => one(Candidate::Hashed {
            dimensions: settings.embedding.dim,
        }),
        Wanted::None => (Vec::new(), Named::No),
    }
}

fn one(candidate: Candidate) -> (Vec<Candidate>, Named) {
    (vec![candidate], Named::Yes)
}

fn at(wanted: Wanted, place: Result<Place, ProviderError>) -> Candidate {
    let usual = |model: String, usual: &str| {
        if model.is_empty() {
            usual.to_owned()
        } else {
            model
        }
    };
    match place {
        Err(error) => Candidate::Unusable {
            wanted,
            why: EmbedError::Setup {
                what: error.to_string(),
                hint: error.hint().unwrap_or_default().into_owned(),
            },
        },
        Ok(Place {
            kind: Kind::Ollama,
            endpoint,
            model,
            ..
        }) => Candidate::Ollama {
            endpoint,
            model: usual(model, Ollama::USUAL_MODEL),
        },
        Ok(Place {
            endpoint,
            model,
            host: Host::Usual,
            ..
        }) => Candidate::Vendor {
            endpoint,
            model: usual(model, OpenAi::USUAL_MODEL),
        },
        Ok(Place {
            endpoint,
            model,
            host: Host::Own,
            ..
        }) => Candidate::Compatible { endpoint, model },
    }
}
