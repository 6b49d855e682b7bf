use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use super::super::aside::{ASIDE, ASIDE_MAX};
use super::super::tests::{skipped, write};
use super::super::{PersonalGit, paths};
use super::*;

/// A project with rules for agents, an editor's folder and sessions below a protected folder.
fn project() -> (tempfile::TempDir, Order) {
    let root = tempfile::TempDir::new().unwrap();
    let project = root.path().canonicalize().unwrap();
    for folder in [".vscode", ".cogtrix/data"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    for file in ["AGENTS.md", ".vscode/tasks.json", ".cogtrix/data/s.json"] {
        write(&project.join(file), "before");
    }
    let order = Order {
        protected: paths(&project, &PersonalGit::default(), &[]),
        kept: vec![project.join(".cogtrix/data")],
        aside: Some(project.join(".cogtrix/data/aside")),
        running: Some(project.join(".cogtrix/data/running")),
        writable: vec![project],
        ..Order::default()
    };
    (root, order)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn what_another_command_made_is_neither_kept_nor_put_back_at_the_end_of_one_that_began_later() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    let first = Guard::new(order.clone());
    write(&project.join("AGENTS.md"), "after");
    symlink("evil", project.join(".envrc")).unwrap();
    // Of a session with another data folder, or a private one.
    let other = Order {
        aside: None,
        ..order.clone()
    };
    let second = Guard::new(other.clone());
    assert_eq!(first.put_back(Namespaces::Missing).len(), 2);
    assert_eq!(second.put_back(Namespaces::Missing), []);
    assert_eq!(text(&project.join("AGENTS.md")), "before");
    assert!(!project.join(".envrc").is_symlink());
    drop((first, second));

    // Of a link that another command made, the target is no file of this one to take away.
    write(&project.join("main.rs"), "mine");
    let first = Guard::new(order.clone());
    symlink("main.rs", project.join(".envrc")).unwrap();
    let later = Order {
        protected: paths(&project, &PersonalGit::default(), &[]),
        ..order.clone()
    };
    let second = Guard::new(later);
    first.put_back(Namespaces::Missing);
    assert_eq!(second.put_back(Namespaces::Missing), []);
    assert_eq!(text(&project.join("main.rs")), "mine");
    assert!(!project.join(".envrc").is_symlink());
    drop((first, second));

    // What a command makes again after the end of the one that made it first is its own, a link with the same target, too.
    let first = Guard::new(order.clone());
    symlink("evil", project.join(".envrc")).unwrap();
    write(&project.join("AGENTS.md"), "after");
    let second = Guard::new(other.clone());
    assert_eq!(first.put_back(Namespaces::Missing).len(), 2);
    symlink("evil", project.join(".envrc")).unwrap();
    write(&project.join("AGENTS.md"), "again");
    assert_eq!(second.put_back(Namespaces::Missing).len(), 2);
    assert!(!project.join(".envrc").is_symlink());
    assert_eq!(text(&project.join("AGENTS.md")), "before");
    drop((first, second));

    // So it is of a folder, with what it held.
    let folder = project.join(".vscode");
    let first = Guard::new(order.clone());
    fs::remove_dir_all(&folder).unwrap();
    write(&folder, "after");
    let second = Guard::new(other.clone());
    first.put_back(Namespaces::Missing);
    fs::remove_dir_all(&folder).unwrap();
    write(&folder, "again");
    second.put_back(Namespaces::Missing);
    assert_eq!(text(&folder.join("tasks.json")), "before");
    drop((first, second));

    // What a command removes that another has changed and put back is brought back, too.
    let first = Guard::new(order.clone());
    write(&project.join("AGENTS.md"), "after");
    let second = Guard::new(other.clone());
    first.put_back(Namespaces::Missing);
    fs::remove_file(project.join("AGENTS.md")).unwrap();
    let back = second.put_back(Namespaces::Missing);
    assert_eq!(back.len(), 1, "{back:?}");
    assert_eq!(text(&project.join("AGENTS.md")), "before");
    drop((first, second));

    // What the end of the first brings back is no work of the second.
    let first = Guard::new(order.clone());
    fs::remove_file(project.join("AGENTS.md")).unwrap();
    let second = Guard::new(other);
    assert_eq!(first.put_back(Namespaces::Missing).len(), 1);
    assert_eq!(second.put_back(Namespaces::Missing), []);
    assert_eq!(text(&project.join("AGENTS.md")), "before");
    drop((first, second));

    // Nothing is left of commands that have ended; where they lock each other is for this user alone.
    let running = order.running.as_deref().unwrap();
    assert_eq!(mode_of(running), Some(0o700));
    assert_eq!(fs::read_dir(running).unwrap().count(), 0);

    // Alone again, what is there counts.
    symlink("mine", project.join(".envrc")).unwrap();
    let guard = Guard::new(order);
    fs::remove_file(project.join(".envrc")).unwrap();
    guard.put_back(Namespaces::Missing);
    assert_eq!(
        fs::read_link(project.join(".envrc")).unwrap(),
        Path::new("mine")
    );
}

#[test]
fn a_mount_that_went_with_what_it_covered_protects_nothing_else_at_its_path() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    // It was made by another command, and is moved aside at the end of that one.
    let first = Guard::new(order.clone());
    write(&project.join(".envrc"), "evil");
    let second = Guard::new(Order {
        protected: paths(&project, &PersonalGit::default(), &[]),
        ..order.clone()
    });
    assert_eq!(first.put_back(Namespaces::Own).len(), 1);
    write(&project.join(".envrc"), "evil");
    assert_eq!(second.put_back(Namespaces::Own).len(), 1);
    assert!(!project.join(".envrc").exists());
    drop((first, second));

    // Somebody replaced it by another.
    let guard = Guard::new(order);
    write(&project.join("new"), "after");
    fs::rename(project.join("new"), project.join("AGENTS.md")).unwrap();
    assert_eq!(guard.put_back(Namespaces::Own).len(), 1);
    assert_eq!(text(&project.join("AGENTS.md")), "before");
}

