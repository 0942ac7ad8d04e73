//! Declaring one variable.

mod argument;
mod prepare;

use super::DeclareOptions;
use super::reference::{may_become_reference, refer, reference_error, resolve};
use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::{self, Key};
use argument::{is_compound, read_argument};
use prepare::{mark, prepare};

pub(super) use argument::{Declared, DeclaredValue};

/// Declares one name. Returns whether it was allowed.
pub(super) fn declare_one(shell: &mut Shell, arg: &DeclArg, requested: &DeclareOptions) -> EvalResult<bool> {
    if let DeclArg::Word(word) = arg
        && word == b"-"
        && shell.builtin.name == "local"
    {
        shell.save_options();
        return Ok(true);
    }
    let Some(declared) = read_argument(shell, arg, requested)? else { return Ok(false) };
    // A local variable is swapped out while the global variable is declared.
    let name = Name::clone(&declared.name);
    let swapped = requested.global && shell.vars.swap_global(&name);
    let result = declare_variable(shell, declared, requested);
    if swapped {
        shell.vars.swap_global(&name);
    }
    result
}

/// Declares a name. Rejects invalid references.
fn declare_variable(shell: &mut Shell, declared: Declared<'_>, requested: &DeclareOptions) -> EvalResult<bool> {
    let refers = requested.on & vars::NAMEREF != 0;
    if refers && let Some(DeclaredValue::Elements(_)) = declared.value {
        let plain = DeclareOptions { on: requested.on & !vars::NAMEREF, ..*requested };
        let name = Name::clone(&declared.name);
        if with_value(shell, declared, &plain)? {
            shell.report_builtin_error(format!("{}: reference variable cannot be an array", lossy(&name)));
        }
        return Ok(false);
    }
    if refers && let Some(problem) = reference_error(shell, &declared) {
        shell.report_builtin_error(problem);
        return Ok(false);
    }
    with_value(shell, declared, requested)
}

/// Declares a name with its value, if any.
fn with_value(shell: &mut Shell, mut declared: Declared<'_>, requested: &DeclareOptions) -> EvalResult<bool> {
    if let Some(answer) = resolve(shell, &mut declared, requested) {
        return Ok(answer);
    }
    let Declared { name, subscript, append, value, shown } = declared;
    let refers = requested.on & vars::NAMEREF != 0;
    if refers && !check_reference(shell, &name, requested, value.is_some()) {
        return Ok(false);
    }
    let existed = shell.vars.get(&name).is_some();
    if refers && (!requested.local || requested.global || shell.vars.is_local(&name)) {
        // Attributes of the variable do not apply to the target of the reference.
        if let Some(var) = shell.vars.get_mut(&name) {
            var.flags &= !(vars::INTEGER | vars::LOWER | vars::UPPER | vars::CAPITAL);
        }
    }
    let list = matches!(value, Some(DeclaredValue::Elements(_)));
    let compound = match &value {
        Some(DeclaredValue::Text(text)) if !refers && is_compound(text) => {
            is_list(shell, &name, subscript.is_some(), &shown, requested)
        }
        _ => false,
    };
    if !prepare(shell, &name, requested, subscript.is_some() || list || compound, value.is_some())? {
        return Ok(false);
    }
    let good = match value {
        None => {
            let plain =
                requested.base == 0 && !requested.local && !refers && !shell.is_array(&name) && subscript.is_none();
            if shell.options.allexport && !existed && plain && !requested.indexed && !requested.assoc {
                shell.vars.entry(&name).flags |= vars::EXPORT;
            }
            true
        }
        Some(DeclaredValue::Elements(assign)) => assign_elements(shell, &name, assign)?,
        Some(DeclaredValue::Text(text)) if refers => refer(shell, &name, &text, append, existed),
        Some(DeclaredValue::Text(_)) if is_rejected(shell, &name, compound, requested) => {
            shell.report_builtin_error([&name[..], b": readonly variable"].concat());
            false
        }
        Some(DeclaredValue::Text(text)) if compound => {
            assign_compound(shell, &name, &text, append)?;
            true
        }
        Some(DeclaredValue::Text(text)) => assign_text(shell, &name, subscript.as_deref(), append, text)?,
    };
    if good {
        mark(shell, &name, requested);
        if (requested.base != 0 || requested.on & (vars::EXPORT | vars::READONLY) != 0) && !shell.vars.is_local(&name) {
            // `x=1 export x` keeps the value after the command.
            shell.vars.keep(&name);
            shell.vars.keep_temporary(&name);
        }
    }
    Ok(good)
}

