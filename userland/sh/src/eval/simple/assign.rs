//! Assignments before commands, and commands that are only assignments.

use std::rc::Rc;

use crate::ir::{Assign, AssignValue, Bytes, Name, Simple};
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::{self, Value};

impl Shell {
    /// Runs a command without a name: its assignments stay, its redirections are undone.
    #[inline(never)]
    pub(super) fn run_assignments(&mut self, simple: &Simple) -> EvalResult {
        for assign in &simple.assigns {
            self.run_own_assign(assign)?;
        }
        self.status = self.expansion.substitution_status.unwrap_or(0);
        match self.redirect(&simple.redirects)? {
            Some(undo) => self.undo(undo),
            None => self.status = 1,
        }
        self.computed.last_arg.clear();
        if self.expansion.substitution_status.is_some() { self.run_pending_traps() } else { Ok(()) }
    }

    /// Assigns permanently. A rejected assignment discards the command.
    fn run_own_assign(&mut self, assign: &Assign) -> EvalResult {
        if self.run_assign(assign)? {
            return Ok(());
        }
        self.status = self.rejection_status();
        Err(if self.options.posix { self.fatal() } else { Unwind::Discard })
    }

    /// Assigns for the duration of one command and reports rejected assignments. Returns whether all were allowed.
    #[inline(never)]
    pub(crate) fn temporary_assigns(&mut self, assigns: &[Assign]) -> EvalResult<bool> {
        let mut allowed = true;
        for assign in assigns {
            if let Some(subscript) = &assign.subscript {
                let subscript = &subscript.key.raw;
                self.report_error([b"`", &assign.name[..], b"[", subscript, b"]': not a valid identifier"].concat());
                continue;
            }
            let name = self.target_variable(&assign.name).unwrap_or_else(|| Rc::clone(&assign.name));
            if self.is_constant(&name) {
                // Its value is not even expanded.
                self.report_error([&assign.name[..], b": readonly variable"].concat());
                allowed = false;
                continue;
            }
            self.vars.make_temporary(&name);
            if let Some(var) = self.vars.get_mut(&name)
                && !var.has(vars::READONLY)
                && !assign.append
            {
                // Attributes of the variable do not apply to a value for one command.
                var.flags &= vars::EXPORT;
                if !matches!(var.value, Value::Text(_)) {
                    var.value = Value::Unset;
                }
            }
            if let AssignValue::Array(elements) = &assign.value {
                let words: Vec<Bytes> = elements.iter().map(|element| element.value.raw.to_vec()).collect();
                self.set_exported(&name, [b"(", &words.join(&b' ')[..], b")"].concat());
                continue;
            }
            allowed &= self.assign_for_command(assign, &name)?;
        }
        Ok(allowed)
    }

    /// Assigns a text for one command and exports it. Returns whether it was allowed.
    fn assign_for_command(&mut self, assign: &Assign, name: &Name) -> EvalResult<bool> {
        // It is shown with the value that it has then, even when that was appended to.
        let assigned = self.run_assign_shown(assign, false);
        let assigned = assigned?;
        if self.options.xtrace {
            let value = self.lookup(name).unwrap_or_default();
            let value = if value.is_empty() { value } else { crate::eval::trace::quote(&value) };
            self.trace_raw(&[&name[..], b"=", &value].concat());
        }
        if assigned && let Some(var) = self.vars.get_mut(name) {
            var.flags |= vars::EXPORT;
        }
        Ok(assigned)
    }
}
