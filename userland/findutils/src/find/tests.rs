use crate::expression::{Action, Expression, Test};
use crate::parse::{Request, Search, parse};

fn read(arguments: &[&str]) -> Result<Box<Search>, String> {
    let arguments: Vec<Vec<u8>> = arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect();
    match parse(&arguments)? {
        Request::Search(search) => Ok(search),
        Request::Print(text) => Err(text.to_owned()),
    }
}

/// Formats an expression: tests as the name that they match, actions as capital letters.
fn shape(expression: &Expression) -> String {
    let many =
        |parts: &[Expression], sign: &str| format!("({})", parts.iter().map(shape).collect::<Vec<_>>().join(sign));
    match expression {
        Expression::And(parts) => many(parts, "&"),
        Expression::Or(parts) => many(parts, "|"),
        Expression::List(parts) => many(parts, ","),
        Expression::Not(inner) => format!("!{}", shape(inner)),
        Expression::Test(Test::Name { glob, .. }) => String::from_utf8_lossy(glob).into_owned(),
        Expression::Test(_) => "t".to_owned(),
        Expression::Action(Action::Print { .. }) => "PRINT".to_owned(),
        Expression::Action(Action::Prune) => "PRUNE".to_owned(),
        Expression::Action(_) => "ACT".to_owned(),
    }
}

#[test]
fn operators_bind_as_in_gnu() {
    for (words, wanted) in [
        ("", "PRINT"),
        ("-name a", "(a&PRINT)"),
        ("-name a -o -name b -name c", "((a|(b&c))&PRINT)"),
        ("-name a -o -name b -print", "(a|(b&PRINT))"),
        ("-name a -prune -o -print", "((a&PRUNE)|PRINT)"),
        ("-name a -prune", "((a&PRUNE)&PRINT)"),
        ("! -name a -a -not -not -name b", "((!a&b)&PRINT)"),
        ("( -name a , -name b ) -o -name c", "(((a,b)|c)&PRINT)"),
        ("-name a -exec x {} ;", "(a&ACT)"),
    ] {
        let arguments: Vec<&str> = words.split_whitespace().collect();
        let search = read(&arguments).unwrap_or_else(|message| panic!("{words}: {message}"));
        assert_eq!(shape(&search.expression), wanted, "{words}");
    }
}

#[test]
fn errors_have_the_messages_of_gnu() {
    for (words, message) in [
        ("-foo", "unknown predicate `-foo'"),
        ("-name", "missing argument to `-name'"),
        ("-name a -o", "expected an expression after '-o'"),
        ("-o -name a", "invalid expression; you have used a binary operator '-o' with nothing before it."),
        ("( )", "invalid expression; empty parentheses are not allowed."),
        ("( -name a", "invalid expression; I was expecting to find a ')' somewhere but did not see one."),
        ("-name a )", "you have too many ')'"),
        ("-size x", "invalid -size type `x'"),
        ("-type z", "Unknown argument to -type: z"),
        ("-exec a {} {} +", "Only one instance of {} is supported with -exec ... +"),
        ("-exec a", "missing argument to `-exec'"),
    ] {
        let arguments: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(read(&arguments).map(|_| ()), Err(message.to_owned()), "{words}");
    }
}

#[test]
fn ten_thousand_parentheses_are_an_error() {
    let mut arguments = vec!["("; 10_000];
    arguments.push("-true");
    arguments.extend(vec![")"; 10_000]);
    let message = read(&arguments).expect_err("so many parentheses are refused");
    assert!(message.contains("nested more than"), "{message}");
    let mut negations = vec!["!"; 10_000];
    negations.push("-true");
    assert_eq!(read(&negations).map(|search| shape(&search.expression)), Ok("(t&PRINT)".to_owned()));
    let mut chain = vec!["-true"];
    for _ in 0..10_000 {
        chain.extend(["-o", "-true"]);
    }
    assert!(read(&chain).is_ok());
}

#[test]
fn starting_points_end_where_the_expression_begins() {
    let search = read(&["-L", "a", "b", "-name", "c"]).expect("the command line is in order");
    assert_eq!(search.starts, [b"a".to_vec(), b"b".to_vec()]);
    let search = read(&["-name", "c"]).expect("the command line is in order");
    assert_eq!(search.starts, [b".".to_vec()]);
}
