use std::path::Path;

use super::*;
use crate::files::{Disk, MemoryDisk};
use crate::tools::policy::{Only, Says};
use crate::tools::shell::{Level, Namespaces};

/// A toolbox with yes to all, and the file of its rules.
fn toolbox(text: &str) -> (Toolbox, Arc<MemoryDisk>, Approvals) {
    let disk = Arc::new(MemoryDisk::default());
    let approvals = Approvals::new(disk.clone(), Path::new("/rules"), Path::new("/app"));
    disk.replace(approvals.file(), text.as_bytes()).unwrap();
    let mut toolbox = Toolbox::default();
    toolbox.stance.asking = Asking::Never;
    (toolbox, disk, approvals)
}

fn push() -> Effect {
    Effect::Runs("git push".into())
}

fn always(tool: &str) -> Rule {
    Rule {
        says: Says::Allow,
        tool: tool.to_owned(),
        only: Only::Any,
    }
}

#[test]
fn rules_that_cannot_be_read_have_every_call_asked_whatever_was_said_before() {
    let (mut toolbox, disk, approvals) = toolbox("rules: [");
    let file = approvals.file().to_owned();
    assert!(toolbox.remember_in(approvals).is_err());
    for effect in [push(), Effect::Reads("a".into()), Effect::Nothing] {
        assert_eq!(
            toolbox.verdict("shell", &effect),
            Verdict::Ask,
            "{effect:?}"
        );
    }
    assert!(
        toolbox
            .unread()
            .unwrap()
            .contains("is not a valid approvals file")
    );
    disk.replace(&file, b"rules:\n- allow: shell\n").unwrap();
    assert_eq!(toolbox.verdict("shell", &push()), Verdict::Allow);
    assert_eq!(toolbox.unread(), None);
    // The yes to all was given without knowing what is denied.
    let writes = Effect::Writes("a".into());
    assert_eq!(toolbox.verdict("write_file", &writes), Verdict::Ask);
}

#[test]
fn where_every_call_is_asked_no_rule_is_offered() {
    let mut toolbox = Toolbox::default();
    assert_eq!(toolbox.rules_for("shell", &push()).len(), 2);
    toolbox.stance.each_time = EachTime::Commands;
    assert_eq!(toolbox.rules_for("shell", &push()), []);
    let writes = Effect::Writes("a".into());
    assert_eq!(toolbox.rules_for("write_file", &writes).len(), 1);
    toolbox.stance.each_time = EachTime::Everything;
    assert_eq!(toolbox.rules_for("write_file", &writes), []);
}

#[test]
fn a_missing_part_of_the_sandbox_is_told_and_has_each_command_asked() {
    let unavailable = Unavailable {
        why: "no such kernel".to_owned(),
    };
    let support = |missing| Support {
        landlock: Level::FilesAndSignals,
        namespaces: Namespaces::Own,
        missing,
        unknown: None,
    };
    for (found, words) in [
        (
            Err(unavailable),
            &["no such kernel", "none are run", "--sandbox off"][..],
        ),
        (
            Ok(support(vec!["the network".to_owned()])),
            &["each one needs approval", "not restricted: the network"],
        ),
        (Ok(support(Vec::new())), &[]),
    ] {
        let is_whole = words.is_empty();
        // With the yes to all of a `-y` too.
        let (mut toolbox, ..) = toolbox("");
        let warning = toolbox.take_up(found.clone()).unwrap_or_default();
        assert_eq!(warning.is_empty(), is_whole, "{warning}");
        for word in words {
            assert!(warning.contains(word), "{warning}");
        }
        match toolbox.verdict("shell", &push()) {
            Verdict::Allow => assert!(is_whole),
            Verdict::Ask => assert!(found.is_ok() && !is_whole),
            // Nothing could run, whoever approves it.
            Verdict::Deny(why) => assert!(found.is_err() && why.contains("no such kernel")),
        }
        assert_eq!(toolbox.is_unconfined(&push()), !is_whole);
        let writes = Effect::Writes("a".into());
        assert_eq!(toolbox.verdict("write_file", &writes), Verdict::Allow);
        assert!(!toolbox.is_unconfined(&writes));
        // More is not made less.
        toolbox.stance.each_time = EachTime::Everything;
        toolbox.take_up(found);
        assert_eq!(toolbox.stance.each_time, EachTime::Everything);
    }
}

