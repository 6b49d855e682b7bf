//! A terminal's screen as a picture.

use std::fmt::Write;

use vt100::{Cell, Color, Screen};

const CELL: (f32, f32) = (8.4, 19.0);
const MARGIN: f32 = 16.0;
const BAR: f32 = 34.0;
const PAPER: &str = "#1e1e2e";
const INK: &str = "#cdd6f4";
/// The sixteen colours of the terminal.
const PALETTE: [&str; 16] = [
    "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
    "#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
];

/// Draws the rows of a screen down to the last that shows something, below a bar with a title.
pub(crate) fn draw(screen: &Screen, title: &str) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let is_empty = |row: &u16| (0..columns).all(|column| !has_ink(screen.cell(*row, column)));
    let rows = (0..rows)
        .rev()
        .find(|row| !is_empty(row))
        .map_or(0, |last| last + 1);
    let (width, height) = (
        f32::from(columns) * CELL.0 + 2.0 * MARGIN,
        f32::from(rows) * CELL.1 + BAR + 1.5 * MARGIN,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         font-family=\"ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n\
         <text x=\"{MARGIN}\" y=\"22\" fill=\"{}\">{}</text>\n",
        PALETTE[7],
        escaped(title)
    );
    for row in 0..rows {
        for run in runs(screen, row, columns) {
            run.draw(row, &mut svg);
        }
    }
    svg + "</svg>\n"
}

fn has_ink(cell: Option<&Cell>) -> bool {
    cell.is_some_and(|cell| !cell.contents().trim().is_empty())
}

#[derive(Clone, PartialEq)]
struct Look {
    ink: String,
    paper: Option<String>,
    /// Attributes of its text: bold, dim and the like.
    attributes: String,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let (ink, paper) = (color(cell.fgcolor()), color(cell.bgcolor()));
        let (ink, paper) = if cell.inverse() {
            (
                paper.or(Some(PAPER.to_owned())),
                ink.or(Some(INK.to_owned())),
            )
        } else {
            (ink, paper)
        };
        let attributes = [
            (cell.bold(), " font-weight=\"bold\""),
            (cell.dim(), " opacity=\"0.6\""),
            (cell.italic(), " font-style=\"italic\""),
            (cell.underline(), " text-decoration=\"underline\""),
        ];
        let attributes = attributes.into_iter().filter(|(holds, _)| *holds);
        let attributes = attributes.map(|(_, attribute)| attribute).collect();
        Self {
            ink: ink.unwrap_or_else(|| INK.to_owned()),
            paper,
            attributes,
        }
    }
}

/// Cells beside each other that look alike.
struct Run {
    column: u16,
    columns: u16,
    text: String,
    look: Look,
}

impl Run {
    fn draw(&self, row: u16, svg: &mut String) {
        let x = MARGIN + f32::from(self.column) * CELL.0;
        let y = BAR + f32::from(row) * CELL.1;
        let width = f32::from(self.columns) * CELL.0;
        if let Some(paper) = &self.look.paper {
            let height = CELL.1;
            writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{paper}\"/>").unwrap();
        }
        if self.text.trim().is_empty() {
            return;
        }
        let (ink, attributes) = (&self.look.ink, &self.look.attributes);
        let baseline = y + CELL.1 * 0.75;
        let text = escaped(&self.text);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" xml:space=\"preserve\" fill=\"{ink}\"{attributes}>{text}</text>").unwrap();
    }
}

fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        let look = Look::of(cell);
        match runs.last_mut() {
            Some(run) if cell.is_wide_continuation() => run.columns += 1,
            Some(run) if run.look == look => {
                run.columns += 1;
                run.text.push_str(text);
            }
            _ => runs.push(Run {
                column,
                columns: 1,
                text: text.to_owned(),
                look,
            }),
        }
    }
    runs
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        Color::Idx(index @ 232..) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Idx(index) => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let cube = index - 16;
            let (red, green, blue) = (level(cube / 36), level(cube / 6 % 6), level(cube % 6));
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
