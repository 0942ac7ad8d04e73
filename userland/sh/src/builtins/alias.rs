//! `alias` and `unalias`. A non-interactive shell does not expand aliases, so none can be set.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

pub(super) fn alias(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut status = 0;
    for arg in args.iter().skip(1).filter(|arg| arg.as_slice() != b"-p") {
        // bash accepts a definition here and never uses it.
        if !arg.contains(&b'=') {
            shell.complain_builtin([arg, &b": not found"[..]].concat());
            status = 1;
        }
    }
    Ok(status)
}

pub(super) fn unalias(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut status = 0;
    for arg in args.iter().skip(1) {
        if arg != b"-a" {
            shell.complain_builtin([arg, &b": not found"[..]].concat());
            status = 1;
        }
    }
    Ok(status)
}
