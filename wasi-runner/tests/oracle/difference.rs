//! Compares two runs line by line, knowing where and why the two may differ.
//!
//! A difference that is not listed fails the test, and so does one that is listed and no longer seen.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::Run;
use crate::tree::Node;

/// Lines on which the two answer differently for one reason.
pub(crate) struct Difference {
    /// Why ours is right for us.
    pub(crate) reason: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// Lines of one form. In every field `*` stands for any text and `|` separates alternatives.
pub(crate) struct Row {
    scenario: &'static str,
    /// What stands before ` = ` or `: `; `tree PATH` for what a scenario left behind.
    call: &'static str,
    theirs: &'static str,
    ours: &'static str,
    seen: Cell<bool>,
}

/// A [`Row`] as the tables write one: scenario, call, their answer, ours.
pub(crate) type Entry = (&'static str, &'static str, &'static str, &'static str);

impl Difference {
    pub(crate) fn new(reason: &'static str, rows: &[Entry]) -> Self {
        let row =
            |&(scenario, call, theirs, ours): &Entry| Row { scenario, call, theirs, ours, seen: Cell::new(false) };
        Self { reason, rows: rows.iter().map(row).collect() }
    }
}

/// What the two answered to one question.
struct Pair<'a> {
    question: &'a str,
    theirs: &'a str,
    ours: &'a str,
}

impl Row {
    fn explains(&self, scenario: &str, pair: &Pair<'_>) -> bool {
        let fits = matches(self.scenario, scenario)
            && matches(self.call, pair.question)
            && matches(self.theirs, pair.theirs)
            && matches(self.ours, pair.ours);
        if fits {
            self.seen.set(true);
        }
        fits
    }
}

/// Every way in which `ours` differs from `theirs` that `table` does not explain.
pub(crate) fn unexplained(scenario: &str, theirs: &Run, ours: &Run, table: &[Difference]) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |place: String, pair: Pair<'_>| {
        let rows = || table.iter().flat_map(|difference| &difference.rows);
        if pair.theirs != pair.ours && !rows().any(|row| row.explains(scenario, &pair)) {
            let Pair { question, theirs, ours } = pair;
            found.push(format!("{scenario}, {place}: {question}\n    theirs: {theirs}\n    ours:   {ours}"));
        }
    };
    let (their_lines, our_lines): (Vec<&str>, Vec<&str>) = (theirs.text.lines().collect(), ours.text.lines().collect());
    for (number, (a, b)) in their_lines.iter().zip(&our_lines).enumerate() {
        let ((question, theirs), (ours_question, ours)) = (halves(a), halves(b));
        // Two hosts that are asked different questions went apart before, and nothing can be said about this line.
        let ours = if question == ours_question { ours } else { b };
        check(format!("line {}", number + 1), Pair { question, theirs, ours });
    }
    let paths: BTreeSet<&String> = theirs.tree.keys().chain(ours.tree.keys()).collect();
    for path in paths {
        let (question, theirs, ours) = (format!("tree {path}"), node(theirs.tree.get(path)), node(ours.tree.get(path)));
        check("afterwards".to_owned(), Pair { question: &question, theirs: &theirs, ours: &ours });
    }
    if their_lines.len() != our_lines.len() {
        found.push(format!("{scenario}: they wrote {} lines, we {}", their_lines.len(), our_lines.len()));
    }
    found
}

/// Rows that explained nothing, with the reason they gave.
pub(crate) fn unused(table: &[Difference]) -> Vec<String> {
    let rows = table.iter().flat_map(|difference| difference.rows.iter().map(|row| (row, difference.reason)));
    let unused = rows.filter(|(row, _)| !row.seen.get());
    unused.map(|(row, reason)| format!("listed but not seen: {}: {} ({reason})", row.scenario, row.call)).collect()
}

/// A line's question and answer.
fn halves(line: &str) -> (&str, &str) {
    let halves = line.split_once(" = ").or_else(|| line.rsplit_once(": "));
    let (question, answer) = halves.unwrap_or((line, ""));
    (question, answer.trim_end())
}

fn node(node: Option<&Node>) -> String {
    match node {
        None => "nothing".to_owned(),
        Some(Node::Dir) => "a directory".to_owned(),
        Some(Node::File(bytes)) => format!("{} bytes: {}", bytes.len(), bytes.escape_ascii()),
        Some(Node::Link(target)) => format!("a link to {}", target.escape_ascii()),
    }
}

/// Whether `text` has one of the forms of `pattern`.
fn matches(pattern: &str, text: &str) -> bool {
    pattern.split('|').any(|form| glob(form, text))
}

fn glob(form: &str, text: &str) -> bool {
    let Some((start, rest)) = form.split_once('*') else { return form == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter_map(|at| text.get(at..)).any(|text| glob(rest, text))
}
