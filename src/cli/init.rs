//! `cogtrix init`: finds models, asks at most three questions, writes a config file and tries it. Keys stay in the
//! environment: the file names the variable.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;

use super::args::ChatArgs;
use super::opening::answer;
use super::report::{CliError, Exit};
use super::{parts, trust};
use crate::chat::{Message, MessageId, Role, Tokens};
use crate::config::{Texts, own_config_paths};
use crate::files::Disk;
use crate::hint::{Hint, chain};
use crate::memory::Registry;
use crate::net::KeySource;
use crate::provider::{
    Catalog, ChatRequest, Delivery, Environment, Images, Kind, Provider, ProviderError,
    ProviderSettings, Purpose, Settings, StreamEvent, chat_models,
};
use crate::repl::transcript::first_words;
use crate::term::{Output, harmless};

/// The name of a server whose address was typed.
const TYPED: &str = "server";
/// How long the first reply may take: a model may have to be loaded.
const PATIENCE: Duration = Duration::from_mins(2);
const MAX_REPLY: Tokens = Tokens(256);
/// Characters of it that are shown.
const SHOWN_REPLY: usize = 60;
/// Models of one provider that are listed.
const MAX_LISTED: usize = 8;

/// A provider that answers, and the model of it that a chat would take.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    name: String,
    kind: Kind,
    /// Empty where it is not to be written.
    url: String,
    key: Option<String>,
    model: String,
    /// All that it offers, that one first.
    models: Vec<String>,
    /// Whether the file works only once the person has put the address into the environment.
    lacks_address: bool,
}

pub(super) async fn run(yes: bool, args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    if !yes && !std::io::stdin().is_terminal() {
        return Err(CliError::Usage {
            problem: "`cogtrix init` asks questions and needs a terminal".to_owned(),
            hint: "`cogtrix init --yes` accepts the defaults",
        });
    }
    let disk = parts::disk(args);
    let inputs = trust::inputs(args)?;
    let environment = &inputs.environment;
    let named = environment.get("COGTRIX_CONFIG_FILE").map(PathBuf::from);
    let named = args.config_file.as_ref().or(named.as_ref());
    let named = named.map(|file| inputs.working_dir.join(file));
    let mut usual = own_config_paths(&inputs.folders);
    let existing = own_config_paths(&inputs.folders).find(|path| disk.size(path).is_ok());
    let own = named.or(existing).or_else(|| usual.next());
    let Some(path) = own else {
        return Err(CliError::Usage {
            problem: "no config folder found".to_owned(),
            hint: "name the file with -c",
        });
    };
    let is_there = disk.size(&path).is_ok();
    if yes && is_there {
        return Err(CliError::Usage {
            problem: format!("{} exists, and --yes does not replace it", path.display()),
            hint: "leave --yes out to be asked, or name another file with -c",
        });
    }

    output.progress("looking for models …");
    let mut found = find(Settings::default(), environment).await;
    output.end_progress();
    let chosen = if found.is_empty() {
        output.notice("No server answered, and no API key is set.");
        if yes {
            None
        } else {
            typed_server(environment, output).await
        }
    } else {
        let Some(chosen) = which(&mut found, yes, output) else {
            return Ok(unchanged(output));
        };
        Some(chosen)
    };
    let modes = Registry::STANDARD;
    let mode = if yes {
        modes[0].to_owned()
    } else {
        let named = modes.join(", ");
        let question = format!("What will you mostly do? {named} [{}]", modes[0]);
        let wanted = "a mode. Type conversation, code or reasoning.";
        let mode = until(&question, wanted, output, |typed| {
            match &*typed.to_lowercase() {
                "" => Some(modes[0].to_owned()),
                mode => modes.contains(&mode).then(|| mode.to_owned()),
            }
        });
        let Some(mode) = mode else {
            return Ok(unchanged(output));
        };
        mode
    };
    let old = free(&path);
    if !yes {
        let (question, is_yes) = if is_there {
            let (path, old) = (path.display(), old.display());
            (
                format!("Replace {path}? The old one is kept as {old}. [y/N]"),
                false,
            )
        } else {
            (format!("Write {}? [Y/n]", path.display()), true)
        };
        let is_yes = until(&question, "y or n.", output, |typed| {
            match &*typed.to_lowercase() {
                "" => Some(is_yes),
                "y" | "yes" => Some(true),
                "n" | "no" => Some(false),
                _ => None,
            }
        });
        if is_yes != Some(true) {
            return Ok(unchanged(output));
        }
    }
    write(
        disk.as_ref(),
        &path,
        is_there.then_some(&old),
        &text(chosen.as_ref(), &mode),
    )?;
    output.answer(&format!("Wrote {}", path.display()));
    match chosen {
        None => output.notice(
            "No model is set yet: start Ollama, or set OPENAI_API_KEY or ANTHROPIC_API_KEY.",
        ),
        Some(found) if found.lacks_address => output.notice(&format!(
            "The address was not written and not tried, because it holds a password: set {} to it before you start cogtrix.",
            address_variable(found.kind)
        )),
        Some(_) => return try_out(&path, args, output).await,
    }
    Ok(Exit::Ok)
}