#[test]
fn a_file_that_is_too_large_to_be_put_back_was_not_made_by_whoever_changes_it_next() {
    let (root, order) = project();
    let rules = root.path().canonicalize().unwrap().join("AGENTS.md");
    let resize = |size| File::options().write(true).open(&rules)?.set_len(size);
    resize(5 << 20).unwrap();
    let first = Guard::new(order.clone());
    resize(6 << 20).unwrap();
    let second = Guard::new(order);
    resize(7 << 20).unwrap();
    let changed = PutBack {
        change: Change::Changed,
        path: rules.clone(),
        copy: None,
    };
    let told = std::slice::from_ref(&changed);
    for guard in [&second, &first] {
        assert_eq!(guard.put_back(Namespaces::Missing), told);
    }
    assert_eq!(rules.metadata().unwrap().len(), 7 << 20);
    fs::remove_file(&rules).unwrap();
    assert_eq!(first.put_back(Namespaces::Missing), told);
}

#[test]
fn where_commands_cannot_know_of_each_other_it_is_said() {
    let (_root, mut order) = project();
    assert_eq!(Guard::new(order.clone()).lacks, None);
    order.running = Some(order.writable[0].join("AGENTS.md"));
    let guard = Guard::new(order);
    assert!(
        guard.lacks.as_ref().unwrap().contains("AGENTS.md"),
        "{guard:?}"
    );
}

#[test]
fn of_many_commands_at_once_nothing_is_left_when_the_last_has_ended() {
    let (_root, order) = project();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| drop(Guard::new(order.clone()))));
        }
    });
    let left = fs::read_dir(order.running.unwrap()).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn what_a_command_did_is_put_back_and_can_be_kept() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    let guard = Guard::new(order);
    write(&project.join("AGENTS.md"), "after");
    write(&project.join(".envrc"), "made");
    fs::remove_dir_all(project.join(".vscode")).unwrap();
    let back = guard.put_back(Namespaces::Missing);
    let changes: Vec<(Change, &Path)> = back
        .iter()
        .map(|file| (file.change, file.path.strip_prefix(&project).unwrap()))
        .collect();
    let expected = [
        (Change::Made, ".envrc"),
        (Change::Removed, ".vscode"),
        (Change::Removed, ".vscode/tasks.json"),
        (Change::Changed, "AGENTS.md"),
    ];
    assert_eq!(
        changes,
        expected.map(|(change, path)| (change, Path::new(path)))
    );
    assert_eq!(text(&project.join("AGENTS.md")), "before");
    assert_eq!(text(&project.join(".vscode/tasks.json")), "before");
    assert!(!project.join(".envrc").exists());
    assert_eq!(guard.put_back(Namespaces::Missing), []);
    for file in &back {
        file.keep().unwrap();
    }
    assert_eq!(text(&project.join("AGENTS.md")), "after");
    assert_eq!(text(&project.join(".envrc")), "made");
    assert!(!project.join(".vscode").exists());
}

