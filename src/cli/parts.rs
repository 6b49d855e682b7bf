//! What a run is made of: each part from the configuration, nothing of it opened or asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use rustix::fs::{Access, access};

use super::args::ChatArgs;
use super::candidates;
use super::report::CliError;
use crate::agent::{ExternalMemory, long_term};
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Config, ConfigError, Inputs, Mistake, Problem, TextSource, Texts};
use crate::embed::EmbedderChoice;
use crate::files::{self, Disk, LocalDisk, OverlayDisk, RootedDisk};
use crate::hint::chain;
use crate::index::{self, Keeping, Lists, SharedLists};
use crate::long_term::entries::{self, EntryStore};
use crate::long_term::notes::{Receipts, SessionFiles, Workspace};
use crate::mem0::Mem0;
use crate::memory::capture::{Capturing, Extractor, Learning};
use crate::memory::facts::FactCues;
use crate::memory::tracking::readers::Readers;
use crate::memory::{Backend, BadCues, Memory, Prompt, Prompts, RecoveryCues, Registry};
use crate::net::{Key, KeySource};
use crate::provider::{Catalog, Choice, Known};
use crate::repl::edit::TextEditor;
use crate::store::{FileStore, SessionStore};
use crate::term::Output;
use crate::text::patterns::Checked;

/// The disk that configuration is loaded with: the machine's, behind a veil where nothing is to be kept.
pub(super) fn disk(args: &ChatArgs) -> Arc<dyn Disk> {
    veiled(args, Arc::new(LocalDisk))
}

/// The disk of this run, where no link leads out of the data folder, the workspace or the documents.
pub(super) fn disk_of_run(args: &ChatArgs, config: &Config) -> Arc<dyn Disk> {
    let settings = &config.settings;
    let own = [
        (settings.data_dir.clone(), "data_dir"),
        (settings.workspace.clone(), "memory.path"),
    ];
    let documents = settings.documents.clone();
    let documents = documents.map(|folder| (folder, "rag.docs_dir"));
    let rooted = RootedDisk::new(own.into_iter().chain(documents));
    veiled(args, machine(args, rooted))
}

fn veiled(args: &ChatArgs, disk: Arc<dyn Disk>) -> Arc<dyn Disk> {
    if args.private || args.no_lock {
        Arc::new(OverlayDisk::over(disk))
    } else {
        disk
    }
}

/// The machine's disk.
#[cfg(not(feature = "testing"))]
fn machine(_: &ChatArgs, disk: RootedDisk) -> Arc<dyn Disk> {
    Arc::new(disk)
}

/// The machine's disk, or one that goes wrong when a test says so.
#[cfg(feature = "testing")]
fn machine(args: &ChatArgs, disk: RootedDisk) -> Arc<dyn Disk> {
    Arc::new(files::FaultyDisk::new(Arc::new(disk), args.fault))
}

/// Where sessions are; a private one sees no others, so that its name cannot be one of theirs.
pub(super) fn store(args: &ChatArgs, disk: Arc<dyn Disk>, config: &Config) -> FileStore {
    if args.private {
        past(Arc::new(OverlayDisk::over_nothing()), config)
    } else {
        past(disk, config)
    }
}

/// The disk of this run and the sessions on it.
pub(super) fn disk_and_store(
    args: &ChatArgs,
    config: &Config,
) -> Result<(Arc<dyn Disk>, FileStore), CliError> {
    check_data_folder(&config.settings.data_dir)?;
    let disk = disk_of_run(args, config);
    let store = store(args, Arc::clone(&disk), config);
    Ok((disk, store))
}

/// Refuses a data folder that is something else, or that cannot be read: nothing could be found or kept in it.
fn check_data_folder(folder: &Path) -> Result<(), CliError> {
    let nearest = folder.ancestors().find_map(|it| fs::metadata(it).ok());
    let checked = match nearest {
        Some(found) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Some(_) if folder.exists() => {
            access(folder, Access::READ_OK | Access::EXEC_OK).map_err(io::Error::from)
        }
        Some(_) | None => Ok(()),
    };
    checked.map_err(|source| CliError::DataFolder {
        path: folder.to_owned(),
        source,
    })
}

