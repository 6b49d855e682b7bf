use serde_json::json;

use super::*;
use crate::tools::files::fixture::{Fixture, SECRET};

fn why<T>(result: Result<T, ProjectError>) -> String {
    result
        .err()
        .map_or("done".to_owned(), |error| error.to_string())
}

#[test]
fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
    let fixture = Fixture::with(&[("a", "old")]);
    let project = &fixture.project;
    for (path, content) in [("a", "new"), ("b/c/d", "created"), ("b/c/d", "")] {
        project
            .replace(Path::new(path), content.as_bytes())
            .unwrap();
        assert_eq!(fixture.held(path).as_deref(), Some(content));
    }
    project.remove(Path::new("b/c/d")).unwrap();
    let names = |folder: &str| {
        let entries = std::fs::read_dir(fixture.at(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("."), ["a", "b"]);
    assert!(names("b/c").is_empty());
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_to_it_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::with(&[("run.sh", "old"), ("d/x", "")]);
    let set =
        |mode| std::fs::set_permissions(fixture.at("run.sh"), PermissionsExt::from_mode(mode));
    fixture.link("link", "run.sh");
    fixture.link("d/up", "../run.sh");
    fixture.link("folder", "d");
    for (path, mode) in [("run.sh", 0o755), ("link", 0o600), ("folder/up", 0o640)] {
        set(mode).unwrap();
        fixture
            .project
            .replace(Path::new(path), path.as_bytes())
            .unwrap();
        assert_eq!(fixture.held("run.sh").as_deref(), Some(path));
        let now = fixture
            .at("run.sh")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(now & 0o777, mode, "{path}");
    }
    assert!(fixture.at("link").is_symlink() && fixture.at("d/up").is_symlink());
    fixture.link("new", "d/made");
    fixture
        .project
        .replace(Path::new("new"), b"through a link")
        .unwrap();
    assert_eq!(fixture.held("d/made").as_deref(), Some("through a link"));
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_whatever_is_done_with_it() {
    let fixture = Fixture::with(&[("d/x", "")]);
    let outside = fixture.at("../outside").canonicalize().unwrap();
    fixture.link("file", "../outside/secret.txt");
    fixture.link("folder", "../outside");
    fixture.link("absolute", &outside);
    fixture.link("d/up", "../../outside");
    fixture.link("chain", "folder/../outside");
    fixture.link("new", "../outside/new");
    fixture.link("root", "/");
    fixture.link("loop", "loop");
    for path in [
        "file",
        "folder/secret.txt",
        "absolute/secret.txt",
        "d/up/secret.txt",
        "chain/secret.txt",
        "new",
        "root/etc/passwd",
        "loop",
    ] {
        let path = Path::new(path);
        let project = &fixture.project;
        assert!(project.read(path, 1 << 20).is_err(), "{path:?}");
        assert!(project.metadata(path).is_err(), "{path:?}");
        assert!(project.resolve(path).is_err(), "{path:?}");
        assert!(project.replace(path, b"x").is_err(), "{path:?}");
        assert!(project.remove(path).is_err(), "{path:?}");
    }
    for path in ["folder", "absolute", "d/up", "root"] {
        assert!(fixture.project.folder(Path::new(path)).is_err(), "{path}");
    }
    let said = why(fixture.project.read(Path::new("file"), 9));
    assert_eq!(
        said,
        "file leads outside the project folder, which tools may not access"
    );
    assert_eq!(
        fixture.held("../outside/secret.txt").as_deref(),
        Some(SECRET)
    );
    assert_eq!(fixture.held("../outside/new"), None);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_under_git_by_any_name() {
    let fixture = Fixture::with(&[(".git/config", "old"), (".git/hooks/x", ""), ("sub/y", "")]);
    fixture.link("hooks", ".git/hooks");
    fixture.link("config", ".git/config");
    fixture.link("sub/up", "../.git");
    for path in [
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git/hooks/pre-commit",
        "sub/.git",
        "hooks/pre-commit",
        "config",
        "sub/up/config",
    ] {
        let replaced = why(fixture.project.replace(Path::new(path), b"x"));
        assert!(
            replaced.ends_with("is inside .git, where tools may not write"),
            "{path}: {replaced}"
        );
        let removed = why(fixture.project.remove(Path::new(path)));
        assert!(removed.contains("is inside .git"), "{path}: {removed}");
    }
    assert_eq!(fixture.held(".git/config").as_deref(), Some("old"));
    assert_eq!(fixture.held(".git/hooks/pre-commit"), None);
    assert_eq!(
        why(fixture.project.replace(Path::new(".gitignore"), b"x")),
        "done"
    );
}

#[cfg(unix)]
#[test]
fn pipes_sockets_devices_and_folders_are_refused_without_a_wait() {
    let fixture = Fixture::with(&[("d/x", "")]);
    fixture.pipe("pipe");
    let _socket = std::os::unix::net::UnixListener::bind(fixture.at("socket")).unwrap();
    let special = "is a pipe, a socket or a device, not a file";
    for (path, expected) in [
        ("pipe", format!("pipe {special}")),
        ("socket", format!("socket {special}")),
        ("d", "d is a folder, not a file".to_owned()),
        (".", ". is a folder, not a file".to_owned()),
    ] {
        assert_eq!(why(fixture.project.open_file(Path::new(path))), expected);
        assert_eq!(
            why(fixture.project.replace(Path::new(path), b"x")),
            expected
        );
    }
    let device = Dir::open_ambient_dir("/dev", ambient_authority()).unwrap();
    assert!(why(open_regular(&device, "zero", Path::new("zero"))).ends_with(special));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let fixture = Fixture::with(&[("a", "12345")]);
    let read = |limit| fixture.project.read(Path::new("a"), limit);
    assert_eq!(read(5).unwrap(), b"12345");
    assert_eq!(why(read(4)), "a is larger than 4 bytes");
    assert_eq!(
        why(fixture.project.read(Path::new("b"), 4)),
        "b does not exist in the project folder"
    );
}

/// A folder in the middle of a path is swapped for a link that leads out, again and again.
#[cfg(target_os = "linux")]
#[test]
fn a_link_swapped_in_meanwhile_never_leads_out() {
    let fixture = Fixture::with(&[("way/secret.txt", "inside")]);
    fixture.link("other", "../outside");
    let path = Path::new("way/secret.txt");
    fixture.while_swapped("way", "other", || {
        for round in 0..2000 {
            if let Ok(read) = fixture.project.read(path, 100) {
                assert!(read == b"inside" || read == b"written", "{read:?}");
            }
            if round % 10 == 0 {
                fixture.project.replace(path, b"written").ok();
            }
        }
    });
    assert!(fixture.project.read(path, 100).is_ok());
    let secret = fixture.held("../outside/secret.txt");
    assert_eq!(secret.as_deref(), Some(SECRET));
    let beside = std::fs::read_dir(fixture.at("../outside")).unwrap();
    assert_eq!(beside.count(), 1);
}

/// The same with a link that stays inside and leads where nothing may be written.
#[cfg(target_os = "linux")]
#[test]
fn a_link_swapped_in_meanwhile_never_leads_into_git() {
    let fixture = Fixture::with(&[("way/config", "old"), (".git/config", "old")]);
    fixture.link("other", ".git");
    let path = Path::new("way/config");
    fixture.while_swapped("way", "other", || {
        for _ in 0..300 {
            fixture.project.replace(path, b"new").ok();
        }
    });
    assert!(fixture.project.replace(path, b"new").is_ok());
    assert_eq!(fixture.held(".git/config").as_deref(), Some("old"));
}

#[cfg(unix)]
#[test]
fn a_project_is_named_by_the_link_it_was_opened_through_too() {
    let fixture = Fixture::with(&[("a", "content")]);
    let link = fixture.at("../link");
    std::os::unix::fs::symlink("project", &link).unwrap();
    let project = Project::open(&link).unwrap();
    for folder in [link.clone(), link.canonicalize().unwrap()] {
        let path = project.locate(folder.join("a").to_str().unwrap()).unwrap();
        assert_eq!(project.read(&path, 100).unwrap(), b"content");
    }
    assert_eq!(project.path(), link.canonicalize().unwrap());
}

/// A project that holds the data folder, and ways that lead there.
#[cfg(unix)]
fn with_data_folder() -> (Fixture, Project) {
    let fixture = Fixture::with(&[("src/a", "a"), ("data/history/work.json", "said")]);
    fixture.link("link", "data");
    fixture.link("src/up", "../data/history");
    fixture.link("file", "data/history/work.json");
    let kept = [fixture.at("link"), fixture.at("../config")];
    let project = Project::open(&fixture.at(".")).unwrap().keeping(&kept);
    (fixture, project)
}

#[cfg(unix)]
#[test]
fn no_path_leads_into_a_folder_that_is_kept() {
    let (fixture, project) = with_data_folder();
    let expected = "belongs to cogtrix or holds keys, and tools may not access it";
    for path in [
        "data/history/work.json",
        "data/new",
        "data",
        "link/history/work.json",
        "link/new",
        "src/up/work.json",
        "file",
    ] {
        let path = Path::new(path);
        for said in [
            why(project.open_file(path)),
            why(project.read(path, 100)),
            why(project.metadata(path)),
            why(project.folder(path)),
            why(project.resolve(path)),
            why(project.replace(path, b"x")),
            why(project.remove(path)),
        ] {
            assert!(said.ends_with(expected), "{path:?}: {said}");
        }
    }
    assert_eq!(
        fixture.held("data/history/work.json").as_deref(),
        Some("said")
    );
    assert_eq!(why(project.replace(Path::new("database"), b"x")), "done");
    assert_eq!(why(project.read(Path::new("src/a"), 9)), "done");
}

/// By its number, whatever it is called by now; and one that was made after the project was opened, by its place.
#[cfg(unix)]
#[test]
fn a_kept_folder_that_moves_or_is_made_later_stays_kept() {
    let (fixture, project) = with_data_folder();
    std::fs::rename(fixture.at("data"), fixture.at("moved")).unwrap();
    let moved = why(project.read(Path::new("moved/history/work.json"), 100));
    assert!(moved.contains("belongs to cogtrix"), "{moved}");
    let kept = [fixture.at("later/cogtrix")];
    let project = Project::open(&fixture.at(".")).unwrap().keeping(&kept);
    let made = why(project.replace(Path::new("later/cogtrix/approvals/x"), b"x"));
    assert!(made.contains("belongs to cogtrix"), "{made}");
    assert_eq!(why(project.replace(Path::new("later/x"), b"x")), "done");
}

#[cfg(unix)]
#[test]
fn a_list_and_a_walk_leave_kept_folders_out() {
    let (_fixture, project) = with_data_folder();
    let cancel = tokio_util::sync::CancellationToken::new();
    let list = |folder| {
        let listed = crate::tools::files::list_directory::listing(&project, folder, 9, &cancel);
        listed.map(|(text, _)| text)
    };
    let all = list(Path::new(".")).unwrap();
    assert!(all.starts_with("src/") && !all.contains("\ndata/"), "{all}");
    assert!(list(Path::new("src/up")).is_err());
}

/// A project that holds the config file in use, and other names for it.
#[cfg(unix)]
fn with_config_file() -> (Fixture, Project) {
    let fixture = Fixture::with(&[("cogtrix.yaml", "api_key: hidden"), ("a", "api_key: mine")]);
    fixture.link("link", "cogtrix.yaml");
    std::fs::hard_link(fixture.at("cogtrix.yaml"), fixture.at("twin")).unwrap();
    let kept = [fixture.at("cogtrix.yaml")];
    let project = Project::open(&fixture.at(".")).unwrap().keeping(&kept);
    (fixture, project)
}

#[cfg(unix)]
#[test]
fn a_kept_file_is_neither_read_nor_changed_by_any_name() {
    let (fixture, project) = with_config_file();
    for path in ["cogtrix.yaml", "link", "twin"] {
        let path = Path::new(path);
        for said in [
            why(project.open_file(path)),
            why(project.read(path, 100)),
            why(project.metadata(path)),
            why(project.replace(path, b"x")),
            why(project.remove(path)),
        ] {
            assert!(said.contains("belongs to cogtrix"), "{path:?}: {said}");
        }
    }
    // As an editor saves.
    fixture.put("new", "api_key: newer");
    std::fs::rename(fixture.at("new"), fixture.at("cogtrix.yaml")).unwrap();
    std::fs::hard_link(fixture.at("cogtrix.yaml"), fixture.at("again")).unwrap();
    for path in ["cogtrix.yaml", "link", "again"] {
        let said = why(project.read(Path::new(path), 100));
        assert!(said.contains("belongs to cogtrix"), "{path}: {said}");
    }
}

#[test]
fn a_new_file_of_settings_may_be_written_where_none_is_in_use() {
    let fixture = Fixture::with(&[("other.yaml", "")]);
    let kept = [fixture.at("other.yaml")];
    let project = Project::open(&fixture.at(".")).unwrap().keeping(&kept);
    assert_eq!(
        why(project.replace(Path::new("cogtrix.yaml"), b"x")),
        "done"
    );
    assert_eq!(fixture.held("cogtrix.yaml").as_deref(), Some("x"));
}

#[cfg(unix)]
#[test]
fn a_search_leaves_a_kept_file_out_and_a_list_names_it() {
    let (mut fixture, project) = with_config_file();
    fixture.project = project.into();
    let search = |path| fixture.text("search_files", json!({"pattern": "api_key", "path": path}));
    let all = search(".");
    assert!(all.contains("mine") && !all.contains("hidden"), "{all}");
    assert!(!all.contains("could not be read"), "{all}");
    let named = search("cogtrix.yaml");
    assert!(named.contains("belongs to cogtrix"), "{named}");
    let listed = fixture.text("list_directory", json!({"path": "."}));
    assert!(listed.contains("cogtrix.yaml"), "{listed}");
}

#[cfg(unix)]
#[test]
fn a_project_within_a_kept_folder_has_nothing_to_read() {
    let fixture = Fixture::with(&[("a", "a")]);
    for kept in [fixture.at("."), fixture.at("..")] {
        let project = Project::open(&fixture.at(".")).unwrap().keeping(&[kept]);
        for said in [
            why(project.read(Path::new("a"), 9)),
            why(project.replace(Path::new("a"), b"")),
            why(project.folder(Path::new("."))),
        ] {
            assert!(said.contains("belongs to cogtrix"), "{said}");
        }
    }
}
