//! The words every layer speaks: messages, turns, sessions, tokens, times. Values only: no I/O, no
//! serialisation format, nothing that waits.
//!
//! ```text
//!   Session = fold of Records
//!     turns    [ Turn | Turn | Turn ]        a turn = one user message and all that answers it
//!     messages [u a | u a t a | u a ]        user, assistant, tool
//! ```

mod answered;
mod attachment;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod fixture;
mod message;
mod name;
mod pins;
mod record;
mod redactions;
mod scratchpad;
mod session;
mod spending;
mod time;
mod tokens;
mod tool;
mod turn;

pub use answered::{Answered, answered};
pub use attachment::{Attached, Image, Lines};
pub use message::{Message, MessageId, Part, Role, STAND_IN, Unknown, is_stand_in};
pub use name::{BadName, SessionName};
pub use pins::{NotPinned, Pin, Pins};
pub use record::{Compaction, Form, Hybrid, ModeStates, Record, Summary, Withdrawal};
pub use redactions::{Mask, Redactions, text_of};
pub use scratchpad::{NotWritten, Scratchpad, ScratchpadLimits, Written};
pub use session::{Session, SessionMeta};
pub use spending::{Spending, Spent};
pub use time::Timestamp;
pub use tokens::{Calibration, Tokens, Usage};
pub use tool::{CallId, ToolCall, ToolSpec, Trained, changed_to, really_done};
pub use turn::{Outcome, Turn, TurnId};
