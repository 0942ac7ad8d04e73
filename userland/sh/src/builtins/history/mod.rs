//! `history`.

pub(super) mod fc;

use tidebox_rt::{self as rt, Open};

use crate::history::Entry;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell};

const USAGE: &str = "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]";

pub(super) fn history(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut clear, mut delete, mut mode) = (false, None, None);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'c' => clear = true,
                b'a' | b'n' | b'r' | b'w' | b's' | b'p' => {
                    let file = |mode: u8| matches!(mode, b'a' | b'n' | b'r' | b'w');
                    if mode.is_some_and(|old| file(old) && file(*letter) && old != *letter) {
                        shell.complain_builtin("cannot use more than one of -anrw");
                        return Ok(1);
                    }
                    mode = Some(*letter);
                }
                b'd' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    if !attached.is_empty() {
                        delete = Some(attached.to_vec());
                    } else if let Some((value, rest)) = words.split_first() {
                        delete = Some(value.clone());
                        words = rest;
                    } else {
                        shell.complain_builtin("-d: option requires an argument");
                        return Ok(shell.usage(USAGE));
                    }
                    break;
                }
                other => return Ok(shell.bad_option(&[b'-', *other], USAGE)),
            }
        }
    }
    if clear {
        shell.history.entries.clear();
        shell.history.base = 0;
        shell.history.unsaved = 0;
        if words.is_empty() && mode.is_none() {
            return Ok(0);
        }
    }
    match (delete, mode) {
        (Some(range), _) => Ok(remove(shell, &range)),
        (None, Some(b's')) => {
            if !words.is_empty() {
                // The command that stores is itself forgotten.
                if shell.options.history {
                    shell.history.entries.pop();
                }
                shell.history.push(words.join(&b' '));
            }
            Ok(0)
        }
        (None, Some(b'p')) => {
            // There is no history expansion to carry out.
            let text = words.iter().flat_map(|word| [&word[..], b"\n"]).collect::<Vec<_>>().concat();
            Ok(shell.print(text))
        }
        (None, Some(letter)) => file(shell, letter, words.first()),
        (None, None) => {
            if words.first().is_some_and(|word| plain_number(word).is_some()) {
                super::flow::at_most_one(shell, &[&[Bytes::new()], words].concat())?;
            }
            Ok(list(shell, words))
        }
    }
}

fn list(shell: &mut Shell, words: &[Bytes]) -> u8 {
    let count = shell.history.entries.len();
    let most = match words.first() {
        None => count,
        Some(word) => match plain_number(word) {
            Some(number) => usize::try_from(number.unsigned_abs()).unwrap_or(count).min(count),
            None => {
                shell.complain_builtin([word, &b": numeric argument required"[..]].concat());
                return 1;
            }
        },
    };
    let format = shell.lookup(b"HISTTIMEFORMAT").filter(|format| !format.is_empty());
    let first = shell.history.first();
    let mut text = Bytes::new();
    for (at, entry) in shell.history.entries.iter().enumerate().skip(count - most) {
        text.extend_from_slice(format!("{:5}  ", first + at).as_bytes());
        if let Some(format) = &format {
            text.extend(super::strftime::format(format, i64::try_from(entry.at).unwrap_or(0)));
        }
        text.extend([&entry.text[..], b"\n"].concat());
    }
    shell.print(text)
}

/// `-d`: one entry, or a range of them; negative counts from the end.
fn remove(shell: &mut Shell, range: &[u8]) -> u8 {
    let dash = range.iter().skip(1).position(|&b| b == b'-').map(|at| at + 1);
    let (from, to) = match dash {
        Some(at) => (range.get(..at).unwrap_or_default(), range.get(at + 1..).unwrap_or_default()),
        None => (range, range),
    };
    let place = |text: &[u8]| -> Option<usize> {
        let number = plain_number(text)?;
        let count = shell.history.entries.len();
        let at = if number < 0 {
            count.checked_sub(usize::try_from(number.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(number).ok()?.checked_sub(shell.history.first())?
        };
        (at < count).then_some(at)
    };
    match (place(from), place(to)) {
        (Some(from), Some(to)) if from <= to => {
            shell.history.entries.drain(from..=to);
            0
        }
        _ => {
            shell.complain_builtin([range, b": history position out of range"].concat());
            1
        }
    }
}

/// `-a`, `-n`, `-r`, `-w`: between the list and a file.
fn file(shell: &mut Shell, letter: u8, name: Option<&Bytes>) -> Run<u8> {
    let Some(path) = name.cloned().or_else(|| shell.lookup(b"HISTFILE")).filter(|path| !path.is_empty()) else {
        return Ok(1);
    };
    if matches!(letter, b'r' | b'n') {
        let text = match shell.open_path(&path, Open { read: true, ..Open::default() }) {
            Ok(fd) => {
                let text = shell.read_all(fd);
                shell.io.close(fd);
                text
            }
            // bash says nothing of a file that is not there.
            Err(_) => return Ok(1),
        };
        let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').filter(|line| !line.is_empty()).collect();
        let skip = if letter == b'n' { shell.history.file_lines } else { 0 };
        shell.history.file_lines = lines.len();
        let at = rt::realtime_ns() / 1_000_000_000;
        shell.history.entries.extend(lines.into_iter().skip(skip).map(|line| Entry { text: line.to_vec(), at }));
        return Ok(0);
    }
    let count = shell.history.entries.len();
    let skip = if letter == b'a' { count.saturating_sub(shell.history.unsaved) } else { 0 };
    if letter == b'a' && skip == count {
        // Nothing is new, so not even a file is made.
        return Ok(0);
    }
    let lines = shell.history.entries.iter().skip(skip).flat_map(|entry| [&entry.text[..], b"\n"]);
    let text = lines.collect::<Vec<_>>().concat();
    let how = Open { write: true, create: true, truncate: letter == b'w', append: letter == b'a', ..Open::default() };
    let written = shell.open_path(&path, how).and_then(|fd| {
        let written = rt::write_all(fd, &text);
        shell.io.close(fd);
        written
    });
    match written {
        Ok(()) => {
            shell.history.unsaved = 0;
            shell.history.file_lines += count - skip;
            Ok(0)
        }
        Err(errno) => {
            shell.complain_builtin([&path[..], b": ", errno.text().as_bytes()].concat());
            Ok(1)
        }
    }
}
