//! `umask` and `times`.

use tidebox_rt as rt;

use crate::builtins::option_letters::{Letters, without_options};
use crate::expand::lossy;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn umask(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut symbolic, mut reusable) = (false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'S' => symbolic = true,
            b'p' => reusable = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    let current = match rt::umask(None) {
        Ok(current) => current,
        Err(errno) => {
            shell.report_builtin_error(errno.text());
            return Ok(1);
        }
    };
    let Some(mask) = words.first() else {
        let text = if symbolic { symbols(current) } else { format!("{current:04o}") };
        let prefix = match (reusable, symbolic) {
            (true, true) => "umask -S ",
            (true, false) => "umask ",
            _ => "",
        };
        return Ok(shell.print(format!("{prefix}{text}\n")));
    };
    let Ok(new) = u32::from_str_radix(&lossy(mask), 8) else {
        shell.report_builtin_error([mask, &b": octal number out of range"[..]].concat());
        return Ok(1);
    };
    Ok(u8::from(rt::umask(Some(new & 0o777)).is_err()))
}

fn symbols(mask: u32) -> String {
    let class = |shift: u32| -> String {
        let bits = !mask >> shift & 7;
        [(4, 'r'), (2, 'w'), (1, 'x')].iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| *letter).collect()
    };
    format!("u={},g={},o={}", class(6), class(3), class(0))
}

/// The sandbox measures no processor time, so all four figures are zero.
pub(super) fn times(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if let Err(status) = without_options(shell, args) {
        return Ok(status);
    }
    let times = tidebox_rt::cpu_times();
    let text = |nanos: u64| {
        let millis = nanos / 1_000_000;
        format!("{}m{}.{:03}s 0m0.000s\n", millis / 60_000, millis / 1000 % 60, millis % 1000)
    };
    Ok(shell.print(&(text(times.own) + &text(times.children))))
}
