//! What a person may set about the files of the workspace: parts of the `memory` block.

use serde::Deserialize;

/// `memory.workspace`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    pub session_files: SessionFiles,
    /// Characters of one file in a request (X2).
    pub file_chars: usize,
    /// Characters of all of them together.
    pub total_chars: usize,
    /// Files of the project folder with rules for it; the first of them that is there is read. Empty: none.
    pub project_files: Vec<String>,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            session_files: SessionFiles::PerSession,
            file_chars: 20_000,
            total_chars: 150_000,
            project_files: vec!["AGENTS.md".to_owned(), "CLAUDE.md".to_owned()],
        }
    }
}

/// Where the session state and the working buffer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionFiles {
    /// `sessions/NAME/` in the workspace.
    PerSession,
    /// One of each in the workspace, for all sessions.
    Shared,
}

/// `memory.daily_notes` (Q15).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DailySettings {
    pub enabled: bool,
    /// Characters of what the person said.
    pub user_chars: usize,
    /// Characters of the reply.
    pub agent_chars: usize,
    /// Files that a search looks through, the newest of them (Q17).
    pub search_files: usize,
}

impl Default for DailySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            user_chars: 100,
            agent_chars: 200,
            search_files: 30,
        }
    }
}
