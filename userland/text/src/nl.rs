//! `nl`: numbers lines.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, unicode_locale};
use tidebox_gnu::regex::{Options, Regex};

use crate::Failure;
use crate::cat::write;
use crate::input::{CHUNK, Input, complain_about};

const HELP: &str = "\
Usage: nl [OPTION]... [FILE]...
Numbers the lines of each FILE; without FILE, or where FILE is -, of standard input.

  -b, --body-numbering=STYLE      which lines of the body get a number
  -d, --section-delimiter=CC      what begins the lines that part sections (\\:)
  -f, --footer-numbering=STYLE    which lines of the footer
  -h, --header-numbering=STYLE    which lines of the header
  -i, --line-increment=NUMBER     the step from number to number
  -l, --join-blank-lines=NUMBER   only the last of so many empty lines gets one
  -n, --number-format=FORMAT      ln left, rn right, rz right with zeros
  -p, --no-renumber               go on with the numbers in a new page
  -s, --number-separator=STRING   what follows a number (a tab)
  -v, --starting-line-number=NUMBER  the first number
  -w, --number-width=NUMBER       the columns of a number

STYLE is a for all lines, t for those that are not empty, n for none, or pBRE for those that match BRE.
";

const HELP_KEY: char = '\u{e001}';

const LONG: &[Long] = &[
    long("body-numbering", Takes::Value, 'b'),
    long("section-delimiter", Takes::Value, 'd'),
    long("footer-numbering", Takes::Value, 'f'),
    long("header-numbering", Takes::Value, 'h'),
    long("line-increment", Takes::Value, 'i'),
    long("join-blank-lines", Takes::Value, 'l'),
    long("number-format", Takes::Value, 'n'),
    long("no-renumber", Takes::Nothing, 'p'),
    long("number-separator", Takes::Value, 's'),
    long("starting-line-number", Takes::Value, 'v'),
    long("number-width", Takes::Value, 'w'),
    long("help", Takes::Nothing, HELP_KEY),
];

/// Which lines of a section get a number.
#[derive(Debug)]
enum Style {
    All,
    Filled,
    None,
    Matching(Box<Regex>),
}

/// Sections of a page: header, body, footer.
const BODY: usize = 1;

struct Numbering {
    styles: [Style; 3],
    delimiter: Vec<u8>,
    step: i64,
    join: u64,
    format: Format,
    renumbers: bool,
    separator: Vec<u8>,
    first: i64,
    width: usize,
    /// The number of the next line; `None` when it is too large.
    number: Option<i64>,
    section: usize,
    empty: u64,
}

#[derive(Clone, Copy)]
enum Format {
    Left,
    Right,
    Zeros,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut numbering = Numbering::default();
    let line = CommandLine::core("nl", "b:d:f:h:i:l:n:ps:v:w:", LONG, HELP);
    let mut files = line.read(arguments, |key, value| numbering.set(key, &value))?;
    numbering.number = Some(numbering.first);
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    let mut line = Vec::new();
    let mut buffer = vec![0; CHUNK];
    for file in &files {
        let input = match Input::open(file) {
            Ok(input) => input,
            Err(error) => {
                complain_about("nl", file, error);
                code = 1;
                continue;
            }
        };
        loop {
            let got = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) => {
                    complain_about("nl", file, error);
                    code = 1;
                    break;
                }
            };
            let mut out = Vec::with_capacity(got * 2);
            for byte in buffer.get(..got).unwrap_or_default() {
                match byte {
                    b'\n' => numbering.line(&std::mem::take(&mut line), &mut out)?,
                    byte => line.push(*byte),
                }
            }
            write(&out)?;
        }
        if !line.is_empty() {
            let mut out = Vec::new();
            numbering.line(&std::mem::take(&mut line), &mut out)?;
            write(&out)?;
        }
    }
    Ok(code)
}

impl Default for Numbering {
    fn default() -> Self {
        Self {
            styles: [Style::None, Style::Filled, Style::None],
            delimiter: b"\\:".to_vec(),
            step: 1,
            join: 1,
            format: Format::Right,
            renumbers: true,
            separator: b"\t".to_vec(),
            first: 1,
            width: 6,
            number: Some(1),
            section: BODY,
            empty: 0,
        }
    }
}

