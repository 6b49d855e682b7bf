//! How a chat goes to another session: by name, by a choice from the list, or anew where it may not write in this one.

use super::Chat;
use crate::chat::SessionName;
use crate::repl::ask::After;
use crate::repl::commands::{self, CommandError, Instead};
use crate::repl::input::InputError;
use crate::repl::picker::{self, Picked};
use crate::repl::repl_context::{Reopen, Writing};
use crate::store::StoreError;

impl Chat<'_> {
    pub(super) async fn which_session(
        &mut self,
        existing: &SessionName,
        new: &SessionName,
    ) -> After {
        let prompt = commands::slip_question(new, existing) + " ";
        let Some(answer) = self.answer_to(&prompt).await else {
            return After::Leave;
        };
        let Some(chosen) = commands::meant_by(answer.as_deref(), existing, new) else {
            self.output.notice("Cancelled; nothing changed");
            return After::GoOn;
        };
        self.open_session(chosen.clone()).await
    }

    /// Opens a session; where another process has it open, asks whether to read in it or to take another.
    pub(super) async fn open_session(&mut self, mut name: SessionName) -> After {
        loop {
            let is_read_only = self.repl.env.places.writing == Writing::Refused;
            if is_read_only && self.repl.questions.is_some() && name != *self.repl.session().name()
            {
                return self.reopen(name, false);
            }
            let locked = match commands::open_session(self.repl, &name) {
                Err(CommandError::Store(locked @ StoreError::Locked { .. }))
                    if self.repl.questions.is_some() =>
                {
                    locked
                }
                opened => return self.answer(opened),
            };
            let stay = format!("stay in {}", self.repl.session().name());
            let question = Instead::question(&locked, &stay) + " ";
            let Some(answer) = self.answer_to(&question).await else {
                return After::Leave;
            };
            match Instead::of(answer.as_deref()) {
                Ok(Instead::ReadOnly) => return self.reopen(name, true),
                Ok(Instead::Other(other)) => name = other,
                Ok(Instead::Nothing) => {
                    let stays = format!("Still in session {}", self.repl.session().name());
                    self.output.notice(&stays);
                    return After::GoOn;
                }
                Err(error) => return self.answer(Err(error.into())),
            }
        }
    }

    /// Ends this chat for one in another session, which writes or does not.
    fn reopen(&mut self, name: SessionName, read_only: bool) -> After {
        // What is not on disk yet would be lost with the chat.
        if let Err(error) = self.repl.agent.close() {
            return self.answer(Err(error.into()));
        }
        if let Some(left) = commands::left_behind(self.repl) {
            self.output.notice(&left);
        }
        self.repl.next = Some(Reopen {
            name,
            read_only,
            mode: self.repl.agent.memory().mode().name.clone(),
            model: None,
        });
        After::Leave
    }

    pub(super) async fn pick_session(&mut self) -> After {
        let sessions = match self.repl.env.store.list() {
            Ok(sessions) => picker::without_one_shots(sessions),
            Err(error) => return self.answer(Err(error.into())),
        };
        let has_list = self.input.is_terminal() && self.output.can_show_list();
        if sessions.0.is_empty() || !has_list {
            let overview = commands::session_overview(self.repl);
            return self.answer(overview);
        }
        let (store, now) = (self.repl.env.store.clone(), self.repl.env.now());
        match picker::pick(sessions, &store, now, self.output, self.signals).await {
            Ok(Picked::Session(name)) => self.open_session(name).await,
            Ok(Picked::Nothing) => After::GoOn,
            Ok(Picked::Leave) => After::Leave,
            Err(error) => {
                self.refuse(&InputError::Io(error));
                After::GoOn
            }
        }
    }
}
