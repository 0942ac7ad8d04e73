//! `bind`. There is no line editing, so a key can be bound to anything and nothing comes of it.

use crate::builtins::letters::Letters;
use crate::ir::Bytes;
use crate::state::{Run, Shell};

const USAGE: &str = "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] \
                     [-x keyseq:shell-command] [keyseq:readline-function or readline-command]";

pub(super) fn bind(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    shell.complain_builtin("warning: line editing not enabled");
    if args.get(1).is_some_and(|word| word == b"--help") {
        return Ok(shell.usage(USAGE));
    }
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'l' | b'p' | b's' | b'v' | b'P' | b'S' | b'V' | b'X' => {}
            b'm' | b'f' | b'q' | b'u' | b'r' | b'x' => match letters.argument() {
                Some(name) if letter == b'q' => {
                    return Ok(shell.print([name, b" is not bound to any keys.\n"].concat()).max(1));
                }
                Some(_) => {}
                None => return Ok(letters.wants_argument(shell, USAGE)),
            },
            _ => return Ok(letters.refuse(shell, USAGE)),
        }
    }
    Ok(0)
}
