//! Forgotten means gone: from every file but history, from every later request, from every search; and from history
//! where the person wants that. Told in chats of all three modes, in several languages.

use std::path::Path;

use cogtrix::testing::server::{Request, Script, Server, say};

use crate::support::home::Home;
use crate::support::is_summary;
use crate::support::run::Run;

/// What is said, the words by which it is forgotten, and one that nothing else has.
const CODE: [[&str; 3]; 13] = [
    [
        "Remember that our staging server is called Quokka.",
        "staging server",
        "Quokka",
    ],
    [
        "I prefer tabs over Zwiebelnest spaces.",
        "tabs",
        "Zwiebelnest",
    ],
    [
        "We decided to use Firebolt for the queue.",
        "queue",
        "Firebolt",
    ],
    [
        "The release manager is Temur Yoldoshev.",
        "release manager",
        "Yoldoshev",
    ],
    [
        "Remember that the build number is 48213977.",
        "build number",
        "48213977",
    ],
    [
        "Always run the linter called Grumblefix before a commit.",
        "linter",
        "Grumblefix",
    ],
    [
        "My editor is Vexillum, please write its shortcuts.",
        "my editor",
        "Vexillum",
    ],
    [
        "Remember: the API key rotates in Brumaire.",
        "rotates",
        "Brumaire",
    ],
    ["The bug is in the module Plankton.", "module", "Plankton"],
    [
        "Ich arbeite bei der Firma Drosselbart GmbH.",
        "Firma",
        "Drosselbart",
    ],
    [
        "Remember that the deployment goes to Aktau-7.",
        "deployment",
        "Aktau",
    ],
    [
        "I prefer commit messages in Volapuk.",
        "commit messages",
        "Volapuk",
    ],
    [
        "Never use the crate named Wobblethorpe.",
        "crate",
        "Wobblethorpe",
    ],
];
const REASONING: [[&str; 3]; 13] = [
    [
        "My goal is to move to Szczecin by spring.",
        "my goal",
        "Szczecin",
    ],
    ["The budget is 83,417 euros.", "budget", "83,417"],
    [
        "Remember that my landlord is Mr. Ostrander.",
        "landlord",
        "Ostrander",
    ],
    [
        "I assume that the loan comes from Kredobank.",
        "loan",
        "Kredobank",
    ],
    [
        "We rule out the house in Pfaffenhofen because of noise.",
        "noise",
        "Pfaffenhofen",
    ],
    ["I am allergic to macadamia nuts.", "allergic", "macadamia"],
    [
        "Моя сестра Гульнора живёт в Ташкенте.",
        "сестра",
        "Гульнора",
    ],
    [
        "Запомни, что мой врач — доктор Виноградов.",
        "врач",
        "Виноградов",
    ],
    ["Mein Hund heißt Knuddelbert.", "Hund", "Knuddelbert"],
    [
        "Mi hermana trabaja en Guadalajara.",
        "hermana",
        "Guadalajara",
    ],
    ["Ma banque est le Crédit Lavandou.", "banque", "Lavandou"],
    [
        "Mening ukam Sardorbek Samarqandda yashaydi.",
        "ukam",
        "Sardorbek",
    ],
    [
        "Remember that the notary is on Larkspur Lane 12.",
        "notary",
        "Larkspur",
    ],
];
const CONVERSATION: [[&str; 3]; 14] = [
    ["My name is Gulandom.", "my name", "Gulandom"],
    ["My sister Zarrina lives in Bukhara.", "sister", "Zarrina"],
    ["I prefer oolong over espresso.", "oolong", "oolong"],
    [
        "Remember that my birthday is on the 29th of Thermidor.",
        "birthday",
        "Thermidor",
    ],
    ["My cat is called Schnurrbart.", "cat", "Schnurrbart"],
    [
        "I live in Reykjanesbaer since May.",
        "I live",
        "Reykjanesbaer",
    ],
    [
        "My phone number is +998 90 555-73-19.",
        "phone",
        "555-73-19",
    ],
    [
        "I work as a falconer at Castle Hohenwerfen.",
        "falconer",
        "Hohenwerfen",
    ],
    [
        "Remember that I hate the smell of Durian.",
        "smell",
        "Durian",
    ],
    ["I want to learn Quechua this year.", "learn", "Quechua"],
    ["我姐姐叫古尔诺拉。", "姐姐", "古尔诺拉"],
    [
        "Ich wohne in der Fliederbuschgasse 12.",
        "wohne",
        "Fliederbuschgasse",
    ],
    ["Я люблю гранатовый сок.", "сок", "гранатовый"],
    [
        "My doctor is Dr. Abercrombie, she is kind.",
        "doctor",
        "Abercrombie",
    ],
];
/// What nobody forgets, said between the facts.
const KEPT: &str = "Please tell me about the lighthouse at Peniche.";

