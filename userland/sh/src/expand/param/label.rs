//! Names of parameters in messages.

use crate::expand::lossy;
use crate::ir::{Bytes, Index, Param, Target};
use crate::state::Shell;

impl Shell {
    /// The name of the parameter for messages about an operator.
    pub(in crate::expand) fn shown_name(&self, param: &Param) -> Bytes {
        let mut name = target_name(&param.target);
        if param.indirect {
            name.insert(0, b'!');
        }
        name.extend_from_slice(shown_index(&param.index).as_bytes());
        name
    }
}

pub(super) fn target_name(target: &Target) -> Bytes {
    match target {
        Target::Var(name) => name.to_vec(),
        Target::Positional(number) => number.to_string().into_bytes(),
        Target::Special(byte) => vec![*byte],
    }
}

/// A subscript as messages show it.
pub(super) fn shown_index(index: &Index) -> String {
    match index {
        Index::None => String::new(),
        Index::At => "[@]".to_owned(),
        Index::Star => "[*]".to_owned(),
        Index::One(subscript) => format!("[{}]", lossy(&subscript.key.raw)),
    }
}
