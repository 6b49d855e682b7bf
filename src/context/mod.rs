//! What goes to the model, as a value: `Draft` -> `fit` -> `ContextPlan`.

mod settings;

pub use settings::Settings;
