//! Regular expressions. `fancy-regex` supports the Oniguruma syntax except for a few rare forms.

use std::rc::Rc;

use fancy_regex::{Captures, Regex, RegexBuilder};

use super::{Entry, plain, unary};
use crate::value::{Result, Val, fault};

pub(super) const FILTERS: &[Entry] = &[
    ("matches_of", 3, |mut cv| {
        let (only_test, flags, pattern) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
        let result = matches(&cv.1, &pattern, &flags, only_test.truth(), cv.0.data().world());
        // `test` returns an array with one boolean, so that both modes have the same type.
        super::answer(result)
    }),
    plain!("names_of_match", names_of),
    unary!("gaps", gaps),
];

/// Search mode from the flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Flags {
    global: bool,
    ignore_case: bool,
    extended: bool,
    dot_matches_newline: bool,
    skip_empty: bool,
}

fn flags_of(flags: &Val) -> Result<Flags> {
    let text = match flags {
        Val::Null => "",
        Val::String(text) => text,
        flags => return Err(fault(format!("{} is not a string", flags.described()))),
    };
    let mut read = Flags::default();
    for flag in text.chars() {
        match flag {
            'g' => read.global = true,
            'i' => read.ignore_case = true,
            'x' => read.extended = true,
            's' => read.dot_matches_newline = true,
            'p' => read.dot_matches_newline = true,
            'n' => read.skip_empty = true,
            // Not leftmost-longest: the first match at a position is used.
            'l' => {}
            _ => return Err(fault(format!("{text} is not a valid modifier string"))),
        }
    }
    Ok(read)
}

/// Cache of compiled patterns, because programs use the same few for every value.
pub(crate) type Patterns = std::collections::HashMap<(Rc<str>, bool, bool, bool), Rc<Regex>>;

fn compile(pattern: &Rc<str>, flags: &Flags, world: &crate::run::World) -> Result<Rc<Regex>> {
    let key = (Rc::clone(pattern), flags.ignore_case, flags.extended, flags.dot_matches_newline);
    let mut patterns = world.patterns.borrow_mut();
    if let Some(regex) = patterns.get(&key) {
        return Ok(Rc::clone(regex));
    }
    let mut builder = RegexBuilder::new(pattern);
    // Like Oniguruma in Perl syntax: `^` and `$` match at lines.
    builder
        .multi_line(true)
        .case_insensitive(flags.ignore_case)
        .ignore_whitespace(flags.extended)
        .dot_matches_new_line(flags.dot_matches_newline);
    let regex = builder.build().map_err(|error| {
        fault(format!("{pattern} (at offset 0) is not a valid regex: {}", words_of_oniguruma(&error)))
    })?;
    let regex = Rc::new(regex);
    patterns.insert(key, Rc::clone(&regex));
    Ok(regex)
}

/// Error of a pattern; frequent errors have Oniguruma's message.
fn words_of_oniguruma(error: &fancy_regex::Error) -> String {
    let text = error.to_string();
    let known = [
        ("Opening parenthesis without closing", "end pattern with unmatched parenthesis"),
        ("unclosed group", "end pattern with unmatched parenthesis"),
        ("unopened group", "unmatched close parenthesis"),
        ("unclosed character class", "premature end of char-class"),
        ("Invalid character class", "premature end of char-class"),
        ("repetition operator missing", "target of repeat operator is not specified"),
        ("Target of repeat operator is invalid", "target of repeat operator is not specified"),
        ("Backslash without following", "end pattern at escape"),
    ];
    let found = known.iter().find(|(ours, _)| text.contains(ours));
    found.map_or(text.clone(), |(_, theirs)| (*theirs).to_owned())
}

