//! Looking through long-term memory: for a person, for a model that asks, and by itself at the beginning of a turn.

use serde_json::{Value, json};

use super::Agent;
use super::event::{TurnContext, Warning};
use super::external_memory::{PATIENT, SHORT};
use super::related::{self, Asking};
use crate::chat::Message;
use crate::index::{EntryText, Hit, Index, Kind, Refreshed, Scope, Search, SearchMode, Searched};
use crate::tools::Output;

impl Agent {
    /// The best hits for a query (Q16).
    pub async fn search(
        &mut self,
        query: &str,
        limit: usize,
        mode: SearchMode,
        scope: Scope,
    ) -> Searched {
        self.share_entries();
        let session = self.ledger.session();
        let Some(index) = self.index.as_mut().filter(|index| index.has_long_term()) else {
            return Searched::default();
        };
        let external = async {
            match (&self.external, mode) {
                (Some(external), SearchMode::Hybrid) => {
                    Some(external.search(query, limit, PATIENT).await)
                }
                (Some(_), SearchMode::Text) | (None, _) => None,
            }
        };
        let search = Search {
            query,
            limit,
            mode,
            scope,
            now: self.clock.now(),
        };
        let (mut searched, external) = tokio::join!(index.search(search, Some(session)), external);
        index.embed_long_term();
        match external {
            Some(Ok(hits)) => searched.join(Kind::External, hits, limit),
            Some(Err(why)) => searched.troubles.extend(self.not_searched(&why)),
            None => {}
        }
        searched
    }

    /// Reads all of long-term memory again; tells how much of it there is, and what could not be read.
    pub async fn reread_long_term(&mut self) -> Option<(Refreshed, Vec<String>)> {
        let now = self.clock.now();
        self.share_entries();
        let index = self.index.as_mut()?;
        let read = index.reread(now).await;
        index.embed_long_term();
        Some(read)
    }

    /// Tells the index which entries count, where they have changed: what a nearer scope overrides is not brought up.
    pub(super) fn share_entries(&mut self) {
        let Some(index) = &mut self.index else {
            return;
        };
        let Some(store) = self.entries.changed() else {
            return;
        };
        index.set_entries(store.in_force().map(EntryText::from));
    }

    fn not_searched(&mut self, why: &str) -> Option<String> {
        self.external.as_mut()?.not_searched(why)
    }

    pub fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// Puts what long-term memory holds on the input beside it (X16-X19, G14). Total: what cannot be had is not there.
    pub(super) async fn relate(&mut self, input: &Message, context: &mut TurnContext<'_>) {
        self.kept.related = None;
        self.share_entries();
        let Some(index) = &mut self.index else {
            return;
        };
        let said = input.said();
        let recalls = self.memory.recall_k() > 0;
        let settings = self.memory.settings();
        let asking = Asking {
            session: self.ledger.session(),
            input: &said,
            recall: &settings.recall,
            kept: &self.kept,
            settings: &settings.auto_recall,
            texts: &self.memory.prompts().kept,
            entries: settings.auto_inject,
            by_meaning: recalls,
            now: self.clock.now(),
        };
        let external = async {
            match &self.external {
                Some(external) if asking.recall.asks(asking.input) && asking.settings.enabled => {
                    let limit = asking.settings.limit;
                    external.search(asking.input, limit, SHORT).await
                }
                Some(_) | None => Ok(Vec::new()),
            }
        };
        let (related, mut troubles) = related::related(index, asking, external).await;
        self.kept.related = related.found;
        troubles.extend(related.without.and_then(|why| self.not_searched(&why)));
        for why in troubles {
            context.warn(Warning::NotSearched { why });
        }
    }
}

impl Searched {
    /// As a model gets them (Q16).
    pub(super) fn as_result(&self) -> Output {
        let hits = &self.hits;
        let brief = match hits.len() {
            1 => "1 match".to_owned(),
            several => format!("{several} matches"),
        };
        if hits.is_empty() {
            return Output::content("[]", brief);
        }
        let rows: Vec<String> = hits.iter().map(|hit| json(hit).to_string()).collect();
        Output::content(format!("[\n{}\n]", rows.join(",\n")), brief)
    }
}

/// `{file, line, content, score}`.
fn json(hit: &Hit) -> Value {
    let score = (f64::from(hit.score) * 1e3).round() / 1e3;
    let mut row = json!({
        "file": hit.source,
        "line": hit.line,
        "content": hit.content,
        "score": score,
    });
    if let (Kind::Said, Some(at)) = (hit.kind, hit.at) {
        row["time"] = at.iso().into();
    }
    row
}
