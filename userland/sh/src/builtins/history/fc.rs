//! `fc`.

use crate::history::Entry;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell};

const USAGE: &str = "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]";

pub(in crate::builtins) fn fc(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut list, mut bare, mut reverse, mut again, mut editor) = (false, false, false, false, None);
    let mut words = args.get(1..).unwrap_or_default();
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        // A negative number is a command, not an option.
        if plain_number(first).is_some() {
            break;
        }
        words = rest;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            match letter {
                b'l' => list = true,
                b'n' => bare = true,
                b'r' => reverse = true,
                b's' => again = true,
                b'e' => {
                    let Some((name, rest)) = words.split_first() else {
                        shell.complain_builtin("-e: option requires an argument");
                        return Ok(shell.usage(USAGE));
                    };
                    editor = Some(name.clone());
                    words = rest;
                }
                other => return Ok(shell.bad_option(&[b'-', *other], USAGE)),
            }
        }
    }
    // The command that asks is no part of what it asks for.
    let mut entries = shell.history.entries.clone();
    if shell.options.history {
        entries.pop();
    }
    if again || editor.as_deref() == Some(b"-") {
        return run_again(shell, &entries, words);
    }
    if !list {
        shell.complain_builtin("there is no editor that could be started without a terminal; use -l or -s");
        return Ok(1);
    }
    let base = shell.history.base;
    let count = entries.len();
    if count == 0 {
        return Ok(0);
    }
    let (first, last) = match words {
        [] => (Some(count.saturating_sub(16)), Some(count - 1)),
        [only] => (place(&entries, base, only), Some(count - 1)),
        [first, last, ..] => (place(&entries, base, first), place(&entries, base, last)),
    };
    let (Some(mut first), Some(mut last)) = (first, last) else {
        shell.complain_builtin("no command found");
        return Ok(1);
    };
    if first > last {
        std::mem::swap(&mut first, &mut last);
        reverse = !reverse;
    }
    let mut lines = Vec::new();
    for (at, entry) in entries.iter().enumerate().take(last + 1).skip(first) {
        let number = if bare { String::new() } else { (base + at + 1).to_string() };
        lines.push([number.as_bytes(), b"\t ", &entry.text, b"\n"].concat());
    }
    if reverse {
        lines.reverse();
    }
    Ok(shell.print(lines.concat()))
}

/// The entry that a number, a distance from the end or the start of a command means. Numbers out of range mean the ends.
fn place(entries: &[Entry], base: usize, word: &[u8]) -> Option<usize> {
    let last = entries.len().checked_sub(1)?;
    match plain_number(word) {
        Some(number) if number > 0 => Some(usize::try_from(number).ok()?.saturating_sub(base + 1).min(last)),
        Some(number) => {
            let back = usize::try_from(number.unsigned_abs()).ok()?.max(1);
            Some(entries.len().saturating_sub(back))
        }
        None => entries.iter().rposition(|entry| entry.text.starts_with(word)),
    }
}

/// `fc -s [old=new] [command]`
fn run_again(shell: &mut Shell, entries: &[Entry], words: &[Bytes]) -> Run<u8> {
    let mut replacements = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first()
        && let Some(at) = word.iter().position(|&b| b == b'=')
    {
        replacements.push((word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default()));
        rest = after;
    }
    let found = match rest.first() {
        None => entries.len().checked_sub(1),
        Some(word) => place(entries, shell.history.base, word),
    };
    let Some(entry) = found.and_then(|at| entries.get(at)) else {
        shell.complain_builtin("no command found");
        return Ok(1);
    };
    let mut text = entry.text.clone();
    for (old, new) in replacements.into_iter().filter(|(old, _)| !old.is_empty()) {
        text = replace_all(&text, old, new);
    }
    // Where standard error is closed there is nobody to show it to.
    let _ = shell.io.write(2, &[&text[..], b"\n"].concat());
    if shell.options.history {
        shell.history.entries.pop();
    }
    shell.history.push(text.clone());
    let line = shell.line;
    shell.run_text(&text, line)?;
    Ok(shell.status)
}

fn replace_all(text: &[u8], old: &[u8], new: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match rest.strip_prefix(old) {
            Some(after) => {
                out.extend_from_slice(new);
                rest = after;
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}
