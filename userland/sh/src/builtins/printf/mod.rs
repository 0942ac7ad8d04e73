//! `printf`.

use crate::escape::{Escapes, replace, unescape};
use crate::expand::{lossy, shell_quote};
use crate::ir::Bytes;
use crate::state::{Run, Shell};

mod extended;
mod hexadecimal;

use extended::Extended;
use hexadecimal::hexadecimal;

/// Widest field and finest precision; more would only be a way to use up memory.
const MAX_WIDTH: usize = 1 << 26;

pub(super) fn printf(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    const USAGE: &str = "printf [-v var] format [arguments]";
    let mut target: Option<Bytes> = None;
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        match letters {
            b"-" => break,
            b"v" => {
                let Some((name, rest)) = words.split_first() else {
                    shell.complain_builtin("-v: option requires an argument");
                    return Ok(shell.usage(USAGE));
                };
                target = Some(name.clone());
                words = rest;
            }
            [b'v', name @ ..] => target = Some(name.to_vec()),
            [letter, ..] => return Ok(shell.bad_option(&[b'-', *letter], USAGE)),
            [] => break,
        }
    }
    let Some((format, rest)) = words.split_first() else { return Ok(shell.usage(USAGE)) };
    let target = target.as_ref();
    if let Some(name) = target
        && shell.place_of(name).is_none()
    {
        shell.complain_builtin(format!("`{}': not a valid identifier", lossy(name)));
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
    if shell.assign_place(name, out)? { Ok(status) } else { Ok(1) }
}

/// One `%` with what stands between it and its letter.
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
    /// Something could not be written, which has been told.
    unwritten: bool,
}

