//! Messages of a file, by session and in their order, each id once. Its unit is the file; what the sessions hold
//! already is compared message by message.

use std::collections::HashMap;

use super::line::{Flaw, Line};
use crate::chat::{Message, MessageId, Session, SessionName};

/// All that a file holds.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) parts: Vec<Part>,
    places: HashMap<SessionName, usize>,
    /// Lines that say again what a line before them said.
    pub(super) repeated: usize,
}

/// What a file holds of one session.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) session: SessionName,
    said: Vec<Said>,
    places: HashMap<MessageId, usize>,
}

#[derive(Debug)]
struct Said {
    line: usize,
    message: Message,
}

/// How a message of the file stands to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    New,
    There,
    /// Its id is that of another message.
    Taken,
}

impl Batch {
    /// Takes the message of a line; an id that came before has to say the same.
    pub(super) fn put(&mut self, line: usize, read: Line) -> Result<(), Flaw> {
        let Line { session, message } = read;
        let place = *self.places.entry(session).or_insert_with_key(|session| {
            self.parts.push(Part {
                session: session.clone(),
                said: Vec::new(),
                places: HashMap::new(),
            });
            self.parts.len() - 1
        });
        let part = &mut self.parts[place];
        match part.places.get(&message.id).map(|&place| &part.said[place]) {
            Some(first) if first.message.said() == message.said() => self.repeated += 1,
            Some(first) => {
                return Err(Flaw::Repeated {
                    first: first.line,
                    id: message.id,
                });
            }
            None => {
                part.places.insert(message.id.clone(), part.said.len());
                part.said.push(Said { line, message });
            }
        }
        Ok(())
    }
}

impl Part {
    /// Messages whose ids are another's in the session, by line.
    pub(super) fn clashes(&self, session: &Session) -> Vec<(usize, Flaw)> {
        let standings = self.standings(session);
        let taken = self.said.iter().zip(standings);
        taken
            .filter(|(_, standing)| *standing == Standing::Taken)
            .map(|(said, _)| {
                let flaw = Flaw::Taken {
                    session: self.session.clone(),
                    id: said.message.id.clone(),
                };
                (said.line, flaw)
            })
            .collect()
    }

    /// The messages that the session does not have, in their order.
    pub(super) fn new_messages(self, session: &Session) -> Vec<Message> {
        let standings = self.standings(session);
        let said = self.said.into_iter().zip(standings);
        said.filter(|(_, standing)| *standing == Standing::New)
            .map(|(said, _)| said.message)
            .collect()
    }

    pub(super) fn len(&self) -> usize {
        self.said.len()
    }

    fn standings(&self, session: &Session) -> Vec<Standing> {
        let mut standings = vec![Standing::New; self.said.len()];
        for kept in session.messages() {
            let Some(&place) = self.places.get(&kept.id) else {
                continue;
            };
            let is_same = self.said[place].message.said() == kept.said();
            standings[place] = match (standings[place], is_same) {
                (Standing::Taken, _) | (_, false) => Standing::Taken,
                (Standing::New | Standing::There, true) => Standing::There,
            };
        }
        standings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Role;

    fn line(session: &str, id: &str, text: &str) -> Line {
        Line {
            session: session.parse().unwrap(),
            message: Message::text(MessageId::new(id), Role::User, text, None),
        }
    }

    fn batch(lines: &[(&str, &str, &str)]) -> Batch {
        let mut batch = Batch::default();
        for (n, (session, id, text)) in (1..).zip(lines) {
            batch.put(n, line(session, id, text)).unwrap();
        }
        batch
    }

    #[test]
    fn messages_are_sorted_by_session_and_keep_their_order() {
        let batch = batch(&[("b", "1", "x"), ("a", "1", "y"), ("b", "2", "z")]);
        let sizes: Vec<_> = batch
            .parts
            .iter()
            .map(|part| (part.session.as_str(), part.len()))
            .collect();
        assert_eq!(sizes, [("b", 2), ("a", 1)]);
    }

    #[test]
    fn an_id_may_come_again_only_with_the_same_text() {
        let mut batch = batch(&[("a", "1", "x"), ("a", "1", "x")]);
        assert_eq!((batch.parts[0].len(), batch.repeated), (1, 1));
        let flaw = batch.put(3, line("a", "1", "y")).unwrap_err();
        let id = MessageId::new("1");
        assert_eq!(flaw, Flaw::Repeated { id, first: 1 });
    }

    #[test]
    fn only_what_the_session_has_not_is_new_and_other_words_are_a_clash() {
        let mut batch = batch(&[("a", "1", "x"), ("a", "2", "y"), ("a", "3", "z")]);
        let part = batch.parts.remove(0);
        let mut session = Session::new(part.session.clone());
        session.import(vec![line("a", "2", "y").message]);
        assert_eq!(part.clashes(&session), []);
        session.import(vec![line("a", "3", "other words").message]);
        assert_eq!(
            part.clashes(&session),
            [(
                3,
                Flaw::Taken {
                    session: part.session.clone(),
                    id: MessageId::new("3")
                }
            )]
        );
        let new = part.new_messages(&session);
        assert_eq!(new.len(), 1);
        assert_eq!(new[0].id.as_str(), "1");
    }
}
