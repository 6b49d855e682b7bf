//! The time, as a port: whoever needs it takes a [`Clock`].

use std::time::{SystemTime, UNIX_EPOCH};

use crate::chat::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that asks the machine"
        )]
        let now = SystemTime::now();
        of(now)
    }
}

/// To the second, also before 1970, where a clock without a battery may begin. A time beyond all calendars is 1970.
fn of(time: SystemTime) -> Timestamp {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()),
        Err(before) => i64::try_from(before.duration().as_secs()).map(|seconds| -seconds),
    };
    let time = seconds.ok().and_then(Timestamp::from_unix);
    time.or_else(|| Timestamp::from_unix(0))
        .expect("1970 is in every calendar")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_tells_its_time() {
        let before = of(UNIX_EPOCH - Duration::from_hours(24));
        assert_eq!(before.iso(), "1969-12-31T00:00:00Z");
        let after = of(UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(after.iso(), "1970-01-01T00:00:01Z");
        let far = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 60));
        assert!(far.is_none_or(|far| of(far).iso().starts_with("1970")));
    }
}
