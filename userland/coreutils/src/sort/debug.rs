//! `sort --debug`: what part of each line counted, and doubts about the command line.

use tidebox_gnu::message::{print_error, quote_value, unicode_locale};
use tidebox_gnu::stream::Output;

use super::compare::Rules;
use super::key::{Key, Ordering};
use super::numeric;

/// Writes a line with its keys marked below it. A tab shows as `>`, so that the marks stand below what they mark.
pub(super) fn write(rules: &Rules, line: &[u8], out: &mut Output) {
    let shown: Vec<u8> = line.iter().map(|byte| if *byte == b'\t' { b'>' } else { *byte }).collect();
    out.push(&shown);
    out.push(b"\n");
    for key in &rules.keys {
        let (start, end) = key.range(line, rules.tab);
        let (from, to) = part_that_counts(key, line.get(start..end).unwrap_or_default());
        mark(line, start + from, start + to, out);
    }
    if rules.keys.is_empty() || !(rules.stable || rules.unique) {
        mark(line, 0, line.len(), out);
    }
}

/// Returns the part of a key that its comparison uses.
fn part_that_counts(key: &Key, text: &[u8]) -> (usize, usize) {
    let how = &key.ordering;
    let skips = how.skip_blanks_at_start && key.start.is_none();
    if !(skips || how.month || how.is_numeric()) {
        return (0, text.len());
    }
    let blanks = text.iter().take_while(|byte| super::key::is_blank(**byte)).count();
    let rest = text.get(blanks..).unwrap_or_default();
    let length = match () {
        () if how.month => 3 * usize::from(numeric::month(rest) > 0),
        () if how.general => numeric::floating(rest).1,
        () if how.is_numeric() => numeric::length(rest, how.human),
        () => rest.len(),
    };
    (blanks, blanks + length)
}

fn mark(line: &[u8], start: usize, end: usize, out: &mut Output) {
    let width = |from: usize, to: usize| -> usize {
        let text = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
        text.chars()
            .map(|char| if char == '\t' { 1 } else { unicode_width::UnicodeWidthChar::width(char).unwrap_or(0) })
            .sum()
    };
    let columns = match width(start, end) {
        0 => "^ no match for key".to_owned(),
        columns => "_".repeat(columns),
    };
    out.push(format!("{}{columns}\n", " ".repeat(width(0, start))).as_bytes());
}

/// Tells what may be otherwise than meant. `global` stands outside of keys, and is the only one where `said` is false.
pub(super) fn warn(rules: &Rules, global: &Ordering, said: bool) {
    let name = ["LC_ALL", "LC_COLLATE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    match name.filter(|_| unicode_locale()) {
        Some(name) => {
            print_error(
                "sort",
                &format!("text ordering performed using {} sorting rules", quote_value(name.as_bytes())),
            );
        }
        None => print_error("sort", "text ordering performed using simple byte comparison"),
    }
    let mut left = *global;
    let (mut numbers, mut spanning, mut general_spanning) = (false, false, false);
    for (at, key) in rules.keys.iter().enumerate() {
        let how = &key.ordering;
        numbers |= how.is_numeric();
        if let Some((old, new)) = key.obsolete.then(|| forms(key)) {
            print_error("sort", &format!("obsolescent key {old} used; consider {new} instead"));
        }
        about_key(at + 1, key, rules.tab, said);
        if said && how.is_numeric() && spans(key) {
            print_error("sort", &format!("key {} is numeric and spans multiple fields", at + 1));
            spanning = true;
            general_spanning |= how.general;
        }
        left.without(how);
    }
    let separator = |what: &str| {
        let tab = [rules.tab.unwrap_or_default()];
        print_error("sort", &format!("field separator {} is treated as a {what} in numbers", quote_value(&tab)));
    };
    let is_point = rules.tab == Some(b'.');
    match rules.tab.filter(|_| spanning) {
        Some(b'.') => separator("decimal point"),
        Some(b'-') => separator("minus sign"),
        Some(b'+') if general_spanning => separator("plus sign"),
        _ => {}
    }
    if numbers && !(is_point && spanning) {
        let note = if is_point { "" } else { "note " };
        print_error("sort", &format!("{note}numbers use {} as a decimal point in this locale", quote_value(b".")));
    }
    about_rest(rules, left);
}

/// Warns about one key.
fn about_key(number: usize, key: &Key, tab: Option<u8>, said: bool) {
    let how = &key.ordering;
    let (first, chars) = key.start.unwrap_or((0, 0));
    let empty = key.start.is_some() && key.end.is_some_and(|(last, _)| last < first);
    if empty {
        print_error("sort", &format!("key {number} has zero width and will be ignored"));
    }
    let in_first_field = key.end.is_some_and(|(field, chars)| field == 0 && chars != 0);
    let skips = how.is_numeric() || how.month;
    let blanks_count = !how.skip_blanks_at_start && (!skips || chars > 0)
        || !how.skip_blanks_at_end && key.end.is_some_and(|(_, chars)| chars > 0);
    if !empty && said && tab.is_none() && !in_first_field && blanks_count {
        print_error("sort", &format!("leading blanks are significant in key {number}; consider also specifying 'b'"));
    }
}

/// Whether a key goes beyond the field that it begins in.
fn spans(key: &Key) -> bool {
    let first = key.start.map_or(0, |(field, _)| field);
    key.end.is_none_or(|(last, _)| first < last)
}

/// Options outside of keys that no key has taken over.
fn about_rest(rules: &Rules, mut left: Ordering) {
    let last_resort = !(rules.stable || rules.unique);
    let reverse = left.reverse;
    if !left.is_plain() || reverse && !last_resort && !rules.keys.is_empty() {
        left.reverse &= !last_resort;
        let letters = left.letters();
        let (options, are) = if letters.len() == 1 { ("option", "is") } else { ("options", "are") };
        print_error("sort", &format!("{options} '-{letters}' {are} ignored"));
    }
    if reverse && last_resort && !rules.keys.is_empty() {
        print_error("sort", "option '-r' only applies to last-resort comparison");
    }
}

/// Returns an obsolete key and its modern form, by their fields alone.
fn forms(key: &Key) -> (String, String) {
    let first = key.start.map_or(0, |(field, _)| field);
    let (old, new) = match key.end {
        Some((last, _)) => (format!("+{first} -{}", last + 1), format!("-k {},{}", first + 1, last + 1)),
        None => (format!("+{first}"), format!("-k {}", first + 1)),
    };
    (quote_value(old.as_bytes()), quote_value(new.as_bytes()))
}
