//! The pictures of README and docs: scenes played with the real program, each ending on the screen that is drawn.
//! `docs/pictures/make` writes them; without it the scenes are played all the same.

mod svg;

use cogtrix::testing::server::{Reply, Script, Server, say};

use super::{Chat, Home};

const ANSWER: &str = "At **seven on Friday**, from the old flat. Before they come:\n\n\
| what | who | when |\n|---|---|---|\n| keys of the cellar | Dana | Thursday |\n| parking permit | you | by noon |\n\n\
1. Ask the city for the permit:\n\n   ```sh\n   curl -s https://permits.example/new --data street='Lindenweg 4'\n   ```\n\
2. Label the boxes that go to the *cellar*.\n";

#[test]
fn the_chat_of_the_readme() {
    let server = serve([
        "All right: Friday at seven, Lindenweg 4.",
        "Noted: Dana has the keys of the cellar.",
        ANSWER,
    ]);
    let home = Home::offline().sized(92, 34);
    let mut earlier = home.beside(&server, &["-s", "house"]);
    earlier.says(
        "We move to Frankfurt on Friday. Remember that the movers come at seven.",
        "at seven",
    );
    earlier.says(
        "Dana has the keys of the cellar at Lindenweg 4.",
        "Dana has",
    );
    earlier.leave();
    let mut chat = home.beside(&server, &["-s", "letters"]);
    chat.says(
        "When do the movers come, and what is still to do?",
        "cellar.",
    );
    draw(&chat, "chat", "$ cogtrix -s letters");
    chat.leave();
}

#[test]
fn what_the_model_was_sent() {
    let server = serve(["Noted: comments nest."]);
    let home = Home::offline().sized(92, 30);
    let mut chat = home.beside(&server, &["-M", "code", "-s", "parser"]);
    chat.says(
        "The parser must accept nested comments, as Rust has them.",
        "comments nest.",
    );
    chat.says("/context", "reserved for the reply");
    draw(&chat, "context", "$ cogtrix -M code -s parser");
    chat.leave();
}

impl Home {
    /// A chat with a server that its address names.
    #[track_caller]
    fn beside(&self, server: &Server, args: &[&str]) -> Chat {
        let url = server.openai_url();
        let mut chat = self.start(args, &[("COGTRIX_MODEL", ""), ("OPENAI_BASE_URL", &url)]);
        chat.wait_for_prompt();
        chat
    }
}

fn serve<const N: usize>(replies: [&str; N]) -> Server {
    let replies: [Reply; N] = replies.map(say);
    Script::new(replies).models(["demo-model"]).serve()
}

/// Writes the screen as a picture where it was asked for.
fn draw(chat: &Chat, name: &str, title: &str) {
    let picture = svg::draw(&chat.cells(), title);
    assert!(picture.contains("</text>"), "{picture}");
    #[expect(clippy::disallowed_methods, reason = "asked for by a developer")]
    if let Ok(folder) = std::env::var("PICTURES") {
        std::fs::write(format!("{folder}/{name}.svg"), picture).unwrap();
    }
}
