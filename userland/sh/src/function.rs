//! Functions: their text, read when it is first needed, and their way into a program's environment.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::ir::{Bytes, Compound, Name};
use crate::state::Shell;
use crate::vars::Lines;

/// The environment name of an exported function, before and after its name.
const ENVIRONMENT: (&[u8], &[u8]) = (b"BASH_FUNC_", b"%%");

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    /// The file or `main` or `environment`, for `BASH_SOURCE`.
    pub(crate) source: Rc<[u8]>,
    /// The line that the definition starts in.
    pub(crate) line: u32,
    /// True if extended patterns were enabled when it was parsed; parsing it again needs the same setting.
    pub(crate) extglob: bool,
    /// The definition as it was read; empty if it is not contiguous in its source.
    text: OnceCell<Rc<[u8]>>,
    /// `None` when the text could not be read.
    body: OnceCell<Option<Rc<Compound>>>,
}

impl Function {
    /// A function that was just read; its text follows with [`Self::set_text`].
    pub(crate) fn read(name: Name, body: Rc<Compound>, source: Rc<[u8]>, line: u32, extglob: bool) -> Self {
        Self { name, source, line, extglob, text: OnceCell::new(), body: OnceCell::from(Some(body)) }
    }

    /// A function with unparsed text. Most functions of a session are not called by the next command, so parsing waits for
    /// the first call.
    pub(crate) fn from_text(name: Name, text: Rc<[u8]>, source: Rc<[u8]>, line: u32, extglob: bool) -> Self {
        Self { name, source, line, extglob, text: OnceCell::from(text), body: OnceCell::new() }
    }

    pub(crate) fn set_text(&self, text: Rc<[u8]>) {
        // The text is set once, when the definition is parsed.
        let _ = self.text.set(text);
    }

    /// The definition, such that reading it again makes the same function.
    pub(crate) fn text(&self) -> Rc<[u8]> {
        self.text.get().map_or_else(|| crate::print::function(self).into(), Rc::clone)
    }

    /// The definition as it was read, if it could be cut out of its source.
    pub(crate) fn known_text(&self) -> Option<Rc<[u8]>> {
        self.text.get().map(Rc::clone)
    }

    /// The body; `None` if the text is not a definition.
    pub(crate) fn body(&self) -> Option<&Rc<Compound>> {
        let read = || {
            let text = self.text.get()?;
            crate::parse::read_function(text, self.line, Rc::clone(&self.source), self.extglob)
        };
        self.body.get_or_init(read).as_ref()
    }
}

/// The environment line of an exported function.
fn environment_line(function: &Function) -> Bytes {
    let printed = crate::print::function(function);
    let body = printed.get(function.name.len()..).unwrap_or_default().trim_ascii();
    // `() ` and a newline precede the brace.
    let body = body.strip_prefix(b"()").unwrap_or(body).trim_ascii_start();
    [ENVIRONMENT.0, &function.name, ENVIRONMENT.1, b"=() ", body].concat()
}

impl Shell {
    /// The environment of programs: `NAME=value` of exported variables and functions.
    pub(crate) fn environment(&self) -> Lines {
        let mut lines = self.vars.environment();
        for name in &self.computed.exported {
            let table = if *name == "SHELLOPTS" { crate::options::SET } else { crate::options::SHOPT };
            lines.push(&[name.as_bytes(), b"=", self.options.names_on(table).as_bytes()]);
        }
        let exported = self.functions.exported.iter().filter_map(|name| self.functions.by_name.get(name));
        for function in exported {
            lines.push(&[&environment_line(function)]);
        }
        lines
    }

    /// Imports a function from the environment. Returns false if the variable is not an exported function.
    pub(crate) fn import_function(&mut self, variable: &[u8], value: &[u8]) -> bool {
        let name = variable.strip_prefix(ENVIRONMENT.0).and_then(|rest| rest.strip_suffix(ENVIRONMENT.1));
        let Some(name) = name.filter(|name| !name.is_empty() && value.starts_with(b"() {")) else { return false };
        let text = [name, b" ", value].concat().into();
        let name: Name = name.into();
        let function = Function::from_text(Name::clone(&name), text, Rc::from(&b"environment"[..]), 0, false);
        // A text other than a single definition is not imported.
        if function.body().is_some() {
            self.functions.by_name.insert(Name::clone(&name), Rc::new(function));
            self.functions.exported.insert(name);
        }
        true
    }

    pub(crate) fn remove_function(&mut self, name: &[u8]) {
        self.functions.by_name.remove(name);
        self.functions.exported.remove(name);
        self.functions.traced.remove(name);
    }
}
