//! The exported page in a real browser. Where no Chromium is installed, the test says so and passes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cogtrix::testing::server::{Server, say};

use crate::support::home::Home;

const REPLY: &str = "# Cranes\n\n| name | year |\n|---|---|\n| Anna | 1904 |\n\n<script>document.title = 'owned'</script>";

fn chromium() -> Option<PathBuf> {
    const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
    const FOLDERS: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/snap/bin"];
    let found = FOLDERS
        .iter()
        .flat_map(|folder| NAMES.map(|name| Path::new(folder).join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        // Behind the capture of the harness.
        let line = b"skipped: no Chromium to show the exported page\n";
        std::io::stderr().write_all(line).unwrap();
    }
    found
}

/// The page as the browser has it after its script ran.
fn dom(chromium: &Path, home: &Home, page: &str) -> String {
    let run = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            home.home().join("browser").display()
        ))
        .arg(format!("file://{}/{page}", home.work().display()))
        .output()
        .unwrap();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn the_exported_page_is_laid_out_searched_and_runs_no_script_but_its_own() {
    let Some(chromium) = chromium() else { return };
    let server = Server::start([say(REPLY), say("There is none.")]);
    let home = Home::new();
    home.config(&server, "memory: {timestamps: off}");
    home.lines(
        "talk",
        &["Which cranes?", "And ships?", "/export talk.html"],
    );
    let page = dom(&chromium, &home, "talk.html");
    assert!(page.contains("<td>Anna</td>"), "{page}");
    assert!(!page.contains("<title>owned"), "{page}");
    assert!(
        page.contains("<p id=\"search\"><input"),
        "its own script ran: {page}"
    );
    assert_eq!(page.matches("<article").count(), 4);
    let found = dom(&chromium, &home, "talk.html#find=anna%20cranes");
    assert_eq!(found.matches(" hidden=\"\"").count(), 3, "{found}");
    assert!(found.contains(">1 message<"), "{found}");
}
