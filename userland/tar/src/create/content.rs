//! Regular files with their content.

use tidebox_rt::{Errno, Fd, Open, Stat};

use super::{Dump, DumpResult, broken_archive};
use crate::header::Member;
use crate::message::{Fatal, differs};
use crate::quote::escaped;
use crate::reader::RECORD;

impl Dump<'_> {
    /// Stores the name of a file that may have further hard links.
    pub(super) fn remember(&mut self, name: &[u8], stat: &Stat) {
        if stat.nlink > self.trivial_links && !self.options.hard_follow {
            let safe = self.naming.safe_name(name, self.options, true).to_vec();
            self.links.insert((stat.dev, stat.ino), safe);
        }
    }

    /// Adds a file with its content.
    pub(super) fn regular(&mut self, path: &[u8], name: &[u8], member: Member, stat: &Stat) -> DumpResult {
        let fd = match tidebox_rt::open(path, Open { read: true, ..Open::default() }) {
            Ok(fd) => fd,
            Err(errno) => {
                self.cannot("open", name, errno);
                return Ok(());
            }
        };
        self.remember(name, stat);
        let put = match self.header(name, &member, stat) {
            Ok(true) => self.bytes(fd, name, member.stored),
            Ok(false) => Ok(false),
            Err(fatal) => Err(fatal),
        };
        let after = tidebox_rt::fstat(fd);
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
        if !put? {
            return Ok(());
        }
        if after.is_ok_and(|after| after.ctime_ns != stat.ctime_ns || after.size != stat.size) {
            differs(&[&escaped(name, true), b": file changed as we read it"]);
        }
        self.removed(path)
    }

    /// Copies as many bytes as the header states, padded with zeros. Returns whether the file was complete.
    fn bytes(&mut self, fd: Fd, name: &[u8], size: u64) -> Result<bool, Fatal> {
        let mut left = size;
        let mut buffer = vec![0; RECORD * 8];
        while left > 0 {
            let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let got = match tidebox_rt::read(fd, buffer.get_mut(..room).unwrap_or_default()) {
                Ok(0) => {
                    let plural = if left == 1 { "" } else { "s" };
                    let text = format!(": File shrank by {left} byte{plural}; padding with zeros");
                    differs(&[&escaped(name, true), text.as_bytes()]);
                    self.zeros(left)?;
                    break;
                }
                Ok(got) => got,
                Err(Errno::INTR) => continue,
                Err(errno) => {
                    self.cannot(&format!("read (at byte {}, reading {room} bytes)", size - left), name, errno);
                    self.zeros(left)?;
                    break;
                }
            };
            let bytes = buffer.get(..got).unwrap_or_default();
            self.writer.put(bytes).map_err(|errno| broken_archive(self.options, errno))?;
            left -= got as u64;
        }
        self.put_in(|writer| writer.pad())?;
        Ok(left == 0)
    }

    fn zeros(&mut self, count: u64) -> DumpResult {
        let zeros = vec![0; RECORD];
        let mut left = count;
        while left > 0 {
            let step = zeros.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.put_in(|writer| writer.put(zeros.get(..step).unwrap_or_default()))?;
            left -= step as u64;
        }
        Ok(())
    }
}
