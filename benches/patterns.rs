//! Writes `src/memory/patterns/stored.*` anew: `cargo bench --features testing --bench patterns`, after a change of
//! `config/cues` or of how words that a pattern needs are found.

#![expect(clippy::print_stdout, reason = "a report")]
#![expect(clippy::disallowed_methods, reason = "they are files of the sources")]

use std::fs;

fn main() -> std::io::Result<()> {
    let files = cogtrix::testing::stored_patterns();
    fs::write("src/memory/patterns/stored.jsonl", &files.tables)?;
    fs::write("src/memory/patterns/stored.fst", &files.words)?;
    let (lists, words) = (files.tables.lines().count(), files.words.len());
    println!("{lists} lists of patterns, {words} bytes of words");
    Ok(())
}