/// Returns whether a variable may become a reference, after an error message if not.
fn check_reference(shell: &mut Shell, name: &Name, requested: &DeclareOptions, has_value: bool) -> bool {
    if shell.is_array(name) && (!requested.local || shell.vars.is_local(name)) {
        shell.report_builtin_error(format!("{}: reference variable cannot be an array", lossy(name)));
        return false;
    }
    has_value || may_become_reference(shell, name, requested)
}

/// Returns whether a text in parentheses is a list for the variable. An existing array element gets the text, unless the
/// options request an array, which makes the subscript meaningless.
fn is_list(shell: &mut Shell, name: &Name, is_element: bool, shown: &[u8], requested: &DeclareOptions) -> bool {
    let compound = requested.indexed || requested.assoc || (requested.base == 0 && shell.is_array(name));
    if !compound && is_element {
        let text = format!("warning: {}: quoted compound array assignment deprecated", lossy(shown));
        shell.report_error(text);
    }
    compound && (!is_element || requested.indexed || requested.assoc)
}

/// Returns whether a constant rejects a text in a declaration. With an array option `readonly` acts as `declare` and reports
/// the error.
fn is_rejected(shell: &Shell, name: &Name, compound: bool, requested: &DeclareOptions) -> bool {
    (compound || (shell.builtin.name == "readonly" && (requested.indexed || requested.assoc)))
        && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY))
}

/// A text for the variable or one of its elements.
fn assign_text(
    shell: &mut Shell,
    name: &Name,
    subscript: Option<&[u8]>,
    append: bool,
    text: Bytes,
) -> EvalResult<bool> {
    let key = match subscript {
        None => Some(Key::Whole),
        Some(subscript) => shell.key_of_declared(name, subscript)?,
    };
    let good = match key {
        Some(key) => {
            // `set -a` exports no array that is declared with a value.
            let allexport = shell.options.allexport;
            shell.options.allexport &= !shell.is_array(name);
            let assigned = shell.assign(name, key, append, text);
            shell.options.allexport = allexport;
            assigned?
        }
        None => false,
    };
    shell.forget_computed(name);
    Ok(good)
}

/// The elements of a list that was a text until now.
fn assign_compound(shell: &mut Shell, name: &Name, text: &[u8], append: bool) -> EvalResult {
    if !append && let Some(var) = shell.vars.get_mut(name) {
        // The array stays empty if an element is invalid.
        var.flags &= !vars::BARE;
    }
    let operator: &[u8] = if append { b"+=" } else { b"=" };
    let line = shell.line;
    let source = [name, operator, text].concat();
    let outer = std::mem::take(&mut shell.builtin.name);
    let result = match crate::parse::read_assignment(&source, line) {
        Some(Assign { value: AssignValue::Array(elements), .. }) => {
            shell.assign_elements(name, &elements, append).map(drop)
        }
        _ => shell.run_text(&source, line),
    };
    shell.builtin.name = outer;
    result
}

/// The elements of a list as the parser read it.
fn assign_elements(shell: &mut Shell, name: &Name, assign: &Assign) -> EvalResult<bool> {
    let AssignValue::Array(elements) = &assign.value else { return Ok(true) };
    let outer = std::mem::take(&mut shell.builtin.name);
    let assigned = shell.assign_elements(name, elements, assign.append);
    shell.builtin.name = outer;
    // Assigning a list to a constant discards the command, also in a declaration.
    if assigned == Ok(false) && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
        return Err(Unwind::Discard);
    }
    assigned
}

impl Shell {
    /// `local -`: the options come back when the call ends.
    fn save_options(&mut self) {
        let name = Name::from(&b"-"[..]);
        if !self.vars.make_local(&name)
            && let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.is_function)
        {
            frame.options = Some(Box::new(self.options.clone()));
        }
    }
}
