//! Readers of text that several rooms share. Pure.

pub mod classify;
mod function_words;
pub mod linear;
pub mod lines;
pub mod once;
pub mod patterns;
pub mod ranges;
pub mod secrets;
pub mod statement;

pub use classify::off_record::is_off_record;
pub use function_words::is_function_word;
