//! Characters of the locale, and how long they are.
//!
//! Text of the shell is bytes. In the locale of C every byte is a character, elsewhere characters are those of UTF-8,
//! and what is no UTF-8 counts byte by byte.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if the locale is C, in which every byte is a character. Global, as in the C library, because text functions have no
/// access to the shell.
static BYTES: AtomicBool = AtomicBool::new(false);
/// True once a locale variable was assigned, so that it must be checked when variables are restored.
static TOUCHED: AtomicBool = AtomicBool::new(false);

/// Sets whether every byte is a character.
pub(crate) fn set_bytes(on: bool) {
    BYTES.store(on, Ordering::Relaxed);
    TOUCHED.store(true, Ordering::Relaxed);
}

/// Returns whether the locale is C, in which every byte is a character and bytes beyond ASCII are not printable.
pub(crate) fn in_bytes() -> bool {
    BYTES.load(Ordering::Relaxed)
}

/// Runs `inner` with every byte a character if `invalid_utf8`, as bash matches text that is not valid UTF-8.
pub(crate) fn in_bytes_where<T>(invalid_utf8: bool, inner: impl FnOnce() -> T) -> T {
    let outer = BYTES.load(Ordering::Relaxed);
    BYTES.store(outer || invalid_utf8, Ordering::Relaxed);
    let result = inner();
    BYTES.store(outer, Ordering::Relaxed);
    result
}

/// True if the name of the locale requests UTF-8, which affects characters that are created from code points.
static NAMED_UNICODE: AtomicBool = AtomicBool::new(true);

/// Records whether the name of the locale requests UTF-8.
pub(crate) fn name_unicode(on: bool) {
    NAMED_UNICODE.store(on, Ordering::Relaxed);
}

/// Returns whether characters beyond ASCII can be written.
pub(crate) fn writes_unicode() -> bool {
    !BYTES.load(Ordering::Relaxed) || NAMED_UNICODE.load(Ordering::Relaxed)
}

/// Returns whether a locale variable was ever assigned.
pub(crate) fn locale_touched() -> bool {
    TOUCHED.load(Ordering::Relaxed)
}

/// Length of the character at the start of `text`; bytes that are no UTF-8 count one by one.
pub(crate) fn char_len(text: &[u8]) -> usize {
    let len = match text.first() {
        None => return 0,
        Some(0..=0xbf) => return 1,
        Some(_) if in_bytes() => return 1,
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(_) => 4,
    };
    let valid = text.get(..len).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok());
    if valid { len } else { 1 }
}

/// The character at the start of `text` and its length.
pub(crate) fn char_at(text: &[u8]) -> Option<(char, usize)> {
    let len = char_len(text);
    let bytes = text.get(..len).filter(|b| !b.is_empty())?;
    let char = std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next());
    Some((char.unwrap_or(char::from(*bytes.first()?)), len))
}
