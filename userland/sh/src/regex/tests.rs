//! Expected results are those of the GNU C library, recorded with bash.

use super::{Regex, RegexError};

fn find(text: &str, pattern: &str) -> Option<Vec<String>> {
    let regex = Regex::new(pattern.as_bytes(), false).expect("an expression");
    let groups = regex.find(text.as_bytes()).expect("an answer")?;
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
fn back_references_repeat_what_a_group_matched() {
    expect("abab", r"(ab)\1", &["abab", "ab"]);
    expect("aaba", r"(a|b)*\1", &["aa", "a"]);
    expect("xxyy", r"(x+)(y*)\1?", &["xxyy", "xx", "yy"]);
}

#[test]
fn invalid_expressions_are_rejected() {
    for pattern in ["(", "*a", "b|*a", "^*a", r"a\1", "a{3,1}", "x{1", "[z-a]", "[[:foo:]]", "[a", r"a\"] {
        assert_eq!(Regex::new(pattern.as_bytes(), false).err(), Some(RegexError::Pattern), "{pattern}");
    }
}

#[test]
fn back_references_that_take_for_ever_are_given_up() {
    let regex = Regex::new(br"(a*)*(a*)*(a*)*\1b", false).expect("an expression");
    assert_eq!(regex.find(&[b'a'; 64]), Err(RegexError::Effort));
}
