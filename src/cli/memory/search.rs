//! `cogtrix memory search` of sessions: messages that speak of a question, of one that is named or of all.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::everything;
use super::line;
use super::sessions::{Sessions, left_out};
use super::source::Source;
use crate::chat::{BadName, Message, Role, SessionName};
use crate::cli::args::{ChatArgs, SearchArgs, Within};
use crate::cli::report::{CliError, Exit};
use crate::index::session;
use crate::memory::recall::{self, Question, Searching};
use crate::repl::transcript::first_words;
use crate::store::StoreError;
use crate::term::{Output, harmless};

/// A message that was found.
struct Hit {
    session: SessionName,
    message: Message,
    score: f32,
    overlap: f32,
    similarity: Option<f32>,
    /// It is the person's, and only asks.
    asks: bool,
}

pub(super) async fn run(
    search: &SearchArgs,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    if let Some(within) = within(search, args) {
        return everything::run(&asked(search)?, (search, within), args, output).await;
    }
    let mut sessions = Sessions::open(args, output).await?;
    sessions.shows_forgotten = search.history;
    let k = usize::from(search.k);
    if let Some(file) = &search.batch {
        let scope = Scope::of(search, false, &sessions, output)?;
        answer_all(&mut sessions, file, &scope, k, output).await?;
        sessions.close();
        return Ok(Exit::Ok);
    }
    let query = asked(search)?;
    let is_of_one = args.session.is_some();
    let scope = Scope::of(search, is_of_one, &sessions, output)?;
    // More than wanted, or nothing but questions may be left.
    let asked = (query.as_str(), k * LOOKED_AT);
    let mut hits = scope
        .search(&mut sessions, asked, Missing::OfShort, output)
        .await?;
    set_back_questions(&mut hits);
    hits.truncate(k);
    sessions.close();
    if search.json {
        let hits: Vec<Value> = hits.iter().map(Hit::json).collect();
        output.answer(&format!("{:#}", json!({"query": query, "hits": hits})));
    } else if hits.is_empty() {
        output.notice("No matches");
    } else {
        let shown = (1..).zip(&hits).map(|(n, hit)| hit.shown(n));
        output.answer(&shown.collect::<Vec<_>>().join("\n"));
    }
    Ok(Exit::Ok)
}

/// Hits that are looked at for each that is wanted.
const LOOKED_AT: usize = 3;

/// What is searched beside what was said; `None`: sessions alone, as it is wanted.
fn within(search: &SearchArgs, args: &ChatArgs) -> Option<Within> {
    let of_sessions =
        search.all || search.history || search.batch.is_some() || args.session.is_some();
    let usual = (!of_sessions).then_some(Within::Everything);
    search.within.or(usual)
}

fn asked(search: &SearchArgs) -> Result<String, CliError> {
    let query = search.query.join(" ");
    if query.trim().is_empty() {
        return Err(CliError::Usage {
            problem: "nothing to search for".to_owned(),
            hint: "try `cogtrix memory search when does the ferry sail`",
        });
    }
    Ok(query)
}

/// Which sessions are searched.
enum Scope {
    One(SessionName),
    All(Vec<SessionName>),
}

impl Scope {
    fn of(
        search: &SearchArgs,
        is_of_one: bool,
        sessions: &Sessions,
        output: &mut Output,
    ) -> Result<Self, CliError> {
        Ok(if search.all || (search.history && !is_of_one) {
            Self::All(sessions.names(output)?)
        } else {
            Self::One(sessions.config.settings.session.clone())
        })
    }

    async fn search(
        &self,
        sessions: &mut Sessions,
        asked: (&str, usize),
        vectors: Missing,
        output: &mut Output,
    ) -> Result<Vec<Hit>, CliError> {
        let names = match self {
            Self::One(name) => return search_one(sessions, name, asked, vectors, output).await,
            Self::All(names) => names,
        };
        let mut hits = Vec::new();
        for name in names {
            let mut of_one = match search_one(sessions, name, asked, vectors, output).await {
                Ok(hits) => hits,
                Err(error) => {
                    output.warning(&left_out(name, &error));
                    continue;
                }
            };
            if vectors == Missing::OfShort {
                sessions.put_back(name);
            }
            // Scores are scaled by the best message of a session: how well that one fits tells sessions apart.
            let fits = |hit: &Hit| hit.similarity.unwrap_or(0.0).max(hit.overlap);
            let best = of_one.iter().map(fits).fold(0.0, f32::max);
            for hit in &mut of_one {
                hit.score *= best;
            }
            hits.extend(of_one);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        // A fork begins with the messages of its original.
        let mut seen = HashSet::new();
        hits.retain(|Hit { message, .. }| {
            let said = message.said().into_owned();
            seen.insert((message.id.as_str().to_owned(), message.at, said))
        });
        hits.truncate(asked.1);
        Ok(hits)
    }
}

/// Which of the vectors that are missing are made before a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// For many questions.
    All,
    /// Those of sessions that are not long.
    OfShort,
}

