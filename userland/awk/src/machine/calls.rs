//! Calls of user-defined functions, and dispatch of builtin functions.

use std::rc::Rc;

use super::{Frame, Location, Machine, Outcome, fatal};
use crate::array::Array;
use crate::builtin::Builtin;
use crate::value::Value;

/// Maximum number of values on the stack, so that endless recursion hits this limit before memory is exhausted.
const MAX_VALUES: usize = 8 << 20;

/// Maximum number of nested calls.
const MAX_CALLS: usize = 2 << 20;

/// Maximum nesting of sorts. Each level uses the stack of the guest.
const MAX_NESTED: u32 = 50;

impl Machine {
    /// Prepares the call of a function whose arguments are on the stack. Returns the start of its code.
    pub(super) fn call(&mut self, function: u32, arguments: u32, back: usize) -> Outcome<usize> {
        let program = Rc::clone(&self.program);
        let Some(definition) = program.functions.get(function as usize) else {
            return fatal("function not defined");
        };
        let Some(entry) = definition.entry else {
            return fatal(format!("function `{}' not defined", String::from_utf8_lossy(&definition.name)));
        };
        if self.stack.len() > MAX_VALUES || self.frames.len() > MAX_CALLS {
            return fatal("too many calls of functions are in progress: the recursion has no end");
        }
        let base = self.stack.len() - arguments as usize;
        let parameters = definition.parameters.len();
        // The parser has already warned about extra arguments.
        self.stack.resize(base + parameters, Value::Untyped);
        self.frames.push(Frame { back, base: self.base, loops: self.walks.len(), function });
        self.base = base;
        Ok(entry)
    }

    /// Returns to the caller, with or without a value.
    pub(super) fn give_back(&mut self, with_value: bool) -> usize {
        let value = if with_value { self.pop() } else { Value::Unset };
        self.stack.truncate(self.base);
        self.push(value);
        let Some(frame) = self.frames.pop() else {
            return usize::MAX;
        };
        self.base = frame.base;
        self.walks.truncate(frame.loops);
        frame.back
    }

    /// Like [`Self::call`], with the name below the arguments. Builtin functions run immediately.
    pub(super) fn call_by_name(&mut self, arguments: u32, back: usize) -> Outcome<Option<usize>> {
        let at = self.stack.len() - arguments as usize - 1;
        let name = self.stack.remove(at);
        let name = self.text_of(&name);
        let shown = String::from_utf8_lossy(name.bytes()).into_owned();
        if let Some(function) = self.program.functions.iter().position(|known| known.name == name.bytes()) {
            return self.call(function as u32, arguments, back).map(Some);
        }
        match Builtin::find(name.bytes()) {
            Some(Builtin::Sub | Builtin::Gsub) if arguments != 2 => {
                fatal(format!("{shown}: can be called indirectly only with two arguments"))
            }
            Some(builtin) if builtin.takes(arguments as usize) => {
                if matches!(builtin, Builtin::Sub | Builtin::Gsub) {
                    self.spots.push(Location::Field(0));
                }
                self.builtin(builtin, arguments as usize)?;
                Ok(None)
            }
            Some(_) => fatal(format!("{arguments} is invalid as number of arguments for {shown}")),
            None => fatal(format!("`{shown}' is not a function, so it cannot be called indirectly")),
        }
    }

    /// Calls a function from the interpreter itself.
    pub(super) fn call_now(&mut self, function: u32, arguments: Vec<Value>) -> Outcome<Value> {
        if self.nested >= MAX_NESTED {
            return fatal("functions that compare sort too deeply within each other");
        }
        self.nested += 1;
        let (at, count) = (self.at, arguments.len() as u32);
        self.stack.extend(arguments);
        let entry = self.call(function, count, usize::MAX)?;
        self.run(entry)?;
        self.nested -= 1;
        self.at = at;
        Ok(self.pop())
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, count: usize) -> Outcome<()> {
        match builtin {
            Builtin::Length => self.length(count),
            Builtin::Substr => self.substr(count),
            Builtin::Index => self.index(),
            Builtin::Tolower | Builtin::Toupper => {
                let text = self.pop_text();
                self.doubt(&text);
                let mut out = Vec::with_capacity(text.bytes().len());
                super::strings::change_case(text.bytes(), builtin == Builtin::Toupper, &mut out);
                self.push(Value::Text(crate::text::Text::from_vec(out)));
                Ok(())
            }
            Builtin::Sprintf => self.sprintf(count),
            Builtin::Split => self.split(count, false),
            Builtin::Patsplit => self.split(count, true),
            Builtin::Match => self.match_function(count),
            Builtin::Sub | Builtin::Gsub => self.substitute(builtin == Builtin::Gsub, count),
            Builtin::Gensub => self.gensub(count),
            Builtin::Asort | Builtin::Asorti => self.sort_array(builtin == Builtin::Asorti, count),
            Builtin::System => self.system(),
            Builtin::Close => self.close(count),
            Builtin::Fflush => self.fflush(count),
            Builtin::Strftime | Builtin::Mktime | Builtin::Systime => self.time_function(builtin, count),
            Builtin::Typeof => self.type_of(count),
            Builtin::Isarray => {
                let is = matches!(self.pop(), Value::Array(handle) if !handle.borrow().is_no_array());
                self.push(Value::truth(is));
                Ok(())
            }
            Builtin::Dcgettext | Builtin::Dcngettext | Builtin::Bindtextdomain => {
                self.message_function(builtin, count);
                Ok(())
            }
            _ => self.number_function(builtin, count),
        }
    }

    /// Translations are not supported: texts are returned unchanged.
    fn message_function(&mut self, builtin: Builtin, count: usize) {
        let from = self.stack.len().saturating_sub(count);
        let arguments: Vec<Value> = self.stack.drain(from..).collect();
        let plural = builtin == Builtin::Dcngettext && arguments.get(2).is_some_and(|count| count.number() != 1.0);
        let chosen = arguments.get(usize::from(plural)).cloned().unwrap_or(Value::Unset);
        self.push(chosen);
    }

    fn type_of(&mut self, _count: usize) -> Outcome<()> {
        let value = self.pop();
        let name = match &value {
            Value::Untyped => "untyped",
            Value::Unset => "unassigned",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::Input(text) if crate::number::looks_numeric(text.bytes()).is_some() => "strnum",
            // A field that does not exist is empty, too.
            Value::Input(text) if text.is_empty() => "unassigned",
            Value::Input(_) => "string",
            Value::Regex(_) => "regexp",
            Value::Array(handle) if matches!(&*handle.borrow(), Array::Untyped) => "untyped",
            Value::Array(handle) if handle.borrow().is_no_array() => "unassigned",
            Value::Array(_) => "array",
        };
        self.push(Value::text(name.as_bytes()));
        Ok(())
    }
}
