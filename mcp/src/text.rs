//! Texts for the model, within limits.

use std::borrow::Cow;

/// Maximum bytes of one text in a result. Longer texts lose their middle: the start has the command's first message, the end its
/// last one, and clients cut longer results anyway.
pub(crate) const MAX_TEXT_BYTES: usize = 100 * 1024;

/// A text within the limit.
pub(crate) struct Clipped {
    pub(crate) text: String,
    pub(crate) is_clipped: bool,
}

/// Converts output to text and drops its middle beyond [`MAX_TEXT_BYTES`]. U+FFFD replaces invalid UTF-8.
pub(crate) fn clip(bytes: &[u8]) -> Clipped {
    clip_to(bytes, MAX_TEXT_BYTES)
}

fn clip_to(bytes: &[u8], limit: usize) -> Clipped {
    if bytes.len() <= limit {
        return Clipped { text: String::from_utf8_lossy(bytes).into_owned(), is_clipped: false };
    }
    let half = limit / 2;
    let head = bytes.get(..floor_boundary(bytes, half)).unwrap_or_default();
    let tail = bytes.get(ceil_boundary(bytes, bytes.len() - half)..).unwrap_or_default();
    let omitted = bytes.len() - head.len() - tail.len();
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let text = format!("{head}\n[{omitted} bytes omitted; write long output to a file and read parts of it]\n{tail}");
    Clipped { text, is_clipped: true }
}

/// Returns the end of the last whole UTF-8 character at or before `at`.
fn floor_boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|&at| is_boundary(bytes, at)).unwrap_or(at)
}

/// Returns the start of the first whole UTF-8 character at or after `at`.
fn ceil_boundary(bytes: &[u8], at: usize) -> usize {
    (at..=at.saturating_add(3)).find(|&at| is_boundary(bytes, at)).unwrap_or(at)
}

fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

/// Prefixes each line with its number and a tab, as `cat -n` does.
pub(crate) fn number_lines(text: &str, first: u64) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (number, line) in (first..).zip(text.split_inclusive('\n')) {
        numbered.push_str(&format!("{number:>6}\t"));
        numbered.push_str(line);
    }
    numbered
}

/// Returns the bytes as text. U+FFFD replaces invalid UTF-8.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    Cow::into_owned(String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        let long = [vec![b'a'; 30], vec![b'b'; 30]].concat();
        let clipped = clip_to(&long, 20);
        assert!(clipped.is_clipped);
        assert!(clipped.text.starts_with("aaaaaaaaaa\n[40 bytes omitted;"), "{}", clipped.text);
        assert!(clipped.text.ends_with("]\nbbbbbbbbbb"), "{}", clipped.text);
        assert!(!clip_to(&long, 60).is_clipped);
    }

    #[test]
    fn clipping_never_splits_a_character() {
        let long = "é".repeat(50);
        for limit in 4..40 {
            let clipped = clip_to(long.as_bytes(), limit);
            assert!(!clipped.text.contains('\u{fffd}'), "{limit}: {}", clipped.text);
        }
        assert!(clip_to(&[0x80; 100], 20).text.contains('\u{fffd}'));
    }

    #[test]
    fn lines_are_numbered_from_the_first_one() {
        assert_eq!(number_lines("a\nb", 9), "     9\ta\n    10\tb");
        assert_eq!(number_lines("", 1), "");
    }
}
