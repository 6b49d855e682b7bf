//! Points in time, in UTC and whole seconds: what history files hold and prompts show.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

/// A moment in UTC, to the second (C33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Seconds since 1970; `None` outside the years chrono knows.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        DateTime::from_timestamp(seconds, 0).map(Self)
    }

    pub fn unix(self) -> i64 {
        self.0.timestamp()
    }

    /// Reads RFC 3339 with any offset and precision, and the bare `2026-02-14T15:23:05` that other
    /// programs write (taken as UTC). Anything else is "no time", never an error (C34).
    pub fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).map_or_else(
            |_| {
                text.parse::<chrono::NaiveDateTime>()
                    .map(|naive| naive.and_utc())
                    .ok()
            },
            |time| Some(time.to_utc()),
        )?;
        Self::from_unix(time.timestamp())
    }

    /// `2026-02-14T15:23:05Z`.
    pub fn iso(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Secs, true)
    }

    /// The same moment where the machine is: `2026-02-14T16:23:05+01:00`.
    pub fn local_iso(self) -> String {
        let local = self.0.with_timezone(&chrono::Local);
        local.to_rfc3339_opts(SecondsFormat::Secs, false)
    }

    /// `20260214T152305Z`: for file names.
    pub fn compact(self) -> String {
        self.0.format("%Y%m%dT%H%M%SZ").to_string()
    }

    /// `2026-02-14`.
    pub fn date(self) -> String {
        self.0.format("%Y-%m-%d").to_string()
    }

    /// `May`.
    pub fn month(self) -> String {
        self.0.format("%B").to_string()
    }

    /// `15:23`.
    pub fn time_of_day(self) -> String {
        self.0.format("%H:%M").to_string()
    }

    /// `[2026-02-14 15:23:05 UTC] `, as it stands in front of a message that a model reads (C32).
    pub fn stamp(self) -> String {
        // A turn stamps everything it sends, and patterns are slow.
        let (date, time) = (self.0.date_naive(), self.0.time());
        format!("[{date} {time} UTC] ")
    }

    /// How long ago `self` was at `now`, for people: `just now`, `5 min ago`, `3 days ago`.
    pub fn ago(self, now: Self) -> String {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        let seconds = (now.0 - self.0).num_seconds();
        let (count, unit) = match seconds {
            i64::MIN..MINUTE => return "just now".to_owned(),
            MINUTE..HOUR => return format!("{} min ago", seconds / MINUTE),
            HOUR..DAY => (seconds / HOUR, "hour"),
            DAY.. => (seconds / DAY, "day"),
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural} ago")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m-%d %H:%M UTC"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_files_hold_and_nothing_else() {
        let expected = Some("2026-02-14T15:23:05Z");
        for (text, expected) in [
            ("2026-02-14T15:23:05Z", expected),
            ("2026-02-14T16:23:05.123456+01:00", expected),
            ("2026-02-14T15:23:05", expected),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(
                Timestamp::parse(text).map(Timestamp::iso).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn the_stamp_is_in_brackets_and_in_utc() {
        let time = Timestamp::parse("2026-02-14T15:23:05Z").unwrap();
        assert_eq!(time.stamp(), "[2026-02-14 15:23:05 UTC] ");
    }

    #[test]
    fn ago_is_in_words() {
        let then = Timestamp::from_unix(1_000_000).unwrap();
        for (seconds, expected) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3_600, "1 hour ago"),
            (172_800, "2 days ago"),
        ] {
            let now = Timestamp::from_unix(1_000_000 + seconds).unwrap();
            assert_eq!(then.ago(now), expected);
        }
    }
}
