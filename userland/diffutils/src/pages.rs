//! Pagination with `pr` for `diff -l`.

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::{ExitStatus, Fd};

use crate::Failure;
use crate::output::Output;

/// A running `pr` process.
#[derive(Debug)]
pub(crate) struct Pages {
    child: u32,
    input: Fd,
}

impl Pages {
    /// Starts `pr` with the heading of every page.
    pub(crate) fn begin(heading: &[u8]) -> Result<Self, Failure> {
        let (read, input) = tidebox_rt::pipe().map_err(Failure::Write)?;
        let arguments: [&[u8]; 3] = [b"pr", b"-h", heading];
        let child = Command { descriptors: &[(0, read), (1, 1), (2, 2)], ..Command::new(&arguments) }.spawn();
        // Only the child reads; it sees the end after the only write end is closed.
        let _ = tidebox_rt::close(read);
        match child {
            Ok(child) => Ok(Self { child, input }),
            Err(errno) => {
                let _ = tidebox_rt::close(input);
                Err(Failure::Other(format!("pr: {}", errno.text())))
            }
        }
    }

    /// Writes the output to `pr`, and waits for its exit.
    pub(crate) fn print(self, print: impl FnOnce(&mut Output) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut output = Output::to(self.input);
        let printed = print(&mut output).and_then(|()| output.flush());
        let _ = tidebox_rt::close(self.input);
        let ended = wait(self.child).map_err(Failure::Write)?;
        printed?;
        match ended {
            ExitStatus::Exited(0) => Ok(()),
            ExitStatus::Exited(code) => {
                Err(Failure::Other(format!("subsidiary program 'pr' failed (exit status {code})")))
            }
            ExitStatus::Killed(_) => Err(Failure::Other("subsidiary program 'pr' failed".to_owned())),
        }
    }
}
