//! `cogtrix embedder`: which embedder there is, and bringing the local one's files onto the disk.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "local-embeddings")]
use bytesize::ByteSize;

use super::args::{ChatArgs, EmbedderCommand};
use super::report::{CliError, Exit};
use super::{candidates, parts, trust};
use crate::config::{Settings, Texts};
use crate::embed::{
    self, ALL_MINILM_L6_V2, EmbedderChoice, InstallError, NoEmbedder, Pinned, Progress, Wanted,
};
use crate::files::Disk;
use crate::net::{Endpoint, Key, Patience, Scheme, base_url};
use crate::provider::Catalog;
use crate::term::{Align, Output, Table};

/// Longest silence of a server that sends the files.
const IDLE: Duration = Duration::from_mins(1);

pub(super) async fn run(
    command: &EmbedderCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (config, inputs) = trust::load_for_command(args, disk.as_ref(), output)?;
    let disk = parts::disk_of_run(args, &config);
    match command {
        EmbedderCommand::Show => {
            let texts = Texts::load(inputs.folders.config.as_deref())?;
            let catalog = parts::catalog(&config, &inputs, &texts)?;
            let reason = Reason::of(&config.settings, &catalog);
            let choice = parts::embedder_choice(&config, &catalog, None, disk).await;
            show(&choice, reason, output).await
        }
        EmbedderCommand::Install { from } => {
            let settings = &config.settings;
            let (address, said_by) = match from {
                Some(address) => (address.as_str(), "--from"),
                None => (settings.embedding.source.as_str(), "embedding.source"),
            };
            let errand = Errand {
                address,
                said_by,
                files: &ALL_MINILM_L6_V2,
                folder: &settings.embedding_folder,
                patience: Patience {
                    connect: settings.provider.network.connect,
                    idle: IDLE,
                },
            };
            let done = errand.run(&disk, output).await?;
            #[cfg(feature = "local-embeddings")]
            make_smaller(errand.folder, &disk, output).await?;
            Ok(done)
        }
    }
}

/// Keeps the weights a byte each.
#[cfg(feature = "local-embeddings")]
async fn make_smaller(
    folder: &Path,
    disk: &Arc<dyn Disk>,
    output: &mut Output,
) -> Result<(), CliError> {
    let made = embed::make_smaller(folder, disk).await;
    let made = made.map_err(|why| NoEmbedder {
        candidate: "local".to_owned(),
        why,
    })?;
    if let Some((before, now)) = made {
        let [before, now] = [before, now].map(|bytes| ByteSize::b(bytes).display().si());
        output.answer(&format!(
            "The weights now take {now:.0} instead of {before:.0}"
        ));
    }
    Ok(())
}

/// Which one is used, and why not the others.
async fn show(
    choice: &EmbedderChoice,
    reason: Reason<'_>,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let found = found(choice).await;
    let chosen = choice.chosen();
    let shown = match (&found, &chosen) {
        (Ok(Some(shown)), _) => shown.as_str(),
        (Err(_), Some(embedder)) => embedder.model(),
        (Ok(None), _) | (Err(_), None) => NONE,
    };
    let mut table = Table::new([Align::Left, Align::Left]);
    table.row(["embedder", shown]);
    table.row(["because", &reason.in_words(choice)]);
    for absent in choice.passed() {
        table.row(["not", &format!("{}: {}", absent.candidate, absent.why)]);
    }
    output.answer(table.render(usize::MAX).trim_end());
    found.map_or_else(|absent| Err(absent.into()), |_| Ok(Exit::Ok))
}

/// The one that is used, after a try; `None` where there is none and nobody asked for one by name.
pub(super) async fn found(choice: &EmbedderChoice) -> Result<Option<String>, NoEmbedder> {
    let Some(embedder) = choice.resolve().await? else {
        return Ok(None);
    };
    let model = embedder.model();
    match embedder.probe().await {
        Ok(dimensions) => Ok(Some(format!("{model}, {dimensions} dimensions"))),
        Err(why) => Err(NoEmbedder {
            candidate: model.to_owned(),
            why,
        }),
    }
}

const NONE: &str = "none: keyword search";

/// What made the choice.
#[derive(Clone, Copy, Debug)]
enum Reason<'a> {
    Model(&'a str),
    Provider(Wanted),
}

impl<'a> Reason<'a> {
    fn of(settings: &'a Settings, catalog: &Catalog) -> Self {
        if candidates::is_by_model(settings, catalog) {
            Self::Model(&settings.rag.model)
        } else {
            Self::Provider(settings.embedding.provider)
        }
    }

    fn in_words(self, choice: &EmbedderChoice) -> String {
        match self {
            Self::Model(model) => format!("rag.model is {model}"),
            Self::Provider(Wanted::Auto) if choice.chosen().is_some() => {
                "embedding.provider is auto, and this is the first one available".to_owned()
            }
            Self::Provider(Wanted::Auto) => {
                "embedding.provider is auto, and none is available".to_owned()
            }
            Self::Provider(wanted) => format!("embedding.provider is {wanted}"),
        }
    }
}

/// Files to be brought into a folder.
struct Errand<'a> {
    /// Where they are from: an address or a folder, and what says so.
    address: &'a str,
    said_by: &'static str,
    files: &'a [Pinned],
    folder: &'a Path,
    patience: Patience,
}