/// Sessions that may be searched: all of them, from a private one too.
pub(super) fn past(disk: Arc<dyn Disk>, config: &Config) -> FileStore {
    FileStore::new(
        disk,
        config.settings.data_dir.clone(),
        Arc::new(SystemClock),
    )
}

pub(super) fn memory(config: &Config, texts: &Texts) -> Result<Memory, CliError> {
    let settings = config.settings.memory.clone();
    let mut prompts = Prompts::with(|name| texts.get(name).map(prompt));
    let file = config.settings.system_prompt_file.as_ref();
    if let Some((file, text)) = file.zip(config.settings.system_prompt()?) {
        prompts.base = Prompt::new(file.display().to_string(), text);
    }
    let readers = Readers::with(|name| own(texts, name))?;
    let modes = Registry::standard(&settings, &prompts, readers.clone());
    Ok(Memory::new(modes, settings, prompts)?.with_cold(readers))
}

/// The files that outlive sessions.
pub(super) fn workspace(config: &Config, disk: &Arc<dyn Disk>) -> Workspace {
    let settings = &config.settings;
    Workspace::new(
        Arc::clone(disk),
        settings.workspace.clone(),
        settings.memory.workspace.clone(),
    )
}

/// What was captured, with the files that hold it.
pub(super) fn captures(config: &Config, disk: &Arc<dyn Disk>) -> long_term::Captures {
    long_term::Captures {
        workspace: workspace(config, disk),
        receipts: receipts(config, Arc::clone(disk)),
    }
}

fn receipts(config: &Config, disk: Arc<dyn Disk>) -> Receipts {
    let file = config.settings.data_dir.join("memory/receipts.jsonl");
    Receipts::new(disk, file)
}

/// Removes what killed processes left of writing vectors, and the vectors of older versions: they are made again.
pub(super) fn tidy_vectors(config: &Config, disk: &dyn Disk) {
    let data = &config.settings.data_dir;
    files::sweep(disk, &data.join("vectordb"), |_| true);
    for file in disk
        .list(&data.join("cache/embeddings"))
        .unwrap_or_default()
    {
        disk.remove(&file)
            .unwrap_or_else(|error| tracing::warn!("{}: {error}", file.display()));
    }
}

/// Where messages can be read that are left out of a request, and what was noted of them.
pub(super) fn places(config: &Config) -> Vec<String> {
    let settings = &config.settings;
    let mut places = vec![settings.data_dir.join("history/{session}.json")];
    if settings.memory.backend != Backend::None {
        let state = match settings.memory.workspace.session_files {
            SessionFiles::PerSession => "sessions/{session}/SESSION-STATE.md",
            SessionFiles::Shared => "SESSION-STATE.md",
        };
        places.push(settings.workspace.join(state));
        places.push(settings.workspace.join("memory"));
    }
    places
        .iter()
        .map(|place| place.display().to_string())
        .collect()
}

/// What is written to them and read of them in a turn.
pub(super) fn extractor(config: &Config, texts: &Texts) -> Result<Extractor, CliError> {
    let extractor = Extractor::with(|name| own(texts, name), &config.settings.memory.wal);
    extractor.map_err(|bad| located(bad, config))
}

pub(super) fn fact_cues(config: &Config, texts: &Texts) -> Result<FactCues, CliError> {
    let cues = FactCues::with(|name| own(texts, name), &config.settings.memory.facts);
    cues.map_err(|bad| located(bad, config))
}

/// Adds to a mistake where it was set.
fn located(bad: BadCues, config: &Config) -> CliError {
    let BadCues::Languages {
        setting,
        languages,
        known,
    } = bad
    else {
        return bad.into();
    };
    let mistakes = languages.into_iter().map(|found| Mistake {
        source: config.source(setting),
        key: setting.to_owned(),
        problem: Problem::NotOneOf {
            found,
            known: known.clone(),
            nearest: None,
        },
    });
    ConfigError::of(mistakes.collect()).into()
}

/// A text of the person's own.
fn own(texts: &Texts, name: &str) -> Option<Prompt> {
    let text = texts.get(name)?;
    (text.source != TextSource::Embedded).then(|| prompt(text))
}

