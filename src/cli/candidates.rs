//! From settings to the embedders that are tried (C21, C22). Unit: one configuration. Sends nothing.

use std::sync::Arc;

use crate::config::Settings;
use crate::embed::{Candidate, ChoiceSettings, EmbedError, Named, OpenAi, Reranker, Wanted};
use crate::hint::Hint;
use crate::provider::{Catalog, Choice, Host, Kind, Place, ProviderError};

/// Returns the embedders to try, in order; `chat` is the provider that a chat uses.
pub(super) fn choice_settings(
    settings: &Settings,
    catalog: &Catalog,
    chat: &str,
) -> ChoiceSettings {
    let (candidates, named) = match settings.embedding.provider {
        Wanted::None => (Vec::new(), Named::No),
        wanted => match by_model(&settings.rag.model, catalog) {
            Some(candidate) => (vec![candidate], Named::Yes),
            None => by_provider(wanted, settings, catalog, chat),
        },
    };
    ChoiceSettings { candidates, named }
}

/// The provider that a chat uses, where that decides who embeds: that of the model chosen already, else the one that
/// would be chosen; asks Ollama at most.
pub(super) async fn chat(
    settings: &Settings,
    catalog: &Catalog,
    chosen: Option<&Choice>,
) -> String {
    if let Some(choice) = chosen {
        return choice.provider.model().provider.clone();
    }
    if settings.embedding.provider != Wanted::Auto || is_by_model(settings, catalog) {
        return String::new();
    }
    // Without a model there is still what words find.
    catalog.provider().await.unwrap_or_default()
}

/// Whether `rag.model` makes the choice.
pub(super) fn is_by_model(settings: &Settings, catalog: &Catalog) -> bool {
    settings.embedding.provider != Wanted::None && by_model(&settings.rag.model, catalog).is_some()
}

/// The model that `index.reranker` names, whatever kind of server has it.
pub(super) fn reranker(settings: &Settings, catalog: &Catalog) -> Option<Arc<Reranker>> {
    let model = &settings.index.reranker;
    if model.is_empty() {
        return None;
    }
    match catalog.place(model) {
        Ok(Place {
            endpoint, model, ..
        }) => Some(Arc::new(Reranker { endpoint, model })),
        Err(error) => {
            tracing::warn!("index.reranker: {error}");
            None
        }
    }
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

fn by_provider(
    wanted: Wanted,
    settings: &Settings,
    catalog: &Catalog,
    chat: &str,
) -> (Vec<Candidate>, Named) {
    let ollama = || at(Wanted::Ollama, catalog.place_of(Kind::Ollama));
    let local = || Candidate::Local {
        folder: settings.embedding_folder.clone(),
    };
    let one = |candidate| (vec![candidate], Named::Yes);
    match wanted {
        Wanted::Auto => {
            // What is said goes to no server that the chat does not send it to.
            let of_chat = catalog.place_at(chat);
            let of_chat = of_chat.ok().filter(|place| place.kind == Kind::Openai);
            let of_chat = of_chat.map(|place| at(Wanted::Openai, Ok(place)));
            let each = [Some(ollama()), of_chat, Some(local())];
            (each.into_iter().flatten().collect(), Named::No)
        }
        Wanted::Ollama => one(ollama()),
        Wanted::Openai => one(at(wanted, catalog.place_of(Kind::Openai))),
        Wanted::Local => one(local()),
        Wanted::Hashed => one(Candidate::Hashed {
            dimensions: settings.embedding.dim,
        }),
        Wanted::None => (Vec::new(), Named::No),
    }
}

fn at(wanted: Wanted, place: Result<Place, ProviderError>) -> Candidate {
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
        }) => Candidate::Ollama { endpoint, model },
        Ok(Place {
            endpoint,
            model,
            host: Host::Usual,
            ..
        }) => Candidate::Vendor {
            endpoint,
            model: match model.as_str() {
                "" => OpenAi::USUAL_MODEL.to_owned(),
                _ => model,
            },
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
            index: crate::index::Settings::default(),
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
        let small = "openai/text-embedding-3-small";
        for (wanted, model, variable, chat, expected, named) in [
            (
                Wanted::Auto,
                "",
                key,
                "ollama",
                &["ollama", "local"][..],
                No,
            ),
            (Wanted::Auto, "", key, "anthropic", &["ollama", "local"], No),
            (
                Wanted::Auto,
                "",
                key,
                "openai",
                &["ollama", small, "local"],
                No,
            ),
            (
                Wanted::Auto,
                "",
                base,
                "openai",
                &["ollama", "openai", "local"],
                No,
            ),
            (Wanted::Auto, "", base, "there", &["ollama", "local"], No),
            (Wanted::Auto, "emb", key, "openai", &["ollama/m"], Yes),
            (Wanted::Local, "emb", key, "openai", &["ollama/m"], Yes),
            (Wanted::Auto, "ollama/x", key, "openai", &["ollama/x"], Yes),
            (Wanted::Auto, "vendor", key, "ollama", &["openai/m"], Yes),
            (
                Wanted::Auto,
                "claude",
                key,
                "ollama",
                &["ollama", "local"],
                No,
            ),
            (Wanted::Local, "claude", key, "ollama", &["local"], Yes),
            (Wanted::None, "emb", key, "openai", &[], No),
            (Wanted::Ollama, "", key, "openai", &["ollama"], Yes),
            (Wanted::Openai, "", key, "ollama", &[small], Yes),
            (Wanted::Hashed, "", key, "ollama", &["hashed/256"], Yes),
        ] {
            let settings = settings(wanted, model);
            let variable = (variable.0.to_owned(), variable.1.to_owned());
            let environment = Environment([variable].into());
            let catalog = Catalog::new(settings.provider.clone(), environment);
            let found = choice_settings(&settings, &catalog, chat);
            let names: Vec<_> = found.candidates.iter().map(Candidate::name).collect();
            assert_eq!(names, expected, "{wanted:?} {model} {chat}");
            assert_eq!(found.named, named, "{wanted:?} {model} {chat}");
        }
    }

    #[test]
    fn without_a_key_there_is_a_candidate_that_says_so() {
        let settings = settings(Wanted::Openai, "");
        let catalog = Catalog::new(settings.provider.clone(), Environment::default());
        let found = choice_settings(&settings, &catalog, "openai");
        let [Candidate::Unusable { .. }] = found.candidates.as_slice() else {
            panic!("{:?}", found.candidates);
        };
    }
}
