//! The tools of a run: which there are, where they work, what they may do unasked.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::ChatArgs;
use super::parts::has_memories;
use super::report::CliError;
use crate::agent::{Approver, Files, Limits, Toolbox};
use crate::config::{Config, Inputs, config_paths};
use crate::context::{self, ResultPolicy};
use crate::files::Disk;
use crate::hint::{advised, chain};
use crate::long_term::notes::Workspace;
use crate::store::Outputs;
use crate::term::Output;
use crate::tools::fetch::FetchUrl;
use crate::tools::files::{
    Changes, EditFile, ListDirectory, Project, ReadFile, SearchFiles, WriteFile,
};
use crate::tools::mcp::Servers;
use crate::tools::policy::{Asking, EachTime, Stance, Writing};
use crate::tools::shell::{PersonalGit, Place, Sandbox, Shell, this_program};
use crate::tools::{
    Approvals, CurrentTime, DeepThink, HistorySearch, Memories, Memorize, MemorySearch, MemoryTool,
    PinContext, Registry, RequestTools, ScratchpadRead, ScratchpadWrite, Selection, Tool, Track,
    Typed, tool,
};

/// The folder that tools work in: `--project`, else where the program was started.
pub(super) fn project(args: &ChatArgs, inputs: &Inputs) -> Result<PathBuf, CliError> {
    let Some(folder) = &args.project else {
        return Ok(inputs.working_dir.clone());
    };
    let cannot = |why: io::Error| CliError::Usage {
        problem: format!("cannot work in {}: {}", folder.display(), chain(&why)),
        hint: "choose a folder that exists with --project",
    };
    let found = inputs.working_dir.join(folder);
    let found = found.canonicalize().map_err(cannot)?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(cannot(io::ErrorKind::NotADirectory.into()))
    }
}

/// Where tools work.
#[derive(Clone, Copy)]
pub(super) struct Folders<'a> {
    pub(super) project: &'a Path,
    pub(super) workspace: &'a Workspace,
}

pub(super) fn toolbox(
    args: &ChatArgs,
    config: &Config,
    inputs: &Inputs,
    folders: Folders<'_>,
    disk: Arc<dyn Disk>,
    approver: Arc<dyn Approver>,
    output: &mut Output,
) -> Result<Toolbox, CliError> {
    let Folders { project, workspace } = folders;
    let settings = &config.settings.tools;
    let open = Project::open(project).map_err(|source| CliError::File {
        action: "work in",
        path: project.to_owned(),
        source,
    })?;
    let shell = shell(args, config, inputs, project)?;
    let keys = shell.hidden().into_iter();
    // Who works in a folder of keys means it to be read.
    let keys = keys.filter(|keys| keys != project && keys.starts_with(project));
    let closed: Vec<_> = own(config, inputs).into_iter().chain(keys).collect();
    let git = PersonalGit::new(inputs.folders.home.clone(), &inputs.environment.0);
    let open = open.keeping(&closed).with_git(git);
    let outputs = Outputs::new(config.settings.data_dir.clone(), Arc::clone(&disk));
    let changes = Changes::new(config.settings.data_dir.join("changes"), Arc::clone(&disk));
    let (open, changes) = (Arc::new(open), Arc::new(changes));
    let context = &config.settings.context;
    let mut tools = built_in(&open, &changes, page_chars(context));
    tools.extend(memories(args, config, workspace));
    tools.push(tool(FetchUrl::new(&settings.fetch)));
    tools.push(tool(shell));
    let registry = Registry::new(tools, settings.preset.clone());
    let mut toolbox = Toolbox::new(registry, approver);
    toolbox.files = Some(Files {
        project: open,
        changes,
        outputs: Some(Arc::new(outputs)),
    });
    toolbox.stance = stance(args, settings.confirm, config.is_project);
    // Without tools there are no commands.
    if settings.preset != Selection::None
        && settings.shell.sandbox != Sandbox::Off
        && let Some(warning) = toolbox.confine_commands(program()?, running(inputs))
    {
        output.warning(&warning);
    }
    toolbox.limits = Limits {
        max_steps: settings.max_steps,
        ..Limits::default()
    }
    .with(context);
    if let Some(state) = &inputs.folders.state {
        let older = config.settings.data_dir.join("approvals");
        let approvals = Approvals::new(disk, &state.join("approvals"), project);
        if let Err(error) = toolbox.remember_in(approvals.with_denials_of(&older)) {
            output.warning(&advised(&error));
        }
    }
    Ok(toolbox)
}

/// The model's own files, where it is to have any.
fn memories(args: &ChatArgs, config: &Config, workspace: &Workspace) -> Option<Arc<dyn Tool>> {
    has_memories(args, config).then(|| tool(Memories::new(workspace.clone())))
}

/// What runs commands.
pub(super) fn shell(
    args: &ChatArgs,
    config: &Config,
    inputs: &Inputs,
    project: &Path,
) -> Result<Shell, CliError> {
    let place = place(args, config, inputs, project)?;
    Ok(Shell::new(config.settings.tools.shell.clone(), place))
}

fn program() -> Result<PathBuf, CliError> {
    this_program().map_err(|source| CliError::Runtime { source })
}

