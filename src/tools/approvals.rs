//! What a person allowed or denied in a project, in a file that they can read and edit.
//!
//! ```text
//! project: /home/ann/app
//! folder: 1048602-1763804400000000000
//! rules:
//! - allow: shell
//!   command: cargo test
//! - deny: fetch_url
//!   host: example.com
//! - allow: shell
//!   command: git fetch
//!   network: true
//! ```
//! One file for each project folder, in the state folder: never in the project or a data folder, which may be
//! anybody's. `folder` is the identity of the project folder: what was allowed in another folder of the same path does
//! not count, what was denied does. The file is read again before it is changed, so that neither a person's edit nor
//! another process's is lost. A file that cannot be read allows nothing, is told, and is left as it is.

use std::borrow::Cow;
use std::io;
use std::ops::Not;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Escalation;
use super::policy::{Only, Rule, Says};
use crate::files::{Disk, FolderId, digest, if_there};
use crate::hint::Hint;

/// The rules of one project.
#[derive(Clone, Debug)]
pub struct Approvals {
    disk: Arc<dyn Disk>,
    file: PathBuf,
    project: PathBuf,
    /// The file in the data folder, where versions before this one kept it: only what it denies counts.
    older: Option<PathBuf>,
}

/// Why rules cannot be had or kept.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not a valid approvals file: {what}", path.display())]
    Malformed { path: PathBuf, what: String },
    #[error("cannot write {}", path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("no rule {number}; there are {known}")]
    NoSuch { number: usize, known: usize },
}

impl Hint for ApprovalsError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Unreadable { .. } | Self::Malformed { .. } => {
                Some("fix it or move it away; until then every call needs approval".into())
            }
            Self::Unwritable { .. } => Some("the answer applies to this run only".into()),
            Self::NoSuch { .. } => Some("`/approvals` lists them".into()),
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    project: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<FolderId>,
    #[serde(default)]
    rules: Vec<Line>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    allow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Not::not")]
    network: bool,
    #[serde(skip_serializing_if = "Not::not")]
    keys: bool,
}

impl Approvals {
    /// Those of a project; `folder` is where the files of all projects are.
    pub fn new(disk: Arc<dyn Disk>, folder: &Path, project: &Path) -> Self {
        let digest = digest(project.as_os_str().as_encoded_bytes());
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name
            .chars()
            .filter(|c| c.is_alphanumeric() || "._-".contains(*c))
            .take(40)
            .collect();
        Self {
            disk,
            file: folder.join(format!("{name}-{}.yaml", &digest[..16])),
            project: project.to_owned(),
            older: None,
        }
    }