#[test]
fn a_link_that_leads_to_hooks_leads_nowhere_else_afterwards() {
    for way in ["way/hooks", "way"] {
        let (root, mut order) = project();
        let project = root.path().canonicalize().unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("real/hooks")).unwrap();
        symlink("real", project.join("way")).unwrap();
        let config = format!("[core]\n\thooksPath = {way}\n");
        write(&project.join(".git/config"), &config);
        order.protected = paths(&project, &PersonalGit::default(), &[]);
        let guard = Guard::new(order);
        fs::remove_file(project.join("way")).unwrap();
        fs::create_dir_all(project.join("way/hooks")).unwrap();
        write(&project.join("way/hooks/pre-commit"), "evil");
        guard.put_back(Namespaces::Missing);
        let left = fs::read_link(project.join("way")).unwrap();
        assert_eq!(left, Path::new("real"), "{way}");
        assert!(!project.join("real/hooks/pre-commit").exists());
        // Where the link leads is protected as well.
        write(&project.join("real/hooks/pre-commit"), "evil");
        guard.put_back(Namespaces::Missing);
        assert!(!project.join("real/hooks/pre-commit").exists(), "{way}");
    }
}

#[test]
fn a_link_in_the_middle_of_a_chain_to_hooks_is_put_back() {
    let (root, mut order) = project();
    let project = root.path().canonicalize().unwrap();
    for folder in [".git", "d/hk", "e/hk"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    symlink("d", project.join("l1")).unwrap();
    symlink("l1/hk", project.join("h2")).unwrap();
    write(&project.join(".git/config"), "[core]\n\thooksPath = h2\n");
    order.protected = paths(&project, &PersonalGit::default(), &[]);
    for namespaces in [Namespaces::Missing, Namespaces::Own] {
        let guard = Guard::new(order.clone());
        fs::remove_file(project.join("l1")).unwrap();
        symlink("e", project.join("l1")).unwrap();
        assert_eq!(guard.put_back(namespaces).len(), 1);
        let left = fs::read_link(project.join("l1")).unwrap();
        assert_eq!(left, Path::new("d"));
    }
}

#[test]
fn a_plain_file_where_a_folder_could_lead_to_protected_files_is_the_commands_business() {
    for (before, work, expected) in [
        ("true", "echo x > config", 0),
        ("echo x > config", "echo y > config", 0),
        ("echo x > config", "rm config", 0),
        ("echo x > config", "rm config; mkdir config", 0),
        (
            "echo x > config",
            "rm config; mkdir config; echo > config/cogtrix.yaml",
            1,
        ),
        ("true", "ln -s . config", 1),
        ("mkdir config", "rmdir config; ln -s . config", 1),
        ("mkdir config", "rmdir config; echo x > config", 1),
        ("true", "echo gitdir: evil > .git", 1),
    ] {
        let (root, mut order) = project();
        let project = root.path().canonicalize().unwrap();
        assert!(sh(&project, before), "{before}");
        let config = project.join("config/cogtrix.yaml");
        order.protected = paths(&project, &PersonalGit::default(), &[config]);
        let guard = Guard::new(order);
        assert!(sh(&project, work), "{work}");
        let back = guard.put_back(Namespaces::Missing);
        assert_eq!(back.len(), expected, "{before}; {work}: {back:?}");
    }
}

#[test]
fn of_what_was_put_back_the_newest_are_kept() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    let aside = order.aside.clone().unwrap();
    let folder = |n: usize| aside.join(format!("{ASIDE}{n}"));
    for n in 0..ASIDE_MAX + 5 {
        fs::create_dir_all(folder(n).join("closed")).unwrap();
        symlink(&project, folder(n).join("link")).unwrap();
        set_mode(&folder(n).join("closed"), 0).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(n as u64);
        File::open(folder(n)).unwrap().set_modified(time).unwrap();
    }
    fs::create_dir(aside.join("another")).unwrap();
    let guard = Guard::new(order);
    write(&project.join(".envrc"), "made");
    let back = guard.put_back(Namespaces::Missing);
    assert_eq!(text(back[0].copy.as_ref().unwrap()), "made");
    let left: Vec<usize> = (0..ASIDE_MAX + 5).filter(|n| folder(*n).exists()).collect();
    assert_eq!(left, (6..ASIDE_MAX + 5).collect::<Vec<usize>>());
    assert!(aside.join("another").exists());
    assert_eq!(mode_of(&aside), Some(0o700));
    assert_eq!(text(&project.join("AGENTS.md")), "before");
}

