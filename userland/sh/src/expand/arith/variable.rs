//! Variables and elements of arrays in expressions.

use std::rc::Rc;

use super::{Fault, Value};
use crate::expand::lossy;
use crate::ir::{Name, Part, Subscript};
use crate::parse::plain_number;
use crate::state::Shell;
use crate::vars::{self, Key};

impl Shell {
    /// The key of an assignment, with its subscript evaluated once; `None` for empty brackets.
    pub(super) fn place(&mut self, name: &Name, subscript: Option<&Rc<Subscript>>) -> Result<Option<Key>, Fault> {
        Ok(match subscript {
            Some(subscript) if self.is_empty_subscript(subscript)? => None,
            Some(subscript) => Some(self.key_of(name, subscript)?),
            None => Some(Key::Whole),
        })
    }

    /// The key and the old value of an element to change; the key is `None` for empty brackets.
    pub(super) fn old_value(
        &mut self,
        name: &Name,
        subscript: Option<&Rc<Subscript>>,
    ) -> Result<(Option<Key>, i64), Fault> {
        let Some(subscript) = subscript else { return Ok((Some(Key::Whole), self.var_value(name)?)) };
        self.check_set(name, subscript)?;
        if self.is_empty_subscript(subscript)? {
            return Ok((None, self.element_value(name, subscript)?));
        }
        let key = self.key_of(name, subscript)?;
        self.check_assigned(name)?;
        let old = self.value_at(name, &key)?;
        Ok((Some(key), old))
    }

    /// Assigns, or reports empty brackets. The expression then continues with the value.
    pub(super) fn change(
        &mut self,
        name: &Name,
        subscript: Option<&Rc<Subscript>>,
        key: Option<Key>,
        value: i64,
    ) -> Result<(), Fault> {
        if let Some(key) = key {
            return self.set_number(name, subscript, key, value);
        }
        let message = [b"`", &name[..], b"[]': not a valid identifier"].concat();
        if self.builtin.name.is_empty() {
            self.report_error(message)
        } else {
            self.report_builtin_error(message)
        }
        Ok(())
    }

    /// Returns whether a subscript is empty or expands to an empty text.
    fn is_empty_subscript(&mut self, subscript: &Subscript) -> Result<bool, Fault> {
        let expands = |part: &Part| matches!(part, Part::Param(_) | Part::Double(_));
        let parts = &subscript.key.parts;
        Ok(subscript.key.raw.is_empty()
            // In a text that is evaluated, as by `let`, it is 0.
            || (self.expansion.arith_depth == 0
                && parts.iter().all(expands)
                && crate::parse::simple::is_pure(parts, false)
                && self.expand_text(&subscript.key)?.is_empty()))
    }

    /// With `set -u`, an unset array ends the script before its subscript is evaluated. The expansions in the subscript
    /// precede that.
    fn check_set(&mut self, name: &Name, subscript: &Subscript) -> Result<(), Fault> {
        if !self.options.nounset || self.is_assigned(name) {
            return Ok(());
        }
        let plain = |part: &Part| matches!(part, Part::Lit(_) | Part::Quoted(_));
        if self.expansion.arith_depth == 0 && !subscript.key.parts.iter().all(plain) {
            self.expand_text(&subscript.key)?;
        }
        self.check_assigned(name)
    }

    /// Returns whether a variable or array is set; one that is only declared is not.
    fn is_assigned(&self, name: &Name) -> bool {
        let given = |var: &vars::Var| !matches!(var.value, vars::Value::Unset) && !var.has(vars::BARE);
        let meant = match self.vars.resolve_nameref(name) {
            vars::NamerefTarget::Variable(meant) => self.vars.get(&meant),
            _ => self.vars.get(name),
        };
        meant.is_some_and(given) || self.is_computed(name)
    }

    fn check_assigned(&mut self, name: &Name) -> Result<(), Fault> {
        if !self.options.nounset || self.is_assigned(name) {
            return Ok(());
        }
        let stop = self.abort_unset(format!("{}: unbound variable", lossy(name)));
        stop.map_err(Fault::Stop)
    }

    pub(super) fn value_at(&mut self, name: &Name, key: &Key) -> Value {
        if *key == Key::Whole {
            return self.var_value(name);
        }
        match self.element(name, key) {
            Some(text) => self.nested_value(&text),
            None => Ok(0),
        }
    }

    pub(super) fn var_value(&mut self, name: &Name) -> Value {
        if let Some(var) = self.vars.get(name)
            && !var.has(vars::NAMEREF)
            && let Some(text) = var.scalar()
            && let Some(number) = plain_number(text)
        {
            return Ok(number);
        }
        match self.lookup(name) {
            Some(text) => self.nested_value(&text),
            None if self.options.nounset => {
                let stop = self.abort_unset::<i64>(format!("{}: unbound variable", lossy(name)));
                stop.map_err(Fault::Stop)
            }
            None => Ok(0),
        }
    }

    pub(super) fn element_value(&mut self, name: &Name, subscript: &Subscript) -> Value {
        self.check_set(name, subscript)?;
        if self.is_empty_subscript(subscript)? {
            self.report_error([&name[..], b"[]: bad array subscript"].concat());
            return Ok(0);
        }
        let key = self.key_of(name, subscript)?;
        match self.element(name, &key) {
            Some(text) => self.nested_value(&text),
            None if self.options.nounset && self.vars.get(name).is_none() => {
                let stop = self.abort_unset::<i64>(format!("{}: unbound variable", lossy(name)));
                stop.map_err(Fault::Stop)
            }
            None => Ok(0),
        }
    }

    fn set_number(
        &mut self,
        name: &Name,
        subscript: Option<&Rc<Subscript>>,
        key: Key,
        value: i64,
    ) -> Result<(), Fault> {
        if let Some(subscript) = subscript
            && self.is_invalid_key(name, &key)
            && !self.is_constant(name)
        {
            // The message shows the subscript as written, and the expression continues with the value.
            self.report_error([&name[..], b"[", &subscript.key.raw, b"]: bad array subscript"].concat());
            return Ok(());
        }
        if self.assign(name, key, false, value.to_string().into_bytes())? {
            self.forget_computed(name);
            return Ok(());
        }
        // Only a constant ends the expression; after an invalid subscript it continues with the value.
        if self.is_constant(name) { Err(Fault::Reported) } else { Ok(()) }
    }
}
