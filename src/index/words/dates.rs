//! The time a question speaks of: months, years, days of a month, as spans of seconds.
//!
//! Days are those of UTC. What the words of months are comes from the lists.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime};

use super::exact::{Word, words};
use super::lists::Lists;

/// How far from the day named a message may be to count in full.
const NEAR: Days = Days::new(3);
/// What a message of the right month counts when the day is wrong.
const SAME_MONTH: f32 = 0.5;
/// Messages of other years have a wrong clock.
const YEARS: RangeInclusive<i32> = 1900..=2199;
/// So many years back a date without one may lie, and so many dates of a question count: each costs a look at every
/// message.
const LAST_YEARS: usize = 16;
const MAX_DATES: usize = 4;

/// A date as far as a question gives it: a month at least, or a year alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Date {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
}

/// Seconds since 1970, and what a message from then counts.
pub(super) type Span = (Range<i64>, f32);

/// The dates in a question.
pub(super) fn dates(lists: &Lists, question: &str) -> Vec<Date> {
    let words = words(question);
    let mut found = Vec::new();
    let mut taken = vec![false; words.len()];
    for at in 0..words.len() {
        if let Some(month) = month(lists, words[at]) {
            found.push(around(&words, &mut taken, at, month));
        } else if let Some(date) = iso(question, &words[at..]) {
            taken[at..at + 2].fill(true);
            found.push(date);
        }
    }
    for (word, _) in words.iter().zip(taken).filter(|(_, taken)| !taken) {
        if let Some(year) = year(*word) {
            found.push(Date {
                year: Some(year),
                ..Date::default()
            });
        }
    }
    found
}

