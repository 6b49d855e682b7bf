//! One file for each kind of section; each is a function from what it needs to sections.

pub mod history;
pub mod images;
pub mod stamp;
pub mod steps;
pub mod trim;
pub mod work;
