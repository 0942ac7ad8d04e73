//! Name references: what is declared through one, and what may become one.

use super::Wanted;
use super::variable::{Declared, Given};
use crate::expand::lossy;
use crate::ir::Name;
use crate::parse::token::name_len;
use crate::state::Shell;
use crate::vars::{self, Meant, Value};

/// What is wrong with making this a reference; `None` when nothing is.
pub(super) fn no_reference(shell: &mut Shell, declared: &Declared<'_>) -> Option<String> {
    let name = lossy(&declared.name);
    if let Some(subscript) = &declared.subscript {
        return Some(format!("{name}[{}]: reference variable cannot be an array", lossy(subscript)));
    }
    let Some(Given::Text(value)) = &declared.value else { return None };
    let own = value.strip_prefix(&declared.name[..]).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"["));
    if own && !declared.append {
        if shell.frames.iter().all(|frame| !frame.is_function) {
            return Some(format!("{name}: nameref variable self references not allowed"));
        }
        shell.complain_builtin(format!("warning: {name}: circular name reference"));
        shell.complain(format!("warning: {name}: circular name reference"));
    }
    let valid = value.is_empty() || declared.append || crate::expand::may_refer(value);
    (!valid).then(|| format!("`{}': invalid variable name for name reference", lossy(value)))
}

/// Follows references to what is declared; the answer of the declaration when there is nothing more to do.
pub(super) fn resolve(shell: &mut Shell, declared: &mut Declared<'_>, wanted: &Wanted) -> Option<bool> {
    let (on, off) = (wanted.on & vars::NAMEREF != 0, wanted.off & vars::NAMEREF != 0);
    let is_reference = shell.vars.get(&declared.name).is_some_and(|var| var.has(vars::NAMEREF));
    if !is_reference || on || (wanted.local && !wanted.global && !shell.vars.is_local(&declared.name)) {
        return None;
    }
    if off {
        return unrefer(shell, declared, wanted);
    }
    if declared.value.is_some() && declared.subscript.is_some() {
        shell.stop_referring(&declared.name);
        return None;
    }
    match shell.meaning(&declared.name) {
        Meant::Variable(meant) => declared.name = meant,
        Meant::Element(array, subscript) => {
            if wanted.base != 0 {
                let text = [&array[..], b"[", &subscript, b"]"].concat();
                shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&text)));
                // bash's status does not tell of it.
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
        Meant::Nothing(name) => return declare_nothing(shell, declared, &name, wanted),
        Meant::Own | Meant::Global(_) | Meant::Circle => {}
    }
    None
}

/// What is declared is a reference to nothing; the answer as in [`resolve`].
pub(super) fn declare_nothing(
    shell: &mut Shell,
    declared: &mut Declared<'_>,
    name: &Name,
    wanted: &Wanted,
) -> Option<bool> {
    if wanted.indexed || wanted.assoc {
        if let Some(var) = shell.vars.get_mut(name) {
            var.flags &= !vars::NAMEREF;
            var.value = Value::Unset;
        }
        return None;
    }
    if declared.value.is_none() && wanted.off & vars::READONLY != 0 {
        return Some(true);
    }
    if let Some(Given::Text(text)) = &declared.value
        && wanted.local
        && shell.vars.is_local(name)
        && !crate::expand::may_refer(text)
    {
        shell.complain_builtin(format!("`{}': invalid variable name for name reference", lossy(text)));
        return Some(false);
    }
    if let Some(Given::Text(text)) = &declared.value
        && !shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY))
        && !crate::expand::may_refer(text)
    {
        // It is not even a reference any more.
        shell.complain_builtin(format!("`{}': not a valid identifier", lossy(text)));
        if !shell.vars.uncover(name) {
            shell.vars.remove(name);
        }
        return Some(false);
    }
    declared.name = Name::clone(name);
    None
}

/// `+n`: the reference becomes an ordinary variable, and what else is declared is the variable that it referred to.
/// The answer as in [`resolve`].
pub(super) fn unrefer(shell: &mut Shell, declared: &mut Declared<'_>, wanted: &Wanted) -> Option<bool> {
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
        shell.complain_builtin([&declared.name[..], b": readonly variable"].concat());
        return Some(false);
    }
    let meant = if set { var.scalar().cloned() } else { None };
    var.flags &= !vars::NAMEREF;
    let more = wanted.on != 0 || declared.value.is_some() || wanted.off != vars::NAMEREF;
    if let Some(meant) = meant.filter(|_| more)
        && name_len(&meant) == meant.len()
    {
        declared.name = meant.into();
    }
    None
}

/// Whether the value that a variable has may be that of a reference; complains when not.
pub(super) fn may_become_reference(shell: &mut Shell, name: &Name, wanted: &Wanted) -> bool {
    if wanted.local && !wanted.global && !shell.vars.is_local(name) && !shell.vars.lent_to_newest(name) {
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
        shell.complain_builtin(text);
        return false;
    }
    if var.has(vars::READONLY) {
        shell.complain_builtin([name, &b": readonly variable"[..]].concat());
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
    // A value that becomes a number is no name, and bash does not complain.
    let number = shell.vars.get(name).is_some_and(|var| var.has(vars::INTEGER));
    if number || target.is_empty() || !crate::expand::may_refer(&target) {
        if !number || !crate::expand::may_refer(&target) {
            shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&target)));
        }
        if !existed && target.is_empty() && shell.vars.is_local(name) {
            shell.vars.entry(name).flags &= !vars::NAMEREF;
        } else if !existed && !shell.vars.uncover(name) {
            shell.vars.remove(name);
        }
        return false;
    }
    if append && target == name[..] {
        shell.complain(format!("{}: nameref variable self references not allowed", lossy(name)));
        return false;
    }
    shell.vars.entry(name).value = Value::Text(target);
    true
}
