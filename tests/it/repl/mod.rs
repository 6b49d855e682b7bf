//! The chat as a person has it: the program on a terminal, keys in, screen out, a scripted server or none.

mod approvals;
mod commands;
mod learning;
mod leaving;
mod opening;
mod owning;
mod pictures;
mod screens;
mod sessions;
mod status;
mod streaming;
mod tour;
mod typing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogtrix::testing::server::Server;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program;
use crate::support::pty::{Exit, Key, Pty, Size};

/// A person's home, in which cogtrix is started again and again.
struct Home {
    folder: Arc<TempDir>,
    model: &'static str,
    size: Size,
}

impl Home {
    /// Without any model.
    fn offline() -> Self {
        Self {
            folder: Arc::new(TempDir::new().unwrap()),
            model: "offline/quotes",
            // So tall that nothing a test waits for scrolls away.
            size: Size(80, 100),
        }
    }

    /// With a config that names two models on one server.
    fn with(server: &Server) -> Self {
        let home = Self {
            model: "main",
            ..Self::offline()
        };
        home.write("home/.cogtrix.yaml", &config(server));
        home
    }

    fn sized(self, columns: u16, rows: u16) -> Self {
        Self {
            size: Size(columns, rows),
            ..self
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "sets the stage")]
        std::fs::write(path, text).unwrap();
    }

    /// A file in the folder of the sessions.
    fn history(&self, file: &str) -> PathBuf {
        self.path().join("data/cogtrix/history").join(file)
    }

    /// What a session holds on disk after a clean end: the words of its messages.
    fn kept(&self, session: &str) -> Vec<String> {
        let snapshot = std::fs::read(self.history(&format!("{session}.json"))).unwrap();
        let snapshot: Value = serde_json::from_slice(&snapshot).unwrap();
        let messages = snapshot["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Starts cogtrix and waits for its prompt.
    #[track_caller]
    fn chat(&self, args: &[&str]) -> Chat {
        let mut chat = self.start(args, &[]);
        chat.wait_for_prompt();
        chat
    }

    fn start(&self, args: &[&str], env: &[(&str, &str)]) -> Chat {
        self.start_in(self.path(), args, env)
    }

    fn start_in(&self, folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Chat {
        self.spawn(folder, &program(), args, env)
    }

    /// Starts another program that starts cogtrix.
    fn run(&self, program: &Path, args: &[&str]) -> Chat {
        self.spawn(self.path(), program, args, &[])
    }

    fn spawn(&self, folder: &Path, program: &Path, args: &[&str], env: &[(&str, &str)]) -> Chat {
        let mut variables = vec![("COGTRIX_MODEL", self.model)];
        variables.extend_from_slice(env);
        Pty::spawn_in(
            folder,
            Arc::clone(&self.folder),
            program,
            args,
            &variables,
            self.size,
        )
    }
}

/// A config file for a server.
fn config(server: &Server) -> String {
    format!(
        "providers:
  desk: {{type: openai, base_url: \"{}\"}}
models:
  main: {{provider: desk, model: scripted}}
  other: {{provider: desk, model: second}}
network: {{tries: 1}}
ui: {{memory_line: false}}
",
        server.openai_url()
    )
}

/// A running chat.
type Chat = Pty;

impl Pty {
    /// Waits for an empty line behind a prompt.
    #[track_caller]
    fn wait_for_prompt(&mut self) -> &mut Self {
        self.wait_until("a prompt", ends_with_prompt)
    }

    /// Enters a line, waits for what it brings to the screen and for the next prompt.
    #[track_caller]
    fn says(&mut self, line: &str, shown: &str) -> &mut Self {
        let entered = format!("> {}\n", line.trim_end());
        let before = self.count(&entered);
        self.enter(line);
        let what = format!("{shown:?} below {line:?}");
        self.wait_until(&what, |screen| {
            let below = screen.rsplit(&entered).next().unwrap_or_default();
            let is_entered = screen.matches(&entered).count() > before;
            is_entered && below.contains(shown) && ends_with_prompt(screen)
        })
    }

    /// Leaves by Ctrl-D; gives what the screen showed last.
    #[track_caller]
    fn leave(&mut self) -> String {
        self.key(Key::CtrlD);
        assert_eq!(self.wait_exit(), Exit::code(0));
        self.screen()
    }

    /// Ctrl-L: what is waited for next is new on the screen.
    #[track_caller]
    fn clear_screen(&mut self) -> &mut Self {
        self.type_text("\x0c");
        self.wait_until("nothing but a prompt", |screen| screen.lines().count() == 1);
        self
    }

    /// How often a text stands on the screen.
    fn count(&self, text: &str) -> usize {
        self.screen().matches(text).count()
    }
}

fn ends_with_prompt(screen: &str) -> bool {
    let last = screen.lines().last().unwrap_or_default();
    let last = last.replace(" read-only>", ">");
    matches!(&*last, "conversation>" | "code>" | "reasoning>" | "answer>")
}
