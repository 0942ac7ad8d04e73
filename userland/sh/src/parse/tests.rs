use std::rc::Rc;

use super::{Parser, SyntaxErrorKind};
use crate::ir::{Arg, Command, Kind, List, Part, Simple};

fn lists(text: &str) -> Vec<List> {
    let mut parser = Parser::new(text.as_bytes(), 1, Rc::from(&b""[..]));
    let mut lists = Vec::new();
    while let Some(list) = parser.next_list().expect("the text is a program") {
        lists.push(list);
    }
    lists
}

fn problem(text: &str) -> (SyntaxErrorKind, u32) {
    let mut parser = Parser::new(text.as_bytes(), 1, Rc::from(&b""[..]));
    loop {
        match parser.next_list() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the text is a program: {text}"),
            Err(error) => return (error.kind, error.line),
        }
    }
}

fn with_simple(text: &str, check: impl Fn(&Simple)) {
    let lists = lists(text);
    match lists.first().and_then(|list| list.items.first()).map(|item| item.chain.first.stages.as_slice()) {
        Some([Command::Simple(simple)]) => check(simple),
        other => panic!("not one simple command: {other:?}"),
    }
}

#[test]
fn lines_before_a_syntax_error_are_read() {
    let mut parser = Parser::new(b"echo a\n)\n", 1, Rc::from(&b""[..]));
    assert!(matches!(parser.next_list(), Ok(Some(list)) if list.items.len() == 1));
    assert!(parser.next_list().is_err());
}

#[test]
fn a_case_within_a_substitution_keeps_its_parentheses() {
    with_simple("echo $(case a in a) echo b;; esac)", |simple| {
        let Some(Arg::Word(word)) = simple.args.get(1) else { panic!("an argument is missing") };
        assert!(matches!(word.parts.as_slice(), [Part::Command(_)]));
    });
}

#[test]
fn builtins_are_found_while_parsing() {
    with_simple("echo hi", |simple| assert_eq!(simple.builtin.map(|builtin| builtin.name), Some("echo")));
    with_simple("ec\"ho\" hi", |simple| assert!(simple.builtin.is_none()));
}

#[test]
fn words_without_side_effects_are_pure() {
    for pure in ["cat $x \"${y:-z}\" 'q' ~ *.txt", "cat ${x#a} ${#x} ${x[1]}", "cat $((1 + 2)) < f"] {
        with_simple(pure, |simple| assert!(simple.pure_words, "{pure}"));
    }
    for impure in
        ["cat ${x:=1}", "cat $((i++))", "cat $(cmd)", "cat ${x?}", "cat <(cmd)", "cat ${x[i]}", "cat $BASHPID"]
    {
        with_simple(impure, |simple| assert!(!simple.pure_words, "{impure}"));
    }
}

#[test]
fn double_parentheses_parse_as_arithmetic_or_subshell() {
    let kind = |text: &str| match lists(text).first().and_then(|l| l.items.first()).map(|i| &i.chain.first.stages) {
        Some(stages) => match stages.first() {
            Some(Command::Compound(compound)) => match &compound.kind {
                Kind::Arith(arith) => arith.tree.is_some().then_some("tree"),
                Kind::Subshell(_) => Some("subshell"),
                _ => None,
            },
            _ => None,
        },
        None => None,
    };
    assert_eq!(kind("((x = 1 + $y * 2))"), Some("tree"));
    assert_eq!(kind("((echo a); echo b)"), Some("subshell"));
}

#[test]
fn text_that_ends_too_early_is_incomplete() {
    for text in ["if true", "echo \"x", "echo $(", "{ echo", "case x in", "for i in a", "x=(1", "echo ${x"] {
        let (problem, _) = problem(text);
        assert!(matches!(problem, SyntaxErrorKind::End | SyntaxErrorKind::Unclosed(_)), "{text}: {problem:?}");
    }
}

