//! Readers of text that several rooms share. Pure.

pub mod secrets;
