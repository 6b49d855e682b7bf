//! Replies of servers: bytes in pieces -> events.

use cogtrix::provider::{ProviderError, StreamEvent};
use cogtrix::testing::provider::{Recorded, Wire, joined};
use futures_util::StreamExt;

type Events = Vec<Result<StreamEvent, ProviderError>>;

/// A longer reply is not sent byte by byte, too.
const MOST_SINGLE: usize = 1_024;

thread_local! {
    static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without I/O can be built");
    static OPENAI: Recorded = Recorded::new(Wire::OpenAi);
    static ANTHROPIC: Recorded = Recorded::new(Wire::Anthropic);
    static OLLAMA: Recorded = Recorded::new(Wire::Ollama);
}

/// Chat completions as server-sent events.
pub fn openai(input: &[u8]) {
    OPENAI.with(|server| check(server, input));
}

/// The Messages API as server-sent events.
pub fn anthropic(input: &[u8]) {
    ANTHROPIC.with(|server| check(server, input));
}

/// Lines of `/api/chat`.
pub fn ollama(input: &[u8]) {
    OLLAMA.with(|server| check(server, input));
}

/// The first byte says into how many pieces the rest is cut, the next ones where. However it is cut, the events are the
/// same: deltas and calls, then exactly one end or one error.
fn check(server: &Recorded, input: &[u8]) {
    let Some((n, rest)) = input.split_first() else {
        return;
    };
    let Some((cuts, reply)) = rest.split_at_checked(usize::from(n % 8)) else {
        return;
    };
    let whole = events(server, vec![reply.to_vec()]);
    check_order(&whole);
    let whole = joined(whole);
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| reply.len() * usize::from(*cut) / usize::from(u8::MAX))
        .collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for cut in cuts.into_iter().chain([reply.len()]) {
        pieces.push(reply[from..cut].to_vec());
        from = cut;
    }
    assert_eq!(joined(events(server, pieces)), whole, "cut elsewhere");
    if reply.len() <= MOST_SINGLE {
        let single = reply.chunks(1).map(<[u8]>::to_vec).collect();
        assert_eq!(joined(events(server, single)), whole, "byte by byte");
    }
}

fn events(server: &Recorded, pieces: Vec<Vec<u8>>) -> Events {
    RUNTIME.with(|runtime| runtime.block_on(server.events(pieces).collect()))
}

fn check_order(events: &Events) {
    let (last, before) = events.split_last().expect("a reply has an end");
    let is_end = matches!(last, Ok(StreamEvent::Finished { .. }) | Err(_));
    assert!(is_end, "the last event is {last:?}");
    for event in before {
        let is_part = matches!(
            event,
            Ok(StreamEvent::Text(_) | StreamEvent::Reasoning(_) | StreamEvent::ToolCall(_))
        );
        assert!(is_part, "{event:?} is not the last event");
    }
}