/// Where commands run, and what they may never write to. A private run keeps no copy of what is put back.
fn place(
    args: &ChatArgs,
    config: &Config,
    inputs: &Inputs,
    project: &Path,
) -> Result<Place, CliError> {
    Ok(Place {
        program: program()?,
        project: project.to_owned(),
        is_trusted: config.is_project && config.is_trusted,
        home: inputs.folders.home.clone(),
        kept: own_folders(config, inputs),
        config_files: config_files(config, inputs),
        aside: (!args.private).then(|| config.settings.data_dir.join("put-back")),
        running: running(inputs),
        environment: inputs.environment.0.clone(),
    })
}

/// Where commands of all sessions know of each other.
pub(super) fn running(inputs: &Inputs) -> Option<PathBuf> {
    let state = inputs.folders.state.as_ref();
    state.map(|state| state.join("running"))
}

/// What no tool for files may see or change: sessions, approvals, keys, configuration.
fn own(config: &Config, inputs: &Inputs) -> Vec<PathBuf> {
    let mut own = own_folders(config, inputs);
    own.extend(config_files(config, inputs));
    own
}

/// The configuration of this run, and every path at which one is found when cogtrix is started here again.
fn config_files(config: &Config, inputs: &Inputs) -> Vec<PathBuf> {
    let files = config.files().into_iter();
    let files = files.map(|file| inputs.working_dir.join(file));
    let starts = [inputs.working_dir.clone(), inputs.project()];
    let found_later = starts
        .iter()
        .flat_map(|folder| config_paths(folder, &inputs.folders));
    files.chain(found_later).collect()
}

/// Folders that no command may read or change. A file is none of them: beside one no command could make another.
fn own_folders(config: &Config, inputs: &Inputs) -> Vec<PathBuf> {
    let platform = [
        &inputs.folders.data,
        &inputs.folders.config,
        &inputs.folders.state,
    ];
    let platform = platform.into_iter().flatten().cloned();
    let settings = &config.settings;
    // Who works in their workspace means it to be changed.
    let workspace = Some(&settings.workspace).filter(|it| !inputs.project().starts_with(it));
    platform
        .chain([settings.data_dir.clone()])
        .chain(workspace.cloned())
        .collect()
}

/// How calls are judged in this run. A `-y` on this command line is a person's word for a folder that is no project;
/// `confirm: false` of a config file is not.
fn stance(args: &ChatArgs, confirm: bool, is_project: bool) -> Stance {
    Stance {
        each_time: if is_project || args.no_confirm {
            EachTime::Nothing
        } else {
            EachTime::Everything
        },
        asking: if confirm {
            Asking::WhenNeeded
        } else {
            Asking::Never
        },
        writing: if args.read_only {
            Writing::Refused
        } else {
            Writing::Possible
        },
    }
}

/// Characters that a tool may fill with a page; where no result is cut, the tools' own limits are enough.
fn page_chars(context: &context::Settings) -> usize {
    match context.tool_result_policy {
        ResultPolicy::None => usize::MAX,
        ResultPolicy::Smart | ResultPolicy::Ratio => context.result_chars(),
    }
}

fn built_in(
    project: &Arc<Project>,
    changes: &Arc<Changes>,
    page_chars: usize,
) -> Vec<Arc<dyn Tool>> {
    let files = || Arc::clone(project);
    let copies = || Arc::clone(changes);
    vec![
        tool(CurrentTime),
        tool(DeepThink),
        tool(EditFile::new(files(), copies())),
        tool(ListDirectory::new(files())),
        tool(ReadFile::new(files(), page_chars)),
        tool(SearchFiles::new(files(), page_chars)),
        tool(WriteFile::new(files(), copies())),
        tool(HistorySearch),
        tool(Memorize),
        tool(MemorySearch),
        tool(MemoryTool),
        tool(PinContext),
        tool(RequestTools),
        tool(ScratchpadRead),
        tool(ScratchpadWrite),
        tool(Track),
    ]
}

/// A tool that was asked for by name and is not there is a slip that should not go unseen; what servers have is not
/// known yet.
pub(super) fn check_names(
    args: &ChatArgs,
    registry: &Registry,
    servers: Option<&dyn Servers>,
) -> Result<(), CliError> {
    let Selection::Listed(names) = registry.selection() else {
        return Ok(());
    };
    // What a private run goes without is no slip of whoever listed it for all runs.
    let is_withheld = |name: &str| args.private && name == Memories::NAME;
    let is_known = |name: &&String| {
        is_withheld(name)
            || registry.get(name).is_some()
            || servers.is_some_and(|servers| servers.expects(name))
    };
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => Err(CliError::UnknownTool {
            name: unknown.clone(),
            near: registry.nearest(unknown).map(str::to_owned),
            known: registry.names().map(str::to_owned).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn a_yes_of_the_command_line_counts_where_every_call_is_asked_and_one_of_a_file_does_not() {
        for (line, confirm, expected) in [
            ("cogtrix -y", false, EachTime::Nothing),
            ("cogtrix", false, EachTime::Everything),
            ("cogtrix", true, EachTime::Everything),
        ] {
            let args = Args::parse_from(line.split(' ')).chat;
            let found = stance(&args, confirm, false);
            assert_eq!(found.each_time, expected, "{line} {confirm}");
            let found = stance(&args, confirm, true);
            assert_eq!(found.each_time, EachTime::Nothing, "{line} {confirm}");
        }
    }
}
