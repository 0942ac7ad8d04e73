use super::{Dialect, Options, Regex, Subject};

fn regex(dialect: Dialect, pattern: &str) -> Regex {
    Regex::new(&[pattern.as_bytes().to_vec()], &Options::of(dialect)).expect("the pattern is one")
}

fn refusal(dialect: Dialect, pattern: &str) -> String {
    Regex::new(&[pattern.as_bytes().to_vec()], &Options::of(dialect)).expect_err("the pattern is none").to_string()
}

/// Returns the match of the pattern in a line.
fn find_text(regex: &Regex, line: &str) -> Option<String> {
    let range = regex.find_in_line(line.as_bytes(), 0).expect("the search ends")?;
    Some(line[range].to_owned())
}

fn lines(regex: &Regex, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(line) = regex.find_line(text.as_bytes(), at).expect("the search ends") {
        at = line.end + 1;
        found.push(text[line].to_owned());
        if at >= text.len() {
            break;
        }
    }
    found
}

#[test]
fn operators_of_basic_patterns_are_escaped() {
    for (pattern, line, wanted) in [
        (r"a\+", "baaa", Some("aaa")),
        ("a+", "aa+", Some("a+")),
        (r"\(ab\)\{2\}", "xababab", Some("abab")),
        (r"a\|b", "xb", Some("b")),
        ("a|b", "a|b", Some("a|b")),
        ("*a", "b*a", Some("*a")),
        ("a^b$c", "a^b$c", Some("a^b$c")),
        (r"\(^a\)", "ba", None),
        (r"\{1\}", "{1}", Some("{1}")),
        (r"\<oo", "foo", None),
        (r"[]x]*", "x]x", Some("x]x")),
        (r"[^[:alpha:]_-]\{1,\}", "a_12-", Some("12")),
    ] {
        assert_eq!(find_text(&regex(Dialect::Basic, pattern), line).as_deref(), wanted, "{pattern} in {line}");
    }
}

#[test]
fn the_longest_of_the_leftmost_matches_wins() {
    for (pattern, line, wanted) in [
        ("a|ab|abc", "xabc", "abc"),
        ("a*(ab)?", "aab", "aab"),
        ("(foo|foo_)bar|foo", "foo_bar", "foo_bar"),
        ("(a|ab)(c|bcd)", "abcd", "abcd"),
        (r"(a*)\1", "aaaa", "aaaa"),
        ("x*", "aaa", ""),
    ] {
        assert_eq!(find_text(&regex(Dialect::Extended, pattern), line).as_deref(), Some(wanted), "{pattern} in {line}");
    }
}

#[test]
fn no_match_reaches_over_the_end_of_a_line() {
    let text = "ab\ncd\n\nab";
    assert_eq!(lines(&regex(Dialect::Extended, "b[^x]*c"), text), Vec::<String>::new());
    assert_eq!(lines(&regex(Dialect::Extended, "^$"), text), [""]);
    assert_eq!(lines(&regex(Dialect::Extended, ""), text), ["ab", "cd", "", "ab"]);
    assert_eq!(lines(&regex(Dialect::Extended, "b$"), text), ["ab", "ab"]);
    assert_eq!(lines(&regex(Dialect::Fixed, "b"), text), ["ab", "ab"]);
    assert_eq!(lines(&regex(Dialect::Perl, r"(?<=a)b\s*"), text), ["ab", "ab"]);
}

#[test]
fn whole_words_and_lines_differ() {
    let word = Options { whole_word: true, ..Options::basic() };
    let word = Regex::new(&[b"foo".to_vec()], &word).expect("the pattern is one");
    assert_eq!(lines(&word, "foo_bar\na foo\nfoo-bar\n"), ["a foo", "foo-bar"]);
    let line = Options { whole_line: true, ..Options::of(Dialect::Fixed) };
    let line = Regex::new(&[b"a".to_vec(), b"b".to_vec()], &line).expect("the patterns are some");
    assert_eq!(lines(&line, "ab\nb\na\n"), ["b", "a"]);
}

#[test]
fn either_case_fits_when_asked() {
    let ignore = Options { ignore_case: true, unicode: true, ..Options::basic() };
    for (pattern, line) in [("HeLLo", "hEllO"), ("[a-c]x", "BX"), ("É", "é"), ("k", "K")] {
        let regex = Regex::new(&[pattern.as_bytes().to_vec()], &ignore).expect("the pattern is one");
        assert_eq!(find_text(&regex, line).as_deref(), Some(line), "{pattern} in {line}");
    }
}

