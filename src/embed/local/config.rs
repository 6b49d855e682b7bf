//! `config.json` of an encoder: its sizes, and whether it is of the one kind that is understood here.

use serde::Deserialize;

use crate::embed::framing::Pooling;

/// Sizes of a BERT encoder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Config {
    model_type: String,
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) layer_norm_eps: f32,
    /// How its makers call it.
    #[serde(default, rename = "_name_or_path")]
    pub(super) name: String,
}

impl Pooling {
    /// As a file of sentence-transformers says; `None` where it says neither.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let file: serde_json::Value = serde_json::from_slice(bytes).ok()?;
        let says = |key: &str| file.get(key)?.as_bool();
        match (
            says("pooling_mode_cls_token"),
            says("pooling_mode_mean_tokens"),
        ) {
            (Some(true), _) => Some(Self::First),
            (_, Some(true)) => Some(Self::Mean),
            (_, _) => None,
        }
    }
}

impl Config {
    /// Reads the file; the error says why the encoder cannot be run.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let config: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let positions = config.position_embedding_type.as_deref();
        for (name, is, wanted) in [
            ("model_type", config.model_type.as_str(), "bert"),
            ("hidden_act", config.hidden_act.as_str(), "gelu"),
            (
                "position_embedding_type",
                positions.unwrap_or("absolute"),
                "absolute",
            ),
        ] {
            if is != wanted {
                return Err(format!("{name} is {is:?}; only {wanted:?} is supported"));
            }
        }
        let Self {
            hidden_size,
            num_attention_heads: heads,
            ..
        } = config;
        if heads == 0 || hidden_size == 0 || !hidden_size.is_multiple_of(heads) {
            return Err(format!(
                "{heads} attention heads do not divide hidden_size {hidden_size}"
            ));
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encoders_that_can_be_run_are_taken() {
        let good = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":8,"intermediate_size":16,
            "num_hidden_layers":1,"num_attention_heads":2,"max_position_embeddings":9,"layer_norm_eps":1e-12}"#;
        assert!(Config::read(good.as_bytes()).is_ok());
        for (from, to, said) in [
            ("\"bert\"", "\"roberta\"", "model_type"),
            ("\"gelu\"", "\"relu\"", "hidden_act"),
            (
                "\"num_attention_heads\":2",
                "\"num_attention_heads\":3",
                "heads",
            ),
            ("\"hidden_size\":8,", "", "hidden_size"),
            ("{", "", ""),
        ] {
            let error = Config::read(good.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
