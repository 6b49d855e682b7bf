//! What a server may ask of us and tell us: where the project is, that its tools changed, how far a call has come, a
//! line for its log. Unit: one connection. Invariant: what is not declared is not served, and nothing it sends can wait
//! or grow here.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorData, Implementation, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, RootsCapabilities,
};
#[expect(
    deprecated,
    reason = "roots are how servers of today learn which folder they are for"
)]
use rmcp::model::{ListRootsResult, LoggingMessageNotificationParam, Root};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::mpsc::Sender;

use super::journal::Journal;
use crate::net::one_line;

/// Our side of a connection.
#[derive(Debug)]
pub(super) struct Ours {
    root: Option<String>,
    name: String,
    pub(super) relist: Sender<()>,
    pub(super) progress: Progress,
    pub(super) journal: Journal,
}

impl Ours {
    pub(super) fn new(project: &Path, relist: Sender<()>, journal: Journal) -> Self {
        Self {
            root: reqwest::Url::from_file_path(project).ok().map(String::from),
            name: project
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            relist,
            progress: Progress::default(),
            journal,
        }
    }
}

impl ClientHandler for Ours {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let us = Implementation::new("cogtrix", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    #[expect(deprecated, reason = "as above")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let roots = self
            .root
            .iter()
            .map(|root| Root::new(root).with_name(&self.name));
        Ok(ListRootsResult::new(roots.collect()))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.tell(&progress);
    }

    #[expect(deprecated, reason = "servers of today log so")]
    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = match message.data {
            serde_json::Value::String(text) => text,
            data => data.to_string(),
        };
        self.journal.note(&one_line(&text));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if self.relist.try_send(()).is_err() {
            tracing::trace!("the same news waits already");
        }
    }
}

/// Who wants to hear how far which call has come. The lock is held for one look or one change.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Arc<Mutex<HashMap<ProgressToken, Sender<String>>>>);

/// Keeps a call's progress wanted.
#[derive(Debug)]
pub(super) struct Wanted {
    progress: Progress,
    token: ProgressToken,
}

impl Progress {
    pub(super) fn want(&self, token: ProgressToken, listener: Sender<String>) -> Wanted {
        self.listeners().insert(token.clone(), listener);
        Wanted {
            progress: self.clone(),
            token,
        }
    }

    fn tell(&self, progress: &ProgressNotificationParam) {
        if let Some(listener) = self.listeners().get(&progress.progress_token) {
            // Nobody need be listening; a server that says more than can be shown is not heard.
            listener.try_send(in_words(progress)).ok();
        }
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<ProgressToken, Sender<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.progress.listeners().remove(&self.token);
    }
}

fn in_words(progress: &ProgressNotificationParam) -> String {
    let count = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    match &progress.message {
        Some(message) => one_line(&format!("{count}: {message}")),
        None => count,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn a_flood_of_progress_is_dropped_and_not_kept() {
        let progress = Progress::default();
        let token = ProgressToken(NumberOrString::Number(1));
        let (sender, mut told) = crate::tools::progress();
        let room = sender.capacity();
        let wanted = progress.want(token.clone(), sender);
        for n in 0..100_000_u32 {
            progress.tell(&ProgressNotificationParam::new(token.clone(), n.into()));
        }
        drop(wanted);
        let mut kept = Vec::new();
        while let Ok(text) = told.try_recv() {
            kept.push(text);
        }
        assert_eq!(kept.len(), room);
        assert_eq!(kept[0], "0");
    }
}
