//! Every flow of a person's day, played with the real program at three sizes of a terminal. `docs/tour/make` writes the
//! screens to be looked at; without it the flows are played all the same, and each screen is checked.

mod flows;

use std::fmt::Write;
use std::mem::replace;

use cogtrix::testing::server::{Reply, Request, Script, Server, fail, say};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::{Chat, Home, config};
use crate::support::normal::{normal, replaced};
use crate::support::pty::{Key, Size};
use flows::{FLOWS, Flow, Step};

#[test]
fn every_flow_fits_a_terminal_of_200_columns() {
    Tour::at(Size(200, 50)).play();
}

#[test]
fn every_flow_fits_a_terminal_of_80_columns() {
    Tour::at(Size(80, 24)).play();
}

#[test]
fn every_flow_fits_a_terminal_of_40_columns() {
    Tour::at(Size(40, 12)).play();
}

/// Asks the terminal to mark pastes, which the editor does whenever it reads.
const MARKS: &str = "\x1b[?2004h";

struct Tour {
    size: Size,
    home: Home,
    server: Server,
    screens: String,
}

impl Tour {
    fn at(size: Size) -> Self {
        let mut has_stalled = false;
        let answered = move |request: &Request| answer(request, &mut has_stalled);
        let server = Script::answering(answered)
            .models(["scripted", "second"])
            .serve();
        let home = Home::with(&server).sized(size.0, size.1);
        home.write(
            "home/.cogtrix.yaml",
            &config(&server).replace("ui: {memory_line: false}\n", ""),
        );
        home.write("notes/a.md", "Buy bread.\n");
        home.write(
            "broken.yaml",
            "memory:\n  recall: maybe\nmodels: {default: nope}\nwindow: 3\n",
        );
        Self {
            size,
            home,
            server,
            screens: String::new(),
        }
    }

    fn play(mut self) {
        // What another terminal has open.
        let mut held = ["held", "default"].map(|name| self.home.chat(&["-s", name]));
        for flow in FLOWS {
            self.flow(flow);
        }
        for chat in &mut held {
            chat.leave();
        }
        assert_eq!(self.server.violations(), Vec::<String>::new());
        let Size(columns, rows) = self.size;
        #[expect(clippy::disallowed_methods, reason = "asked for by a developer")]
        if let Ok(folder) = std::env::var("TOUR") {
            std::fs::write(format!("{folder}/{columns}x{rows}.txt"), self.screens).unwrap();
        }
    }

    fn flow(&mut self, flow: &Flow) {
        let model = if flow.has_model { "" } else { "offline/quotes" };
        let mut chat = self.home.start(flow.args, &[("COGTRIX_MODEL", model)]);
        if flow.steps.is_empty() {
            chat.wait_exit();
            return self.look(&chat, flow, "");
        }
        chat.wait_until("its beginning", |screen| screen.contains(flow.begins));
        self.look(&chat, flow, "");
        for step in flow.steps {
            let shown = take(&mut chat, step);
            self.look(&chat, flow, shown);
        }
        chat.key(Key::CtrlC).key(Key::CtrlD);
        chat.wait_exit();
    }