impl Printf<'_> {
    fn next(&mut self) -> Option<&Bytes> {
        let arg = self.args.get(self.at);
        self.at += usize::from(arg.is_some());
        arg
    }

    fn fail(&mut self, text: Bytes) {
        // Lines that are complete have been written before anything is complained about.
        if !self.keeps
            && let Some(at) = self.out.iter().rposition(|&byte| byte == b'\n')
        {
            let rest = self.out.split_off(at + 1);
            let lines = std::mem::replace(&mut self.out, rest);
            if self.shell.print(lines) > 0 {
                // With that bash ends, before it comes to the mistake.
                (self.unwritten, self.ended) = (true, true);
                return;
            }
        }
        self.shell.complain_builtin(text);
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
                    rest = replace(Escapes::Ansi, after, &mut self.out, |missing| shell.complain_builtin(missing));
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

    fn count<'b>(&mut self, text: &'b [u8]) -> (i64, &'b [u8]) {
        if text.first() == Some(&b'*') {
            let arg = self.next().cloned().unwrap_or_default();
            return (self.integer(&arg), text.get(1..).unwrap_or_default());
        }
        let len = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
        let value = text.iter().take(len).fold(0_i64, |n, b| n.saturating_mul(10).saturating_add(i64::from(b - b'0')));
        (value, text.get(len..).unwrap_or_default())
    }

    /// A directive after its `%`; answers what follows.
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

    fn convert(&mut self, letter: u8, spec: &Spec) {
        match letter {
            b's' | b'b' | b'q' | b'Q' => {
                let arg = self.next().cloned().unwrap_or_default();
                let text = match letter {
                    b'b' => {
                        let shell = &mut *self.shell;
                        let complain = |missing: &str| shell.complain_builtin(missing);
                        let (text, ended) = unescape(Escapes::Operand, &arg, complain);
                        self.pad_text(spec, &text);
                        self.ended |= ended;
                        return;
                    }
                    b's' => arg,
                    b'q' => shell_quote(&arg),
                    _ => {
                        // The precision is that of the argument and not of what the quotes make of it.
                        let kept = spec.precision.and_then(|most| arg.get(..most)).unwrap_or(&arg);
                        let quoted = shell_quote(kept);
                        return self.pad_text(&Spec { precision: None, ..*spec }, &quoted);
                    }
                };
                self.pad_text(spec, &text);
            }
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
            b'u' | b'o' | b'x' | b'X' => {
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
                    // A refusal was complained about.
                    if !matches!(self.shell.assign_place(&name, count), Ok(true)) {
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

    fn pad_text(&mut self, spec: &Spec, text: &[u8]) {
        let kept = match spec.precision {
            Some(most) if most < text.len() => text.get(..most).unwrap_or(text),
            _ => text,
        };
        let pad = spec.width.saturating_sub(kept.len());
        if !spec.left {
            self.out.extend(std::iter::repeat_n(b' ', pad));
        }
        self.out.extend_from_slice(kept);
        if spec.left {
            self.out.extend(std::iter::repeat_n(b' ', pad));
        }
    }

    fn pad_number(&mut self, spec: &Spec, negative: bool, digits: String, prefix: &str) {
        let sign = match (negative, spec.plus, spec.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        let mut body = digits;
        if let Some(precision) = spec.precision {
            if precision == 0 && body == "0" {
                body.clear();
            }
            let missing = precision.saturating_sub(body.len());
            body.insert_str(0, &"0".repeat(missing));
        }
        let used = sign.len() + prefix.len() + body.len();
        let pad = spec.width.saturating_sub(used);
        let zeros = spec.zero && !spec.left && spec.precision.is_none();
        let (before, inside, after) = match (zeros, spec.left) {
            (true, _) => (0, pad, 0),
            (false, true) => (0, 0, pad),
            (false, false) => (pad, 0, 0),
        };
        self.out.extend(std::iter::repeat_n(b' ', before));
        self.out.extend_from_slice(sign.as_bytes());
        self.out.extend_from_slice(prefix.as_bytes());
        self.out.extend(std::iter::repeat_n(b'0', inside));
        self.out.extend_from_slice(body.as_bytes());
        self.out.extend(std::iter::repeat_n(b' ', after));
    }

    /// The value of an argument of `%d` and its kind: C's notations, or a quote and a character.
    fn integer(&mut self, arg: &[u8]) -> i64 {
        if let Some((b'\'' | b'"', rest)) = arg.split_first() {
            return i64::from(code_of_first(rest));
        }
        let text = arg.trim_ascii_start();
        let (negative, digits) = match text.split_first() {
            Some((b'-', digits)) => (true, digits),
            Some((b'+', digits)) => (false, digits),
            _ => (false, text),
        };
        let (radix, digits) = match digits {
            [b'0', b'x' | b'X', hex @ ..] => (16, hex),
            [b'0', octal @ ..] if !octal.is_empty() => (8, octal),
            _ => (10, digits),
        };
        let mut value: u64 = 0;
        let mut over = false;
        let mut len = 0;
        for &byte in digits {
            let Some(digit) = char::from(byte).to_digit(radix) else { break };
            let next = value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(u64::from(digit)));
            over |= next.is_none();
            value = next.unwrap_or(u64::MAX);
            len += 1;
        }
        if len != digits.len() || (len == 0 && !arg.is_empty()) {
            let kind: &[u8] = match radix {
                8 if !arg.starts_with(b"-") && digits.first().is_some_and(u8::is_ascii_digit) => {
                    b": invalid octal number"
                }
                16 => b": invalid hex number",
                _ => b": invalid number",
            };
            self.fail([arg, kind].concat());
        }
        let limit = if negative { 1 << 63 } else { u64::MAX };
        if over || value > limit {
            // Only a warning, so the status stays.
            self.shell.complain_builtin([b"warning: ", arg, b": Numerical result out of range"].concat());
            return if negative { i64::MIN } else { i64::MAX };
        }
        if negative { (value as i64).wrapping_neg() } else { value as i64 }
    }

    fn float(&mut self, arg: &[u8]) -> f64 {
        if let Some((b'\'' | b'"', rest)) = arg.split_first() {
            return f64::from(code_of_first(rest));
        }
        let text = lossy(arg.trim_ascii_start()).into_owned();
        if text.is_empty() {
            if !arg.is_empty() {
                self.fail([arg, b": invalid number"].concat());
            }
            return 0.0;
        }
        if let Some((value, rest)) = hexadecimal(&text) {
            if !rest.is_empty() {
                self.fail([arg, b": invalid hex number"].concat());
            }
            return value;
        }
        match text.parse() {
            Ok(value) => value,
            Err(_) => {
                let good = (1..text.len()).rev().find_map(|len| text.get(..len)?.parse().ok());
                let kind: &[u8] = match arg {
                    [b'0', b'0'..=b'9', ..] => b": invalid octal number",
                    [b'0', b'x' | b'X', ..] => b": invalid hex number",
                    _ => b": invalid number",
                };
                self.fail([arg, kind].concat());
                good.unwrap_or(0.0)
            }
        }
    }

    /// `%(format)T`: the argument is seconds since the epoch, -1 now, -2 the shell's start.
    fn time<'b>(&mut self, spec: &Spec, text: &'b [u8]) -> &'b [u8] {
        let end = end_of_time(text);
        let Some(len) = end.filter(|&end| text.get(end + 1) == Some(&b'T')) else {
            let letter = end.and_then(|end| text.get(end + 1..end + 2)).unwrap_or_default();
            // Only a warning, so the status stays; the text is one as any other.
            let warning = [b"warning: `", letter, b"': invalid time format specification"].concat();
            self.shell.complain_builtin(warning);
            self.out.push(b'%');
            return text;
        };
        let format = text.get(1..len).unwrap_or_default();
        let seconds = match self.next().cloned() {
            None => -1,
            Some(arg) => self.integer(&arg),
        };
        let now = || i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        let seconds = match seconds {
            -1 => now(),
            -2 => {
                let passed = tidebox_rt::monotonic_ns().saturating_sub(self.shell.started_ns) / 1_000_000_000;
                now().saturating_sub(i64::try_from(passed).unwrap_or(0))
            }
            seconds => seconds,
        };
        let shown = self.shell.format_time(if format.is_empty() { b"%X" } else { format }, seconds);
        self.pad_text(spec, &shown);
        text.get(len + 2..).unwrap_or_default()
    }
}

/// Where the parenthesis is that closes the one at the start.
fn end_of_time(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    text.iter().position(|byte| {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    })
}

/// Digits of a number that is not negative, as C's `printf` writes them.
fn float_digits(letter: u8, value: f64, precision: usize, alternate: bool) -> String {
    let upper = letter.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match letter.to_ascii_lowercase() {
            b'e' => exponent(value, precision, alternate),
            b'g' => general(value, precision.max(1), alternate),
            b'a' => format!("{value:e}"),
            _ if alternate && precision == 0 => format!("{value:.0}."),
            _ => format!("{value:.precision$}"),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

/// `d.ddde+dd`, with a point in any case if it is the alternate form.
fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let (sign, digits) = match power.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', power),
            };
            let point = if alternate && precision == 0 { "." } else { "" };
            format!("{mantissa}{point}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// The shorter of both notations, without zeros at the end.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponent(value, precision - 1, false);
    let power: i64 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let limit = i64::try_from(precision).unwrap_or(i64::MAX);
    let trim = |text: &str| {
        if !text.contains('.') {
            return if alternate { format!("{text}.") } else { text.to_owned() };
        }
        if alternate {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if power < -4 || power >= limit {
        return match scientific.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", trim(mantissa)),
            None => scientific,
        };
    }
    let decimals = usize::try_from(limit - 1 - power).unwrap_or(0);
    trim(&format!("{value:.decimals$}"))
}

/// The number of the first character, or of its first byte where it is none.
fn code_of_first(text: &[u8]) -> u32 {
    let char = text.get(..crate::character::char_len(text)).unwrap_or_default();
    let decoded =
        if char.len() > 1 { std::str::from_utf8(char).ok().and_then(|char| char.chars().next()) } else { None };
    decoded.map_or_else(|| text.first().copied().map_or(0, u32::from), u32::from)
}
