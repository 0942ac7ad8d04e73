//! The tests that `[`, `test` and `[[` share.

use tidebox_rt::{self as rt, FileKind, Stat};

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};
use crate::vars;

/// An error in a test.
#[derive(Debug)]
pub(crate) struct TestFault(pub(crate) Bytes);

/// State of a file by a script's path, in which descriptors are the script's own.
fn stat(shell: &Shell, path: &[u8], follow: bool) -> Option<Stat> {
    let number = match path {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => path.strip_prefix(b"/dev/fd/").and_then(plain_number).and_then(|n| u32::try_from(n).ok()),
    };
    match number {
        Some(number) => rt::fstat(shell.io.fd(number)?).ok(),
        None => rt::stat(path, follow).ok(),
    }
}

/// `-letter operand`.
pub(crate) fn unary_test(shell: &mut Shell, letter: u8, operand: &[u8]) -> EvalResult<bool> {
    let kind = |shell: &Shell, expected: FileKind| stat(shell, operand, true).is_some_and(|s| s.kind() == expected);
    let mode = |shell: &Shell, bit: u32| stat(shell, operand, true).is_some_and(|s| s.mode & bit != 0);
    Ok(match letter {
        b'z' => operand.is_empty(),
        b'n' => !operand.is_empty(),
        b'e' | b'a' => stat(shell, operand, true).is_some(),
        b'f' => kind(shell, FileKind::File),
        b'd' => kind(shell, FileKind::Dir),
        b'h' | b'L' => stat(shell, operand, false).is_some_and(|s| s.kind() == FileKind::Symlink),
        b's' => stat(shell, operand, true).is_some_and(|s| s.size > 0),
        b'r' => rt::access(operand, 4).is_ok(),
        b'w' => rt::access(operand, 2).is_ok(),
        b'x' => rt::access(operand, 1).is_ok(),
        b'b' => kind(shell, FileKind::BlockDevice),
        b'c' => kind(shell, FileKind::CharDevice),
        b'p' => kind(shell, FileKind::Pipe),
        b'S' => kind(shell, FileKind::Socket),
        b'u' => mode(shell, 0o4000),
        b'g' => mode(shell, 0o2000),
        b'k' => mode(shell, 0o1000),
        b'O' => stat(shell, operand, true).is_some_and(|s| rt::getids().is_ok_and(|ids| ids.uid == s.uid)),
        b'G' => stat(shell, operand, true).is_some_and(|s| rt::getids().is_ok_and(|ids| ids.gid == s.gid)),
        b'N' => stat(shell, operand, true).is_some_and(|s| s.mtime_ns > s.atime_ns),
        b't' => {
            let number = plain_number(operand).and_then(|n| u32::try_from(n).ok());
            number.and_then(|n| shell.io.fd(n)).is_some_and(rt::is_terminal)
        }
        b'o' => crate::options::switch(crate::options::SET, operand).is_some_and(|s| (s.get)(&shell.options)),
        b'v' => return is_set(shell, operand),
        b'R' => shell
            .vars
            .get(operand)
            .is_some_and(|var| var.has(vars::NAMEREF) && var.scalar().is_some_and(|t| !t.is_empty())),
        _ => false,
    })
}

/// `-v name` and `-v name[subscript]`.
fn is_set(shell: &mut Shell, operand: &[u8]) -> EvalResult<bool> {
    let Some(element) = shell.parse_element_name(operand) else {
        let number = plain_number(operand).and_then(|n| usize::try_from(n).ok());
        return Ok(number.is_some_and(|n| n == 0 || n <= shell.positional.len()));
    };
    let name = &element.name;
    let Some(subscript) = &element.subscript else {
        return Ok(shell.lookup(name).is_some());
    };
    if !shell.is_keyed(name) && matches!(subscript.as_slice(), b"@" | b"*") {
        return Ok(!shell.elements(name).is_empty());
    }
    let key = shell.key_of_element_name(&element)?;
    let Some(key) = key else { return Ok(false) };
    let found = shell.element(name, &key).is_some();
    Ok(found)
}

/// `left -name right`, and the comparisons of strings that `[` has.
pub(crate) fn binary_test(name: &[u8], left: &[u8], right: &[u8]) -> Result<bool, TestFault> {
    let number = |text: &[u8]| {
        // White space may precede the number, blanks may follow it.
        let blanks = text.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let digits = text.get(..text.len() - blanks).unwrap_or_default().trim_ascii_start();
        let digits = digits.strip_prefix(b"+").unwrap_or(digits);
        plain_number(digits)
            .or_else(|| std::str::from_utf8(digits).ok().and_then(|s| s.parse().ok()))
            .ok_or_else(|| TestFault([text, b": integer expression expected"].concat()))
    };
    let times = || {
        let time = |path: &[u8]| rt::stat(path, true).ok().map(|s| s.mtime_ns);
        (time(left), time(right))
    };
    Ok(match name {
        b"=" | b"==" => left == right,
        b"!=" => left != right,
        b"<" => left < right,
        b">" => left > right,
        b"eq" => number(left)? == number(right)?,
        b"ne" => number(left)? != number(right)?,
        b"lt" => number(left)? < number(right)?,
        b"le" => number(left)? <= number(right)?,
        b"gt" => number(left)? > number(right)?,
        b"ge" => number(left)? >= number(right)?,
        b"nt" => match times() {
            (Some(a), Some(b)) => a > b,
            (a, _) => a.is_some(),
        },
        b"ot" => match times() {
            (Some(a), Some(b)) => a < b,
            (_, b) => b.is_some(),
        },
        b"ef" => {
            let id = |path: &[u8]| rt::stat(path, true).ok().map(|s| (s.dev, s.ino));
            id(left).is_some() && id(left) == id(right)
        }
        _ => return Err(TestFault(format!("{}: binary operator expected", lossy(name)).into_bytes())),
    })
}