#[test]
fn a_folder_that_could_not_be_read_is_closed_again_and_keeps_what_it_holds() {
    let (root, order) = project();
    let folder = root.path().canonicalize().unwrap().join(".vscode");
    set_mode(&folder, 0).unwrap();
    let guard = Guard::new(order);
    set_mode(&folder, 0o755).unwrap();
    let back = guard.put_back(Namespaces::Missing);
    let changed = PutBack {
        change: Change::Changed,
        path: folder.clone(),
        copy: None,
    };
    assert_eq!(back, [changed]);
    assert_eq!(mode_of(&folder), Some(0));
    set_mode(&folder, 0o755).unwrap();
    assert_eq!(text(&folder.join("tasks.json")), "before");
}

#[test]
fn a_folder_that_a_command_closes_hides_nothing() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    let old = project.join(".vscode");
    let made = project.join(".github/workflows");
    let before = mode_of(&old);
    let guard = Guard::new(order);
    write(&old.join("evil"), "after");
    fs::create_dir_all(&made).unwrap();
    write(&made.join("evil"), "after");
    for folder in [&old, &made, &project.join(".github")] {
        set_mode(folder, 0).unwrap();
    }
    guard.put_back(Namespaces::Missing);
    assert_eq!(mode_of(&old), before);
    assert!(!old.join("evil").exists());
    assert_eq!(text(&old.join("tasks.json")), "before");
    assert!(!made.exists());
}

#[test]
fn what_commands_could_not_change_is_left_to_whoever_did() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    let guard = Guard::new(order);
    write(&project.join("AGENTS.md"), "after");
    write(&project.join(".vscode/new"), "after");
    write(&project.join(".cogtrix/data/s.json"), "after");
    assert_eq!(guard.put_back(Namespaces::Own), []);
    assert_eq!(text(&project.join("AGENTS.md")), "after");
    let back = guard.put_back(Namespaces::Missing);
    assert_eq!(back.len(), 2, "{back:?}");
    assert_eq!(text(&project.join(".cogtrix/data/s.json")), "after");
}

#[test]
fn what_was_written_through_another_name_of_a_file_is_put_back() {
    let (root, order) = project();
    let project = root.path().canonicalize().unwrap();
    for (file, name) in [("AGENTS.md", "rules"), (".vscode/tasks.json", "tasks")] {
        fs::hard_link(project.join(file), project.join(name)).unwrap();
    }
    let guard = Guard::new(order);
    for name in ["rules", "tasks"] {
        write(&project.join(name), "after");
    }
    let back = guard.put_back(Namespaces::Own);
    assert_eq!(back.len(), 2, "{back:?}");
    for file in ["AGENTS.md", ".vscode/tasks.json"] {
        assert_eq!(text(&project.join(file)), "before");
    }
}

#[test]
fn a_config_that_only_tells_of_the_file_system_is_plain() {
    for (config, expected) in [
        (
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
            true,
        ),
        ("", true),
        ("[core]\n\tfsmonitor = evil\n", false),
        ("[core]\n\thooksPath = evil\n", false),
        ("[core]\n\tfsmonitor\n", false),
        ("[core]\n\tbare = false\\\n\tfsmonitor = evil\n", false),
        ("[core]\n\tbare = \"fal\"se ; x\n", true),
        ("[alias \"bare\"]\n\tbare = false\n", false),
        ("[core] fsmonitor = evil\n", false),
        ("[include]\n\tpath = x\n", false),
    ] {
        assert_eq!(
            is_plain_config(config.as_bytes(), &[]),
            expected,
            "{config}"
        );
        assert_eq!(
            is_plain_config(config.as_bytes(), &OF_SUBMODULE),
            expected,
            "{config}"
        );
    }
}

