//! Replacing a string in a text, with handling of line endings that a model cannot see.

use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode};

/// Maximum length of a string quoted in a message, in characters.
const QUOTED_CHARACTERS: usize = 500;

/// A text with its replacements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditResult {
    /// The new text.
    pub text: String,
    /// Number of occurrences of `old`.
    pub occurrences: usize,
}

/// A replacement and its rules.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The string to replace.
    pub old: &'a str,
    /// The replacement.
    pub new: &'a str,
    /// Replace every occurrence instead of the only one.
    pub replace_all: bool,
    /// The dialect whose rules apply.
    pub dialect: Dialect,
    /// Maximum length of the new text, in bytes.
    pub max_bytes: u64,
}

/// Replaces `old` by `new` in `text`: the only occurrence, or all of them, from left to right without overlaps.
///
/// `old` is searched verbatim, then with CRLF line endings, then with LF. A model that was shown LF for CRLF, or whose JSON lost
/// the carriage returns, still finds its lines, and `new` gets the line endings of the text it replaces.
///
/// # Errors
/// [`FileErrorCode::StringNotFound`], [`FileErrorCode::StringNotUnique`], and [`FileErrorCode::InvalidPattern`] for an empty
/// `old` (which fills an empty file in some dialects). [`FileErrorCode::TooLarge`] if the new text would exceed
/// [`Edit::max_bytes`]. This is checked before the text is built, because replacing every letter by a long text could exhaust
/// memory.
pub fn replace(text: &str, edit: &Edit<'_>) -> Result<EditResult, FileError> {
    let Edit { old, new, replace_all, dialect, max_bytes } = *edit;
    if old.is_empty() {
        if text.is_empty() && dialect.edit_fills_empty_file() {
            check_size(new.len() as u64, max_bytes)?;
            return Ok(EditResult { text: new.to_owned(), occurrences: 0 });
        }
        let message = "old_string cannot be empty. Provide the exact text to replace.";
        return Err(FileError::new(FileErrorCode::InvalidPattern, message));
    }
    let (old, new) = match_line_endings(text, old, new);
    let occurrences = text.matches(&*old).count();
    match occurrences {
        0 => {
            let message = format!("String not found in file: '{}'", quote_excerpt(&old));
            Err(FileError::new(FileErrorCode::StringNotFound, message))
        }
        2.. if !replace_all => {
            let message = format!(
                "String '{}' appears multiple times. Use replace_all=True to replace all occurrences, \
                 or give more of the text around it.",
                quote_excerpt(&old)
            );
            Err(FileError::new(FileErrorCode::StringNotUnique, message))
        }
        _ => {
            let kept = (text.len() as u64).saturating_sub((old.len() as u64).saturating_mul(occurrences as u64));
            let added = (new.len() as u64).saturating_mul(occurrences as u64);
            check_size(kept.saturating_add(added), max_bytes)?;
            Ok(EditResult { text: text.replace(&*old, &new), occurrences })
        }
    }
}

fn check_size(bytes: u64, max_bytes: u64) -> Result<(), FileError> {
    if bytes <= max_bytes {
        return Ok(());
    }
    let message = format!("The edited file would have {bytes} bytes; the limit is {max_bytes}.");
    Err(FileError::new(FileErrorCode::TooLarge, message))
}

/// Returns `old` and `new` with the line endings in which `old` occurs in `text`, otherwise unchanged.
fn match_line_endings(text: &str, old: &str, new: &str) -> (String, String) {
    let as_given = || (old.to_owned(), new.to_owned());
    if text.contains(old) {
        // A caller that omits carriage returns does not intend to add bare line feeds to a CRLF file.
        let unaware = !old.contains('\r') && !new.contains('\r');
        return if unaware && only_crlf(text) { (old.to_owned(), crlf(new)) } else { as_given() };
    }
    if old.contains('\n') {
        for spell in [crlf, lf] {
            let spelled = spell(old);
            if text.contains(&spelled) {
                return (spelled, spell(new));
            }
        }
    }
    as_given()
}

