//! The course of thinking: which approaches there are, how they were weighed, when it is enough, what it comes to.
//! Pure: who asks the model tells it what came back.
//!
//! ```text
//!  branched -> developed -> weighed -> is it enough? -> branched ...
//!                                      report
//! ```
//! Invariant: what was worked out is never lost; `beam` and `best` are places in `worked`.

use super::read::{Approach, Weighing, Work};
use super::settings::ThinkSettings;
use crate::memory::report::{Ranked, Report, Verdict};

/// What an approach counts for that nobody scored.
const UNSCORED: f32 = 3.0;
/// So sure that another round is not worth it, from the second on.
const SURE: f32 = 9.5;
/// Approaches that a report names.
const MAX_NAMED: usize = 10;

/// An approach that was worked out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worked {
    pub(super) approach: Approach,
    pub(super) work: Work,
    score: Option<f32>,
    reason: String,
}

impl Worked {
    pub(super) fn score(&self) -> f32 {
        self.score.or(self.work.score).unwrap_or(UNSCORED)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Course {
    settings: ThinkSettings,
    round: usize,
    calls: usize,
    worked: Vec<Worked>,
    /// What is weighed next: those carried over, and those of this round.
    beam: Vec<usize>,
    best: Option<usize>,
    confidence: Option<f32>,
    stops: bool,
    answer: String,
}

impl Course {
    pub(super) fn new(settings: ThinkSettings) -> Self {
        Self {
            settings,
            round: 0,
            calls: 0,
            worked: Vec::new(),
            beam: Vec::new(),
            best: None,
            confidence: None,
            stops: false,
            answer: String::new(),
        }
    }

    /// The round that runs, from 1.
    pub(super) fn round(&self) -> usize {
        self.round
    }

    /// A call to the model is about to be made.
    pub(super) fn count(&mut self, calls: usize) {
        self.calls += calls;
    }

    pub(super) fn begin_round(&mut self) {
        self.round += 1;
    }

    /// The approaches to work out. Where none could be had, the first round has one all the same: the direct one.
    pub(super) fn branched(&self, read: Option<Vec<Approach>>) -> Vec<Approach> {
        let direct = || Approach {
            title: "Direct answer".to_owned(),
            idea: "Answer the task directly, step by step.".to_owned(),
        };
        match read {
            Some(approaches) => approaches,
            None if self.round <= 1 => vec![direct()],
            None => Vec::new(),
        }
    }

    pub(super) fn developed(&mut self, approach: Approach, work: Work) {
        self.beam.push(self.worked.len());
        self.worked.push(Worked {
            approach,
            work,
            score: None,
            reason: String::new(),
        });
    }

    /// What is to be weighed, in the order in which it is numbered.
    pub(super) fn candidates(&self) -> impl Iterator<Item = &Worked> {
        self.beam.iter().map(|place| &self.worked[*place])
    }

    pub(super) fn titles(&self) -> Vec<&str> {
        let titles = self.candidates().map(|it| it.approach.title.as_str());
        titles.collect()
    }

    /// Takes in how the candidates were weighed, if that could be read, and lets go of all but the best.
    pub(super) fn weighed(&mut self, read: Option<Weighing>) {
        if let Some(weighing) = read {
            for (place, score) in self.beam.iter().zip(weighing.scores) {
                if let Some((score, reason)) = score {
                    let worked = &mut self.worked[*place];
                    worked.score = Some(score);
                    worked.reason = reason;
                }
            }
            let named = weighing.best.and_then(|best| self.beam.get(best).copied());
            self.best = named.or_else(|| self.highest());
            self.confidence = weighing.confidence;
            self.stops = weighing.stops;
            // An answer of an earlier round may speak of another approach.
            self.answer = weighing.answer;
        }
        self.narrow();
    }

    fn narrow(&mut self) {
        let best = self.best;
        let worked = &self.worked;
        self.beam.sort_by(|a, b| {
            let by_score = worked[*b].score().total_cmp(&worked[*a].score());
            (Some(*b) == best).cmp(&(Some(*a) == best)).then(by_score)
        });
        self.beam.truncate(self.settings.beam_width);
    }

    fn highest(&self) -> Option<usize> {
        // Of equals the first: `max_by` would take the last.
        let places = (0..self.worked.len()).rev();
        places.max_by(|a, b| self.worked[*a].score().total_cmp(&self.worked[*b].score()))
    }

    pub(super) fn is_enough(&self) -> bool {
        let is_sure = self.confidence.is_some_and(|it| it >= SURE) && self.round >= 2;
        self.stops || is_sure || self.round >= self.settings.max_iterations
    }

    /// What it comes to; `None` where nothing was worked out.
    pub(super) fn report(&self, number: u32, task: &str) -> Option<Report> {
        let chosen = self.best.or_else(|| self.highest())?;
        let mut order: Vec<&Worked> = self.worked.iter().collect();
        order.sort_by(|a, b| b.score().total_cmp(&a.score()));
        let chosen_one = &self.worked[chosen];
        let mut ranked: Vec<Ranked> = vec![named(chosen_one)];
        for worked in order {
            let known = ranked
                .iter()
                .any(|it| it.title.eq_ignore_ascii_case(&worked.approach.title));
            if !known && ranked.len() < MAX_NAMED {
                ranked.push(named(worked));
            }
        }
        let texts = [
            &self.answer,
            &chosen_one.work.result,
            &chosen_one.approach.idea,
        ];
        let answer = texts.into_iter().find(|text| !text.trim().is_empty());
        let confidence = self.confidence;
        Some(Report {
            number,
            task: task.to_owned(),
            ranked,
            steps: chosen_one.work.steps.iter().take(8).cloned().collect(),
            verdict: match self.best {
                Some(_) => Verdict::Weighed { confidence },
                None => Verdict::BestSoFar,
            },
            rounds: self.round,
            calls: self.calls,
            answer: answer.cloned().unwrap_or_default(),
        })
    }
}

fn named(worked: &Worked) -> Ranked {
    let reason = if worked.reason.is_empty() {
        &worked.work.critique
    } else {
        &worked.reason
    };
    Ranked {
        title: worked.approach.title.clone(),
        score: worked.score(),
        reason: reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approach(title: &str) -> Approach {
        Approach {
            title: title.into(),
            idea: format!("{title}'s idea"),
        }
    }

    fn work(result: &str) -> Work {
        Work {
            result: result.into(),
            ..Work::default()
        }
    }

    /// A course that has worked out these in its first round.
    fn course(titles: &[&str]) -> Course {
        let mut course = Course::new(ThinkSettings::default());
        course.begin_round();
        for title in titles {
            course.developed(approach(title), work(title));
        }
        course
    }

    fn weighing(scores: &[Option<f32>], best: Option<usize>) -> Weighing {
        let scores = scores.iter();
        Weighing {
            scores: scores.map(|it| it.map(|it| (it, "why".into()))).collect(),
            best,
            ..Weighing::default()
        }
    }

    #[test]
    fn without_approaches_the_first_round_has_the_direct_one_and_a_later_one_none() {
        let mut course = course(&[]);
        assert_eq!(course.branched(None).len(), 1);
        course.begin_round();
        assert_eq!(course.branched(None), []);
    }

    #[test]
    fn it_ends_when_told_when_sure_from_the_second_round_and_at_the_limit() {
        for (round, stops, confidence, expected) in [
            (1, false, Some(10.0), false),
            (1, true, None, true),
            (2, false, Some(9.4), false),
            (2, false, Some(9.5), true),
            (2, false, None, false),
            (3, false, None, true),
        ] {
            let mut course = course(&["A"]);
            course.round = round;
            course.weighed(Some(Weighing {
                confidence,
                stops,
                ..weighing(&[None], None)
            }));
            assert_eq!(
                course.is_enough(),
                expected,
                "{round} {stops} {confidence:?}"
            );
        }
    }

    #[test]
    fn the_beam_carries_the_best_and_what_was_let_go_stays_in_the_report() {
        let mut course = course(&["A", "B", "C"]);
        course.weighed(Some(weighing(&[Some(5.0), None, Some(8.0)], Some(0))));
        assert_eq!(course.titles(), ["A", "C"], "the named one, then by score");
        course.begin_round();
        course.developed(approach("c"), work("again"));
        course.weighed(Some(weighing(&[Some(5.0), Some(8.0), Some(9.0)], None)));
        let report = course.report(1, "task").unwrap();
        let ranked: Vec<(&str, f32)> = report
            .ranked
            .iter()
            .map(|it| (it.title.as_str(), it.score))
            .collect();
        assert_eq!(ranked, [("c", 9.0), ("A", 5.0), ("B", 3.0)]);
        assert_eq!((report.answer.as_str(), report.rounds), ("again", 2));
    }

    #[test]
    fn what_was_never_weighed_is_the_best_so_far() {
        let mut course = course(&["A", "B"]);
        course.worked[1].work.score = Some(6.0);
        course.weighed(None);
        let report = course.report(1, "task").unwrap();
        assert_eq!(report.verdict, Verdict::BestSoFar);
        assert_eq!(report.ranked[0].title, "B");
        assert_eq!(Course::new(ThinkSettings::default()).report(1, "x"), None);
    }
}
