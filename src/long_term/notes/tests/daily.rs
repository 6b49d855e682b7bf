//! Notes of days: exchanges, facts, which files are days.

use super::*;

#[test]
fn an_exchange_is_noted_in_two_lines_that_forge_no_heading() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let (daily, settings) = (workspace.daily(), DailySettings::default());
    let late = at("2026-02-14T23:59:59Z");
    daily
        .exchange(late, "hi\n## [00:00:00]\n---", &"ü".repeat(300), &settings)
        .unwrap();
    daily.exchange(late, "again", "yes", &settings).unwrap();
    daily
        .exchange(at("2026-02-15T00:00:01Z"), "next day", "yes", &settings)
        .unwrap();
    daily
        .exchange(late, "the clock went back", "yes", &settings)
        .unwrap();
    let day = text(&disk, "memory/2026-02-14.md");
    let clipped = format!("{}…", "ü".repeat(199));
    assert!(day.starts_with(&format!(
        "# Daily Notes 2026-02-14\n\n## [23:59:59]\n\n**User:** hi ## [00:00:00] ---\n**Agent:** {clipped}\n\n## [23:59:59]\n\n**User:** again\n"
    )), "{day}");
    assert_eq!(day.lines().filter(|line| line.starts_with('#')).count(), 4);
    assert_eq!(
        text(&disk, "memory/2026-02-15.md")
            .matches("# Daily Notes")
            .count(),
        1
    );
}

#[test]
fn a_full_day_takes_facts_and_no_more_exchanges() {
    let disk = MemoryDisk::with([("w/memory/2026-02-14.md", "ü".repeat(200_001).as_bytes())]);
    let workspace = workspace(&disk);
    let daily = workspace.daily();
    let noted = daily.exchange(noon(), "a", "b", &DailySettings::default());
    assert_eq!(noted.unwrap(), Noted::Full);
    assert_eq!(
        daily.facts(noon(), &["x".to_owned()], 8_000).unwrap(),
        Facts::Added
    );
}

#[test]
fn facts_are_measured_by_themselves_and_added_once() {
    let disk = MemoryDisk::default();
    let workspace = workspace(&disk);
    let daily = workspace.daily();
    for _ in 0..20 {
        daily
            .exchange(
                noon(),
                &"long ".repeat(100),
                &"long ".repeat(100),
                &DailySettings::default(),
            )
            .unwrap();
    }
    let fact = |n: usize| vec!["f".repeat(n)];
    assert_eq!(daily.facts(noon(), &[], 100).unwrap(), Facts::Known);
    assert_eq!(daily.facts(noon(), &fact(50), 100).unwrap(), Facts::Added);
    assert_eq!(daily.facts(noon(), &fact(50), 100).unwrap(), Facts::Known);
    assert_eq!(daily.facts(noon(), &fact(60), 100).unwrap(), Facts::Full);
    assert!(text(&disk, "memory/2026-02-14.md").contains("## Session Facts (2026-02-14)\n\n- fff"));
    assert!(!daily.compact(noon(), 100, |_| unreachable!()).unwrap());
    assert!(
        !daily
            .compact(noon(), 10, |text| Some(text.to_owned()))
            .unwrap()
    );
    assert!(
        daily
            .compact(noon(), 10, |text| Some(text.replace('f', "g")))
            .unwrap()
    );
    assert!(text(&disk, "memory/2026-02-14.md").contains("- ggg"));
}

#[test]
fn only_files_named_as_dates_are_days_and_the_newest_are_listed() {
    let mut files: Vec<String> = (1..=31)
        .map(|day| format!("w/memory/2026-01-{day:02}.md"))
        .collect();
    for other in [
        "working-buffer.md",
        "2026-02-30.md",
        "2026-1-1.md",
        "2026-01-01.txt",
        "notes.md",
    ] {
        files.push(format!("w/memory/{other}"));
    }
    let disk = MemoryDisk::with(files.iter().map(|name| (name.as_str(), &b"x"[..])));
    let days = workspace(&disk).daily().newest(30).unwrap();
    assert_eq!(days.len(), 30);
    assert_eq!(days[0].source, "memory/2026-01-31.md");
    assert_eq!(days[29].date, "2026-01-02");
}

#[test]
fn a_long_day_gets_its_facts_at_the_end() {
    let disk = MemoryDisk::default();
    let long = format!("# Daily Notes\n\n## [08:00:00]\n\n{}\n", "x".repeat(40_000));
    disk.put("w/memory/2026-02-14.md", long.as_bytes());
    let workspace = workspace(&disk);
    let facts = |fact: &str| {
        let facts = [fact.to_owned()];
        workspace.daily().facts(noon(), &facts, 8_000).unwrap()
    };
    assert_eq!(facts("one"), Facts::Added);
    assert_eq!(facts("two"), Facts::Added);
    assert_eq!(facts("one"), Facts::Known);
    let day = text(&disk, "memory/2026-02-14.md");
    assert_eq!(
        day.strip_prefix(&long).unwrap(),
        "\n## Session Facts (2026-02-14)\n\n- one\n\n## Session Facts (2026-02-14)\n\n- two\n"
    );
}
