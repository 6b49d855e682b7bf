//! What the tests stand on.
//!
//! ```text
//! home     folders and an empty environment for the real program     run      the program under way
//! normal   output without what differs from run to run               pty      the program on a terminal
//! ```

pub(crate) mod home;
mod normal;
pub(crate) mod pty;
pub(crate) mod run;
