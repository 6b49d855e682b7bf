//! `cogtrix doctor`: everything a chat stands on, looked at without a question and without a word of the person's.
//!
//! ```text
//!   finding    one line of the answer
//!   machine    data folder, project folder, sandbox, terminal
//!   models     providers, the model that answers, the embedder
//!   servers    MCP servers: started, listed, ended
//! ```
//!
//! Unit: one thing that is looked at. What waits for others waits beside the rest. What is wrong here never ends the
//! look.

mod finding;
mod machine;
mod models;
mod servers;

use std::sync::Arc;

use futures_util::future::join4;

use self::finding::{Finding, Verdict, render};
use super::args::ChatArgs;
use super::report::{CliError, Exit};
use super::{parts, toolbox, trust};
use crate::config::{Config, Inputs, Texts};
use crate::files::Disk;
use crate::term::Output;

pub(super) async fn run(args: &ChatArgs, output: &mut Output) -> Result<Exit, CliError> {
    let disk = parts::disk(args);
    let (inputs, config) = trust::unasked(args, disk.as_ref())?;
    output.progress("looking …");
    let looking = async {
        match &config {
            Ok(config) => {
                let disk = parts::disk_of_run(args, config);
                all(args, &inputs, config, &disk, output).await
            }
            Err(error) => {
                let mut findings = vec![Finding::of_error("config", error)];
                findings.extend(around(args, &inputs, output));
                findings
            }
        }
    };
    // A program in a group of its own would not hear the interrupt; it ends with the fleet, which is dropped.
    let findings = tokio::select! {
        findings = looking => findings,
        _ = tokio::signal::ctrl_c() => {
            output.end_progress();
            return Ok(Exit::Interrupted);
        }
    };
    output.end_progress();
    for warning in config.iter().flat_map(|config| &config.warnings) {
        output.warning(&warning.to_string());
    }
    output.answer(&render(&findings, output.answer_columns()));
    let is_ill = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Problem);
    Ok(if is_ill { Exit::Failed } else { Exit::Ok })
}

async fn all(
    args: &ChatArgs,
    inputs: &Inputs,
    config: &Config,
    disk: &Arc<dyn Disk>,
    output: &Output,
) -> Vec<Finding> {
    let mut findings = vec![
        file(config),
        machine::data_folder(&config.settings.data_dir, disk.as_ref()),
    ];
    let texts = Texts::load(inputs.folders.config.as_deref()).map_err(CliError::from);
    let catalog = texts.and_then(|texts| parts::catalog(config, inputs, &texts));
    match catalog {
        Err(error) => findings.push(Finding::of_error("texts", &error)),
        Ok(catalog) => {
            let chat = catalog.choose(None).await;
            let chosen = chat.as_ref().ok();
            let choice = parts::embedder_choice(config, &catalog, chosen, Arc::clone(disk)).await;
            let project = toolbox::project(args, inputs);
            let project = project.as_deref().unwrap_or(&inputs.working_dir);
            let (providers, model, embedder, servers) = join4(
                models::providers(&catalog),
                models::model(&catalog, &chat),
                models::embedder(&choice),
                servers::servers(config, inputs, project),
            )
            .await;
            findings.extend(providers);
            findings.extend([model, embedder]);
            findings.extend(servers);
        }
    }
    let running = toolbox::running(inputs);
    let sandbox = config.settings.tools.shell.sandbox;
    findings.push(machine::sandbox(sandbox, running.as_deref()));
    findings.extend(around(args, inputs, output));
    findings
}

fn file(config: &Config) -> Finding {
    match config.files_shown() {
        Some(files) => Finding::ok("config", files),
        None => Finding::none("config", "no file, using defaults"),
    }
}

/// What needs no configuration.
fn around(args: &ChatArgs, inputs: &Inputs, output: &Output) -> [Finding; 2] {
    let project = match toolbox::project(args, inputs) {
        Ok(folder) => machine::project(&folder),
        Err(error) => Finding::of_error("project", &error),
    };
    [project, machine::terminal(&inputs.environment, output)]
}
