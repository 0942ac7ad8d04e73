//! Output files.

use tidebox_rt::{Errno, Fd, FileKind, Stat};

use super::super::Gzip;
use super::KNOWN;
use crate::place::without_suffix;
use crate::stream;
use crate::words::print_parts;

impl Gzip {
    /// Returns whether a file may be replaced at all.
    pub(super) fn may_replace(&mut self, name: &[u8], stat: &Stat) -> bool {
        if stat.kind() != FileKind::File {
            self.warn(&[name, b" is not a directory or a regular file - ignored"]);
            return false;
        }
        for (bit, what) in [(0o4000, "set-user-ID"), (0o2000, "set-group-ID")] {
            if stat.mode & bit != 0 {
                self.warn(&[name, b" is ", what.as_bytes(), b" on execution - ignored"]);
                return false;
            }
        }
        if !self.force && stat.nlink > 1 {
            let others = stat.nlink - 1;
            let text = format!(" has {others} other link{} -- file ignored", if others == 1 { "" } else { "s" });
            self.warn(&[name, text.as_bytes()]);
            return false;
        }
        true
    }

    /// Returns the known suffix of a name.
    pub(super) fn suffix_of(&self, name: &[u8]) -> Option<usize> {
        let lower = name.to_ascii_lowercase();
        let own = without_suffix(name, &self.suffix).map(|_| self.suffix.len());
        own.or_else(|| {
            KNOWN.iter().find(|suffix| without_suffix(&lower, &suffix.to_ascii_lowercase()).is_some()).map(|s| s.len())
        })
    }

    /// Returns the name of the output file, or the name shown by `-l`.
    pub(super) fn target(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let known = self.suffix_of(name);
        if !self.decompress {
            if self.to_stdout {
                return Some(b"stdout".to_vec());
            }
            return match known {
                Some(length) => {
                    let suffix = name.get(name.len() - length..).unwrap_or_default();
                    if self.verbose || (!self.recursive && !self.quiet) {
                        print_parts(&[b"gzip: ", name, b" already has ", suffix, b" suffix -- unchanged\n"]);
                    }
                    None
                }
                None => Some([name, &self.suffix].concat()),
            };
        }
        if self.to_stdout && !self.list && !self.test {
            return Some(b"stdout".to_vec());
        }
        match known {
            Some(length) => {
                let (stem, suffix) = name.split_at(name.len() - length);
                let archive = matches!(suffix.to_ascii_lowercase().as_slice(), b".tgz" | b".taz");
                Some([stem, if archive { b".tar" } else { b"" }].concat())
            }
            None if self.list || self.test => Some(name.to_vec()),
            None => {
                if self.verbose || !self.recursive {
                    self.warn(&[name, b": unknown suffix -- ignored"]);
                }
                None
            }
        }
    }

    /// Creates the output file; `None` if the output is standard output or discarded.
    pub(super) fn make(&mut self, target: &[u8]) -> Option<(Vec<u8>, Option<Fd>)> {
        if self.to_stdout {
            return Some((b"stdout".to_vec(), None));
        }
        let mut made = stream::create(target);
        if made == Err(Errno::EXIST) {
            if !self.force {
                // No terminal is available to confirm.
                print_parts(&[b"gzip: ", target, b" already exists;\tnot overwritten\n"]);
                if self.code == 0 {
                    self.code = 2;
                }
                return None;
            }
            made = tidebox_rt::unlink(target).and_then(|()| stream::create(target));
        }
        match made {
            Ok(fd) => Some((target.to_vec(), Some(fd))),
            Err(errno) => {
                self.system(target, errno);
                None
            }
        }
    }
}