#[tokio::test]
async fn the_sandbox_is_tried_once_and_commands_are_asked_where_a_part_is_missing() {
    let (mut toolbox, ..) = toolbox("");
    let program = PathBuf::from("/no/such/program");
    let told = toolbox.confine_commands(program.clone(), None);
    assert_eq!(told.is_some(), shell::available().is_err(), "{told:?}");
    toolbox.stance.each_time = EachTime::Nothing;
    toolbox.untried = Some(Untried {
        program,
        running: None,
    });
    assert_eq!(toolbox.verdict("shell", &push()), Verdict::Allow);
    let told = toolbox.try_sandbox().await.unwrap();
    assert!(
        told.contains("cannot sandbox shell commands here"),
        "{told}"
    );
    let refused = toolbox.verdict("shell", &push());
    assert!(matches!(refused, Verdict::Deny(_)), "nothing could run");
    assert_eq!(toolbox.try_sandbox().await, None);
}

#[tokio::test]
async fn where_nobody_can_be_asked_a_yes_to_all_is_not_advised_for_what_it_does_not_allow() {
    for (is_unconfined, named, other) in [
        (true, "--sandbox off", "--no-confirm"),
        (false, "--no-confirm", "--sandbox"),
    ] {
        let asked = Asked {
            tool: "shell".to_owned(),
            arguments: Value::Null,
            effect: push(),
            detail: None,
            rules: Vec::new(),
            unread: None,
            is_unconfined,
        };
        let Approval::Unanswered(why) = Nobody.approve(asked).await else {
            panic!("nobody said yes");
        };
        assert!(why.contains(named) && !why.contains(other), "{why}");
    }
}

#[test]
fn an_edit_of_the_rules_counts_from_the_next_call_on() {
    let (mut toolbox, disk, approvals) = toolbox("rules:\n- allow: shell\n");
    let file = approvals.file().to_owned();
    toolbox.remember_in(approvals).unwrap();
    assert_eq!(toolbox.verdict("shell", &push()), Verdict::Allow);
    disk.replace(&file, b"rules:\n- deny: shell\n").unwrap();
    assert!(matches!(
        toolbox.verdict("shell", &push()),
        Verdict::Deny(_)
    ));
    // What was denied when it could be read still is when it cannot.
    disk.replace(&file, b"rules: [").unwrap();
    assert!(matches!(
        toolbox.verdict("shell", &push()),
        Verdict::Deny(_)
    ));
    assert_eq!(toolbox.stance.asking, Asking::WhenNeeded);
}

#[test]
fn an_answer_that_the_disk_refuses_holds_for_this_run_and_can_be_revoked() {
    let (mut toolbox, disk, approvals) = toolbox("rules:\n- allow: fetch_url\n");
    let file = approvals.file().to_owned();
    toolbox.remember_in(approvals).unwrap();
    toolbox.stance.asking = Asking::WhenNeeded;
    disk.replace(&file, b"rules: [").unwrap();
    assert!(toolbox.learn(&always("shell")).is_err());
    disk.replace(&file, b"rules:\n- allow: fetch_url\n")
        .unwrap();
    assert_eq!(toolbox.verdict("shell", &push()), Verdict::Allow);
    assert_eq!(toolbox.rules(), [always("fetch_url"), always("shell")]);
    assert_eq!(toolbox.revoke(2).unwrap(), always("shell"));
    assert_eq!(toolbox.verdict("shell", &push()), Verdict::Ask);
    assert_eq!(toolbox.revoke(1).unwrap(), always("fetch_url"));
    assert_eq!(toolbox.rules(), []);
}
