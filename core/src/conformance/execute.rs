//! Running commands.

use super::capabilities::Requirement::{
    BinaryOutput, Cwd, Env, Execute, ExitCodes, FreshShell, SeparateStreams, Stdin,
};
use super::case::{Case, cases};
use super::context::{CaseContext, quoted};
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::execute::ExecuteRequest;

pub(super) const CASES: &[Case] = cases![
    "execute: a successful command returns its output and exit code 0" [Execute, ExitCodes] success;
    "execute: every exit code is unchanged" [Execute, ExitCodes] exit_codes;
    "execute: a missing command returns 127 with a message" [Execute, ExitCodes] not_found;
    "execute: a non-executable file returns 126 with a message" [Execute, ExitCodes] not_executable;
    "execute: a command killed by signal N returns 128 + N" [Execute, ExitCodes] killed;
    "execute: a syntax error is a response and not an error" [Execute] syntax_error;
    "execute: a NUL byte in a command is rejected without side effects" [Execute] nul_byte;
    "execute: a command without output has an empty output" [Execute] silent;
    "execute: standard error is part of the output" [Execute] stderr_is_output;
    "execute: standard output and standard error are separate" [Execute, SeparateStreams] apart;
    "execute: standard input is empty by default" [Execute] stdin_ends;
    "execute: standard input arrives byte for byte" [Execute, Stdin] stdin_given;
    "execute: 1 MiB of standard input arrives complete" [Execute, Stdin] stdin_large;
    "execute: environment variables are unchanged" [Execute, Env] env_given;
    "execute: the last of two variables with one name wins" [Execute, Env] env_last_wins;
    "execute: an environment variable applies to one command" [Execute, Env] env_once;
    "execute: a command starts in the requested directory" [Execute, Cwd] cwd_given;
    "execute: a missing directory is a response and not an error" [Execute, Cwd] cwd_missing;
    "execute: directory and variable changes end with the command" [Execute, FreshShell] fresh;
    "execute: files persist between commands" [Execute] files_stay;
    "execute: non-ASCII text is unchanged" [Execute] unicode;
    "execute: non-UTF-8 bytes are unchanged" [Execute, BinaryOutput] bytes;
    "execute: quotes, dollars and backslashes have their shell meaning" [Execute] quoting;
    "execute: a multi-line script runs to its end" [Execute] many_lines;
    "execute: pipes, lists and redirections work" [Execute] pipes;
    "execute: a command of 100 KB runs" [Execute] long_command;
    "execute: the duration of a command is reported" [Execute] duration;
    "execute: a list of arguments reaches the program unchanged" [Execute] arguments;
    "execute: a list of arguments names a program in PATH or by its path" [Execute, ExitCodes] program_of_arguments;
];

async fn success(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run("echo hello").await?;
    check_eq("the output", &text(&response.output), &"hello\n")?;
    check_eq("the exit code", &response.exit_code, &Some(0))?;
    check_eq("truncated", &response.truncated, &false)?;
    check_eq("stopped_by", &response.stopped_by, &None)
}

async fn arguments(context: &CaseContext<'_>) -> CaseResult {
    let given = ["$HOME", "*", "a b", "it's", "\"", "\\", "", "-n", "ü"];
    let request = ExecuteRequest::from_arguments(["printf", "[%s]"].iter().chain(&given).copied());
    let response = context.backend.execute(request?).await?;
    let expected: String = given.iter().map(|argument| format!("[{argument}]")).collect();
    check_eq("the output", &text(&response.output), &expected.as_str())
}

async fn program_of_arguments(context: &CaseContext<'_>) -> CaseResult {
    for (program, code) in
        [("true", 0), ("no-such-command-anywhere", 127), ("/no/such/program", 127), ("/etc/passwd", 126)]
    {
        let request = ExecuteRequest::from_arguments([program])?;
        let response = context.backend.execute(request).await?;
        check_eq(&format!("the exit code of `{program}`"), &response.exit_code, &Some(code))?;
    }
    Ok(())
}

