//! The table of known models (G16), embedded from `config/models.yaml`. Unit: a row, which holds for every
//! model whose name begins with the row's. Invariant: no row has a window of 0. What a server or the
//! config says goes before it; that order is kept where it is asked for.

use serde::Deserialize;

use super::{Abilities, Kind, ModelSettings, Price, ProviderError, WindowSource};
use crate::chat::Tokens;

/// What a model counts of which nobody knows anything.
pub const FALLBACK_WINDOW: Tokens = Tokens(8_192);

/// The table as it is embedded.
pub const KNOWN_MODELS: &str = include_str!("../../config/models.yaml");

/// The field in which a model takes the limit of its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
}

impl LimitField {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownModel {
    pub name: String,
    pub window: u32,
    #[serde(default)]
    pub output: Option<u32>,
    #[serde(default)]
    pub provider: Option<Kind>,
    #[serde(default)]
    pub limit: LimitField,
    #[serde(default)]
    pub price: Option<Price>,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(Vec<KnownModel>);

impl Known {
    /// Reads a table in the form of `config/models.yaml`; `file` is where it stands, for the person who has to mend it.
    pub fn parse(text: &str, file: &str) -> Result<Self, ProviderError> {
        let bad = |what: String| ProviderError::Setup {
            what: format!("{file} (known models): {what}"),
            hint:
                "each row is {name: …, window: …}; output, provider, limit and price are optional"
                    .to_owned(),
        };
        let rows: Vec<KnownModel> =
            serde_yaml::from_str(text).map_err(|error| bad(error.to_string()))?;
        match rows
            .iter()
            .find(|row| row.window == 0 || row.name.is_empty())
        {
            Some(row) => Err(bad(format!("{:?} has no name or a window of 0", row.name))),
            None => Ok(Self(rows)),
        }
    }

    /// The table that comes with the program.
    pub fn embedded() -> Self {
        let json = include_str!(concat!(env!("OUT_DIR"), "/models.json"));
        Self(serde_json::from_str(json).expect("a test holds it against the table in YAML"))
    }

    /// The row with the longest name that `model` begins with, whatever stands before a last `/`.
    pub fn find(&self, model: &str) -> Option<&KnownModel> {
        let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        let fits = |row: &&KnownModel| {
            name.strip_prefix(row.name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@', '_']))
        };
        self.0.iter().filter(fits).max_by_key(|row| row.name.len())
    }

    /// The model to take where only the provider is known.
    pub fn first_of(&self, kind: Kind) -> Option<&KnownModel> {
        self.0.iter().find(|row| row.provider == Some(kind))
    }
}

/// What the config says about a model; zeros mean nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) context_window: u32,
    pub(super) max_tokens: u32,
    pub(super) num_ctx: u32,
    pub(super) price: Option<Price>,
}

impl From<&ModelSettings> for Limits {
    fn from(model: &ModelSettings) -> Self {
        Self {
            context_window: model.context_window,
            max_tokens: model.max_tokens,
            num_ctx: model.num_ctx,
            price: model.price,
        }
    }
}

/// What a server tells of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) window: Option<Tokens>,
    pub(super) price: Option<Price>,
}

/// Config before server before table before the fallback.
pub(super) fn settle(limits: Limits, server: Told, known: Option<&KnownModel>) -> Abilities {
    let table = known.map(|row| Tokens(row.window));
    let (context_window, window_source) = match (limits.context_window, server.window, table) {
        (1.., _, _) => (Tokens(limits.context_window), WindowSource::Config),
        (0, Some(server), _) => (server, WindowSource::Server),
        (0, None, Some(table)) => (table, WindowSource::Table),
        (0, None, None) => (FALLBACK_WINDOW, WindowSource::Fallback),
    };
    let max_output = match limits.max_tokens {
        0 => known.and_then(|row| row.output).map(Tokens),
        cap => Some(Tokens(cap)),
    };
    Abilities {
        context_window,
        window_source,
        max_output,
        price: (limits.price.or(server.price)).or(known.and_then(|row| row.price)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(model: &str) -> Option<(u32, Option<u32>)> {
        Known::embedded()
            .find(model)
            .map(|row| (row.window, row.output))
    }

    #[test]
    fn the_table_that_comes_with_the_program_is_that_in_yaml() {
        let yaml = Known::parse(KNOWN_MODELS, "config/models.yaml");
        assert_eq!(yaml.unwrap(), Known::embedded());
    }

    #[test]
    fn a_small_model_does_not_cost_what_a_large_one_of_its_name_does() {
        let price = |model: &str| {
            Known::embedded()
                .find(model)?
                .price
                .map(|it| it.to_string())
        };
        let large = price("gpt-4o-2024-11-20");
        assert!(large.is_some() && large != price("gpt-4o-mini-2024-07-18"));
        assert_eq!(price("llama3.1:8b"), None);
    }

    /// G16.
    #[test]
    fn the_longest_name_that_fits_wins() {
        for (model, expected) in [
            ("gemini-2.5-pro-exp", Some((1_048_576, Some(8_192)))),
            ("gemini-2.5-flash", Some((1_048_576, Some(8_192)))),
            ("gemini-2.0-flash-001", Some((1_048_576, Some(8_192)))),
            (
                "models/gemini-3-pro-preview",
                Some((1_048_576, Some(65_536))),
            ),
            ("gemini-3-flash", Some((1_048_576, Some(65_536)))),
            ("GLM-4.7", Some((128_000, Some(131_072)))),
            ("gpt-4", Some((8_192, Some(8_192)))),
            ("gpt-4o-mini", Some((128_000, Some(16_384)))),
            ("gpt-4.1-nano", Some((1_047_576, Some(32_768)))),
            (
                "anthropic/claude-sonnet-4-5-20250929",
                Some((200_000, Some(64_000))),
            ),
            ("qwen3:8b", Some((40_960, None))),
            ("qwen2", None),
            ("o1-preview", Some((200_000, Some(100_000)))),
            ("olmo1", None),
            ("nobody-knows-me", None),
        ] {
            assert_eq!(found(model), expected, "{model}");
        }
    }

    #[test]
    fn each_provider_with_a_key_has_a_first_row() {
        for kind in [Kind::Openai, Kind::Anthropic] {
            assert!(Known::embedded().first_of(kind).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn an_unknown_model_counts_8192_and_the_config_wins() {
        let known = Known::embedded();
        let row = known.find("gpt-4o");
        let said = Limits {
            context_window: 5_000,
            max_tokens: 70,
            num_ctx: 0,
            price: None,
        };
        let server = |window| Told {
            window: Some(Tokens(window)),
            price: None,
        };
        let none = Limits::default();
        let cases = [
            (
                settle(none, Told::default(), None),
                8_192,
                WindowSource::Fallback,
                None,
            ),
            (
                settle(none, Told::default(), row),
                128_000,
                WindowSource::Table,
                Some(16_384),
            ),
            (
                settle(none, server(1), row),
                1,
                WindowSource::Server,
                Some(16_384),
            ),
            (
                settle(said, server(1), row),
                5_000,
                WindowSource::Config,
                Some(70),
            ),
        ];
        for (got, window, source, output) in cases {
            assert_eq!(
                (got.context_window, got.window_source, got.max_output),
                (Tokens(window), source, output.map(Tokens))
            );
        }
    }

    #[test]
    fn a_broken_table_is_refused() {
        for text in ["- {name: a, window: 0}", "- {name: a, windw: 1}", "{"] {
            assert!(
                matches!(
                    Known::parse(text, "models.yaml"),
                    Err(ProviderError::Setup { .. })
                ),
                "{text}"
            );
        }
    }
}
