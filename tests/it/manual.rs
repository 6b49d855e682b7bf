//! Help and man pages, made from the definition of the arguments.

use crate::support::home::Home;

fn printed(args: &[&str]) -> String {
    let run = Home::new().cogtrix(args).run();
    assert_eq!(run.code, Some(0), "{run}");
    // What builds for tests have alone.
    let lines = run.stdout.lines();
    lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn help_has_examples_and_the_usual_flags_under_their_headings() {
    insta::assert_snapshot!(printed(&["--help"]));
}

#[test]
fn help_all_has_every_flag() {
    insta::assert_snapshot!(printed(&["--help-all"]));
}

#[test]
fn the_manual_page_is_roff_with_every_flag() {
    insta::assert_snapshot!(printed(&["manual"]));
}

#[test]
fn the_manual_pages_of_all_commands_are_written_into_a_folder() {
    let home = Home::new();
    home.write("pages/mine.txt", "stays");
    let run = home.cogtrix(&["manual", "pages"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    for name in ["cogtrix.1", "cogtrix-memory.1", "cogtrix-memory-search.1"] {
        let page = std::fs::read_to_string(home.work().join("pages").join(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    let missing = home.cogtrix(&["manual", "nowhere"]).run();
    assert_eq!(missing.code, Some(1), "{missing}");
    assert!(missing.stderr.contains("nowhere"), "{missing}");
}
