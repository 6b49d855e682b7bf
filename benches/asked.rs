//! What reaches the model: each question is asked as a turn in a fresh copy of a memory, and the request that a server
//! in this process gets is looked through for the evidence. Loopback only.
//!
//! ```text
//! cargo bench --bench asked -- --evidence PREFIX [--window 8192] [--encoder FOLDER] [--every N]
//!     PREFIX.jsonl (messages to import), PREFIX-queries.jsonl, PREFIX-evidence.jsonl: each question in its own session
//! cargo bench --bench asked -- --person FOLDER [--encoder FOLDER]
//!     sessions/*.jsonl, MEMORY.md, USER.md, IDENTITY.md, memory/*.md, entries.jsonl, docs/*.md of one person, with
//!     questions.jsonl, followups.jsonl and offtopic.jsonl: searched for, and asked in new sessions
//! ```
//! `--binary PATH` measures another program, `--show` prints each miss.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program for developers"
)]

#[path = "common/http.rs"]
mod http;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use http::{http, openai, read};
use serde_json::{Value, json};

struct Options {
    binary: PathBuf,
    evidence: Option<String>,
    person: Option<PathBuf>,
    encoder: Option<PathBuf>,
    window: u32,
    every: usize,
    show: bool,
}

impl Options {
    fn parse() -> Self {
        let mut options = Self {
            binary: PathBuf::from(option_env!("CARGO_BIN_EXE_cogtrix").unwrap_or("cogtrix")),
            evidence: None,
            person: None,
            encoder: None,
            window: 8_192,
            every: 1,
            show: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value behind the option");
            match argument.as_str() {
                "--binary" => options.binary = PathBuf::from(value()).canonicalize().unwrap(),
                "--evidence" => options.evidence = Some(value()),
                "--person" => options.person = Some(PathBuf::from(value()).canonicalize().unwrap()),
                "--encoder" => {
                    options.encoder = Some(PathBuf::from(value()).canonicalize().unwrap());
                }
                "--window" => options.window = value().parse().unwrap(),
                "--every" => options.every = value().parse().unwrap(),
                "--show" => options.show = true,
                // Cargo says so to every bench.
                "--bench" => {}
                other => panic!("unknown option {other}"),
            }
        }
        options
    }
}

/// Answers every chat alike and keeps the requests.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&requests);
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (socket, requests) = (socket.unwrap(), Arc::clone(&shared));
                // A client that goes away in the middle is its own affair.
                std::thread::spawn(move || serve(socket, &requests).ok());
            }
        });
        Self { address, requests }
    }

    /// What the last request that asked this held before the question: summaries are requests too.
    fn request_for(&self, question: &str) -> String {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        let texts = requests.iter().rev().find_map(|body| {
            let request: Value = serde_json::from_str(body).unwrap_or_default();
            let messages = request["messages"].as_array()?;
            let (last, before) = messages.split_last()?;
            let texts = before.iter().filter_map(|it| it["content"].as_str());
            let is_it = text(last, "content").contains(question);
            is_it.then(|| texts.collect::<Vec<_>>().join("\n"))
        });
        texts.unwrap_or_else(|| panic!("nothing asked {question:?}"))
    }
}

