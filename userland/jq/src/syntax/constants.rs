//! Terms that are constants.

use jaq_core::load::parse::BinaryOp;

use super::Term;
use super::terms::plain_text;
use crate::value::{Map, Val};

/// The value of a term that is a constant.
pub(crate) fn constant(term: &Term) -> Option<Val> {
    match term {
        Term::Num(text) => crate::json::parse_one(text.as_bytes()).ok(),
        Term::Str(None, parts) => plain_text(parts).map(Val::from),
        Term::Arr(None) => Some(Val::array(Vec::new())),
        Term::Arr(Some(items)) => Some(Val::array(constants(items)?)),
        Term::Obj(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let Val::String(key) = constant(key)? else {
                    return None;
                };
                map.insert(key, constant(value.as_ref()?)?);
            }
            Some(Val::object(map))
        }
        Term::Call("true", _) => Some(Val::Bool(true)),
        Term::Call("false", _) => Some(Val::Bool(false)),
        Term::Call("null", _) => Some(Val::Null),
        _ => None,
    }
}

fn constants(term: &Term) -> Option<Vec<Val>> {
    match term {
        Term::BinOp(left, BinaryOp::Comma, right) => {
            let mut items = constants(left)?;
            items.append(&mut constants(right)?);
            Some(items)
        }
        term => Some(vec![constant(term)?]),
    }
}
