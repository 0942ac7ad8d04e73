//! Expected results are those of the GNU C library, recorded with bash.

use super::{Regex, RegexError};

fn find(text: &str, pattern: &str) -> Option<Vec<String>> {
    let regex = Regex::new(pattern.as_bytes(), false).expect("an expression");
    let groups = regex.find(text.as_bytes())?;
    Some(groups.iter().map(|group| group.map_or("", |(start, end)| &text[start..end]).to_owned()).collect())
}

#[track_caller]
fn expect(text: &str, pattern: &str, groups: &[&str]) {
    assert_eq!(find(text, pattern).as_deref().unwrap_or_default(), groups, "{text} =~ {pattern}");
}

#[test]
fn the_leftmost_and_then_longest_match_counts() {
    expect("xfoobarx", "foo|foobar", &["foobar"]);
    expect("foobar", "o+|foo|foobar", &["foobar"]);
    expect("abc", "a||b", &["a"]);
    expect("aaaa", "a{,3}", &["aaa"]);
    assert_eq!(find("abc", "^b"), None);
}

#[test]
fn groups_prefer_earlier_and_longer_matches() {
    expect("abcd", "(a|ab)(c|bcd)(d*)", &["abcd", "a", "bcd", ""]);
    expect("weeknights", "(wee|week)(knights|night)", &["weeknights", "wee", "knights"]);
    expect("ab", "((a)|b)*", &["ab", "b", "a"]);
    expect("aaaa", "(a*?)(a*)", &["aaaa", "aaaa", ""]);
    expect("xyx", "(x)(y)?(z)?", &["xy", "x", "y", ""]);
}

#[test]
fn optional_groups_keep_their_last_match() {
    expect("aba", "(a?)*", &["a", "a"]);
    expect("aba", "((a?))*", &["a", "a", "a"]);
}

#[test]
fn invalid_expressions_are_rejected() {
    for pattern in ["(", "*a", "b|*a", "^*a", "a{3,1}", "x{1", "[z-a]", "[[:foo:]]", "[a", r"a\"] {
        assert_eq!(Regex::new(pattern.as_bytes(), false).err(), Some(RegexError::Pattern), "{pattern}");
    }
}

#[test]
fn back_references_are_rejected_by_name() {
    assert_eq!(Regex::new(br"(a)\1", false).err(), Some(RegexError::BackReference));
}