fn serve(socket: TcpStream, requests: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut writer = socket.try_clone()?;
    let mut reader = BufReader::new(socket);
    while let Some(request) = read(&mut reader)? {
        let answer = if request.path.ends_with("/chat/completions") {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            requests.lock().unwrap().push(body);
            let reply = openai(["I see."].into_iter());
            http("200 OK", "text/event-stream", &reply)
        } else {
            http("200 OK", "application/json", r#"{"data":[]}"#)
        };
        writer.write_all(&answer)?;
    }
    Ok(())
}

/// The program in a folder of its own.
struct Home {
    folder: PathBuf,
    binary: PathBuf,
}

impl Home {
    fn new(folder: &Path, options: &Options, server: &Server) -> Self {
        fs::create_dir_all(folder).unwrap();
        let embedding = match &options.encoder {
            Some(folder) => json!({"provider": "local", "path": folder}),
            None => json!({"provider": "none"}),
        };
        let config = json!({
            "providers": {"test": {"type": "openai", "base_url": format!("http://{}/v1", server.address), "api_key": "k"}},
            "models": {"m": {"provider": "test", "model": "m", "context_window": options.window}},
            "embedding": embedding,
            // Summaries would be those of a server that knows one sentence.
            "memory": {"modes": {"conversation": {"summarization": false}}},
            "rag": {"docs_dir": folder.join("docs")},
        });
        // JSON is YAML.
        fs::write(folder.join("cogtrix.yaml"), config.to_string()).unwrap();
        Self {
            folder: folder.to_owned(),
            binary: options.binary.clone(),
        }
    }

    fn copy(&self, to: &Path) -> Self {
        copy(&self.folder, to);
        Self {
            folder: to.to_owned(),
            binary: self.binary.clone(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let folder = self.folder.to_string_lossy();
        let output = Command::new(&self.binary)
            .args(arguments)
            .args([
                "-m",
                "m",
                "--config-file",
                &format!("{folder}/cogtrix.yaml"),
            ])
            .args(["--data-dir", &format!("{folder}/data")])
            .env_clear()
            .env("HOME", &self.folder)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if !output.status.success() {
            println!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        output
    }

    /// Asks, and tells what it costs: all of the prompt, and what memory brought of it.
    fn ask(&self, session: &str, question: &str) -> Cost {
        let output = self.run(&["-s", session, "--json", "-p", question]);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let sections = said["context"]["sections"].as_array().cloned();
        let brought = sections.unwrap_or_default().into_iter().filter(|section| {
            let kind = section["kind"].as_str().unwrap_or_default();
            ["recall", "related"].contains(&kind)
        });
        Cost {
            prompt: said["context"]["prompt_tokens"].as_u64().unwrap_or(0),
            brought: brought
                .filter_map(|section| section["tokens"].as_u64())
                .sum(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    prompt: u64,
    brought: u64,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn lines(path: impl AsRef<Path>) -> Vec<Value> {
    let text = fs::read_to_string(path.as_ref()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

fn ratio(part: usize, whole: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole.max(1)).unwrap())
}

/// Questions whose evidence is one or more messages of their own session.
fn by_evidence(options: &Options, prefix: &str, server: &Server) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&folder.path().join("home"), options, server);
    let messages = format!("{prefix}.jsonl");
    home.run(&["memory", "import", &messages]);
    let messages: HashMap<String, String> = lines(&messages)
        .iter()
        .map(|it| (text(it, "id").to_owned(), text(it, "text").to_owned()))
        .collect();
    let evidence: HashMap<String, Value> = lines(format!("{prefix}-evidence.jsonl"))
        .into_iter()
        .map(|it| (text(&it, "id").to_owned(), it))
        .collect();
    if options.encoder.is_some() {
        home.run(&["memory", "reindex"]);
    }
    // The first turn after an import reads and indexes; copies begin after it.
    let mut met = BTreeMap::new();
    let mut rows = Vec::new();
    for query in lines(format!("{prefix}-queries.jsonl"))
        .iter()
        .step_by(options.every)
    {
        let (id, session) = (text(query, "id"), text(query, "session"));
        let expected = &evidence[id];
        if expected["category"] == 5 {
            continue;
        }
        let primed = met.entry(session.to_owned()).or_insert_with(|| {
            let primed = home.copy(&folder.path().join(format!("primed-{session}")));
            primed.ask(session, "Hello again.");
            primed
        });
        let fresh = primed.copy(&folder.path().join("fresh"));
        let question = text(query, "query");
        let cost = fresh.ask(session, question);
        let request = server.request_for(question);
        let wanted = expected["evidence"].as_array().unwrap();
        let reached = wanted.iter().filter(|id| {
            let said = &messages[id.as_str().unwrap()];
            request.contains(said.trim())
        });
        let share = ratio(reached.count(), wanted.len());
        if options.show && share < 1.0 {
            println!("{share:.2} {id}: {}", text(query, "query"));
        }
        rows.push((share, cost));
        fs::remove_dir_all(folder.path().join("fresh")).unwrap();
    }
    println!(
        "{} questions: evidence reached {:.3}, any of it {:.3}; prompt {:.0} tokens, recall {:.0}",
        rows.len(),
        mean(rows.iter().map(|(share, _)| *share)),
        mean(
            rows.iter()
                .map(|(share, _)| if *share > 0.0 { 1.0 } else { 0.0 })
        ),
        mean(
            rows.iter()
                .map(|(_, cost)| f64::from(u32::try_from(cost.prompt).unwrap()))
        ),
        mean(
            rows.iter()
                .map(|(_, cost)| f64::from(u32::try_from(cost.brought).unwrap()))
        ),
    );
}

/// The memory of one person.
fn move_in(home: &Home, person: &Path) {
    let workspace = home.folder.join("data/workspace");
    fs::create_dir_all(workspace.join("memory")).unwrap();
    for name in ["MEMORY.md", "USER.md", "IDENTITY.md"] {
        fs::copy(person.join(name), workspace.join(name)).unwrap();
    }
    copy(&person.join("memory"), &workspace.join("memory"));
    copy(&person.join("docs"), &home.folder.join("docs"));
    for entry in fs::read_dir(person.join("sessions")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let said = lines(&path).into_iter().enumerate().map(|(n, it)| {
            let line = json!({
                "session": name, "id": format!("m{n}"), "role": it["role"], "timestamp": it["timestamp"],
                "text": it["content"],
            });
            format!("{line}\n")
        });
        let file = home.folder.join("import.jsonl");
        fs::write(&file, said.collect::<String>()).unwrap();
        home.run(&["memory", "import", &file.to_string_lossy()]);
    }
    let entries = lines(person.join("entries.jsonl")).into_iter().map(|it| {
        let mut line = json!({"content": it["text"], "type": "project"});
        if let Some(key) = it["key"].as_str() {
            line["key"] = key.into();
        }
        format!("{line}\n")
    });
    let file = home.folder.join("entries.jsonl");
    fs::write(&file, entries.collect::<String>()).unwrap();
    let file = file.to_string_lossy();
    home.run(&["memory", "import", "--format", "entries", "--global", &file]);
    home.run(&["memory", "reindex"]);
}

fn is_evidence(question: &Value, text: &str) -> bool {
    let text = text.to_lowercase();
    let evidence = question["evidence"].as_array().unwrap().iter();
    let mut evidence = evidence.filter_map(Value::as_str);
    evidence.any(|it| text.contains(&it.to_lowercase()))
}

fn of_person(options: &Options, person: &Path, server: &Server) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&folder.path().join("home"), options, server);
    move_in(&home, person);
    let fresh = || {
        let path = folder.path().join("fresh");
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        home.copy(&path)
    };
    let questions = lines(person.join("questions.jsonl"));
    let (mut first_three, mut empty, mut reached, mut tokens) = (0, 0, 0, Vec::new());
    let mut by_source: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for question in &questions {
        let q = text(question, "q");
        let found = home.run(&["memory", "search", "--json", "-k", "10", q]);
        let found: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        let rank = hits
            .iter()
            .position(|hit| is_evidence(question, text(hit, "text")));
        let is_first = rank.is_some_and(|rank| rank < 3);
        let cost = fresh().ask("new", q);
        let is_there = is_evidence(question, &server.request_for(q));
        let of_source = by_source
            .entry(text(question, "source").to_owned())
            .or_default();
        for (count, it) in of_source.iter_mut().zip([true, is_first, is_there]) {
            *count += usize::from(it);
        }
        first_three += usize::from(is_first);
        empty += usize::from(hits.is_empty());
        reached += usize::from(is_there);
        tokens.push(f64::from(u32::try_from(cost.brought).unwrap()));
        if options.show && !(is_first && is_there) {
            println!(
                "{} rank {rank:?}, in the request {is_there}: {q}",
                text(question, "id")
            );
        }
    }
    let count = questions.len();
    println!(
        "{count} questions: first three {first_three}, nothing {empty}, in the request {reached}, memory {:.0} tokens",
        mean(tokens)
    );
    for (source, [all, first, there]) in by_source {
        println!("    {source:<8} {all:>3}: first three {first}, in the request {there}");
    }
    let followups = lines(person.join("followups.jsonl"));
    let mut reached = 0;
    for question in &followups {
        let home = fresh();
        home.ask("new", text(question, "first"));
        home.ask("new", text(question, "then"));
        let is_there = is_evidence(question, &server.request_for(text(question, "then")));
        reached += usize::from(is_there);
        if options.show && !is_there {
            println!(
                "{}: {} / {}",
                text(question, "id"),
                text(question, "first"),
                text(question, "then")
            );
        }
    }
    println!("{} follow-ups: in the request {reached}", followups.len());
    let offtopic = lines(person.join("offtopic.jsonl"));
    let costs: Vec<Cost> = offtopic
        .iter()
        .map(|question| {
            let cost = fresh().ask("new", text(question, "q"));
            if options.show && cost.brought > 0 {
                println!(
                    "{} {} tokens: {}",
                    text(question, "id"),
                    cost.brought,
                    text(question, "q")
                );
            }
            cost
        })
        .collect();
    let brought = costs
        .iter()
        .map(|cost| f64::from(u32::try_from(cost.brought).unwrap()));
    println!(
        "{} off-topic: memory {:.0} tokens",
        offtopic.len(),
        mean(brought)
    );
}

fn main() {
    let options = Options::parse();
    let server = Server::start();
    if let Some(prefix) = &options.evidence {
        by_evidence(&options, prefix, &server);
    }
    if let Some(person) = &options.person {
        of_person(&options, person, &server);
    }
}
