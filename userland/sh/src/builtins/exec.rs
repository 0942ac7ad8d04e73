//! `exec`.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

/// Runs the program that the words name in the shell's place; without one only the redirections count, which the
/// evaluator has made.
pub(crate) fn exec(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut clean, mut login, mut name) = (false, false, None);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'c' => clean = true,
                b'l' => login = true,
                b'a' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    if attached.is_empty() {
                        let Some((value, rest)) = words.split_first() else {
                            shell.complain_builtin("-a: option requires an argument");
                            return Ok(shell.usage("exec [-cl] [-a name] [command [argument ...]] [redirection ...]"));
                        };
                        name = Some(value.clone());
                        words = rest;
                    } else {
                        name = Some(attached.to_vec());
                    }
                    break;
                }
                other => {
                    let usage = "exec [-cl] [-a name] [command [argument ...]] [redirection ...]";
                    return Ok(shell.bad_option(&[b'-', *other], usage));
                }
            }
        }
    }
    let Some(first) = words.first() else { return Ok(0) };
    if shell.refuses() {
        return Ok(1);
    }
    if login {
        let shown = name.as_ref().unwrap_or(first);
        name = Some([b"-", &shown[..]].concat());
    }
    shell.exec_program(words, name, clean)?;
    Ok(shell.status)
}