fn matches(value: &Val, pattern: &Val, flags: &Val, only_test: bool, world: &crate::run::World) -> Result {
    let (pattern, flags) = arguments(pattern, flags)?;
    let Some(text) = value.as_str() else {
        return Err(fault(format!("{} cannot be matched, as it is not a string", value.described())));
    };
    let Val::String(pattern) = &pattern else {
        return Err(fault(format!("{} cannot be matched, as it is not a string", pattern.described())));
    };
    let flags = flags_of(&flags)?;
    let regex = compile(pattern, &flags, world)?;
    let gave_up = |error: fancy_regex::Error| fault(format!("{pattern} (at offset 0) is not a valid regex: {error}"));
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let mut counter = Counter { text, bytes: 0, chars: 0 };
    let mut found = Vec::new();
    let mut start = 0;
    loop {
        let Some(captures) = regex.captures_from_pos(text, start).map_err(gave_up)? else {
            break;
        };
        let Some(all) = captures.get(0) else {
            break;
        };
        if !(flags.skip_empty && all.as_str().is_empty()) {
            if only_test {
                return Ok(Val::Bool(true));
            }
            found.push(describe(&captures, &names, &mut counter));
        }
        // Continue after the match, or one character further after an empty match, but not past the end.
        let next = text.get(all.end()..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        start = if all.end() == all.start() { all.end() + next } else { all.end() };
        if !flags.global || start >= text.len() {
            break;
        }
    }
    if only_test {
        return Ok(Val::Bool(false));
    }
    Ok(Val::array(found))
}

/// A pattern may come with its flags in one array.
fn arguments(pattern: &Val, flags: &Val) -> Result<(Val, Val)> {
    match (pattern, flags) {
        (Val::Array(array), Val::Null) => match array.0.as_slice() {
            [pattern] => Ok((pattern.clone(), Val::Null)),
            [pattern, flags, ..] => Ok((pattern.clone(), flags.clone())),
            [] => Err(fault("array not a string or array")),
        },
        (pattern, Val::Null) if pattern.as_str().is_none() => {
            Err(fault(format!("{} not a string or array", pattern.kind())))
        }
        (pattern, flags) => Ok((pattern.clone(), flags.clone())),
    }
}

/// Converts ascending byte offsets to character counts.
struct Counter<'t> {
    text: &'t str,
    bytes: usize,
    chars: usize,
}

impl Counter<'_> {
    fn chars_to(&mut self, bytes: usize) -> usize {
        if bytes < self.bytes {
            (self.bytes, self.chars) = (0, 0);
        }
        self.chars += self.text.get(self.bytes..bytes).unwrap_or_default().chars().count();
        self.bytes = bytes;
        self.chars
    }
}

fn describe(captures: &Captures<'_, str>, names: &[Option<&str>], counter: &mut Counter<'_>) -> Val {
    let part = |at: usize, counter: &mut Counter<'_>| match captures.get(at) {
        Some(found) => {
            let offset = counter.chars_to(found.start());
            (Val::count(offset), Val::count(found.as_str().chars().count()), Val::text(found.as_str()))
        }
        None => (Val::number(-1.0), Val::count(0), Val::Null),
    };
    let (offset, length, string) = part(0, counter);
    let groups = names.iter().enumerate().skip(1).map(|(at, name)| {
        let (offset, length, string) = part(at, counter);
        let name = name.map_or(Val::Null, Val::text);
        // A group that does not participate has its fields in another order.
        match string {
            Val::Null => Val::record([("offset", offset), ("string", string), ("length", length), ("name", name)]),
            string => Val::record([("offset", offset), ("length", length), ("string", string), ("name", name)]),
        }
    });
    let groups = groups.collect();
    Val::record([("offset", offset), ("length", length), ("string", string), ("captures", groups)])
}

/// The named groups of a match as an object.
fn names_of(found: Val) -> Result {
    let groups = found.get(&Val::text("captures"))?;
    let mut map = crate::value::Map::new();
    for group in groups.as_array().unwrap_or_default() {
        if let Val::String(name) = group.get(&Val::text("name"))? {
            map.insert(name, group.get(&Val::text("string"))?);
        }
    }
    Ok(Val::object(map))
}

/// The text before, between and after matches, which are in order.
fn gaps(value: Val, found: Val) -> Result {
    let text = value.as_str().unwrap_or_default();
    let mut gaps = Vec::new();
    // End of the last match, and the character count up to it.
    let (mut end, mut at, mut chars) = (0, 0, 0);
    for found in found.as_array().unwrap_or_default() {
        let offset = found.get(&Val::text("offset"))?.as_f64().unwrap_or(0.0).max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of characters")]
        let offset = offset as usize;
        let rest = text.get(at..).unwrap_or_default();
        at += rest.char_indices().nth(offset.saturating_sub(chars)).map_or(rest.len(), |(at, _)| at);
        chars = offset;
        gaps.push(Val::text(text.get(end..at).unwrap_or_default()));
        end = at + found.get(&Val::text("string"))?.as_str().map_or(0, str::len);
    }
    gaps.push(Val::text(text.get(end..).unwrap_or_default()));
    Ok(Val::array(gaps))
}
