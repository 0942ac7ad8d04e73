//! Parsing of the arguments of a declaration.

use crate::builtins::declare::DeclareOptions;
use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

/// One argument of a declaration.
pub(in crate::builtins::declare) struct Declared<'a> {
    pub(in crate::builtins::declare) name: Name,
    pub(in crate::builtins::declare) subscript: Option<Bytes>,
    pub(in crate::builtins::declare) append: bool,
    pub(in crate::builtins::declare) value: Option<DeclaredValue<'a>>,
    /// The argument as messages show it.
    pub(in crate::builtins::declare) shown: Bytes,
}

/// The value assigned to a declared name.
pub(in crate::builtins::declare) enum DeclaredValue<'a> {
    Text(Bytes),
    Elements(&'a Assign),
}

pub(super) fn read_argument<'a>(
    shell: &mut Shell,
    arg: &'a DeclArg,
    requested: &DeclareOptions,
) -> EvalResult<Option<Declared<'a>>> {
    let (word, once) = match arg {
        DeclArg::Word(word) => (word.clone(), false),
        DeclArg::Assign(assign) => match (&assign.value, &assign.subscript) {
            (AssignValue::Array(_), _) => {
                let name = Name::clone(&assign.name);
                let shown = name.to_vec();
                let value = Some(DeclaredValue::Elements(assign));
                return Ok(Some(Declared { name, subscript: None, append: assign.append, value, shown }));
            }
            (AssignValue::Word(value), None) => {
                let value = shell.expand_text(value)?;
                let operator: &[u8] = if assign.append { b"+=" } else { b"=" };
                let shown = [&assign.name[..], operator, &value].concat();
                let name = Name::clone(&assign.name);
                let value = Some(DeclaredValue::Text(value));
                return Ok(Some(Declared { name, subscript: None, append: assign.append, value, shown }));
            }
            (AssignValue::Word(value), Some(subscript)) => {
                // The builtin reads such a word once more when all in it has been expanded.
                let key = shell.expand_text(&subscript.key)?;
                let value = shell.expand_text(value)?;
                let operator: &[u8] = if assign.append { b"]+=" } else { b"]=" };
                ([&assign.name[..], b"[", &key, operator, &value].concat(), true)
            }
        },
    };
    match split_word(shell, &word, once && shell.options.assoc_expand_once) {
        Some(declared) if declared.subscript.is_none() || requested.base == 0 => Ok(Some(declared)),
        Some(Declared { name, subscript: Some(subscript), .. }) => {
            let element = [&name[..], b"[", &subscript, b"]"].concat();
            shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&element)));
            Ok(None)
        }
        _ => {
            shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&word)));
            Ok(None)
        }
    }
}

/// A word such as `name` or `name[subscript]+=value`; `None` if it is invalid.
fn split_word(shell: &Shell, word: &[u8], once: bool) -> Option<Declared<'static>> {
    let (name, rest) = word.split_at(name_len(word));
    if name.is_empty() {
        return None;
    }
    let assoc = shell.vars.get(name).is_some_and(|var| matches!(var.value, Value::Assoc(_)));
    let (subscript, rest) = crate::expand::split_subscript(rest, assoc && once)?;
    let (append, value) = match rest {
        b"" => (false, None),
        [b'=', value @ ..] => (false, Some(value)),
        [b'+', b'=', value @ ..] => (true, Some(value)),
        _ => return None,
    };
    let value = value.map(|value| DeclaredValue::Text(value.to_vec()));
    Some(Declared { name: name.into(), subscript: subscript.map(<[u8]>::to_vec), append, value, shown: word.to_vec() })
}

pub(super) fn is_compound(value: &[u8]) -> bool {
    value.first() == Some(&b'(') && value.len() > 1 && value.last() == Some(&b')')
}
