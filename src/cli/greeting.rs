//! What a person is told before the first line.

use super::args::ChatArgs;
use super::run_mode::RunMode;
use crate::config::{Config, Source};
use crate::provider::{Choice, Provider};
use crate::repl::listing;
use crate::repl::recap::{self, recap};
use crate::repl::repl_context::{ReplContext, Writing};
use crate::store::{Opened, Repair, Unwritable};
use crate::term::{Output, Verbosity, sentence, width};

/// What `-v` adds: where things come from.
pub(super) async fn details(config: &Config, provider: &dyn Provider, output: &mut Output) {
    if output.policy().verbosity < Verbosity::Verbose {
        return;
    }
    let files = config.files_shown();
    let files = files.as_deref().unwrap_or("none");
    let abilities = provider.abilities().await;
    output.detail(&format!(
        "config {files}, data {}",
        config.settings.data_dir.display()
    ));
    output.detail(&format!(
        "model {}, context window {} tokens ({})",
        provider.model(),
        abilities.context_window,
        abilities.window_source.as_str()
    ));
}

/// What there is to say about a session that was opened and a model that was chosen.
pub(super) struct Greeting {
    hint: Option<String>,
    /// Why this session, where another was wanted.
    session: Option<String>,
    /// What led to the model, where nobody named one.
    because: String,
    /// How to get a model, where there is none.
    notice: Option<String>,
    repairs: Vec<Repair>,
    is_chat: bool,
}

impl Greeting {
    pub(super) fn new(
        opened: &Opened,
        choice: &Choice,
        session: Option<String>,
        (config, run_mode): (&Config, &RunMode),
    ) -> Self {
        let because = choice.because.as_ref();
        let is_chosen = matches!(config.source("memory.mode"), Source::Flag(_));
        let mode = &config.settings.memory.mode;
        let hint = recap::mode_hint(&opened.session, mode).filter(|_| !is_chosen);
        Self {
            hint,
            session,
            because: because.map_or_else(String::new, |why| format!(" (from {why})")),
            notice: choice.notice.clone(),
            repairs: opened.repairs.clone(),
            is_chat: !matches!(run_mode, RunMode::OneShot(_)),
        }
    }

    /// Repairs and the way to a model; nothing that a script would have to skip.
    pub(super) fn aside(&self, repl: &mut ReplContext, output: &mut Output) {
        if let Some(notice) = &self.session {
            output.notice(notice);
        }
        for repair in &self.repairs {
            output.warning(&repair.to_string());
        }
        if let Some(unread) = listing::unread(repl.agent.memory().unread()) {
            output.warning(&unread);
        }
        // A run of one prompt says at its end that nothing was saved.
        if self.is_chat
            && repl.env.places.writing == Writing::Kept
            && let data = &repl.env.places.data
            && let Some(unwritable) = Unwritable::of(&data.join("history"))
        {
            output.warning(&format!(
                "nothing can be saved in {}: {}; {}",
                data.display(),
                unwritable.why(),
                unwritable.remedy()
            ));
            repl.agent.warned_unwritable(unwritable);
        }
        if repl.env.places.writing == Writing::Refused {
            output.notice("Opened read-only: commands work, but nothing is sent or saved");
        }
        if let Some(notice) = &self.notice {
            output.notice(&sentence(notice));
        }
    }

    pub(super) fn banner(mut self, repl: &mut ReplContext, args: &ChatArgs, output: &mut Output) {
        if !args.no_banner {
            self.repairs
                .retain(|repair| !recap::tells(repl.session(), repair));
            let mode = &repl.agent.memory().mode().name;
            let provider = repl.agent.provider();
            let model = if provider.is_offline() {
                "offline".to_owned()
            } else {
                provider.model().to_string()
            };
            let name = repl.session().name();
            let version = env!("CARGO_PKG_VERSION");
            output.notice(&format!(
                "cogtrix {version} · session {name} · {mode} mode · {model}{}",
                self.because
            ));
            let opened = if args.private {
                "Private session: nothing is saved".to_owned()
            } else {
                listing::opened(&repl.agent, repl.env.now())
            };
            let whole = format!("{opened} · /help lists commands");
            // Who comes back to a session knows of it.
            let is_too_long = width(&whole) > output.columns() && !repl.session().is_empty();
            output.notice(if is_too_long { &opened } else { &whole });
            for line in recap(&repl.agent, output.columns()) {
                output.notice(&line);
            }
        }
        self.aside(repl, output);
        if let Some(hint) = &self.hint {
            output.aside(hint);
        }
    }
}