/// Asks until the answer is one of those there are, telling what is `wanted`; `None` where no answer comes any more.
fn until<T>(
    question: &str,
    wanted: &str,
    output: &mut Output,
    take: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    loop {
        let typed = answer(question, output)?;
        if let Some(taken) = take(&typed) {
            return Some(taken);
        }
        output.notice(&format!("{typed:?} is not {wanted}"));
    }
}

fn unchanged(output: &mut Output) -> Exit {
    output.notice("Nothing was written; `cogtrix init` asks again.");
    Exit::Ok
}

/// Returns the providers that answer, the one that a chat would take first.
async fn find(settings: Settings, environment: &Environment) -> Vec<Found> {
    let catalog = Catalog::new(settings, environment.clone());
    let first = catalog.choose(None).await.ok();
    let first = first.map(|choice| choice.provider.model().provider.clone());
    let names = catalog.providers().into_iter().map(|listed| listed.name);
    let asked = names.map(|name| ask(&catalog, environment, name, None));
    let mut found: Vec<Found> = join_all(asked).await.into_iter().flatten().collect();
    found.sort_by_key(|it| Some(&it.name) != first.as_ref());
    found
}

/// Asks a server what it is; `typed`: its address, where it is not that of the environment.
async fn ask(
    catalog: &Catalog,
    environment: &Environment,
    name: String,
    typed: Option<&str>,
) -> Option<Found> {
    let answered = catalog.ask(&name).await.ok()?;
    let choice = catalog.choose(Some(&name)).await.ok()?;
    let kind = catalog.kind(&name).ok()?;
    if kind == Kind::Offline {
        return None;
    }
    let address = typed.or_else(|| environment.get(address_variable(kind)));
    // An address with a password in it stays where it is.
    let url = if address.is_some_and(has_password) {
        String::new()
    } else {
        answered.url
    };
    let model = choice.provider.model().model.clone();
    let mut models = chat_models(answered.models);
    models.retain(|it| *it != model);
    models.insert(0, model.clone());
    Some(Found {
        kind,
        url,
        models,
        lacks_address: false,
        key: match answered.key {
            KeySource::Environment(variable) => Some(variable),
            KeySource::Config(_) | KeySource::None | KeySource::Unset(_) => None,
        },
        model,
        name,
    })
}

fn has_password(address: &str) -> bool {
    address.contains('@')
}

/// The environment variable with the address of a server.
fn address_variable(kind: Kind) -> &'static str {
    match kind {
        Kind::Ollama => "OLLAMA_HOST",
        Kind::Anthropic => "ANTHROPIC_BASE_URL",
        Kind::Openai | Kind::Offline => "OPENAI_BASE_URL",
    }
}

