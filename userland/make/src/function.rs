//! Builtin functions.

use std::collections::BTreeSet;

use crate::Make;
use crate::failure::{Stop, TROUBLE};
use crate::path;
use crate::pattern::{Pattern, replaced};
use crate::words::{is_space, joined, trim, trim_start, words};

/// Appends the result of a call with these arguments.
type Run = fn(&mut Make, &[Vec<u8>], &mut Vec<u8>) -> Result<(), Stop>;

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Minimum number of arguments.
    pub(crate) least: usize,
    /// Maximum number of arguments; 0 means unlimited.
    pub(crate) most: usize,
    /// The arguments are expanded before the call.
    pub(crate) expands: bool,
    pub(crate) run: Run,
}

const fn function(name: &'static str, least: usize, most: usize, run: Run) -> Function {
    Function { name, least, most, expands: true, run }
}

const fn lazy(name: &'static str, least: usize, most: usize, run: Run) -> Function {
    Function { name, least, most, expands: false, run }
}

/// All functions, sorted by name.
const FUNCTIONS: &[Function] = &[
    function("abspath", 0, 1, |make, given, out| per_word(given, out, |word| Some(make.absolute(word)))),
    function("addprefix", 2, 2, |_, given, out| {
        per_word(given.get(1..).unwrap_or_default(), out, |word| Some([argument(given, 0), word].concat()))
    }),
    function("addsuffix", 2, 2, |_, given, out| {
        per_word(given.get(1..).unwrap_or_default(), out, |word| Some([word, argument(given, 0)].concat()))
    }),
    lazy("and", 1, 0, and),
    function("basename", 0, 1, |_, given, out| per_word(given, out, |word| Some(path::without_suffix(word).to_vec()))),
    function("call", 1, 0, Make::call),
    function("dir", 0, 1, |_, given, out| per_word(given, out, |word| Some(path::folder(word)))),
    function("error", 0, 1, |make, given, _| {
        let message = String::from_utf8_lossy(argument(given, 0)).into_owned();
        Err(make.fatal(message))
    }),
    function("eval", 0, 1, |make, given, _| make.evaluate(argument(given, 0))),
    function("file", 1, 2, |make, _, _| Err(make.unsupported(b"file"))),
    function("filter", 2, 2, |_, given, out| filter(given, out, true)),
    function("filter-out", 2, 2, |_, given, out| filter(given, out, false)),
    function("findstring", 2, 2, |_, given, out| {
        if memchr::memmem::find(argument(given, 1), argument(given, 0)).is_some() {
            out.extend_from_slice(argument(given, 0));
        }
        Ok(())
    }),
    function("firstword", 0, 1, |_, given, out| {
        out.extend_from_slice(words(argument(given, 0)).next().unwrap_or_default());
        Ok(())
    }),
    function("flavor", 0, 1, |make, given, out| {
        let found = make.find_variable(argument(given, 0), None).map(|(_, variable)| variable.recursive);
        out.extend_from_slice(match found {
            None if make.special(argument(given, 0)).is_some() => b"simple",
            None => b"undefined",
            Some(true) => b"recursive",
            Some(false) => b"simple",
        });
        Ok(())
    }),
    lazy("foreach", 3, 3, Make::for_each),
    lazy("if", 2, 3, condition),
    function("info", 0, 1, |make, given, _| {
        make.print(&[argument(given, 0), b"\n"].concat());
        Ok(())
    }),
    function("join", 2, 2, join),
    function("lastword", 0, 1, |_, given, out| {
        out.extend_from_slice(words(argument(given, 0)).last().unwrap_or_default());
        Ok(())
    }),
    function("notdir", 0, 1, |_, given, out| per_word(given, out, |word| Some(path::without_folder(word).to_vec()))),
    lazy("or", 1, 0, or),
    function("origin", 0, 1, |make, given, out| {
        let found = make.find_variable(argument(given, 0), None).map(|(_, variable)| variable.origin.name());
        let name = found.unwrap_or(match make.special(argument(given, 0)) {
            Some(_) => "default",
            None => "undefined",
        });
        out.extend_from_slice(name.as_bytes());
        Ok(())
    }),
    function("patsubst", 3, 3, |_, given, out| {
        let (pattern, replacement) = (Pattern::parse(argument(given, 0)), Pattern::parse(argument(given, 1)));
        per_word(given.get(2..).unwrap_or_default(), out, |word| Some(replaced(&pattern, &replacement, word)))
    }),
    function("realpath", 0, 1, |make, given, out| per_word(given, out, |word| path::real(&make.absolute(word)))),
    function("shell", 0, 1, |make, given, out| make.shell(argument(given, 0), out)),
    function("sort", 0, 1, |_, given, out| {
        let sorted: BTreeSet<&[u8]> = words(argument(given, 0)).collect();
        out.extend_from_slice(&joined(sorted));
        Ok(())
    }),
    function("strip", 0, 1, |_, given, out| {
        out.extend_from_slice(&joined(words(argument(given, 0))));
        Ok(())
    }),
    function("subst", 3, 3, subst),
    function("suffix", 0, 1, |_, given, out| per_word(given, out, |word| path::suffix(word).map(<[u8]>::to_vec))),
    function("value", 0, 1, |make, given, out| {
        if let Some((_, variable)) = make.find_variable(argument(given, 0), None) {
            out.extend_from_slice(&variable.value);
        }
        Ok(())
    }),
    function("warning", 0, 1, |make, given, _| {
        make.warn(&String::from_utf8_lossy(argument(given, 0)));
        Ok(())
    }),
    function("wildcard", 0, 1, |make, given, out| {
        let mut names = Vec::new();
        for pattern in words(argument(given, 0)) {
            names.extend(make.files_matching(pattern, true));
        }
        out.extend_from_slice(&joined(names.iter().map(Vec::as_slice)));
        Ok(())
    }),
    function("word", 2, 2, word),
    function("wordlist", 3, 3, wordlist),
    function("words", 0, 1, |_, given, out| {
        out.extend_from_slice(words(argument(given, 0)).count().to_string().as_bytes());
        Ok(())
    }),
];

