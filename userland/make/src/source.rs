//! Logical lines of a makefile.

use std::rc::Rc;

use crate::words::{is_blank, is_space};

/// A text read line by line.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: Rc<[u8]>,
    text: Vec<u8>,
    at: usize,
    next_line: usize,
}

impl Source {
    /// A text with the given number for its first line.
    pub(crate) fn new(name: Rc<[u8]>, text: Vec<u8>, first_line: usize) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { name, text, at, next_line: first_line }
    }

    /// The number of the next line.
    pub(crate) fn line(&self) -> usize {
        self.next_line
    }

    /// The next line with its continuation lines, without the last newline, and its number.
    pub(crate) fn next_line(&mut self) -> Option<(usize, Vec<u8>)> {
        let first = self.next_line;
        let mut line = Vec::new();
        if self.at >= self.text.len() {
            return None;
        }
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest);
            let mut piece = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            self.at += piece.len() + 1;
            self.next_line += 1;
            if end.is_some() {
                piece = piece.strip_suffix(b"\r").unwrap_or(piece);
            }
            line.extend_from_slice(piece);
            let slashes = piece.iter().rev().take_while(|byte| **byte == b'\\').count();
            if end.is_none() || slashes % 2 == 0 || self.at >= self.text.len() {
                return Some((first, line));
            }
            line.push(b'\n');
        }
    }
}

/// A line with each continuation and the blanks around it replaced by one space.
pub(crate) fn collapsed(line: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at).copied() {
        at += 1;
        if byte != b'\n' {
            out.push(byte);
            continue;
        }
        let slashes = out.iter().rev().take_while(|byte| **byte == b'\\').count();
        // Half of the backslashes remain; an odd one quotes the newline.
        out.truncate(out.len() - slashes.div_ceil(2));
        if slashes % 2 == 0 {
            out.push(b'\n');
            continue;
        }
        while out.last().is_some_and(|last| is_blank(*last)) {
            out.pop();
        }
        while line.get(at).is_some_and(|next| is_space(*next) && *next != b'\n') {
            at += 1;
        }
        out.push(b' ');
    }
    out
}

/// Removes the comment of a line. A backslash quotes a `#`.
pub(crate) fn without_comment(mut line: Vec<u8>) -> Vec<u8> {
    if !line.contains(&b'#') {
        return line;
    }
    if let Some(at) = crate::words::find_unquoted(&mut line, true, |byte| byte == b'#') {
        line.truncate(at);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Source, collapsed, without_comment};

    #[test]
    fn a_backslash_joins_lines_unless_it_is_quoted_itself() {
        let mut source = Source::new(b"m".as_slice().into(), b"a \\\n\t b\nc\\\\\nd".to_vec(), 1);
        assert_eq!(source.next_line(), Some((1, b"a \\\n\t b".to_vec())));
        assert_eq!(source.next_line(), Some((3, b"c\\\\".to_vec())));
        assert_eq!(source.next_line(), Some((4, b"d".to_vec())));
        assert_eq!(source.next_line(), None);
        assert_eq!(collapsed(b"a \\\n\t b"), b"a b");
    }

    #[test]
    fn a_quoted_number_sign_is_no_comment() {
        assert_eq!(without_comment(b"a \\# b # c".to_vec()), b"a # b ");
        assert_eq!(without_comment(b"a \\\\# b".to_vec()), b"a \\");
    }
}
