use super::word::{word_at, words};

fn texts(text: &str) -> Vec<&str> {
    words(text.as_bytes(), b'#').into_iter().map(|range| text.get(range).unwrap_or_default()).collect()
}

#[test]
fn words_of_an_entry_are_the_tokens_of_the_shell() {
    assert_eq!(texts("a 'b c' \"d e\" f\\ g"), ["a", "'b c'", "\"d e\"", "f\\ g"]);
    assert_eq!(texts("a>b 2>&1 3<x|c;d&&e"), ["a", ">", "b", "2>&1", "3<", "x", "|", "c", ";", "d", "&&", "e"]);
    assert_eq!(texts("$(a b) <(c d) x@(y|z)"), ["$(a b)", "<(c d)", "x@(y|z)"]);
    assert_eq!(texts("a # b c"), ["a"]);
    assert!(texts(" \n").is_empty());
}

#[test]
fn a_word_is_found_by_any_of_its_bytes() {
    assert_eq!(word_at(b"ab 'c d' e", 5, b'#'), b"'c d'");
    assert_eq!(word_at(b"ab 'c d' e", 2, b'#'), b"");
}

#[test]
fn quotation_that_never_closes_is_one_word() {
    assert_eq!(texts("a 'b c"), ["a", "'b c"]);
    assert_eq!(texts("a $(b c"), ["a", "$(b c"]);
    assert_eq!(texts("a\\"), ["a\\"]);
}
