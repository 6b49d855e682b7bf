//! The environment, read once.

use crate::provider::Environment;

/// Every variable as it is now. What is not UTF-8 has replacement characters, so that it is refused where
/// it is used and not taken for unset.
pub fn environment() -> Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    let variables = std::env::vars_os();
    Environment(
        variables
            .map(|(name, value)| {
                let text = |os: std::ffi::OsString| os.to_string_lossy().into_owned();
                (text(name), text(value))
            })
            .collect(),
    )
}
