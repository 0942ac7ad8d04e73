//! Restricted shells: what `-r`, `set -r` and the name `rbash` take away.

use crate::ir::{Bytes, Name, Word};
use crate::state::Shell;
use crate::vars::{READONLY, Value};

/// Variables that a restricted shell does not change.
const FIXED: [&[u8]; 5] = [b"PATH", b"SHELL", b"ENV", b"BASH_ENV", b"HISTFILE"];

/// Whether a shell that is called so is restricted.
pub(crate) fn is_restricted_name(called: &[u8]) -> bool {
    called.strip_prefix(b"-").unwrap_or(called) == b"rbash"
}

impl Shell {
    /// Keeps variables that decide what runs as they are.
    pub(crate) fn fix_variables(&mut self) {
        for name in FIXED {
            self.vars.entry(&Name::from(name)).flags |= READONLY;
        }
    }

    /// `set -r`. In a command string bash restricts what runs, and leaves the variables as they are.
    pub(crate) fn restrict(&mut self) {
        self.options.restricted = true;
        if !self.options.from_string {
            self.fix_variables();
        }
    }

    /// Complains of a name of a file with a slash, which a restricted shell does not take; says whether it did.
    pub(crate) fn refuses_path(&mut self, path: &[u8]) -> bool {
        let refuses = self.options.restricted && path.contains(&b'/');
        if refuses {
            self.complain_builtin([path, b": restricted"].concat());
        }
        refuses
    }

    /// Complains of what a restricted shell does not do at all; says whether it did.
    pub(crate) fn refuses(&mut self) -> bool {
        if self.options.restricted {
            self.complain_builtin("restricted");
        }
        self.options.restricted
    }

    /// Complains of a command that is named by its path; says whether it did.
    pub(crate) fn refuses_command(&mut self, name: &[u8]) -> bool {
        let refuses = self.options.restricted && name.contains(&b'/');
        if refuses {
            self.complain([name, b": restricted: cannot specify `/' in command names"].concat());
        }
        refuses
    }

    /// Complains of a file that a redirection would write to; says whether it did.
    pub(crate) fn refuses_output(&mut self, path: &[u8], word: &Word) -> bool {
        if self.options.restricted {
            // Commands in the word do not run a second time for the message.
            let runs = word.raw.contains(&b'`') || word.raw.windows(2).any(|pair| pair == b"$(");
            let shown = if runs { &word.raw[..] } else { path };
            self.complain([shown, b": restricted: cannot redirect output"].concat());
        }
        self.options.restricted
    }

    /// Takes back what `BASH_CMDS` may not hold: paths, and names that `PATH` does not find.
    pub(crate) fn keep_commands_found(&mut self) {
        if !self.options.restricted {
            return;
        }
        let Some(Value::Assoc(map)) = self.vars.get(b"BASH_CMDS").map(|var| &var.value) else { return };
        let known = |name: &Bytes, path: &Bytes| self.hash.get(name).is_some_and(|(found, _)| found == path);
        let new = map.in_order_of_insertion().into_iter().filter(|(name, path)| !known(name, path));
        let new: Vec<(Bytes, Bytes)> = new.map(|(name, path)| (name.clone(), path.clone())).collect();
        for (name, path) in new {
            let why: &[u8] = match path.contains(&b'/') {
                true => b": restricted",
                false if self.search_path(&path).is_none() => b": not found",
                false => continue,
            };
            let text = [&path[..], why].concat();
            if self.running.is_empty() {
                self.complain(text)
            } else {
                self.complain_builtin(text)
            }
            let old = self.hash.get(&name).map(|(path, _)| path.clone());
            if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_CMDS").map(|var| &mut var.value) {
                match old {
                    Some(path) => map.insert(name, path),
                    None => map.remove(&name),
                }
            }
        }
    }
}
