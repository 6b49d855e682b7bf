use proptest::prelude::*;

use super::*;

fn board() -> Board {
    let kinds = [
        (Kind::Task, None),
        (Kind::File, Some(3)),
        (Kind::Error, Some(2)),
        (Kind::Constraint, None),
        (Kind::Decision, Some(2)),
        (Kind::Change, Some(0)),
    ];
    Board::new(&kinds)
}

fn note(board: &mut Board, kind: Kind, text: &str, by: By) -> Noted {
    let (label, text) = match text.split_once(": ") {
        Some((label, text)) if kind == Kind::Constraint => (Some(label.to_owned()), text),
        _ => (None, text),
    };
    let note = Note {
        label,
        ..Note::new(text)
    };
    board.note(note.of(kind), by, None)
}

fn texts(board: &Board, kind: Kind) -> Vec<&str> {
    let section = board.section(kind).unwrap();
    let entries = section.entries().iter();
    entries.map(|entry| entry.note.text.as_str()).collect()
}

#[test]
fn the_least_recently_mentioned_leaves_and_a_mention_refreshes() {
    let mut board = board();
    for file in ["a.rs", "b.rs", "c.rs", "a.rs", "d.rs"] {
        note(&mut board, Kind::File, file, By::Heuristic);
    }
    assert_eq!(texts(&board, Kind::File), ["c.rs", "a.rs", "d.rs"]);
}

#[test]
fn a_path_from_the_root_and_one_from_the_project_are_one_file() {
    let mut board = board();
    for file in [
        "src/a.rs",
        "/home/ana/work/src/a.rs",
        "lib/src/a.rs",
        "a.rs",
    ] {
        note(&mut board, Kind::File, file, By::Heuristic);
    }
    let expected = ["/home/ana/work/src/a.rs", "lib/src/a.rs", "a.rs"];
    assert_eq!(texts(&board, Kind::File), expected);
}

#[test]
fn an_error_leaves_when_it_is_fixed_and_all_when_they_are_gone() {
    let mut board = Board::new(&[(Kind::Error, None), (Kind::Progress, None)]);
    let error = |text: &str| Note::new(text).of(Kind::Error);
    let turn = |board: &mut Board, findings| {
        let next = TurnId(u32::try_from(board.turn()).unwrap());
        board.observe(next, findings, None);
    };
    let first = vec![
        error("KeyError: 'id'"),
        error("error: x"),
        error("app.TypeError: no"),
    ];
    turn(&mut board, first);
    let gone = |text: &str| Note {
        status: Some(Status::Completed),
        ..Note::new(text)
    };
    let fixed = gone("the key error").of(Kind::Error);
    turn(&mut board, vec![fixed, error("KeyError: 'name'")]);
    let left = ["error: x", "app.TypeError: no", "KeyError: 'name'"];
    assert_eq!(texts(&board, Kind::Error), left);
    turn(
        &mut board,
        vec![gone("the errors").of(Kind::Error), error("IndexError: 3")],
    );
    assert_eq!(texts(&board, Kind::Error), ["IndexError: 3"]);
}

#[test]
fn the_same_error_in_another_run_is_the_same_error_and_moves_to_the_newest() {
    let mut board = board();
    for error in ["no page at 0x7ffa12", "status 404", "No page at 0x7ffb00"] {
        note(&mut board, Kind::Error, error, By::Heuristic);
    }
    assert_eq!(
        texts(&board, Kind::Error),
        ["status 404", "No page at 0x7ffb00"]
    );
    note(&mut board, Kind::Error, "status 500", By::Heuristic);
    assert_eq!(
        texts(&board, Kind::Error),
        ["No page at 0x7ffb00", "status 500"]
    );
}

#[test]
fn numbers_go_on_when_the_oldest_has_left() {
    let mut board = board();
    let noted: Vec<Noted> = ["x", "y", "z"]
        .map(|text| note(&mut board, Kind::Decision, text, By::Heuristic))
        .into();
    assert_eq!(noted, [1, 2, 3].map(Noted::Added));
    assert_eq!(texts(&board, Kind::Decision), ["y", "z"]);
}

#[test]
fn a_decision_for_what_is_rejected_later_is_overruled_unless_set_by_hand() {
    let mut board = Board::new(&[(Kind::Decision, None), (Kind::Alternative, None)]);
    note(&mut board, Kind::Decision, "use MySQL", By::Heuristic);
    note(&mut board, Kind::Decision, "tabs", By::Person);
    for rejected in ["MySQL", "tabs", "SQL"] {
        let rejected = Note {
            status: Some(Status::Rejected),
            ..Note::new(rejected)
        };
        board.note(rejected.of(Kind::Alternative), By::Heuristic, None);
    }
    let block = board.block(
        "{{decisions}}",
        crate::memory::tracking::Freshness::Always,
        None,
    );
    assert_eq!(block.as_deref(), Some("#2 tabs"));
    assert_eq!(texts(&board, Kind::Decision), ["use MySQL", "tabs"], "kept");
}

#[test]
fn the_same_label_replaces() {
    let mut board = board();
    for text in ["Budget: $50k", "Team: 3 people", "budget: $60k"] {
        note(&mut board, Kind::Constraint, text, By::Heuristic);
    }
    assert_eq!(texts(&board, Kind::Constraint), ["$60k", "3 people"]);
}

