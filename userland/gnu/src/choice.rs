//! Options that take one of several keywords.

use crate::message::quote_value;

/// Returns the index of the choice that a keyword matches; each choice is a list of synonyms. Unambiguous prefixes match. An
/// error is GNU's message without the tool's name, for a wrong command line.
pub fn parse_choice(option: &str, word: &[u8], choices: &[&[&str]]) -> Result<usize, String> {
    let all = || choices.iter().enumerate().flat_map(|(at, words)| words.iter().map(move |word| (at, *word)));
    if let Some((at, _)) = all().find(|(_, known)| known.as_bytes() == word) {
        return Ok(at);
    }
    let mut fitting = all().filter(|(_, known)| known.as_bytes().starts_with(word)).map(|(at, _)| at);
    let found = fitting.next();
    let clear = fitting.all(|at| Some(at) == found);
    if let (Some(at), true) = (found, clear) {
        return Ok(at);
    }
    let what = if found.is_some() { "ambiguous" } else { "invalid" };
    let mut message =
        format!("{what} argument {} for {}\nValid arguments are:", quote_value(word), quote_value(option.as_bytes()));
    for words in choices {
        let words: Vec<String> = words.iter().map(|word| quote_value(word.as_bytes())).collect();
        message.push_str("\n  - ");
        message.push_str(&words.join(", "));
    }
    Err(message)
}

#[cfg(test)]
mod tests {
    use super::parse_choice;

    const CHOICES: &[&[&str]] = &[&["always", "yes", "force"], &["never", "no", "none"], &["auto"]];

    #[test]
    fn a_word_may_be_another_name_or_shortened() {
        for (word, wanted) in [("yes", 0), ("no", 1), ("n", 1), ("alw", 0), ("au", 2)] {
            assert_eq!(parse_choice("--color", word.as_bytes(), CHOICES), Ok(wanted), "{word}");
        }
    }

    #[test]
    fn other_words_are_answered_with_the_list() {
        let message = parse_choice("--color", b"x", CHOICES).expect_err("no such word");
        assert!(message.starts_with("invalid argument "), "{message}");
        assert!(message.contains("\n  - "), "{message}");
        assert!(parse_choice("--color", b"a", CHOICES).expect_err("two begin so").starts_with("ambiguous argument "));
    }
}
