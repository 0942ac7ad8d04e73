//! `fmt`: fills and joins the lines of paragraphs.

mod breaks;

use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::{CHUNK, Input};
use crate::common::number::in_range;
use crate::fmt::breaks::{Measure, Word, lines};

const USAGE: &str = "\
Usage: fmt [-WIDTH] [OPTION]... [FILE]...
Fills and joins the lines of each paragraph. Without FILE, or if FILE is -, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `fmt`.
    enum Flag {
        CrownMargin = "-c, --crown-margin", "preserve the indents of the first two lines";
        Goal = "-g, --goal=WIDTH", "goal width (default 93% of the maximum)";
        Prefix = "-p, --prefix=STRING", "format only lines that begin with STRING";
        SplitOnly = "-s, --split-only", "split long lines, do not join lines";
        TaggedParagraph = "-t, --tagged-paragraph", "the indents of the first and second line differ";
        UniformSpacing = "-u, --uniform-spacing", "one space between words, two after sentences";
        Width = "-w, --width=WIDTH", "maximum width (default 75)";
    }
}

/// Maximum width in columns, as in GNU.
const MAX_WIDTH: usize = 2500;
/// Default width in columns.
const WIDTH: usize = 75;
/// Difference between maximum and goal width, in percent.
const LEEWAY: usize = 7;
const TAB: usize = 8;
/// Indent of the second line of a tagged paragraph that has only one line.
const TAGGED_INDENT: usize = 3;

#[derive(Debug, Default)]
struct Options {
    crown: bool,
    tagged: bool,
    split: bool,
    uniform: bool,
    prefix: Vec<u8>,
    /// Number of spaces before the prefix in the option value.
    prefix_lead: usize,
    prefix_full: usize,
    measure: Measure,
}

/// Runs `fmt`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut arguments = arguments;
    let mut width = None;
    // `-WIDTH` is valid only as the first argument.
    let digits = arguments.first().and_then(|first| first.strip_prefix(b"-"));
    if let Some(digits) = digits.filter(|digits| digits.first().is_some_and(u8::is_ascii_digit)) {
        width = Some(digits.to_vec());
        arguments.remove(0);
    }
    let mut options = Options::default();
    let mut goal = None;
    let mut files = Syntax::core("fmt", USAGE, 25).parse(arguments, |key, value| {
        match key {
            Flag::CrownMargin => options.crown = true,
            Flag::Goal => goal = Some(value),
            Flag::Prefix => options.set_prefix(&value),
            Flag::SplitOnly => options.split = true,
            Flag::TaggedParagraph => options.tagged = true,
            Flag::UniformSpacing => options.uniform = true,
            _ => width = Some(value),
        }
        Ok::<_, Failure>(())
    })?;
    options.measure = measure(width.as_deref(), goal.as_deref())?;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    for file in &files {
        match load(file) {
            Ok(text) => write(&Formatter::new(&options, &text).run())?,
            Err((opened, error)) => {
                let what = if opened { "error reading" } else { "cannot open" };
                let rest = if opened { "" } else { " for reading" };
                print_error("fmt", &format!("{what} {}{rest}: {}", quote_path(file), error.text()));
                code = 1;
            }
        }
    }
    Ok(code)
}

/// Reads a whole file, because lines are broken from the end of a paragraph. The error is true if the file was opened.
fn load(name: &[u8]) -> Result<Vec<u8>, (bool, Errno)> {
    let input = Input::open(name).map_err(|error| (false, error))?;
    let mut text = Vec::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match input.read(&mut buffer).map_err(|error| (true, error))? {
            0 => return Ok(text),
            got => text.extend_from_slice(buffer.get(..got).unwrap_or_default()),
        }
    }
}

