use super::*;

fn shell() -> Shell {
    let place = Place {
        program: "/usr/bin/cogtrix".into(),
        project: "/usr".into(),
        is_trusted: true,
        home: Some("/home/me".into()),
        kept: vec!["/data".into()],
        config_files: vec!["/usr/.cogtrix.yaml".into()],
        aside: None,
        running: None,
        environment: BTreeMap::from([("TMPDIR".to_owned(), "/etc".to_owned())]),
    };
    Shell::new(Settings::default(), place)
}

fn arguments(command: &str, timeout_s: Option<u64>) -> Arguments {
    Arguments {
        command: command.to_owned(),
        timeout_s,
        ..Arguments::default()
    }
}

#[test]
fn bad_arguments_are_refused_before_anybody_is_asked() {
    for (command, timeout_s, is_good) in [
        ("ls", None, true),
        ("ls", Some(600), true),
        ("ls", Some(601), false),
        ("ls", Some(0), false),
        (" ", None, false),
        ("a\0b", None, false),
    ] {
        let effect = shell().effect(&arguments(command, timeout_s));
        let expected = is_good.then(|| Effect::Runs(command.into()));
        assert_eq!(effect.ok(), expected, "{command:?} {timeout_s:?}");
    }
}

#[test]
fn network_and_keys_are_asked_for_with_a_reason_where_settings_do_not_give_them() {
    let asking = |network, keys, reason: &str| Arguments {
        network,
        keys,
        reason: Some(reason.to_owned()),
        ..arguments("git push", None)
    };
    for (sandbox, network, keys, reason, expected) in [
        (
            Sandbox::On,
            true,
            true,
            "to publish",
            Some("network and keys"),
        ),
        (Sandbox::On, true, false, "to fetch", Some("network")),
        (Sandbox::On, false, true, "to sign", Some("keys")),
        (Sandbox::On, false, false, "why not", Some("nothing more")),
        (Sandbox::On, true, false, " ", None),
        (Sandbox::Net, true, false, "", Some("nothing more")),
        (Sandbox::Net, true, true, "to publish", Some("keys")),
        (Sandbox::Off, true, true, "", Some("nothing more")),
    ] {
        let mut shell = shell();
        shell.settings.sandbox = sandbox;
        let found = shell.effect(&asking(network, keys, reason)).ok();
        let escalation = found.map(|effect| match effect {
            Effect::Runs(run) => run.escalation.to_string(),
            other => format!("{other:?}"),
        });
        assert_eq!(
            escalation.as_deref(),
            expected,
            "{sandbox:?} {network} {keys}"
        );
    }
    let access = shell().access(&asking(true, false, "x"));
    assert_eq!((access.network, access.keys), (Network::Host, Keys::Hidden));
    let access = shell().access(&asking(false, true, "x"));
    let expected = (Network::Isolated, Keys::Readable);
    assert_eq!((access.network, access.keys), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn who_interrupts_does_not_wait_for_another_command_to_begin() {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    let folder = tempfile::TempDir::new().unwrap();
    let mut shell = shell();
    shell.place.running = Some(folder.path().to_owned());
    let guard = Guard::new(shell.order("true", shell.usual_access()));
    let mut records = std::fs::read_dir(folder.path()).unwrap();
    let record = records.next().unwrap().unwrap().path();
    drop(guard);
    let file = std::fs::File::create(&record).unwrap();
    file.lock().unwrap();
    let events = init(CreateFlags::CLOEXEC).unwrap();
    add_watch(&events, &record, WatchFlags::OPEN).unwrap();
    let cancel = CancellationToken::new();
    let interrupt = cancel.clone();
    let person = std::thread::spawn(move || {
        rustix::io::read(&events, &mut [0; 1024]).unwrap();
        interrupt.cancel();
    });
    let (progress, _shown) = tokio::sync::mpsc::channel(1);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ran = runtime.block_on(shell.run_typed("true", &cancel, &progress));
    assert_eq!(ran.unwrap().end, "interrupted");
    person.join().unwrap();
    // Who still waits gets the lock now, and leaves nothing when the runtime ends.
    drop(file);
    drop(runtime);
    assert!(!record.exists(), "it waited to the end");
}

#[test]
fn who_has_a_command_run_is_told_what_to_do_about_a_protected_file() {
    let shell = shell();
    let file = "sh: 1: cannot create .envrc: Read-only file system";
    let hook = "sh: 1: cannot create .git/hooks/x: Permission denied";
    let git = "fatal: Unable to create '/x/.git/index.lock': Permission denied";
    for (printed, by, expected) in [
        (
            file,
            Caller::Model,
            "[.envrc is protected from commands, because it runs later; try write_file or edit_file, which ask the user, or have the user change it]",
        ),
        (
            file,
            Caller::Person,
            "[.envrc is protected from commands, because it runs later; change it outside of cogtrix]",
        ),
        (
            hook,
            Caller::Model,
            "[.git/hooks is protected from commands, because git runs it or what it names; the user has to change it]",
        ),
        (
            git,
            Caller::Person,
            "[commands write only in the project, and git's folder is in /x: start cogtrix there, or run git outside of it]",
        ),
    ] {
        let told = shell.told_protected("", printed, by);
        assert_eq!(told.as_deref(), Some(expected), "{printed}");
    }
    assert_eq!(
        shell.told_protected("", "x: Permission denied", Caller::Model),
        None
    );
}

#[test]
fn a_refused_connection_is_told_to_be_without_network_but_not_offered_again() {
    for text in [
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server",
        "connect ECONNREFUSED 127.0.0.1:8080",
    ] {
        let mut output = Output::text(text, "exit 7");
        shell().offer_more(&mut output, arguments("curl localhost:8080", None));
        assert!(output.text.contains("ran without network"), "{text}");
        assert_eq!(output.retry, None);
    }
}

#[test]
fn a_command_that_missed_the_network_is_offered_with_it_and_a_reason() {
    let sign = "curl: (6) Could not resolve host: x";
    for (text, reason, expected) in [
        (sign, None, Some(format!("it failed without: {sign}"))),
        (sign, Some("to read x"), Some("to read x".to_owned())),
        ("exit 1", None, None),
    ] {
        let mut output = Output::text(text, "exit 6");
        let first = Arguments {
            reason: reason.map(str::to_owned),
            ..arguments("curl x", Some(5))
        };
        shell().offer_more(&mut output, first);
        assert_eq!(output.text.contains("network: true"), expected.is_some());
        let again = output.retry.map(|again| {
            let again: Arguments = serde_json::from_value(again).unwrap();
            assert!(again.network && !again.keys);
            assert_eq!((&again.command[..], again.timeout_s), ("curl x", Some(5)));
            again.reason.unwrap()
        });
        assert_eq!(again, expected);
    }
}

#[test]
fn a_push_that_missed_the_network_is_offered_with_network_and_keys_in_one_question() {
    let mut output = Output::text(
        "ssh: Could not resolve hostname x: Temporary failure in name resolution",
        "exit 128",
    );
    shell().offer_more(&mut output, arguments("git push", None));
    assert!(output.text.contains("network: true, keys: true"));
    let again = serde_json::from_value(output.retry.unwrap()).unwrap();
    let Ok(Effect::Runs(run)) = shell().effect(&again) else {
        panic!("it is no command");
    };
    assert_eq!(run.escalation.to_string(), "network and keys");
}

#[test]
fn a_command_that_could_not_read_a_key_is_offered_with_keys() {
    let denied = "wget: Cannot read /home/me/.netrc (Permission denied).";
    let unresolved = "wget: unable to resolve host address 'x'";
    for (text, expected) in [
        (denied.to_owned(), Some("keys")),
        (format!("{denied}\n{unresolved}"), Some("network and keys")),
        ("cat: /home/me/notes: Permission denied".to_owned(), None),
        ("/home/me/.netrc: no such host".to_owned(), None),
    ] {
        let mut output = Output::text(text.as_str(), "exit 4");
        shell().offer_more(&mut output, arguments("wget x", None));
        let again = output.retry.map(|again| {
            let again = serde_json::from_value(again).unwrap();
            let Ok(Effect::Runs(run)) = shell().effect(&again) else {
                panic!("it is no command");
            };
            run.escalation.to_string()
        });
        assert_eq!(again.as_deref(), expected, "{text}");
        assert_eq!(output.text.contains("call again with"), expected.is_some());
    }
}

#[test]
fn what_was_not_held_and_what_still_runs_is_told() {
    let ran = Ran {
        end: End::Exited(0),
        took: Duration::ZERO,
        output: output::Collected::default(),
        left: 0,
        remaining: 1,
        lacks: vec!["no namespaces for this command: unshare: EPERM".to_owned()],
        put_back: Vec::new(),
    };
    let told = told(ran, Duration::ZERO).unwrap().text;
    for line in [
        "[processes that could not be ended: 1; protected files were not checked]\n",
        "[sandbox: no namespaces for this command: unshare: EPERM]\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn of_a_protected_folder_a_person_is_shown_all_that_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::create_dir_all(copy.join("below")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", copy.join("a-link")).unwrap();
    let mut file = std::fs::File::create(copy.join("below/tasks.json")).unwrap();
    io::Write::write_all(&mut file, b"run me\n").unwrap();
    let made = PutBack {
        change: Change::Made,
        path: folder.path().join(".vscode"),
        copy: Some(copy),
    };
    let shown = made.difference();
    for line in ["+a link to /bin/sh\n", "+== tasks.json\n", "+run me\n"] {
        assert!(shown.contains(line), "{line:?}: {shown}");
    }
}

#[test]
fn the_order_names_what_may_be_written_and_what_may_not() {
    let order = shell().order("ls -l", shell().usual_access());
    assert!(order.is_confined);
    assert_eq!(order.network, Network::Isolated);
    assert_eq!(order.keys, Keys::Hidden);
    let writable = ["/usr", "/tmp", "/var/tmp", "/etc"].map(PathBuf::from);
    assert_eq!(order.writable, writable);
    assert_eq!(order.kept, [PathBuf::from("/data")]);
    assert!(order.hidden.contains(&"/home/me/.ssh".into()));
    for path in ["/usr/.git/hooks", "/usr/.cogtrix.yaml"] {
        assert!(order.protected.contains(&path.into()), "{path}");
    }
    assert_eq!(order.command, ["sh", "-c", "ls -l"]);
}

#[test]
fn the_sandbox_can_have_the_network_or_be_off() {
    for (sandbox, is_confined, network) in [
        (Sandbox::On, true, Network::Isolated),
        (Sandbox::Net, true, Network::Host),
        (Sandbox::Off, false, Network::Host),
    ] {
        let mut shell = shell();
        shell.settings.sandbox = sandbox;
        let order = shell.order("ls", shell.usual_access());
        assert_eq!((order.is_confined, order.network), (is_confined, network));
    }
}

#[test]
fn settings_are_read_with_defaults_and_unknown_ones_refused() {
    let read = |text: &str| serde_yaml::from_str::<Settings>(text);
    assert_eq!(read("{}").unwrap(), Settings::default());
    let off = read("{sandbox: \"off\", timeout: 5s, max_memory: 2 GiB}").unwrap();
    assert_eq!(off.sandbox, Sandbox::Off);
    assert_eq!(off.timeout, Duration::from_secs(5));
    assert_eq!(off.max_memory, ByteSize::gib(2));
    let old = read("{sandbox: landlock, pass_env: [CARGO_HOME]}").unwrap();
    assert_eq!(old.sandbox, Sandbox::On);
    assert!(read("{sandbx: off}").is_err());
}
