//! The shell as a library for the fuzz targets: parsing and expansion of arbitrary texts, without starting processes.

#![allow(dead_code, reason = "the fuzz targets do not run commands")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "as in the shell itself")]

mod builtins;
mod character;
mod escape;
mod eval;
mod expand;
mod function;
mod history;
mod invoke;
mod io;
mod ir;
mod job_control;
mod jobs;
mod options;
mod parse;
mod pattern;
mod positional;
mod print;
mod regex;
mod session;
mod state;
mod terminal;
mod trap;
mod vars;

use std::rc::Rc;

use parse::Parser;
use pattern::{Pattern, Style};
use state::Shell;

/// Parses a script to its end or first error, in all modes. The result can be printed and parsed again.
pub fn parse(text: &[u8], extglob: bool, posix: bool) {
    let mut parser = Parser::new(text, 1, Rc::from(&b"fuzz"[..]));
    parser.set_extglob(extglob);
    parser.set_posix(posix);
    for _ in 0..1000 {
        match parser.next_list() {
            Ok(Some(list)) => drop(print::job(&list)),
            Ok(None) | Err(_) => break,
        }
    }
    let _ = parse::read_list(text, extglob);
    let _ = parse::subscript_from_text(text);
}

/// A shell with some variables, whose output goes nowhere.
fn shell() -> Shell {
    let mut shell = Shell::new(b"bash".to_vec());
    shell.io.set_table(Vec::new());
    shell.options.noglob = true;
    let assigned = shell.run_text(
        b"a=1 b='x y' c=$'\\xff\\n' n=-3; l=(p 'q r' '' s); declare -A m=([k]=v ['k 2']=w); declare -n r=a
          set -- one 'two 3' ''",
        1,
    );
    debug_assert!(assigned.is_ok(), "the variables are set");
    shell
}

/// Expands a text as a word, as a here-document, as arithmetic and as a prompt. Texts that contain a command substitution,
/// or could form one, are skipped, because nothing may run here.
pub fn expand(text: &[u8]) {
    let parts: [&[u8]; 12] = [b"$(", b"<(", b">(", b"${ ", b"${|", b"${\n", b"${\t", b"$'", b"\\\n", b"`", b"@", b"\0"];
    if parts.iter().any(|part| text.windows(part.len()).any(|window| window == *part)) {
        return;
    }
    let mut shell = shell();
    if let Some(word) = parse::word_from_text(text) {
        let _ = shell.expand_words(std::slice::from_ref(&word));
        let _ = shell.expand_text(&word);
        let _ = shell.expand_pattern(&word);
        let _ = shell.expand_text(&word);
    }
    let _ = shell.evaluate_text(text);
}

/// Matches a text against a pattern and a regular expression, and writes a text with its escapes.
pub fn matching(pattern: &[u8], text: &[u8]) {
    for (extended, fold) in [(false, false), (true, false), (true, true)] {
        let pattern = Pattern::new(pattern, Style { extended, fold });
        let (matches, ends) = (pattern.matches(text), pattern.within(text, || pattern.ends(text)));
        assert!(!matches || ends.contains(&text.len()), "a match of the whole text must be among its ends");
        assert!(ends.iter().all(|end| *end <= text.len()), "a match must end within the text");
    }
    if let Ok(regex) = regex::Regex::new(pattern, false)
        && let Some(groups) = regex.find(text)
    {
        for (start, end) in groups.into_iter().flatten() {
            assert!(start <= end && end <= text.len(), "a group must lie within the text");
        }
    }
    let quoted = expand::shell_quote(pattern);
    let _ = (expand::ansi_quote(pattern), quoted);
    let _ = parse::ansi_c(pattern);
}

/// The header of the state of a session, with the version in `session/state.rs`.
const SESSION: &[u8] = b"tbsh\x02";

/// Reads the state that a session left, given without its header. What is read, is written and read again is the same. Returns whether
/// the bytes are a state.
pub fn session(bytes: &[u8]) -> bool {
    let Some(state) = session::state::State::decode(&[SESSION, bytes].concat()) else { return false };
    // Associative arrays count insertions, also of keys that they contain, so the states themselves may differ.
    let written = state.encode();
    let again = session::state::State::decode(&written).map(|again| again.encode());
    assert_eq!(again, Some(written), "a state is another after it was written");
    true
}