impl Numbering {
    fn set(&mut self, key: char, value: &[u8]) -> Result<(), Failure> {
        match key {
            'h' => self.styles[0] = style("header", value)?,
            'b' => self.styles[1] = style("body", value)?,
            'f' => self.styles[2] = style("footer", value)?,
            'd' => {
                self.delimiter = match value {
                    [first] => vec![*first, b':'],
                    other => other.to_vec(),
                }
            }
            'i' => self.step = number("line number increment", value, i64::MIN)?,
            'l' => self.join = number("line number of blank lines", value, 1)?.unsigned_abs(),
            'n' => {
                self.format = match value {
                    b"ln" => Format::Left,
                    b"rn" => Format::Right,
                    b"rz" => Format::Zeros,
                    other => return Err(Failure::Usage(format!("invalid line numbering format: {}", cited(other)))),
                }
            }
            'p' => self.renumbers = false,
            's' => self.separator = value.to_vec(),
            'v' => self.first = number("starting line number", value, i64::MIN)?,
            _ => {
                let width = number("line number field width", value, 1)?;
                self.width = usize::try_from(width).ok().filter(|width| *width <= 1 << 20).ok_or_else(|| {
                    let reason = "Value too large for defined data type";
                    Failure::Unsupported(format!("invalid line number field width: {}: {reason}", cited(value)))
                })?;
            }
        }
        Ok(())
    }

    /// Which section a line begins, if it does.
    fn section_of(&self, line: &[u8]) -> Option<usize> {
        let length = self.delimiter.len();
        if length == 0 || line.is_empty() || !line.len().is_multiple_of(length) || line.len() > 3 * length {
            return None;
        }
        line.chunks(length).all(|part| part == self.delimiter).then(|| 3 - line.len() / length)
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        if let Some(section) = self.section_of(line) {
            self.section = section;
            if self.renumbers {
                self.number = Some(self.first);
            }
            out.push(b'\n');
            return Ok(());
        }
        self.empty = if line.is_empty() { self.empty + 1 } else { 0 };
        let numbered = match self.styles.get(self.section).unwrap_or(&Style::None) {
            Style::All => !line.is_empty() || self.empty >= self.join,
            Style::Filled => !line.is_empty(),
            Style::None => false,
            Style::Matching(regex) => {
                let found = regex.find_in_line(line, 0);
                found.map_err(|error| Failure::Unsupported(error.to_string()))?.is_some()
            }
        };
        if numbered {
            let Some(number) = self.number else {
                return Err(Failure::Unsupported("line number overflow".to_owned()));
            };
            let width = self.width;
            out.extend_from_slice(
                match self.format {
                    Format::Left => format!("{number:<width$}"),
                    Format::Right => format!("{number:>width$}"),
                    Format::Zeros => format!("{number:0>width$}"),
                }
                .as_bytes(),
            );
            out.extend_from_slice(&self.separator);
            self.number = number.checked_add(self.step);
            if self.empty >= self.join {
                self.empty = 0;
            }
        } else {
            out.resize(out.len() + self.width + self.separator.len(), b' ');
        }
        out.extend_from_slice(line);
        out.push(b'\n');
        Ok(())
    }
}

fn style(section: &str, value: &[u8]) -> Result<Style, Failure> {
    Ok(match value.split_first() {
        Some((b'a', [])) => Style::All,
        Some((b't', [])) => Style::Filled,
        Some((b'n', [])) => Style::None,
        Some((b'p', pattern)) => {
            let options = Options { unicode: unicode_locale(), ..Options::basic() };
            let regex = Regex::new(&[pattern.to_vec()], &options);
            Style::Matching(Box::new(regex.map_err(|error| Failure::Unsupported(error.to_string()))?))
        }
        _ => return Err(Failure::Usage(format!("invalid {section} numbering style: {}", cited(value)))),
    })
}

fn number(what: &str, value: &[u8], least: i64) -> Result<i64, Failure> {
    let wrong = |reason: &str| Failure::Unsupported(format!("invalid {what}: {}{reason}", cited(value)));
    let text = std::str::from_utf8(value).map_err(|_| wrong(""))?.trim_start();
    match text.parse::<i64>() {
        Ok(number) if number >= least => Ok(number),
        Ok(_) => Err(wrong(": Numerical result out of range")),
        Err(error)
            if matches!(error.kind(), std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow) =>
        {
            Err(wrong(": Value too large for defined data type"))
        }
        Err(_) => Err(wrong("")),
    }
}

#[cfg(test)]
mod tests {
    use super::Numbering;

    fn numbered(options: &[(char, &str)], text: &str) -> String {
        let mut numbering = Numbering::default();
        options.iter().for_each(|(key, value)| numbering.set(*key, value.as_bytes()).expect("options"));
        let mut out = Vec::new();
        text.lines().for_each(|line| numbering.line(line.as_bytes(), &mut out).expect("a line"));
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn lines_without_a_number_are_indented_as_far_as_the_others() {
        assert_eq!(numbered(&[('w', "3"), ('s', ": ")], "a\n\nb\n"), "  1: a\n     \n  2: b\n");
        assert_eq!(numbered(&[('b', "pb"), ('n', "rz"), ('w', "2")], "a\nb\n"), "   a\n01\tb\n");
    }

    #[test]
    fn only_the_last_of_joined_empty_lines_has_a_number() {
        let text = numbered(&[('b', "a"), ('l', "2"), ('w', "1"), ('s', " ")], "a\n\n\n\nb\n");
        assert_eq!(text, "1 a\n  \n2 \n  \n3 b\n");
    }
}