/// The person's editor.
pub(super) fn editor(inputs: &Inputs) -> TextEditor {
    let mut command = ["VISUAL", "EDITOR"].iter();
    let command = command.find_map(|name| inputs.environment.get(name));
    TextEditor {
        command: command.map(str::to_owned),
    }
}

/// Whether the model has files of its own. They are opened past the disk of the run, so nothing would keep a private
/// one from writing to them.
pub(super) fn has_memories(args: &ChatArgs, config: &Config) -> bool {
    let memory = &config.settings.memory;
    memory.memories_tool && memory.backend != Backend::None && !args.private
}

pub(super) fn long_term_memory(
    args: &ChatArgs,
    config: &Config,
    texts: &Texts,
    workspace: Workspace,
    disk: Arc<dyn Disk>,
    project: &Path,
) -> Result<long_term::Parts, CliError> {
    let settings = config.settings.memory.clone();
    let context = &config.settings.context;
    let lasts = settings.backend != Backend::None;
    let captures = lasts && settings.capture == Capturing::On;
    let extractor = (captures && settings.learn != Learning::Model)
        .then(|| extractor(config, texts))
        .transpose()?;
    let extractor = extractor.map(Arc::new);
    // Facts and recovery may be switched on later, by a preset.
    let facts = captures.then(|| fact_cues(config, texts)).transpose()?;
    let recovery = texts.get("cues/recovery.yaml");
    let recovery = recovery.map(|text| {
        let checked = match text.source {
            TextSource::Embedded => Checked::ByTests,
            TextSource::File(_) => Checked::Now,
        };
        RecoveryCues::parse(&prompt(text), checked)
    });
    let parts = long_term::Parts {
        workspace,
        receipts: receipts(config, disk),
        extractor,
        recovery: recovery.transpose()?.map(Arc::new),
        facts: facts.map(Arc::new),
        recovers: false,
        buffer_from: 0.0,
        memories: captures && has_memories(args, config) && !args.read_only,
        project: project
            .canonicalize()
            .unwrap_or_else(|_| project.to_owned()),
        rules: config.rules.clone(),
        settings: settings.clone(),
    };
    Ok(parts.with(context, &settings))
}

