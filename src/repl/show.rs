//! A turn on the screen: its events as they come, and how it ended.

use crate::agent::{TurnError, TurnEvent, TurnReport, Warning};
use crate::hint::Hint;
use crate::term::Output;

/// Shows one event of a running turn.
pub fn event(output: &mut Output, event: TurnEvent) {
    match event {
        TurnEvent::Text(text) => output.reply_delta(&text),
        TurnEvent::Reasoning(text) => output.reasoning_delta(&text),
        TurnEvent::Retrying { why, after } => {
            output.notice(&format!(
                "{why}; trying again in {:.1} s",
                after.as_secs_f64()
            ));
        }
        TurnEvent::Warning(warning) => self::warning(output, &warning),
    }
}

/// Says what the person should know.
pub fn warning(output: &mut Output, warning: &Warning) {
    let text = warning.to_string();
    if warning.is_notice() {
        output.notice(&text);
    } else {
        output.warning(&text);
    }
}

/// Says that the person ended the reply, and what is left of it.
pub fn interrupted(output: &mut Output, report: &TurnReport) {
    let kept = if report.partial {
        "what arrived is kept, "
    } else {
        ""
    };
    output.notice(&format!("interrupted; {kept}`/retry` asks again"));
}

/// Says why there is no complete reply, and what to do.
pub fn failure(output: &mut Output, error: &TurnError) {
    let kept = if error.partial {
        " (what arrived is kept)"
    } else {
        ""
    };
    output.error(
        &format!("{}{kept}", error.failure),
        error.failure.hint().as_deref(),
    );
}
