//! `nl`: numbers lines of files.

use tidebox_gnu::message::{quote_value, unicode_locale};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::{Options, Regex};

use crate::cat::write;
use crate::common::Failure;
use crate::common::input::{CHUNK, Input, print_file_error};

const USAGE: &str = "\
Usage: nl [OPTION]... [FILE]...
Numbers the lines of each FILE. Without FILE, or if FILE is -, reads standard input.

";

const NOTES: &str = "\n\
STYLE is a for all lines, t for lines that are not empty, n for no lines, or pBRE for lines that match BRE.
";

tidebox_gnu::options! {
    /// Options of `nl`.
    enum Flag {
        BodyNumbering = "-b, --body-numbering=STYLE", "number these lines of the body";
        SectionDelimiter = "-d, --section-delimiter=CC", "delimiter of sections (\\:)";
        FooterNumbering = "-f, --footer-numbering=STYLE", "number these lines of the footer";
        HeaderNumbering = "-h, --header-numbering=STYLE", "number these lines of the header";
        LineIncrement = "-i, --line-increment=NUMBER", "difference between line numbers";
        JoinBlankLines = "-l, --join-blank-lines=NUMBER", "number only the last of NUMBER empty lines";
        NumberFormat = "-n, --number-format=FORMAT", "ln for left, rn for right, rz for right with zeros";
        NoRenumber = "-p, --no-renumber", "do not restart the numbers on a new page";
        NumberSeparator = "-s, --number-separator=STRING", "print STRING after each number (a tab)";
        StartingLineNumber = "-v, --starting-line-number=NUMBER", "first line number";
        NumberWidth = "-w, --number-width=NUMBER", "width of line numbers";
    }
}

/// Selects the numbered lines of a section.
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
    /// Number of the next line; `None` after an overflow.
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

/// Runs `nl`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut numbering = Numbering::default();
    let line = Syntax { notes: NOTES, ..Syntax::core("nl", USAGE, 34) };
    let mut files = line.parse(arguments, |key, value| numbering.set(key, &value))?;
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
                print_file_error("nl", file, error);
                code = 1;
                continue;
            }
        };
        loop {
            let got = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) => {
                    print_file_error("nl", file, error);
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
    fn set(&mut self, key: Flag, value: &[u8]) -> Result<(), Failure> {
        match key {
            Flag::HeaderNumbering => self.styles[0] = style("header", value)?,
            Flag::BodyNumbering => self.styles[1] = style("body", value)?,
            Flag::FooterNumbering => self.styles[2] = style("footer", value)?,
            Flag::SectionDelimiter => {
                self.delimiter = match value {
                    [first] => vec![*first, b':'],
                    other => other.to_vec(),
                }
            }
            Flag::LineIncrement => self.step = number("line number increment", value, i64::MIN)?,
            Flag::JoinBlankLines => self.join = number("line number of blank lines", value, 1)?.unsigned_abs(),
            Flag::NumberFormat => {
                self.format = match value {
                    b"ln" => Format::Left,
                    b"rn" => Format::Right,
                    b"rz" => Format::Zeros,
                    other => {
                        return Err(Failure::Usage(format!("invalid line numbering format: {}", quote_value(other))));
                    }
                }
            }
            Flag::NoRenumber => self.renumbers = false,
            Flag::NumberSeparator => self.separator = value.to_vec(),
            Flag::StartingLineNumber => self.first = number("starting line number", value, i64::MIN)?,
            _ => {
                let width = number("line number field width", value, 1)?;
                self.width = usize::try_from(width).ok().filter(|width| *width <= 1 << 20).ok_or_else(|| {
                    let reason = "Value too large for defined data type";
                    Failure::Unsupported(format!("invalid line number field width: {}: {reason}", quote_value(value)))
                })?;
            }
        }
        Ok(())
    }

    /// Returns the section that a line starts, if any.
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
        _ => return Err(Failure::Usage(format!("invalid {section} numbering style: {}", quote_value(value)))),
    })
}

fn number(what: &str, value: &[u8], least: i64) -> Result<i64, Failure> {
    let wrong = |reason: &str| Failure::Unsupported(format!("invalid {what}: {}{reason}", quote_value(value)));
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
    use super::{Flag, Numbering};

    fn numbered(options: &[(Flag, &str)], text: &str) -> String {
        let mut numbering = Numbering::default();
        options.iter().for_each(|(key, value)| numbering.set(*key, value.as_bytes()).expect("options"));
        let mut out = Vec::new();
        text.lines().for_each(|line| numbering.line(line.as_bytes(), &mut out).expect("a line"));
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn lines_without_a_number_are_indented() {
        assert_eq!(
            numbered(&[(Flag::NumberWidth, "3"), (Flag::NumberSeparator, ": ")], "a\n\nb\n"),
            "  1: a\n     \n  2: b\n"
        );
        assert_eq!(
            numbered(&[(Flag::BodyNumbering, "pb"), (Flag::NumberFormat, "rz"), (Flag::NumberWidth, "2")], "a\nb\n"),
            "   a\n01\tb\n"
        );
    }

    #[test]
    fn only_the_last_of_joined_empty_lines_has_a_number() {
        let text = numbered(
            &[
                (Flag::BodyNumbering, "a"),
                (Flag::JoinBlankLines, "2"),
                (Flag::NumberWidth, "1"),
                (Flag::NumberSeparator, " "),
            ],
            "a\n\n\n\nb\n",
        );
        assert_eq!(text, "1 a\n  \n2 \n  \n3 b\n");
    }
}
