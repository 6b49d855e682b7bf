//! A cross-encoder behind a server's `/rerank`, which reads a question and a text together: slower than vectors and
//! nearer to what was meant. Invariant: an answer is not waited for longer than [`PATIENCE`].
//!
//! llama.cpp, vLLM, Jina and Cohere take the same request. The list of the answer is called `results` or `data`, or is
//! all of it; a score `relevance_score` or `score`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::EmbedError;
use crate::net::{self, Endpoint, Patience};

/// Longest wait for a server: whoever searches waits too.
const PATIENCE: Duration = Duration::from_secs(2);
/// A longer answer is none.
const MAX_BYTES: usize = 4 << 20;

/// A model that reranks, and where it is.
#[derive(Clone, Debug)]
pub struct Reranker {
    pub endpoint: Endpoint,
    pub model: String,
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f32,
}

impl Reranker {
    /// The numbers of the texts, that which answers best first; those that the server leaves out last.
    pub async fn order(&self, question: &str, texts: &[&str]) -> Result<Vec<usize>, EmbedError> {
        let answer = tokio::time::timeout(PATIENCE, self.ask(question, texts)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(EmbedError::Silent {
                url: self.endpoint.shown(),
                idle: PATIENCE,
            })
        })?;
        order_of(&answer, texts.len())
            .ok_or_else(|| self.protocol("something that is not a list of scores"))
    }

    async fn ask(&self, question: &str, texts: &[&str]) -> Result<Vec<u8>, EmbedError> {
        let patience = Patience {
            connect: PATIENCE,
            idle: PATIENCE,
        };
        let client = net::client(&self.endpoint, patience)?;
        let request = json!({
            "model": self.model,
            "query": question,
            "documents": texts,
            "top_n": texts.len(),
        });
        let failed = |error| EmbedError::no_answer(&self.endpoint, error, PATIENCE);
        let url = self.endpoint.url("/rerank");
        let response = client.post(url).json(&request).send().await;
        let response = response.map_err(failed)?;
        let status = response.status();
        let body = net::body(response, MAX_BYTES).await.map_err(failed)?;
        match body {
            Some(body) if status.is_success() => Ok(body),
            Some(_) => Err(self.protocol(&format!("status {status}"))),
            None => Err(self.protocol("an answer that is too long")),
        }
    }

    fn protocol(&self, what: &str) -> EmbedError {
        EmbedError::Protocol {
            url: self.endpoint.shown(),
            what: what.to_owned(),
        }
    }
}

/// Returns the order of so many texts by an answer; `None` where a score is no number or of no text.
fn order_of(answer: &[u8], count: usize) -> Option<Vec<usize>> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let list = answer.get("results").or_else(|| answer.get("data"));
    let mut scored = Vec::<Scored>::deserialize(list.unwrap_or(&answer)).ok()?;
    let is_sound = |it: &Scored| it.index < count && it.score.is_finite();
    if scored.is_empty() || !scored.iter().all(is_sound) {
        return None;
    }
    scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut order: Vec<usize> = Vec::with_capacity(count);
    for at in scored.iter().map(|it| it.index).chain(0..count) {
        if !order.contains(&at) {
            order.push(at);
        }
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_all_servers_are_read() {
        for (server, answer) in [
            (
                "llama.cpp",
                r#"{"model":"m","object":"list","usage":{"prompt_tokens":9,"total_tokens":9},
                    "results":[{"index":0,"relevance_score":-9.5},{"index":1,"relevance_score":-3.0},
                    {"index":2,"relevance_score":4.25}]}"#,
            ),
            (
                "vLLM",
                r#"{"id":"r","model":"m","usage":{"total_tokens":9},"results":[
                    {"index":2,"document":{"text":"c"},"relevance_score":0.9},
                    {"index":1,"document":{"text":"b"},"relevance_score":0.5},
                    {"index":0,"document":{"text":"a"},"relevance_score":0.1}]}"#,
            ),
            (
                "Jina, the first two",
                r#"{"model":"m","usage":{"total_tokens":9},"results":[
                    {"index":2,"relevance_score":0.9},{"index":1,"relevance_score":0.5}]}"#,
            ),
            (
                "Cohere",
                r#"{"id":"r","meta":{"api_version":{"version":"2"}},"results":[
                    {"index":2,"relevance_score":0.9},{"index":1,"relevance_score":0.5},
                    {"index":0,"relevance_score":0.1}]}"#,
            ),
            (
                "a bare list",
                r#"[{"index":1,"score":0.5},{"index":2,"score":0.9},{"index":0,"score":0.1}]"#,
            ),
        ] {
            let order = order_of(answer.as_bytes(), 3);
            assert_eq!(order.unwrap(), [2, 1, 0], "{server}");
        }
    }

    #[test]
    fn what_is_no_list_of_scores_is_an_error() {
        for answer in [
            r#"{"results":[{"index":3,"relevance_score":0.9}]}"#,
            r#"{"results":[{"index":1}]}"#,
            r#"{"results":[]}"#,
            "no",
        ] {
            assert_eq!(order_of(answer.as_bytes(), 3), None, "{answer}");
        }
    }
}