async fn exit_codes(context: &CaseContext<'_>) -> CaseResult {
    for code in [0, 1, 2, 42, 255] {
        let response = context.run(&format!("exit {code}")).await?;
        check_eq("the exit code", &response.exit_code, &Some(code))?;
    }
    check_eq("the exit code of `false`", &context.run("false").await?.exit_code, &Some(1))
}

async fn not_found(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run("no-such-command-anywhere").await?;
    check_eq("the exit code", &response.exit_code, &Some(127))?;
    let output = text(&response.output);
    check("the message names the command", output.contains("no-such-command-anywhere"), &output)
}

async fn not_executable(context: &CaseContext<'_>) -> CaseResult {
    context.put("plain", "#!/bin/sh\necho ran\n").await?;
    let response = context.run("chmod 644 plain; ./plain").await?;
    check_eq("the exit code", &response.exit_code, &Some(126))?;
    let output = text(&response.output);
    check("a message and not the file's output", !output.is_empty() && !output.contains("ran\n"), &output)
}

async fn killed(context: &CaseContext<'_>) -> CaseResult {
    for (signal, code) in [("KILL", 137), ("TERM", 143)] {
        let response = context.run(&format!("sh -c 'kill -{signal} $$; echo on'; exit $?")).await?;
        check_eq(&format!("the exit code after {signal}"), &response.exit_code, &Some(code))?;
    }
    Ok(())
}

