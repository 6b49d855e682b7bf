//! cogtrix: a terminal chat agent whose memory is the point.

use std::process::ExitCode;

fn main() -> ExitCode {
    cogtrix::cli::main()
}