    /// Keeps denying what a file of an older version in this folder denies, until rules are remembered anew.
    #[must_use]
    pub fn with_denials_of(mut self, folder: &Path) -> Self {
        self.older = self.file.file_name().map(|name| folder.join(name));
        self
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The rules as they are now; none where there is no file.
    pub fn load(&self) -> Result<Vec<Rule>, ApprovalsError> {
        let (found, file) = match (self.read(&self.file)?, &self.older) {
            (Some(file), _) => (Some(file), &self.file),
            (None, Some(older)) => (self.read(older)?, older),
            (None, None) => (None, &self.file),
        };
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        // A file that a person wrote by hand names no folder.
        let is_of_this_folder =
            found.folder.is_none() || found.folder == FolderId::of(&self.project);
        let mut rules = Vec::new();
        for (index, line) in found.rules.into_iter().enumerate() {
            let rule = line.rule().map_err(|what| ApprovalsError::Malformed {
                path: file.clone(),
                what: format!("rule {}: {what}", index + 1),
            })?;
            if is_of_this_folder && *file == self.file || rule.says == Says::Deny {
                rules.push(rule);
            }
        }
        Ok(rules)
    }

    fn read(&self, path: &Path) -> Result<Option<File>, ApprovalsError> {
        let unreadable = |source| ApprovalsError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let Some(bytes) = if_there(self.disk.read(path)).map_err(unreadable)? else {
            return Ok(None);
        };
        let malformed = |what: String| ApprovalsError::Malformed {
            path: path.to_owned(),
            what,
        };
        let text = String::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8".into()))?;
        let file: Option<File> =
            serde_yaml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        Ok(Some(file.unwrap_or_default()))
    }

    /// Adds a rule; one that is there already is not added again. Tells all there are then.
    pub fn remember(&self, rule: Rule) -> Result<Vec<Rule>, ApprovalsError> {
        let mut rules = self.load()?;
        if !rules.contains(&rule) {
            rules.push(rule);
            self.save(&rules)?;
        }
        Ok(rules)
    }

    /// Takes the rule of this number away, counted from 1.
    pub fn revoke(&self, number: usize) -> Result<(Rule, Vec<Rule>), ApprovalsError> {
        let mut rules = self.load()?;
        let known = rules.len();
        if number == 0 || number > known {
            return Err(ApprovalsError::NoSuch { number, known });
        }
        let rule = rules.remove(number - 1);
        self.save(&rules)?;
        Ok((rule, rules))
    }

    /// Takes all rules away; tells how many there were.
    pub fn revoke_all(&self) -> Result<usize, ApprovalsError> {
        let rules = self.load()?;
        self.save(&[])?;
        Ok(rules.len())
    }

    fn save(&self, rules: &[Rule]) -> Result<(), ApprovalsError> {
        let file = File {
            project: self.project.display().to_string(),
            folder: FolderId::of(&self.project),
            rules: rules.iter().map(Line::of).collect(),
        };
        let unwritable = |source| ApprovalsError::Unwritable {
            path: self.file.clone(),
            source,
        };
        let text = serde_yaml::to_string(&file)
            .map_err(|error| unwritable(io::Error::other(error.to_string())))?;
        let text = format!(
            "# What tools may do in this project without asking; `/approvals` shows it too.\n{text}"
        );
        self.disk
            .replace(&self.file, text.as_bytes())
            .map_err(unwritable)
    }
}

impl Line {
    fn rule(self) -> Result<Rule, String> {
        let (says, tool) = match (self.allow, self.deny) {
            (Some(tool), None) => (Says::Allow, tool),
            (None, Some(tool)) => (Says::Deny, tool),
            (Some(_), Some(_)) | (None, None) => {
                return Err("it needs either allow or deny".to_owned());
            }
        };
        let is = |name: &str| tool.eq_ignore_ascii_case(name);
        if self.command.is_some() && !is("shell") || self.host.is_some() && !is("fetch_url") {
            return Err("command is only for shell, and host only for fetch_url".to_owned());
        }
        let escalation = Escalation {
            network: self.network,
            keys: self.keys,
        };
        // What leads out of the sandbox is allowed for a command by its name alone.
        if escalation != Escalation::NONE && (says == Says::Deny || self.command.is_none()) {
            return Err("network and keys are only for allow with a command".to_owned());
        }
        let only = match (self.command, self.host) {
            (None, None) => Only::Any,
            (Some(prefix), None) if !prefix.trim().is_empty() => {
                Only::Command { prefix, escalation }
            }
            (None, Some(host)) if !host.trim().is_empty() => Only::Host(host),
            (Some(_), None) => return Err("command is empty".to_owned()),
            (None, Some(_)) => return Err("host is empty".to_owned()),
            (Some(_), Some(_)) => return Err("it has both command and host".to_owned()),
        };
        Ok(Rule { says, tool, only })
    }

