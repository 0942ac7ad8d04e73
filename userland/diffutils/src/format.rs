//! Output of differences.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::message::unicode_locale;

use crate::options::{Heading, Layout, Options, Palette, Style};
use crate::output::Output;
use crate::script::{Change, Script, expanded};
use crate::{Failure, columns, edits, groups};

const NO_LINE_END: &[u8] = b"\\ No newline at end of file\n";

/// Prints the changes of a script. `headers` are the file headers, for the formats that have them.
pub(crate) fn print(
    script: &Script<'_>,
    options: &Options,
    headers: [&[u8]; 2],
    output: &mut Output,
) -> Result<(), Failure> {
    let layout = &options.layout;
    let printer = Printer { layout };
    let (context, marks) = match options.style {
        Style::Normal => return script.counted().try_for_each(|change| printer.normal(script, change, output)),
        Style::Ed => return edits::ed(script, output),
        Style::Rcs => return edits::rcs(script, output),
        Style::Columns => return columns::print(script, layout, output),
        Style::Groups => return groups::print(script, &options.formats, output),
        Style::Context(context) => (context, ["*** ", "--- "]),
        Style::Unified(context) => (context, ["--- ", "+++ "]),
    };
    for (mark, header) in marks.into_iter().zip(headers) {
        printer.painted(|palette| &palette.header, &[mark.as_bytes(), header].concat(), output)?;
    }
    for changes in hunks(&script.changes, context) {
        if changes.iter().all(|change| change.ignored) {
            continue;
        }
        let Some(hunk) = Hunk::new(&printer, script, changes, context) else {
            continue;
        };
        let function = options.heading.as_ref().map(|heading| hunk.function(heading)).unwrap_or_default();
        match options.style {
            Style::Unified(_) => hunk.unified(&function, output)?,
            _ => hunk.context(&function, output)?,
        }
    }
    Ok(())
}

/// Prints the header of a file: its name and modification time.
pub(crate) fn header(name: &[u8], mtime_ns: u64, style: Style) -> Vec<u8> {
    let moment = Moment::local_ns(mtime_ns);
    let field = |letter| moment.field(letter).unwrap_or_default();
    let mut out = named(name);
    out.push(b'\t');
    let time = match style {
        // In the C locale the context format prints the time in ctime format.
        Style::Context(_) if !unicode_locale() => field('c'),
        _ => format!("{} {}.{:09} {}", field('F'), field('T'), moment.nanoseconds, field('z')),
    };
    out.extend_from_slice(time.as_bytes());
    out
}

/// Quotes a name with C escapes if it is ambiguous.
pub(crate) fn named(name: &[u8]) -> Vec<u8> {
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

/// Prints lines with the layout options.
struct Printer<'a> {
    layout: &'a Layout,
}

impl Printer<'_> {
    /// Prints a generated line in a colour.
    fn painted(&self, colour: impl Fn(&Palette) -> &String, text: &[u8], output: &mut Output) -> Result<(), Failure> {
        match &self.layout.palette {
            Some(palette) => {
                output.put(format!("\x1b[{}m", colour(palette)).as_bytes())?;
                output.put(text)?;
                output.put(b"\x1b[0m\n")
            }
            None => {
                output.put(text)?;
                output.put(b"\n")
            }
        }
    }

    /// Prints a line of a text after its mark.
    fn line(&self, mark: &[u8], side: Side, line: &[u8], output: &mut Output) -> Result<(), Failure> {
        let layout = self.layout;
        let (body, ends) = match line.strip_suffix(b"\n") {
            Some(body) => (body, true),
            None => (line, false),
        };
        let colour = layout.palette.as_ref().and_then(|palette| match side {
            Side::Old => Some(&palette.deleted),
            Side::New => Some(&palette.added),
            Side::Both => None,
        });
        if let Some(colour) = colour {
            output.put(format!("\x1b[{colour}m").as_bytes())?;
        }
        if layout.bare_blanks && body.is_empty() && side == Side::Both {
            output.put(mark.trim_ascii_end())?;
        } else if layout.initial_tab {
            output.put(mark.strip_suffix(b" ").unwrap_or(mark))?;
            output.put(b"\t")?;
        } else {
            output.put(mark)?;
        }
        if layout.expand_tabs {
            output.put(&expanded(body, layout.tab_size))?;
        } else {
            output.put(body)?;
        }
        if colour.is_some() {
            output.put(b"\x1b[0m")?;
        }
        output.put(b"\n")?;
        if ends { Ok(()) } else { output.put(NO_LINE_END) }
    }

    fn normal(&self, script: &Script<'_>, change: &Change, output: &mut Output) -> Result<(), Failure> {
        let Change { old, new, .. } = change;
        let letter = match (old.is_empty(), new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        };
        // An empty range has the number of the line before it.
        let range = |range: &std::ops::Range<usize>| match range.len() {
            0 | 1 => range.end.to_string(),
            _ => format!("{},{}", range.start + 1, range.end),
        };
        let head = format!("{}{letter}{}", range(old), range(new));
        self.painted(|palette| &palette.line, head.as_bytes(), output)?;
        for text in script.old.get(old.clone()).unwrap_or_default() {
            self.line(b"< ", Side::Old, text, output)?;
        }
        if letter == 'c' {
            output.put(b"---\n")?;
        }
        for text in script.new.get(new.clone()).unwrap_or_default() {
            self.line(b"> ", Side::New, text, output)?;
        }
        Ok(())
    }
}

