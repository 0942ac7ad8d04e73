//! Shell sessions: the state that the first shell of an execution restores, and stores for the next one.
//!
//! Only the difference from a new shell of the same sandbox is stored. A session without changes is therefore empty and
//! follows changes of the sandbox's environment. Options, traps, `$?`, positional parameters, descriptors, the umask and
//! computed variables (`SECONDS`, `RANDOM`, `SHLVL`) are reset.

pub(crate) mod state;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno};

use crate::function::Function;
use crate::ir::{Bytes, Name};
use crate::parse::token::name_len;
use crate::state::Shell;
use crate::vars::{self, Map, Value, Var};
use state::{State, StoredFunction};

/// Variables that the shell sets for itself at every start; the directory is kept on its own.
const SHELL_VARIABLES: [&[u8]; 4] = [b"PWD", b"SHLVL", b"BASH_ALIASES", b"BASH_CMDS"];

/// The initial state of a shell, to find the changes at its end.
#[derive(Debug)]
pub(crate) struct Session {
    /// The variables of a new shell.
    new: Map<Name, Var>,
    /// Functions that the environment of a new shell brings.
    new_functions: Vec<Name>,
    /// The directory of a new shell.
    home: Bytes,
    /// The state at the start.
    initial_state: Bytes,
    /// Variables of the request only: name, value, and the variable of the session with that name.
    request_variables: Vec<(Name, Var, Option<Var>)>,
    /// A directory of the request only: the initial directory, and that of the session.
    request_dir: Option<(Bytes, Option<Bytes>)>,
}

impl Shell {
    /// Restores the shell session, if the execution has one.
    pub(crate) fn join_session(&mut self) {
        let Some(stored) = rt::shell_session() else { return };
        // A session resembles an interactive shell, so aliases are expanded.
        self.options.expand_aliases = true;
        let state = State::decode(&stored.state);
        if state.is_none() {
            self.print_session_message(
                "cannot read the state of the shell session: it is damaged; a new session starts",
            );
        }
        let state = state.unwrap_or_default();
        let mut session = Session {
            new: self.vars.all().clone(),
            new_functions: self.functions.by_name.keys().map(Name::clone).collect(),
            home: self.dirs.cwd.clone(),
            initial_state: stored.state,
            request_variables: Vec::new(),
            request_dir: None,
        };
        let dir = state.dir.clone();
        self.restore(state);
        if stored.names_cwd {
            session.request_dir = Some((self.dirs.cwd.clone(), dir));
        } else {
            self.enter_session_dir(dir, stored.astray, &mut session);
        }
        for line in stored.variables {
            self.set_request_variable(&line, &mut session);
        }
        self.session = Some(Box::new(session));
    }

    fn restore(&mut self, state: State) {
        for name in &state.removed {
            self.vars.remove(name);
        }
        for (name, var) in state.variables {
            self.vars.insert(name.as_slice().into(), var);
        }
        for stored in state.functions {
            let name: Name = stored.name.as_slice().into();
            if stored.exported {
                self.functions.exported.insert(Name::clone(&name));
            }
            let (text, source) = (stored.text.into(), stored.source.into());
            let function = Function::from_text(Name::clone(&name), text, source, stored.line, stored.extglob);
            self.functions.by_name.insert(name, Rc::new(function));
        }
        for name in &state.removed_functions {
            self.remove_function(name);
        }
        for (name, value) in state.aliases {
            self.set_alias(&name, value);
        }
        self.dirs.stack = state.dir_stack.into();
        for job in state.jobs {
            self.jobs.adopt(job);
        }
    }

    /// Changes to the directory of the session. If it no longer exists, reports that and stays in the current one.
    fn enter_session_dir(&mut self, dir: Option<Bytes>, cwd_missing: bool, session: &mut Session) {
        let missing = match &dir {
            Some(dir) => match rt::chdir(dir) {
                Ok(()) => {
                    self.dirs.cwd.clone_from(dir);
                    self.set_exported(b"PWD", dir.clone());
                    return;
                }
                Err(errno) => Some((lossy(dir), errno)),
            },
            None => None,
        };
        let here = lossy(&self.dirs.cwd);
        match missing {
            Some((dir, errno)) => {
                self.print_session_message(&format!("{dir}: {errno}; the session continues in {here}"))
            }
            None if cwd_missing => self.print_session_message(&format!(
                "the sandbox's working directory is missing; the session continues in {here}"
            )),
            None => {}
        }
        // Without the sandbox's directory the shell starts in `/`, for this command only.
        if cwd_missing {
            session.request_dir = Some((self.dirs.cwd.clone(), None));
        }
    }

