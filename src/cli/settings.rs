//! `cogtrix config show` and `cogtrix config check`.

use super::args::{ChatArgs, ConfigCommand};
use super::report::{CliError, Exit};
use super::trust;
use crate::files::LocalDisk;
use crate::term::{Align, Output, Table};

pub(super) fn run(
    command: ConfigCommand,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<Exit, CliError> {
    let config = trust::show(args, &LocalDisk)?;
    for warning in &config.warnings {
        output.warning(&warning.to_string());
    }
    match command {
        ConfigCommand::Show => {
            let mut table = Table::new([Align::Left, Align::Left, Align::Left]);
            for entry in config.entries() {
                table.row([entry.key, entry.value, format!("# {}", entry.source)]);
            }
            output.answer(table.render(usize::MAX).trim_end());
        }
        ConfigCommand::Check => {
            let file = config.file.as_ref().map_or_else(
                || "no config file; defaults".to_owned(),
                |path| path.display().to_string(),
            );
            output.answer(&format!("{file}: ok"));
        }
    }
    Ok(Exit::Ok)
}
