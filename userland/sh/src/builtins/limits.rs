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
    let new = if mask.first().is_some_and(u8::is_ascii_digit) {
        let number = u32::from_str_radix(&lossy(mask), 8).map(|mask| mask & 0o777);
        number.map_err(|_| [&mask[..], b": octal number out of range"].concat())
    } else {
        from_symbols(mask, current)
    };
    match new {
        Ok(new) => {
            if symbolic {
                shell.print(format!("{}\n", symbols(new)));
            }
            Ok(u8::from(rt::umask(Some(new)).is_err()))
        }
        Err(why) => {
            shell.report_builtin_error(why);
            Ok(1)
        }
    }
}

fn symbols(mask: u32) -> String {
    let class = |shift: u32| -> String {
        let bits = !mask >> shift & 7;
        [(4, 'r'), (2, 'w'), (1, 'x')].iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| *letter).collect()
    };
    format!("u={},g={},o={}", class(6), class(3), class(0))
}

/// Parses a mask such as `u=rwx,g+w`, which lists the allowed permissions. The error is the message.
fn from_symbols(text: &[u8], current: u32) -> Result<u32, Bytes> {
    let mut allowed = !current & 0o777;
    for clause in text.split(|&b| b == b',') {
        let len = clause.iter().position(|b| !b"ugoa".contains(b)).unwrap_or(clause.len());
        let (who, rest) = clause.split_at(len);
        let operator = rest.first().copied().unwrap_or(if text.len() == clause.len() { 0 } else { b',' });
        if !b"=+-".contains(&operator) {
            // A clause that ends too early ends with the text or at the comma.
            let shown = if rest.is_empty() && text.ends_with(clause) { 0 } else { operator };
            return Err([b"`", &[shown][..], b"': invalid symbolic mode operator"].concat());
        }
        let mut classes = 0;
        for letter in who {
            classes |= match letter {
                b'u' => 0o700,
                b'g' => 0o070,
                b'o' => 0o007,
                _ => 0o777,
            };
        }
        if classes == 0 {
            classes = 0o777;
        }
        let mut bits = 0;
        for letter in rest.get(1..).unwrap_or_default() {
            bits |= match letter {
                b'r' => 0o444,
                b'w' => 0o222,
                b'x' => 0o111,
                other => return Err([b"`", &[*other][..], b"': invalid symbolic mode character"].concat()),
            };
        }
        allowed = match operator {
            b'=' => (allowed & !classes) | (bits & classes),
            b'+' => allowed | (bits & classes),
            _ => allowed & !(bits & classes),
        };
    }
    Ok(!allowed & 0o777)
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
