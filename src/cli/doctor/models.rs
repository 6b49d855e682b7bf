//! Who answers: each provider, the model that a chat would take, the embedder. Unit: one of them. They are asked what
//! they have, and nothing of the person's is sent.

use futures_util::future::join_all;

use super::finding::Finding;
use crate::embed::EmbedderChoice;
use crate::net::KeySource;
use crate::provider::{Answered, Catalog, Choice, Kind, Listed, ProviderError, SetUp};
use crate::term::thousands;

use crate::cli::embedder::found;

/// Every provider, in the order of the catalogue.
pub(super) async fn providers(catalog: &Catalog) -> Vec<Finding> {
    let asked = catalog.providers().into_iter();
    join_all(asked.map(|listed| provider(catalog, listed))).await
}

async fn provider(catalog: &Catalog, Listed { name, set_up }: Listed) -> Finding {
    let about = format!("provider {name}");
    match (catalog.ask(&name).await, set_up) {
        (Ok(answered), _) => Finding::ok(about, in_words(&answered)),
        (Err(error), SetUp::No) => Finding::none(about, error.to_string()),
        (Err(ProviderError::Protocol { url, .. }), _)
            if catalog.kind(&name) == Ok(Kind::Openai) && catalog.has_chat(&name).await =>
        {
            Finding::none(
                about,
                format!("{url} does not list its models, but answers chat requests"),
            )
        }
        (Err(error), SetUp::Yes) => of_error(about, &error),
    }
}

fn in_words(answered: &Answered) -> String {
    let Answered { url, key, models } = answered;
    let key = match key {
        KeySource::None | KeySource::Unset(_) => "no key".to_owned(),
        KeySource::Environment(name) => format!("key from ${name}"),
        KeySource::Config(path) => format!("key from {path}"),
    };
    let models = match models.len() {
        1 => "1 model".to_owned(),
        n => format!("{} models", thousands(n)),
    };
    format!("{models} at {url}, {key}")
}

/// The hints of the others hold here too; these speak of a turn.
fn of_error(about: String, error: &ProviderError) -> Finding {
    match error {
        ProviderError::Unreachable { .. } | ProviderError::Idle { .. } => Finding::problem(
            about,
            error.to_string(),
            "check that the server is running and its base_url is correct",
        ),
        other => Finding::of_error(about, other),
    }
}

/// What a chat would begin with.
pub(super) async fn model(catalog: &Catalog, chat: &Result<Choice, ProviderError>) -> Finding {
    let choice = match chat {
        Ok(choice) => choice,
        Err(error) => return of_error("model".to_owned(), error),
    };
    let name = choice.provider.model();
    match &choice.notice {
        // What keeps its server from saying so is told of that.
        Some(_) if choice.is_assumed() => {
            let what = format!("{name} is a guess: its server does not list its models");
            let remedy = format!("choose one with `-m {}/NAME`", name.provider);
            return Finding::note("model", what, remedy);
        }
        Some(notice) => {
            let what = "none; replies only quote earlier messages";
            return Finding::problem("model", what, notice.as_str());
        }
        None => {}
    }
    if let Err(error @ (ProviderError::UnknownModel { .. } | ProviderError::Setup { .. })) =
        catalog.check(choice).await
    {
        let is_missing = matches!(error, ProviderError::UnknownModel { .. });
        return match catalog.kind(&name.provider) {
            Ok(Kind::Ollama) if is_missing => {
                let pull = format!("run `ollama pull {}`", name.model);
                Finding::problem("model", error.to_string(), pull)
            }
            Ok(_) | Err(_) => of_error("model".to_owned(), &error),
        };
    }
    let abilities = choice.provider.abilities().await;
    let window = thousands(usize::try_from(abilities.context_window.0).unwrap_or(usize::MAX));
    let source = abilities.window_source.as_str();
    Finding::ok(
        "model",
        format!("{name}, context window {window} tokens ({source})"),
    )
}

pub(super) async fn embedder(choice: &EmbedderChoice) -> Finding {
    match found(choice).await {
        Ok(Some(shown)) => Finding::ok("embedder", shown),
        Ok(None) => Finding::none(
            "embedder",
            "keyword search only; see why with `cogtrix embedder show`",
        ),
        Err(absent) => Finding::of_error("embedder", &absent),
    }
}
