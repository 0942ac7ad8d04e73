//! `printf`.

mod argument;
mod extended;
mod float;
mod padding;
mod time;

use crate::builtins::option_letters::Letters;
use crate::escape::{Escapes, replace, unescape};
use crate::expand::{lossy, shell_quote};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use extended::Extended;
use float::float_digits;

/// Widest field and finest precision; more would only be a way to use up memory.
const MAX_WIDTH: usize = 1 << 26;

pub(super) fn printf(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut target = None;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        target = match (letter, letters.argument()) {
            (b'v', Some(name)) => Some(name),
            (b'v', None) => return Ok(letters.missing_argument(shell)),
            _ => return Ok(letters.invalid_option(shell)),
        };
    }
    let words = letters.words();
    let Some((format, rest)) = words.split_first() else { return Ok(shell.usage()) };
    if let Some(name) = target
        && shell.parse_element_name(name).is_none()
    {
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(name)));
        return Ok(2);
    }
    let keeps = target.is_some();
    let mut print =
        Printf { shell, args: rest, at: 0, out: Bytes::new(), keeps, status: 0, ended: false, unwritten: false };
    loop {
        let before = print.at;
        print.once(format);
        if print.ended || print.at >= rest.len() || print.at == before {
            break;
        }
    }
    let (out, status) = (print.out, print.status);
    let failed = print.unwritten;
    let Some(name) = target else {
        if failed {
            return Ok(1);
        }
        let written = shell.print(out);
        return Ok(status.max(written));
    };
    if shell.assign_element_name(name, out)? { Ok(status) } else { Ok(1) }
}

/// One directive: `%`, its flags, width and precision, and its letter.
#[derive(Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

struct Printf<'a> {
    shell: &'a mut Shell,
    args: &'a [Bytes],
    at: usize,
    out: Bytes,
    /// The text is for a variable, so that nothing is written.
    keeps: bool,
    status: u8,
    /// `\c` was met in an argument of `%b`, or the format is wrong.
    ended: bool,
    /// The output could not be written, and the error was reported.
    unwritten: bool,
}

