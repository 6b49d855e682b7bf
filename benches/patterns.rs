//! Writes `src/text/patterns/stored.*` and `src/index/words/related.txt` anew:
//! `cargo bench --features testing --bench patterns`, after a change of `config/cues`, `config/search` or of how words
//! that a pattern needs are found.

#![expect(clippy::print_stdout, reason = "a report")]
#![expect(clippy::disallowed_methods, reason = "they are files of the sources")]

use std::fs;

fn main() -> std::io::Result<()> {
    let files = cogtrix::testing::stored_patterns();
    fs::write("src/text/patterns/stored.jsonl", &files.tables)?;
    fs::write("src/text/patterns/stored.fst", &files.words)?;
    let related = cogtrix::index::embedded_related();
    fs::write("src/index/words/related.txt", related)?;
    let (lists, words) = (files.tables.lines().count(), files.words.len());
    println!("{lists} lists of patterns, {words} bytes of words");
    Ok(())
}
