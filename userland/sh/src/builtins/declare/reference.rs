//! Name references: what is declared through one, and what may become one.

use super::DeclareOptions;
use super::variable::{Declared, DeclaredValue};
use crate::expand::lossy;
use crate::ir::Name;
use crate::parse::token::name_len;
use crate::state::Shell;
use crate::vars::{self, NamerefTarget, Value};

/// The error of making this variable a reference, if any.
pub(super) fn no_reference(shell: &mut Shell, declared: &Declared<'_>) -> Option<String> {
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
        return unrefer(shell, declared, requested);
    }
    if declared.value.is_some() && declared.subscript.is_some() {
        shell.stop_referring(&declared.name);
        return None;
    }
    match shell.meaning(&declared.name) {
        NamerefTarget::Variable(meant) => declared.name = meant,
        NamerefTarget::Element(array, subscript) => {
            if requested.base != 0 {
                let text = [&array[..], b"[", &subscript, b"]"].concat();
                shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&text)));
                // As in bash, the status is 0.
                return Some(true);
            }
            if shell.vars.get(&array).is_some_and(|var| var.has(vars::NAMEREF)) {
                shell.stop_referring(&array);
            }
            declared.name = array;
            if declared.subscript.is_none() {
                declared.subscript = Some(subscript);
            }
        }
        NamerefTarget::Nothing(name) => return declare_nothing(shell, declared, &name, requested),
        NamerefTarget::Own | NamerefTarget::Global(_) | NamerefTarget::Circle => {}
    }
    None
}

/// Declares a variable through a reference without a target. Returns the result as [`resolve`] does.
pub(super) fn declare_nothing(
    shell: &mut Shell,
    declared: &mut Declared<'_>,
    name: &Name,
    requested: &DeclareOptions,
) -> Option<bool> {
    if requested.indexed || requested.assoc {
        if let Some(var) = shell.vars.get_mut(name) {
            var.flags &= !vars::NAMEREF;
            var.value = Value::Unset;
        }
        return None;
    }
    if declared.value.is_none() && requested.off & vars::READONLY != 0 {
        return Some(true);
    }
    if let Some(DeclaredValue::Text(text)) = &declared.value
        && requested.local
        && shell.vars.is_local(name)
        && !crate::expand::may_refer(text)
    {
        shell.report_builtin_error(format!("`{}': invalid variable name for name reference", lossy(text)));
        return Some(false);
    }
    if let Some(DeclaredValue::Text(text)) = &declared.value
        && !shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY))
        && !crate::expand::may_refer(text)
    {
        // It is not even a reference any more.
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(text)));
        if !shell.vars.restore_outer(name) {
            shell.vars.remove(name);
        }
        return Some(false);
    }
    declared.name = Name::clone(name);
    None
}

/// `+n`: the reference becomes an ordinary variable, and the declaration applies to its former target. Returns the result as
/// [`resolve`] does.
pub(super) fn unrefer(shell: &mut Shell, declared: &mut Declared<'_>, requested: &DeclareOptions) -> Option<bool> {
    // Of several that refer to one another it is the last one.
    for _ in 0..8 {
        let next = shell.vars.get(&declared.name).and_then(vars::Var::scalar).cloned().unwrap_or_default();
        if !shell.vars.get(&next).is_some_and(|var| var.has(vars::NAMEREF)) {
            break;
        }
        declared.name = next.into();
    }
    let var = shell.vars.get_mut(&declared.name)?;
    let set = matches!(&var.value, Value::Text(text) if !text.is_empty());
    if var.has(vars::READONLY) && set {
        shell.report_builtin_error([&declared.name[..], b": readonly variable"].concat());
        return Some(false);
    }
    let meant = if set { var.scalar().cloned() } else { None };
    var.flags &= !vars::NAMEREF;
    let more = requested.on != 0 || declared.value.is_some() || requested.off != vars::NAMEREF;
    if let Some(meant) = meant.filter(|_| more)
        && name_len(&meant) == meant.len()
    {
        declared.name = meant.into();
    }
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

/// Makes a name refer to another.
pub(super) fn refer(shell: &mut Shell, name: &Name, target: &[u8], append: bool, existed: bool) -> bool {
    let target = match shell.vars.get(name).map(|var| &var.value) {
        Some(Value::Text(old)) if append => [old, target].concat(),
        _ => target.to_vec(),
    };
    // A value that becomes a number is not a valid name; as in bash, this is not reported.
    let number = shell.vars.get(name).is_some_and(|var| var.has(vars::INTEGER));
    if number || target.is_empty() || !crate::expand::may_refer(&target) {
        if !number || !crate::expand::may_refer(&target) {
            shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&target)));
        }
        if !existed && target.is_empty() && shell.vars.is_local(name) {
            shell.vars.entry(name).flags &= !vars::NAMEREF;
        } else if !existed && !shell.vars.restore_outer(name) {
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
