//! How much of each prompt a server that caches prefixes need not read again: the share of the tokens of all prompts of
//! a session that are an unchanged beginning of the request before, for both layouts, the three modes, and windows
//! of several sizes. The claim: at least 85 % in the cache-friendly layout.

#![expect(clippy::print_stdout, reason = "shares are no times")]

mod talk;

use cogtrix::chat::Tokens;
use cogtrix::context::Layout;
use talk::{Held, Share};

const TURNS: usize = 200;
const WINDOWS: [u32; 3] = [32_768, 16_384, 8_192];
const MODES: [&str; 3] = ["conversation", "code", "reasoning"];
const LAYOUTS: [(&str, Layout); 2] = [
    ("classic", Layout::Classic),
    ("cache-friendly", Layout::CacheFriendly),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    println!("{TURNS} turns; share of the prompts that is unchanged, mean prompt, what is new in");
    println!("it, most messages left out of one, prompts less than half of which are unchanged");
    for summarization in [true, false] {
        for window in WINDOWS {
            for mode in MODES {
                for (name, layout) in LAYOUTS {
                    let held = Held {
                        layout,
                        mode,
                        window: Tokens(window),
                        turns: TURNS,
                        summarization,
                    };
                    let share = runtime.block_on(talk::hold(held, |_, _| {}));
                    show(name, held, share);
                }
            }
        }
    }
}

fn show(layout: &str, held: Held, share: Share) {
    let Share {
        prompt,
        unchanged,
        requests,
        most_left_out,
        broken,
    } = share;
    let summaries = if held.summarization {
        ""
    } else {
        ", no summaries"
    };
    println!(
        "{:<13} {:>6} {layout:<15} {:>5.1} %  {:>6} tok  {:>5} tok  {most_left_out:>4}  {broken:>4}{summaries}",
        held.mode,
        held.window.0,
        share.percent(),
        prompt / requests,
        (prompt - unchanged) / requests,
    );
}