impl Errand<'_> {
    async fn run(&self, disk: &Arc<dyn Disk>, output: &mut Output) -> Result<Exit, CliError> {
        let folder = self.folder.display();
        if embed::missing(self.files, self.folder, disk)
            .await?
            .is_empty()
        {
            output.answer(&format!(
                "All {} files are already in {folder}",
                self.files.len()
            ));
            return Ok(Exit::Ok);
        }
        let from = Path::new(self.address);
        if !self.address.contains("://") {
            let copied = embed::copy(from, self.files, self.folder, disk).await?;
            output.answer(&format!(
                "Copied {copied} of {} files to {folder}",
                self.files.len()
            ));
            return Ok(Exit::Ok);
        }
        let base = base_url(self.said_by, self.address).map_err(InstallError::from)?;
        let source =
            Endpoint::new(base, Key::none(), Scheme::Bearer).map_err(InstallError::from)?;
        let mut shown = None;
        let mut tell = |now: Progress<'_>| {
            let line = progress(now);
            if shown.as_ref() != Some(&line) {
                output.progress(&line);
                shown = Some(line);
            }
        };
        let fetched = embed::install(
            &source,
            self.files,
            self.folder,
            disk,
            self.patience,
            &mut tell,
        );
        let fetched = fetched.await;
        output.end_progress();
        let fetched = fetched?;
        output.answer(&format!(
            "Downloaded {fetched} of {} files to {folder}",
            self.files.len()
        ));
        Ok(Exit::Ok)
    }
}

/// How far it is, in steps that are worth a redraw.
fn progress(now: Progress<'_>) -> String {
    let percent = now.done * 100 / now.total.max(1);
    format!(
        "{}: {percent} % of {} MB",
        now.file,
        now.total.div_ceil(1_000_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;
    use crate::term::{Device, Paint, Policy, Streams};
    use crate::testing::Capture;
    use crate::testing::server::{Script, raw};

    const FILES: [Pinned; 2] = [
        Pinned {
            name: "config.json",
            bytes: 2,
            sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        },
        Pinned {
            name: "vocab.txt",
            bytes: 10,
            sha256: "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882",
        },
    ];

    /// What one call prints on each stream of a terminal.
    async fn errand(address: &str, disk: &MemoryDisk) -> (Result<Exit, CliError>, String, String) {
        let (stdout, stderr) = (Capture::default(), Capture::default());
        let streams = Streams {
            stdout: Box::new(stdout.clone()),
            stderr: Box::new(stderr.clone()),
            stdout_device: Device::Terminal,
            stderr_device: Device::Terminal,
            columns: Some(80),
        };
        let policy = Policy {
            paint: Paint::Colorless,
            ..Policy::default()
        };
        let mut output = Output::new(streams, policy);
        let errand = Errand {
            address,
            said_by: "--from",
            files: &FILES,
            folder: Path::new("enc"),
            patience: Patience {
                connect: Duration::from_secs(5),
                idle: Duration::from_secs(5),
            },
        };
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let done = errand.run(&disk, &mut output).await;
        (done, stdout.text(), stderr.text())
    }

    #[tokio::test]
    async fn files_are_fetched_with_progress_and_what_is_there_is_not_fetched_again() {
        let server = Script::new([])
            .route("/m/config.json", raw(200, "text/plain", ["{}"]))
            .first("/m/vocab.txt", raw(200, "text/plain", ["012345678x"]))
            .route("/m/vocab.txt", raw(200, "text/plain", ["01234", "56789"]))
            .serve();
        let (from, disk) = (format!("{}/m", server.url()), MemoryDisk::default());
        let (done, stdout, _) = errand(&from, &disk).await;
        assert!(matches!(
            done,
            Err(CliError::Install(InstallError::Other { .. }))
        ));
        assert_eq!((stdout.as_str(), disk.files().len()), ("", 1));

        let (done, stdout, stderr) = errand(&from, &disk).await;
        assert_eq!(done.unwrap(), Exit::Ok);
        assert_eq!(stdout, "Downloaded 1 of 2 files to enc\n");
        assert!(stderr.contains("vocab.txt: 100 % of 1 MB"), "{stderr:?}");
        assert_eq!(disk.files()[Path::new("enc/vocab.txt")], b"0123456789");

        let n_asked = server.requests().len();
        let (done, stdout, _) = errand(from.as_str(), &disk).await;
        assert_eq!(done.unwrap(), Exit::Ok);
        assert_eq!(stdout, "All 2 files are already in enc\n");
        assert_eq!(server.requests().len(), n_asked);
    }

    #[tokio::test]
    async fn files_of_a_folder_are_copied_and_others_are_not() {
        let disk = MemoryDisk::default();
        disk.put("mirror/config.json", b"{}");
        disk.put("mirror/vocab.txt", b"012345678x");
        let (done, _, _) = errand("mirror", &disk).await;
        assert!(matches!(
            done,
            Err(CliError::Install(InstallError::Other { .. }))
        ));
        assert!(!disk.files().contains_key(Path::new("enc/vocab.txt")));
        disk.put("mirror/vocab.txt", b"0123456789");
        let (done, stdout, _) = errand("mirror", &disk).await;
        assert_eq!(done.unwrap(), Exit::Ok);
        assert_eq!(stdout, "Copied 1 of 2 files to enc\n");
        assert_eq!(disk.files()[Path::new("enc/vocab.txt")], b"0123456789");
    }
}