    /// Keeps a screen, and checks what must hold of any.
    fn look(&mut self, chat: &Chat, flow: &Flow, step: &str) {
        let cells = chat.cells();
        let Size(columns, rows) = self.size;
        let lines: Vec<String> = cells.rows(0, columns).collect();
        let screen = lines.join("\n").trim_end().to_owned();
        let title = format!("{} | {step}", flow.name);
        assert!(!screen.contains("panicked"), "{title}\n{screen}");
        assert!(!screen.trim().is_empty(), "{title}");
        for (row, pair) in (0..rows).zip(lines.windows(2)) {
            // What is typed is broken by the editor; paths and code are by the terminal, so that they can be copied.
            let last = pair[0].rsplit(' ').next().unwrap_or_default();
            let first = pair[1].split(' ').next().unwrap_or_default();
            let fits = last.width() + first.width() <= usize::from(columns);
            let is_between = last.is_empty() || first.is_empty();
            let may_break = ["> ", "curl "].iter().any(|it| pair[0].contains(it))
                || last.contains('/')
                || step.contains(pair[0].trim_end());
            let is_fine = !cells.row_wrapped(row) || is_between || !fits || may_break;
            assert!(is_fine, "{title}: {pair:?} is one word\n{screen}");
        }
        // What was there before is to be seen in the screen before.
        let new = screen
            .rfind(&format!("> {step}\n"))
            .map_or(0, |at| screen[..at].rfind('\n').map_or(0, |line| line + 1));
        let screen = self.lasting(&normal(&screen[new..], self.home.path()));
        writeln!(self.screens, "── {title}\n{screen}\n").unwrap();
    }
    /// A screen as it is on any day and in any folder, so that a file of them changes only where a screen does.
    fn lasting(&self, screen: &str) -> String {
        let name = self.home.path().file_name().unwrap();
        let name = format!("{}-", name.to_string_lossy());
        let mut parts = screen.split(&name);
        let mut lasting = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            lasting = format!("{lasting}PROJECT-DIGEST{digest}");
        }
        for (pattern, name) in [
            ("####-##-##-####", "YYYY-MM-DD-HHMM"),
            ("####-##-##", "YYYY-MM-DD"),
            ("* GB free", "N GB free"),
            ("0.# s", "0.0 s"),
            // Sessions are still being read.
            ("… · type", " · type"),
        ] {
            lasting = replaced(&lasting, pattern, name);
        }
        lasting
    }
}

/// Takes a step and waits until the program has answered; returns what it is called.
fn take(chat: &mut Chat, step: &Step) -> &'static str {
    match *step {
        Step::Enter(line) => {
            // Marks around pastes are asked for when a line is done, and when the next one begins.
            let reads = chat.printed().matches(MARKS).count();
            chat.enter(line).wait_printed(MARKS, reads + 2);
            chat.wait_until("a prompt or a question", |screen| {
                let last = screen.lines().last().unwrap_or_default();
                let is_question = last.contains("[y/N]") || last.contains(" = ");
                screen.ends_with('>') || screen.ends_with(']') && is_question
            });
            line
        }
        Step::Shows(line, shown) => {
            chat.enter(line).wait_for(shown);
            line
        }
        Step::Paste(text) => {
            chat.paste(text).wait_for("[pasted");
            "a paste"
        }
        Step::Press(key, name) => {
            chat.key(key).wait_for_prompt();
            name
        }
    }
}

/// What the model says to the last message of a person.
fn answer(request: &Request, has_stalled: &mut bool) -> Reply {
    let asked = request.message(-1);
    match &*asked {
        asked if asked.contains("summar") => {
            say("Ana moves to Frankfurt on Friday; the movers come at seven.")
        }
        asked if asked.contains("plan the move") => say(PLAN).thinking(THOUGHT),
        asked if asked.contains("greeting") => say("I will write it.").calling(
            "c1",
            "write_file",
            json!({"path": "hello.sh", "content": "#!/bin/sh\necho \"Hello, Ana\"\n"}),
        ),
        asked if asked.contains("fail") => fail(500, "the model has crashed"),
        asked if asked.contains("count slowly") && !replace(has_stalled, true) => {
            say("one two three").stall_after(2)
        }
        _ => say("All right, that is noted."),
    }
}

const THOUGHT: &str =
    "The person moves on Friday. The permit has to be asked for first, as the city takes two days.";

const PLAN: &str = "\
## The move

The movers come **at seven on Friday**, so that two things are left to do before they ring at the old flat:

1. Ask the city for a *parking permit*, which takes two days:
   ```sh
   curl -s https://permits.example/new --data street='Lindenweg 4' --data from='2026-11-27'
   ```
2. Label the boxes that go to the `cellar`
   - those with books, which are heavy, at the bottom
   - those with glass at the top

> Dana has the keys of the cellar and leaves on Thursday evening.

| what | who | until |
|---|---|---|
| keys of the cellar | Dana | Thursday evening, before her train leaves |
| parking permit | you | Wednesday noon |
";
