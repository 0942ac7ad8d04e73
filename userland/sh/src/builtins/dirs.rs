//! `pushd`, `popd`, `dirs`.

use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell};

const DIRS: &str = "dirs [-clpv] [+N] [-N]";
const PUSHD: &str = "pushd [-n] [+N | -N | dir]";
const POPD: &str = "popd [-n] [+N | -N]";

/// What `+n` or `-n` means.
enum Place {
    /// The number of an entry; 0 is the working directory.
    At(usize),
    OutOfRange,
    /// Not such a word at all.
    Other,
}

fn place(shell: &Shell, arg: &[u8]) -> Place {
    let size = shell.dir_stack.len() + 1;
    let Some((sign @ (b'+' | b'-'), digits)) = arg.split_first() else { return Place::Other };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Place::Other;
    }
    let number = plain_number(digits).and_then(|n| usize::try_from(n).ok());
    let at = match (sign, number) {
        (b'+', Some(number)) => Some(number),
        (_, Some(number)) => size.checked_sub(number.saturating_add(1)),
        _ => None,
    };
    at.filter(|at| *at < size).map_or(Place::OutOfRange, Place::At)
}

impl Shell {
    /// An element of `DIRSTACK` is assigned. That of the working directory stays what it is.
    pub(crate) fn change_dir_stack(&mut self, at: i64, path: &[u8]) {
        let at = usize::try_from(at).ok().and_then(|at| at.checked_sub(1));
        if let Some(entry) = at.and_then(|at| self.dir_stack.get_mut(at)) {
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
    let mut paths = vec![shell.cwd.clone()];
    paths.extend(shell.dir_stack.iter().cloned());
    let mut line: Bytes = paths.iter().map(|path| shorten(shell, path)).collect::<Vec<_>>().join(&b' ');
    line.push(b'\n');
    shell.print(line)
}

pub(super) fn dirs(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut lines, mut numbers, mut long, mut clear) = (false, false, false, false);
    let (mut one, mut beyond) = (None, None);
    for arg in args.iter().skip(1) {
        match place(shell, arg) {
            Place::At(at) => {
                (one, beyond) = (Some(at), None);
                continue;
            }
            Place::OutOfRange => {
                beyond = arg.get(1..);
                continue;
            }
            Place::Other => {}
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
                shell.complain_builtin([arg, &b": invalid number"[..]].concat());
                return Ok(shell.usage(DIRS));
            }
            None => {
                shell.complain_builtin([arg, &b": invalid option"[..]].concat());
                return Ok(shell.usage(DIRS));
            }
        }
    }
    if clear {
        shell.dir_stack.clear();
        return Ok(0);
    }
    if let Some(number) = beyond {
        return Ok(out_of_range(shell, number));
    }
    let mut paths = vec![shell.cwd.clone()];
    paths.extend(shell.dir_stack.iter().cloned());
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
    if shell.dir_stack.is_empty() {
        shell.complain_builtin("directory stack empty");
    } else {
        shell.complain_builtin([number, b": directory stack index out of range"].concat());
    }
    1
}

/// Goes to a directory as `cd` does; complains when that is not possible.
fn go(shell: &mut Shell, target: &[u8]) -> bool {
    if shell.refuses() {
        return false;
    }
    let physical = shell.options.physical;
    super::cd::go(shell, &[target.to_vec()], physical) == 0
}

pub(super) fn pushd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let mut stay = false;
    while let Some((first, rest)) = words.split_first() {
        match first.as_slice() {
            b"-n" => stay = true,
            b"--" => {
                words = rest;
                break;
            }
            option @ [b'-', _, ..] if matches!(place(shell, option), Place::Other) => {
                shell.complain_builtin([option, b": invalid number"].concat());
                return Ok(shell.usage(PUSHD));
            }
            _ => break,
        }
        words = rest;
    }
    match words {
        [] if stay => Ok(0),
        [] => Ok(swap(shell)),
        [arg] => match place(shell, arg) {
            Place::At(at) => Ok(rotate(shell, at, stay)),
            Place::OutOfRange => Ok(out_of_range(shell, arg)),
            Place::Other => Ok(push(shell, arg, stay)),
        },
        _ => {
            shell.complain_builtin("too many arguments");
            Ok(1)
        }
    }
}

/// `pushd` alone: the working directory and the newest entry change places.
fn swap(shell: &mut Shell) -> u8 {
    let Some(target) = shell.dir_stack.front().cloned() else {
        shell.complain_builtin("no other directory");
        return 1;
    };
    let before = shell.cwd.clone();
    if !go(shell, &target) {
        return 1;
    }
    shell.dir_stack.pop_front();
    shell.dir_stack.push_front(before);
    show(shell)
}

/// `pushd +n`: the stack is turned until this entry is the working directory.
fn rotate(shell: &mut Shell, at: usize, stay: bool) -> u8 {
    let mut all = shell.dir_stack.clone();
    all.push_front(shell.cwd.clone());
    all.rotate_left(at);
    let target = all.pop_front().unwrap_or_default();
    if !stay && !go(shell, &target) {
        return 1;
    }
    shell.dir_stack = all;
    if stay { 0 } else { show(shell) }
}

/// `pushd dir`: with `-n` it becomes the newest entry, otherwise the working directory.
fn push(shell: &mut Shell, dir: &[u8], stay: bool) -> u8 {
    let newest = if stay { dir.to_vec() } else { shell.cwd.clone() };
    if !stay && !go(shell, dir) {
        return 1;
    }
    shell.dir_stack.push_front(newest);
    show(shell)
}

pub(super) fn popd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let mut stay = false;
    while let Some((first, rest)) = words.split_first() {
        match first.as_slice() {
            b"-n" => stay = true,
            // What follows is not even looked at.
            b"--" => {
                words = &[];
                break;
            }
            _ => break,
        }
        words = rest;
    }
    let at = match words.first() {
        None => 0,
        Some(arg) => match place(shell, arg) {
            Place::At(at) if !shell.dir_stack.is_empty() => at,
            Place::At(_) | Place::OutOfRange => return Ok(out_of_range(shell, arg)),
            Place::Other => {
                let why: &[u8] = if arg.first() == Some(&b'-') { b": invalid number" } else { b": invalid argument" };
                shell.complain_builtin([arg, why].concat());
                return Ok(shell.usage(POPD));
            }
        },
    };
    if shell.dir_stack.is_empty() {
        shell.complain_builtin("directory stack empty");
        return Ok(1);
    }
    if at > 0 || stay {
        shell.dir_stack.remove(at.saturating_sub(1));
        return Ok(show(shell));
    }
    let target = shell.dir_stack.front().cloned().unwrap_or_default();
    if !go(shell, &target) {
        return Ok(1);
    }
    shell.dir_stack.pop_front();
    Ok(show(shell))
}
