//! `bind`. Line editing is not supported, so it prints the warning of a shell without line editing and has no effect.

use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn bind(shell: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    shell.report_builtin_error("warning: line editing not enabled");
    Ok(0)
}
