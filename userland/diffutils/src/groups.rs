//! Merged output with formats for lines and groups of lines.

use crate::Failure;
use crate::output::Output;
use crate::script::Script;

/// Formats for lines: those of the old text, of the new one, and of both; the same three for groups, and one for changed groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Formats {
    pub(crate) old_line: Option<Vec<u8>>,
    pub(crate) new_line: Option<Vec<u8>>,
    pub(crate) same_line: Option<Vec<u8>>,
    pub(crate) old_group: Option<Vec<u8>>,
    pub(crate) new_group: Option<Vec<u8>>,
    pub(crate) same_group: Option<Vec<u8>>,
    pub(crate) changed_group: Option<Vec<u8>>,
}

impl Formats {
    /// Formats for `-D NAME`.
    pub(crate) fn ifdef(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name).replace('%', "%%");
        let text = |text: String| Some(text.into_bytes());
        self.same_group = Some(b"%=".to_vec());
        self.old_group = text(format!("#ifndef {name}\n%<#endif /* ! {name} */\n"));
        self.new_group = text(format!("#ifdef {name}\n%>#endif /* {name} */\n"));
        self.changed_group = text(format!("#ifndef {name}\n%<#else /* {name} */\n%>#endif /* {name} */\n"));
    }

    /// Sets a format that has no other value. An error is the message of a conflict.
    pub(crate) fn set(slot: &mut Option<Vec<u8>>, value: Vec<u8>, option: &str) -> Result<(), Failure> {
        match slot {
            Some(other) if *other != value => {
                Err(Failure::Other(format!("conflicting {option} option value '{}'", String::from_utf8_lossy(&value))))
            }
            _ => {
                *slot = Some(value);
                Ok(())
            }
        }
    }
}

/// A group of lines: its range in both texts.
struct Group {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// Prints both texts.
pub(crate) fn print(script: &Script<'_>, formats: &Formats, output: &mut Output) -> Result<(), Failure> {
    let printer = Printer { script, formats };
    let (mut old, mut new) = (0, 0);
    for change in script.changes.iter().filter(|change| !change.ignored) {
        printer.group(&Group { old: old..change.old.start, new: new..change.new.start }, true, output)?;
        printer.group(&Group { old: change.old.clone(), new: change.new.clone() }, false, output)?;
        (old, new) = (change.old.end, change.new.end);
    }
    printer.group(&Group { old: old..script.old.len(), new: new..script.new.len() }, true, output)
}

struct Printer<'a> {
    script: &'a Script<'a>,
    formats: &'a Formats,
}

impl Printer<'_> {
    fn group(&self, group: &Group, same: bool, output: &mut Output) -> Result<(), Failure> {
        let formats = self.formats;
        let or = |format: &Option<Vec<u8>>, default: &[u8]| format.clone().unwrap_or_else(|| default.to_vec());
        let (old, new) = (or(&formats.old_group, b"%<"), or(&formats.new_group, b"%>"));
        let format = match (same, group.old.is_empty(), group.new.is_empty()) {
            (_, true, true) => return Ok(()),
            (true, ..) => or(&formats.same_group, b"%="),
            (_, true, _) => new,
            (_, _, true) => old,
            _ => formats.changed_group.clone().unwrap_or_else(|| [old, new].concat()),
        };
        self.format(&format, group, output)
    }

    fn format(&self, format: &[u8], group: &Group, output: &mut Output) -> Result<(), Failure> {
        let mut rest = format;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            if *byte != b'%' {
                output.put(&[*byte])?;
                continue;
            }
            rest = match after.split_first() {
                Some((b'<', after)) => {
                    let format = self.formats.old_line.as_deref();
                    self.lines(&self.script.old, group.old.clone(), format, output)?;
                    after
                }
                Some((b'>', after)) => {
                    let format = self.formats.new_line.as_deref();
                    self.lines(&self.script.new, group.new.clone(), format, output)?;
                    after
                }
                Some((b'=', after)) => {
                    let format = self.formats.same_line.as_deref();
                    self.lines(&self.script.old, group.old.clone(), format, output)?;
                    after
                }
                _ => match number(after, |letter| count(letter, group)) {
                    Some((text, after)) => {
                        output.put(&text)?;
                        after
                    }
                    None => percent(after, output)?,
                },
            };
        }
        Ok(())
    }

    fn lines(
        &self,
        lines: &[&[u8]],
        range: std::ops::Range<usize>,
        format: Option<&[u8]>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        for (at, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
            let Some(format) = format else {
                output.put(line)?;
                continue;
            };
            let mut rest = format;
            while let Some((byte, after)) = rest.split_first() {
                rest = after;
                if *byte != b'%' {
                    output.put(&[*byte])?;
                    continue;
                }
                rest = match after.split_first() {
                    Some((b'L', after)) => {
                        output.put(line)?;
                        after
                    }
                    Some((b'l', after)) => {
                        output.put(line.strip_suffix(b"\n").unwrap_or(line))?;
                        after
                    }
                    _ => match number(after, |letter| (letter == b'n').then_some(at as i64 + 1)) {
                        Some((text, after)) => {
                            output.put(&text)?;
                            after
                        }
                        None => percent(after, output)?,
                    },
                };
            }
        }
        Ok(())
    }
}

/// Returns the number for a letter of a group format.
fn count(letter: u8, group: &Group) -> Option<i64> {
    let range = if letter.is_ascii_lowercase() { &group.old } else { &group.new };
    let (start, end) = (i64::try_from(range.start).ok()?, i64::try_from(range.end).ok()?);
    Some(match letter.to_ascii_lowercase() {
        b'f' => start + 1,
        b'l' => end,
        b'n' => end - start,
        b'e' => start,
        b'm' => end + 1,
        _ => return None,
    })
}

/// `%[-']*[WIDTH][.PRECISION]{doxX}LETTER`
fn number(text: &[u8], value: impl Fn(u8) -> Option<i64>) -> Option<(Vec<u8>, &[u8])> {
    let flags = text.iter().take_while(|byte| matches!(byte, b'-' | b'\'' | b'0')).count();
    let (flags, rest) = text.split_at_checked(flags)?;
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (width, rest) = rest.split_at_checked(digits(rest))?;
    let (precision, rest) = match rest.strip_prefix(b".") {
        Some(rest) => rest.split_at_checked(digits(rest))?,
        None => (&b""[..], rest),
    };
    let (kind, rest) = rest.split_first()?;
    let (letter, rest) = rest.split_first()?;
    let value = value(*letter)?;
    let shown = match kind {
        b'd' => value.to_string(),
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => return None,
    };
    let size = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<usize>().ok().map(|size| size.min(4096));
    let precision = size(precision).unwrap_or(0);
    let shown = format!("{shown:0>precision$}");
    let width = size(width).unwrap_or(0);
    let out = match (flags.contains(&b'-'), flags.contains(&b'0')) {
        (true, _) => format!("{shown:<width$}"),
        (_, true) => format!("{shown:0>width$}"),
        _ => format!("{shown:>width$}"),
    };
    Some((out.into_bytes(), rest))
}

/// Prints `%%` as a percent sign; anything else is literal.
fn percent<'f>(text: &'f [u8], output: &mut Output) -> Result<&'f [u8], Failure> {
    output.put(b"%")?;
    Ok(text.strip_prefix(b"%").unwrap_or(text))
}
