use crate::pattern::{Pattern, Style};
use crate::state::{Shell, Unwind};

fn shell() -> Shell {
    let mut shell = Shell::new(b"bash".to_vec());
    // Output of tests is discarded.
    shell.io.set_table(Vec::new());
    shell
}

fn expanded(script: &str, word: &str) -> String {
    let mut shell = shell();
    shell.run_text(script.as_bytes(), 1).expect("the script runs");
    shell.run_text(format!("result={word}").as_bytes(), 1).expect("the word expands");
    String::from_utf8(shell.lookup(b"result").unwrap_or_default()).expect("text")
}

#[test]
fn arithmetic_follows_the_precedence_of_c() {
    for (text, value) in [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("2**3**2", 512),
        ("-2**2", 4),
        ("7%4-1", 2),
        ("1<<3|1", 9),
        ("5&6^3", 7),
        ("1?2:3", 2),
        ("0||2&&3", 1),
        ("!5+1", 1),
        ("~5", -6),
        ("3--5", 8),
        ("0x1f+010+2#101", 44),
        ("1,2,3", 3),
        ("9223372036854775807+1", i64::MIN),
    ] {
        assert_eq!(shell().evaluate_text(text.as_bytes()), Ok(value), "{text}");
    }
}

#[test]
fn arithmetic_errors_give_up_the_command_only() {
    for text in ["1/0", "1+", "08", "(1", "1 2", "2**-1", "5=3"] {
        let mut shell = shell();
        assert_eq!(shell.evaluate_text(text.as_bytes()), Err(Unwind::Discard), "{text}");
        assert_eq!(shell.status, 1, "{text}");
    }
}

#[test]
fn smallest_number_divided_by_minus_one_wraps() {
    assert_eq!(shell().evaluate_text(b"(-9223372036854775807-1)/-1"), Ok(i64::MIN));
    assert_eq!(shell().evaluate_text(b"(-9223372036854775807-1)%-1"), Ok(0));
}

#[test]
fn a_variable_that_refers_to_itself_ends_with_an_error() {
    let mut shell = shell();
    shell.run_text(b"a=b; b=a", 1).expect("assigned");
    assert_eq!(shell.evaluate_text(b"a"), Err(Unwind::Discard));
}

#[test]
fn parameters_expand_with_every_operator() {
    for (script, word, expected) in [
        ("x=abc", "${x:1:1}", "b"),
        ("x=abc", "${x: -2}", "bc"),
        ("f=a.tar.gz", "${f%%.*}/${f##*.}", "a/gz"),
        ("x=aXbX", "${x//X/-}", "a-b-"),
        ("x=aXbX", "${x/#a/[&]}", "[a]XbX"),
        ("x=abc", "${x^^}${x^}", "ABCAbc"),
        ("", "${nope:-d}${nope+set}", "d"),
        ("a=(1 2 3)", "${#a[@]}${a[-1]}${a[*]:1:1}", "332"),
        ("declare -A m=([k]=v)", "${m[k]}${!m[@]}", "vk"),
        ("x=y; y=z", "${!x}", "z"),
        ("x=\"it's\"", "${x@Q}", "'it'\\''s'"),
    ] {
        assert_eq!(expanded(script, word), expected, "{script}; {word}");
    }
}

#[test]
fn patterns_match_as_in_bash() {
    let style = Style { extended: true, fold: false };
    for (pattern, text, matches) in [
        ("*", "", true),
        ("a*b", "axxb", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[]x]", "]", true),
        ("[[:digit:]]*", "7z", true),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("@(a|b)c", "bc", true),
        ("+(ab)", "abab", true),
        ("?(x)y", "y", true),
        ("!(*.txt)", "a.md", true),
        ("!(*.txt)", "a.txt", false),
        ("*(a|b)", "abba", true),
        ("h?llo", "h\u{e9}llo", true),
        ("[", "[", true),
    ] {
        assert_eq!(Pattern::new(pattern.as_bytes(), style).matches(text.as_bytes()), matches, "{pattern} {text}");
    }
}

#[test]
fn nested_groups_cost_no_more_than_their_depth() {
    let style = Style { extended: true, fold: false };
    let pattern = format!("{}a{}b", "+(".repeat(40), ")".repeat(40));
    let started = std::time::Instant::now();
    assert!(!Pattern::new(pattern.as_bytes(), style).matches("a".repeat(100).as_bytes()));
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn recursion_of_every_kind_ends_with_a_status() {
    // The stack of a test thread is smaller than the one that the limit was measured for.
    let run = |script: &'static str| {
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
            let mut shell = shell();
            // An error in a command ends this text, or the shell.
            let _ = shell.run_text(script.as_bytes(), 1);
            shell.status
        });
        thread.expect("started").join().expect("the shell does not panic")
    };
    for script in ["f(){ f; }; f", "x='eval \"$x\"'; eval \"$x\"", "f(){ if f; then f; fi; }; f"] {
        assert_eq!(run(script), 1, "{script}");
    }
}

#[test]
fn braces_beyond_the_memory_budget_are_rejected() {
    for word in ["{1..999999999}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{1..9999}"] {
        let mut shell = shell();
        let result = shell.run_text(format!("set -- {word}").as_bytes(), 1);
        assert_eq!((result, shell.status), (Err(Unwind::Exit), 2), "{word}");
    }
}
