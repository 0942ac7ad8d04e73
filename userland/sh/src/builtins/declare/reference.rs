//! Declarations of name references, and through them.

use super::DeclareOptions;
use super::variable::{Declared, DeclaredValue};
use crate::expand::lossy;
use crate::ir::Name;
use crate::state::Shell;
use crate::vars::{self, NamerefTarget, Value};

/// The error of making this variable a reference, if any.
pub(super) fn reference_error(shell: &mut Shell, declared: &Declared<'_>) -> Option<String> {
    let name = lossy(&declared.name);
    if let Some(subscript) = &declared.subscript {
        return Some(format!("{name}[{}]: reference variable cannot be an array", lossy(subscript)));
    }
    let Some(DeclaredValue::Text(value)) = &declared.value else { return None };
    let own = value.strip_prefix(&declared.name[..]).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"["));
    if own && !declared.append {
        if shell.frames.iter().all(|frame| !frame.is_function) {
            return Some(format!("{name}: nameref variable self references not allowed"));
        }
        shell.report_builtin_error(format!("warning: {name}: circular name reference"));
        shell.report_error(format!("warning: {name}: circular name reference"));
    }
    let valid = value.is_empty() || declared.append || crate::expand::may_refer(value);
    (!valid).then(|| format!("`{}': invalid variable name for name reference", lossy(value)))
}

/// Resolves references in a declaration. Returns the result if the declaration is complete.
pub(super) fn resolve(shell: &mut Shell, declared: &mut Declared<'_>, requested: &DeclareOptions) -> Option<bool> {
    let (on, off) = (requested.on & vars::NAMEREF != 0, requested.off & vars::NAMEREF != 0);
    let is_reference = shell.vars.get(&declared.name).is_some_and(|var| var.has(vars::NAMEREF));
    if !is_reference || on || (requested.local && !requested.global && !shell.vars.is_local(&declared.name)) {
        return None;
    }
    if off {
        return unrefer(shell, declared);
    }
    match shell.meaning(&declared.name) {
        NamerefTarget::Variable(meant) | NamerefTarget::Nothing(meant) => declared.name = meant,
        NamerefTarget::Element(array, subscript) => {
            declared.name = array;
            declared.subscript.get_or_insert(subscript);
        }
        NamerefTarget::Own | NamerefTarget::Global(_) | NamerefTarget::Circle => {}
    }
    None
}

/// `+n`: the reference becomes an ordinary variable. Returns the result as [`resolve`] does.
fn unrefer(shell: &mut Shell, declared: &Declared<'_>) -> Option<bool> {
    let var = shell.vars.get_mut(&declared.name)?;
    if var.has(vars::READONLY) {
        shell.report_builtin_error([&declared.name[..], b": readonly variable"].concat());
        return Some(false);
    }
    var.flags &= !vars::NAMEREF;
    None
}

/// Returns whether the value of a variable is a valid target of a reference, after an error message if not.
pub(super) fn may_become_reference(shell: &mut Shell, name: &Name, requested: &DeclareOptions) -> bool {
    if requested.local && !requested.global && !shell.vars.is_local(name) && !shell.vars.is_command_temporary(name) {
        return true;
    }
    let Some(var) = shell.vars.get(name) else { return true };
    if var.has(vars::NAMEREF) {
        return true;
    }
    if let Value::Text(value) = &var.value
        && !crate::expand::may_refer(value)
    {
        let text = format!("`{}': invalid variable name for name reference", lossy(value));
        shell.report_builtin_error(text);
        return false;
    }
    if var.has(vars::READONLY) {
        shell.report_builtin_error([name, &b": readonly variable"[..]].concat());
        return false;
    }
    true
}

/// Sets the target of a reference.
pub(super) fn refer(shell: &mut Shell, name: &Name, target: &[u8], append: bool, existed: bool) -> bool {
    let target = match shell.vars.get(name).map(|var| &var.value) {
        Some(Value::Text(old)) if append => [old, target].concat(),
        _ => target.to_vec(),
    };
    if !crate::expand::may_refer(&target) {
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&target)));
        if !existed && !shell.vars.restore_outer(name) {
            shell.vars.remove(name);
        }
        return false;
    }
    if append && target == name[..] {
        shell.report_error(format!("{}: nameref variable self references not allowed", lossy(name)));
        return false;
    }
    shell.vars.entry(name).value = Value::Text(target);
    true
}
