//! Asks whether a config file found in the working folder may name servers and keys.

use std::io::{self, BufRead, IsTerminal};

use super::args::ChatArgs;
use super::report::CliError;
use crate::config::{
    self, Config, ConfigError, ConfirmFlag, Flags, Inputs, Loaded, TrustFlag, TrustRequest,
};
use crate::files::Disk;
use crate::memory::Registry;
use crate::term::Output;

/// What the command line says about configuration.
fn flags(args: &ChatArgs) -> Flags {
    Flags {
        memory_mode: args.mode.clone(),
        session: args.session.clone(),
        model: args.model.clone(),
        config_file: args.config_file.clone(),
        data_dir: args.data_dir.clone(),
        workspace: args.workspace.clone(),
        tools: args.tools.clone(),
        timeout: args.timeout.clone(),
        sandbox: args.sandbox.clone(),
        context_preset: args.context_preset.clone(),
        confirm: if args.no_confirm {
            ConfirmFlag::Never
        } else {
            ConfirmFlag::default()
        },
        trust: if args.trust_folder {
            TrustFlag::ThisRun
        } else {
            TrustFlag::default()
        },
    }
}

fn inputs(args: &ChatArgs) -> Result<Inputs, CliError> {
    let modes = Registry::STANDARD.map(str::to_owned).to_vec();
    Inputs::from_system(flags(args), modes).map_err(|source| CliError::NoWorkingFolder { source })
}

/// The configuration to act on: a folder without trust is asked about, or refused where nobody can be
/// asked.
pub(super) fn load(
    args: &ChatArgs,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    let inputs = inputs(args)?;
    let config = match config::load(&inputs, disk)? {
        Loaded::Ready(config) => config,
        Loaded::Untrusted(request) => ask(request, disk, output)?,
    };
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
    Ok((config, inputs))
}

/// The configuration to act on, without asking anybody: one whose folder would have to be trusted first is an error.
pub(super) fn unasked(
    args: &ChatArgs,
    disk: &dyn Disk,
) -> Result<(Inputs, Result<Config, ConfigError>), CliError> {
    let inputs = inputs(args)?;
    let config = config::load(&inputs, disk).and_then(|loaded| match loaded {
        Loaded::Ready(config) => Ok(config),
        Loaded::Untrusted(request) => Err(request.refuse()),
    });
    Ok((inputs, config))
}

/// The configuration to look at; nothing is contacted or opened because of it.
pub(super) fn look(args: &ChatArgs, disk: &dyn Disk) -> Result<Config, CliError> {
    Ok(look_here(args, disk)?.0)
}

/// The same with where it was looked from.
pub(super) fn look_here(args: &ChatArgs, disk: &dyn Disk) -> Result<(Config, Inputs), CliError> {
    let inputs = inputs(args)?;
    let config = match config::load(&inputs, disk)? {
        Loaded::Ready(config) => config,
        Loaded::Untrusted(request) => request.unused(),
    };
    Ok((config, inputs))
}

fn ask(request: TrustRequest, disk: &dyn Disk, output: &mut Output) -> Result<Config, CliError> {
    if !io::stdin().is_terminal() {
        return Err(request.refuse().into());
    }
    let demand = &request.demand;
    output.warning(&format!("{} sets:", demand.file.display()));
    for key in &demand.keys {
        output.warning(&format!("  {}: {}", key.key, key.value));
    }
    output.warning(&format!(
        "trust {} with this? [y/N]",
        demand.folder.display()
    ));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match (read, answer.trim().to_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Ok(request.remember(disk)?),
        _ => Err(request.refuse().into()),
    }
}
