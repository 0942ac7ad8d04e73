//! Files that list names.

use tidebox_gnu::stream::read_all;

use super::Stop;
use super::apply::Reading;
use super::flags::Flag;
use crate::message::warn;
use crate::quote::escaped;

/// List format.
#[derive(Debug, Default)]
pub(super) struct Lists {
    null: bool,
    /// A list was read.
    pub(super) any: bool,
}

impl Lists {
    /// Applies an option; returns whether it belongs to this group.
    pub(super) fn set(&mut self, id: Flag) -> bool {
        match id {
            Flag::Null | Flag::NoNull => self.null = id == Flag::Null,
            _ => return false,
        }
        true
    }
}

impl Reading {
    /// Reads the names of a list.
    pub(super) fn list(&mut self, file: &[u8]) -> Result<(), Stop> {
        self.lists.any = true;
        let text = match read_all(file) {
            // As in GNU tar, a directory reads as an empty list.
            Err(tidebox_rt::Errno::ISDIR) => Vec::new(),
            read => read.map_err(|errno| {
                Stop::Fatal([file, b": Cannot stat: ".as_slice(), errno.text().as_bytes()].concat())
            })?,
        };
        let mut end = if self.lists.null { 0 } else { b'\n' };
        if end != 0 && text.contains(&0) {
            warn(&[&escaped(file, true), b": file name read contains nul character"]);
            end = 0;
        }
        for line in text.split(|byte| *byte == end).filter(|line| !line.is_empty()) {
            self.name(line.to_vec());
        }
        Ok(())
    }
}
