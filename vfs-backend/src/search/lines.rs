//! Finding a literal string in the lines of a file that is read in chunks.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

/// Maximum length of a line that is searched. Longer lines are searched up to here, and the result reports the
/// truncation: text has no such lines, and a file of one line must not be copied into memory whole.
pub(super) const LINE_BYTES: usize = 1 << 20;

/// Searches line by line.
#[derive(Debug)]
pub(super) struct LineSearch<'f> {
    finder: &'f Finder<'f>,
    /// Number of line ends consumed.
    ends: u64,
    /// Start of an incomplete line.
    pending: Vec<u8>,
    /// Part of a line was skipped.
    pub(super) line_too_long: bool,
}

impl<'f> LineSearch<'f> {
    pub(super) fn new(finder: &'f Finder<'f>) -> Self {
        Self { finder, ends: 0, pending: Vec::new(), line_too_long: false }
    }

    /// Searches the next chunk and calls `found` with the number and text of each matching line until it returns false;
    /// then this returns false too.
    pub(super) fn push(&mut self, chunk: &[u8], found: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let Some(last) = memrchr(b'\n', chunk) else {
            self.start_line(chunk);
            return true;
        };
        let (whole, rest) = chunk.split_at_checked(last + 1).unwrap_or((chunk, b""));
        let mut lines = whole;
        if !self.pending.is_empty() {
            let first = memchr(b'\n', whole).map_or(whole.len(), |end| end + 1);
            let (head, tail) = whole.split_at_checked(first).unwrap_or((whole, b""));
            self.start_line(head.strip_suffix(b"\n").unwrap_or(head));
            let line = std::mem::take(&mut self.pending);
            if !self.search(&line, found) {
                return false;
            }
            self.ends = self.ends.saturating_add(1);
            lines = tail;
        }
        let go_on = self.search(lines, found);
        self.start_line(rest);
        go_on
    }

    /// Ends the file, whose last line may have no line end.
    pub(super) fn finish(mut self, found: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let line = std::mem::take(&mut self.pending);
        if !line.is_empty() {
            self.search(&line, found);
        }
        self.line_too_long
    }

    fn start_line(&mut self, part: &[u8]) {
        let available = LINE_BYTES.saturating_sub(self.pending.len());
        self.line_too_long |= part.len() > available;
        self.pending.extend_from_slice(part.get(..available).unwrap_or(part));
    }

    /// Searches complete lines and counts their ends.
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
            text.chunks(size).for_each(|chunk| assert!(search.push(chunk, &mut found)));
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
    fn a_search_stops_when_the_callback_returns_false() {
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
    fn an_overlong_line_is_searched_to_the_limit_and_reported() {
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
