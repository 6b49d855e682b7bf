//! What boards note of a report: the approach that was chosen is a decision, the others are rejected alternatives, its
//! steps a chain (C56, C70). Each says that it is from deep think.

use super::edit::Edit;
use super::note::{Kind, Note, Status};
use crate::chat::Message;
use crate::memory::report::{Ranked, Report, Verdict};

/// The changes that reports of a turn mean, in order; none of one that was ended before anything was weighed.
pub fn reported(messages: &[Message]) -> Vec<Edit> {
    Report::of(messages)
        .flat_map(|report| edits(&report))
        .collect()
}

fn edits(report: &Report) -> Vec<Edit> {
    let Some((chosen, others)) = report.ranked.split_first() else {
        return Vec::new();
    };
    if report.verdict == Verdict::BestSoFar {
        return Vec::new();
    }
    let rejected = others.iter().map(|other| {
        let note = Note {
            status: Some(Status::Rejected),
            ..weighed(other)
        };
        note.of(Kind::Alternative)
    });
    let decision = Note {
        instead_of: others.iter().map(|other| other.title.clone()).collect(),
        ..weighed(chosen)
    };
    let chain = report.steps.iter().map(|step| {
        let note = Note {
            label: Some(format!("Deep think #{}", report.number)),
            ..Note::new(step.as_str())
        };
        note.of(Kind::Chain)
    });
    // Decided last: what is rejected overrules what was decided before.
    let findings = rejected.chain([decision.of(Kind::Decision)]).chain(chain);
    findings.map(Edit::Note).collect()
}

fn weighed(approach: &Ranked) -> Note {
    let Ranked {
        title,
        score,
        reason,
    } = approach;
    let why = format!("deep think, {score:.1}/10: {reason}");
    Note {
        why: Some(why.trim_end_matches(": ").to_owned()),
        ..Note::new(title.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{MessageId, Role};
    use crate::memory::report::DEEP_THINK;
    use crate::memory::tracking::words;

    fn noted(verdict: Verdict) -> Vec<String> {
        let approach = |title: &str, reason: &str| Ranked {
            title: title.into(),
            score: 7.0,
            reason: reason.into(),
        };
        let report = Report {
            number: 3,
            task: "Which?".into(),
            ranked: vec![approach("A", "it fits"), approach("B", "")],
            steps: vec!["look".into()],
            verdict,
            rounds: 1,
            calls: 5,
            answer: "A.".into(),
        };
        let text = report.to_string();
        let mut message = Message::text(MessageId::numbered(2), Role::Assistant, text, None);
        message.speaker = Some(DEEP_THINK.into());
        let edits = reported(&[message]);
        let lines = edits.iter().map(|edit| match edit {
            Edit::Note(finding) => format!("{:?}: {}", finding.kind, words(&finding.note)),
            other => panic!("{other:?}"),
        });
        lines.collect()
    }

    #[test]
    fn the_chosen_is_decided_the_others_are_rejected_and_the_steps_a_chain() {
        let weighed = Verdict::Weighed {
            confidence: Some(8.0),
        };
        assert_eq!(
            noted(weighed),
            [
                "Alternative: B (rejected; because deep think, 7.0/10)",
                "Decision: A (because deep think, 7.0/10: it fits; rejected: B)",
                "Chain: Deep think #3: look",
            ]
        );
    }

    #[test]
    fn what_was_ended_early_decides_nothing() {
        assert_eq!(noted(Verdict::BestSoFar), Vec::<String>::new());
    }
}