#[test]
fn messages_are_those_of_gnu() {
    for (dialect, pattern, message) in [
        (Dialect::Extended, "(a", r"Unmatched ( or \("),
        (Dialect::Basic, r"a\)", r"Unmatched ) or \)"),
        (Dialect::Basic, "[a", "Unmatched [, [^, [:, [., or [="),
        (Dialect::Basic, "[:space:]", "character class syntax is [[:space:]], not [:space:]"),
        (Dialect::Basic, "[[:foo:]]", "Invalid character class name"),
        (Dialect::Basic, r"a\", "Trailing backslash"),
        (Dialect::Extended, r"(a)\2", "Invalid back reference"),
        (Dialect::Basic, "[b-a]", "Invalid range end"),
        (Dialect::Extended, "[a-z0-9-_]", "Invalid range end"),
        (Dialect::Basic, "[[:alpha:]-z]", "Invalid range end"),
        (Dialect::Basic, "[+-[:digit:]]", "Invalid range end"),
        (Dialect::Extended, "a{99999}", "Regular expression too big"),
        (Dialect::Extended, "((a{1000}){1000}){1000}", "Regular expression too big"),
        (Dialect::Extended, &"(".repeat(100_000), "Regular expression too big: groups are nested too deeply"),
    ] {
        assert_eq!(refusal(dialect, pattern), message);
    }
    let stars = "a".to_owned() + &"*".repeat(100_000);
    assert_eq!(find_text(&regex(Dialect::Extended, &stars), "aaa").as_deref(), Some("aaa"));
    let counts = "a".to_owned() + &"{2}".repeat(100_000);
    assert_eq!(refusal(Dialect::Extended, &counts), "Regular expression too big");
}

#[test]
fn bytes_that_are_not_utf8_match_only_themselves() {
    let literal = Regex::new(&[b"\xe9.".to_vec()], &Options::basic()).expect("the pattern is one");
    assert_eq!(literal.find_in_line(b"caf\xe9!", 0), Ok(Some(3..5)));
    let utf8 = Options { unicode: true, ..Options::basic() };
    let any = Regex::new(&[b"f.".to_vec()], &utf8).expect("the pattern is one");
    assert_eq!(any.find_in_line(b"caf\xe9!", 0), Ok(None));
    assert_eq!(regex(Dialect::Perl, "(?<=f)é").find_in_line("caf\u{e9}".as_bytes(), 0), Ok(Some(3..5)));
}

#[test]
fn every_byte_is_a_character_in_the_c_locale() {
    for (pattern, text, wanted) in [
        ("f.", &b"f\xe9"[..], Some(0..2)),
        ("^.$", "\u{e9}".as_bytes(), None),
        ("^..$", "\u{e9}".as_bytes(), Some(0..2)),
        ("[^a]", b"a\xff", Some(1..2)),
        ("[\u{e9}]", b"a\xc3", Some(1..2)),
        ("[[:alpha:]]", b"\xe9", None),
    ] {
        assert_eq!(regex(Dialect::Basic, pattern).find_in_line(text, 0), Ok(wanted), "{pattern}");
    }
}

#[test]
fn a_backtracking_pattern_gives_up() {
    let line = "a".repeat(40);
    let found = regex(Dialect::Perl, r"(a*)*\1b").find_in_line(line.as_bytes(), 0);
    assert!(found.is_err() || found == Ok(None), "{found:?}");
}

/// Returns the groups of the first match in a text, the match first.
fn groups(dialect: Dialect, subject: Subject, pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
    let options = Options { captures: true, subject, ..Options::of(dialect) };
    let regex = Regex::new(&[pattern.as_bytes().to_vec()], &options).expect("the pattern is one");
    let found = regex.captures(text.as_bytes(), 0).expect("the search ends")?;
    Some(found.into_iter().map(|range| range.map(|range| text[range].to_owned())).collect())
}

#[test]
fn groups_belong_to_the_longest_match() {
    for (pattern, text, wanted) in [
        ("(a|ab)(c|bcd)", "xabcd", &["abcd", "a", "bcd"][..]),
        ("(foo|foobar)(bar)?", "foobar", &["foobar", "foo", "bar"]),
        ("(a*)(ab)?x?", "aab", &["aab", "a", "ab"]),
        ("^(.)(.*)$", "hello", &["hello", "h", "ello"]),
        (r"(.)\1", "hello", &["ll", "l"]),
    ] {
        let wanted: Vec<Option<String>> = wanted.iter().map(|group| Some((*group).to_owned())).collect();
        assert_eq!(groups(Dialect::Extended, Subject::Text, pattern, text), Some(wanted), "{pattern}");
    }
    let absent = groups(Dialect::Extended, Subject::Text, "(a)|(b)", "b").expect("it matches");
    assert_eq!(absent, [Some("b".to_owned()), None, Some("b".to_owned())]);
}

#[test]
fn a_text_is_one_whole_unless_its_lines_count() {
    let text = "a\nb";
    let whole = |subject, pattern| groups(Dialect::Basic, subject, pattern, text).and_then(|groups| groups[0].clone());
    assert_eq!(whole(Subject::Text, "a.b"), Some(text.to_owned()));
    assert_eq!(whole(Subject::Text, "^b"), None);
    assert_eq!(whole(Subject::Text, "a$"), None);
    assert_eq!(whole(Subject::TextOfLines, "^b"), Some("b".to_owned()));
    assert_eq!(whole(Subject::TextOfLines, "\\`b"), None);
    assert_eq!(whole(Subject::Lines, "a.b"), None);
}

#[test]
fn classes_reach_beyond_ascii_where_the_locale_does() {
    for (unicode, wanted) in [(false, "caf"), (true, "café")] {
        let options = Options { unicode, ..Options::extended() };
        for pattern in ["[[:alpha:]]+", r"\w+", r"[^[:space:][:punct:]]+\b"] {
            let regex = Regex::new(&[pattern.as_bytes().to_vec()], &options).expect("the pattern is one");
            assert_eq!(find_text(&regex, "abc!").as_deref(), Some("abc"), "{pattern}");
            let negated = pattern.starts_with("[^");
            // A negated class excludes only ASCII in both modes.
            let wanted = if negated && !unicode { "caf" } else { wanted };
            assert_eq!(find_text(&regex, "café !").as_deref(), Some(wanted), "{pattern}");
        }
    }
}
