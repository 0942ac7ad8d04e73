use super::*;
use crate::Dialect;

fn js(pattern: &str, path: &str) -> bool {
    GlobPattern::parse(pattern, Dialect::Js.glob_rules()).unwrap().matches(path.as_bytes(), false)
}

fn python(pattern: &str, path: &str) -> bool {
    GlobPattern::parse(pattern, Dialect::Python.glob_rules()).unwrap().matches(path.as_bytes(), false)
}

#[test]
fn a_bare_pattern_matches_one_level_in_js_all_in_python() {
    assert!(js("*.py", "a.py") && python("*.py", "a.py"));
    assert!(!js("*.py", "src/a.py") && python("*.py", "src/a.py"));
}

#[test]
fn a_bare_pattern_matches_below_hidden_directories() {
    assert!(python("*.yml", ".github/workflows/ci.yml") && python("**", ".git/config"));
    assert!(!python("**/*.yml", ".github/workflows/ci.yml"));
    assert!(python(".env", "a/.b/.env") && !python("*", "a/.env"));
}

#[test]
fn a_slash_in_any_alternative_makes_none_bare() {
    assert!(python("{src/*.py,*.md}", "a.md") && python("{src/*.py,*.md}", "src/a.py"));
    assert!(!python("{src/*.py,*.md}", "docs/a.md"));
}

#[test]
fn a_slash_after_two_stars_is_ignored_for_files() {
    assert!(python("src/**/", "src/a/b.py") && !python("src/*/", "src/a"));
    assert!(!js("src/**/", "src/a/b.py"));
}

#[test]
fn a_slash_anchors_the_pattern_at_the_search_root() {
    for matches in [js, python] {
        assert!(matches("src/*.py", "src/a.py"));
        assert!(!matches("src/*.py", "lib/src/a.py"));
        assert!(matches("/a.py", "a.py"));
        assert!(!matches("/a.py", "src/a.py"));
        assert!(matches("./a.py", "a.py"));
    }
}

#[test]
fn two_stars_match_any_number_of_directories() {
    for matches in [js, python] {
        assert!(matches("**/x", "x") && matches("**/x", "a/x") && matches("**/x", "a/b/c/x"));
        assert!(matches("a/**/x", "a/x") && matches("a/**/**/x", "a/b/x"));
        assert!(!matches("a/**/x", "b/x"));
        assert!(matches("a/**", "a/b") && matches("a/**", "a/b/c"));
        assert!(!matches("a/**", "a"));
        assert!(!matches("a**b", "a/b"));
    }
}

#[test]
fn a_leading_dot_is_matched_by_stars_in_js_only() {
    assert!(js("*", ".env") && !python("*", ".env"));
    assert!(js("**/x", ".git/x") && !python("**/x", ".git/x"));
    assert!(js(".*", ".env") && python(".*", ".env") && python(".env", ".env"));
    assert!(!python("?env", ".env") && !python("[.]env", ".env"));
    assert!(!js(".*", "visible"));
}

#[test]
fn classes_question_marks_and_escapes_match_one_character() {
    assert!(js("file[1-2].txt", "file2.txt") && !js("file[1-2].txt", "file3.txt"));
    assert!(js("[!a-c]", "d") && js("[^a-c]", "d") && !js("[!a-c]", "b"));
    assert!(js("[]x]", "]") && js("[a-]", "-") && js("[", "["));
    assert!(js("?", "ü") && !js("?", "ab"));
    assert!(js("\\*", "*") && !js("\\*", "a"));
    assert!(js("file?.txt", "file1.txt") && !js("file?.txt", "file10.txt"));
}

#[test]
fn braces_are_alternatives_that_nest_and_cross_slashes() {
    for name in ["a.ts", "a.tsx", "a.md"] {
        assert!(js("*.{ts{,x},md}", name), "{name}");
    }
    assert!(js("{a/b,c}/d", "a/b/d") && js("{a/b,c}/d", "c/d"));
    assert!(js("{a}", "{a}") && js("{a", "{a") && js("\\{a,b}", "{a,b}"));
}

#[test]
fn a_trailing_slash_matches_only_directories() {
    let pattern = GlobPattern::parse("*/", Dialect::Js.glob_rules()).unwrap();
    assert!(pattern.matches(b"a", true));
    assert!(!pattern.matches(b"a", false));
}

#[test]
fn names_that_are_not_utf8_match_byte_by_byte() {
    let pattern = |text: &[u8]| GlobPattern::parse(text, Dialect::Js.glob_rules()).unwrap();
    assert!(pattern(b"*.txt").matches(b"\xff\xfe.txt", false));
    assert!(pattern(b"?").matches(b"\xff", false));
    assert!(pattern(b"\xff*").matches(b"\xffx", false));
    assert!(!pattern(b"\xff*").matches(b"\xfex", false));
}

#[test]
fn a_state_is_dead_if_no_path_below_can_match() {
    let pattern = GlobPattern::parse("src/*.py", Dialect::Js.glob_rules()).unwrap();
    let start = pattern.start();
    assert!(!pattern.step(&start, b"src").is_dead());
    assert!(pattern.step(&start, b"node_modules").is_dead());
}

#[test]
fn invalid_patterns_are_rejected() {
    for bad in ["", "/", "../x", "a/../b", "a\0b", &"x".repeat(2000), &"{a,b}".repeat(20)] {
        let error = GlobPattern::parse(bad, Dialect::Js.glob_rules()).unwrap_err();
        assert_eq!(error.code, FileErrorCode::InvalidPattern, "{bad:?}");
    }
}

#[test]
fn many_stars_do_not_take_exponential_time() {
    let pattern = "*a".repeat(200) + "b";
    assert!(!js(&pattern, &"a".repeat(255)));
    let deep = "**/a/".repeat(100) + "b";
    assert!(!js(&deep, &"a/".repeat(300)));
}
