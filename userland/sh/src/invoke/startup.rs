//! Files that a shell reads before its commands.

use std::rc::Rc;

use tidebox_rt::{self as rt, Open};

use super::arguments::Start;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

impl Shell {
    /// Runs the startup files: profiles, `~/.bashrc`, or the files in `BASH_ENV` and `ENV`.
    pub(super) fn read_startup(&mut self, start: &Start) -> EvalResult {
        if start.login && !start.skip_profile {
            self.read_if_there(b"/etc/profile")?;
            if !self.options.posix {
                let home = self.lookup(b"HOME").unwrap_or_default();
                for name in [&b"/.bash_profile"[..], b"/.bash_login", b"/.profile"] {
                    if self.read_if_there(&[&home[..], name].concat())? {
                        break;
                    }
                }
            }
        }
        let variable: &[u8] = match (self.options.interactive, self.options.posix) {
            (true, false) => {
                if start.skip_rc || start.login {
                    return Ok(());
                }
                // Debian's bash has a global file.
                self.read_if_there(b"/etc/bash.bashrc")?;
                let path = match &start.rc_file {
                    Some(path) => path.clone(),
                    None => [&self.lookup(b"HOME").unwrap_or_default()[..], b"/.bashrc"].concat(),
                };
                return self.read_if_there(&path).map(drop);
            }
            (true, true) => b"ENV",
            (false, false) => b"BASH_ENV",
            (false, true) => return Ok(()),
        };
        let Some(text) = self.lookup(variable).filter(|text| !text.is_empty()) else { return Ok(()) };
        let path = match crate::parse::Parser::new(&text, 1, Rc::from(&b""[..])).whole_text() {
            Ok(word) => self.expand_text(&word)?,
            Err(_) => text,
        };
        self.read_if_there(&path).map(drop)
    }

    /// Runs the commands of a file. Returns whether it exists.
    fn read_if_there(&mut self, path: &[u8]) -> EvalResult<bool> {
        let Ok(fd) = rt::open(path, Open { read: true, ..Open::default() }) else { return Ok(false) };
        let text: Bytes = self.read_all(fd);
        // The text has been read; an error of close does not matter.
        let _ = rt::close(fd);
        self.flow.sources += 1;
        self.flow.depth += 1;
        let outer = std::mem::replace(&mut self.invocation.script, path.into());
        let result = self.run_source(&text, 1, path.into(), b"");
        self.invocation.script = outer;
        self.flow.depth -= 1;
        self.flow.sources -= 1;
        match result {
            Err(crate::state::Unwind::Return | crate::state::Unwind::Discard) | Ok(()) => Ok(true),
            Err(stop) => Err(stop),
        }
    }
}