#[test]
fn a_config_of_a_submodule_may_also_say_where_it_is_and_where_it_came_from() {
    let written = "[core]\n\tbare = false\n\tworktree = ../../../sub\n[remote \"origin\"]\n\t\
        url = git@example.com:me/sub.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
    for (config, expected) in [
        (written, true),
        ("[remote \"origin\"]\n\tuploadpack = evil\n", false),
        ("[remote \"origin\"] uploadpack = evil\n", false),
        ("[filter \"x\"]\n\turl = x\n", false),
        ("[remote \"origin\"]\n\turl = ext::evil\n", false),
        ("[core]\n\turl = x \\\n\tfsmonitor = evil\n", false),
    ] {
        let is_plain = is_plain_config(config.as_bytes(), &OF_SUBMODULE);
        assert_eq!(is_plain, expected, "{config}");
        assert!(!is_plain_config(written.as_bytes(), &[]));
    }
}

/// Runs a script in a folder, as a person or a command does; says whether it succeeded.
fn sh(folder: &Path, script: &str) -> bool {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]).current_dir(folder);
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("HOME", "/nonexistent")]);
    command.env("MARKER", folder.join("ran"));
    let output = command.output().unwrap();
    output.status.success()
}

const REPOSITORY: &str =
    "git init -q sub && git -C sub -c user.name=x -c user.email=x commit -q --allow-empty -m x";
const NAME: &str = "git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub";
const EVIL: &str = "git -C sub config core.fsmonitor 'touch \"$MARKER\"; false'";

#[test]
fn a_repository_that_a_command_names_in_the_index_runs_nothing_later() {
    let module = "git init -q --separate-git-dir=$PWD/hidden sub";
    for (prepare, attack) in [
        ("true", format!("{REPOSITORY} && {NAME} && {EVIL}")),
        (REPOSITORY, format!("{NAME} && {EVIL}")),
        (&format!("{REPOSITORY} && {EVIL}"), NAME.to_owned()),
        (&format!("{REPOSITORY} && {NAME}"), EVIL.to_owned()),
        // A submodule that was cloned without its repository.
        (
            &format!("{REPOSITORY} && {NAME} && rm -rf sub && mkdir sub"),
            format!("{REPOSITORY} && {EVIL}"),
        ),
        (
            "true",
            format!("{module} && {REPOSITORY} && {NAME} && {EVIL}"),
        ),
        (
            "true",
            format!("{REPOSITORY} && {NAME} && {EVIL} && mv sub hidden && ln -s hidden sub"),
        ),
        (
            "true",
            format!(
                "{REPOSITORY} && {NAME} && printf '#!/bin/sh\ntouch \"$MARKER\"' > sub/.git/hooks/post-index-change && \
                 chmod +x sub/.git/hooks/post-index-change && touch sub/x && git -C sub add x && touch -d 2000-01-01 sub/x"
            ),
        ),
        (
            "true",
            format!("{REPOSITORY} && {NAME} && cd sub && {REPOSITORY} && {NAME} && {EVIL}"),
        ),
    ] {
        let (root, mut order) = project();
        let project = root.path().canonicalize().unwrap();
        if !sh(&project, "git --version") {
            return skipped("there is no git");
        }
        order.is_confined = true;
        assert!(
            sh(&project, &format!("git init -q && {prepare}")),
            "{prepare}"
        );
        order.protected = paths(&project, &PersonalGit::default(), &[]);
        let guard = Guard::new(order);
        assert!(sh(&project, &attack), "{attack}");
        sh(&project, "git status");
        // Newer versions of git refuse a link in the place of a submodule.
        let is_link = attack.ends_with("hidden sub");
        assert!(
            is_link || project.join("ran").exists(),
            "a good attack: {attack}"
        );
        fs::remove_file(project.join("ran")).ok();
        let back = guard.put_back(Namespaces::Missing);
        sh(&project, "git status");
        assert!(
            !project.join("ran").exists(),
            "{prepare}; {attack}: {back:?}"
        );
        assert_ne!(back, [], "{attack}");
    }
}

