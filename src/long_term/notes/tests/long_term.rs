//! MEMORY.md: added to, corrected, too large, edited by hand meanwhile.

use super::*;

#[test]
fn what_is_durable_is_added_known_or_takes_the_place_of_another_line() {
    let disk = MemoryDisk::with([("w/MEMORY.md", "\u{feff}# Mine\r\nby hand\r\n\r\n## Auto-captured\r\n- **preference**: dark mode\r\n\r\n## Else\r\nend".as_bytes())]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let judged = memory.add(
        noon(),
        &Section::AutoCaptured,
        "**preference**: light mode",
        |lines| {
            let dark = lines
                .iter()
                .find(|line| line.text.ends_with("dark mode"))
                .unwrap();
            assert_eq!(
                (dark.number, dark.section.as_deref()),
                (5, Some("Auto-captured"))
            );
            Judgement::Supersedes(vec![dark.number])
        },
    );
    assert_eq!(judged.unwrap(), Added::Added);
    let expected = "\u{feff}# Mine\r\nby hand\r\n\r\n## Auto-captured\r\n- (superseded 2026-02-14) **preference**: dark mode\r\n- **preference**: light mode\r\n\r\n## Else\r\nend";
    assert_eq!(text(&disk, "MEMORY.md"), expected);
    let known = memory.add(noon(), &Section::Notes, "x", |_| Judgement::Known);
    assert_eq!(known.unwrap(), Added::Known);
    let line = memory
        .lines()
        .unwrap()
        .into_iter()
        .find(|line| line.text.contains("light"))
        .unwrap();
    memory.supersede(noon(), &line).unwrap();
    assert!(
        text(&disk, "MEMORY.md")
            .contains("- (superseded 2026-02-14) **preference**: light mode\r\n")
    );
    let line = memory
        .lines()
        .unwrap()
        .into_iter()
        .find(|line| line.text.contains("light"))
        .unwrap();
    disk.put(
        "w/MEMORY.md",
        format!("a new first line\n{}", text(&disk, "MEMORY.md")).as_bytes(),
    );
    memory.remove(&line).unwrap();
    assert!(
        !text(&disk, "MEMORY.md").contains("light"),
        "found where it is by now"
    );
}

#[test]
fn a_line_that_is_there_twice_is_not_guessed_at() {
    let disk = MemoryDisk::with([("w/MEMORY.md", b"- a\n- a\n" as &[u8])]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let line = memory.lines().unwrap().remove(1);
    disk.put("w/MEMORY.md", b"- a\nx\n- a\n");
    let refused = memory.remove(&line).unwrap_err();
    assert!(matches!(refused, NotesError::Ambiguous { .. }), "{refused}");
    assert!(refused.hint().is_some());
    assert_eq!(text(&disk, "MEMORY.md"), "- a\nx\n- a\n");
}

#[test]
fn a_first_fact_makes_the_file_and_extracted_ones_do_not() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let facts = ["one".to_owned(), "two\nlines".to_owned(), "one".to_owned()];
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::NoFile
    );
    add(&memory, "**remember**: the gate").unwrap();
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::Added
    );
    assert_eq!(
        memory.add_extracted(noon(), &facts, 4_000).unwrap(),
        Added::Known
    );
    assert_eq!(
        text(&disk, "MEMORY.md"),
        "# Memory\n\n## Auto-captured\n\n- **remember**: the gate\n\n## Auto-extracted (2026-02-14)\n\n- one\n- two lines\n"
    );
    for (length, expected) in [(3_999, Added::Added), (4_000, Added::Full)] {
        disk.put("w/MEMORY.md", "ü".repeat(length).as_bytes());
        assert_eq!(
            memory.add_extracted(noon(), &facts, 4_000).unwrap(),
            expected,
            "{length}"
        );
    }
}

#[test]
fn a_file_of_50_megabytes_is_appended_to_and_read_in_parts() {
    let mut huge = b"# first\n".to_vec();
    huge.extend(
        "- some line of it, with \u{fc}\n"
            .repeat(2_000_000)
            .as_bytes(),
    );
    huge.extend(b"- the last");
    let disk = MemoryDisk::with([("w/MEMORY.md", huge.as_slice())]);
    let workspace = workspace(&disk);
    let memory = workspace.long_term();
    let excerpt = memory.read(20_000).unwrap().unwrap();
    assert!(
        excerpt.is_cut
            && excerpt.text.starts_with("# first")
            && excerpt.text.ends_with("- the last")
    );
    assert!(excerpt.text.chars().count() < 20_100);
    assert_eq!(add(&memory, "**a**: b").unwrap(), Added::AtEndOfLarge);
    assert_eq!(add(&memory, "**c**: d").unwrap(), Added::AtEndOfLarge);
    let known = memory.add(noon(), &Section::Notes, "x", |lines| {
        assert!(lines.iter().any(|line| line.text == "- **c**: d"));
        Judgement::Known
    });
    assert_eq!(known.unwrap(), Added::Known);
    let now = disk.read(&PathBuf::from("w/MEMORY.md")).unwrap();
    assert!(now.starts_with(&huge), "nothing of it was changed");
    assert_eq!(
        &now[huge.len()..],
        b"\n\n## Auto-captured\n\n- **a**: b\n- **c**: d\n"
    );
    assert!(matches!(memory.lines(), Err(NotesError::TooLarge { .. })));
}

#[cfg(unix)]
#[test]
fn a_persons_link_to_a_file_of_the_workspace_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    let (real, link) = (root.join("shared/real.md"), root.join("MEMORY.md"));
    Disk::replace(&LocalDisk, &real, "- a\n".as_ref()).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let disk = RootedDisk::new([(root.clone(), "memory.path")]);
    let workspace = Workspace::new(Arc::new(disk), root, WorkspaceSettings::default());
    add(&workspace.long_term(), "**b**: c").unwrap();
    assert!(link.is_symlink());
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("- **b**: c")
    );
}

proptest! {
    #[test]
    fn no_change_of_memory_md_touches_another_line(
        old in "(\u{feff})?(## Notes|# T|- a|- b|ü|```|\n|\r\n){0,16}", pick in 0_usize..16,
    ) {
        let disk = MemoryDisk::with([("w/MEMORY.md", old.as_bytes())]);
        let workspace = workspace(&disk);
        let memory = workspace.long_term();
        let texts = || memory.lines().unwrap().into_iter().map(|line| line.text).collect::<Vec<_>>();
        let before = memory.lines().unwrap();
        let Some(line) = before.get(pick).filter(|line| line.text.starts_with("- ")) else { return Ok(()) };
        memory.supersede(noon(), line).unwrap();
        let now = texts();
        prop_assert_eq!(now.len(), before.len());
        for (old, new) in before.iter().zip(&now) {
            if old.number == line.number {
                prop_assert_eq!(new, &format!("- (superseded 2026-02-14) {}", &old.text[2..]));
            } else {
                prop_assert_eq!(new, &old.text);
            }
        }
        let marked = memory.lines().unwrap().remove(pick);
        memory.remove(&marked).unwrap();
        let mut rest: Vec<_> = before.iter().filter(|old| old.number != line.number).map(|old| old.text.clone()).collect();
        if rest.is_empty() && old.starts_with('\u{feff}') {
            rest.push(String::new());
        }
        prop_assert_eq!(texts(), rest);
    }
}