impl Printf<'_> {
    /// The argument that comes next, if one is left.
    fn next(&mut self) -> Option<&Bytes> {
        let arg = self.args.get(self.at);
        self.at += usize::from(arg.is_some());
        arg
    }

    /// Reports an invalid argument or format.
    fn fail(&mut self, text: Bytes) {
        // Complete lines are written before an error is reported.
        if !self.keeps
            && let Some(at) = self.out.iter().rposition(|&byte| byte == b'\n')
        {
            let rest = self.out.split_off(at + 1);
            let lines = std::mem::replace(&mut self.out, rest);
            if self.shell.print(lines) > 0 {
                // As in bash, this ends the output before the error.
                (self.unwritten, self.ended) = (true, true);
                return;
            }
        }
        self.shell.report_builtin_error(text);
        self.status = 1;
    }

    /// Goes through the format once.
    fn once(&mut self, format: &[u8]) {
        let mut rest = format;
        while let Some((&byte, after)) = rest.split_first() {
            if self.ended {
                return;
            }
            match byte {
                b'\\' => {
                    let shell = &mut *self.shell;
                    rest = replace(Escapes::Ansi, after, &mut self.out, |missing| shell.report_builtin_error(missing));
                }
                b'%' if after.first() == Some(&b'%') => {
                    self.out.push(b'%');
                    rest = after.get(1..).unwrap_or_default();
                }
                b'%' => rest = self.directive(after),
                _ => {
                    self.out.push(byte);
                    rest = after;
                }
            }
        }
    }

    /// A width or a precision: digits, or `*` for the next argument.
    fn count<'b>(&mut self, text: &'b [u8]) -> (i64, &'b [u8]) {
        if text.first() == Some(&b'*') {
            let arg = self.next().cloned().unwrap_or_default();
            return (self.integer(&arg), text.get(1..).unwrap_or_default());
        }
        let len = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
        let value = text.iter().take(len).fold(0_i64, |n, b| n.saturating_mul(10).saturating_add(i64::from(b - b'0')));
        (value, text.get(len..).unwrap_or_default())
    }

    /// Processes a directive after its `%`. Returns the following text.
    fn directive<'b>(&mut self, text: &'b [u8]) -> &'b [u8] {
        let whole = text;
        let mut spec = Spec::default();
        let mut rest = text;
        while let Some((&flag, after)) = rest.split_first() {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'0' => spec.zero = true,
                b'#' => spec.alternate = true,
                b'\'' => {}
                _ => break,
            }
            rest = after;
        }
        let (width, after) = self.count(rest);
        rest = after;
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if rest.first() == Some(&b'.') {
            let (precision, after) = self.count(rest.get(1..).unwrap_or_default());
            rest = after;
            spec.precision = usize::try_from(precision).ok();
        }
        if spec.width > MAX_WIDTH || spec.precision.is_some_and(|precision| precision > MAX_WIDTH) {
            self.fail(format!("field width or precision above {MAX_WIDTH}").into_bytes());
            self.ended = true;
            return rest;
        }
        while let Some((b'l' | b'h' | b'j' | b'z' | b't' | b'L' | b'q', after)) = rest.split_first() {
            if rest.first() == Some(&b'q') {
                break;
            }
            rest = after;
        }
        if rest.first() == Some(&b'(') {
            return self.time(&spec, rest);
        }
        let Some((&letter, after)) = rest.split_first() else {
            self.fail([b"`%", whole, b"': missing format character"].concat());
            self.ended = true;
            return rest;
        };
        self.convert(letter, &spec);
        after
    }

    /// Converts the next argument.
    fn convert(&mut self, letter: u8, spec: &Spec) {
        match letter {
            b's' | b'b' | b'q' | b'Q' => self.convert_text(letter, spec),
            b'c' => {
                let arg = self.next().cloned().unwrap_or_default();
                // An empty argument is C's empty string, whose first byte ends it.
                self.pad_text(spec, arg.get(..1).unwrap_or(b"\0"));
            }
            b'd' | b'i' => {
                let arg = self.next().cloned().unwrap_or_default();
                let value = self.integer(&arg);
                self.pad_number(spec, value < 0, value.unsigned_abs().to_string(), "");
            }
            b'u' | b'o' | b'x' | b'X' => self.convert_unsigned(letter, spec),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                let arg = self.next().cloned().unwrap_or_default();
                let value = self.float(&arg);
                let exact = self.exact(letter, &arg, spec);
                let digits = exact.unwrap_or_else(|| {
                    float_digits(letter, value.abs(), spec.precision.unwrap_or(6).min(4096), spec.alternate)
                });
                let plain = Spec { precision: None, zero: spec.zero && value.is_finite(), ..*spec };
                self.pad_number(&plain, value.is_sign_negative(), digits, "");
            }
            b'n' => {
                if let Some(name) = self.next().cloned() {
                    let count = self.out.len().to_string().into_bytes();
                    // A rejected assignment was reported.
                    if !matches!(self.shell.assign_element_name(&name, count), Ok(true)) {
                        self.status = 1;
                    }
                }
            }
            other => {
                self.fail([b"`", &[other][..], b"': invalid format character"].concat());
                self.ended = true;
            }
        }
    }

    /// `%s`, `%b`, `%q`, `%Q`
    fn convert_text(&mut self, letter: u8, spec: &Spec) {
        let arg = self.next().cloned().unwrap_or_default();
        match letter {
            b's' => self.pad_text(spec, &arg),
            b'q' => self.pad_text(spec, &shell_quote(&arg)),
            b'b' => {
                let shell = &mut *self.shell;
                let report = |missing: &str| shell.report_builtin_error(missing);
                let (text, ended) = unescape(Escapes::Operand, &arg, report);
                self.pad_text(spec, &text);
                self.ended |= ended;
            }
            _ => {
                // The precision applies to the argument before quoting.
                let kept = spec.precision.and_then(|limit| arg.get(..limit)).unwrap_or(&arg);
                self.pad_text(&Spec { precision: None, ..*spec }, &shell_quote(kept));
            }
        }
    }

    /// `%u`, `%o`, `%x`, `%X`
    fn convert_unsigned(&mut self, letter: u8, spec: &Spec) {
        let arg = self.next().cloned().unwrap_or_default();
        let value = self.integer(&arg) as u64;
        let (digits, prefix) = match letter {
            b'u' => (value.to_string(), ""),
            b'o' => (
                format!("{value:o}"),
                if spec.alternate && (value != 0 || spec.precision == Some(0)) { "0" } else { "" },
            ),
            b'x' => (format!("{value:x}"), if spec.alternate && value != 0 { "0x" } else { "" }),
            _ => (format!("{value:X}"), if spec.alternate && value != 0 { "0X" } else { "" }),
        };
        let plain = Spec { plus: false, space: false, ..*spec };
        self.pad_number(&plain, false, digits, prefix);
    }

    /// `%f` and `%a` of plain decimals, with the precision that C's widest type has.
    fn exact(&self, letter: u8, arg: &[u8], spec: &Spec) -> Option<String> {
        let arg = arg.trim_ascii_start();
        match letter {
            b'f' | b'F' if !spec.alternate => Extended::parse(arg)?.fixed(spec.precision.unwrap_or(6).min(4096)),
            b'a' => Some(Extended::parse(arg)?.hexadecimal(spec.precision)),
            b'A' => Some(Extended::parse(arg)?.hexadecimal(spec.precision).to_uppercase()),
            _ => None,
        }
    }
}
