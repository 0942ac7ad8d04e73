//! Output queued until the end of the cycle.

use std::fs::File;
use std::io::Read;

use tidebox_gnu::message::bytes_path;

use super::Machine;
use crate::input::Lines as FileLines;
use crate::script::{Action, Address, Lines};

/// Output after the pattern space.
pub(super) enum Queued {
    Text(Vec<u8>),
    File(Vec<u8>),
    Line(Vec<u8>),
}

impl Machine<'_> {
    /// Prints the text of `0r FILE` before the first line.
    pub(super) fn before_first(&mut self) {
        for command in &self.script.commands {
            if let (Lines::One(Address::Zero), Action::Read(name)) = (&command.lines, &command.action) {
                self.queue.push(Queued::File(name.clone()));
            }
        }
        self.flush_queue();
    }

    pub(super) fn flush_queue(&mut self) {
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Text(text) => self.out.text(&text),
                Queued::Line(line) => self.out.line(&line, true),
                Queued::File(name) => {
                    let mut text = Vec::new();
                    let read = match name.as_slice() {
                        b"/dev/stdin" => std::io::stdin().read_to_end(&mut text),
                        _ => File::open(bytes_path(&name)).and_then(|mut file| file.read_to_end(&mut text)),
                    };
                    // An unreadable file counts as empty.
                    if read.is_ok() && !text.is_empty() {
                        self.out.text(&text);
                    }
                }
            }
        }
    }

    pub(super) fn read_file_line(&mut self, number: usize) {
        let name = self.script.files.get(number).map_or(b"".as_slice(), Vec::as_slice);
        let delimiter = self.options.delimiter;
        let lines = self
            .read_files
            .entry(number)
            .or_insert_with(|| File::open(bytes_path(name)).ok().map(|file| FileLines::new(Box::new(file), delimiter)));
        if let Some(Ok(Some(line))) = lines.as_mut().map(FileLines::next_line) {
            self.queue.push(Queued::Line(line.text));
        }
    }
}
