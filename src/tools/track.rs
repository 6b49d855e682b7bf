//! `track`: the model notes what it does on the board of a mode (C41-C56).

use async_trait::async_trait;

use super::{Around, Done, Effect, Failure, Typed, Wish};
use crate::memory::tracking::{TRACK, TrackCall};

/// Notes what the model says.
#[derive(Clone, Copy, Debug)]
pub struct Track;

#[async_trait]
impl Typed for Track {
    type Arguments = TrackCall;

    const NAME: &'static str = TRACK;
    const DESCRIPTION: &'static str = include_str!("../../config/tools/track.md");

    fn effect(&self, _: &TrackCall) -> Result<Effect, Failure> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, call: TrackCall, _: &Around<'_>) -> Result<Done, Failure> {
        let edit = call
            .edit()
            .map_err(|bad| Failure::Arguments(bad.to_string()))?;
        Ok(Done::Wish(Wish::Track(edit)))
    }
}
