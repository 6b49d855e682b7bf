use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::tools::{Memorize, MemoryTool, PinContext, Run, ScratchpadWrite, tool};

fn runs(command: &str) -> Effect {
    Effect::Runs(command.into())
}

fn with_network(command: &str) -> Effect {
    Effect::Runs(Run {
        command: command.to_owned(),
        escalation: Escalation {
            network: true,
            keys: false,
        },
        reason: "to fetch".to_owned(),
    })
}

fn rule(says: Says, only: Only) -> Rule {
    Rule {
        says,
        tool: "shell".to_owned(),
        only,
    }
}

#[test]
fn only_what_harms_nobody_runs_unasked() {
    for (effect, expected) in [
        (Effect::Nothing, Verdict::Allow),
        (Effect::Reads(PathBuf::from("a")), Verdict::Allow),
        (Effect::Writes(PathBuf::from("a")), Verdict::Ask),
        (Effect::Keeps(PathBuf::from("a")), Verdict::Allow),
        (Effect::Deletes(PathBuf::from("a")), Verdict::Allow),
        (runs("ls"), Verdict::Ask),
        (
            Effect::Contacts {
                host: "example.com".into(),
                what: String::new(),
            },
            Verdict::Ask,
        ),
        (
            Effect::Delegates {
                server: "s".into(),
                tool: "t".into(),
            },
            Verdict::Ask,
        ),
    ] {
        assert_eq!(
            verdict("shell", &effect, &[], Stance::default()),
            expected,
            "{effect:?}"
        );
    }
}

