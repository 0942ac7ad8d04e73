//! Reject files.

use super::hunk::{Hunk, Line, Mark};
use super::name::{INDEX, NEW, Named, OLD};
use super::read::Style;

/// Rejected hunks of one file, as text.
#[derive(Debug)]
pub(crate) struct Rejects {
    pub(crate) text: Vec<u8>,
    pub(crate) count: usize,
    unified: bool,
    style: Style,
}

impl Rejects {
    pub(crate) fn new(style: Style, unified: bool) -> Self {
        Self { text: Vec::new(), count: 0, unified, style }
    }

    /// Adds a hunk, shifted down by `grown` lines for the hunks applied before it.
    pub(crate) fn add(&mut self, hunk: &Hunk, files: &[Named; 3], reverse: bool, grown: i64) {
        if self.count == 0 {
            self.head(files, reverse);
        }
        self.count += 1;
        if self.unified { self.add_unified(hunk, grown) } else { self.add_context(hunk, grown) }
    }

    fn head(&mut self, files: &[Named; 3], reverse: bool) {
        let [first, second]: [&[u8]; 2] = if self.unified { [b"---", b"+++"] } else { [b"***", b"---"] };
        if let Some(name) = files.get(INDEX).and_then(|file| file.name.as_ref()) {
            self.text.extend_from_slice(&[b"Index: ", name.as_slice(), b"\n"].concat());
        }
        let order = if reverse { [NEW, OLD] } else { [OLD, NEW] };
        for (tag, which) in [first, second].into_iter().zip(order) {
            let Some(file) = files.get(which) else {
                continue;
            };
            let name = file.name.as_deref().unwrap_or(b"/dev/null");
            self.text.extend_from_slice(&[tag, b" ", name, file.stamp.as_slice(), b"\n"].concat());
        }
    }

    fn line(&mut self, mark: &[u8], text: &[u8]) {
        self.text.extend_from_slice(mark);
        self.text.extend_from_slice(text);
    }

    fn add_unified(&mut self, hunk: &Hunk, grown: i64) {
        let range = |first: i64, count: i64| match count {
            1 => format!("{first}"),
            0 => format!("{},0", first - 1),
            _ => format!("{first},{count}"),
        };
        let old = range(hunk.old_first + grown, hunk.old_lines());
        let new = range(hunk.new_first + grown, hunk.new_lines());
        self.text.extend_from_slice(format!("@@ -{old} +{new} @@").as_bytes());
        self.text.extend_from_slice(&hunk.function);
        self.text.push(b'\n');
        for line in &hunk.lines {
            let mark: &[u8] = match line.mark {
                Mark::Context => b" ",
                Mark::Old => b"-",
                Mark::New => b"+",
            };
            self.line(mark, &line.text);
        }
    }

    fn add_context(&mut self, hunk: &Hunk, grown: i64) {
        let (stars, dashes) = match self.style {
            Style::Normal | Style::Context => ("", " -----"),
            _ => (" ****", " ----"),
        };
        let range = |first: i64, count: i64| match count {
            0 => "0".to_owned(),
            1 => format!("{first}"),
            _ => format!("{first},{}", first + count - 1),
        };
        self.text.extend_from_slice(b"***************");
        self.text.extend_from_slice(&hunk.function);
        let old = range(hunk.old_first + grown, hunk.old_lines());
        self.text.extend_from_slice(format!("\n*** {old}{stars}\n").as_bytes());
        self.half(hunk, Mark::Old);
        let new = range(hunk.new_first + grown, hunk.new_lines());
        self.text.extend_from_slice(format!("--- {new}{dashes}\n").as_bytes());
        self.half(hunk, Mark::New);
    }

    /// Formats the lines of one side. Replaced lines are marked by `!`, except in normal diffs.
    fn half(&mut self, hunk: &Hunk, side: Mark) {
        let sign: &[u8] = if side == Mark::Old { b"- " } else { b"+ " };
        for group in hunk.lines.chunk_by(|a, b| (a.mark == Mark::Context) == (b.mark == Mark::Context)) {
            let has = |mark: Mark| group.iter().any(|line: &Line| line.mark == mark);
            let replaced = self.style != Style::Normal && has(Mark::Old) && has(Mark::New);
            for line in group.iter().filter(|line| line.mark == Mark::Context || line.mark == side) {
                let mark = match line.mark {
                    Mark::Context => b"  ",
                    _ if replaced => b"! ",
                    _ => sign,
                };
                self.line(mark, &line.text);
            }
        }
    }
}