fn only_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn crlf(text: &str) -> String {
    lf(text).replace('\n', "\r\n")
}

fn quote_excerpt(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(text: &str, old: &str, new: &str, all: bool, dialect: Dialect) -> Result<EditResult, FileError> {
        super::replace(text, &Edit { old, new, replace_all: all, dialect, max_bytes: 1000 })
    }

    fn once(text: &str, old: &str, new: &str) -> Result<String, FileErrorCode> {
        replace(text, old, new, false, Dialect::Js).map(|done| done.text).map_err(|error| error.code)
    }

    #[test]
    fn one_occurrence_is_replaced_literally() {
        assert_eq!(once("Price: $100 [a-z]*", "$100 [a-z]*", "$&\\1").unwrap(), "Price: $&\\1");
        assert_eq!(once("Hello 👋 世界", "👋", "🌍").unwrap(), "Hello 🌍 世界");
        assert_eq!(once("same", "same", "same").unwrap(), "same");
    }

    #[test]
    fn a_missing_or_repeated_string_is_rejected() {
        assert_eq!(once("abc", "x", "y"), Err(FileErrorCode::StringNotFound));
        assert_eq!(once("aXbX", "X", "y"), Err(FileErrorCode::StringNotUnique));
        let all = replace("aXbX", "X", "y", true, Dialect::Js).unwrap();
        assert_eq!((all.text.as_str(), all.occurrences), ("ayby", 2));
    }

    #[test]
    fn messages_match_the_test_suites() {
        let missing = replace("abc", "x", "y", false, Dialect::Js).unwrap_err();
        assert_eq!(missing.message, "String not found in file: 'x'");
        let twice = replace("xx", "x", "y", false, Dialect::Js).unwrap_err();
        assert!(twice.message.starts_with("String 'x' appears multiple times. Use replace_all=True"));
        let long = replace("abc", &"é".repeat(9000), "y", false, Dialect::Js).unwrap_err();
        assert!(long.message.len() < 1100);
    }

    #[test]
    fn lines_match_with_any_line_endings_and_keep_them() {
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n").unwrap(), "x\r\ny\r\nc\r\n");
        assert_eq!(once("a\nb\nc\n", "a\r\nb\r\n", "x\r\n").unwrap(), "x\nc\n");
        assert_eq!(once("a\r\nb\r\n", "b", "x\ny").unwrap(), "a\r\nx\r\ny\r\n");
    }

    #[test]
    fn explicit_carriage_returns_can_change_line_endings() {
        assert_eq!(once("a\r\nb\r\n", "a\r\nb", "a\nb").unwrap(), "a\nb\r\n");
        assert_eq!(once("a\r\nb\n", "b", "x\ny").unwrap(), "a\r\nx\ny\n");
    }

    #[test]
    fn an_empty_old_string_fills_an_empty_file_in_js_only() {
        let filled = replace("", "", "new", false, Dialect::Js).unwrap();
        assert_eq!((filled.text.as_str(), filled.occurrences), ("new", 0));
        let rejected = |text, dialect| replace(text, "", "new", true, dialect).unwrap_err().code;
        assert_eq!(rejected("", Dialect::Python), FileErrorCode::InvalidPattern);
        assert_eq!(rejected("text", Dialect::Js), FileErrorCode::InvalidPattern);
    }

    #[test]
    fn an_oversized_result_is_rejected_before_it_is_built() {
        let edit = Edit { old: "a", new: &"x".repeat(100), replace_all: true, dialect: Dialect::Js, max_bytes: 500 };
        assert_eq!(super::replace("aaaaa", &edit).unwrap().text.len(), 500);
        assert_eq!(super::replace("aaaaaa", &edit).unwrap_err().code, FileErrorCode::TooLarge);
        assert_eq!(
            super::replace("", &Edit { old: "", max_bytes: 99, ..edit }).unwrap_err().code,
            FileErrorCode::TooLarge
        );
    }
}
