//! `sort --debug`: marks the keys of each line.

use tidebox_gnu::stream::Output;

use super::compare::Rules;
use super::key::Key;
use super::numeric;

/// Writes a line and the marks of its keys below it. A tab is printed as `>`, so that the marks are aligned.
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
