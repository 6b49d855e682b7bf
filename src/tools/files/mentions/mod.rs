//! What a person's message mentions with an `@`, read from the project folder.
//!
//! Unit: one message. Bounded: in the number of mentions looked at and attached, in lines and bytes of each, in
//! pictures. What cannot be had is told in a sentence, and the message goes as it was typed. Every file is
//! read through [`Project`], so that nothing outside of it, in `.git` or in a kept folder is attached.

mod begun;
mod image;
mod parse;

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::list_directory::listing;
use super::project::{Project, ProjectError};
use super::read_file::{HEAD, Numbers, Range, binary, page};
use super::words::{count, shown, size};
use crate::chat::{Attached, Lines};
pub use begun::{Begun, Named, names, written};
use parse::{Mention, Reading, mentions};

/// A text with more of them is no message of a person.
const LOOKED_AT_MAX: usize = 500;
const ATTACHED_MAX: usize = 20;
const IMAGES_MAX: usize = 5;
const IMAGE_BYTES_MAX: u64 = 5 << 20;

/// What a message brings along.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentioned {
    pub contents: Vec<Content>,
    /// What was not attached, and why; a sentence each.
    pub notices: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(Attached),
    Image {
        name: String,
        media_type: &'static str,
        bytes: Vec<u8>,
    },
}

/// Reads everything that a text mentions; each file, or range of lines, once.
pub fn mentioned(project: &Project, text: &str) -> Mentioned {
    let mut reading = Reader {
        project,
        seen: Vec::new(),
        missing: Vec::new(),
        all: Mentioned::default(),
    };
    for mention in mentions(text).take(LOOKED_AT_MAX) {
        reading.take(&mention);
    }
    reading.finish()
}

struct Reader<'a> {
    project: &'a Project,
    seen: Vec<(PathBuf, Option<Lines>)>,
    /// Names of files that are not there.
    missing: Vec<String>,
    all: Mentioned,
}

/// What a reading of a mention leads to.
enum Led {
    To(PathBuf),
    Nowhere,
    /// Where nothing may be read.
    Refused(String),
}

