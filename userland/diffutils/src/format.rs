//! What is printed of two files that differ.

use tidebox_gnu::calendar::Moment;

use crate::Failure;
use crate::options::Style;
use crate::output::Output;
use crate::script::{Change, Script};

const NO_LINE_END: &[u8] = b"\\ No newline at end of file\n";

/// Prints the changes of a script. `headers` name both files in the styles that name them.
pub(crate) fn print(
    script: &Script<'_>,
    style: Style,
    headers: [&[u8]; 2],
    shows_function: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let (context, marks) = match style {
        Style::Normal => {
            return script
                .changes
                .iter()
                .filter(|change| !change.ignored)
                .try_for_each(|change| normal(script, change, output));
        }
        Style::Context(context) => (context, ["*** ", "--- "]),
        Style::Unified(context) => (context, ["--- ", "+++ "]),
    };
    for (mark, header) in marks.into_iter().zip(headers) {
        output.put(&[mark.as_bytes(), header, b"\n"].concat())?;
    }
    for changes in hunks(&script.changes, context) {
        if changes.iter().all(|change| change.ignored) {
            continue;
        }
        let Some(hunk) = Hunk::new(script, changes, context) else {
            continue;
        };
        let function = if shows_function { hunk.function() } else { Vec::new() };
        match style {
            Style::Unified(_) => hunk.unified(&function, output)?,
            _ => hunk.context(&function, output)?,
        }
    }
    Ok(())
}

/// The header of a file: its name and the time of its last change.
pub(crate) fn header(name: &[u8], mtime_ns: u64, style: Style) -> Vec<u8> {
    let moment = Moment::from_ns(mtime_ns);
    let field = |letter| moment.field(letter).unwrap_or_default();
    let mut out = named(name);
    out.push(b'\t');
    let time = match style {
        // Context output shows the time in the words of the C locale.
        Style::Context(_) => field('c'),
        _ => format!("{} {}.{:09} {}", field('F'), field('T'), moment.nanoseconds, field('z')),
    };
    out.extend_from_slice(time.as_bytes());
    out
}

/// A name, quoted as in C when a reader could take it for more or less than a name.
fn named(name: &[u8]) -> Vec<u8> {
    if !name.iter().any(|byte| matches!(byte, b' ' | b'"' | b'\\') || byte.is_ascii_control()) {
        return name.to_vec();
    }
    let mut out = vec![b'"'];
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte if byte.is_ascii_control() => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

fn line(mark: &[u8], line: &[u8], output: &mut Output) -> Result<(), Failure> {
    output.put(mark)?;
    output.put(line)?;
    if !line.ends_with(b"\n") {
        output.put(b"\n")?;
        output.put(NO_LINE_END)?;
    }
    Ok(())
}

fn normal(script: &Script<'_>, change: &Change, output: &mut Output) -> Result<(), Failure> {
    let Change { old, new, .. } = change;
    let letter = match (old.is_empty(), new.is_empty()) {
        (true, _) => 'a',
        (_, true) => 'd',
        _ => 'c',
    };
    // An empty range is named by the line before it.
    let range = |range: &std::ops::Range<usize>| match range.len() {
        0 | 1 => range.end.to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    };
    output.put(format!("{}{letter}{}\n", range(old), range(new)).as_bytes())?;
    for text in script.old.get(old.clone()).unwrap_or_default() {
        line(b"< ", text, output)?;
    }
    if letter == 'c' {
        output.put(b"---\n")?;
    }
    for text in script.new.get(new.clone()).unwrap_or_default() {
        line(b"> ", text, output)?;
    }
    Ok(())
}

/// Groups changes whose context touches. One that counts for nothing joins only from a shorter distance, as in GNU.
fn hunks(changes: &[Change], context: usize) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(move |before, after| {
        let reach = if after.ignored { context } else { context.saturating_mul(2).saturating_add(1) };
        after.old.start.saturating_sub(before.old.end) < reach
    })
}

