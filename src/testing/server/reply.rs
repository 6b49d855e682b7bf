//! What the scripted server answers: a reply in words, which is written down in the format of the request,
//! or bytes as they stand; and how it goes wrong on the way.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) what: What,
    pub(super) fault: Option<(usize, Fault)>,
    /// The connection stays open, and the next request on it is dropped without an answer.
    pub(super) stale: bool,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Said(Said),
    Failed {
        status: u16,
        message: String,
        headers: Vec<(String, String)>,
    },
    Raw {
        status: u16,
        headers: Vec<(String, String)>,
        pieces: Vec<Vec<u8>>,
    },
    HangUp,
    Silent,
}

/// A reply in words.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) thinking: String,
    pub(super) pieces: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<(u32, u32)>,
    /// The prompt is counted as a server would, whatever `usage` says of it.
    pub(super) counts_prompt: bool,
}

impl Said {
    /// The same with its usage, for a request of so many bytes.
    pub(super) fn counted(&self, bytes: usize) -> Self {
        const SMALL: usize = 2_048;
        let mut said = self.clone();
        if let (true, Some((prompt, _))) = (self.counts_prompt && bytes > SMALL, &mut said.usage) {
            *prompt = u32::try_from(bytes / 4).unwrap_or(u32::MAX);
        }
        said
    }
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// What happens after some of the pieces of a body.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The connection closes.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Stall,
    /// The body ends properly, without the format's end mark.
    Unfinished,
    /// An error in the format's own shape, then the end.
    Error(String),
    /// Bytes that are nothing.
    Garbage(Vec<u8>),
    /// The rest comes when the test says so.
    Hold(Held),
}

/// The server's side of a [`Release`].
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<Mutex<Receiver<()>>>);

impl Held {
    /// Waits for the word or for the end of who would give it, at most for `patience`.
    pub(super) fn wait(&self, patience: Duration) {
        let released = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether the word came, was dropped or is overdue: the reply goes on.
        released.recv_timeout(patience).ok();
    }
}

/// Lets a held reply go on; so does dropping it.
#[derive(Debug)]
pub struct Release(Sender<()>);

impl Release {
    pub fn go_on(self) {
        // A server that is gone needs no word.
        self.0.send(()).ok();
    }
}

fn reply(what: What) -> Reply {
    Reply {
        what,
        fault: None,
        stale: false,
    }
}

/// Says `text`, word by word, and reports a usage: 10 tokens of a small request, else one for each four bytes, and 5.
pub fn say(text: impl Into<String>) -> Reply {
    let text: String = text.into();
    let pieces = text.split_inclusive(' ').map(str::to_owned).collect();
    reply(What::Said(Said {
        pieces,
        usage: Some((10, 5)),
        counts_prompt: true,
        ..Said::default()
    }))
}

/// Fails with a status, in the error shape of the format.
pub fn fail(status: u16, message: &str) -> Reply {
    reply(What::Failed {
        status,
        message: message.to_owned(),
        headers: Vec::new(),
    })
}

/// Sends bytes as they stand, each piece on its own.
pub fn raw<P: Into<Vec<u8>>>(
    status: u16,
    content_type: &str,
    pieces: impl IntoIterator<Item = P>,
) -> Reply {
    reply(What::Raw {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        pieces: pieces.into_iter().map(Into::into).collect(),
    })
}

/// A good event stream of these bytes.
pub fn stream_of<P: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = P>) -> Reply {
    raw(200, "text/event-stream", pieces)
}

/// Closes the connection before the first byte.
pub fn hang_up() -> Reply {
    reply(What::HangUp)
}

/// Never answers.
pub fn silent() -> Reply {
    reply(What::Silent)
}

impl Reply {
    fn said(mut self, change: impl FnOnce(&mut Said)) -> Self {
        match &mut self.what {
            What::Said(said) => change(said),
            other => panic!("only a reply made by `say` can be changed so: {other:?}"),
        }
        self
    }

    /// The text in these pieces instead of words.
    #[must_use]
    pub fn pieces<P: Into<String>>(self, pieces: impl IntoIterator<Item = P>) -> Self {
        self.said(|said| said.pieces = pieces.into_iter().map(Into::into).collect())
    }

    /// Thinks first.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.said(|said| text.clone_into(&mut said.thinking))
    }

    /// Calls a tool after the text.
    #[must_use]
    pub fn calling(self, id: &str, name: &str, arguments: Value) -> Self {
        self.said(|said| {
            said.calls.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments,
            });
        })
    }

    /// Ends for this reason, in the format's own word.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.said(|said| said.finish = Some(reason.to_owned()))
    }

    /// Reports these tokens of prompt and reply.
    #[must_use]
    pub fn usage(self, prompt: u32, completion: u32) -> Self {
        self.said(|said| {
            said.usage = Some((prompt, completion));
            said.counts_prompt = false;
        })
    }

    #[must_use]
    pub fn without_usage(self) -> Self {
        self.said(|said| said.usage = None)
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        match &mut self.what {
            What::Failed { headers, .. } | What::Raw { headers, .. } => {
                headers.push((name.to_owned(), value.to_owned()));
            }
            other => panic!("only `fail` and `raw` take headers: {other:?}"),
        }
        self
    }

    fn fault(mut self, after: usize, fault: Fault) -> Self {
        self.fault = Some((after, fault));
        self
    }

    /// Closes the connection after `n` pieces.
    #[must_use]
    pub fn cut_after(self, n: usize) -> Self {
        self.fault(n, Fault::Cut)
    }

    /// Sends nothing more after `n` pieces, until the other side gives up.
    #[must_use]
    pub fn stall_after(self, n: usize) -> Self {
        self.fault(n, Fault::Stall)
    }

    /// Sends the rest after `n` pieces only when the other half is told to let it go on.
    #[must_use]
    pub fn hold_after(self, n: usize) -> (Self, Release) {
        let (word, released) = channel();
        let held = Held(Arc::new(Mutex::new(released)));
        (self.fault(n, Fault::Hold(held)), Release(word))
    }

    /// Ends the body after `n` pieces as if that were all.
    #[must_use]
    pub fn end_after(self, n: usize) -> Self {
        self.fault(n, Fault::Unfinished)
    }

    /// Reports an error after `n` pieces, under the status 200 that was sent before.
    #[must_use]
    pub fn error_after(self, n: usize, message: &str) -> Self {
        self.fault(n, Fault::Error(message.to_owned()))
    }

    /// Sends bytes that mean nothing after `n` pieces.
    #[must_use]
    pub fn garbage_after(self, n: usize, bytes: &[u8]) -> Self {
        self.fault(n, Fault::Garbage(bytes.to_vec()))
    }

    /// Drops the next request on the same connection, as servers do that closed it meanwhile.
    #[must_use]
    pub fn then_stale(mut self) -> Self {
        self.stale = true;
        self
    }
}
