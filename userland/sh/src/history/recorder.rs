//! From the lines of a command to an entry of the list.

use super::History;
use super::expand::Expanded;
use super::scan::Scan;
use crate::ir::Bytes;
use crate::state::Shell;

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    scan: Scan,
    /// Lines of the command read until now.
    lines: u32,
    /// Its first line has become an entry.
    first_saved: bool,
    /// The last of them with a comment.
    commented: Option<u32>,
    /// A line of a here-document that continues on the next.
    partial: Bytes,
}

/// Comments of a line, as they affect the joining of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comment {
    None,
    Whole,
    /// A possible comment after other words.
    Behind,
}

impl Shell {
    /// The command that was being read is read, or given up.
    pub(crate) fn end_recording(&mut self) {
        let recorder = &mut self.history.recorder;
        recorder.scan.reset();
        recorder.lines = 0;
        recorder.partial.clear();
    }

    /// Sets the command aside that was being read, because lines of other commands come.
    pub(crate) fn begin_other_recording(&mut self) -> Recorder {
        std::mem::take(&mut self.history.recorder)
    }

    /// Goes on with the command that was set aside.
    pub(crate) fn resume_recording(&mut self, recorder: Recorder) {
        self.history.recorder = recorder;
    }

    /// Returns whether the current command is recorded; commands of `eval` and traps are not.
    pub(crate) fn remembers(&self) -> bool {
        self.options.history && (self.flow.trace_depth == 0 || self.history.substitutions > 0)
    }

    /// Returns whether the current command has its own entry.
    pub(crate) fn command_is_recorded(&self) -> bool {
        let recorder = &self.history.recorder;
        self.history.added || (recorder.lines > 0 && recorder.first_saved && self.options.cmdhist)
    }

    /// Expands a line that was just read and takes note of it. `None` when nothing is left to be run.
    pub(crate) fn record_line(&mut self, line: Bytes) -> Option<Bytes> {
        self.history.recorder.lines = self.history.recorder.lines.saturating_add(1);
        if self.history.recorder.scan.in_document() {
            self.record_document(&line);
            return Some(line);
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.is_empty() {
            let recorder = &mut self.history.recorder;
            if recorder.lines > 1 {
                let quoted = recorder.scan.quotation().is_some();
                if quoted || recorder.scan.joint(b"").first() == Some(&b';') {
                    self.note_line(b"");
                }
            }
            self.history.recorder.scan.feed(&line);
            return Some(line);
        }
        let Some(expanded) = self.expand_read_line(text) else {
            let recorder = &mut self.history.recorder;
            recorder.lines = recorder.lines.saturating_sub(1);
            return None;
        };
        let whole = match expanded {
            None => {
                let text = text.to_vec();
                self.note_line(&text);
                line
            }
            Some(mut text) => {
                self.note_line(&text);
                text.push(b'\n');
                text
            }
        };
        self.history.recorder.scan.feed(&whole);
        Some(whole)
    }

    /// The line with its references to the list replaced, or `Some(None)` when it has none.
    #[expect(clippy::option_option, reason = "a line may be removed, and one that stays may be as it was")]
    fn expand_read_line(&mut self, text: &[u8]) -> Option<Option<Bytes>> {
        if !self.options.histexpand {
            return Some(None);
        }
        let recorder = &self.history.recorder;
        let quotation = recorder.scan.quotation();
        // Later lines of a command refer to the entries before it, because it is not an entry yet.
        let own = self.options.cmdhist && recorder.first_saved && recorder.lines > 1;
        match self.expand_history(text, quotation, usize::from(own)) {
            Err(message) => {
                self.report_error(message);
                None
            }
            Ok(Expanded::Same) => Some(None),
            Ok(Expanded::Print(text)) => {
                self.show_expanded(&text);
                if !text.is_empty() {
                    self.note_line(&text);
                }
                None
            }
            // Without line editing the user cannot verify and submit the line.
            Ok(Expanded::Line(_)) if self.options.histverify => None,
            Ok(Expanded::Line(text)) => {
                self.show_expanded(&text);
                Some(Some(text))
            }
        }
    }

    fn show_expanded(&mut self, text: &[u8]) {
        self.io.flush();
        // A closed standard error is ignored.
        let _ = self.io.write(2, &[text, b"\n"].concat());
    }

    fn record_document(&mut self, line: &[u8]) {
        let recorder = &mut self.history.recorder;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let backslashes = text.iter().rev().take_while(|&&b| b == b'\\').count();
        if recorder.scan.joins_lines() && backslashes % 2 == 1 {
            recorder.partial.extend_from_slice(text.get(..text.len() - 1).unwrap_or_default());
            return;
        }
        let mut whole = std::mem::take(&mut recorder.partial);
        whole.extend_from_slice(text);
        whole.push(b'\n');
        self.note_line(&whole);
        self.history.recorder.scan.feed(&whole);
    }

    /// Adds a line to the list, or to the entry that its command has there, if it is wanted.
    pub(crate) fn note_line(&mut self, line: &[u8]) {
        self.history.added = false;
        let comment = comment(line);
        let recorder = &self.history.recorder;
        let lines = recorder.lines;
        let commented = (comment != Comment::None).then_some(lines);
        if lines > 1 {
            let literal = recorder.scan.in_document() || self.options.lithist || recorder.scan.quotation().is_some();
            if recorder.first_saved && (literal || comment != Comment::Whole) {
                self.join_line(line);
            }
            self.history.recorder.commented = commented;
            return;
        }
        self.history.recorder.commented = commented;
        let saved = self.admits(line);
        if saved {
            self.history.push(line.to_vec());
        }
        self.history.recorder.first_saved = saved;
    }

    /// Adds a further line of a command.
    fn join_line(&mut self, line: &[u8]) {
        let History { entries, recorder, .. } = &mut self.history;
        let Some(entry) = entries.back_mut().filter(|_| self.options.cmdhist) else {
            self.history.push(line.to_vec());
            return;
        };
        let scan = &mut recorder.scan;
        let behind_comment = recorder.commented.is_some_and(|at| at + 1 == recorder.lines);
        let mut joint: &[u8] = if scan.in_document() && !scan.starts_document() && line.ends_with(b"\n") {
            b""
        } else if behind_comment || self.options.lithist {
            b"\n"
        } else {
            scan.joint(line)
        };
        if scan.quotation().is_none() {
            if entry.text.ends_with(b"\\") && !entry.text.ends_with(b"\\\\") {
                entry.text.pop();
                joint = b"";
            }
            if entry.text.ends_with(b"\n") {
                joint = joint.strip_prefix(b";").unwrap_or(joint);
            }
        }
        entry.text.extend_from_slice(joint);
        entry.text.extend_from_slice(line);
    }
}

/// Looks for a comment in a line: unlike the grammar it takes any number sign for one that nothing quotes.
fn comment(line: &[u8]) -> Comment {
    if line.trim_ascii_start().starts_with(b"#") {
        return Comment::Whole;
    }
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let rest = line.get(at + 1..).unwrap_or_default();
        let closing = |close: u8| rest.iter().position(|&b| b == close).map(|found| found + 1);
        at += 1 + match byte {
            b'#' => return Comment::Behind,
            b'\\' => 1,
            b'\'' | b'"' | b'`' => closing(byte).unwrap_or(rest.len()),
            b'[' => closing(b']').unwrap_or(0),
            b'$' if rest.first() == Some(&b'{') => closing(b'}').unwrap_or(rest.len()),
            b'$' | b'<' | b'>' if rest.first() == Some(&b'(') => closing(b')').unwrap_or(rest.len()),
            _ => 0,
        };
    }
    Comment::None
}
