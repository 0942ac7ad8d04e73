//! Questions of `test` that ask the kernel, because std knows neither modes nor kinds of devices in WASI.

use std::ffi::OsString;

use tidebox_rt::FileKind;

use crate::border::Turn;

/// Operators that stand between two words.
const BINARY: &[&str] =
    &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o"];

/// Parentheses and negations in one expression, as each takes some of the stack.
const MOST_NESTING: usize = 200;

/// Answers every such question in an expression beforehand: in place of `-r FILE` stands a test that is true or false.
pub(crate) fn test(mut arguments: Vec<OsString>) -> Turn {
    let nesting = arguments.iter().filter(|word| matches!(word.to_str(), Some("(" | "!"))).count();
    if nesting > MOST_NESTING {
        return Turn::Refuse("expression is nested too deeply".to_owned(), 2);
    }
    let mut at = 1;
    while at + 1 < arguments.len() {
        let operator = arguments.get(at).map(|word| word.as_encoded_bytes()).unwrap_or_default();
        let file = arguments.get(at + 1).map(|file| file.as_encoded_bytes()).unwrap_or_default();
        let Some(allowed) = answer(operator, file).filter(|_| is_question(&arguments, at)) else {
            at += 1;
            continue;
        };
        if let Some([operator, file]) = arguments.get_mut(at..at + 2) {
            *operator = if allowed { "-n".into() } else { "-z".into() };
            *file = "x".into();
        }
        at += 2;
    }
    Turn::Run(arguments)
}

/// The answer to a question that std cannot ask; `None` for all others.
fn answer(operator: &[u8], file: &[u8]) -> Option<bool> {
    let is = |kind: FileKind| tidebox_rt::stat(file, true).is_ok_and(|stat| stat.kind() == kind);
    let has = |bits: u32| tidebox_rt::stat(file, true).is_ok_and(|stat| stat.mode & bits != 0);
    let ids = tidebox_rt::getids().unwrap_or_default();
    Some(match operator {
        b"-r" => tidebox_rt::access(file, 4).is_ok(),
        b"-w" => tidebox_rt::access(file, 2).is_ok(),
        b"-x" => tidebox_rt::access(file, 1).is_ok(),
        b"-b" => is(FileKind::BlockDevice),
        b"-c" => is(FileKind::CharDevice),
        b"-p" => is(FileKind::Pipe),
        b"-S" => is(FileKind::Socket),
        b"-u" => has(0o4000),
        b"-g" => has(0o2000),
        b"-k" => has(0o1000),
        b"-O" => tidebox_rt::stat(file, true).is_ok_and(|stat| stat.uid == ids.uid),
        b"-G" => tidebox_rt::stat(file, true).is_ok_and(|stat| stat.gid == ids.gid),
        _ => return None,
    })
}

/// Whether the word at `at` begins a test of the word behind it.
fn is_question(arguments: &[OsString], at: usize) -> bool {
    let word = |at: usize| arguments.get(at).and_then(|word| word.to_str());
    let begins = at == 1 || matches!(word(at - 1), Some("!" | "(" | "-a" | "-o"));
    let last = if arguments.first().is_some_and(|name| name.as_encoded_bytes().ends_with(b"[")) { 1 } else { 0 };
    let words = arguments.len().saturating_sub(1 + last);
    // Of three words the middle one is the operator where it can be one.
    let compares = word(at + 1).is_some_and(|next| BINARY.contains(&next)) && at + 2 < arguments.len() - last;
    begins && at < words && !compares
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::test;
    use crate::border::Turn;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn questions_about_rights_are_asked_of_the_kernel() {
        for (asked, run) in [
            ("test -x /", "test -n x"),
            ("[ ! -x / ]", "[ ! -n x ]"),
            ("[ -r /nowhere ]", "[ -z x ]"),
            ("test -d / -a -r /", "test -d / -a -n x"),
            ("[ ( -w /nowhere ) -o -e / ]", "[ ( -z x ) -o -e / ]"),
        ] {
            assert_eq!(test(words(asked)), Turn::Run(words(run)), "{asked}");
        }
    }

    #[test]
    fn the_same_letters_may_be_words() {
        for asked in ["test -d /", "test -x", "[ -x ]", "test -r = -r", "test a = -x", "[ -x = -x ]"] {
            assert_eq!(test(words(asked)), Turn::Run(words(asked)), "{asked}");
        }
    }
}
