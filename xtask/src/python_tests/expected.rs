//! Known failures, with reasons.

use std::collections::BTreeMap;

/// The list, `tests/python/cpython.txt`: a line that begins with `#` is the reason of the tests below it; `!` before a test
/// means that it must not run, because it ends the interpreter.
#[derive(Debug, Default)]
pub(super) struct Expected {
    failing: BTreeMap<String, String>,
    excluded: BTreeMap<String, String>,
}

impl Expected {
    pub(super) fn parse(text: &str) -> Self {
        let (mut found, mut reason) = (Self::default(), String::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(text) = line.strip_prefix('#') {
                reason = text.trim().to_owned();
            } else if let Some(test) = line.strip_prefix('!') {
                found.excluded.insert(test.trim().to_owned(), reason.clone());
            } else {
                found.failing.insert(line.to_owned(), reason.clone());
            }
        }
        found
    }

    pub(super) fn reason(&self, test: &str) -> Option<&str> {
        self.failing.get(test).map(String::as_str)
    }

    pub(super) fn excluded(&self) -> impl Iterator<Item = &str> {
        self.excluded.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_that_of_all_tests_below_it() {
        let expected = Expected::parse("# no threads\n\na.B.c\n  a.B.d\n# it aborts\n!a.B.e\n");
        assert_eq!((expected.reason("a.B.c"), expected.reason("a.B.d")), (Some("no threads"), Some("no threads")));
        assert_eq!(expected.reason("a.B.e"), None);
        assert_eq!(expected.excluded().collect::<Vec<_>>(), ["a.B.e"]);
    }
}