#[test]
fn a_prefix_allows_simple_commands_that_begin_so_and_nothing_else() {
    let rules = [rule(Says::Allow, Only::command("cargo test"))];
    for (command, expected) in [
        ("cargo test", Verdict::Allow),
        ("cargo  test --lib x", Verdict::Allow),
        ("cargo testing", Verdict::Ask),
        ("cargo", Verdict::Ask),
        ("cargo test; rm -rf .", Verdict::Ask),
        ("cargo test && rm x", Verdict::Ask),
        ("cargo test | sh", Verdict::Ask),
        ("cargo test $(rm x)", Verdict::Ask),
        ("cargo test `rm x`", Verdict::Ask),
        ("cargo test > ~/.bashrc", Verdict::Ask),
        ("cargo test\nrm x", Verdict::Ask),
        ("cargo test\u{a0}x", Verdict::Ask),
        ("PATH=. cargo test", Verdict::Ask),
    ] {
        let found = verdict("shell", &runs(command), &rules, Stance::default());
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn a_rule_that_denies_wins_whatever_else_is_said() {
    let rules = [
        rule(Says::Allow, Only::Any),
        rule(Says::Deny, Only::command("git push")),
    ];
    let yes = Stance {
        asking: Asking::Never,
        ..Stance::default()
    };
    for command in ["git push", "cd x && git push --force", "sh -c 'git push'"] {
        let found = verdict("shell", &runs(command), &rules, yes);
        assert!(matches!(found, Verdict::Deny(_)), "{command}");
    }
    assert_eq!(
        verdict("shell", &runs("git log"), &rules, yes),
        Verdict::Allow
    );
}

#[test]
fn a_run_that_may_write_nothing_writes_nothing_with_yes_to_all_either() {
    let stance = Stance {
        asking: Asking::Never,
        writing: Writing::Refused,
        ..Stance::default()
    };
    for (effect, denied) in [
        (Effect::Writes("a".into()), true),
        (Effect::Keeps("a".into()), true),
        (Effect::Deletes("a".into()), true),
        (runs("ls"), true),
        (Effect::Reads("a".into()), false),
    ] {
        let found = verdict("t", &effect, &[], stance);
        assert_eq!(matches!(found, Verdict::Deny(_)), denied, "{effect:?}");
    }
}

#[test]
fn a_run_that_may_write_nothing_keeps_and_deletes_nothing_in_memory_and_still_looks() {
    let stance = Stance {
        writing: Writing::Refused,
        ..Stance::default()
    };
    let [memory, memorize, pin, write] = [
        tool(MemoryTool),
        tool(Memorize),
        tool(PinContext),
        tool(ScratchpadWrite),
    ];
    for (tool, arguments, denied) in [
        (&memory, json!({"action": "add", "content": "x"}), true),
        (&memory, json!({"action": "remove", "key": "x"}), true),
        (&memory, json!({"action": "get", "key": "x"}), false),
        (&memory, json!({"action": "search", "query": "x"}), false),
        (&memory, json!({"action": "list"}), false),
        (&memorize, json!({"type": "fact", "content": "x"}), true),
        (&pin, json!({"content": "x"}), true),
        (&pin, json!({"clear": true}), true),
        (&write, json!({"key": "k", "value": "x"}), true),
    ] {
        let effect = tool.effect(&arguments).unwrap();
        let found = verdict(&tool.spec().name, &effect, &[], stance);
        assert_eq!(matches!(found, Verdict::Deny(_)), denied, "{arguments}");
    }
}

#[test]
fn what_is_asked_each_time_is_allowed_by_no_rule_and_by_no_yes_to_all() {
    let rules = [
        rule(Says::Allow, Only::Any),
        rule(Says::Deny, Only::command("rm")),
    ];
    let write = Effect::Writes("a".into());
    for (each_time, runs_asks, write_asks) in [
        (EachTime::Nothing, false, false),
        (EachTime::Commands, true, false),
        (EachTime::Everything, true, true),
    ] {
        let stance = Stance {
            asking: Asking::Never,
            each_time,
            ..Stance::default()
        };
        for (effect, asks) in [
            (runs("ls"), runs_asks),
            (write.clone(), write_asks),
            (Effect::WritesProtected(".envrc".into()), true),
        ] {
            let expected = if asks { Verdict::Ask } else { Verdict::Allow };
            let found = verdict("shell", &effect, &rules, stance);
            assert_eq!(found, expected, "{each_time:?} {effect:?}");
        }
        // What is denied stays denied, and what only reads is not asked.
        let denied = verdict("shell", &runs("rm x"), &rules, stance);
        assert!(matches!(denied, Verdict::Deny(_)), "{each_time:?}");
        let reads = verdict("shell", &Effect::Reads("a".into()), &rules, stance);
        assert_eq!(reads, Verdict::Allow, "{each_time:?}");
    }
}

#[test]
fn a_command_with_network_is_covered_only_by_a_rule_that_names_it() {
    let narrow = |network| Only::Command {
        prefix: "git fetch".to_owned(),
        escalation: Escalation {
            network,
            keys: false,
        },
    };
    let stance = Stance::default();
    for (only, covered) in [
        (Only::Any, false),
        (narrow(false), false),
        (narrow(true), true),
    ] {
        let rules = [rule(Says::Allow, only)];
        let expected = if covered {
            Verdict::Allow
        } else {
            Verdict::Ask
        };
        let found = verdict("shell", &with_network("git fetch --prune"), &rules, stance);
        assert_eq!(found, expected, "{rules:?}");
        for other in ["curl x", "git fetch origin"] {
            let other = verdict("shell", &with_network(other), &rules, stance);
            assert_eq!(other, Verdict::Ask, "{rules:?}");
        }
    }
    // Nor by a wider escalation: keys are not the network.
    let keys = Effect::Runs(Run {
        escalation: Escalation {
            network: true,
            keys: true,
        },
        ..Run::from("git fetch")
    });
    let rules = [rule(Says::Allow, narrow(true))];
    assert_eq!(verdict("shell", &keys, &rules, stance), Verdict::Ask);
    // And a rule that denies the tool, or the command, denies it with network too.
    for only in [Only::Any, Only::command("git fetch")] {
        let rules = [rule(Says::Allow, narrow(true)), rule(Says::Deny, only)];
        let found = verdict("shell", &with_network("git fetch"), &rules, stance);
        assert!(matches!(found, Verdict::Deny(_)), "{rules:?}");
    }
}

#[test]
fn a_yes_to_all_stays_inside_the_sandbox_and_says_how_to_get_the_network() {
    let stance = Stance {
        asking: Asking::Never,
        ..Stance::default()
    };
    assert_eq!(verdict("shell", &runs("ls"), &[], stance), Verdict::Allow);
    let Verdict::Deny(why) = verdict("shell", &with_network("curl x"), &[], stance) else {
        panic!("the network was given");
    };
    assert!(why.contains("-y") && why.contains("--sandbox net"), "{why}");
}

#[test]
fn a_rule_for_network_is_offered_for_this_command_alone() {
    let offered = rules_for("shell", &with_network("git fetch origin"));
    let network = Escalation {
        network: true,
        keys: false,
    };
    let expected = Only::Command {
        prefix: "git fetch origin".to_owned(),
        escalation: network,
    };
    assert_eq!(offered, [rule(Says::Allow, expected)]);
    assert_eq!(rules_for("shell", &with_network("curl x")), []);
    assert!(rules_for("shell", &runs("curl x")).contains(&rule(Says::Allow, Only::Any)));
}

#[test]
fn a_prefix_is_offered_where_it_says_what_is_done() {
    for (line, expected) in [
        ("cargo test --lib", Some("cargo test")),
        ("ls -la", Some("ls")),
        ("git -C x push", None),
        ("git", None),
        ("sh -c 'rm x'", None),
        ("sudo ls", None),
        ("/usr/bin/env ls", None),
        ("A=1 ls", None),
        ("ls | sh", None),
        ("", None),
        // A path may lead to anything, and what is quoted or escaped to the same.
        ("/usr/bin/git status", None),
        ("./git status", None),
        ("./x", None),
        ("\\sh -c x", None),
        ("'sh' -c x", None),
        ("l? x", None),
        ("git 'push'", None),
        // What runs something else, in any version.
        (". x", None),
        ("source x", None),
        ("command git push", None),
        ("builtin eval x", None),
        ("fish -c x", None),
        ("ksh -c x", None),
        ("tcsh x", None),
        ("pwsh x", None),
        ("setsid x", None),
        ("stdbuf -o0 x", None),
        ("parallel x", None),
        ("deno run x", None),
        ("bun x", None),
        ("lua5.4 x", None),
        ("python3.12 -c x", None),
        ("Python x", None),
        // Nobody knows what it does, or it does whatever stands behind it.
        ("pip3 install x", None),
        ("7z x a", None),
        ("! touch x", None),
        ("cargo run", None),
        ("npm exec x", None),
        ("git config alias.x '!rm x'", None),
        ("git log -3", Some("git log")),
        // A blank that is none to a shell, or is one where this does not see it.
        ("ls\u{a0}x", None),
        ("ls\u{b}x", None),
    ] {
        let found = command::prefix(line, Further::OptionsAndOperands);
        assert_eq!(found.as_deref(), expected, "{line}");
    }
}
