//! Asks whether the working folder and the project may act: their config file, rules and data folder.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use super::args::ChatArgs;
use super::report::CliError;
use crate::config::{
    self, Config, ConfigError, Configuration, ConfirmFlag, Demand, DemandedKey, Flags, Inputs,
    Loaded, TrustFlag, TrustRequest,
};
use crate::files::Disk;
use crate::memory::Registry;
use crate::repl::plain_line;
use crate::term::Output;

/// What the command line says about configuration.
fn flags(args: &ChatArgs) -> Flags {
    Flags {
        memory_mode: args.mode.clone(),
        session: args.session.clone(),
        model: args.model.clone(),
        config_file: args.config_file.clone(),
        data_dir: args.data_dir.clone(),
        project: args.project.clone(),
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

/// The configuration of a chat. Where the folder is not trusted, the person is asked; where nobody can be asked, a
/// configuration that needs trust is an error, and rules and a data folder are left out with a notice.
pub(super) fn load(
    args: &ChatArgs,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    begin(args, Some, may_ask(args), disk, output)
}

/// Loads, settles what needs trust of what `wanted` leaves of it, and shows the warnings. An empty `./data` is the person's
/// own from the first run on that keeps something in it.
fn begin(
    args: &ChatArgs,
    wanted: fn(TrustRequest) -> Option<TrustRequest>,
    may_ask: MayAsk,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    let inputs = inputs(args)?;
    let Loaded { config, request } = config::load(&inputs, disk)?;
    let config = match request.and_then(wanted) {
        Some(request) => settle(config, request, may_ask, disk, output)?,
        None => config,
    };
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
    if !args.private
        && let Err(error) = config::claim_data_folder(&config, &inputs, disk)
    {
        output.warning(&format!("cannot mark ./data as yours: {error}"));
    }
    Ok((config, inputs))
}

/// The same for a subcommand, which sends no rules to a model.
pub(super) fn load_for_command(
    args: &ChatArgs,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    begin(
        args,
        TrustRequest::without_rules,
        MayAsk::OfConfiguration,
        disk,
        output,
    )
}

/// The configuration to act on, without asking anybody: one whose folder would have to be trusted first is an error.
pub(super) fn unasked(
    args: &ChatArgs,
    disk: &dyn Disk,
) -> Result<(Inputs, Result<Config, ConfigError>), CliError> {
    let inputs = inputs(args)?;
    let config = config::load(&inputs, disk).and_then(|Loaded { config, request }| {
        match request.as_ref().and_then(TrustRequest::refusal) {
            Some(refusal) => Err(refusal),
            None => Ok(config),
        }
    });
    Ok((inputs, config))
}

/// The configuration without what needs trust, for commands that show or change what is kept.
pub(super) fn look(
    args: &ChatArgs,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    let inputs = inputs(args)?;
    let Loaded { config, request } = config::load(&inputs, disk)?;
    if let Some(request) = request.and_then(TrustRequest::without_rules) {
        tell_unused(&request.demand, output);
    }
    Ok((config, inputs))
}

/// The configuration as it would be with trust, to be shown; nothing is contacted or opened because of it.
pub(super) fn show(args: &ChatArgs, disk: &dyn Disk) -> Result<Config, CliError> {
    let Loaded { config, request } = config::load(&inputs(args)?, disk)?;
    Ok(request.map_or(config, TrustRequest::unused))
}

/// What a person at the terminal can be asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MayAsk {
    /// A chat begins anyway.
    OfEverything,
    /// A single prompt or command is not held up for what it can do without.
    OfConfiguration,
}

fn may_ask(args: &ChatArgs) -> MayAsk {
    if args.prompt.is_some() || args.prompt_file.is_some() || args.lines {
        MayAsk::OfConfiguration
    } else {
        MayAsk::OfEverything
    }
}

/// Asks, or does without. `restricted` is the configuration without what needs trust.
fn settle(
    restricted: Config,
    request: TrustRequest,
    may_ask: MayAsk,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<Config, CliError> {
    let refusal = request.refusal();
    let asks = refusal.is_some() || may_ask == MayAsk::OfEverything;
    if !(asks && io::stdin().is_terminal()) {
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        tell_unused(&request.demand, output);
        return Ok(restricted);
    }
    for line in question(&request.demand) {
        output.question(&line);
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(request.remember(disk)?);
    }
    tell_unused(&request.demand, output);
    Ok(restricted)
}

/// One line with all that is left out.
fn tell_unused(demand: &Demand, output: &mut Output) {
    let configuration = demand.configuration.iter().map(|it| name_of(&it.file));
    let rules = demand.rules.iter().flat_map(|it| &it.files);
    let data = demand.data.iter().map(|_| "data/".to_owned());
    let names: Vec<String> = configuration
        .chain(rules.map(|file| name_of(file)))
        .chain(data)
        .collect();
    output.notice(&format!(
        "Not used, because this folder is not trusted: {} (--trust-folder uses it in this run)",
        names.join(", ")
    ));
}

/// The question, a line each: what the folder is, what it would get, and the answers.
fn question(demand: &Demand) -> Vec<String> {
    let folders: Vec<String> = demand.folders().into_iter().map(shown).collect();
    let folders = folders.join(" and ");
    let changed = demand
        .configuration
        .as_ref()
        .filter(|it| !it.before.is_empty());
    let mut lines = vec![if changed.is_some() {
        format!("{folders} has changed since you trusted it.")
    } else {
        format!("{folders} is not trusted yet. If you trust it:")
    }];
    if let Some(configuration) = &demand.configuration {
        let file = name_of(&configuration.file);
        lines.push(format!("  {file} sets"));
        lines.extend(difference(configuration));
    }
    if let Some(rules) = &demand.rules {
        let relative = |file: &PathBuf| shown(file.strip_prefix(&rules.folder).unwrap_or(file));
        let files: Vec<String> = rules.files.iter().map(relative).collect();
        lines.push(format!("  {} goes to the model as rules", files.join(", ")));
    }
    if let Some(data) = &demand.data {
        lines.push(format!(
            "  data/ keeps your sessions ({} in it already)",
            data.sessions
        ));
    }
    lines.push("Trust it? Without a yes, none of this is used. [y/N]".to_owned());
    lines
}

/// The keys, each with its value; after a change, what went and what came.
fn difference(configuration: &Configuration) -> Vec<String> {
    let Configuration { keys, before, .. } = configuration;
    let line = |sign: &str, key: &DemandedKey| {
        format!(
            "    {sign}{}: {}",
            plain_line(&key.key),
            plain_line(&key.value)
        )
    };
    if before.is_empty() {
        return keys.iter().map(|key| line("", key)).collect();
    }
    let went = before.iter().filter(|key| !keys.contains(key));
    let came = keys.iter().filter(|key| !before.contains(key));
    let lines: Vec<String> = went
        .map(|key| line("- ", key))
        .chain(came.map(|key| line("+ ", key)))
        .collect();
    if lines.is_empty() {
        // Secrets are masked, and the file may have moved.
        return keys.iter().map(|key| line("~ ", key)).collect();
    }
    lines
}

fn name_of(file: &Path) -> String {
    shown(Path::new(file.file_name().unwrap_or(file.as_os_str())))
}

fn shown(path: &Path) -> String {
    plain_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str, value: &str) -> DemandedKey {
        DemandedKey {
            key: key.to_owned(),
            value: value.to_owned(),
        }
    }

    #[test]
    fn a_changed_configuration_is_shown_by_its_difference_and_nothing_hides_in_it() {
        let blanks = " ".repeat(400);
        let after = [key("a", "1"), key("b", &format!("x{blanks}evil\u{200b}"))];
        let mut configuration = Configuration::new("/p", "/p/c.yaml", after.to_vec());
        let shown = difference(&configuration).join("\n");
        assert!(
            shown.contains("    a: 1\n    b: x [400 blanks] evil\\u{200b}"),
            "{shown}"
        );
        configuration.before = vec![key("a", "1"), key("c", "old")];
        let shown = difference(&configuration).join("\n");
        assert!(shown.starts_with("    - c: old\n    + b: x"), "{shown}");
        configuration.before = configuration.keys.clone();
        assert!(difference(&configuration)[0].starts_with("    ~ a: 1"));
    }
}
