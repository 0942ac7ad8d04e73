//! Where the two may differ, and why.
//!
//! A difference that is not listed fails the test, and so does one that is listed and no longer seen.

use std::cell::Cell;

/// A family of lines on which both answer differently, for one reason. `*` in a pattern stands for any text.
pub(crate) struct Difference {
    /// Which scenario; the random sequences are `random`.
    pub(crate) scenario: &'static str,
    /// What stands before ` = ` or `: `.
    pub(crate) call: &'static str,
    pub(crate) theirs: &'static str,
    pub(crate) ours: &'static str,
    /// Why ours is right for us.
    pub(crate) reason: &'static str,
    pub(crate) seen: Cell<u32>,
}

/// Shorthand for a table row.
pub(crate) const fn row(
    scenario: &'static str,
    call: &'static str,
    theirs: &'static str,
    ours: &'static str,
    reason: &'static str,
) -> Difference {
    Difference { scenario, call, theirs, ours, reason, seen: Cell::new(0) }
}

impl Difference {
    fn explains(&self, scenario: &str, theirs: (&str, &str), ours: (&str, &str)) -> bool {
        theirs.0 == ours.0
            && glob(self.scenario, scenario)
            && glob(self.call, theirs.0)
            && glob(self.theirs, theirs.1)
            && glob(self.ours, ours.1)
    }
}

/// A line's question and answer.
fn halves(line: &str) -> (&str, &str) {
    let halves = line.rsplit_once(") = ").or_else(|| line.rsplit_once(": "));
    let (call, answer) = halves.unwrap_or((line, ""));
    (call, answer.trim_end())
}

/// The lines that differ without a row of `table` that explains them.
pub(crate) fn unexplained(scenario: &str, theirs: &str, ours: &str, table: &[Difference]) -> Vec<String> {
    let mut found = Vec::new();
    let (their_lines, our_lines): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    for (number, (a, b)) in their_lines.iter().zip(&our_lines).enumerate() {
        if a == b {
            continue;
        }
        let row = table.iter().find(|row| row.explains(scenario, halves(a), halves(b)));
        match row {
            Some(row) => row.seen.set(row.seen.get() + 1),
            None => found.push(format!("{scenario}, line {}\n  theirs: {a}\n  ours:   {b}", number + 1)),
        }
    }
    if their_lines.len() != our_lines.len() {
        found.push(format!("{scenario}: they wrote {} lines, we {}", their_lines.len(), our_lines.len()));
    }
    found
}

/// Rows that explained nothing.
pub(crate) fn unused(table: &[Difference]) -> Vec<String> {
    let unused = table.iter().filter(|row| row.seen.get() == 0);
    unused.map(|row| format!("listed but not seen: {}: {} ({})", row.scenario, row.call, row.reason)).collect()
}

/// Whether `text` has the form of `pattern`.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| glob(rest, &text[at..]))
}