/// Lists what there is and asks which model is to answer: by number, or as provider/model.
fn which(found: &mut Vec<Found>, yes: bool, output: &mut Output) -> Option<Found> {
    if yes {
        return Some(found.swap_remove(0));
    }
    let mut listed = Vec::new();
    for it in found.iter() {
        for model in it.models.iter().take(MAX_LISTED) {
            listed.push((it, model));
            let (number, name, place) = (listed.len(), &it.name, it.place());
            output.notice(&format!("{number:>3}  {name}/{model}  {place}"));
        }
        let more = it.models.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            output.notice(&format!("     and {more} more of {}", it.name));
        }
    }
    let question = "Which model? A number, or PROVIDER/MODEL [1]";
    let wanted = "in the list. Type one of its numbers, or PROVIDER/MODEL.";
    until(question, wanted, output, |typed| {
        let typed = if typed.is_empty() { "1" } else { typed };
        if let Ok(number) = typed.parse::<usize>() {
            let (it, model) = listed.get(number.checked_sub(1)?)?;
            return Some(it.with(model));
        }
        let (name, model) = typed.split_once('/')?;
        let it = found.iter().find(|it| it.name == name)?;
        Some(it.with(model))
    })
}

/// Asks for the address of a server where none was found.
async fn typed_server(environment: &Environment, output: &mut Output) -> Option<Found> {
    let question =
        "Address of an OpenAI-compatible server, such as http://localhost:8080/v1 (Enter: none)";
    let (url, catalog) = loop {
        let url = answer(question, output).filter(|url| !url.is_empty())?;
        if !["http://", "https://"].iter().any(|it| url.starts_with(it)) {
            output.notice("Not an address. Example: http://localhost:8080/v1");
            continue;
        }
        let mut settings = Settings::default();
        let server = ProviderSettings {
            kind: Kind::Openai,
            base_url: url.clone(),
            api_key: None,
            api_key_env: String::new(),
        };
        settings.providers.insert(TYPED.to_owned(), server);
        let catalog = Catalog::new(settings, environment.clone());
        match catalog.ask(TYPED).await {
            Ok(_) => break (url, catalog),
            Err(error) => output.error(&chain(&error), error.hint().as_deref()),
        }
    };
    let mut found = ask(&catalog, environment, TYPED.to_owned(), Some(&url)).await;
    if let Some(found) = found.as_mut().filter(|_| has_password(&url)) {
        let question = "Write the password of this address into the config file? [y/N]";
        match answer(question, output).as_deref() {
            Some("y" | "Y" | "yes") => found.url = url,
            _ => {
                found.lacks_address = environment.get(address_variable(Kind::Openai)) != Some(&url);
            }
        }
    }
    found
}

impl Found {
    fn with(&self, model: &str) -> Self {
        Self {
            model: model.to_owned(),
            ..self.clone()
        }
    }

    fn place(&self) -> String {
        let key = self.key.as_ref();
        let key = key.map_or_else(String::new, |variable| format!(", key in {variable}"));
        format!(
            "({}{key})",
            if self.url.is_empty() {
                "address in the environment"
            } else {
                &self.url
            }
        )
    }
}

/// A name beside the config file that no older one has.
fn free(config: &Path) -> PathBuf {
    let first = config.with_extension("yaml.old");
    let others = (2..).map(|n| config.with_extension(format!("yaml.old-{n}")));
    let mut names = std::iter::once(first.clone()).chain(others);
    names.find(|name| !name.exists()).unwrap_or(first)
}

