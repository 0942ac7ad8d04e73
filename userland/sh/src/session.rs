//! A shell session: what the first shell of an `execute` takes over from the one before and leaves for the next.
//!
//! Only what differs from a new shell of the same sandbox is kept, so that a session without changes is empty, costs
//! nothing, and follows the sandbox when its environment changes. Options, traps, `$?`, positional parameters,
//! descriptors, jobs, the umask and what the shell computes (`SECONDS`, `RANDOM`, `SHLVL`) begin anew.

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
const OWN: [&[u8]; 4] = [b"PWD", b"SHLVL", b"BASH_ALIASES", b"BASH_CMDS"];

/// What a shell remembers of its start, to tell at its end what has changed.
#[derive(Debug)]
pub(crate) struct Session {
    /// The variables of a new shell.
    new: Map<Name, Var>,
    /// Functions that the environment of a new shell brings.
    new_functions: Vec<Name>,
    /// The directory of a new shell.
    home: Bytes,
    /// The state as it was taken over.
    old: Bytes,
    /// Variables of the request, which do not stay: name, value, what the session has under that name.
    lent: Vec<(Name, Var, Option<Var>)>,
    /// A directory that does not stay: where the command started, and where the session is.
    lent_dir: Option<(Bytes, Option<Bytes>)>,
}

impl Shell {
    /// Takes over the session, if the shell takes part in one.
    pub(crate) fn join_session(&mut self) {
        let Some(told) = rt::shell_session() else { return };
        // A session is what people type line by line, and there aliases work.
        self.options.expand_aliases = true;
        let state = State::decode(&told.state);
        if state.is_none() {
            self.tell("the state of the session is damaged; the session begins anew");
        }
        let state = state.unwrap_or_default();
        let mut session = Session {
            new: self.vars.all().clone(),
            new_functions: self.functions.keys().map(Name::clone).collect(),
            home: self.cwd.clone(),
            old: told.state,
            lent: Vec::new(),
            lent_dir: None,
        };
        let dir = state.dir.clone();
        self.take_over(state);
        if told.names_cwd {
            session.lent_dir = Some((self.cwd.clone(), dir));
        } else {
            self.enter_session_dir(dir, told.astray, &mut session);
        }
        for line in told.variables {
            self.lend(&line, &mut session);
        }
        self.session = Some(Box::new(session));
    }

    fn take_over(&mut self, state: State) {
        for name in &state.removed {
            self.vars.remove(name);
        }
        for (name, var) in state.variables {
            self.vars.insert(name.as_slice().into(), var);
        }
        for stored in state.functions {
            let name: Name = stored.name.as_slice().into();
            if stored.exported {
                self.exported_functions.insert(Name::clone(&name));
            }
            let (text, source) = (stored.text.into(), stored.source.into());
            let function = Function::from_text(Name::clone(&name), text, source, stored.line, stored.extglob);
            self.functions.insert(name, Rc::new(function));
        }
        for name in &state.removed_functions {
            self.remove_function(name);
        }
        for (name, value) in state.aliases {
            self.set_alias(&name, value);
        }
        self.dir_stack = state.dir_stack.into();
    }

    /// Goes to the session's directory. One that is gone is told of, and the shell stays where it is.
    fn enter_session_dir(&mut self, dir: Option<Bytes>, astray: bool, session: &mut Session) {
        let gone = match &dir {
            Some(dir) => match rt::chdir(dir) {
                Ok(()) => {
                    self.cwd.clone_from(dir);
                    self.set_exported(b"PWD", dir.clone());
                    return;
                }
                Err(errno) => Some((lossy(dir), errno)),
            },
            None => None,
        };
        let here = lossy(&self.cwd);
        match gone {
            Some((dir, errno)) => self.tell(&format!("{dir}: {errno}; the session goes on in {here}")),
            None if astray => {
                self.tell(&format!("the sandbox's working directory is gone; the session goes on in {here}"))
            }
            None => {}
        }
        // The start in `/` for want of the sandbox's directory is for this command alone.
        if astray {
            session.lent_dir = Some((self.cwd.clone(), None));
        }
    }