/// Says back what it hears, and has it in its summaries: nothing makes forgetting harder.
fn parrot() -> Server {
    Script::answering(|request| {
        if is_summary(request) {
            let talk = request.body["messages"].to_string();
            let facts = CODE.iter().chain(&REASONING).chain(&CONVERSATION);
            let told = facts.filter(|[said, ..]| talk.contains(said));
            let lines = told.map(|[said, ..]| format!("- {said}\n"));
            return say(format!(
                "They speak of Peniche.\n{}",
                lines.collect::<String>()
            ));
        }
        let said = request.message(-1);
        let last = said.lines().last().unwrap_or_default();
        let more = "There is much to be said of it. ".repeat(6);
        say(format!("I see. You say: {last} {more}"))
    })
    .serve()
}

fn home(server: &Server) -> Home {
    let home = Home::new();
    home.config(server, "embedding: {provider: none}");
    home
}

fn memory(home: &Home, args: &[&str]) -> Run {
    home.cogtrix(&[&["-c", "test.yaml", "memory"], args].concat())
        .run()
}

fn has(bytes: &[u8], word: &str) -> bool {
    String::from_utf8_lossy(bytes)
        .to_lowercase()
        .contains(&word.to_lowercase())
}

fn is_history(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let is_there = path.parent().unwrap().ends_with("history");
    let is_side = [
        "_hybrid",
        "_mode_state",
        "_scratchpad",
        "_pins",
        "_forgotten",
    ];
    is_there && !is_side.iter().any(|side| name.contains(side))
}

/// Files below the data folder that have a word.
fn files_with(home: &Home, word: &str, counts: impl Fn(&Path) -> bool) -> Vec<String> {
    let files = Home::files(&home.data());
    let with = files
        .iter()
        .filter(|(path, bytes)| counts(path) && has(bytes, word));
    with.map(|(path, _)| path.display().to_string()).collect()
}

fn requests_with(requests: &[Request], word: &str) -> usize {
    let with = requests
        .iter()
        .filter(|it| has(it.body.to_string().as_bytes(), word));
    with.count()
}