/// Changes that are printed together, with context.
struct Hunk<'a> {
    script: &'a Script<'a>,
    changes: &'a [Change],
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl<'a> Hunk<'a> {
    fn new(script: &'a Script<'a>, changes: &'a [Change], context: usize) -> Option<Self> {
        let (first, last) = (changes.first()?, changes.last()?);
        // What is equal before and after is equally long on both sides.
        let before = context.min(first.old.start).min(first.new.start);
        let after = context
            .min(script.old.len().saturating_sub(last.old.end))
            .min(script.new.len().saturating_sub(last.new.end));
        let old = first.old.start - before..last.old.end + after;
        let new = first.new.start - before..last.new.end + after;
        Some(Self { script, changes, old, new })
    }

    /// The last line before the hunk that looks like the head of a C function.
    fn function(&self) -> Vec<u8> {
        let heads =
            |line: &&&[u8]| line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'));
        let before = self.script.old.get(..self.old.start).unwrap_or_default();
        let Some(line) = before.iter().rev().find(heads) else {
            return Vec::new();
        };
        let line = line.trim_ascii_end();
        let line = line.get(..line.len().min(40)).unwrap_or_default();
        [b" ", line.trim_ascii_end()].concat()
    }

    fn unified(&self, function: &[u8], output: &mut Output) -> Result<(), Failure> {
        let range = |range: &std::ops::Range<usize>| match range.len() {
            0 => format!("{},0", range.end),
            1 => range.end.to_string(),
            lines => format!("{},{lines}", range.start + 1),
        };
        output.put(format!("@@ -{} +{} @@", range(&self.old), range(&self.new)).as_bytes())?;
        output.put(function)?;
        output.put(b"\n")?;
        let (old, new) = (&self.script.old, &self.script.new);
        let mut at = self.old.start;
        for change in self.changes {
            for text in old.get(at..change.old.start).unwrap_or_default() {
                line(b" ", text, output)?;
            }
            for text in old.get(change.old.clone()).unwrap_or_default() {
                line(b"-", text, output)?;
            }
            for text in new.get(change.new.clone()).unwrap_or_default() {
                line(b"+", text, output)?;
            }
            at = change.old.end;
        }
        for text in old.get(at..self.old.end).unwrap_or_default() {
            line(b" ", text, output)?;
        }
        Ok(())
    }

    fn context(&self, function: &[u8], output: &mut Output) -> Result<(), Failure> {
        let range = |range: &std::ops::Range<usize>| match range.len() {
            0 | 1 => range.end.to_string(),
            _ => format!("{},{}", range.start + 1, range.end),
        };
        output.put(b"***************")?;
        output.put(function)?;
        output.put(format!("\n*** {} ****\n", range(&self.old)).as_bytes())?;
        if self.changes.iter().any(|change| !change.old.is_empty()) {
            self.side(&self.script.old, &self.old, b"- ", |change| &change.old, output)?;
        }
        output.put(format!("--- {} ----\n", range(&self.new)).as_bytes())?;
        if self.changes.iter().any(|change| !change.new.is_empty()) {
            self.side(&self.script.new, &self.new, b"+ ", |change| &change.new, output)?;
        }
        Ok(())
    }

    /// One version of the hunk.
    fn side(
        &self,
        lines: &[&[u8]],
        range: &std::ops::Range<usize>,
        mark: &[u8],
        part: impl Fn(&Change) -> &std::ops::Range<usize>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut at = range.start;
        for change in self.changes {
            let changed = part(change);
            for text in lines.get(at..changed.start).unwrap_or_default() {
                line(b"  ", text, output)?;
            }
            let replaced = !change.old.is_empty() && !change.new.is_empty();
            for text in lines.get(changed.clone()).unwrap_or_default() {
                line(if replaced { b"! " } else { mark }, text, output)?;
            }
            at = changed.end;
        }
        for text in lines.get(at..range.end).unwrap_or_default() {
            line(b"  ", text, output)?;
        }
        Ok(())
    }
}