async fn syntax_error(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run("if true; then").await?;
    check("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)?;
    check("a message", !response.output.is_empty(), &text(&response.output))
}

async fn nul_byte(context: &CaseContext<'_>) -> CaseResult {
    let result = context.backend.execute(ExecuteRequest::new("echo a\0b")).await;
    let rejected = result.as_ref().map_or(true, |response| response.exit_code != Some(0));
    check("an error or an exit code other than 0", rejected, &result)?;
    check_eq("the next command's output", &context.output("echo fine").await?, &"fine\n")
}

async fn silent(context: &CaseContext<'_>) -> CaseResult {
    check_eq("the output of `true`", &context.output("true").await?, &"")
}

async fn stderr_is_output(context: &CaseContext<'_>) -> CaseResult {
    let output = context.output("echo first; echo second >&2").await?;
    check("both lines are in the output", output.contains("first\n") && output.contains("second"), &output)
}

async fn apart(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run("echo out; echo err >&2; echo more").await?;
    check_eq("standard output", &text(&response.stdout), &"out\nmore\n")?;
    check_eq("standard error", &text(&response.stderr), &"err\n")?;
    check_eq("bytes of both together", &response.output.len(), &(response.stdout.len() + response.stderr.len()))
}

async fn stdin_ends(context: &CaseContext<'_>) -> CaseResult {
    check_eq("what `cat` reads", &context.output("cat; echo done").await?, &"done\n")
}

async fn stdin_given(context: &CaseContext<'_>) -> CaseResult {
    let every_byte: Vec<u8> = (0..=255).collect();
    let response = context.backend.execute(context.request("cat > given").with_stdin(every_byte.clone())).await?;
    check_eq("the output", &text(&response.output), &"")?;
    check_eq("the bytes that `cat` wrote to a file", &context.get("given").await?, &every_byte)
}

async fn stdin_large(context: &CaseContext<'_>) -> CaseResult {
    let stdin = "0123456789abcde\n".repeat(65_536);
    let response = context.backend.execute(context.request("wc -l; cat").with_stdin(stdin)).await?;
    check_eq("the lines of a megabyte", &text(&response.output).trim(), &"65536")
}

async fn env_given(context: &CaseContext<'_>) -> CaseResult {
    let value = "a 'b' \"c\" $HOME `d` \\ é👋\nsecond line";
    let request = context.request("printf %s \"$CONFORMANCE\"").with_env("CONFORMANCE", value);
    check_eq("the variable", &text(&context.backend.execute(request).await?.output), &value)
}

async fn env_last_wins(context: &CaseContext<'_>) -> CaseResult {
    let request = context.request("echo $CONFORMANCE").with_env("CONFORMANCE", "1").with_env("CONFORMANCE", "2");
    check_eq("the variable", &text(&context.backend.execute(request).await?.output), &"2\n")
}

async fn env_once(context: &CaseContext<'_>) -> CaseResult {
    let request = context.request("true").with_env("CONFORMANCE", "x");
    context.backend.execute(request).await?;
    check_eq("the variable in the next command", &context.output("echo \"<$CONFORMANCE>\"").await?, &"<>\n")
}

async fn cwd_given(context: &CaseContext<'_>) -> CaseResult {
    context.put("with space/a", "here").await?;
    let request = ExecuteRequest::new("cat a; pwd").with_cwd(context.path("with space")?);
    let output = text(&context.backend.execute(request).await?.output);
    let good = output.starts_with("here") && output.ends_with("/with space\n");
    check("the file of that directory, and its name", good, &output)
}

async fn cwd_missing(context: &CaseContext<'_>) -> CaseResult {
    let request = ExecuteRequest::new("echo ran").with_cwd(context.path("nowhere")?);
    let response = context.backend.execute(request).await?;
    let ran = text(&response.output).contains("ran\n");
    check("an exit code other than 0", response.exit_code != Some(0) && !ran, &response)
}

async fn fresh(context: &CaseContext<'_>) -> CaseResult {
    let before = text(&context.backend.execute(ExecuteRequest::new("pwd")).await?.output);
    context.run("cd /; CONFORMANCE=x; export CONFORMANCE").await?;
    let after = context.backend.execute(ExecuteRequest::new("pwd; echo \"<$CONFORMANCE>\"")).await?;
    check_eq("the directory and the variable", &text(&after.output), &format!("{before}<>\n"))
}

async fn files_stay(context: &CaseContext<'_>) -> CaseResult {
    context.output("echo one > a; echo two >> a").await?;
    check_eq("the file in the next command", &context.output("cat a").await?, &"one\ntwo\n")
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    let line = "héllo 👋 世界 مرحبا";
    check_eq("the output", &context.output(&format!("echo {}", quoted(line))).await?, &format!("{line}\n"))
}

async fn bytes(context: &CaseContext<'_>) -> CaseResult {
    let response = context.run(r"printf '\377\376\000x\200'").await?;
    check_eq("the output", &response.output, &b"\xff\xfe\0x\x80".to_vec())
}

async fn quoting(context: &CaseContext<'_>) -> CaseResult {
    let output =
        context.output(r#"A=1; printf '%s\n' "a'b$A" 'c"d$A' \$A "\$A" "a\\b" 'a\b' `echo sub` $(echo new)"#).await?;
    check_eq("the printed lines", &output, &"a'b1\nc\"d$A\n$A\n$A\na\\b\na\\b\nsub\nnew\n")
}

async fn many_lines(context: &CaseContext<'_>) -> CaseResult {
    let script = "total=0\nfor n in 1 2 3; do\n  total=$((total + n))\ndone\ncat <<END\ntotal $total\nEND\necho end";
    check_eq("the output", &context.output(script).await?, &"total 6\nend\n")
}

async fn pipes(context: &CaseContext<'_>) -> CaseResult {
    let script = "printf 'b\\na\\nc\\n' | sort | head -n 2 > sorted && cat < sorted; false || echo other; ls nothing 2>/dev/null";
    let response = context.run(script).await?;
    check_eq("the output", &text(&response.output), &"a\nb\nother\n")?;
    check("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)
}

async fn long_command(context: &CaseContext<'_>) -> CaseResult {
    let command = format!(": {}\necho ran", "x".repeat(100_000));
    check_eq("the output", &context.output(&command).await?, &"ran\n")
}

async fn duration(context: &CaseContext<'_>) -> CaseResult {
    let slept = context.run("sleep 1").await?.duration;
    if slept.as_millis() < 900 {
        return Err(CaseFailure::new("a second or more for `sleep 1`", format!("{slept:?}")));
    }
    Ok(())
}