    /// Sets a variable of the request, which hides the variable of the session.
    fn set_request_variable(&mut self, line: &[u8], session: &mut Session) {
        let Some(at) = line.iter().position(|&b| b == b'=') else { return };
        let (name, value) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
        if name.is_empty() || name_len(name) != name.len() || name == b"_" {
            // As in the environment, an invalid name is not a variable; it may be an exported function.
            self.import_function(name, value);
            return;
        }
        let (name, var): (Name, _) = (name.into(), Var { value: Value::Text(value.to_vec()), flags: vars::EXPORT });
        let kept = self.vars.remove(&name);
        self.vars.insert(Name::clone(&name), var.clone());
        session.request_variables.push((name, var, kept));
    }

    /// Stores the changes for the next shell. Called at the end, and before a program replaces the shell.
    pub(crate) fn leave_session(&mut self) {
        let Some(session) = self.session.take() else { return };
        self.vars.leave_scopes();
        for (name, var, kept) in &session.request_variables {
            if self.vars.get(name) != Some(var) {
                continue;
            }
            match kept {
                Some(kept) => self.vars.insert(Name::clone(name), kept.clone()),
                None => drop(self.vars.remove(name)),
            }
        }
        let dir = match &session.request_dir {
            Some((given, kept)) if *given == self.dirs.cwd => kept.clone(),
            _ if self.dirs.cwd == session.home => None,
            _ => Some(self.dirs.cwd.clone()),
        };
        let state = self.changes(&session, dir).encode();
        if state == session.initial_state {
            return;
        }
        if let Err(errno) = rt::store_shell_state(&state) {
            let why = if errno == Errno::TOOBIG {
                format!("variables and functions have {} bytes, which is more than the sandbox keeps", state.len())
            } else {
                errno.text().to_owned()
            };
            self.print_session_message(&format!("the session stays as it was before this command: {why}"));
            if self.status == 0 {
                self.status = 1;
            }
        }
    }

    /// The difference from a new shell.
    fn changes(&self, session: &Session, dir: Option<Bytes>) -> State {
        let own = |name: &[u8]| SHELL_VARIABLES.contains(&name);
        let now = self.vars.all().iter();
        let changed = now.filter(|(name, var)| !own(name) && session.new.get(&***name) != Some(*var));
        let mut variables: Vec<(Bytes, Var)> = changed.map(|(name, var)| (name.to_vec(), var.clone())).collect();
        variables.sort_by(|a, b| a.0.cmp(&b.0));
        let missing = session.new.keys().filter(|name| !own(name) && self.vars.get(name).is_none());
        let mut removed: Vec<Bytes> = missing.map(|name| name.to_vec()).collect();
        removed.sort();
        let missing = session.new_functions.iter().filter(|name| !self.functions.by_name.contains_key(&name[..]));
        let removed_functions = missing.map(|name| name.to_vec()).collect();
        let mut functions: Vec<StoredFunction> =
            self.functions.by_name.values().map(|function| self.stored(function)).collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        let mut aliases: Vec<(Bytes, Bytes)> =
            self.aliases.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        aliases.sort();
        State {
            dir,
            removed,
            removed_functions,
            variables,
            functions,
            aliases,
            dir_stack: self.dirs.stack.iter().cloned().collect(),
            jobs: self.jobs.stored(),
        }
    }

    fn stored(&self, function: &Function) -> StoredFunction {
        StoredFunction {
            name: function.name.to_vec(),
            text: function.text().to_vec(),
            source: function.source.to_vec(),
            line: function.line,
            extglob: function.extglob,
            exported: self.functions.exported.contains(&function.name),
        }
    }

    /// Prints a message about the session, without a line number.
    fn print_session_message(&mut self, text: &str) {
        let line = [&self.invocation.name[..], b": ", text.as_bytes(), b"\n"].concat();
        // A closed standard error is ignored.
        let _ = self.io.write(2, &line);
        self.io.flush();
    }
}

fn lossy(text: &[u8]) -> String {
    crate::expand::lossy(text).into_owned()
}
