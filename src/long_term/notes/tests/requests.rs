//! What of the workspace goes into a request.

use super::*;

#[test]
fn identity_files_are_read_in_order_within_their_caps() {
    let long = "s".repeat(30_000);
    let disk = MemoryDisk::with([
        ("w/USER.md", b"\xef\xbb\xbfAnn\r\nlikes tea\r\n" as &[u8]),
        ("w/SOUL.md", long.as_bytes()),
        ("w/IDENTITY.md", b" \n"),
    ]);
    let settings = WorkspaceSettings {
        total_chars: 20_050,
        ..WorkspaceSettings::default()
    };
    let workspace = Workspace::new(Arc::new(disk), PathBuf::from("w"), settings);
    let identity = workspace.identity();
    let seen: Vec<_> = identity
        .files
        .iter()
        .map(|file| (file.source.as_str(), file.is_cut))
        .collect();
    assert_eq!(seen, [("SOUL.md", true), ("USER.md", false)]);
    assert_eq!(
        identity.files[0].text,
        format!("{}\n{TRUNCATED}", &long[..20_000])
    );
    assert_eq!(identity.files[1].text, "Ann\nlikes tea");
}

#[test]
fn what_tells_where_the_work_stood_comes_in_order_and_without_what_is_missing() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    assert!(workspace.recovery(&session(), noon()).parts.is_empty());
    workspace
        .daily()
        .exchange(noon(), "day", "x", &DailySettings::default())
        .unwrap();
    let notes = workspace.session(&session());
    notes.buffer().append(noon(), "buffered", "x").unwrap();
    disk.deny(format!("w/{STATE}"));
    disk.put(format!("w/{STATE}"), b"x");
    let recovery = workspace.recovery(&session(), noon());
    let seen: Vec<_> = recovery
        .parts
        .iter()
        .map(|part| part.source.as_str())
        .collect();
    assert_eq!(
        seen,
        ["sessions/work/working-buffer.md", "memory/2026-02-14.md"]
    );
    assert_eq!(recovery.problems.len(), 1);
    assert_eq!(
        workspace
            .recovery(&session(), at("2026-02-15T00:00:00Z"))
            .parts
            .len(),
        1
    );
}

fn rule_files(root: &Path, names: &[&str]) -> RuleFiles {
    RuleFiles {
        root: root.to_owned(),
        files: names.iter().map(|name| root.join(name)).collect(),
    }
}

#[test]
fn rules_of_a_project_are_found_from_a_folder_in_it_the_nearest_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let deep = root.join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let put = |path: &Path, text: &str| LocalDisk.replace(path, text.as_bytes()).unwrap();
    let workspace = workspace(&MemoryDisk::default());
    let files = ["src/deep/AGENTS.md", "src/CLAUDE.md", "AGENTS.md"];
    let files = rule_files(&root, &files);
    let rules = || {
        let rules = workspace.project_rules(&deep, &files).unwrap();
        rules.map(|rules| (rules.source, rules.text))
    };
    assert_eq!(rules(), None);
    put(&root.join("AGENTS.md"), "be brief");
    let of_root = Some(("../../AGENTS.md".to_owned(), "be brief".to_owned()));
    assert_eq!(rules(), of_root);
    put(&root.join("src/CLAUDE.md"), "be calm");
    assert_eq!(rules().unwrap().0, "../CLAUDE.md");
}

#[cfg(unix)]
#[test]
fn a_link_to_the_rules_of_the_root_is_followed_and_one_that_leads_out_hides_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let deep = root.join("sub");
    std::fs::create_dir_all(&deep).unwrap();
    let workspace = workspace(&MemoryDisk::default());
    let files = rule_files(&root, &["sub/AGENTS.md", "AGENTS.md"]);
    let rules = || workspace.project_rules(&deep, &files);
    LocalDisk.replace(&folder.path().join("out"), b"o").unwrap();
    LocalDisk.replace(&root.join("RULES"), b"be brief").unwrap();
    std::os::unix::fs::symlink("../RULES", deep.join("AGENTS.md")).unwrap();
    let found = rules().unwrap().unwrap();
    assert_eq!((&*found.source, &*found.text), ("AGENTS.md", "be brief"));
    std::fs::remove_file(deep.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("../../out", deep.join("AGENTS.md")).unwrap();
    let refused = rules().unwrap_err().to_string();
    assert!(refused.contains("cannot use the rules in "), "{refused}");
    assert!(refused.contains("sub/AGENTS.md: "), "{refused}");
    LocalDisk
        .replace(&root.join("AGENTS.md"), b"be calm")
        .unwrap();
    let found = rules().unwrap().unwrap();
    assert_eq!((&*found.source, &*found.text), ("../AGENTS.md", "be calm"));
}

#[cfg(unix)]
#[test]
fn rules_of_a_project_are_an_ordinary_file_inside_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join("AGENTS.md")).unwrap();
    Disk::replace(&LocalDisk, &folder.path().join("secret"), "s".as_ref()).unwrap();
    let workspace = workspace(&MemoryDisk::default());
    let files = rule_files(&project, &["AGENTS.md", "CLAUDE.md"]);
    let rules = || {
        workspace
            .project_rules(&project, &files)
            .unwrap()
            .map(|rules| (rules.source, rules.text))
    };
    assert_eq!(rules(), None, "a folder is none");
    std::os::unix::fs::symlink(folder.path().join("secret"), project.join("CLAUDE.md")).unwrap();
    // It was left out without a word.
    let refused = workspace
        .project_rules(&project, &files)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("CLAUDE.md: the link is broken"),
        "{refused}"
    );
    std::fs::remove_file(project.join("CLAUDE.md")).unwrap();
    Disk::replace(
        &LocalDisk,
        &project.join("CLAUDE.md"),
        "\u{feff}be brief\r\n".as_ref(),
    )
    .unwrap();
    assert_eq!(
        rules(),
        Some(("CLAUDE.md".to_owned(), "be brief".to_owned()))
    );
    std::fs::remove_dir(project.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("CLAUDE.md", project.join("AGENTS.md")).unwrap();
    assert_eq!(rules().unwrap().0, "AGENTS.md", "a link inside is fine");
    assert!(
        workspace
            .project_rules(
                &project,
                &rule_files(&folder.path().join("gone"), &["AGENTS.md"])
            )
            .is_err()
    );
}
