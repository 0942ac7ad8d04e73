//! Expansions that are none: the message about one shows all of the text that it stands in.

use std::rc::Rc;

use crate::ir::{Op, Part};

/// Lets the mistakes among these pieces of `text` name all of it.
pub(in crate::parse) fn name_text(parts: &mut [Part], text: impl FnOnce() -> Box<[u8]>) {
    let mut refused = parts.iter_mut().filter_map(refused).peekable();
    if refused.peek().is_none() {
        return;
    }
    let text = text();
    refused.for_each(|raw| raw.clone_from(&text));
}

/// What the message about a piece shows, where it is no expansion.
fn refused(part: &mut Part) -> Option<&mut Box<[u8]>> {
    let Part::Param(param) = part else { return None };
    matches!(param.op, Op::Bad | Op::Transform(0)).then(|| Rc::get_mut(param)).flatten().map(|param| &mut param.raw)
}