#[test]
fn repositories_that_no_index_names_and_plain_submodules_stay() {
    for work in [
        format!("mkdir -p target && cd target && {REPOSITORY} && {EVIL}"),
        format!("{REPOSITORY} && {NAME}"),
        format!(
            "{REPOSITORY} && mv sub other && git -c protocol.file.allow=always submodule add ./other sub"
        ),
    ] {
        let (root, mut order) = project();
        let project = root.path().canonicalize().unwrap();
        if !sh(&project, "git init -q") {
            return skipped("there is no git");
        }
        order.is_confined = true;
        order.protected = paths(&project, &PersonalGit::default(), &[]);
        let guard = Guard::new(order);
        sh(&project, &work);
        let back: Vec<PathBuf> = guard
            .put_back(Namespaces::Missing)
            .into_iter()
            .map(|it| it.path)
            .collect();
        // The project's own configuration has always been its own.
        let own = project.join(".git/config");
        assert!(back.iter().all(|path| *path == own), "{work}: {back:?}");
    }
}

#[test]
fn a_repository_outside_of_the_project_that_a_command_names_in_the_index_runs_nothing_later() {
    let root = tempfile::TempDir::new().unwrap();
    let root = root.path().canonicalize().unwrap();
    let project = root.join("here");
    fs::create_dir(&project).unwrap();
    if !sh(&root, "git init -q") {
        return skipped("there is no git");
    }
    assert!(sh(&root, &format!("{REPOSITORY} && {EVIL}")));
    let guard = Guard::new(Order {
        is_confined: true,
        protected: paths(&project, &PersonalGit::default(), &[]),
        writable: vec![project, root.join(".git")],
        ..Order::default()
    });
    assert!(sh(&root, NAME) && sh(&root, "git status"));
    assert!(root.join("ran").exists(), "the attack is a good one");
    fs::remove_file(root.join("ran")).unwrap();
    let back = guard.put_back(Namespaces::Missing);
    sh(&root, "git status");
    assert!(!root.join("ran").exists(), "{back:?}");
    assert!(root.join("sub/.git/config").exists());
}

#[test]
fn commands_in_several_folders_of_a_repository_know_of_each_other() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let running = root.join("running");
    for folder in ["r/.git/hooks", "r/sub", "r/.git/modules/m", "r/m"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (file, text) in [
        ("r/.git/config", "before"),
        ("r/.git/modules/m/HEAD", ""),
        ("r/m/.git", "gitdir: ../.git/modules/m"),
    ] {
        write(&root.join(file), text);
    }
    let order = |folders: &[&str]| {
        let writable: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
        Order {
            is_confined: true,
            protected: paths(&writable[0], &PersonalGit::default(), &[]),
            running: Some(running.clone()),
            writable,
            ..Order::default()
        }
    };
    let (whole, part) = (order(&["r"]), order(&["r/sub", "r/.git"]));
    for (first, second) in [(&whole, &part), (&part, &whole)] {
        let first = Guard::new(first.clone());
        for name in ["hooks/post-commit", "config.worktree", "config"] {
            write(&root.join("r/.git").join(name), "evil");
        }
        let second = Guard::new(second.clone());
        assert_eq!(first.put_back(Namespaces::Missing).len(), 3);
        assert_eq!(second.put_back(Namespaces::Missing), []);
        assert_eq!(fs::read_dir(root.join("r/.git/hooks")).unwrap().count(), 0);
        assert_eq!(text(&root.join("r/.git/config")), "before");
        assert!(!root.join("r/.git/config.worktree").exists());
    }
    // What the first one could not write nobody had changed.
    let first = Guard::new(order(&["r/m", "r/.git/modules/m"]));
    let second = Guard::new(whole);
    write(&root.join("r/.git/config"), "evil");
    assert_eq!(second.put_back(Namespaces::Missing).len(), 1);
    assert_eq!(text(&root.join("r/.git/config")), "before");
    drop((first, second));
    assert_eq!(fs::read_dir(running).unwrap().count(), 0);
}
