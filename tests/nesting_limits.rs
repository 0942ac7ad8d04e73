//! Programs, data, patterns and directories with unlimited nesting: each ends with a message and an exit code, and the sandbox
//! stays usable. The host's stack is not affected.

use tidebox::{ExecuteRequest, Sandbox, SandboxBackend};

/// Runs a command, checks that the sandbox stays usable, and returns the exit code and standard error.
async fn run(sandbox: &Sandbox, command: &str) -> (Option<i32>, String) {
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds");
    let next = sandbox.execute(ExecuteRequest::new("echo alive")).await.expect("the sandbox responds");
    assert_eq!(next.output_text(), "alive\n", "after {command}");
    (response.exit_code, String::from_utf8_lossy(&response.stderr).into_owned())
}

/// Commands with the text that their message must contain. `@X*N@` represents N times X.
async fn expect_messages(cases: &[(&str, &str)]) {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    for (command, words) in cases {
        let (code, reported) = run(&sandbox, &written_out(command)).await;
        let end: String = reported.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
        assert!(code.is_some_and(|code| code != 0), "{command} ended with {code:?}: {end}");
        assert!(reported.contains(words), "{command} says: {end}");
        // GNU grep rejects too deep a pattern with this message and exit code 2, without a signal.
        let reported = reported.replace("grep: stack overflow", "");
        assert!(
            code != Some(139) && !reported.contains(": stack overflow") && !reported.contains("wasm trap"),
            "{command} met the end of its stack: {end}"
        );
    }
}

/// Expands the repetitions of a command.
fn written_out(command: &str) -> String {
    let mut chunks = command.split('@');
    let mut out = chunks.next().unwrap_or_default().to_owned();
    while let (Some(repeated), Some(plain)) = (chunks.next(), chunks.next()) {
        let (text, times) = repeated.rsplit_once('*').expect("a text and its number of occurrences");
        out.push_str(&text.repeat(times.parse().expect("a number")));
        out.push_str(plain);
    }
    out
}

#[tokio::test]
async fn the_shell_limits_recursion() {
    expect_messages(&[
        ("f() { f; }; f", "maximum function nesting level exceeded"),
        ("f() { { { if true; then f; fi; }; }; }; f", "nested too deeply"),
        ("f() { for i in 1; do while true; do case x in x) f;; esac; break; done; done; }; f", "nested too deeply"),
        ("x='eval \"$x\"'; eval \"$x\"", "nested too deeply"),
        ("echo '. ./self' > self; . ./self", "nested too deeply"),
        ("set -T; d() { :; d; }; trap d DEBUG; :; exit 1", "maximum function nesting level exceeded"),
        ("x=x; echo $((x))", "expression recursion level exceeded"),
        ("a='a[a]'; echo $((a))", "expression recursion level exceeded"),
        ("declare -n a=b b=a; a=1", "circular name reference"),
    ])
    .await;
}

#[tokio::test]
async fn the_shell_limits_nesting_in_its_source() {
    expect_messages(&[
        ("echo @$(echo *10000@ 1 @)*10000@", "nested too deeply"),
        ("@( *10000@ echo @ )*10000@", "nested too deeply"),
        ("p='@+(*10000@a@)*10000@'; [[ a == $p ]]", "groups are nested more than 500 levels deep"),
        ("@{ *10000@ echo @; }*10000@", "nested too deeply"),
        ("@if true; then *10000@ echo; @fi; *10000@", "nested too deeply"),
        ("echo @${x:-*10000@ 1 @}*10000@", "nested too deeply"),
        ("[[ @( *10000@ x @ )*10000@ ]]", "nested too deeply"),
        ("echo $(( @(*10000@ 1 @)*10000@ ))", "expression"),
        ("echo $(( @-*10000@ 1 ))", "expression"),
        ("echo $(( @a[*10000@ 0 @]*10000@ ))", "bad array subscript"),
        ("echo $(( @1?*10000@ 1 @:2*10000@ ))", "expression"),
        (r"test @\( *10000@ x @ \)*10000@", "nested too deeply"),
        ("test @! *10000@ x", "nested too deeply"),
        (r"/bin/test @\( *10000@ x @ \)*10000@", "nested too deeply"),
    ])
    .await;
}

#[tokio::test]
async fn the_program_test_counts_its_negations() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    for (times, code) in [(10_000, 0), (10_001, 1)] {
        let command = format!("/bin/test {}x", "! ".repeat(times));
        assert_eq!(run(&sandbox, &command).await, (Some(code), String::new()), "{times} negations");
    }
}

