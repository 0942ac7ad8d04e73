//! `echo`.

use crate::escape::{Escapes, unescape};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn echo(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut newline, mut escapes) = (true, shell.options.xpg_echo);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        if !letters.iter().all(|b| matches!(b, b'n' | b'e' | b'E')) {
            break;
        }
        for letter in letters {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        words = rest;
    }
    let mut line = words.join(&b' ');
    if escapes {
        let (text, ended) = unescape(Escapes::Echo, &line, |_| {});
        line = text;
        newline &= !ended;
    }
    if newline {
        line.push(b'\n');
    }
    Ok(shell.print(line))
}