/// The config file.
fn text(found: Option<&Found>, mode: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let default = match found {
        None => "auto".to_owned(),
        Some(found) => format!("{}/{}", found.name, found.model),
    };
    let servers = found.map_or_else(String::new, |found| {
        let base_url = if found.url.is_empty() {
            let variable = address_variable(found.kind);
            format!("# The address is in {variable}: it holds a password.")
        } else {
            format!("base_url: {}", quoted(&found.url))
        };
        let key = found.key.as_deref();
        let key = key.map_or_else(
            || "#api_key_env: NAME_API_KEY".to_owned(),
            |variable| format!("api_key_env: {variable}"),
        );
        format!(
            "# Servers, by a name of your choice.
providers:
  {}:
    # The protocol: ollama, openai (and everything compatible) or anthropic.
    type: {}
    {base_url}
    # The environment variable that holds the key, if there is one.
    {key}

",
            found.name,
            type_of(found.kind)
        )
    });
    format!(
        "# Written by `cogtrix init`. `cogtrix config show` lists all keys with their values;
# `cogtrix config check` finds mistakes.

{servers}models:
  # The model a chat starts with; -m and /model choose another.
  default: {}

memory:
  # The mode a session starts in: conversation, code or reasoning.
  mode: {mode}
",
        quoted(&default)
    )
}

/// A kind as config files write it.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Ollama => "ollama",
        Kind::Openai => "openai",
        Kind::Anthropic => "anthropic",
        Kind::Offline => "offline",
    }
}

fn write(disk: &dyn Disk, path: &Path, old: Option<&PathBuf>, text: &str) -> Result<(), CliError> {
    let failed = |source| CliError::ConfigFile {
        path: path.to_owned(),
        source,
    };
    if let Some(old) = old {
        let bytes = disk.read(path).map_err(failed)?;
        disk.replace(old, &bytes).map_err(failed)?;
    }
    disk.replace(path, text.as_bytes()).map_err(failed)
}

/// Asks the model of a config file for a word.
async fn try_out(path: &Path, args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (here, _) = trust::look(args, disk.as_ref(), output)?;
    let counts = here.files();
    if let Some(other) = counts
        .first()
        .filter(|_| counts.iter().all(|file| file != path))
    {
        let other = other.display();
        output.warning(&format!("in this folder, {other} is used instead"));
    }
    let args = ChatArgs {
        config_file: Some(path.to_owned()),
        ..args.clone()
    };
    let (config, inputs) = trust::look(&args, disk.as_ref(), output)?;
    let texts = Texts::load(inputs.folders.config.as_deref())?;
    let catalog = parts::catalog(&config, &inputs, &texts)?;
    let choice = catalog.choose(None).await?;
    let provider = choice.provider;
    let name = provider.model().to_string();
    output.progress(&format!("asking {name} …"));
    let began = Instant::now();
    let reply = tokio::select! {
        reply = tokio::time::timeout(PATIENCE, first_reply(provider.as_ref())) => reply,
        _ = tokio::signal::ctrl_c() => {
            output.end_progress();
            output.notice("Not tried: interrupted.");
            return Ok(Exit::Interrupted);
        }
    };
    output.end_progress();
    match reply {
        Ok(Ok(text)) => {
            let seconds = began.elapsed().as_secs_f64();
            let text = first_words(&harmless(&text), SHOWN_REPLY);
            output.answer(&format!("{name} answered in {seconds:.1} s: {text}"));
            output.notice("Run `cogtrix` to chat.");
            Ok(Exit::Ok)
        }
        Ok(Err(error)) => {
            output.error(
                &format!("{name} does not answer: {}", chain(&error)),
                error.hint().as_deref(),
            );
            Ok(Exit::NoModel)
        }
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            output.error(&format!("{name} did not answer within {seconds} s"), None);
            Ok(Exit::NoModel)
        }
    }
}

async fn first_reply(provider: &dyn Provider) -> Result<String, ProviderError> {
    let question = "Say hello in one word.";
    let message = Message::text(MessageId::numbered(1), Role::User, question, None);
    let mut events = provider.stream(ChatRequest {
        system: Vec::new(),
        recalled: None,
        messages: [message].into(),
        images: Images::default(),
        tools: Vec::new(),
        max_tokens: MAX_REPLY,
        temperature: None,
        purpose: Purpose::Thought,
        delivery: Delivery::Streamed,
    });
    let mut reply = String::new();
    while let Some(event) = events.next().await {
        if let StreamEvent::Text(text) = event? {
            reply.push_str(&text);
        }
    }
    Ok(reply)
}