#[test]
fn unexpected_tokens_are_named_with_their_line() {
    for (text, token, line) in
        [("echo a\necho )", ")", 2), ("a ;; b", ";;", 1), ("done", "done", 1), ("if; then", ";", 1), ("| x", "|", 1)]
    {
        match problem(text) {
            (SyntaxErrorKind::Unexpected(found), at) => {
                assert_eq!((found, at), (token.as_bytes().to_vec(), line), "{text}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn unbounded_nesting_is_rejected() {
    // Frames of a build without optimisation are larger than those that the limit was measured for.
    let check = || {
        for (open, close) in [("$(", ")"), ("{ ", "; }"), ("${x:-", "}"), ("$((", "))"), ("if ", "; then :; fi")] {
            let text = format!("echo; {}:{}", open.repeat(5000), close.repeat(5000));
            assert!(matches!(problem(&text).0, SyntaxErrorKind::TooDeep), "{open}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check);
    thread.expect("started").join().expect("every text is refused");
}

#[test]
fn here_documents_wait_for_the_end_of_their_line() {
    let lists = lists("cat <<A <<B; echo x\n1\nA\n2\nB\necho y\n");
    assert_eq!(lists.iter().map(|list| list.items.len()).collect::<Vec<_>>(), [2, 1]);
}

/// Reading such texts twice at each level would not end.
#[test]
fn nested_text_is_not_read_twice_at_each_level() {
    const LEVELS: usize = 40;
    let shapes = [
        // Parameters that are not valid, or not closed.
        ("echo ", "\"${a[", "", ""),
        ("echo ", "${a[", "", ""),
        ("echo ", "${a[", "1", "]x}"),
        ("echo ", "${a-\"${b[", "", "x\"}"),
        ("echo ", "$(echo \"${a[", "", ""),
        ("echo ", "\"${a[$(echo \"${b:1?$((c[", "", ""),
        ("echo ", "${a[${b#", "", "}]z}"),
        ("echo ", "\"$[${a[$[", "", ""),
        ("echo \"", "${a%\"${b[", "", ""),
        ("cat <<A\n", "${a[$((", "", ""),
        // Here-documents within such parameters.
        ("echo ", "${a[$(cat <<A\n", "", ""),
        ("echo ", "\"${a[\" <(cat <<A\n", "", ""),
        ("echo ", "${a[$(cat <<A\n", "x\n", "\nA\n)]x}"),
        ("[[ a =~ ", "(${a[(", "", ""),
        // Words that look like assignments.
        ("", "a[$(", "", ")]"),
        ("", "a[$(", "x", ")]y"),
        ("a=([$(", "a=([$(", "", ")]))])"),
        ("", "a=([$(", "x", ")])"),
        ("", "declare a={x,$(", "", ")}"),
        ("", "eval a=($(", "", "))"),
        ("", "a=($(", "", "))x"),
        // Commands that look like expressions.
        ("", "((a $(", "", ") ) "),
        ("", "coproc ((a $(", "", ") ) "),
        ("", "f() ((a $(", "", ") ) "),
        // Elements of arrays in expressions.
        ("((", "a[", "1", "]))"),
        ("", "((a[", "1", "]))"),
        ("echo ", "${a[", "'1'", "]}"),
        ("echo ", "${a:1??", "1", ":2}"),
        ("echo ", "${a[", "'1'", "'x']}"),
    ];
    let read = move || {
        for (start, open, inside, close) in shapes {
            let text = [start, &open.repeat(LEVELS), inside, &close.repeat(LEVELS)].concat();
            let mut parser = Parser::new(text.as_bytes(), 1, Rc::from(&b""[..]));
            // Most of them are errors.
            while let Ok(Some(_)) = parser.next_list() {}
        }
    };
    // Frames of a build without optimisation are larger than those of the shell.
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(read);
    thread.expect("a thread starts").join().expect("all texts are read");
}