fn measure(width: Option<&[u8]>, goal: Option<&[u8]>) -> Result<Measure, Failure> {
    let number = |text: &[u8], max: usize| {
        in_range(text, 0..=max)
            .map_err(|error| Failure::Unsupported(format!("invalid width: {}{}", quote_value(text), error.reason())))
    };
    let width = width.map(|text| number(text, MAX_WIDTH)).transpose()?;
    let goal = goal.map(|text| number(text, width.unwrap_or(MAX_WIDTH))).transpose()?;
    Ok(match (width, goal) {
        (Some(max), Some(goal)) => Measure { max, goal },
        (None, Some(goal)) => Measure { max: goal + 10, goal },
        (width, None) => {
            let max = width.unwrap_or(WIDTH);
            Measure { max, goal: max * (2 * (100 - LEEWAY) + 1) / 200 }
        }
    })
}

impl Options {
    fn set_prefix(&mut self, text: &[u8]) {
        self.prefix_lead = text.iter().take_while(|byte| **byte == b' ').count();
        let rest = text.get(self.prefix_lead..).unwrap_or_default();
        self.prefix_full = rest.len();
        let end = rest.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        self.prefix = rest.get(..end).unwrap_or_default().to_vec();
    }
}

/// A line with its prefix and indentation.
#[derive(Clone, Copy, Debug)]
struct Source<'a> {
    /// Text after prefix and blanks; `None` if the line does not belong to a paragraph.
    text: Option<&'a [u8]>,
    /// Column of the prefix.
    prefix_at: usize,
    /// Column of the text.
    column: usize,
    whole: &'a [u8],
}

struct Formatter<'a> {
    options: &'a Options,
    lines: Vec<&'a [u8]>,
    /// The input contained a tab, so blanks are written as tabs where possible.
    tabs: bool,
    out: Vec<u8>,
}

impl<'a> Formatter<'a> {
    fn new(options: &'a Options, text: &'a [u8]) -> Self {
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n').collect();
        Self { options, lines: if text.is_empty() { Vec::new() } else { lines }, tabs: false, out: Vec::new() }
    }

    fn run(mut self) -> Vec<u8> {
        let mut at = 0;
        while let Some(line) = self.lines.get(at).copied() {
            let first = self.source(line);
            if first.text.is_none() {
                self.copy(&first);
                at += 1;
                continue;
            }
            at = self.paragraph(at, &first);
        }
        self.out
    }

