//! Output of `-l`.

use tidebox_gnu::zone::Zone;
use tidebox_rt::{FileKind, Stat};

use super::Gzip;
use super::file::{Passed, percent};
use crate::stream::Source;
use crate::words::show;

impl Gzip {
    /// Prints one line for a file, and the column headings before the first.
    pub(crate) fn line(&mut self, name: &[u8], source: &Source, passed: &Passed, stat: &Stat) {
        let mut text = String::new();
        if self.listed.0 == 0 && !self.quiet {
            text.push_str(self.heading());
        }
        if self.verbose {
            let seconds = match passed.header.time {
                kept if kept != 0 && self.names == Some(true) => i64::from(kept),
                _ if stat.kind() != FileKind::File => 0,
                _ => i64::try_from(stat.mtime_ns / 1_000_000_000).unwrap_or(0),
            };
            let at = Zone::local().moment(seconds, 0);
            let month = at.field('b').unwrap_or_default();
            text.push_str(&format!("defla {:08x} {month} {:>2} {:02}:{:02} ", passed.sum, at.day, at.hour, at.minute));
        }
        let small = source.consumed();
        let share = percent(passed.length, small, passed.overhead);
        text.push_str(&format!("{small:>19} {:>19} {share} ", passed.length));
        self.listed.0 += 1;
        self.listed.1 += small;
        self.listed.2 += passed.length;
        self.overhead = passed.overhead;
        let line = [text.as_bytes(), name, b"\n"].concat();
        if let Err(errno) = show(&line) {
            self.system(b"stdout", errno);
        }
    }

    fn heading(&self) -> &'static str {
        if self.verbose {
            "method  crc     date  time           compressed        uncompressed  ratio uncompressed_name\n"
        } else {
            "         compressed        uncompressed  ratio uncompressed_name\n"
        }
    }

    /// Prints the totals of several files.
    pub(crate) fn totals(&mut self) {
        let (_, small, large) = self.listed;
        let margin = if self.verbose { "                            " } else { "" };
        // As in gzip, only the header size of the last file is subtracted.
        let share = percent(large, small, self.overhead);
        let line = format!("{margin}{small:>19} {large:>19} {share} (totals)\n");
        if let Err(errno) = show(line.as_bytes()) {
            self.system(b"stdout", errno);
        }
    }
}
