//! Implementation of `s`, `y` and `e`.

use tidebox_gnu::command::Command as Program;
use tidebox_gnu::regex::Regex;

use super::Machine;
use crate::script::{Substitute, Translate};

impl<'a> Machine<'a> {
    pub(super) fn substitute(&mut self, substitute: &'a Substitute) {
        let Some(regex) = self.regex(substitute.pattern) else {
            return;
        };
        let replaced = match replace(regex, substitute, &self.space) {
            Ok(Some(replaced)) => replaced,
            Ok(None) => return,
            Err(error) => {
                self.failure = Some(error.to_string());
                return;
            }
        };
        self.space = replaced;
        self.replaced = true;
        if substitute.print_first {
            self.out.line(&self.space, self.ended);
        }
        if substitute.execute {
            let line = std::mem::take(&mut self.space);
            self.space = self.output_of(&line);
            if self.space.last() == Some(&self.options.delimiter) {
                self.space.pop();
            }
        }
        if substitute.print {
            self.out.line(&self.space, self.ended);
        }
        if let Some(target) = substitute.write {
            self.out.write(target, &self.space, self.ended);
        }
    }

    pub(super) fn translate(&mut self, translate: &Translate) {
        let mut out = Vec::with_capacity(self.space.len());
        let mut rest = self.space.as_slice();
        while let Some(first) = rest.first() {
            let pair = translate.pairs.iter().find(|(from, _)| rest.starts_with(from));
            // Whole characters are compared, because UTF-8 lead and continuation bytes are distinct.
            let (used, to): (usize, &[u8]) = match pair {
                Some((from, to)) => (from.len(), to),
                None => (1, std::slice::from_ref(first)),
            };
            out.extend_from_slice(to);
            rest = rest.get(used..).unwrap_or_default();
        }
        self.space = out;
    }

    /// `e`: runs a command line and prints its output; without an argument, the pattern space is the command line.
    pub(super) fn execute(&mut self, line: &[u8]) {
        if line.is_empty() {
            let line = std::mem::take(&mut self.space);
            self.space = self.output_of(&line);
            if self.space.last() == Some(&self.options.delimiter) {
                self.space.pop();
            }
            // The output of a program is a line with a newline, whatever the command line was.
            self.ended = true;
            return;
        }
        let text = self.output_of(line);
        self.out.text(&text);
    }

    /// Output of a command line.
    pub(super) fn output_of(&mut self, line: &[u8]) -> Vec<u8> {
        self.out.flush();
        match run_line(line) {
            Ok(text) => text,
            Err(error) => {
                self.failure = Some(format!("error running the command: {}", error.text()));
                Vec::new()
            }
        }
    }
}

pub(super) fn run_line(line: &[u8]) -> tidebox_rt::Result<Vec<u8>> {
    let (from, to) = tidebox_rt::pipe()?;
    let descriptors = [(0, 0), (1, to), (2, 2)];
    let arguments: [&[u8]; 3] = [b"sh", b"-c", line];
    let command = Program { descriptors: &descriptors, ..Program::new(&arguments) };
    let started = command.spawn();
    // The child's write end of the pipe must be the only one.
    tidebox_rt::close(to)?;
    let pid = started?;
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = tidebox_rt::read(from, &mut piece)?;
        if count == 0 {
            break;
        }
        text.extend_from_slice(piece.get(..count).unwrap_or_default());
    }
    tidebox_rt::close(from)?;
    tidebox_gnu::command::wait(pid)?;
    Ok(text)
}

/// The text with its matches replaced; `None` without a match.
pub(super) fn replace(
    regex: &Regex,
    substitute: &Substitute,
    text: &[u8],
) -> Result<Option<Vec<u8>>, tidebox_gnu::regex::Error> {
    let mut out = Vec::with_capacity(text.len());
    let (mut at, mut copied, mut count) = (0, 0, 0u64);
    let mut any = false;
    // End of the last match: an empty match directly there does not count.
    let mut last_end = None;
    while at <= text.len() {
        let Some(groups) = regex.captures(text, at)? else {
            break;
        };
        let Some(Some(found)) = groups.first().cloned() else {
            break;
        };
        if found.is_empty() && last_end == Some(found.start) {
            at = found.end + 1;
            continue;
        }
        count += 1;
        last_end = Some(found.end);
        if count >= substitute.from {
            any = true;
            out.extend_from_slice(text.get(copied..found.start).unwrap_or_default());
            substitute.replacement.write(text, &groups, &mut out);
            copied = found.end;
            if !substitute.global {
                break;
            }
        }
        at = if found.is_empty() { found.end + 1 } else { found.end };
    }
    if !any {
        return Ok(None);
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Ok(Some(out))
}