    fn of(rule: &Rule) -> Self {
        let tool = Some(rule.tool.clone());
        let (allow, deny) = match rule.says {
            Says::Allow => (tool, None),
            Says::Deny => (None, tool),
        };
        let line = Self {
            allow,
            deny,
            ..Self::default()
        };
        match &rule.only {
            Only::Any => line,
            Only::Command { prefix, escalation } => Self {
                command: Some(prefix.clone()),
                network: escalation.network,
                keys: escalation.keys,
                ..line
            },
            Only::Host(host) => Self {
                host: Some(host.clone()),
                ..line
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryDisk;

    /// Rules in memory, for a folder that is always there.
    fn approvals() -> (Arc<MemoryDisk>, Approvals) {
        let disk = Arc::new(MemoryDisk::default());
        let approvals = of_project(&disk, Path::new("/usr"));
        (disk, approvals)
    }

    fn of_project(disk: &Arc<MemoryDisk>, project: &Path) -> Approvals {
        Approvals::new(disk.clone(), Path::new("/state/approvals"), project)
    }

    #[test]
    fn what_was_allowed_in_another_folder_of_the_same_path_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("app");
        std::fs::create_dir(&project).unwrap();
        let disk = Arc::new(MemoryDisk::default());
        let approvals = of_project(&disk, &project);
        let denied = rule(Says::Deny, "fetch_url", Only::Any);
        approvals
            .remember(rule(Says::Allow, "shell", Only::Any))
            .unwrap();
        assert_eq!(approvals.remember(denied.clone()).unwrap().len(), 2);
        std::fs::remove_dir(&project).unwrap();
        std::fs::create_dir(&project).unwrap();
        assert_eq!(approvals.load().unwrap(), [denied]);
    }

    fn rule(says: Says, tool: &str, only: Only) -> Rule {
        Rule {
            says,
            tool: tool.to_owned(),
            only,
        }
    }

    #[test]
    fn what_is_remembered_is_there_again_and_can_be_read() {
        let (disk, approvals) = approvals();
        let rules = [
            rule(Says::Allow, "shell", Only::command("cargo test")),
            rule(Says::Allow, "write_file", Only::Any),
            rule(Says::Deny, "fetch_url", Only::Host("example.com".into())),
            rule(
                Says::Allow,
                "shell",
                Only::Command {
                    prefix: "git push".to_owned(),
                    escalation: Escalation {
                        network: true,
                        keys: true,
                    },
                },
            ),
        ];
        for rule in &rules {
            approvals.remember(rule.clone()).unwrap();
            approvals.remember(rule.clone()).unwrap();
        }
        assert_eq!(approvals.load().unwrap(), rules);
        let text = String::from_utf8(disk.read(approvals.file()).unwrap()).unwrap();
        let id = serde_yaml::to_string(&FolderId::of(Path::new("/usr"))).unwrap();
        let text = text.replace(id.trim(), "ID");
        insta::assert_snapshot!(text, @r"
        # What tools may do in this project without asking; `/approvals` shows it too.
        project: /usr
        folder: ID
        rules:
        - allow: shell
          command: cargo test
        - allow: write_file
        - deny: fetch_url
          host: example.com
        - allow: shell
          command: git push
          network: true
          keys: true
        ");
        assert_eq!(approvals.revoke(1).unwrap().0, rules[0]);
        assert_eq!(approvals.load().unwrap(), rules[1..]);
        assert!(matches!(
            approvals.revoke(4),
            Err(ApprovalsError::NoSuch {
                number: 4,
                known: 3
            })
        ));
    }

    #[test]
    fn a_file_that_says_nothing_clear_allows_nothing_and_stays() {
        for (text, what) in [
            ("rules: [", "did not find expected"),
            (
                "rules:\n- allow: a\n  deny: b\n",
                "rule 1: it needs either allow or deny",
            ),
            ("rules:\n- command: a\n", "rule 1: it needs either"),
            (
                "rules:\n- allow: shell\n  command: ' '\n",
                "command is empty",
            ),
            ("rules:\n- alow: shell\n", "unknown field"),
            (
                "rules:\n- allow: shell\n  network: true\n",
                "rule 1: network and keys are only for allow with a command",
            ),
            (
                "rules:\n- deny: shell\n  command: curl\n  keys: true\n",
                "rule 1: network and keys are only for allow with a command",
            ),
            (
                "rules:\n- deny: write_file\n  command: rm\n",
                "rule 1: command is only for shell",
            ),
            ("- allow: shell\n", "invalid type"),
        ] {
            let (disk, approvals) = approvals();
            disk.replace(approvals.file(), text.as_bytes()).unwrap();
            let error = approvals.load().unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
            let refused = approvals.remember(rule(Says::Allow, "x", Only::Any));
            assert!(refused.is_err());
            assert_eq!(disk.read(approvals.file()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn projects_of_one_name_have_their_own_rules() {
        let (disk, one) = approvals();
        let other = Approvals::new(disk, Path::new("/data/approvals"), Path::new("/work/app"));
        one.remember(rule(Says::Allow, "shell", Only::Any)).unwrap();
        assert_eq!(other.load().unwrap(), []);
    }
}
