//! Options that take one of some words.

use crate::message::cited;

/// Which of `choices` a word means; each is a list of words for the same thing. A word may be shortened as long as it
/// stays clear. An error is GNU's message without the tool's name; the command line is wrong then.
pub fn choose(option: &str, word: &[u8], choices: &[&[&str]]) -> Result<usize, String> {
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
    let mut message = format!("{what} argument {} for {}\nValid arguments are:", cited(word), cited(option.as_bytes()));
    for words in choices {
        let words: Vec<String> = words.iter().map(|word| cited(word.as_bytes())).collect();
        message.push_str("\n  - ");
        message.push_str(&words.join(", "));
    }
    Err(message)
}

#[cfg(test)]
mod tests {
    use super::choose;

    const CHOICES: &[&[&str]] = &[&["always", "yes", "force"], &["never", "no", "none"], &["auto"]];

    #[test]
    fn a_word_may_be_another_name_or_shortened() {
        for (word, wanted) in [("yes", 0), ("no", 1), ("n", 1), ("alw", 0), ("au", 2)] {
            assert_eq!(choose("--color", word.as_bytes(), CHOICES), Ok(wanted), "{word}");
        }
    }

    #[test]
    fn other_words_are_answered_with_the_list() {
        let message = choose("--color", b"x", CHOICES).expect_err("no such word");
        assert!(message.starts_with("invalid argument "), "{message}");
        assert!(message.contains("\n  - "), "{message}");
        assert!(choose("--color", b"a", CHOICES).expect_err("two begin so").starts_with("ambiguous argument "));
    }
}