/// A month with the day before or after it, and the year after that.
fn around(words: &[Word<'_>], taken: &mut [bool], at: usize, month: u32) -> Date {
    let numbered = |at: Option<usize>| at.and_then(|at| words.get(at)).copied();
    let is_of = |word: &Word<'_>| matches!(word.text, "of" | "the");
    let before = match numbered(at.checked_sub(1)) {
        Some(word) if is_of(&word) => numbered(at.checked_sub(2)),
        other => other,
    };
    let mut next = at + 1;
    if numbered(Some(next)).is_some_and(|word| is_of(&word)) {
        next += 1;
    }
    let mut date = Date {
        month: Some(month),
        day: before.and_then(day),
        year: None,
    };
    if date.day.is_none()
        && let Some(number) = numbered(Some(next)).and_then(day)
    {
        date.day = Some(number);
        next += 1;
    }
    date.year = numbered(Some(next)).and_then(year);
    if date.year.is_some() {
        taken[next] = true;
    }
    date
}

/// `2023-05-08` or `2023-05`.
fn iso(question: &str, words: &[Word<'_>]) -> Option<Date> {
    let [first, second, rest @ ..] = words else {
        return None;
    };
    let dashed = |a: &Word<'_>, b: &Word<'_>| &question[a.range().end..b.at] == "-";
    let month = second
        .text
        .parse()
        .ok()
        .filter(|month| (1..=12).contains(month));
    if second.text.len() != 2 || !dashed(first, second) {
        return None;
    }
    Some(Date {
        year: Some(year(*first)?),
        month: Some(month?),
        day: rest
            .first()
            .filter(|word| dashed(second, word))
            .copied()
            .and_then(day),
    })
}

fn month(lists: &Lists, word: Word<'_>) -> Option<u32> {
    let lower = word.stem().to_lowercase();
    if !word.is_capital() && lists.capital_months.contains(&lower) {
        return None;
    }
    let at = lists
        .months
        .iter()
        .position(|names| names.contains(&lower))?;
    u32::try_from(at + 1).ok()
}

fn day(word: Word<'_>) -> Option<u32> {
    let number = word.number().filter(|number| (1..=31).contains(number))?;
    u32::try_from(number).ok()
}

fn year(word: Word<'_>) -> Option<i32> {
    let is_year = word.text.len() == 4 && (1900..=2099).contains(&word.number()?);
    is_year.then(|| word.number()).flatten()
}

/// The year of a time, if messages of that year are looked for.
pub(super) fn year_of(at: i64) -> Option<i32> {
    let year = DateTime::from_timestamp(at, 0)?.year();
    YEARS.contains(&year).then_some(year)
}

/// The spans of the dates; those without a year in each of the last of these years.
pub(super) fn spans(dates: &[Date], years: &BTreeSet<i32>) -> Vec<Span> {
    let in_years = |date: &Date| match date.year {
        Some(year) => vec![year],
        None => years.iter().rev().take(LAST_YEARS).copied().collect(),
    };
    dates
        .iter()
        .take(MAX_DATES)
        .flat_map(|date| {
            in_years(date)
                .into_iter()
                .flat_map(|year| of_year(*date, year))
        })
        .collect()
}

fn of_year(date: Date, year: i32) -> Vec<Span> {
    let first = NaiveDate::from_ymd_opt(year, date.month.unwrap_or(1), 1);
    let length = Months::new(if date.month.is_some() { 1 } else { 12 });
    let whole = first.and_then(|first| Some(first..first.checked_add_months(length)?));
    let near = date
        .day
        .and_then(|day| NaiveDate::from_ymd_opt(year, date.month?, day))
        .and_then(|day| Some(day - NEAR..day.checked_add_days(NEAR)?.succ_opt()?));
    let whole_counts = if date.day.is_some() { SAME_MONTH } else { 1.0 };
    [
        near.map(|near| (near, 1.0)),
        whole.map(|whole| (whole, whole_counts)),
    ]
    .into_iter()
    .flatten()
    .map(|(days, counts)| (seconds(days.start)..seconds(days.end), counts))
    .collect()
}

fn seconds(day: NaiveDate) -> i64 {
    day.and_time(NaiveTime::MIN).and_utc().timestamp()
}

/// What a message of this time counts.
pub(super) fn value(spans: &[Span], at: i64) -> f32 {
    spans
        .iter()
        .filter(|(span, _)| span.contains(&at))
        .map(|(_, counts)| *counts)
        .fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Year, month and day, 0 where there is none.
    type Read = (i32, u32, u32);

    fn read(question: &str) -> Vec<Read> {
        dates(&Lists::embedded(), question)
            .iter()
            .map(|date| {
                (
                    date.year.unwrap_or(0),
                    date.month.unwrap_or(0),
                    date.day.unwrap_or(0),
                )
            })
            .collect()
    }

    #[test]
    fn the_dates_of_a_question_are_read() {
        let rows: [(&str, &[Read]); 12] = [
            ("What happened in May 2023?", &[(2023, 5, 0)]),
            ("on 5 July, 2023", &[(2023, 7, 5)]),
            ("on the 5th of July", &[(0, 7, 5)]),
            ("July the 3rd", &[(0, 7, 3)]),
            ("July 22nd, 2022 or june", &[(2022, 7, 22), (0, 6, 0)]),
            ("in 2022", &[(2022, 0, 0)]),
            ("may I?", &[]),
            ("on 2023-05-08?", &[(2023, 5, 8)]),
            ("in 2023-05?", &[(2023, 5, 0)]),
            ("2023-99-08", &[(2023, 0, 0)]),
            ("12345 and 0005 and 3th", &[]),
            ("", &[]),
        ];
        for (question, expected) in rows {
            assert_eq!(read(question), expected, "{question}");
        }
    }

    #[test]
    fn a_message_counts_by_how_near_it_is() {
        let at = |text: &str| seconds(text.parse().unwrap());
        let lists = Lists::embedded();
        let years = BTreeSet::from([2022, 2023, 2024]);
        let value = |question, day: &str| {
            let spans = spans(&dates(&lists, question), &years);
            value(&spans, at(day)).to_bits()
        };
        let rows = [
            ("in May", "2023-05-31", 1.0),
            ("in May", "2023-06-01", 0.0),
            ("in May 2022", "2023-05-31", 0.0),
            ("5 May", "2023-05-08", 1.0),
            ("5 May", "2023-05-09", 0.5),
            ("1 May 2023", "2023-04-28", 1.0),
            ("in 2023", "2023-12-31", 1.0),
            ("31 February", "2023-02-05", 0.5),
        ];
        for (question, day, expected) in rows {
            assert_eq!(
                value(question, day),
                f32::to_bits(expected),
                "{question} {day}"
            );
        }
    }

    #[test]
    fn many_dates_and_many_years_make_few_spans() {
        let lists = Lists::embedded();
        let years = [i64::MIN, 0, i64::MAX].into_iter().filter_map(year_of);
        assert_eq!(years.collect::<Vec<_>>(), [1970]);
        let spans = spans(
            &dates(&lists, &"5 May ".repeat(1000)),
            &(1900..2199).collect(),
        );
        assert_eq!(spans.len(), 2 * LAST_YEARS * MAX_DATES);
    }
}
