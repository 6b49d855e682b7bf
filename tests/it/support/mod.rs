//! What the tests stand on.

pub(crate) mod home;
pub(crate) mod pty;
