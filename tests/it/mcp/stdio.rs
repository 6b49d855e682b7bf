//! Servers that are programs: what they offer, and what becomes of a call and of the others when one misbehaves.

use std::io::Read;
use std::time::Duration;

use cogtrix::tools::mcp::{Change, News, ServerSettings, Servers as _, State};
use cogtrix::tools::{Effect, Failure};
use secrecy::SecretString;
use serde_json::json;

use super::support::{Calling, Servers, call, call_with, hasty, rote};

fn failed(result: Result<cogtrix::tools::Output, Failure>) -> String {
    match result {
        Err(Failure::Failed(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_offers_its_tools_and_answers_calls() {
    let mut servers = Servers::up([("notes", rote("plain"))]).await;
    let echo = servers.tool("notes__echo");
    assert_eq!(echo.spec().description, "Does echo.");
    assert_eq!(
        echo.spec().parameters,
        json!({"type": "object", "properties": {}})
    );
    let effect = Effect::Delegates {
        server: "notes".into(),
        tool: "echo".into(),
    };
    assert_eq!(echo.effect(&json!({})), Ok(effect));
    assert!(matches!(
        echo.effect(&json!([1])),
        Err(Failure::Arguments(_))
    ));
    let output = servers.call("notes__echo").await.unwrap();
    assert_eq!(
        (output.text.as_str(), output.failed),
        ("plain heard it", false)
    );
    let State::Ready {
        tools,
        server,
        protocol,
        ..
    } = servers.state("notes")
    else {
        panic!()
    };
    assert_eq!(
        (tools, server.as_str(), protocol.as_str()),
        (10, "by rote 1", "2025-06-18")
    );
    let change = Change {
        server: "notes".into(),
        news: News::CameUp { tools: 10 },
    };
    assert_eq!(servers.fleet.changed(), [change]);
    assert_eq!(servers.fleet.changed(), []);
}

#[tokio::test]
async fn what_goes_wrong_in_a_tool_is_an_output_and_what_is_refused_a_failure() {
    let servers = Servers::up([("s", rote("plain"))]).await;
    let output = servers.call("s__fail").await.unwrap();
    assert_eq!(
        (output.text.as_str(), output.failed),
        ("no such thing", true)
    );
    assert_eq!(
        failed(servers.call("s__refuse").await),
        "the MCP server s could not complete the call: not like this"
    );
}

#[tokio::test]
async fn a_server_that_never_answers_keeps_nobody_waiting() {
    let mut servers = Servers::up([("good", rote("plain")), ("mute", hasty("silent"))]).await;
    assert_eq!(servers.why("mute"), "it did not answer within 300 ms");
    assert!(servers.call("good__echo").await.is_ok());
    assert!(
        servers
            .names()
            .iter()
            .all(|name| name.starts_with("good__"))
    );
    let news: Vec<_> = servers
        .fleet
        .changed()
        .into_iter()
        .map(|change| change.news)
        .collect();
    assert!(
        matches!(news[..], [News::CameUp { .. }, News::Failed(_)]),
        "{news:?}"
    );
}

#[tokio::test]
async fn a_program_that_ends_at_its_start_or_is_not_there_says_why() {
    let missing = ServerSettings {
        command: "no-such-program".into(),
        ..ServerSettings::default()
    };
    let nothing = ServerSettings::default();
    let off = ServerSettings {
        enabled: false,
        ..rote("plain")
    };
    let servers = Servers::up([
        ("dies", rote("dies")),
        ("missing", missing),
        ("nothing", nothing),
        ("off", off),
    ])
    .await;
    assert_eq!(
        servers.why("dies"),
        "it ended with exit status 3: no licence found"
    );
    assert_eq!(servers.fleet.log("dies").unwrap(), ["no licence found"]);
    assert_eq!(
        servers.why("missing"),
        "cannot start no-such-program: not found"
    );
    assert!(servers.why("nothing").contains("needs either command"));
    assert_eq!(servers.state("off"), State::Disabled);
    assert_eq!(servers.names(), Vec::<String>::new());
}

#[tokio::test]
async fn noise_between_the_messages_is_noted_and_does_no_harm() {
    let servers = Servers::up([("s", rote("chatty"))]).await;
    assert_eq!(
        servers.call("s__echo").await.unwrap().text,
        "chatty heard it"
    );
    let noted = [
        "on its standard output: Starting up...",
        "on its standard output: <html>",
    ];
    assert_eq!(servers.fleet.log("s").unwrap(), noted);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_once_more_and_not_twice() {
    let mut servers = Servers::up([("s", rote("plain")), ("other", rote("other"))]).await;
    let text = failed(servers.call("s__die").await);
    assert!(
        text.contains("ended during the call") && text.contains("retried"),
        "{text}"
    );
    assert_eq!(
        servers.call("s__echo").await.unwrap().text,
        "plain heard it"
    );
    let text = failed(servers.call("s__die").await);
    let expected = "the MCP server s is not available: it ended with exit status 9: out of memory; \
                    the user can restart it with /mcp restart s";
    assert_eq!(text, expected);
    assert_eq!(failed(servers.call("s__echo").await), expected);
    assert_eq!(
        servers.call("other__echo").await.unwrap().text,
        "other heard it"
    );
    // The second time it has to be ended first.
    for _ in 0..2 {
        servers.fleet.restart("s").unwrap();
        servers.fleet.settled().await;
        let heard = servers.call("s__echo").await.unwrap().text;
        assert_eq!(heard, "plain heard it");
    }
    assert_eq!(
        servers.fleet.restart("t").unwrap_err().known,
        ["other", "s"]
    );
}

#[tokio::test]
async fn a_result_that_is_too_large_or_too_deep_ends_the_server_and_says_so() {
    for (tool, why) in [
        ("huge", "it sent a message larger than 16 MB"),
        ("deep", "it sent a message nested deeper than 100"),
    ] {
        let servers = Servers::up([("s", rote("plain"))]).await;
        let tool = servers.tool(&format!("s__{tool}"));
        let calling = Calling::new();
        failed(call(&tool, &calling).await);
        let text = failed(call(&tool, &calling).await);
        assert!(text.contains(why), "{text}");
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up() {
    let patience = ServerSettings {
        call_timeout: Duration::from_millis(200),
        ..rote("plain")
    };
    let servers = Servers::up([("s", patience)]).await;
    let text = failed(servers.call("s__hang").await);
    assert_eq!(
        text,
        "the MCP server s did not answer within 0.2 s; the call was cancelled"
    );
    let heard = servers.call("s__recall").await.unwrap().text;
    assert!(
        heard.contains("notifications/cancelled") && heard.contains("it took too long"),
        "{heard}"
    );
}

#[tokio::test]
async fn progress_is_shown_and_a_call_that_is_cancelled_returns_and_its_server_is_told() {
    let servers = Servers::up([("s", rote("plain"))]).await;
    let mut calling = Calling::new();
    let (tool, cancel, sender) = (
        servers.tool("s__hang"),
        calling.cancel.clone(),
        calling.sender(),
    );
    let told = async {
        let line = calling.told.recv().await.unwrap();
        calling.cancel.cancel();
        line
    };
    let (result, line) = tokio::join!(call_with(&tool, json!({}), &cancel, &sender), told);
    assert_eq!(
        (result, line.as_str()),
        (Err(Failure::Interrupted), "1 of 2: half")
    );
    let heard = servers.call("s__recall").await.unwrap().text;
    assert!(
        heard.contains("notifications/cancelled") && heard.contains("interrupted"),
        "{heard}"
    );
}

#[tokio::test]
async fn a_server_sees_the_variables_that_are_named_and_no_others() {
    let settings = ServerSettings {
        env: [("MODE".to_owned(), SecretString::from("fast"))].into(),
        pass_env: vec!["TOKEN".into()],
        ..rote("plain")
    };
    let servers = Servers::up([("s", settings)]).await;
    let text = servers.call("s__env").await.unwrap().text;
    // The shell adds its own.
    let (names, rest) = text.split_once(" token=").unwrap();
    let names: Vec<_> = names
        .split_whitespace()
        .filter(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"))
        .collect();
    assert_eq!(names, ["HOME", "MODE", "PATH", "TOKEN"]);
    let project = servers.folder.path().canonicalize().unwrap();
    assert_eq!(rest, format!("of-the-person in {}", project.display()));
}

#[tokio::test]
async fn tools_with_names_alike_are_told_apart_and_calls_reach_the_right_one() {
    let servers = Servers::up([("odd.one", rote("odd")), ("odd_one", rote("plain"))]).await;
    let names = servers.names();
    assert_eq!(names.len(), 13);
    assert_eq!(
        names
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        13
    );
    for (tool, (name, own)) in servers
        .tools()
        .iter()
        .zip(names.iter().zip(["a.b", "a_b", "a b"]))
    {
        let effect = Effect::Delegates {
            server: "odd.one".into(),
            tool: own.into(),
        };
        assert_eq!(tool.effect(&json!({})), Ok(effect), "{name}");
    }
    let taken = [names[1].clone()].into();
    let other = servers.fleet.tools(&taken)[1].spec().name.clone();
    assert!(other != names[1] && other.starts_with(&names[1]), "{other}");
    assert_eq!(
        servers.call("odd_one__echo").await.unwrap().text,
        "plain heard it"
    );
}

#[tokio::test]
async fn every_page_is_listed_and_only_what_is_allowed() {
    let only = ServerSettings {
        tools: vec!["second".into()],
        ..rote("pages")
    };
    let servers = Servers::up([("all", rote("pages")), ("some", only)]).await;
    assert_eq!(
        servers.names(),
        ["all__first", "all__second", "some__second"]
    );
}

#[tokio::test]
async fn a_list_that_changes_is_read_again() {
    let mut servers = Servers::up([
        ("s", rote("changing")),
        (
            "off",
            ServerSettings {
                enabled: false,
                ..rote("plain")
            },
        ),
    ])
    .await;
    assert_eq!(servers.names(), ["s__change"]);
    servers.fleet.changed();
    servers.call("s__change").await.unwrap();
    servers.fleet.wait_for_news().await;
    let change = Change {
        server: "s".into(),
        news: News::ToolsChanged { tools: 2 },
    };
    assert_eq!(servers.fleet.changed(), [change]);
    assert_eq!(servers.names(), ["s__change", "s__new"]);
}

#[tokio::test]
async fn a_server_that_asks_for_roots_gets_the_project() {
    let servers = Servers::up([("s", rote("roots"))]).await;
    let heard = servers.call("s__recall").await.unwrap().text;
    let project = servers.folder.path().canonicalize().unwrap();
    assert!(
        heard.contains("id:0") && heard.contains(&format!("uri:file://{}", project.display())),
        "{heard}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_leave_is_ended_with_its_children() {
    let servers = Servers::up([("s", rote("stubborn"))]).await;
    servers.call("s__hold").await.unwrap();
    let alive = servers.folder.path().join("alive");
    // Opens when the server has opened it, ends when the last process that holds it has ended.
    let open = tokio::task::spawn_blocking(move || std::fs::File::open(alive).unwrap());
    let mut held = open.await.unwrap();
    Box::new(servers.fleet).shutdown().await;
    let ended = tokio::task::spawn_blocking(move || held.read_to_end(&mut Vec::new()).unwrap());
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
    assert_eq!(ended.expect("it is still there").unwrap(), 0);
}