/// A memory behind a server (X21); none for a session of which nothing is to be kept.
pub(super) fn further(
    args: &ChatArgs,
    config: &Config,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<Option<ExternalMemory>, CliError> {
    let memory = &config.settings.memory;
    let settings = &memory.mem0;
    if settings.base_url.is_empty() || args.private || memory.backend == Backend::None {
        return Ok(None);
    }
    let name = settings.api_key_env.trim();
    let secret = inputs.environment.get(name).filter(|_| !name.is_empty());
    if secret.is_none() && !name.is_empty() {
        output.warning(&format!(
            "memory.mem0.api_key_env: {name} is not set, so mem0 is not used"
        ));
        return Ok(None);
    }
    let key = secret.map_or_else(Key::none, |secret| Key {
        secret: Some(secret.to_owned().into()),
        source: KeySource::Environment(name.to_owned()),
    });
    let user = match settings.user_id.as_str() {
        "" => MEM0_USER,
        user => user,
    };
    Ok(Some(ExternalMemory::new(Mem0::new(
        &settings.base_url,
        key,
        user,
    )?)))
}

/// Whose memories they are, unless somebody says.
const MEM0_USER: &str = "cogtrix";

/// Takes secrets out of what is kept for long.
const MASK: entries::Mask = crate::text::secrets::masked;

/// Entries of memory; what is to be said of their files comes as text.
pub(super) fn entries(
    config: &Config,
    project: &Path,
    disk: Arc<dyn Disk>,
) -> (EntryStore, Vec<String>) {
    let memory = &config.settings.memory;
    let settings = memory.store.clone();
    if memory.backend == Backend::None {
        return (EntryStore::session_only(settings, MASK), Vec::new());
    }
    let root = project_root(config, project, disk.as_ref());
    let folder = entries::Folder {
        disk,
        path: config.settings.data_dir.join("memory"),
        project: root,
    };
    let (store, notices) = EntryStore::open(&folder, settings, MASK, SystemClock.now());
    let notices = notices.into_iter().map(|result| match result {
        Ok(notice) => notice.to_string(),
        Err(error) => format!("memory entries: {}", chain(&error)),
    });
    (store, notices.collect())
}

/// The folder that names the project of the one that is worked in, as the system knows it.
pub(super) fn project_root(config: &Config, project: &Path, disk: &dyn Disk) -> PathBuf {
    let project = project
        .canonicalize()
        .unwrap_or_else(|_| project.to_owned());
    let setting = &config.settings.memory.store.project_root;
    let root = entries::project_root(setting, &project, disk);
    // One that is not there yet has no other name.
    root.canonicalize().unwrap_or(root)
}

fn prompt(text: &config::Text) -> Prompt {
    Prompt::new(file_of(text), text.content.clone())
}

fn file_of(text: &config::Text) -> String {
    match &text.source {
        TextSource::Embedded => format!("config/{}", text.name),
        TextSource::File(path) => path.display().to_string(),
    }
}

/// What the index works with; a person's own word lists are read now, so that a mistake in them is told.
pub(super) async fn index(
    args: &ChatArgs,
    disk: Arc<dyn Disk>,
    config: &Config,
    texts: &Texts,
    (catalog, chosen): (&Catalog, Option<&Choice>),
) -> Result<index::Parts, CliError> {
    let own = texts.get("search/english.yaml");
    let own = own.filter(|text| text.source != TextSource::Embedded);
    let lists = own.map(|text| {
        let lists = Lists::parse(&text.content);
        lists.map_err(|source| CliError::Lists {
            file: file_of(text),
            source,
        })
    });
    let lists = lists.transpose()?;
    // Held by the futures of many commands.
    let choice = Box::pin(embedder_choice(config, catalog, chosen, Arc::clone(&disk))).await;
    Ok(index::Parts {
        embedder: Arc::new(choice),
        reranker: candidates::reranker(&config.settings, catalog),
        settings: config.settings.index.clone(),
        disk,
        folder: config.settings.data_dir.join("vectordb"),
        min_similarity: config.settings.memory.recall.min_similarity,
        lists: lists.map(SharedLists::from).unwrap_or_default(),
        keeping: if args.no_lock || args.private {
            Keeping::ReadOnly
        } else {
            Keeping::Kept
        },
    })
}

/// Long-term memory as it is searched.
pub(super) fn searched(config: &Config, store: Arc<dyn SessionStore>) -> index::LongTerm {
    let settings = &config.settings;
    index::LongTerm {
        places: index::Places {
            workspace: settings.workspace.clone(),
            session_files: settings.memory.workspace.session_files,
            daily: settings.memory.daily_notes.search_files,
            documents: settings.documents.clone(),
        },
        written: index::Written::default(),
        chunk_size: settings.rag.chunk_size,
        chunk_overlap: settings.rag.chunk_overlap,
        past: Some(index::Past {
            store,
            history: settings.data_dir.join("history"),
        }),
    }
}

/// Who turns texts into vectors for recall, beside the model that was chosen for a chat. Asks Ollama at most, and reads
/// nothing before it is resolved.
pub(super) async fn embedder_choice(
    config: &Config,
    catalog: &Catalog,
    chosen: Option<&Choice>,
    disk: Arc<dyn Disk>,
) -> EmbedderChoice {
    let settings = &config.settings;
    let chat = candidates::chat(settings, catalog, chosen).await;
    EmbedderChoice::new(candidates::choice_settings(settings, catalog, &chat), disk)
}

pub(super) fn catalog(
    config: &Config,
    inputs: &Inputs,
    texts: &Texts,
) -> Result<Catalog, CliError> {
    let catalog = Catalog::new(config.settings.provider.clone(), inputs.environment.clone());
    let known = texts
        .get("models.yaml")
        .filter(|text| text.source != TextSource::Embedded)
        .map(|text| Known::parse(&text.content, &file_of(text)))
        .transpose()?;
    Ok(match known {
        Some(known) => catalog.with_known(known),
        None => catalog,
    })
}
