//! `track`: the model notes what it does on the board of a mode (C41-C56).

use super::{AgentTool, Failure, Wish};
use crate::memory::tracking::{TRACK, TrackCall};

/// Notes what the model says.
#[derive(Clone, Copy, Debug)]
pub struct Track;

impl AgentTool for Track {
    type Arguments = TrackCall;

    const NAME: &'static str = TRACK;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/track.md");

    fn wish(call: TrackCall) -> Result<Wish, Failure> {
        let edit = call.edit().map(Wish::Track);
        edit.map_err(|bad| Failure::Arguments(bad.to_string()))
    }
}
