use super::lex::{Kind, tokens};
use super::{Parser, Scope};

fn errors(program: &'static str) -> Vec<String> {
    let mut scope = Scope::default();
    let mut parser = Parser::new(program, &mut scope);
    parser.program();
    parser.errors.iter().map(|wrong| wrong.message.clone()).collect()
}

#[test]
fn a_closing_bracket_that_nothing_opened_is_no_token() {
    let kinds: Vec<Kind> = tokens("(.a]").iter().map(|token| token.kind).collect();
    assert_eq!(kinds, [Kind::Sign, Kind::Field, Kind::Invalid, Kind::End]);
}

#[test]
fn text_within_quotes_is_no_program_but_what_is_interpolated_is() {
    let texts: Vec<&str> = tokens(
        r#""a # \(1 # one
)b\n""#,
    )
    .iter()
    .map(|token| token.text)
    .collect();
    assert_eq!(texts, ["\"", "a # ", "\\(", "1", ")", "b", "\\n", "\"", ""]);
}

#[test]
fn an_alternative_pattern_is_not_an_update() {
    let texts: Vec<&str> = tokens(".a?//=1").iter().map(|token| token.text).collect();
    assert_eq!(texts, [".a", "?", "//=", "1", ""]);
    let texts: Vec<&str> = tokens("$a?//$b").iter().map(|token| token.text).collect();
    assert_eq!(texts, ["$", "a", "?//", "$", "b", ""]);
}

#[test]
fn good_programs_are_read_to_their_end() {
    for program in [
        ".",
        "",
        "def f: 1; f",
        ".a.b[1:]?|.c",
        "reduce .[] as [$a,{$b}] (0; .+$a)",
        "if . then 1 end",
        "{a:1|2,\"b\":-3,$ENV}",
    ] {
        assert_eq!(errors(program), [""; 0], "{program}");
    }
}

#[test]
fn an_unfinished_condition_is_reported_twice() {
    let unfinished = errors("if 1 then 2");
    assert_eq!(unfinished.len(), 2);
    assert!(unfinished[1].contains("Possibly unterminated 'if' statement"));
    // Within brackets, parsing would continue after them.
    assert_eq!(errors("if 1 then (2 3").len(), 1);
}

#[test]
fn a_program_that_nests_without_end_is_refused() {
    // Frames of unoptimised code are larger than a test's own stack holds.
    let check = || errors("(".repeat(5000).leak());
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check);
    let errors = thread.expect("a thread can be started").join().expect("the reading ends");
    assert!(errors[0].contains("nests deeper"));
}
