//! Compares two runs line by line with a table of expected differences.
//!
//! A difference that is not listed fails the test, and so does a listed one that does not occur.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::Run;
use crate::tree::Node;

/// Lines on which the two differ for one reason.
pub(crate) struct Difference {
    /// Reason why Tidebox's result is correct for Tidebox.
    pub(crate) reason: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// Lines of one form. In every field `*` matches any text and `|` separates alternatives.
pub(crate) struct Row {
    scenario: &'static str,
    /// The text before ` = ` or `: `; `tree PATH` for the file tree after a scenario.
    call: &'static str,
    wasmtime: &'static str,
    tidebox: &'static str,
    seen: Cell<bool>,
}

/// A [`Row`] in table form: scenario, call, Wasmtime's result, Tidebox's result.
pub(crate) type Entry = (&'static str, &'static str, &'static str, &'static str);

impl Difference {
    pub(crate) fn new(reason: &'static str, rows: &[Entry]) -> Self {
        let row = |&(scenario, call, wasmtime, tidebox): &Entry| Row {
            scenario,
            call,
            wasmtime,
            tidebox,
            seen: Cell::new(false),
        };
        Self { reason, rows: rows.iter().map(row).collect() }
    }
}

/// The two results of one call.
struct Pair<'a> {
    call: &'a str,
    wasmtime: &'a str,
    tidebox: &'a str,
}

impl Row {
    fn explains(&self, scenario: &str, pair: &Pair<'_>) -> bool {
        let fits = matches(self.scenario, scenario)
            && matches(self.call, pair.call)
            && matches(self.wasmtime, pair.wasmtime)
            && matches(self.tidebox, pair.tidebox);
        if fits {
            self.seen.set(true);
        }
        fits
    }
}

/// Lists every difference between `wasmtime` and `tidebox` that `table` does not explain.
pub(crate) fn unexplained(scenario: &str, wasmtime: &Run, tidebox: &Run, table: &[Difference]) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |location: String, pair: Pair<'_>| {
        let rows = || table.iter().flat_map(|difference| &difference.rows);
        if pair.wasmtime != pair.tidebox && !rows().any(|row| row.explains(scenario, &pair)) {
            let Pair { call, wasmtime, tidebox } = pair;
            found.push(format!("{scenario}, {location}: {call}\n    wasmtime: {wasmtime}\n    Tidebox:  {tidebox}"));
        }
    };
    let (wasmtime_lines, tidebox_lines): (Vec<&str>, Vec<&str>) =
        (wasmtime.text.lines().collect(), tidebox.text.lines().collect());
    for (number, (a, b)) in wasmtime_lines.iter().zip(&tidebox_lines).enumerate() {
        let ((call, wasmtime), (tidebox_call, tidebox)) = (split_line(a), split_line(b));
        // The runs diverged earlier if the calls differ; this line cannot be compared.
        let tidebox = if call == tidebox_call { tidebox } else { b };
        check(format!("line {}", number + 1), Pair { call, wasmtime, tidebox });
    }
    let paths: BTreeSet<&String> = wasmtime.tree.keys().chain(tidebox.tree.keys()).collect();
    for path in paths {
        let (call, wasmtime, tidebox) =
            (format!("tree {path}"), node(wasmtime.tree.get(path)), node(tidebox.tree.get(path)));
        check("after the run".to_owned(), Pair { call: &call, wasmtime: &wasmtime, tidebox: &tidebox });
    }
    if wasmtime_lines.len() != tidebox_lines.len() {
        found.push(format!(
            "{scenario}: wasmtime wrote {} lines, Tidebox {}",
            wasmtime_lines.len(),
            tidebox_lines.len()
        ));
    }
    found
}

/// Lists rows that matched no difference, with their reasons.
pub(crate) fn unused(table: &[Difference]) -> Vec<String> {
    let rows = table.iter().flat_map(|difference| difference.rows.iter().map(|row| (row, difference.reason)));
    let unused = rows.filter(|(row, _)| !row.seen.get());
    unused.map(|(row, reason)| format!("listed but not observed: {}: {} ({reason})", row.scenario, row.call)).collect()
}

/// Splits a line into call and result.
fn split_line(line: &str) -> (&str, &str) {
    let halves = line.split_once(" = ").or_else(|| line.rsplit_once(": "));
    let (call, result) = halves.unwrap_or((line, ""));
    (call, result.trim_end())
}

fn node(node: Option<&Node>) -> String {
    match node {
        None => "nothing".to_owned(),
        Some(Node::Dir) => "a directory".to_owned(),
        Some(Node::File(bytes)) => format!("{} bytes: {}", bytes.len(), bytes.escape_ascii()),
        Some(Node::Link(target)) => format!("a link to {}", target.escape_ascii()),
    }
}

/// Returns whether `text` matches `pattern`.
fn matches(pattern: &str, text: &str) -> bool {
    pattern.split('|').any(|form| glob(form, text))
}

fn glob(form: &str, text: &str) -> bool {
    let Some((start, rest)) = form.split_once('*') else { return form == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter_map(|at| text.get(at..)).any(|text| glob(rest, text))
}
