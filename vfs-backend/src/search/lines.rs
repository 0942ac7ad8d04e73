//! Finding a literal string in the lines of a file that comes in pieces.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

/// How long a line is looked at. One that is longer is searched to here, and the result says that something was left
/// out: text has no such lines, and a file of one line must not be copied into memory whole.
pub(super) const LINE_BYTES: usize = 1 << 20;

/// Searches line by line.
#[derive(Debug)]
pub(super) struct LineSearch<'f> {
    finder: &'f Finder<'f>,
    /// Line ends passed.
    ends: u64,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// Part of a line was left out.
    pub(super) line_too_long: bool,
}

impl<'f> LineSearch<'f> {
    pub(super) fn new(finder: &'f Finder<'f>) -> Self {
        Self { finder, ends: 0, begun: Vec::new(), line_too_long: false }
    }

    /// Takes the next piece and calls `found` with the number and text of each matching line until it answers false;
    /// then this answers false too.
    pub(super) fn push(&mut self, piece: &[u8], found: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let Some(last) = memrchr(b'\n', piece) else {
            self.begin(piece);
            return true;
        };
        let (whole, rest) = piece.split_at_checked(last + 1).unwrap_or((piece, b""));
        let mut lines = whole;
        if !self.begun.is_empty() {
            let first = memchr(b'\n', whole).map_or(whole.len(), |end| end + 1);
            let (head, tail) = whole.split_at_checked(first).unwrap_or((whole, b""));
            self.begin(head.strip_suffix(b"\n").unwrap_or(head));
            let line = std::mem::take(&mut self.begun);
            if !self.search(&line, found) {
                return false;
            }
            self.ends = self.ends.saturating_add(1);
            lines = tail;
        }
        let go_on = self.search(lines, found);
        self.begin(rest);
        go_on
    }

    /// The file is over: its last line may have no end.
    pub(super) fn finish(mut self, found: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let line = std::mem::take(&mut self.begun);
        if !line.is_empty() {
            self.search(&line, found);
        }
        self.line_too_long
    }

    fn begin(&mut self, part: &[u8]) {
        let room = LINE_BYTES.saturating_sub(self.begun.len());
        self.line_too_long |= part.len() > room;
        self.begun.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// Searches lines that are complete, and counts their ends.
    fn search(&mut self, lines: &[u8], found: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let mut rest = lines;
        while let Some(at) = self.finder.find(rest).filter(|_| !rest.is_empty()) {
            let (before, _) = rest.split_at_checked(at).unwrap_or((rest, b""));
            let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
            let end = rest.get(at..).and_then(|from| memchr(b'\n', from)).map_or(rest.len(), |end| at + end);
            self.ends = self.ends.saturating_add(memchr_iter(b'\n', before).count() as u64);
            if !found(self.ends.saturating_add(1), rest.get(start..end).unwrap_or_default()) {
                return false;
            }
            if end < rest.len() {
                self.ends = self.ends.saturating_add(1);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        self.ends = self.ends.saturating_add(memchr_iter(b'\n', rest).count() as u64);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pattern: &str, text: &[u8]) -> Vec<(u64, String)> {
        let finder = Finder::new(pattern.as_bytes());
        let run = |size: usize| {
            let mut matches = Vec::new();
            let mut found = |line, text: &[u8]| {
                matches.push((line, String::from_utf8_lossy(text).into_owned()));
                true
            };
            let mut search = LineSearch::new(&finder);
            text.chunks(size).for_each(|piece| assert!(search.push(piece, &mut found)));
            assert!(!search.finish(&mut found));
            matches
        };
        let whole = run(text.len().max(1));
        for size in [1, 2, 3, 5] {
            assert_eq!(run(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn each_matching_line_is_found_once_with_its_number() {
        let text = b"apple apple\nbanana\n\napple\ncherry apple";
        let expected = [(1, "apple apple"), (4, "apple"), (5, "cherry apple")];
        assert_eq!(lines("apple", text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(lines("apples", text), []);
    }

    #[test]
    fn an_empty_pattern_matches_every_line() {
        assert_eq!(lines("", b"a\n\nb").len(), 3);
        assert_eq!(lines("", b"a\n").len(), 1);
        assert_eq!(lines("", b"").len(), 0);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_hide_a_match() {
        assert_eq!(lines("x", b"\xff\xfe\nx\xff\n"), [(2, "x\u{fffd}".to_owned())]);
    }

    #[test]
    fn a_search_ends_when_told() {
        let finder = Finder::new(b"a");
        let mut count = 0;
        let mut search = LineSearch::new(&finder);
        let went_on = search.push(b"a\na\na\n", &mut |_, _| {
            count += 1;
            count < 2
        });
        assert!(!went_on);
        assert_eq!(count, 2);
    }

    #[test]
    fn a_line_without_an_end_is_searched_to_its_bound_and_reported() {
        let finder = Finder::new(b"needle");
        let mut matches = 0;
        let mut found = |_, text: &[u8]| {
            matches += text.len();
            true
        };
        let mut search = LineSearch::new(&finder);
        search.push(b"needle", &mut found);
        for _ in 0..40 {
            search.push(&[b'x'; 64 * 1024], &mut found);
        }
        assert!(search.finish(&mut found));
        assert_eq!(matches, LINE_BYTES);
    }
}
