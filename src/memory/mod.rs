//! What is kept and what comes back.

mod settings;

pub use settings::{
    CodeSettings, ConversationSettings, ModesSettings, ReasoningSettings, Settings, Timestamps,
};
