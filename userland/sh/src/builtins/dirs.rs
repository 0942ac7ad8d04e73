//! `pushd`, `popd`, `dirs`.

use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};

/// The entry that `+n` or `-n` denotes.
enum StackEntry {
    /// The number of an entry; 0 is the working directory.
    At(usize),
    OutOfRange,
    /// Not an entry of the stack.
    Other,
}

fn entry(shell: &Shell, arg: &[u8]) -> StackEntry {
    let size = shell.dirs.stack.len() + 1;
    let Some((sign @ (b'+' | b'-'), digits)) = arg.split_first() else { return StackEntry::Other };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return StackEntry::Other;
    }
    let number = plain_number(digits).and_then(|n| usize::try_from(n).ok());
    let at = match (sign, number) {
        (b'+', Some(number)) => Some(number),
        (_, Some(number)) => size.checked_sub(number.saturating_add(1)),
        _ => None,
    };
    at.filter(|at| *at < size).map_or(StackEntry::OutOfRange, StackEntry::At)
}

impl Shell {
    /// Assigns an element of `DIRSTACK`. The element of the working directory does not change.
    pub(crate) fn change_dir_stack(&mut self, at: i64, path: &[u8]) {
        let at = usize::try_from(at).ok().and_then(|at| at.checked_sub(1));
        if let Some(entry) = at.and_then(|at| self.dirs.stack.get_mut(at)) {
            *entry = path.to_vec();
        }
    }
}

fn shorten(shell: &mut Shell, path: &[u8]) -> Bytes {
    match shell.lookup(b"HOME") {
        Some(home)
            if home.len() > 1 && path.starts_with(&home) && matches!(path.get(home.len()), None | Some(b'/')) =>
        {
            [b"~", path.get(home.len()..).unwrap_or_default()].concat()
        }
        _ => path.to_vec(),
    }
}

fn show(shell: &mut Shell) -> u8 {
    let mut paths = vec![shell.dirs.cwd.clone()];
    paths.extend(shell.dirs.stack.iter().cloned());
    let mut line: Bytes = paths.iter().map(|path| shorten(shell, path)).collect::<Vec<_>>().join(&b' ');
    line.push(b'\n');
    shell.print(line)
}

pub(super) fn dirs(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut lines, mut numbers, mut long, mut clear) = (false, false, false, false);
    let (mut one, mut beyond) = (None, None);
    for arg in args.iter().skip(1) {
        match entry(shell, arg) {
            StackEntry::At(at) => {
                (one, beyond) = (Some(at), None);
                continue;
            }
            StackEntry::OutOfRange => {
                beyond = arg.get(1..);
                continue;
            }
            StackEntry::Other => {}
        }
        match arg.strip_prefix(b"-") {
            Some(letters) if !letters.is_empty() && letters.iter().all(|letter| b"clpv".contains(letter)) => {
                clear |= letters.contains(&b'c');
                long |= letters.contains(&b'l');
                lines |= letters.contains(&b'p');
                numbers |= letters.contains(&b'v');
            }
            Some(b"-") => break,
            Some(_) => {
                shell.report_builtin_error([arg, &b": invalid number"[..]].concat());
                return Ok(shell.usage());
            }
            None => {
                shell.report_builtin_error([arg, &b": invalid option"[..]].concat());
                return Ok(shell.usage());
            }
        }
    }
    if clear {
        shell.dirs.stack.clear();
        return Ok(0);
    }
    if let Some(number) = beyond {
        return Ok(out_of_range(shell, number));
    }
    let mut paths = vec![shell.dirs.cwd.clone()];
    paths.extend(shell.dirs.stack.iter().cloned());
    let mut text = Bytes::new();
    let count = paths.len();
    for (at, path) in paths.iter().enumerate().filter(|(at, _)| one.is_none_or(|one| one == *at)) {
        if numbers {
            text.extend_from_slice(format!("{at:2}  ").as_bytes());
        }
        text.extend(if long { path.clone() } else { shorten(shell, path) });
        text.push(if lines || numbers || one.is_some() || at + 1 == count { b'\n' } else { b' ' });
    }
    Ok(shell.print(text))
}