impl Reader<'_> {
    fn take(&mut self, mention: &Mention<'_>) {
        let mut refused = None;
        for Reading { path, lines } in mention.readings() {
            match led(self.project, path) {
                Led::To(path) => return self.attach(path, lines),
                Led::Nowhere => {}
                Led::Refused(why) => refused = Some(why),
            }
        }
        let name = shown(Path::new(mention.name()));
        match refused {
            Some(why) if mention.looks_like_a_path() => self.note(format!("not attached: {why}")),
            None if mention.looks_like_a_path() && !self.missing.contains(&name) => {
                self.missing.push(name);
            }
            Some(_) | None => {}
        }
    }

    fn attach(&mut self, path: PathBuf, lines: Option<Lines>) {
        let this = (path, lines);
        if self.seen.contains(&this) {
            return;
        }
        if self.seen.len() == ATTACHED_MAX {
            return self.note(format!(
                "more than {ATTACHED_MAX} files are mentioned; the others were not attached"
            ));
        }
        let content = self.content(&this.0, lines);
        self.seen.push(this);
        let is_image = |content: &Content| matches!(content, Content::Image { .. });
        match content {
            Ok(content) if is_image(&content) && self.n_images() == IMAGES_MAX => {
                self.note(format!(
                    "more than {IMAGES_MAX} images are mentioned; the others were not attached"
                ));
            }
            Ok(content) => self.all.contents.push(content),
            Err(why) => self.note(format!("not attached: {why}")),
        }
    }

    fn content(&mut self, path: &Path, lines: Option<Lines>) -> Result<Content, String> {
        let project = self.project;
        let metadata = project.metadata(path).map_err(|error| in_words(&error))?;
        if metadata.is_dir() {
            return folder(project, path);
        }
        let broken = |source| {
            in_words(&ProjectError::Io {
                path: path.to_owned(),
                source,
            })
        };
        let mut file = project.open_file(path).map_err(|error| in_words(&error))?;
        let mut head = Vec::new();
        (&mut file)
            .take(HEAD)
            .read_to_end(&mut head)
            .map_err(broken)?;
        if let Some(media_type) = image::media_type(&head) {
            let bytes = project
                .read(path, IMAGE_BYTES_MAX)
                .map_err(|error| in_words(&error))?;
            return Ok(Content::Image {
                name: shown(path),
                media_type,
                bytes,
            });
        }
        if let Some(kind) = binary(&head) {
            let size = size(metadata.len());
            return Err(format!("{} is not text ({kind}, {size})", shown(path)));
        }
        let mut reader = BufReader::new(head.as_slice().chain(file));
        self.text(path, lines, &mut reader).map_err(broken)?
    }

    /// The error of reading, or why what was read is not what was asked for.
    fn text(
        &mut self,
        path: &Path,
        lines: Option<Lines>,
        reader: &mut impl std::io::BufRead,
    ) -> std::io::Result<Result<Content, String>> {
        let range = lines.map_or(Range::WHOLE, |lines| Range {
            first: lines.first,
            last: lines.last,
        });
        let page = page(reader, range, Numbers::Left, usize::MAX, || false)?;
        let n_taken = page.n_taken();
        if n_taken == 0 && (page.n_lines > 0 || lines.is_some()) {
            let has = count(page.n_lines, "line");
            return Ok(Err(format!("{} has only {has}", shown(path))));
        }
        let taken = Lines {
            first: page.first,
            last: (page.first + n_taken).saturating_sub(1),
        };
        let mut text = page.text;
        if page.is_cut {
            let of = if page.is_counted { "" } else { "more than " };
            let has = format!("{of}{}", count(page.n_lines, "line"));
            text.extend(["[cut here; the file has ", &has, "]"]);
            self.note(format!(
                "{} has {has}; only {}-{} were attached",
                shown(path),
                taken.first,
                taken.last
            ));
        }
        if page.left_out > 0 {
            let (name, bytes) = (shown(path), size(page.left_out));
            self.note(format!(
                "{name} has lines that are too long; {bytes} of them were not attached"
            ));
        }
        if n_taken == 0 {
            text.push_str("[empty file]");
        }
        Ok(Ok(Content::Text(Attached {
            name: shown(path),
            lines: (lines.is_some() || page.is_cut).then_some(taken),
            text,
        })))
    }

    fn n_images(&self) -> usize {
        let contents = self.all.contents.iter();
        contents
            .filter(|content| matches!(content, Content::Image { .. }))
            .count()
    }

    fn note(&mut self, notice: String) {
        if !self.all.notices.contains(&notice) {
            self.all.notices.push(notice);
        }
    }

    fn finish(mut self) -> Mentioned {
        if !self.missing.is_empty() {
            let (few, more) = self.missing.split_at(self.missing.len().min(5));
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let notice = format!("No such file: {}{more}; sent as typed", few.join(", "));
            self.all.notices.push(notice);
        }
        self.all
    }
}

fn led(project: &Project, text: &str) -> Led {
    let path = match project.locate(text) {
        Ok(path) => path,
        Err(failure) => return Led::Refused(failure.to_string()),
    };
    // `.git` holds keys of remotes, and nothing that one would ask about.
    let way = match project.resolve(&path) {
        Err(ProjectError::Folder { .. }) if path == Path::new(".") => Ok(()),
        way => way.map(drop),
    };
    match way.and_then(|()| project.metadata(&path)) {
        Ok(_) => Led::To(path),
        Err(ProjectError::Missing { .. } | ProjectError::Io { .. }) => Led::Nowhere,
        Err(ProjectError::Git { path }) => Led::Refused(format!("{} is inside .git", shown(&path))),
        Err(error) => Led::Refused(error.to_string()),
    }
}

fn folder(project: &Project, path: &Path) -> Result<Content, String> {
    let (text, _) = listing(project, path, 1, &CancellationToken::new())
        .map_err(|failure| failure.to_string())?;
    Ok(Content::Text(Attached {
        name: format!("{}/", shown(path)),
        lines: None,
        text,
    }))
}

