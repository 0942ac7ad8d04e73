//! `let`.

use crate::expand::Fault;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn evaluate(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    if words.first().is_some_and(|word| word == b"--") {
        words = words.get(1..).unwrap_or_default();
    }
    if words.is_empty() {
        shell.report_builtin_error("expression expected");
        return Ok(1);
    }
    let mut value = 0;
    for word in words {
        match shell.text_value(word) {
            Ok(number) => value = number,
            Err(Fault::Stop(stop)) => return Err(stop),
            Err(Fault::Reported) => return Ok(1),
            Err(Fault::Message(text)) => {
                shell.report_builtin_error(text);
                return Ok(1);
            }
        }
    }
    Ok(u8::from(value == 0))
}