async fn search_one(
    sessions: &mut Sessions,
    name: &SessionName,
    (query, k): (&str, usize),
    vectors: Missing,
    output: &mut Output,
) -> Result<Vec<Hit>, CliError> {
    let min_similarity = sessions.config.settings.memory.recall.min_similarity;
    let (volume, meaning) = sessions.volume(name, output)?;
    if volume.index.words().is_none() {
        match vectors {
            // A failure was told; words are searched all the same.
            Missing::All => drop(volume.catch_up(meaning, output).await),
            Missing::OfShort => volume.catch_up_if_short(meaning, output).await,
        }
    }
    let lookup = volume.index.look_up(&volume.session, query, meaning).await;
    let Some((lookup, words)) = lookup.zip(volume.index.words()) else {
        output.warning(&format!("could not search session {name}"));
        return Ok(Vec::new());
    };
    if let Some(news) = lookup.news {
        output.warning(&news.to_string());
    }
    let searching = Searching {
        words,
        nearest: &lookup.nearest,
    };
    let question = Question {
        text: query,
        k,
        before: usize::MAX,
        min_similarity,
    };
    let hits = recall::search_messages(searching, question).into_iter();
    let asked = words.asked(query);
    let hits = hits.filter_map(|hit| {
        let message = volume.session.messages().get(hit.message)?;
        Some(Hit {
            session: name.clone(),
            asks: message.role == Role::User && asked.merely_asks(&message.said()),
            message: message.clone(),
            score: hit.score,
            overlap: hit.overlap,
            similarity: hit.similarity,
        })
    });
    Ok(hits.collect())
}

/// Puts what only asks behind the last message that has half as much of the question as the best that does not.
fn set_back_questions(hits: &mut Vec<Hit>) {
    let answers = || hits.iter().filter(|hit| !hit.asks);
    let best = answers().map(|hit| hit.overlap).fold(0.0, f32::max);
    let may_answer = |hit: &Hit| !hit.asks && hit.overlap > 0.0 && hit.overlap >= best / 2.0;
    let Some(last) = hits.iter().rposition(may_answer) else {
        return;
    };
    let behind = hits.split_off(last + 1);
    let (asking, others): (Vec<_>, Vec<_>) = hits.drain(..).partition(|hit| hit.asks);
    hits.extend(others.into_iter().chain(asking).chain(behind));
}

impl Hit {
    fn json(&self) -> Value {
        json!({
            "id": self.message.id.as_str(),
            "session": self.session.as_str(),
            "score": rounded(self.score),
            "overlap": rounded(self.overlap),
            "similarity": self.similarity.map(rounded),
            "role": self.message.role.as_str(),
            "speaker": self.message.speaker(),
            "timestamp": self.message.at.map(crate::chat::Timestamp::iso),
            "text": session::found_by(&self.message),
        })
    }

    /// `1  trip/m12  2024-03-05 10:00  user: We take the ferry …`
    fn shown(&self, n: usize) -> String {
        const SHOWN: usize = 160;
        let at = self.message.at.map_or(String::new(), |at| {
            format!("  {} {}", at.date(), at.time_of_day())
        });
        let who = self.message.speaker();
        let who = who.unwrap_or_else(|| self.message.role.as_str());
        let said = session::found_by(&self.message);
        let session = self.session.as_str();
        let id = self.message.id.as_str();
        let own = id.strip_prefix(session).and_then(|id| id.strip_prefix('/'));
        let line = format!(
            "{n:>2}  {session}/{}{at}  {who}: {}",
            own.unwrap_or(id),
            first_words(&said, SHOWN)
        );
        // Who reads it from a file or a pipe has a terminal in the end.
        harmless(&line)
    }
}

/// As many digits as mean something.
pub(super) fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1e6).round() / 1e6
}

/// A line of a batch.
#[derive(Deserialize)]
struct Asked {
    id: String,
    query: String,
    session: Option<String>,
}

/// Answers each line of a file with a line.
async fn answer_all(
    sessions: &mut Sessions,
    file: &Path,
    scope: &Scope,
    k: usize,
    output: &mut Output,
) -> Result<(), CliError> {
    let source = Source::named(file);
    let mut input = source.open()?;
    let mut bytes = Vec::new();
    while input
        .next_line(&mut bytes)
        .map_err(|error| source.cannot_read(error))?
    {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let wrong = |problem: String| CliError::Usage {
            problem: format!("{}, line {}: {problem}", source.name(), input.line()),
            hint: "each line must be {\"id\": …, \"query\": …}, with \"session\" to search another one",
        };
        let asked: Result<Asked, _> = serde_json::from_slice(&bytes);
        let asked = asked.map_err(|error| wrong(line::problem(&error)))?;
        let question = (asked.query.as_str(), k);
        let hits = if let Some(name) = &asked.session {
            let name = name.parse();
            let name = name.map_err(|error: BadName| wrong(error.to_string()))?;
            let hits = search_one(sessions, &name, question, Missing::All, output).await;
            hits.map_err(|error| match error {
                CliError::Store(missing @ StoreError::Missing { .. }) => wrong(missing.to_string()),
                other => other,
            })?
        } else {
            scope
                .search(sessions, question, Missing::All, output)
                .await?
        };
        let hits: Vec<Value> = hits
            .iter()
            .map(|hit| {
                json!({
                    "id": hit.message.id.as_str(),
                    "score": rounded(hit.score),
                    "session": hit.session.as_str(),
                })
            })
            .collect();
        output.answer(&json!({"id": asked.id, "hits": hits}).to_string());
    }
    Ok(())
}
