//! Fetching an encoder's files: from a loopback server, onto a disk in memory; and by the program, which takes
//! none but the real ones.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogtrix::embed::{InstallError, Pinned, Progress, install};
use cogtrix::files::{Disk, MemoryDisk};
use cogtrix::net::{Endpoint, Key, Patience, Scheme, base_url};
use cogtrix::testing::server::{Reply, Script, Server, raw, silent};

use crate::support::home::Home;

const SMALL: Pinned = Pinned {
    name: "config.json",
    bytes: 2,
    sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
};
const LARGE: Pinned = Pinned {
    name: "vocab.txt",
    bytes: 10,
    sha256: "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882",
};
const TEXT: &str = "0123456789";

fn server(large: Reply) -> Server {
    Script::new([])
        .route("/models/config.json", raw(200, "text/plain", ["{}"]))
        .route("/models/vocab.txt", large)
        .serve()
}

async fn fetch(
    server: &Server,
    disk: &MemoryDisk,
    told: &mut Vec<(String, u64, u64)>,
) -> Result<usize, InstallError> {
    let url = base_url("base_url", &format!("{}/models/", server.url())).unwrap();
    let source = Endpoint::new(url, Key::none(), Scheme::Bearer).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let patience = Patience {
        connect: Duration::from_secs(5),
        idle: Duration::from_millis(300),
    };
    let files = [SMALL, LARGE];
    let mut tell = |now: Progress<'_>| told.push((now.file.to_owned(), now.done, now.total));
    install(&source, &files, Path::new("e"), &disk, patience, &mut tell).await
}

#[tokio::test]
async fn files_come_once_and_the_progress_is_told() {
    let server = server(raw(200, "text/plain", ["01234", "56789"]));
    let (disk, mut told) = (MemoryDisk::default(), Vec::new());
    assert_eq!(fetch(&server, &disk, &mut told).await.unwrap(), 2);
    assert_eq!(disk.files()[Path::new("e/vocab.txt")], TEXT.as_bytes());
    assert_eq!(told.last(), Some(&("vocab.txt".to_owned(), 12, 12)));
    assert!(told.is_sorted_by_key(|(_, done, _)| *done));
    assert_eq!(fetch(&server, &disk, &mut told).await.unwrap(), 0);
    assert_eq!(server.requests().len(), 2);
    // A file that was changed meanwhile comes again.
    disk.put("e/vocab.txt", b"012345678x");
    assert_eq!(fetch(&server, &disk, &mut told).await.unwrap(), 1);
    assert_eq!(disk.files()[Path::new("e/vocab.txt")], TEXT.as_bytes());
}

#[tokio::test]
async fn whatever_is_not_the_pinned_file_is_not_kept() {
    type Is = fn(&InstallError) -> bool;
    let cases: [(Reply, Is); 7] = [
        (raw(200, "text/plain", ["0123456780"]), |e| {
            matches!(e, InstallError::Other { .. })
        }),
        (raw(200, "text/plain", ["01234"]), |e| {
            matches!(e, InstallError::Other { .. })
        }),
        (
            raw(200, "text/plain", ["01234567890"]),
            |e| matches!(e, InstallError::Other { what, .. } if what.contains("longer")),
        ),
        (
            raw(404, "text/plain", ["not here"]),
            |e| matches!(e, InstallError::Status { status: 404, message, .. } if message == "not here"),
        ),
        (raw(200, "text/plain", ["01234", "5"]).cut_after(1), |e| {
            matches!(e, InstallError::Unreachable { .. })
        }),
        (raw(200, "text/plain", ["01234", "5"]).stall_after(1), |e| {
            matches!(e, InstallError::Silent { .. })
        }),
        (silent(), |e| matches!(e, InstallError::Silent { .. })),
    ];
    for (reply, is) in cases {
        let disk = MemoryDisk::default();
        let error = fetch(&server(reply), &disk, &mut Vec::new())
            .await
            .unwrap_err();
        assert!(is(&error), "{error:?}");
        assert_eq!(disk.files().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_server_may_send_its_clients_elsewhere() {
    let other = Script::new([])
        .route("/big", raw(200, "text/plain", [TEXT]))
        .serve();
    let moved = raw(302, "text/plain", [""]).header("location", &format!("{}/big", other.url()));
    let disk = MemoryDisk::default();
    let fetched = fetch(&server(moved), &disk, &mut Vec::new()).await;
    assert_eq!(fetched.unwrap(), 2);
}

#[tokio::test]
async fn a_full_disk_is_told_by_path() {
    let server = server(raw(200, "text/plain", [TEXT]));
    let disk = MemoryDisk::default();
    disk.make_read_only();
    let error = fetch(&server, &disk, &mut Vec::new()).await.unwrap_err();
    assert!(error.to_string().contains("config.json"), "{error}");
}

#[test]
fn the_program_takes_no_other_files_and_keeps_nothing_of_them() {
    for (reply, said) in [
        (
            raw(404, "text/plain", ["not here"]),
            "answered 404: not here",
        ),
        (
            raw(200, "text/plain", ["{}"]),
            "is not the expected file: 2 bytes with SHA-256",
        ),
    ] {
        let home = Home::new();
        let server = Script::new([]).route("/m/config.json", reply).serve();
        let from = format!("{}/m", server.url());
        let run = home
            .cogtrix(&["embedder", "install", "--from", &from])
            .run();
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
        assert!(run.stderr.contains(said), "{run}");
        assert!(Home::files(&home.data()).is_empty(), "{run}");
    }
}

#[test]
fn without_an_address_the_public_source_is_asked_or_the_mirror_that_stands_in_for_it() {
    let home = Home::new();
    let shown = home.cogtrix(&["config", "show"]).run();
    assert!(
        shown.stdout.contains("/all-MiniLM-L6-v2/resolve/"),
        "{shown}"
    );
    let reply = raw(404, "text/plain", ["not here"]);
    let server = Script::new([]).route("/mirror/config.json", reply).serve();
    let run = home
        .cogtrix(&["embedder", "install"])
        .env(
            "COGTRIX_EMBEDDER_SOURCE",
            format!("{}/mirror", server.url()),
        )
        .run();
    assert!(run.stderr.contains("answered 404: not here"), "{run}");
    assert_eq!((run.code, server.requests().len()), (Some(1), 1));
    home.write("bad.yaml", "embedding: {source: somewhere}\n");
    let run = home
        .cogtrix(&["-c", "bad.yaml", "embedder", "install"])
        .run();
    assert!(
        run.stderr.contains("embedding.source: must be a URL"),
        "{run}"
    );
    let run = home
        .cogtrix(&["embedder", "install", "--from", "ftp://x"])
        .run();
    assert!(
        run.stderr
            .contains("--from: \"ftp://x\" is not an http or https URL"),
        "{run}"
    );
    assert_eq!(run.code, Some(2));
}
