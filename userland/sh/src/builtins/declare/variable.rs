//! Declaring one variable.

mod argument;
mod prepare;

use super::Wanted;
use super::reference::{may_become_reference, no_reference, refer, resolve};
use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Key};
use argument::{is_compound, read_argument};
use prepare::{mark, prepare};

pub(super) use argument::{Declared, Given};

/// Declares one name; says whether that was allowed.
pub(super) fn declare_one(shell: &mut Shell, arg: &DeclArg, wanted: &Wanted) -> Run<bool> {
    if let DeclArg::Word(word) = arg
        && word == b"-"
        && shell.running == "local"
    {
        shell.save_options();
        return Ok(true);
    }
    let Some(declared) = read_argument(shell, arg, wanted)? else { return Ok(false) };
    // A name that calls have made local is put aside while the shell's own variable is declared.
    let name = Name::clone(&declared.name);
    let swapped = wanted.global && shell.vars.swap_global(&name);
    let result = declare_variable(shell, declared, wanted);
    if swapped {
        shell.vars.swap_global(&name);
    }
    result
}

/// Declares a name that is no option; what cannot be a reference is refused here.
fn declare_variable(shell: &mut Shell, declared: Declared<'_>, wanted: &Wanted) -> Run<bool> {
    let refers = wanted.on & vars::NAMEREF != 0;
    if refers && let Some(Given::Elements(_)) = declared.value {
        let plain = Wanted { on: wanted.on & !vars::NAMEREF, ..*wanted };
        let name = Name::clone(&declared.name);
        if with_value(shell, declared, &plain)? {
            shell.complain_builtin(format!("{}: reference variable cannot be an array", lossy(&name)));
        }
        return Ok(false);
    }
    if refers && let Some(problem) = no_reference(shell, &declared) {
        shell.complain_builtin(problem);
        return Ok(false);
    }
    with_value(shell, declared, wanted)
}

/// Declares a name that is not made a reference in vain: with what it is given, if anything.
fn with_value(shell: &mut Shell, mut declared: Declared<'_>, wanted: &Wanted) -> Run<bool> {
    if let Some(answer) = resolve(shell, &mut declared, wanted) {
        return Ok(answer);
    }
    let Declared { name, subscript, append, value, shown } = declared;
    let refers = wanted.on & vars::NAMEREF != 0;
    if refers && shell.is_array(&name) && (!wanted.local || shell.vars.is_local(&name)) {
        shell.complain_builtin(format!("{}: reference variable cannot be an array", lossy(&name)));
        return Ok(false);
    }
    if refers && value.is_none() && !may_become_reference(shell, &name, wanted) {
        return Ok(false);
    }
    let existed = shell.vars.get(&name).is_some();
    if refers && (!wanted.local || wanted.global || shell.vars.is_local(&name)) {
        // What the variable was before does not touch what it refers to.
        if let Some(var) = shell.vars.get_mut(&name) {
            var.flags &= !(vars::INTEGER | vars::LOWER | vars::UPPER | vars::CAPITAL);
        }
    }
    let list = matches!(value, Some(Given::Elements(_)));
    let compound = match &value {
        Some(Given::Text(text)) if !refers && is_compound(text) => {
            is_list(shell, &name, subscript.is_some(), &shown, wanted)
        }
        _ => false,
    };
    if !prepare(shell, &name, wanted, subscript.is_some() || list || compound, value.is_some())? {
        return Ok(false);
    }
    let good = match value {
        None => {
            let plain = wanted.base == 0 && !wanted.local && !refers && !shell.is_array(&name) && subscript.is_none();
            if shell.options.allexport && !existed && plain && !wanted.indexed && !wanted.assoc {
                shell.vars.entry(&name).flags |= vars::EXPORT;
            }
            true
        }
        Some(Given::Elements(assign)) => assign_elements(shell, &name, assign)?,
        Some(Given::Text(text)) if refers => refer(shell, &name, &text, append, existed),
        Some(Given::Text(_)) if is_refused(shell, &name, compound, wanted) => {
            shell.complain_builtin([&name[..], b": readonly variable"].concat());
            false
        }
        Some(Given::Text(text)) if compound => {
            assign_compound(shell, &name, &text, append)?;
            true
        }
        Some(Given::Text(text)) => assign_text(shell, &name, subscript.as_deref(), append, text)?,
    };
    if good {
        mark(shell, &name, wanted);
        if (wanted.base != 0 || wanted.on & (vars::EXPORT | vars::READONLY) != 0) && !shell.vars.is_local(&name) {
            // `x=1 export x` means it for good.
            shell.vars.keep(&name);
            shell.vars.keep_lent(&name);
        }
    }
    Ok(good)
}

/// Whether a text in parentheses is a list for the variable. An element of an array that is there already gets the text,
/// unless the options ask for an array: then its subscript means nothing.
fn is_list(shell: &mut Shell, name: &Name, is_element: bool, shown: &[u8], wanted: &Wanted) -> bool {
    let compound = wanted.indexed || wanted.assoc || (wanted.base == 0 && shell.is_array(name));
    if !compound && is_element {
        let text = format!("warning: {}: quoted compound array assignment deprecated", lossy(shown));
        shell.complain(text);
    }
    compound && (!is_element || wanted.indexed || wanted.assoc)
}

/// Whether a constant refuses a text in the words of a declaration. With an option for arrays `readonly` is `declare`, and
/// complains as such.
fn is_refused(shell: &Shell, name: &Name, compound: bool, wanted: &Wanted) -> bool {
    (compound || (shell.running == "readonly" && (wanted.indexed || wanted.assoc)))
        && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY))
}

/// A text for the variable or one of its elements.
fn assign_text(shell: &mut Shell, name: &Name, subscript: Option<&[u8]>, append: bool, text: Bytes) -> Run<bool> {
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
fn assign_compound(shell: &mut Shell, name: &Name, text: &[u8], append: bool) -> Run {
    if !append && let Some(var) = shell.vars.get_mut(name) {
        // It is empty when one of them has no value.
        var.flags &= !vars::BARE;
    }
    let operator: &[u8] = if append { b"+=" } else { b"=" };
    let line = shell.line;
    let source = [name, operator, text].concat();
    let outer = std::mem::take(&mut shell.running);
    let result = match crate::parse::read_assignment(&source, line) {
        Some(Assign { value: AssignValue::Array(elements), .. }) => {
            shell.assign_elements(name, &elements, append, false).map(drop)
        }
        _ => shell.run_text(&source, line),
    };
    shell.running = outer;
    result
}

/// The elements of a list as the parser read it.
fn assign_elements(shell: &mut Shell, name: &Name, assign: &Assign) -> Run<bool> {
    let AssignValue::Array(elements) = &assign.value else { return Ok(true) };
    let outer = std::mem::take(&mut shell.running);
    let assigned = shell.assign_elements(name, elements, assign.append, true);
    shell.running = outer;
    // A list for a constant gives up the line, with or without a declaration around it.
    if assigned == Ok(false) && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
        return Err(Stop::Discard);
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
