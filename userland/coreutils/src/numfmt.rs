//! `numfmt`: converts numbers with units.

mod form;
mod number;
mod options;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Input, Output};

use form::Form;
use options::{Invalid, Options};

/// Exit code for invalid numbers.
const BAD: i32 = 2;

/// Runs `numfmt`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    options::read(arguments).and_then(|(options, numbers)| run(&options, numbers)).unwrap_or_else(|answer| answer)
}

fn run(options: &Options, numbers: Vec<Vec<u8>>) -> Result<ToolResult, ToolResult> {
    let mut work = Work { options, out: Output::standard(), bad: false };
    let end = if options.zero { b"\0" } else { b"\n" };
    if !numbers.is_empty() {
        for number in &numbers {
            work.line(number)?;
            work.out.push(end);
        }
        return Ok(work.finish());
    }
    let mut input = Input::standard();
    let (mut line, mut headers) = (Vec::new(), options.header);
    let failed = |errno: tidebox_rt::Errno| ToolResult::Failure(format!("error reading input: {}", errno.text()), 1);
    while input.line(end[0], &mut line).map_err(failed)? {
        let ended = line.last() == Some(&end[0]);
        if ended {
            line.pop();
        }
        if headers > 0 {
            headers -= 1;
            work.out.push(&line);
            work.out.push(end);
            continue;
        }
        work.line(&line)?;
        if ended {
            work.out.push(end);
        }
    }
    Ok(work.finish())
}

struct Work<'o> {
    options: &'o Options,
    out: Output,
    bad: bool,
}

impl Work<'_> {
    fn finish(self) -> ToolResult {
        let fails = self.bad && !matches!(self.options.invalid, Invalid::Warn | Invalid::Ignore);
        ToolResult::Code(self.out.finish("numfmt", if fails { BAD } else { 0 }))
    }

    /// Converts the selected fields of a line.
    fn line(&mut self, line: &[u8]) -> Result<(), ToolResult> {
        let mut rest = line;
        let mut field = 0;
        loop {
            field += 1;
            let end = match self.options.delimiter {
                Some(delimiter) => rest.iter().position(|byte| *byte == delimiter),
                None => {
                    let start = rest.iter().take_while(|byte| blank(byte)).count();
                    rest.get(start..).and_then(|word| word.iter().position(blank)).map(|at| at + start)
                }
            };
            let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if field > 1 {
                self.out.push(&[self.options.delimiter.unwrap_or(b' ')]);
            }
            if self.options.fields.iter().any(|(low, high)| (*low..=*high).contains(&field)) {
                self.field(text, field)?;
            } else {
                self.out.push(text);
            }
            match end {
                Some(end) => rest = rest.get(end + 1..).unwrap_or_default(),
                None => return Ok(()),
            }
        }
    }

    fn field(&mut self, text: &[u8], field: u64) -> Result<(), ToolResult> {
        let options = self.options;
        let bare = match &options.suffix {
            Some(suffix) if text.len() > suffix.len() => text.strip_suffix(suffix.as_slice()).unwrap_or(text),
            _ => text,
        };
        let blanks = bare.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        // Without a width in the format, a field keeps its width.
        let keeps = options.form.width == 0 && options.delimiter.is_none() && (blanks > 0 || field > 1);
        let width = if keeps { bare.len() } else { options.form.width };
        let written = number::parse(bare.get(blanks..).unwrap_or_default(), options.from)
            .map(|number| number.scaled(options.from_unit, options.to_unit))
            .and_then(|number| number.write(options.to, options.form.precision, options.round));
        match written {
            Ok(digits) => {
                let suffix = options.suffix.as_deref().unwrap_or_default();
                let left = options.form.left && !keeps;
                let form = Form { width, left, ..options.form.clone() };
                self.out.push(&form.apply(&[digits.as_bytes(), suffix].concat()));
            }
            Err(message) => {
                self.bad = true;
                match options.invalid {
                    Invalid::Abort => {
                        self.out.flush_now();
                        return Err(ToolResult::Failure(message, BAD));
                    }
                    Invalid::Fail | Invalid::Warn => {
                        self.out.flush_now();
                        print_error("numfmt", &message);
                    }
                    Invalid::Ignore => {}
                }
                self.out.push(text);
            }
        }
        Ok(())
    }
}

/// Default field separator.
fn blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}