    /// Sets a variable of the request over whatever the session has.
    fn lend(&mut self, line: &[u8], session: &mut Session) {
        let Some(at) = line.iter().position(|&b| b == b'=') else { return };
        let (name, value) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
        if name.is_empty() || name_len(name) != name.len() || name == b"_" {
            // As in every shell, what is no name cannot be a variable; a function can be handed over so.
            self.import_function(name, value);
            return;
        }
        let (name, var): (Name, _) = (name.into(), Var { value: Value::Text(value.to_vec()), flags: vars::EXPORT });
        let kept = self.vars.remove(&name);
        self.vars.insert(Name::clone(&name), var.clone());
        session.lent.push((name, var, kept));
    }

    /// Leaves what has changed for the next shell. Called at the end, and before a program takes the shell's place.
    pub(crate) fn leave_session(&mut self) {
        let Some(session) = self.session.take() else { return };
        self.vars.leave_scopes();
        for (name, var, kept) in &session.lent {
            if self.vars.get(name) != Some(var) {
                continue;
            }
            match kept {
                Some(kept) => self.vars.insert(Name::clone(name), kept.clone()),
                None => drop(self.vars.remove(name)),
            }
        }
        let dir = match &session.lent_dir {
            Some((given, kept)) if *given == self.cwd => kept.clone(),
            _ if self.cwd == session.home => None,
            _ => Some(self.cwd.clone()),
        };
        let state = self.changes(&session, dir).encode();
        if state == session.old {
            return;
        }
        if let Err(errno) = rt::leave_shell_state(&state) {
            let why = if errno == Errno::TOOBIG {
                format!("variables and functions have {} bytes, which is more than the sandbox keeps", state.len())
            } else {
                errno.text().to_owned()
            };
            self.tell(&format!("the session stays as it was before this command: {why}"));
            if self.status == 0 {
                self.status = 1;
            }
        }
    }

    /// What is not as in a new shell.
    fn changes(&self, session: &Session, dir: Option<Bytes>) -> State {
        let own = |name: &[u8]| OWN.contains(&name);
        let now = self.vars.all().iter();
        let changed = now.filter(|(name, var)| !own(name) && session.new.get(&***name) != Some(*var));
        let mut variables: Vec<(Bytes, Var)> = changed.map(|(name, var)| (name.to_vec(), var.clone())).collect();
        variables.sort_by(|a, b| a.0.cmp(&b.0));
        let gone = session.new.keys().filter(|name| !own(name) && self.vars.get(name).is_none());
        let mut removed: Vec<Bytes> = gone.map(|name| name.to_vec()).collect();
        removed.sort();
        let gone = session.new_functions.iter().filter(|name| !self.functions.contains_key(&name[..]));
        let removed_functions = gone.map(|name| name.to_vec()).collect();
        let mut functions: Vec<StoredFunction> =
            self.functions.values().map(|function| self.stored(function)).collect();
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
            dir_stack: self.dir_stack.iter().cloned().collect(),
        }
    }

    fn stored(&self, function: &Function) -> StoredFunction {
        StoredFunction {
            name: function.name.to_vec(),
            text: function.text().to_vec(),
            source: function.source.to_vec(),
            line: function.line,
            extglob: function.extglob,
            exported: self.exported_functions.contains(&function.name),
        }
    }

    /// Words about the session rather than about a line of the command.
    fn tell(&mut self, text: &str) {
        let line = [&self.name[..], b": ", text.as_bytes(), b"\n"].concat();
        // Where standard error is closed there is nobody to tell.
        let _ = self.io.write(2, &line);
        self.io.flush();
    }
}

fn lossy(text: &[u8]) -> String {
    crate::expand::lossy(text).into_owned()
}
