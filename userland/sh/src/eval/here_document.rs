//! Texts that redirections make readable.

use tidebox_rt::{self as rt, Errno, Fd, Open};

use super::redirect::Undo;
use crate::state::{EvalResult, Shell};

/// Text that fits into any pipe, so that writing it cannot wait for a reader.
const PIPE_ROOM: usize = 4096;

impl Shell {
    /// Makes text readable at a descriptor: in a pipe when it fits, else in a file without a name.
    pub(super) fn here_text(&mut self, text: &[u8], number: u32, undo: &mut Undo) -> EvalResult<bool> {
        let made = if text.len() <= PIPE_ROOM { self.text_in_pipe(text) } else { self.text_in_file(text) };
        match made {
            Ok(fd) => {
                self.opened(fd, undo);
                self.point(number, Some(fd), undo);
                Ok(true)
            }
            Err(errno) => {
                self.report_error(format!("cannot create temp file for here-document: {errno}"));
                Ok(false)
            }
        }
    }

    fn text_in_pipe(&mut self, text: &[u8]) -> Result<Fd, Errno> {
        let (read, write) = self.io.pipe()?;
        let written = rt::write_all(write, text);
        self.io.close(write);
        match written {
            Ok(()) => Ok(read),
            Err(errno) => {
                self.io.close(read);
                Err(errno)
            }
        }
    }

    fn text_in_file(&mut self, text: &[u8]) -> Result<Fd, Errno> {
        let pid = rt::getids().map_or(0, |ids| ids.pid);
        let path = format!("/tmp/sh-here-{pid}-{}", rt::monotonic_ns()).into_bytes();
        let new = Open { write: true, create: true, exclusive: true, ..Open::default() };
        let write = rt::open(&path, new)?;
        let written = rt::write_all(write, text);
        // The write is complete; an error of close does not matter.
        let _ = rt::close(write);
        let read = written.and_then(|()| rt::open(&path, Open { read: true, ..Open::default() }));
        rt::unlink(&path)?;
        Ok(self.io.track_fd(read?))
    }
}