fn out_of_range(shell: &mut Shell, number: &[u8]) -> u8 {
    if shell.dirs.stack.is_empty() {
        shell.report_builtin_error("directory stack empty");
    } else {
        shell.report_builtin_error([number, b": directory stack index out of range"].concat());
    }
    1
}

/// Changes to a directory as `cd` does. Returns whether it succeeded, after an error message if not.
fn go(shell: &mut Shell, target: &[u8]) -> bool {
    let physical = shell.options.physical;
    super::cd::go(shell, &[target.to_vec()], physical) == 0
}

pub(super) fn pushd(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    match words.split_first().map(|(first, rest)| (first.as_slice(), rest)) {
        Some((b"--", rest)) => words = rest,
        Some((b"-n", _)) => return Ok(staying(shell)),
        Some((option @ [b'-', _, ..], _)) if matches!(entry(shell, option), StackEntry::Other) => {
            shell.report_builtin_error([option, b": invalid number"].concat());
            return Ok(shell.usage());
        }
        _ => {}
    }
    match words {
        [] => Ok(swap(shell)),
        [arg] => match entry(shell, arg) {
            StackEntry::At(at) => Ok(rotate(shell, at)),
            StackEntry::OutOfRange => Ok(out_of_range(shell, arg)),
            StackEntry::Other => Ok(push(shell, arg)),
        },
        _ => {
            shell.report_builtin_error("too many arguments");
            Ok(1)
        }
    }
}

/// Reports `-n`, which changes the stack only. Returns the status.
fn staying(shell: &mut Shell) -> u8 {
    shell.report_builtin_error("-n: option not supported");
    1
}

/// `pushd` without arguments: swaps the working directory and the newest entry.
fn swap(shell: &mut Shell) -> u8 {
    let Some(target) = shell.dirs.stack.front().cloned() else {
        shell.report_builtin_error("no other directory");
        return 1;
    };
    let before = shell.dirs.cwd.clone();
    if !go(shell, &target) {
        return 1;
    }
    shell.dirs.stack.pop_front();
    shell.dirs.stack.push_front(before);
    show(shell)
}

/// `pushd +n`: rotates the stack until this entry is the working directory.
fn rotate(shell: &mut Shell, at: usize) -> u8 {
    let mut all = shell.dirs.stack.clone();
    all.push_front(shell.dirs.cwd.clone());
    all.rotate_left(at);
    let target = all.pop_front().unwrap_or_default();
    if !go(shell, &target) {
        return 1;
    }
    shell.dirs.stack = all;
    show(shell)
}

/// `pushd dir`
fn push(shell: &mut Shell, dir: &[u8]) -> u8 {
    let newest = shell.dirs.cwd.clone();
    if !go(shell, dir) {
        return 1;
    }
    shell.dirs.stack.push_front(newest);
    show(shell)
}

pub(super) fn popd(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let at = match args.get(1) {
        None => 0,
        Some(arg) if arg == b"-n" => return Ok(staying(shell)),
        // The following words are ignored.
        Some(arg) if arg == b"--" => 0,
        Some(arg) => match entry(shell, arg) {
            StackEntry::At(at) if !shell.dirs.stack.is_empty() => at,
            StackEntry::At(_) | StackEntry::OutOfRange => return Ok(out_of_range(shell, arg)),
            StackEntry::Other => {
                let why: &[u8] = if arg.first() == Some(&b'-') { b": invalid number" } else { b": invalid argument" };
                shell.report_builtin_error([arg, why].concat());
                return Ok(shell.usage());
            }
        },
    };
    if shell.dirs.stack.is_empty() {
        shell.report_builtin_error("directory stack empty");
        return Ok(1);
    }
    if at > 0 {
        shell.dirs.stack.remove(at - 1);
        return Ok(show(shell));
    }
    let target = shell.dirs.stack.front().cloned().unwrap_or_default();
    if !go(shell, &target) {
        return Ok(1);
    }
    shell.dirs.stack.pop_front();
    Ok(show(shell))
}