/// The function of that name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Function> {
    FUNCTIONS.binary_search_by(|known| known.name.as_bytes().cmp(name)).ok().and_then(|at| FUNCTIONS.get(at))
}

/// The function called after `$(`, and the start of its arguments.
pub(crate) fn at_start(text: &[u8]) -> Option<(&'static Function, usize)> {
    let end = text.iter().position(|byte| !(byte.is_ascii_lowercase() || *byte == b'-'))?;
    let function = find(text.get(..end)?)?;
    let behind = text.get(end..)?;
    is_space(*behind.first()?).then(|| (function, text.len() - trim_start(behind).len()))
}

fn argument(given: &[Vec<u8>], at: usize) -> &[u8] {
    given.get(at).map(Vec::as_slice).unwrap_or_default()
}

/// Appends the result for each word of the first argument.
fn per_word(
    given: &[Vec<u8>],
    out: &mut Vec<u8>,
    mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<(), Stop> {
    let changed: Vec<Vec<u8>> = words(argument(given, 0)).filter_map(&mut change).collect();
    out.extend_from_slice(&joined(changed.iter().map(Vec::as_slice)));
    Ok(())
}

fn and(make: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let mut last = Vec::new();
    for condition in given {
        last = make.expand(trim(condition))?;
        if last.is_empty() {
            return Ok(());
        }
    }
    out.extend_from_slice(&last);
    Ok(())
}

fn or(make: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    for condition in given {
        let value = make.expand(trim(condition))?;
        if !value.is_empty() {
            out.extend_from_slice(&value);
            return Ok(());
        }
    }
    Ok(())
}

fn condition(make: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let holds = !make.expand(trim(argument(given, 0)))?.is_empty();
    let chosen = make.expand(argument(given, if holds { 1 } else { 2 }))?;
    out.extend_from_slice(&chosen);
    Ok(())
}

fn filter(given: &[Vec<u8>], out: &mut Vec<u8>, keep: bool) -> Result<(), Stop> {
    let patterns: Vec<Pattern> = words(argument(given, 0)).map(Pattern::parse).collect();
    let fits = |word: &&[u8]| patterns.iter().any(|pattern| pattern.stem(word).is_some()) == keep;
    out.extend_from_slice(&joined(words(argument(given, 1)).filter(fits)));
    Ok(())
}

fn join(_: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let (mut left, mut right) = (words(argument(given, 0)), words(argument(given, 1)));
    let mut pairs: Vec<Vec<u8>> = Vec::new();
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) => pairs.push([a.unwrap_or_default(), b.unwrap_or_default()].concat()),
        }
    }
    out.extend_from_slice(&joined(pairs.iter().map(Vec::as_slice)));
    Ok(())
}

fn subst(_: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let (from, to, mut text) = (argument(given, 0), argument(given, 1), argument(given, 2));
    if from.is_empty() {
        out.extend_from_slice(text);
        out.extend_from_slice(to);
        return Ok(());
    }
    while let Some(at) = memchr::memmem::find(text, from) {
        out.extend_from_slice(text.get(..at).unwrap_or_default());
        out.extend_from_slice(to);
        text = text.get(at + from.len()..).unwrap_or_default();
    }
    out.extend_from_slice(text);
    Ok(())
}

/// Parses an index, or returns the error.
fn number(make: &mut Make, text: &[u8], which: &str, function: &str) -> Result<usize, Stop> {
    let digits = trim(text);
    let parsed = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match parsed.and_then(|digits| digits.parse().ok()) {
        Some(number) => Ok(number),
        None => {
            let shown = String::from_utf8_lossy(text).into_owned();
            Err(make.fatal_in_value(format!("non-numeric {which} argument to '{function}' function: '{shown}'")))
        }
    }
}

fn word(make: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let Some(at) = number(make, argument(given, 0), "first", "word")?.checked_sub(1) else {
        return Err(make.fatal_in_value("first argument to 'word' function must be greater than 0".to_owned()));
    };
    out.extend_from_slice(words(argument(given, 1)).nth(at).unwrap_or_default());
    Ok(())
}

fn wordlist(make: &mut Make, given: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
    let first = number(make, argument(given, 0), "first", "wordlist")?;
    let last = number(make, argument(given, 1), "second", "wordlist")?;
    let Some(skipped) = first.checked_sub(1) else {
        let shown = String::from_utf8_lossy(argument(given, 0)).into_owned();
        return Err(make.fatal_in_value(format!("invalid first argument to 'wordlist' function: '{shown}'")));
    };
    let count = last.saturating_sub(skipped);
    out.extend_from_slice(&joined(words(argument(given, 2)).skip(skipped).take(count)));
    Ok(())
}

impl Make {
    /// `$(shell command)`: its output, with newlines replaced by spaces.
    pub(crate) fn shell(&mut self, command: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut text = self.output_of(command)?;
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        let mut rest = text.as_slice();
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                b'\r' if rest.first() == Some(&b'\n') => {}
                b'\n' => out.push(b' '),
                byte => out.push(*byte),
            }
        }
        Ok(())
    }

    /// Stops if standard output cannot be written.
    pub(crate) fn end_code(&mut self, code: i32) -> i32 {
        if self.write_failed {
            self.error("write error: stdout");
            return code.max(TROUBLE - 1);
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn functions_are_in_order() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }
}