#[tokio::test]
async fn pattern_nesting_is_limited_in_every_dialect() {
    expect_messages(&[
        ("echo a | grep -E '@(*10000@a@)*10000@'", "grep: stack overflow"),
        (r"echo a | grep '@\(*10000@a@\)*10000@'", "grep: stack overflow"),
        ("echo a | grep -P '@(?:*10000@a@)*10000@'", "too deeply nested"),
        ("echo a | grep -E '((((a{1,255}){1,255}){1,255}){1,255}){1,255}'", "too big"),
        ("echo a | sed -E 's/@(*10000@a@)*10000@/b/'", "nested too deeply"),
        ("echo a | awk '/@(*10000@a@)*10000@/'", "nested too deeply"),
        ("echo a | awk -v 'x=@(*10000@a@)*10000@' '$0 ~ x'", "nested too deeply"),
        ("echo a | rg '@(*10000@a@)*10000@'", "nested parentheses"),
        ("echo a | rg -P '@(*10000@a@)*10000@'", "too deeply nested"),
        ("find . -regextype posix-extended -regex '@(*10000@a@)*10000@'", "nested too deeply"),
        (r#"jq -n '"a" | test("@(*10000@a@)*10000@")'"#, "too deeply nested"),
        (
            "x='@(*10000@a@)*10000@'; [[ a =~ $x ]]; code=$?; echo \"no message in bash\" >&2; exit $code",
            "no message in bash",
        ),
    ])
    .await;
}

#[tokio::test]
async fn nesting_in_tool_programs_is_limited() {
    expect_messages(&[
        (r"find . @\( *10000@ -true @ \)*10000@", "nested more than 200 deep"),
        ("awk 'BEGIN { print @(*10000@1@)*10000@ }'", "memory exhausted"),
        ("awk 'BEGIN @{ *10000@ print 1 @} *10000@'", "memory exhausted"),
        ("awk 'BEGIN { print @! *10000@1 }'", "memory exhausted"),
        ("awk 'function f(x) { return f(x + 1) } BEGIN { f(1) }'", "too many calls of functions"),
        ("jq -n '@(*10000@1@)*10000@'", "nests deeper"),
        ("jq -n '@[*10000@1@]*10000@'", "nests deeper"),
        ("jq -n '@{a:*10000@1@}*10000@'", "nests deeper"),
        ("jq -n '@if 1 then *10000@1 @ end*10000@'", "nests deeper"),
        (r#"jq -n '@"\(*10000@1@)"*10000@'"#, "nests deeper"),
        ("jq -n '@1+*10000@1'", "operators in a row"),
        ("jq -n '@.a*10000@'", "operators in a row"),
        ("jq -n '@1 and *10000@1'", "operators in a row"),
        ("jq -n 'def f: 1 + f; f'", "recursion is too deep"),
        ("jq -n 'def f: [f]; f'", "recursion is too deep"),
        ("jq -n 'def f(x): x + f(x + 1); f(1)'", "recursion is too deep"),
        ("sqlite3 :memory: 'select @(select *2000@1@)*2000@'", "too large"),
        // Like GNU bc, bc continues after an error and exits with 0.
        ("echo '@(*10000@1@)*10000@' | bc; exit 1", "parser stack overflow"),
        ("echo 'define f(x) { return f(x + 1); } f(1)' | bc; exit 1", "too many calls of functions"),
        ("@env *3000@true", "Resource temporarily unavailable"),
        ("@xargs *500@echo < /dev/null", "Resource temporarily unavailable"),
    ])
    .await;
}

#[tokio::test]
async fn long_programs_and_deep_data_do_not_recurse_deeply() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    for (command, output) in [
        ("jq -n '[@1,*20000@1] | length'", "20001\n"),
        ("jq -n '@1|*20000@2'", "2\n"),
        ("echo '@[*10000@@]*10000@' | jq -c . | wc -c", "20001\n"),
        ("echo '@{\"a\":*10000@1@}*10000@' | jq -c '[..] | length'", "10001\n"),
        ("jq -n 'reduce range(100000) as $i (1; [.]) | . == .'", "true\n"),
        ("jq -n 'reduce range(100000) as $i (1; {a: .}) | [., .] | unique | length'", "1\n"),
        ("awk 'BEGIN { print @1 + *9999@1 }'", "10000\n"),
        ("echo $(( @1 + *9999@1 ))", "10000\n"),
        ("expr @1 + *2000@1", "2001\n"),
        ("find . -maxdepth 0 @-true -o *10000@-print | wc -l", "0\n"),
        ("[[ @x && *10000@x ]] && echo yes", "yes\n"),
        ("echo a | grep -cE 'a@*10000@@b*10000@' || :", "0\n"),
    ] {
        let response = sandbox.execute(ExecuteRequest::new(written_out(command))).await.expect("it responds");
        assert_eq!(response.output_text(), output, "{command}");
    }
}

#[tokio::test]
async fn deeply_nested_directories_are_walked_completely() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    let make = "for i in $(seq 900); do mkdir a && cd a; done; echo x > x";
    let response = sandbox.execute(ExecuteRequest::new(make)).await.expect("it responds");
    assert_eq!(response.exit_code, Some(0), "{}", response.output_text());
    for (command, output) in [
        ("find a | wc -l", "901\n"),
        ("ls -R a | grep -c :", "900\n"),
        ("cp -r a b && diff -r a b && echo same", "same\n"),
        ("echo y > b@/a*899@/x; diff -rq a b | wc -l", "1\n"),
        ("grep -rc x a | grep -c ':1'", "1\n"),
        ("du -s --apparent-size a > /dev/null && echo counted", "counted\n"),
        ("chmod -R go-w a && echo changed", "changed\n"),
        ("tar cf a.tar a && tar tf a.tar | wc -l", "901\n"),
        ("tree a | tail -1", "900 directories, 1 file\n"),
        ("rm -r b && mv a c && rm -r c && ls", "a.tar\n"),
    ] {
        let response = sandbox.execute(ExecuteRequest::new(written_out(command))).await.expect("it responds");
        assert_eq!(response.output_text(), output, "{command}");
    }
}
