//! `s` and `y`.

use super::{Parser, Result};
use crate::replacement::{Case, Part, Replacement};
use crate::script::{Action, Substitute, Target, Translate};

/// Flags after the last delimiter of `s`.
#[derive(Debug, Default)]
struct Flags {
    number: Option<u64>,
    global: bool,
    print: bool,
    ignore_case: bool,
    lines: bool,
    print_first: bool,
    execute: bool,
    write: Option<Target>,
}

impl Parser<'_> {
    pub(super) fn substitute(&mut self) -> Result<Action> {
        let Some(delimiter) = self.next().filter(|delimiter| !matches!(delimiter, b'\n' | b'\\')) else {
            return self.error("unterminated `s' command");
        };
        let Some(source) = self.delimited(delimiter, true)? else {
            return self.error("unterminated `s' command");
        };
        let Some(replacement) = self.delimited(delimiter, false)? else {
            return self.error("unterminated `s' command");
        };
        let flags = self.flags()?;
        let pattern = self.pattern(source, flags.ignore_case, flags.lines)?;
        let replacement = parse_replacement(&replacement);
        let groups = match pattern {
            crate::script::Pattern::Number(number) => self.script.regexes.get(number).map_or(0, |regex| regex.groups()),
            crate::script::Pattern::Last => usize::MAX,
        };
        if replacement.most_group() > groups {
            return self.error(format_args!("invalid reference \\{} on `s' command's RHS", replacement.most_group()));
        }
        Ok(Action::Substitute(Box::new(Substitute {
            pattern,
            replacement,
            from: flags.number.unwrap_or(1),
            global: flags.global,
            print: flags.print,
            print_first: flags.print_first,
            execute: flags.execute,
            write: flags.write,
        })))
    }

    fn flags(&mut self) -> Result<Flags> {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'g') if flags.global => {
                    self.next();
                    return self.error("multiple `g' options to `s' command");
                }
                Some(b'p') if flags.print => {
                    self.next();
                    return self.error("multiple `p' options to `s' command");
                }
                Some(b'0'..=b'9') => {
                    if flags.number.is_some() {
                        self.next();
                        return self.error("multiple number options to `s' command");
                    }
                    flags.number = self.number();
                    if flags.number == Some(0) {
                        return self.error("number option to `s' command may not be zero");
                    }
                    continue;
                }
                Some(b'g') => flags.global = true,
                Some(b'p') => flags.print = true,
                Some(b'i' | b'I') => flags.ignore_case = true,
                Some(b'm' | b'M') => flags.lines = true,
                Some(b'e') => {
                    self.next();
                    self.refuse_in_sandbox()?;
                    flags.execute = true;
                    (flags.print_first, flags.print) = (flags.print, false);
                    continue;
                }
                Some(b' ' | b'\t') => {}
                Some(b'w') => {
                    self.next();
                    let name = self.file_name()?;
                    flags.write = Some(self.target(name));
                    return Ok(flags);
                }
                None | Some(b'\n' | b';' | b'}' | b'#') => return Ok(flags),
                // Only here, because GNU sed ignores carriage returns at this position.
                Some(b'\r') => {
                    self.next();
                    return if matches!(self.peek(), None | Some(b'\n')) {
                        Ok(flags)
                    } else {
                        self.error("unknown option to `s'")
                    };
                }
                Some(_) => {
                    self.next();
                    return self.error("unknown option to `s'");
                }
            }
            self.next();
        }
    }

    pub(super) fn translate(&mut self) -> Result<Action> {
        let Some(delimiter) = self.next().filter(|delimiter| !matches!(delimiter, b'\n' | b'\\')) else {
            return self.error("unterminated `y' command");
        };
        let (from, to) = (self.delimited(delimiter, false)?, self.delimited(delimiter, false)?);
        let (Some(from), Some(to)) = (from, to) else {
            return self.error("unterminated `y' command");
        };
        let (from, to) = (characters(&from), characters(&to));
        if from.len() != to.len() {
            return self.error("strings for `y' command are different lengths");
        }
        Ok(Action::Translate(Box::new(Translate { pairs: from.into_iter().zip(to).collect() })))
    }
}

/// The characters of one side of `y`. An invalid UTF-8 byte counts as one.
fn characters(text: &[u8]) -> Vec<Vec<u8>> {
    let mut characters = Vec::new();
    let mut escaped = false;
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            let char = match (escaped, char) {
                (false, '\\') => {
                    escaped = true;
                    continue;
                }
                (true, 'n') => '\n',
                (true, '\\') => '\\',
                (true, other) if other != '\n' && other != '&' => {
                    characters.push(b"\\".to_vec());
                    other
                }
                (_, other) => other,
            };
            escaped = false;
            characters.push(char.to_string().into_bytes());
        }
        characters.extend(chunk.invalid().iter().map(|byte| vec![*byte]));
    }
    if escaped {
        characters.push(b"\\".to_vec());
    }
    characters
}

/// Parses a replacement.
pub(crate) fn parse_replacement(source: &[u8]) -> Replacement {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = source;
    let push = |parts: &mut Vec<Part>, byte: u8| match parts.last_mut() {
        Some(Part::Text(text)) => text.push(byte),
        _ => parts.push(Part::Text(vec![byte])),
    };
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'&' => parts.push(Part::Group(0)),
            b'\\' => {
                let Some((letter, after)) = rest.split_first() else {
                    push(&mut parts, b'\\');
                    break;
                };
                rest = after;
                match letter {
                    b'0'..=b'9' => parts.push(Part::Group(usize::from(letter - b'0'))),
                    b'n' => push(&mut parts, b'\n'),
                    // No character follows to make a control character.
                    b'c' if rest.is_empty() => push(&mut parts, b'\\'),
                    b'U' => parts.push(Part::Case(Case::Upper)),
                    b'L' => parts.push(Part::Case(Case::Lower)),
                    b'u' => parts.push(Part::Case(Case::UpperNext)),
                    b'l' => parts.push(Part::Case(Case::LowerNext)),
                    b'E' => parts.push(Part::Case(Case::End)),
                    other => push(&mut parts, *other),
                }
            }
            byte => push(&mut parts, *byte),
        }
    }
    Replacement { parts }
}
