//! From settings to the embedders that are tried (C21, C22). Unit: one configuration. Sends nothing.

use crate::config::Settings;
use crate::embed::{Candidate, ChoiceSettings, EmbedError, Named, Ollama, OpenAi, Wanted};
use crate::hint::Hint;
use crate::provider::{Catalog, Host, Kind, Place, ProviderError};

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
    ChoiceSettings { candidates, named }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RagSettings;
    use crate::memory;
    use crate::provider::{self, Environment, ModelSettings, ProviderSettings};
    use crate::{context, embed};

    fn settings(provider: Wanted, model: &str) -> Settings {
        let mut servers = provider::Settings::default();
        let mut alias = |name: &str, provider: &str| {
            let model = ModelSettings {
                provider: provider.to_owned(),
                model: "m".to_owned(),
                context_window: 0,
                max_tokens: 0,
                num_ctx: 0,
                price: None,
            };
            servers.models.aliases.insert(name.to_owned(), model);
        };
        alias("emb", "there");
        alias("claude", "anthropic");
        alias("vendor", "openai");
        let there = ProviderSettings {
            kind: Kind::Ollama,
            base_url: "http://box:7".to_owned(),
            api_key: None,
            api_key_env: String::new(),
        };
        servers.providers.insert("there".to_owned(), there);
        Settings {
            session: "s".parse().unwrap(),
            data_dir: "/d".into(),
            system_prompt_file: None,
            provider: servers,
            embedding: embed::Settings {
                provider,
                ..embed::Settings::default()
            },
            documents: None,
            embedding_folder: "/d/models".into(),
            workspace: "/d/workspace".into(),
            rag: RagSettings {
                model: model.to_owned(),
                ..RagSettings::default()
            },
            memory: memory::Settings::default(),
            context: context::Settings::default(),
            tools: crate::tools::Settings::default(),
            deep_think: crate::agent::ThinkSettings::default(),
            mcp_servers: std::collections::BTreeMap::new(),
            ui: crate::term::Settings::default(),
            lock_wait: std::time::Duration::ZERO,
            shutdown_grace: std::time::Duration::ZERO,
        }
    }

    #[test]
    fn the_settings_say_who_is_tried_in_which_order() {
        use Named::{No, Yes};
        let key = ("OPENAI_API_KEY", "sk-x");
        let base = ("OPENAI_BASE_URL", "http://box:8/v1");
        let nomic = "ollama/nomic-embed-text";
        let small = "openai/text-embedding-3-small";
        for (wanted, model, variable, expected, named) in [
            (Wanted::Auto, "", key, &[nomic, small, "local"][..], No),
            (Wanted::Auto, "", base, &[nomic, "openai", "local"], No),
            (Wanted::Auto, "emb", key, &["ollama/m"], Yes),
            (Wanted::Local, "emb", key, &["ollama/m"], Yes),
            (Wanted::Auto, "ollama/x", key, &["ollama/x"], Yes),
            (Wanted::Auto, "vendor", key, &["openai/m"], Yes),
            (Wanted::Auto, "claude", key, &[nomic, small, "local"], No),
            (Wanted::Local, "claude", key, &["local"], Yes),
            (Wanted::None, "emb", key, &[], No),
            (Wanted::Ollama, "", key, &[nomic], Yes),
            (Wanted::Openai, "", key, &[small], Yes),
            (Wanted::Hashed, "", key, &["hashed/256"], Yes),
        ] {
            let settings = settings(wanted, model);
            let variable = (variable.0.to_owned(), variable.1.to_owned());
            let environment = Environment([variable].into());
            let catalog = Catalog::new(settings.provider.clone(), environment);
            let found = choice_settings(&settings, &catalog);
            let names: Vec<_> = found.candidates.iter().map(Candidate::name).collect();
            assert_eq!(names, expected, "{wanted:?} {model}");
            assert_eq!(found.named, named, "{wanted:?} {model}");
        }
    }

    #[test]
    fn without_a_key_there_is_a_candidate_that_says_so() {
        let settings = settings(Wanted::Auto, "");
        let catalog = Catalog::new(settings.provider.clone(), Environment::default());
        let found = choice_settings(&settings, &catalog);
        let unusable = |candidate: &Candidate| matches!(candidate, Candidate::Unusable { .. });
        assert_eq!(found.candidates.len(), 3);
        assert!(unusable(&found.candidates[1]), "{:?}", found.candidates);
    }
}