fn in_words(error: &ProjectError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::files::fixture::{Fixture, SECRET};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn project() -> Fixture {
        Fixture::with(&[
            ("src/a.rs", "one\ntwo\nthree\n"),
            ("my notes.md", "noted"),
            ("odd:1", "odd"),
            ("end.", "dot"),
            ("empty", ""),
            ("name", "named"),
            (".git/config", "url"),
        ])
    }

    /// Headings and texts of what is attached, then the notices.
    fn read(fixture: &Fixture, text: &str) -> (Vec<String>, Vec<String>) {
        let mentioned = mentioned(&fixture.project, text);
        let contents = mentioned.contents.into_iter().map(|content| match content {
            Content::Text(attached) => format!("{attached}: {}", attached.text),
            Content::Image {
                name,
                media_type,
                bytes,
            } => format!("{name}: {media_type} {}", bytes.len()),
        });
        (contents.collect(), mentioned.notices)
    }

    #[test]
    fn what_is_there_is_attached_and_what_is_not_is_told_if_it_looks_like_a_file() {
        let fixture = project();
        fixture.put("shot", PNG);
        fixture.put("binary.bin", b"a\0b");
        for (text, contents, notices) in [
            ("@src/a.rs", vec!["src/a.rs: one\ntwo\nthree\n"], vec![]),
            ("(@src/a.rs:2).", vec!["src/a.rs, line 2: two\n"], vec![]),
            (
                "@src/a.rs:2-99 @./src/a.rs:2-99",
                vec!["src/a.rs, lines 2-3: two\nthree\n"],
                vec![],
            ),
            ("@\"my notes.md\"", vec!["my notes.md: noted\n"], vec![]),
            ("@odd:1", vec!["odd:1: odd\n"], vec![]),
            ("@end.", vec!["end.: dot\n"], vec![]),
            ("@empty", vec!["empty: [empty file]"], vec![]),
            ("@name, hello", vec!["name: named\n"], vec![]),
            ("@src/", vec!["src/: a.rs  14 bytes"], vec![]),
            ("@shot", vec!["shot: image/png 12"], vec![]),
            ("@alice and a@b.de", vec![], vec![]),
            (
                "@none.rs @src/no, @none.rs",
                vec![],
                vec!["No such file: none.rs, src/no; sent as typed"],
            ),
            (
                "@src/a.rs:9",
                vec![],
                vec!["not attached: src/a.rs has only 3 lines"],
            ),
            (
                "@binary.bin",
                vec![],
                vec!["not attached: binary.bin is not text (binary, 3 bytes)"],
            ),
            (
                "@.git/config",
                vec![],
                vec!["not attached: .git/config is inside .git"],
            ),
        ] {
            assert_eq!(
                read(&fixture, text),
                (
                    contents.into_iter().map(str::to_owned).collect(),
                    notices.into_iter().map(str::to_owned).collect()
                ),
                "{text}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_is_attached() {
        let fixture = project();
        fixture.link("way", "../outside");
        fixture.pipe("pipe.txt");
        let outside = fixture.at("../outside/secret.txt");
        let absolute = format!("@{}", outside.display());
        for text in [
            "@../outside/secret.txt",
            "@way/secret.txt",
            "@pipe.txt",
            absolute.as_str(),
        ] {
            let (contents, notices) = read(&fixture, text);
            assert_eq!(contents, Vec::<String>::new(), "{text}");
            assert!(notices[0].starts_with("not attached: "), "{notices:?}");
            assert!(!notices[0].contains(SECRET), "{notices:?}");
        }
    }

    #[test]
    fn there_is_an_end_to_files_lines_and_pictures() {
        let fixture = project();
        let names = |from: usize, to: usize| {
            let names = (from..to).map(|n| format!("@f{n}"));
            names.collect::<Vec<_>>().join(" ")
        };
        for n in 0..25 {
            fixture.put(&format!("f{n}"), "x");
        }
        let (contents, notices) = read(&fixture, &names(0, 25));
        assert_eq!((contents.len(), notices.len()), (20, 1));
        fixture.put("long", "x\n".repeat(2_500));
        let (contents, notices) = read(&fixture, "@long");
        assert!(contents[0].starts_with("long, lines 1-2000: "));
        assert_eq!(notices, ["long has 2500 lines; only 1-2000 were attached"]);
        assert!(contents[0].ends_with("[cut here; the file has 2500 lines]"));
        fixture.put("wide", "x".repeat(900_000));
        let (contents, notices) = read(&fixture, "@wide");
        let cut = " […637856 bytes more]\n";
        assert_eq!(contents[0].len(), "wide: ".len() + (256 << 10) + cut.len());
        assert!(contents[0].ends_with(cut));
        let notice = "wide has lines that are too long; 622.9 KB of them were not attached";
        assert_eq!(notices, [notice]);
        for n in 0..6 {
            fixture.put(&format!("f{n}"), PNG);
        }
        let (contents, notices) = read(&fixture, &names(0, 6));
        assert_eq!((contents.len(), notices.len()), (5, 1));
        let mut large = PNG.to_vec();
        large.resize((5 << 20) + 1, 0);
        fixture.put("large", large);
        let (_, notices) = read(&fixture, "@large");
        assert_eq!(notices, ["not attached: large is larger than 5.0 MB"]);
    }
}
