//! Where memory is: its six layers with what stands for each (X1), and the paths of all of it.

use std::path::{Path, PathBuf};

use super::{MemoryView, MemoryViewError};
use crate::files::{Disk, What};
use crate::long_term::notes::Source;
use crate::repl::listing::count;
use crate::term::{Align, Table, harmless, thousands};

/// Days whose notes are counted.
const DAYS: usize = 10_000;

/// The files of entries, in the order of their paths.
const ENTRIES: [&str; 2] = ["entries, project", "entries, global"];

impl MemoryView<'_> {
    /// What stands for each layer, its size and its path.
    pub fn layers(&self) -> Result<String, MemoryViewError> {
        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["LAYER", "WHAT", "SIZE", "PATH"]);
        for layer in LAYERS {
            for (n, row) in self.rows_of(layer)?.into_iter().enumerate() {
                let name = if n == 0 { layer.name() } else { "" };
                table.row([name.to_owned(), row.what, row.size, row.path]);
            }
        }
        Ok(harmless(table.render(usize::MAX).trim_end()))
    }

    /// Folders and files, and whether they are there.
    pub fn paths(&self) -> String {
        let history = |end: &str| {
            self.data
                .join("history")
                .join(format!("{}{end}", self.session))
        };
        let mut rows = vec![
            ("data folder", self.data.to_owned()),
            ("workspace", self.captures.workspace.root().to_owned()),
        ];
        rows.extend(
            ENTRIES
                .into_iter()
                .zip(self.entries.paths().map(Path::to_owned)),
        );
        rows.extend([
            ("receipts", self.captures.receipts.path().to_owned()),
            ("session", history(".json")),
            ("its journal", history(".journal.jsonl")),
            ("its summaries", history("_hybrid.json")),
            ("its mode state", history("_mode_state.json")),
            ("its scratchpad", history("_scratchpad.json")),
            ("its pins", history("_pins.json")),
            ("its index", self.index()),
        ]);
        let lines = rows.into_iter().map(|(name, path)| {
            let is_there = self.disk.size(&path).is_ok();
            let missing = if is_there {
                ""
            } else {
                "  (does not exist yet)"
            };
            format!("{name:<17} {}{missing}", path.display())
        });
        harmless(&lines.collect::<Vec<_>>().join("\n"))
    }

    fn index(&self) -> PathBuf {
        self.data
            .join("vectordb/sessions")
            .join(self.session.as_str())
    }

    fn rows_of(&self, layer: Layer) -> Result<Vec<Row>, MemoryViewError> {
        let history = |end: &str| {
            self.data
                .join("history")
                .join(format!("{}{end}", self.session))
        };
        let messages = self.open.map_or_else(String::new, |open| {
            format!(", {}", count(open.messages().len(), "message"))
        });
        let rows = match layer {
            Layer::Core => vec![self.note("IDENTITY.md")?, self.note("SOUL.md")?],
            Layer::Episodic => vec![
                self.at(&format!("history{messages}"), &history(".json")),
                self.at("its journal", &history(".journal.jsonl")),
            ],
            Layer::Semantic => vec![
                self.note("MEMORY.md")?,
                self.folder("session index", &self.index()),
            ],
            Layer::ShortTerm => vec![
                Row {
                    what: "window".to_owned(),
                    size: "-".to_owned(),
                    path: "the end of the history, sent with each request".to_owned(),
                },
                self.at("scratchpad", &history("_scratchpad.json")),
                self.note("SESSION-STATE.md")?,
            ],
            Layer::LongTerm => {
                let mut rows = vec![self.note("MEMORY.md")?];
                let files = ENTRIES.into_iter().zip(self.entries.paths());
                rows.extend(files.map(|(what, path)| self.at(what, path)));
                rows
            }
            Layer::Workspace => vec![
                self.note("USER.md")?,
                self.many("daily note", "memory/")?,
                self.many("file of the model", "memories/")?,
            ],
        };
        Ok(rows)
    }

    /// A file of the workspace.
    fn note(&self, name: &str) -> Result<Row, MemoryViewError> {
        let workspace = &self.captures.workspace;
        let source = workspace.named(name, self.session);
        let source = source.ok_or_else(|| super::name::unknown(name))?;
        Ok(Row {
            what: name.to_owned(),
            size: told(workspace.size(&source)?),
            path: workspace.path(&source).display().to_string(),
        })
    }

    /// A file of the data folder.
    fn at(&self, what: &str, path: &Path) -> Row {
        Row {
            what: what.to_owned(),
            size: told(self.disk.size(path).ok()),
            path: path.display().to_string(),
        }
    }

    /// All files of a folder of the data folder.
    fn folder(&self, what: &str, path: &Path) -> Row {
        let size = self.disk.size(path).is_ok().then(|| whole(self.disk, path));
        Row {
            what: what.to_owned(),
            size: told(size),
            path: path.display().to_string(),
        }
    }

    /// The files of a folder of the workspace that memory reads.
    fn many(&self, what: &str, folder: &str) -> Result<Row, MemoryViewError> {
        let workspace = &self.captures.workspace;
        let sources = workspace.sources(self.session, DAYS).found.into_iter();
        let mine = |source: &Source| source.as_str().starts_with(folder);
        let files: Vec<Source> = sources.filter(mine).collect();
        let sizes = files.iter().map(|file| workspace.size(file));
        let sizes: Result<Vec<Option<u64>>, _> = sizes.collect();
        let bytes: u64 = sizes?.into_iter().flatten().sum();
        let what = count(files.len(), what).replace("file of the models", "files of the model");
        Ok(Row {
            what,
            size: told((!files.is_empty()).then_some(bytes)),
            path: workspace.root().join(folder).display().to_string(),
        })
    }
}

/// One of the six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Core,
    Episodic,
    Semantic,
    ShortTerm,
    LongTerm,
    Workspace,
}

const LAYERS: [Layer; 6] = [
    Layer::Core,
    Layer::Episodic,
    Layer::Semantic,
    Layer::ShortTerm,
    Layer::LongTerm,
    Layer::Workspace,
];

impl Layer {
    fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Episodic => "episodic",
            Self::Semantic => "semantic",
            Self::ShortTerm => "short-term",
            Self::LongTerm => "long-term",
            Self::Workspace => "workspace",
        }
    }
}

struct Row {
    what: String,
    size: String,
    path: String,
}

/// Bytes of the files of a folder.
fn whole(disk: &dyn Disk, folder: &Path) -> u64 {
    let surveyed = disk.survey(folder).unwrap_or_default().into_iter();
    let files = surveyed.filter(|found| found.what == What::File);
    files.map(|file| file.size).sum()
}

/// `1,234 B`; a dash for what is not there.
fn told(size: Option<u64>) -> String {
    size.map_or_else(
        || "-".to_owned(),
        |size| {
            format!(
                "{} B",
                thousands(usize::try_from(size).unwrap_or(usize::MAX))
            )
        },
    )
}