#[test]
fn what_a_person_set_no_heuristic_changes_or_brings_back() {
    let mut board = board();
    note(&mut board, Kind::Task, "Ship it", By::Person);
    note(&mut board, Kind::Constraint, "Budget: $50k", By::Person);
    for (kind, text) in [(Kind::Task, "Fix x"), (Kind::Constraint, "Budget: $1")] {
        let noted = note(&mut board, kind, text, By::Heuristic);
        assert_eq!(noted, Noted::Ignored(Why::ByHand), "{text}");
    }
    assert_eq!(texts(&board, Kind::Task), ["Ship it"]);
    assert_eq!(texts(&board, Kind::Constraint), ["$50k"]);

    note(&mut board, Kind::File, "wrong.rs", By::Heuristic);
    board.drop(Kind::File, 1, None).unwrap();
    let again = note(&mut board, Kind::File, "wrong.rs", By::Heuristic);
    assert_eq!(again, Noted::Ignored(Why::ByHand));
    let by_hand = note(&mut board, Kind::File, "wrong.rs", By::Person);
    assert_eq!(by_hand, Noted::Added(2));
}

#[test]
fn entries_set_by_hand_leave_last() {
    let mut board = board();
    note(&mut board, Kind::File, "mine.rs", By::Person);
    for file in ["a.rs", "b.rs", "c.rs"] {
        note(&mut board, Kind::File, file, By::Heuristic);
    }
    assert_eq!(texts(&board, Kind::File), ["mine.rs", "b.rs", "c.rs"]);
    for decision in ["mine", "mine too"] {
        note(&mut board, Kind::Decision, decision, By::Person);
    }
    let guess = note(&mut board, Kind::Decision, "a guess", By::Heuristic);
    assert_eq!(guess, Noted::Ignored(Why::ByHand));
    note(&mut board, Kind::Decision, "mine three", By::Person);
    assert_eq!(texts(&board, Kind::Decision), ["mine too", "mine three"]);
}

#[test]
fn a_cap_of_nothing_switches_a_section_off() {
    let mut board = board();
    let noted = note(&mut board, Kind::Change, "a.rs", By::Person);
    assert_eq!(noted, Noted::Ignored(Why::Off));
    let foreign = note(&mut board, Kind::Topic, "cats", By::Person);
    assert_eq!(foreign, Noted::Ignored(Why::Foreign));
}

#[test]
fn read_again_without_its_last_turn_a_board_is_what_it_was_before_it() {
    let turns = [
        vec![
            (Kind::File, "a.rs"),
            (Kind::Constraint, "Budget: 50"),
            (Kind::Task, "one"),
        ],
        vec![(Kind::File, "b.rs"), (Kind::Decision, "tabs")],
        vec![
            (Kind::File, "a.rs"),
            (Kind::Constraint, "Budget: 60"),
            (Kind::Task, "two"),
            (Kind::File, "c.rs"),
        ],
    ];
    let read = |board: &mut Board, turns: &[Vec<(Kind, &str)>]| {
        for notes in turns {
            for (kind, text) in notes {
                note(board, *kind, text, By::Heuristic);
            }
            let turn = TurnId(u32::try_from(board.turn()).unwrap());
            board.observe(turn, Vec::new(), None);
        }
    };
    let mut expected = board();
    read(&mut expected, &turns[..2]);
    note(&mut expected, Kind::Decision, "mine", By::Person);

    let mut board = board();
    read(&mut board, &turns);
    note(&mut board, Kind::Decision, "mine", By::Person);
    let before = board.clone();
    board.rewind(0);
    read(&mut board, &turns[..2]);
    board.settle(&before);
    for section in board.sections() {
        let of = |board: &Board| {
            texts(board, section.kind())
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&board), of(&expected), "{:?}", section.kind());
        assert_eq!(
            section.touched().turn,
            expected.section(section.kind()).unwrap().touched().turn
        );
    }
    let numbers = |board: &Board| -> Vec<u32> {
        let decisions = board.section(Kind::Decision).unwrap();
        decisions
            .entries()
            .iter()
            .map(|entry| entry.number)
            .collect()
    };
    assert_eq!(numbers(&board), numbers(&before), "for ever");
}

#[test]
fn a_dropped_constraint_leaves_its_label_to_others() {
    let mut board = board();
    note(&mut board, Kind::Constraint, "Budget: $50k", By::Heuristic);
    board.drop(Kind::Constraint, 1, None).unwrap();
    let again = note(&mut board, Kind::Constraint, "Budget: $50k", By::Heuristic);
    assert_eq!(again, Noted::Ignored(Why::ByHand));
    note(&mut board, Kind::Constraint, "Budget: $80k", By::Heuristic);
    assert_eq!(texts(&board, Kind::Constraint), ["$80k"]);
}

proptest! {
    #[test]
    fn no_section_outgrows_its_cap_and_no_number_is_given_twice(
        notes in prop::collection::vec((0..6_usize, "[a-f: ]{0,6}", 0..3_u8, any::<bool>()), 0..80),
    ) {
        let kinds = [Kind::Task, Kind::File, Kind::Error, Kind::Constraint, Kind::Decision, Kind::Change];
        let mut board = board();
        let mut given = std::collections::HashSet::new();
        for (kind, text, by, turn_ends) in notes {
            let kind = kinds[kind];
            let by = [By::Heuristic, By::Tool, By::Person][usize::from(by)];
            if let Noted::Added(number) = note(&mut board, kind, &text, by) {
                prop_assert!(given.insert((kind, number)));
            }
            if turn_ends {
                board.observe(TurnId(1), Vec::new(), None);
            }
            for section in board.sections() {
                prop_assert!(section.entries.len() <= section.cap());
                prop_assert!(section.touched().turn <= board.turn());
            }
        }
        let mut again = self::board();
        prop_assert!(again.restore(board.to_value()).is_empty());
        prop_assert_eq!(again, board);
    }
}