    /// Parses the start of a line.
    fn source(&mut self, line: &'a [u8]) -> Source<'a> {
        let options = self.options;
        let (at, mut column) = self.blanks(line, 0, 0);
        let mut prefix_at = column;
        let mut rest = line.get(at..).unwrap_or_default();
        let mut held = true;
        if options.prefix.is_empty() {
            prefix_at = options.prefix_lead.min(column);
        } else if let Some(after) = rest.strip_prefix(options.prefix.as_slice()) {
            column += options.prefix.len();
            let (skipped, after_blanks) = self.blanks(after, 0, column);
            column = after_blanks;
            rest = after.get(skipped..).unwrap_or_default();
        } else {
            held = false;
        }
        let belongs = held && prefix_at >= options.prefix_lead && column >= prefix_at + options.prefix_full;
        let text = Some(rest).filter(|rest| belongs && !rest.is_empty());
        Source { text, prefix_at, column, whole: line }
    }

    /// Skips blanks; returns the byte count and the column after them.
    fn blanks(&mut self, line: &[u8], from: usize, column: usize) -> (usize, usize) {
        let (mut at, mut column) = (from, column);
        loop {
            match line.get(at) {
                Some(b' ') => column += 1,
                Some(b'\t') => {
                    self.tabs = true;
                    column = column / TAB * TAB + TAB;
                }
                _ => return (at, column),
            }
            at += 1;
        }
    }

    /// Copies a line that is not formatted. Only its leading blanks may change.
    fn copy(&mut self, line: &Source<'_>) {
        let trimmed = line.whole.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
        if let Some(at) = trimmed {
            let (_, column) = self.blanks(line.whole, 0, 0);
            let mut place = 0;
            self.space(column, &mut place);
            self.out.extend_from_slice(line.whole.get(at..).unwrap_or_default());
        }
        self.out.push(b'\n');
    }

    /// Formats a paragraph and returns the index of the line after it.
    fn paragraph(&mut self, at: usize, first: &Source<'a>) -> usize {
        let mut words = Vec::new();
        self.words(first, &mut words);
        let mut end = at + 1;
        let same = |line: &Source<'_>| line.text.is_some() && line.prefix_at == first.prefix_at;
        let next = self.lines.get(end).copied().map(|line| self.source(line)).filter(same);
        let options = self.options;
        let other = match &next {
            _ if options.split => first.column,
            Some(next) if options.crown => next.column,
            _ if options.crown => first.column,
            Some(next) if options.tagged && next.column != first.column => next.column,
            _ if options.tagged => {
                if first.column == 0 {
                    TAGGED_INDENT
                } else {
                    0
                }
            }
            _ => first.column,
        };
        let joins = match &next {
            _ if options.split => false,
            Some(next) => !options.tagged || next.column != first.column,
            None => false,
        };
        while joins && let Some(line) = self.lines.get(end).copied() {
            let line = self.source(line);
            if !same(&line) || line.column != other {
                break;
            }
            self.words(&line, &mut words);
            end += 1;
        }
        // The end of the text also ends a sentence.
        if let Some(last) = words.last_mut() {
            last.ends = last.ends || end >= self.lines.len();
        }
        let mut from = 0;
        for to in lines(&words, self.options.measure, first.column, other) {
            let indent = if from == 0 { first.column } else { other };
            self.line(words.get(from..to).unwrap_or_default(), first.prefix_at, indent);
            from = to;
        }
        end
    }

    /// Appends each word of a line to `words`.
    fn words(&mut self, line: &Source<'a>, words: &mut Vec<Word<'a>>) {
        let text = line.text.unwrap_or_default();
        let (mut at, mut column) = (0, line.column);
        while at < text.len() {
            let start = at;
            while text.get(at).is_some_and(|byte| !matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | b'\r')) {
                at += 1;
            }
            let word = text.get(start..at).unwrap_or_default();
            column += word.len();
            let (mut after, mut place) = self.blanks(text, at, column);
            if after == at && after < text.len() {
                // White space other than blanks also separates.
                (after, place) = (at + 1, column + 1);
            }
            words.push(Word::new(word, place - column, after >= text.len(), self.options.uniform));
            (at, column) = (after, place);
        }
    }

    fn line(&mut self, words: &[Word<'_>], prefix_at: usize, indent: usize) {
        let mut column = 0;
        self.space(prefix_at, &mut column);
        self.out.extend_from_slice(&self.options.prefix);
        column += self.options.prefix.len();
        self.space(indent.saturating_sub(column), &mut column);
        for (at, word) in words.iter().enumerate() {
            self.out.extend_from_slice(word.text);
            column += word.text.len();
            if at + 1 < words.len() {
                self.space(word.space, &mut column);
            }
        }
        self.out.push(b'\n');
    }

    /// Writes blanks, as tabs if the input contained tabs.
    fn space(&mut self, count: usize, column: &mut usize) {
        let target = *column + count;
        if self.tabs {
            let stop = target / TAB * TAB;
            if *column + 1 < stop {
                while *column < stop {
                    self.out.push(b'\t');
                    *column = *column / TAB * TAB + TAB;
                }
            }
        }
        self.out.resize(self.out.len() + target.saturating_sub(*column), b' ');
        *column = target.max(*column);
    }
}

#[cfg(test)]
mod tests {
    use super::{Formatter, Measure, Options};

    fn formatted(max: usize, text: &str) -> String {
        let options = Options { measure: Measure { max, goal: max * 187 / 200 }, ..Options::default() };
        String::from_utf8_lossy(&Formatter::new(&options, text.as_bytes()).run()).into_owned()
    }

    #[test]
    fn lines_are_filled_so_that_they_end_alike() {
        let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen\n";
        let wanted = "one two three\nfour five six\nseven eight nine\nten eleven twelve\nthirteen fourteen\nfifteen\n";
        assert_eq!(formatted(20, text), wanted);
    }

    #[test]
    fn paragraphs_stay_apart_and_keep_their_indent() {
        assert_eq!(formatted(75, "a\nb\n\n  c\n  d\n"), "a b\n\n  c d\n");
    }
}
