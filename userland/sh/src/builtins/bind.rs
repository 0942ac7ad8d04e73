//! `bind`. There is no line editing, so a key can be bound to anything and nothing comes of it.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

const USAGE: &str = "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] \
                     [-x keyseq:shell-command] [keyseq:readline-function or readline-command]";

pub(super) fn bind(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    shell.complain_builtin("warning: line editing not enabled");
    let mut words = args.get(1..).unwrap_or_default();
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'l' | b'p' | b's' | b'v' | b'P' | b'S' | b'V' | b'X' => {}
                b'm' | b'f' | b'q' | b'u' | b'r' | b'x' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    let value = if attached.is_empty() { words.first().cloned() } else { Some(attached.to_vec()) };
                    let Some(value) = value else {
                        shell.complain_builtin(format!("-{}: option requires an argument", char::from(*letter)));
                        return Ok(shell.usage(USAGE));
                    };
                    if attached.is_empty() {
                        words = words.get(1..).unwrap_or_default();
                    }
                    if *letter == b'q' {
                        return Ok(shell.print([&value[..], b" is not bound to any keys.\n"].concat()).max(1));
                    }
                    break;
                }
                other => return Ok(shell.bad_option(&[b'-', *other], USAGE)),
            }
        }
    }
    Ok(0)
}
