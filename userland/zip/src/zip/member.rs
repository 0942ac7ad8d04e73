//! Kept and added members.

use std::collections::HashMap;

use store::Writer;

use super::collect::InputFile;
use super::options::Action;
use super::{Ended, OPEN, READ, Zip, store};
use crate::archive::{Archive, CHUNK};
use crate::entry::{End, Entry};
use crate::words::{display, print_parts};

impl Zip {
    /// Writes the new archive: kept, replaced and added members.
    pub(super) fn fill(
        &mut self,
        writer: &mut Writer,
        old: Option<&Archive>,
        found: &[InputFile],
        gone: &[Vec<u8>],
    ) -> Result<(), Ended> {
        let by_name: HashMap<&[u8], &InputFile> = found.iter().map(|file| (file.name.as_slice(), file)).collect();
        let mut replaced = std::collections::HashSet::new();
        for entry in old.iter().flat_map(|archive| &archive.entries) {
            if gone.contains(&entry.name) {
                if !self.options.quiet {
                    self.print(&[b"deleting: ", &display(&entry.name), b"\n"]);
                }
                continue;
            }
            if let Some(file) = by_name.get(entry.name.as_slice()) {
                replaced.insert(file.name.clone());
                let verb: &[u8] = if self.options.action == Action::Freshen { b"freshening: " } else { b"updating: " };
                self.add(writer, file, verb)?;
            } else if let Some(old) = old {
                self.keep(writer, old, entry)?;
            }
        }
        for file in found.iter().filter(|file| !replaced.contains(&file.name)) {
            self.add(writer, file, b"  adding: ")?;
        }
        let comment = old.map(|archive| archive.end.comment.clone()).unwrap_or_default();
        let end = End { comment, ..End::default() };
        writer.finish(end).map_err(|errno| self.write_error(errno))
    }

    /// Copies a file of the old archive unchanged.
    pub(super) fn keep(&mut self, writer: &mut Writer, old: &Archive, entry: &Entry) -> Result<(), Ended> {
        let name = self.options.archive.clone();
        let data = old.data(entry).ok().flatten();
        let Some(data) = data else {
            return Err(self.error(READ, "Zip file structure invalid", &[&name]));
        };
        let from = entry.offset + old.extra;
        let after = if entry.flags & crate::entry::STREAMED != 0 { 16 } else { 0 };
        let length = data - from + entry.packed;
        let mut kept = entry.clone();
        kept.offset = writer.offset;
        let mut done = 0;
        while done < length + after {
            let room = CHUNK.min(usize::try_from(length + after - done).unwrap_or(CHUNK));
            let bytes = tidebox_gnu::stream::read_at(old.fd, from + done, room).unwrap_or_default();
            // A data descriptor may be shorter, and only readers without a directory use it.
            if bytes.is_empty() && done < length {
                return Err(self.error(READ, "Zip file structure invalid", &[&name]));
            }
            if bytes.is_empty() {
                break;
            }
            writer.put(&bytes).map_err(|errno| self.write_error(errno))?;
            done += bytes.len() as u64;
        }
        writer.entries.push(kept);
        Ok(())
    }

    pub(super) fn add(&mut self, writer: &mut Writer, file: &InputFile, verb: &[u8]) -> Result<(), Ended> {
        match writer.add(file, self.options.level, self.options.plain) {
            Ok(entry) => {
                if !self.options.quiet {
                    let share = crate::words::percent(entry.size, entry.packed);
                    let how = if entry.method == crate::entry::STORED {
                        "stored 0%".to_owned()
                    } else {
                        format!("deflated {share}%")
                    };
                    let sizes = if self.options.verbose {
                        format!("\t(in={}) (out={}) ({how})\n", entry.size, entry.packed)
                    } else {
                        format!(" ({how})\n")
                    };
                    self.print(&[verb, &display(&file.name), sizes.as_bytes()]);
                }
                Ok(())
            }
            Err(store::DataError::Read(errno)) => {
                self.out.flush();
                print_parts(&[b"zip warning: ", errno.text().as_bytes(), b"\n"]);
                if !self.options.quiet {
                    self.print(&[verb, &display(&file.name), b"\n"]);
                }
                self.warn(&[b"could not open for reading: ", &file.path]);
                self.skipped.0 += 1;
                self.skipped.1 += file.stat.size;
                self.code = OPEN;
                Ok(())
            }
            Err(store::DataError::TooLarge) => {
                Err(self.error(6, "Entry too big to split, read, or write", &[&file.path, b": larger than 4 GiB"]))
            }
            Err(store::DataError::Write(errno)) => Err(self.write_error(errno)),
        }
    }
}
