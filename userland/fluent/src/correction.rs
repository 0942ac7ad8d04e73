//! Replacement texts for messages.

use std::borrow::Cow;
use std::sync::OnceLock;

/// Corrected messages, ordered by name, and whether quotation marks are curly.
type Corrections = (&'static [(&'static str, &'static str)], bool);

static CORRECTIONS: OnceLock<Corrections> = OnceLock::new();

/// Sets corrected texts: pairs of a name and a text in Fluent syntax, ordered by name.
///
/// `‘{ $value }’` in such a text puts the value between these marks and removes the marks of the value itself; without `curly`
/// the marks are straight. Only the first call has an effect.
pub fn correct(messages: &'static [(&'static str, &'static str)], curly: bool) {
    // The application calls this only once.
    let _ = CORRECTIONS.set((messages, curly));
}

/// Returns the corrected text of a message.
pub(crate) fn find(id: &str) -> Option<&'static str> {
    let (messages, _) = CORRECTIONS.get()?;
    let at = messages.binary_search_by(|(known, _)| (*known).cmp(id)).ok()?;
    messages.get(at).map(|(_, text)| *text)
}

/// Merges doubled quotation marks in a formatted message.
pub(crate) fn marked(text: Cow<'_, str>) -> Cow<'_, str> {
    match CORRECTIONS.get() {
        Some((_, curly)) if text.contains('\u{2018}') => Cow::Owned(single(&text, *curly)),
        _ => text,
    }
}

fn single(text: &str, curly: bool) -> String {
    let text = text.replace("\u{2018}'", "\u{2018}").replace("'\u{2019}", "\u{2019}");
    if curly { text } else { text.replace(['\u{2018}', '\u{2019}'], "'") }
}

#[cfg(test)]
mod tests {
    use super::single;

    #[test]
    fn a_value_keeps_one_pair_of_marks() {
        assert_eq!(single("x: \u{2018}'a b'\u{2019}: y", true), "x: \u{2018}a b\u{2019}: y");
        assert_eq!(single("x: \u{2018}a\u{2019}", true), "x: \u{2018}a\u{2019}");
        assert_eq!(single("x: \u{2018}'a'\u{2019}", false), "x: 'a'");
    }
}
