//! What a run is made of: each part from the configuration, nothing of it opened or asked.

use std::path::PathBuf;
use std::sync::Arc;

use super::args::ChatArgs;
use super::candidates::choice_settings;
use super::report::CliError;
use crate::agent::{library, shelf};
use crate::clock::SystemClock;
use crate::config::{self, Config, Inputs, TextSource, Texts};
use crate::embed::EmbedderChoice;
use crate::files::{Disk, LocalDisk};
use crate::memory::tracking::readers::Readers;
use crate::memory::{Memory, Prompt, Prompts, Registry};
use crate::provider::{Catalog, Known};
use crate::search::Lists;
use crate::store::{FileStore, SessionStore};

/// The machine's disk.
#[cfg(not(feature = "testing"))]
pub(super) fn disk(_: &ChatArgs) -> Arc<dyn Disk> {
    Arc::new(LocalDisk)
}

/// The machine's disk, or one that goes wrong when a test says so.
#[cfg(feature = "testing")]
pub(super) fn disk(args: &ChatArgs) -> Arc<dyn Disk> {
    Arc::new(crate::files::FaultyDisk::new(
        Arc::new(LocalDisk),
        args.fault,
    ))
}

pub(super) fn store(args: &ChatArgs, disk: Arc<dyn Disk>, config: &Config) -> FileStore {
    let store = FileStore::new(
        disk,
        config.settings.data_dir.clone(),
        Arc::new(SystemClock),
    );
    if args.no_lock {
        store.without_lock()
    } else {
        store
    }
}

pub(super) fn memory(config: &Config, texts: &Texts) -> Result<Memory, CliError> {
    let settings = config.settings.memory.clone();
    let mut prompts = Prompts::with(|name| texts.get(name).map(prompt));
    let file = config.settings.system_prompt_file.as_ref();
    if let Some((file, text)) = file.zip(config.settings.system_prompt()?) {
        prompts.base = Prompt::new(file.display().to_string(), text);
    }
    let own = |name: &str| {
        texts
            .get(name)
            .filter(|text| text.source != TextSource::Embedded)
    };
    let readers = Readers::with(|name| own(name).map(prompt))?;
    for work in readers.warm_up() {
        // Ends by itself, or with the process.
        std::thread::spawn(work);
    }
    let modes = Registry::standard(&settings, &prompts, readers);
    Ok(Memory::new(modes, settings, prompts)?)
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

/// What recall works with; a person's own word lists are read now, so that a mistake in them is told.
pub(super) fn shelf_parts(
    args: &ChatArgs,
    disk: Arc<dyn Disk>,
    config: &Config,
    texts: &Texts,
    catalog: &Catalog,
) -> Result<shelf::Parts, CliError> {
    let own = texts.get("search/english.yaml");
    let own = own.filter(|text| text.source != TextSource::Embedded);
    let lists = own.map(|text| {
        let lists = Lists::parse(&text.content).map_err(|source| CliError::Lists {
            file: file_of(text),
            source,
        })?;
        Ok::<_, CliError>(Arc::new(lists))
    });
    Ok(shelf::Parts {
        embedder: Arc::new(embedder_choice(config, catalog, Arc::clone(&disk))),
        hnsw_min: config.settings.memory.recall.hnsw_min,
        disk,
        folder: config.settings.data_dir.join("vectordb/sessions"),
        lists: lists.transpose()?,
        keeping: if args.no_lock {
            shelf::Keeping::ReadOnly
        } else {
            shelf::Keeping::Kept
        },
    })
}

/// Long-term memory as it is searched, with the parts of recall that it shares.
pub(super) fn library_parts(
    config: &Config,
    shelf: &shelf::Parts,
    store: Arc<dyn SessionStore>,
) -> library::Parts {
    let settings = &config.settings;
    library::Parts {
        disk: Arc::clone(&shelf.disk),
        places: library::Places {
            workspace: workspace(config),
            session_files: settings.memory.workspace.session_files,
            daily: settings.memory.daily_notes.search_files,
            documents: settings.documents.clone(),
        },
        chunk_size: settings.rag.chunk_size,
        chunk_overlap: settings.rag.chunk_overlap,
        entries: library::Entries::none(),
        embedder: Arc::clone(&shelf.embedder),
        min_similarity: settings.memory.recall.min_similarity,
        lists: shelf.lists.clone(),
        sessions: Some(library::Past {
            store,
            history: settings.data_dir.join("history"),
            indexes: shelf.folder.clone(),
        }),
    }
}

/// The folder with the notes (X15).
fn workspace(config: &Config) -> PathBuf {
    match config.settings.memory.path.as_str() {
        "" => config.settings.data_dir.join("workspace"),
        path => path.into(),
    }
}

/// Who turns texts into vectors for recall. Asks nobody and reads nothing before it is resolved.
pub(super) fn embedder_choice(
    config: &Config,
    catalog: &Catalog,
    disk: Arc<dyn Disk>,
) -> EmbedderChoice {
    EmbedderChoice::new(choice_settings(&config.settings, catalog), disk)
}

pub(super) fn catalog(
    config: &Config,
    inputs: &Inputs,
    texts: &Texts,
) -> Result<Catalog, CliError> {
    let catalog = Catalog::new(config.settings.provider.clone(), inputs.environment.clone());
    let known = texts
        .get("models.yaml")
        .map(|text| Known::parse(&text.content, &file_of(text)))
        .transpose()?;
    Ok(match known {
        Some(known) => catalog.with_known(known),
        None => catalog,
    })
}
