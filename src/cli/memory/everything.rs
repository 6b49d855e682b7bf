//! `cogtrix memory search`, unless it is of sessions alone: what outlives sessions, and with it all that was said in
//! them.

use std::time::Duration;

use serde_json::{Value, json};

use super::search::rounded;
use super::sessions::Sessions;
use crate::chat::Timestamp;
use crate::cli::args::{ChatArgs, SearchArgs, Within};
use crate::cli::report::{CliError, Exit};
use crate::clock::{Clock, SystemClock};
use crate::index::{Hit, MAX_HITS, Scope, Search, SearchMode};
use crate::repl::listing::{also, beside, worth_showing};
use crate::repl::transcript::first_words;
use crate::term::{Output, harmless};

/// Longest wait for vectors.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn run(
    query: &str,
    (search, within): (&SearchArgs, Within),
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let sessions = Sessions::open(args, output).await?;
    let (mut index, notices) = sessions.index(args)?;
    for notice in &notices {
        output.warning(notice);
    }
    let now = SystemClock.now();
    let (_, mut troubles) = index.refresh(now).await;
    let embedding = index.embed_all_long_term();
    if tokio::time::timeout(PATIENCE, embedding).await.is_err() {
        output.warning("the embedder is slow; using keyword search where vectors are missing");
    }
    let asked = Search {
        query,
        limit: usize::from(search.k).min(MAX_HITS),
        mode: SearchMode::Hybrid,
        scope: match within {
            Within::Notes => Scope::LongTerm,
            Within::Everything => Scope::Everything,
        },
        now,
    };
    let searched = index.search(asked, None).await;
    troubles.extend(searched.troubles);
    for trouble in troubles {
        output.warning(&trouble);
    }
    if search.json {
        let hits: Vec<Value> = searched.hits.iter().map(json).collect();
        output.answer(&format!("{:#}", json!({"query": query, "hits": hits})));
    } else if searched.hits.is_empty() {
        output.notice("No matches");
    } else {
        let shown = (1..)
            .zip(worth_showing(&searched.hits))
            .map(|(n, hit)| shown(n, hit));
        output.answer(&shown.collect::<Vec<_>>().join("\n"));
    }
    Ok(Exit::Ok)
}

fn json(hit: &Hit) -> Value {
    json!({
        "source": hit.source,
        "line": hit.line,
        "score": rounded(hit.score),
        "overlap": rounded(hit.overlap),
        "similarity": hit.similarity.map(rounded),
        "timestamp": hit.at.map(Timestamp::iso),
        "text": hit.content,
        "also": hit.also,
        "beside": hit.is_beside,
    })
}

/// `1  MEMORY.md:12  deploy uses fly.io`
fn shown(n: usize, hit: &Hit) -> String {
    const SHOWN: usize = 160;
    let words = first_words(&hit.content, SHOWN);
    let (also, beside) = (also(&hit.also), beside(hit));
    let line = format!("{n:>2}  {}:{}  {words}{also}{beside}", hit.source, hit.line);
    harmless(&line)
}
