//! One call to a server that is up. Unit: one call. Invariant: it ends with the answer, the person's word, the end of
//! the server or of its time, whichever comes first; a server that is not waited for any more is told so.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::client::Progress;
use super::web;
use crate::net::one_line;

/// For the word that a call is over to get into the pipe.
const FAREWELL: Duration = Duration::from_millis(500);

/// The way to a server that is up.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    pub(super) progress: Progress,
    pub(super) call_timeout: Duration,
}

/// Who waits for a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller<'a> {
    pub(super) cancel: &'a CancellationToken,
    pub(super) progress: &'a Sender<String>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    Interrupted,
    TimedOut,
    /// The connection is gone.
    Closed,
    /// The server refused, or answered with something that is no result.
    Refused(String),
}

impl Link {
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        caller: Caller<'_>,
    ) -> Result<CallToolResult, Missed> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let patience = sleep(self.call_timeout);
        tokio::pin!(patience);
        let mut request = tokio::select! {
            sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()) => sent.map_err(missed)?,
            () = caller.cancel.cancelled() => return Err(Missed::Interrupted),
            () = &mut patience => return Err(Missed::TimedOut),
        };
        let _wanted = self
            .progress
            .want(request.progress_token.clone(), caller.progress.clone());
        let (missed, reason) = tokio::select! {
            answer = &mut request.rx => return answered(answer.map_err(|_| Missed::Closed)?),
            () = caller.cancel.cancelled() => (Missed::Interrupted, "the person interrupted it"),
            () = &mut patience => (Missed::TimedOut, "it took too long"),
        };
        farewell(request, reason).await;
        Err(missed)
    }
}

async fn farewell(request: RequestHandle<RoleClient>, reason: &str) {
    // A server that takes no more input is ended by others.
    drop(timeout(FAREWELL, request.cancel(Some(reason.to_owned()))).await);
}

fn answered(answer: Result<ServerResult, ServiceError>) -> Result<CallToolResult, Missed> {
    let answer = answer.map_err(|error| match error {
        // Said of this answer alone, by a connection that is there: of a stream of events that could not be read to its
        // end.
        ServiceError::TransportClosed => {
            Missed::Refused("its answer was incomplete, too large or nested too deep".to_owned())
        }
        error => missed(error),
    });
    match answer? {
        ServerResult::CallToolResult(result) => Ok(result),
        // A tool that has nothing to say may leave everything out.
        ServerResult::EmptyResult(_) => Ok(CallToolResult::success(Vec::new())),
        ServerResult::InputRequiredResult(_) => Err(Missed::Refused(
            "it asks for user input, which is not supported".to_owned(),
        )),
        ServerResult::CreateTaskResult(_) => Err(Missed::Refused(
            "it turned the call into a task, which is not supported".to_owned(),
        )),
        _ => Err(Missed::Refused(
            "its answer is not a tool result".to_owned(),
        )),
    }
}

fn missed(error: ServiceError) -> Missed {
    match error {
        ServiceError::TransportClosed => Missed::Closed,
        other => Missed::Refused(in_words(&other)),
    }
}

/// Returns what an error of the connection says.
pub(super) fn in_words(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => one_line(&error.message),
        ServiceError::TransportSend(error) => web::in_words(error.error.as_ref()),
        other => other.to_string(),
    }
}