/// Tells the facts of a mode in its own session.
fn tell(home: &Home, session: &str, facts: &[[&str; 3]]) {
    let mode = format!("/mode {session}");
    let mut lines = vec![mode.as_str(), KEPT];
    for [said, ..] in facts {
        lines.extend([*said, "And what else is new?"]);
    }
    lines.extend(["/scratch notes keep it simple", "/compact"]);
    let run = home.lines(session, &lines);
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn of_forty_facts_none_is_found_outside_of_history_in_later_requests_or_by_a_search() {
    let server = parrot();
    let home = home(&server);
    let modes = [
        ("code", &CODE[..]),
        ("reasoning", &REASONING),
        ("conversation", &CONVERSATION),
    ];
    for (session, facts) in modes {
        tell(&home, session, facts);
    }
    let mut failures = Vec::new();
    for (session, facts) in modes {
        // In the chat and from the shell, where the session is closed.
        let asked: Vec<String> = facts
            .iter()
            .map(|[_, words, _]| format!("/memory forget {words} #all"))
            .collect();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        if session == "reasoning" {
            for [_, words, _] in facts {
                let run = memory(&home, &["forget", words, "#all"]);
                if run.code != Some(0) {
                    failures.push(format!("{words}: {run}"));
                }
            }
        } else {
            let run = home.lines(session, &asked);
            if run.stderr.contains("error: ") {
                failures.push(run.stderr.clone());
            }
        }
    }
    let all: Vec<[&str; 3]> = modes
        .iter()
        .flat_map(|(_, facts)| facts.iter().copied())
        .collect();
    let before = server.chats().len();
    for (session, _) in modes {
        home.lines(
            session,
            &[
                "hello again",
                "/retry",
                "/compact",
                "what do you know of me?",
            ],
        );
        home.lines(session, &["and now?"]);
    }
    let later = &server.chats()[before..];
    for [said, _, word] in &all {
        let files = files_with(&home, word, |path| !is_history(path));
        if !files.is_empty() {
            failures.push(format!("{word} ({said}) stands in {files:?}"));
        }
        let sent = requests_with(later, word);
        if sent > 0 {
            failures.push(format!(
                "{word} ({said}) is in {sent} of {} requests",
                later.len()
            ));
        }
        if files_with(&home, word, is_history).is_empty() {
            failures.push(format!("{word} left history"));
        }
        let run = memory(&home, &["search", said]);
        if has(run.stdout.as_bytes(), word) {
            failures.push(format!("{word} is found: {}", run.stdout));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(
        requests_with(later, "Peniche") > 0,
        "what was not forgotten is sent"
    );
}

/// Every word of the facts but these that is in the requests.
fn others_sent(requests: &[Request], facts: &[[&str; 3]], gone: &str) -> Vec<String> {
    let others = facts
        .iter()
        .map(|[.., word]| *word)
        .filter(|word| *word != gone);
    let missing = others.filter(|word| requests_with(requests, word) == 0);
    missing.map(str::to_owned).collect()
}

#[test]
fn what_is_forgotten_takes_nothing_else_along_and_leaves_history_byte_for_byte() {
    let server = parrot();
    let home = home(&server);
    tell(&home, "conversation", &CONVERSATION);
    let history = || {
        let snapshot = std::fs::read(home.history("conversation.json")).unwrap();
        let journal = std::fs::read(home.history("conversation.journal.jsonl")).unwrap_or_default();
        (snapshot, journal)
    };
    let before = history();
    let lines = |word: &str| {
        let files = Home::files(&home.data().join("workspace"));
        let texts = files
            .values()
            .map(|it| String::from_utf8_lossy(it).matches(word).count());
        texts.sum::<usize>()
    };
    let noted: Vec<usize> = CONVERSATION.iter().map(|[.., word]| lines(word)).collect();
    let run = memory(&home, &["forget", "sister", "-v"]);
    assert!(
        run.stdout.contains("requests of session conversation"),
        "{run}"
    );
    assert_eq!(history(), before);
    home.lines("conversation", &["hello again"]);
    let sent = server.chats();
    let last = &sent[sent.len() - 1..];
    assert_eq!(requests_with(last, "Zarrina"), 0);
    assert_eq!(others_sent(last, &CONVERSATION, "Zarrina"), [""; 0]);
    for ([.., word], count) in CONVERSATION.iter().zip(noted) {
        let expected = if *word == "Zarrina" { 0 } else { count };
        assert_eq!(lines(word), expected, "{word}");
    }
    let run = memory(&home, &["search", "--history", "where does my sister live"]);
    assert!(run.stdout.contains("Zarrina"), "{run}");
    let run = memory(&home, &["search", "-s", "conversation", "sister Zarrina"]);
    assert!(!run.stdout.contains("Zarrina"), "{run}");
}

#[test]
fn what_is_redacted_is_in_no_file_at_all_and_the_session_goes_on() {
    for front in ["chat", "shell"] {
        let server = parrot();
        let home = home(&server);
        tell(&home, "conversation", &CONVERSATION[..5]);
        let run = if front == "chat" {
            let lines = [
                "/memory forget my name --redact",
                "/memory forget --redact sister",
                "hello",
            ];
            home.lines("conversation", &lines)
        } else {
            memory(&home, &["forget", "sister", "--redact"]);
            memory(&home, &["forget", "my name", "--redact"])
        };
        assert_eq!(run.code, Some(0), "{run}");
        let told = "Forgotten: My name is Gulandom\nRemoved from history.\n";
        assert!(run.stdout.contains(told), "{run}");
        for word in ["Gulandom", "Zarrina"] {
            assert_eq!(
                files_with(&home, word, |_| true),
                [""; 0],
                "{front}: {word}"
            );
        }
        assert!(home.said("conversation").concat().contains("[forgotten]"));
        // What was forgotten before is struck later, by its number or its words.
        memory(&home, &["forget", "oolong"]);
        memory(&home, &["forget", "birthday"]);
        let kept = home.said("conversation").concat();
        assert!(
            kept.contains("oolong") && kept.contains("Thermidor"),
            "{kept}"
        );
        let number = if front == "chat" {
            home.lines("conversation", &["/memory forget oolong --redact"])
        } else {
            memory(&home, &["forget", "oolong", "--redact"])
        };
        assert_eq!(number.code, Some(0), "{number}");
        memory(&home, &["forget", "birthday", "--redact"]);
        for word in ["oolong", "Thermidor"] {
            assert_eq!(
                files_with(&home, word, |_| true),
                [""; 0],
                "{front}: {word}"
            );
        }
        let run = home.lines("conversation", &["/history all", "and then?"]);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(
            !run.stderr.contains("damaged") && run.stdout.contains("Schnurrbart"),
            "{run}"
        );
    }
}

#[test]
fn a_chat_that_is_open_forgets_with_its_next_turn_what_the_shell_forgot() {
    let server = parrot();
    let home = home(&server);
    let args = ["-c", "test.yaml", "-s", "s", "--lines"];
    let mut chat = home.cogtrix(&args).open_stdin().start();
    chat.say("My sister Zarrina lives in Bukhara.");
    chat.wait_for_times("much to be said", 6);
    chat.say("/scratch family sister Zarrina");
    chat.wait_for("Stored family");
    let run = memory(&home, &["forget", "sister"]);
    assert!(
        run.stdout.contains("\nsession s is open elsewhere"),
        "{run}"
    );
    chat.say("hello again");
    chat.wait_for_times("much to be said", 12);
    assert_eq!(chat.wait().code, Some(0));
    let sent = server.chats();
    assert_eq!(requests_with(&sent[sent.len() - 1..], "Zarrina"), 0);
    assert_eq!(
        files_with(&home, "Zarrina", |path| !is_history(path)),
        [""; 0]
    );
    assert!(home.said("s").concat().contains("Zarrina"));
}

#[test]
fn forget_alone_takes_back_what_the_last_turn_kept() {
    let server = parrot();
    let home = home(&server);
    let said = [
        "I prefer oolong over espresso.",
        "Remember that my cat is called Schnurrbart.",
        "/forget",
        "hello",
    ];
    let run = home.lines("s", &said);
    assert!(
        run.stdout.contains("Forgotten: Remember that my cat"),
        "{run}"
    );
    assert_eq!(
        files_with(&home, "Schnurrbart", |path| !is_history(path)),
        [""; 0]
    );
    assert!(!files_with(&home, "oolong", |path| !is_history(path)).is_empty());
    let run = home.lines("s", &["hello", "/forget"]);
    let newest = "nothing was saved in the last turn\nhint: `/memory forget 1` removes the newest note, \"I prefer oolong over espresso\"";
    assert!(run.stderr.contains(newest), "{run}");
    // The last capture leaves no heading behind.
    let run = home.lines("s", &["/memory forget last", "hello"]);
    assert!(run.stdout.contains("Forgotten: I prefer oolong"), "{run}");
    let sent = server.chats();
    let last = sent.last().unwrap().body.to_string();
    assert!(
        !last.contains("Auto-captured") && !last.contains("# Memory"),
        "{last}"
    );
}

#[test]
fn a_kill_at_any_write_of_forgetting_loses_nothing_else_and_it_can_be_finished() {
    for kind in ["kill-before", "kill-torn", "kill-after"] {
        let mut met = 0;
        for n in 1..40 {
            let server = parrot();
            let home = home(&server);
            tell(&home, "conversation", &CONVERSATION[..3]);
            let fault = format!("{kind}@{n}");
            let args = [
                "-c",
                "test.yaml",
                "--fault",
                &fault,
                "memory",
                "forget",
                "sister",
            ];
            let run = home.cogtrix(&args).run();
            let is_killed = run.signal == Some(9);
            assert!(is_killed || run.code == Some(0), "{fault}: {run}");
            if is_killed {
                met += 1;
                let again = memory(&home, &["forget", "sister", "#all"]);
                let is_done = again.code == Some(0) || again.stdout.contains("No match for sister");
                assert!(is_done, "{fault}: {again}");
            }
            let left = files_with(&home, "Zarrina", |path| !is_history(path));
            assert_eq!(left, [""; 0], "{fault}");
            assert!(
                home.said("conversation").concat().contains("Zarrina"),
                "{fault}"
            );
            let run = home.lines("conversation", &["hello again"]);
            assert!(!run.stderr.contains("damaged"), "{fault}: {run}");
            let sent = server.chats();
            let last = &sent[sent.len() - 1..];
            assert_eq!(requests_with(last, "Zarrina"), 0, "{fault}");
            assert_eq!(
                others_sent(last, &CONVERSATION[..3], "Zarrina"),
                [""; 0],
                "{fault}"
            );
            if !is_killed {
                break;
            }
        }
        assert!(met >= 5, "{kind}: {met} writes");
    }
}

#[test]
fn vectors_of_what_is_forgotten_or_deleted_leave_their_store_at_once() {
    let server = parrot();
    let home = Home::new();
    let url = server.openai_url();
    home.write(
        "test.yaml",
        format!(
            "providers: {{there: {{type: openai, base_url: \"{url}\"}}}}\n\
             memory: {{background: false, capture: off}}\n\
             rag: {{model: emb}}\n\
             models: {{default: it, it: {{provider: there, model: scripted, context_window: 32768}}, \
             emb: {{provider: there, model: e5}}}}\n"
        ),
    );
    for session in ["a", "b"] {
        let lines: Vec<String> = (0..16)
            .map(|n| format!("My {session}{n} sister Zarrina lives in Bukhara"))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        home.lines(session, &lines);
    }
    let bytes = || {
        let files = Home::files(&home.data().join("vectordb"));
        let stores = files
            .iter()
            .filter(|(path, _)| path.extension().is_some_and(|it| it == "vectors"));
        stores.map(|(_, bytes)| bytes.len()).sum::<usize>()
    };
    let all = bytes();
    assert!(all > 0, "vectors were made");
    let run = home
        .cogtrix(&["-c", "test.yaml", "memory", "forget", "a0", "sister"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let without_one = bytes();
    assert!(without_one < all, "{without_one} of {all}");
    home.lines("a", &["/delete b", "y"]);
    let without_b = bytes();
    assert!(without_b < without_one, "{without_b} of {without_one}");
    home.cogtrix(&["-c", "test.yaml", "sessions", "delete", "a"])
        .run();
    assert!(bytes() < without_b, "{} of {without_b}", bytes());
}

#[test]
fn sessions_in_the_archive_and_the_trash_forget_too() {
    let server = parrot();
    let home = home(&server);
    let said = "Remember that my cat is called Schnurrbart.";
    home.lines(
        "a",
        &[
            said,
            "/scratch pet Schnurrbart",
            "/pin my cat is called Schnurrbart",
            "/clear",
            "y",
        ],
    );
    home.lines("b", &[said, "/scratch pet Schnurrbart"]);
    home.cogtrix(&["-c", "test.yaml", "sessions", "delete", "b"])
        .run();
    let run = memory(&home, &["forget", "Schnurrbart", "#all", "-v"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("in the trash or archive"), "{run}");
    let is_history = |path: &Path| is_history(path);
    assert_eq!(
        files_with(&home, "Schnurrbart", |path| !is_history(path)),
        [""; 0]
    );
    assert_eq!(files_with(&home, "Schnurrbart", is_history).len(), 2);
}

/// What a person says, and the words by which it is forgotten: small words, sums, questions.
#[test]
fn a_word_in_small_letters_a_sum_and_a_question_go_with_the_reply_that_has_them() {
    for [told, word] in [
        ["my sertraline went up to 50 last week", "sertraline"],
        ["i'm on 61750 since the raise", "61750"],
        ["is lupus contagious?", "lupus"],
        ["我对芒果过敏。", "芒果"],
    ] {
        let home = Home::new();
        let reply = format!("I will keep {word} in mind.");
        let server = Server::start([say(&reply), say("Fine."), say("Yes.")]);
        home.config(&server, "memory: {background: false}\n");
        let run = home.lines(
            "s",
            &[told, "how are you", &format!("/memory forget {word}")],
        );
        assert!(run.stdout.contains("Forgotten"), "{told}: {run}");
        home.lines("s", &["and now?"]);
        let request = server.chats().pop().unwrap();
        let request = request.body.to_string();
        assert!(!request.contains(word), "{told}: {request}");
        let found = home.cogtrix(&["memory", "search", word]).run();
        assert!(!found.stdout.contains(&reply), "{found}");
    }
}

#[test]
fn where_nothing_has_the_words_what_was_kept_last_is_offered() {
    let home = Home::new();
    let server = Server::start([say("All right.")]);
    home.config(&server, "");
    let lines = [
        "Remember that my landlord is Ostrander.",
        "/memory forget my address",
    ];
    let run = home.lines("s", &lines);
    assert!(
        run.stdout.contains("No match for my address. Most recent:"),
        "{run}"
    );
    assert!(run.stdout.contains("Ostrander"), "{run}");
    assert!(
        run.stdout.contains("`/memory forget 1` forgets the first"),
        "{run}"
    );
    assert!(run.stdout.contains("Nothing forgotten yet"), "{run}");
}

#[test]
fn a_number_that_no_capture_has_is_looked_for_in_words_and_forgotten_only_when_asked_again() {
    let home = Home::new();
    let server = Server::start([say("All right."), say("Fine.")]);
    home.config(&server, "");
    home.lines("s", &["the cause is in line 99 of the log"]);
    let run = memory(&home, &["forget", "99"]);
    assert!(run.stdout.contains("No note has this number"), "{run}");
    assert!(run.stdout.contains("Nothing forgotten yet"), "{run}");
    let run = home.lines("s", &["what now?"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        server
            .chats()
            .pop()
            .unwrap()
            .body
            .to_string()
            .contains("line 99")
    );
    let run = memory(&home, &["forget", "1999"]);
    assert!(run.stderr.contains("no note 1999"), "{run}");
}