/// The text of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Old,
    New,
    Both,
}

/// Groups changes with adjacent context. An ignored change joins only from a shorter distance, as in GNU.
fn hunks(changes: &[Change], context: usize) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(move |before, after| {
        let reach = if after.ignored { context } else { context.saturating_mul(2).saturating_add(1) };
        after.old.start.saturating_sub(before.old.end) < reach
    })
}

/// Changes that are printed together, with context.
struct Hunk<'a> {
    printer: &'a Printer<'a>,
    script: &'a Script<'a>,
    changes: &'a [Change],
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl<'a> Hunk<'a> {
    fn new(printer: &'a Printer<'a>, script: &'a Script<'a>, changes: &'a [Change], context: usize) -> Option<Self> {
        let (first, last) = (changes.first()?, changes.last()?);
        // Equal lines before and after have the same number on both sides.
        let before = context.min(first.old.start).min(first.new.start);
        let after = context
            .min(script.old.len().saturating_sub(last.old.end))
            .min(script.new.len().saturating_sub(last.new.end));
        let old = first.old.start - before..last.old.end + after;
        let new = first.new.start - before..last.new.end + after;
        Some(Self { printer, script, changes, old, new })
    }

    /// Returns the last heading line before the hunk.
    fn function(&self, heading: &Heading) -> Vec<u8> {
        let heads = |line: &&&[u8]| match heading {
            Heading::Function => {
                line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
            }
            Heading::Matching(regex) => {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                // A line that exceeds the search limit does not match.
                regex.find_in_line(line, 0).is_ok_and(|found| found.is_some())
            }
        };
        let before = self.script.old.get(..self.old.start).unwrap_or_default();
        let Some(line) = before.iter().rev().find(heads) else {
            return Vec::new();
        };
        let line = line.trim_ascii();
        let line = line.get(..line.len().min(40)).unwrap_or_default();
        [b" ", line.trim_ascii_end()].concat()
    }

    fn unified(&self, function: &[u8], output: &mut Output) -> Result<(), Failure> {
        let range = |range: &std::ops::Range<usize>| match range.len() {
            0 => format!("{},0", range.end),
            1 => range.end.to_string(),
            lines => format!("{},{lines}", range.start + 1),
        };
        let head = format!("@@ -{} +{} @@", range(&self.old), range(&self.new));
        match &self.printer.layout.palette {
            Some(palette) => output.put(format!("\x1b[{}m{head}\x1b[0m", palette.line).as_bytes())?,
            None => output.put(head.as_bytes())?,
        }
        output.put(function)?;
        output.put(b"\n")?;
        let (old, new) = (&self.script.old, &self.script.new);
        let mut at = self.old.start;
        for change in self.changes {
            for text in old.get(at..change.old.start).unwrap_or_default() {
                self.printer.line(b" ", Side::Both, text, output)?;
            }
            for text in old.get(change.old.clone()).unwrap_or_default() {
                self.printer.line(b"-", Side::Old, text, output)?;
            }
            for text in new.get(change.new.clone()).unwrap_or_default() {
                self.printer.line(b"+", Side::New, text, output)?;
            }
            at = change.old.end;
        }
        for text in old.get(at..self.old.end).unwrap_or_default() {
            self.printer.line(b" ", Side::Both, text, output)?;
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
        output.put(b"\n")?;
        let head = format!("*** {} ****", range(&self.old));
        self.printer.painted(|palette| &palette.line, head.as_bytes(), output)?;
        if self.changes.iter().any(|change| !change.old.is_empty()) {
            self.side(&self.script.old, &self.old, b"- ", |change| &change.old, output)?;
        }
        let head = format!("--- {} ----", range(&self.new));
        self.printer.painted(|palette| &palette.line, head.as_bytes(), output)?;
        if self.changes.iter().any(|change| !change.new.is_empty()) {
            self.side(&self.script.new, &self.new, b"+ ", |change| &change.new, output)?;
        }
        Ok(())
    }

    /// Prints one version of the hunk.
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
                self.printer.line(b"  ", Side::Both, text, output)?;
            }
            let replaced = !change.old.is_empty() && !change.new.is_empty();
            for text in lines.get(changed.clone()).unwrap_or_default() {
                let side = if mark == b"- " { Side::Old } else { Side::New };
                self.printer.line(if replaced { b"! " } else { mark }, side, text, output)?;
            }
            at = changed.end;
        }
        for text in lines.get(at..range.end).unwrap_or_default() {
            self.printer.line(b"  ", Side::Both, text, output)?;
        }
        Ok(())
    }
}
