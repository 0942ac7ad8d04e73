//! Running commands.

use super::capabilities::Need::{BinaryOutput, Cwd, Env, Execute, ExitCodes, FreshShell, SeparateStreams, Stdin};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same, text};
use super::ground::{Ground, quoted};
use crate::execute::ExecuteRequest;

pub(super) const CASES: &[Case] = cases![
    "execute: a command that succeeds has its output and exit code 0" [Execute, ExitCodes] success;
    "execute: every exit code arrives as it is" [Execute, ExitCodes] exit_codes;
    "execute: a command that is not there is 127 with a message" [Execute, ExitCodes] not_found;
    "execute: a file that may not be executed is 126 with a message" [Execute, ExitCodes] not_executable;
    "execute: a command that a signal ends is 128 and its number" [Execute, ExitCodes] killed;
    "execute: a line that cannot be parsed is an answer and no error" [Execute] syntax_error;
    "execute: a NUL byte in a command is refused and breaks nothing" [Execute] nul_byte;
    "execute: a command without output has none" [Execute] silent;
    "execute: standard error is part of the output" [Execute] stderr_is_output;
    "execute: standard output and standard error are told apart" [Execute, SeparateStreams] apart;
    "execute: standard input is at its end" [Execute] stdin_ends;
    "execute: standard input is what was given, byte for byte" [Execute, Stdin] stdin_given;
    "execute: a megabyte of standard input arrives whole" [Execute, Stdin] stdin_large;
    "execute: environment variables arrive as they are" [Execute, Env] env_given;
    "execute: the last of two variables of one name wins" [Execute, Env] env_last_wins;
    "execute: an environment variable is for one command" [Execute, Env] env_once;
    "execute: a command starts in the directory that was given" [Execute, Cwd] cwd_given;
    "execute: a directory that is not there is an answer and no error" [Execute, Cwd] cwd_missing;
    "execute: a directory and a variable are gone with their command" [Execute, FreshShell] fresh;
    "execute: files stay from one command to the next" [Execute] files_stay;
    "execute: text beyond ASCII arrives unharmed" [Execute] unicode;
    "execute: bytes that are not UTF-8 arrive as they are" [Execute, BinaryOutput] bytes;
    "execute: quotes, dollars and backslashes mean what they mean to a shell" [Execute] quoting;
    "execute: a script of many lines runs to its end" [Execute] many_lines;
    "execute: pipes, lists and redirections work" [Execute] pipes;
    "execute: a command of 100 KB runs" [Execute] long_command;
    "execute: the time that a command took is told" [Execute] duration;
];

async fn success(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh("echo hello").await?;
    same("the output", &text(&response.output), &"hello\n")?;
    same("the exit code", &response.exit_code, &Some(0))?;
    same("truncated", &response.truncated, &false)?;
    same("stopped_by", &response.stopped_by, &None)
}

async fn exit_codes(ground: &Ground<'_>) -> Verdict {
    for code in [0, 1, 2, 42, 255] {
        let response = ground.sh(&format!("exit {code}")).await?;
        same("the exit code", &response.exit_code, &Some(code))?;
    }
    same("the exit code of `false`", &ground.sh("false").await?.exit_code, &Some(1))
}

async fn not_found(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh("no-such-command-anywhere").await?;
    same("the exit code", &response.exit_code, &Some(127))?;
    let output = text(&response.output);
    holds("the message names the command", output.contains("no-such-command-anywhere"), &output)
}

async fn not_executable(ground: &Ground<'_>) -> Verdict {
    ground.put("plain", "#!/bin/sh\necho ran\n").await?;
    let response = ground.sh("chmod 644 plain; ./plain").await?;
    same("the exit code", &response.exit_code, &Some(126))?;
    let output = text(&response.output);
    holds("a message and not what the file prints", !output.is_empty() && !output.contains("ran\n"), &output)
}

async fn killed(ground: &Ground<'_>) -> Verdict {
    for (signal, code) in [("KILL", 137), ("TERM", 143)] {
        let response = ground.sh(&format!("sh -c 'kill -{signal} $$; echo on'; exit $?")).await?;
        same(&format!("the exit code after {signal}"), &response.exit_code, &Some(code))?;
    }
    Ok(())
}

async fn syntax_error(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh("if true; then").await?;
    holds("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)?;
    holds("a message", !response.output.is_empty(), &text(&response.output))
}

async fn nul_byte(ground: &Ground<'_>) -> Verdict {
    let answer = ground.backend.execute(ExecuteRequest::new("echo a\0b")).await;
    let refused = answer.as_ref().map_or(true, |response| response.exit_code != Some(0));
    holds("an error or an exit code other than 0", refused, &answer)?;
    same("the next command's output", &ground.output("echo fine").await?, &"fine\n")
}

async fn silent(ground: &Ground<'_>) -> Verdict {
    same("the output of `true`", &ground.output("true").await?, &"")
}

async fn stderr_is_output(ground: &Ground<'_>) -> Verdict {
    let output = ground.output("echo first; echo second >&2").await?;
    holds("both lines are in the output", output.contains("first\n") && output.contains("second"), &output)
}

async fn apart(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh("echo out; echo err >&2; echo more").await?;
    same("standard output", &text(&response.stdout), &"out\nmore\n")?;
    same("standard error", &text(&response.stderr), &"err\n")?;
    same("bytes of both together", &response.output.len(), &(response.stdout.len() + response.stderr.len()))
}

async fn stdin_ends(ground: &Ground<'_>) -> Verdict {
    same("what `cat` reads", &ground.output("cat; echo done").await?, &"done\n")
}

async fn stdin_given(ground: &Ground<'_>) -> Verdict {
    let every_byte: Vec<u8> = (0..=255).collect();
    let response = ground.backend.execute(ground.request("cat > given").with_stdin(every_byte.clone())).await?;
    same("the output", &text(&response.output), &"")?;
    same("the bytes that `cat` wrote to a file", &ground.get("given").await?, &every_byte)
}

async fn stdin_large(ground: &Ground<'_>) -> Verdict {
    let stdin = "0123456789abcde\n".repeat(65_536);
    let response = ground.backend.execute(ground.request("wc -l; cat").with_stdin(stdin)).await?;
    same("the lines of a megabyte", &text(&response.output).trim(), &"65536")
}

async fn env_given(ground: &Ground<'_>) -> Verdict {
    let value = "a 'b' \"c\" $HOME `d` \\ é👋\nsecond line";
    let request = ground.request("printf %s \"$CONFORMANCE\"").with_env("CONFORMANCE", value);
    same("the variable", &text(&ground.backend.execute(request).await?.output), &value)
}

async fn env_last_wins(ground: &Ground<'_>) -> Verdict {
    let request = ground.request("echo $CONFORMANCE").with_env("CONFORMANCE", "1").with_env("CONFORMANCE", "2");
    same("the variable", &text(&ground.backend.execute(request).await?.output), &"2\n")
}

async fn env_once(ground: &Ground<'_>) -> Verdict {
    let request = ground.request("true").with_env("CONFORMANCE", "x");
    ground.backend.execute(request).await?;
    same("the variable in the next command", &ground.output("echo \"<$CONFORMANCE>\"").await?, &"<>\n")
}

async fn cwd_given(ground: &Ground<'_>) -> Verdict {
    ground.put("with space/a", "here").await?;
    let request = ExecuteRequest::new("cat a; pwd").with_cwd(ground.path("with space")?);
    let output = text(&ground.backend.execute(request).await?.output);
    let good = output.starts_with("here") && output.ends_with("/with space\n");
    holds("the file of that directory, and its name", good, &output)
}

async fn cwd_missing(ground: &Ground<'_>) -> Verdict {
    let request = ExecuteRequest::new("echo ran").with_cwd(ground.path("nowhere")?);
    let response = ground.backend.execute(request).await?;
    let ran = text(&response.output).contains("ran\n");
    holds("an exit code other than 0", response.exit_code != Some(0) && !ran, &response)
}

async fn fresh(ground: &Ground<'_>) -> Verdict {
    let before = text(&ground.backend.execute(ExecuteRequest::new("pwd")).await?.output);
    ground.sh("cd /; CONFORMANCE=x; export CONFORMANCE").await?;
    let after = ground.backend.execute(ExecuteRequest::new("pwd; echo \"<$CONFORMANCE>\"")).await?;
    same("the directory and the variable", &text(&after.output), &format!("{before}<>\n"))
}

async fn files_stay(ground: &Ground<'_>) -> Verdict {
    ground.output("echo one > a; echo two >> a").await?;
    same("the file in the next command", &ground.output("cat a").await?, &"one\ntwo\n")
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    let line = "héllo 👋 世界 مرحبا";
    same("the output", &ground.output(&format!("echo {}", quoted(line))).await?, &format!("{line}\n"))
}

async fn bytes(ground: &Ground<'_>) -> Verdict {
    let response = ground.sh(r"printf '\377\376\000x\200'").await?;
    same("the output", &response.output, &b"\xff\xfe\0x\x80".to_vec())
}

async fn quoting(ground: &Ground<'_>) -> Verdict {
    let output =
        ground.output(r#"A=1; printf '%s\n' "a'b$A" 'c"d$A' \$A "\$A" "a\\b" 'a\b' `echo sub` $(echo new)"#).await?;
    same("the words", &output, &"a'b1\nc\"d$A\n$A\n$A\na\\b\na\\b\nsub\nnew\n")
}

async fn many_lines(ground: &Ground<'_>) -> Verdict {
    let script = "total=0\nfor n in 1 2 3; do\n  total=$((total + n))\ndone\ncat <<END\ntotal $total\nEND\necho end";
    same("the output", &ground.output(script).await?, &"total 6\nend\n")
}

async fn pipes(ground: &Ground<'_>) -> Verdict {
    let script = "printf 'b\\na\\nc\\n' | sort | head -n 2 > sorted && cat < sorted; false || echo other; ls nothing 2>/dev/null";
    let response = ground.sh(script).await?;
    same("the output", &text(&response.output), &"a\nb\nother\n")?;
    holds("an exit code other than 0", response.exit_code != Some(0), &response.exit_code)
}

async fn long_command(ground: &Ground<'_>) -> Verdict {
    let command = format!(": {}\necho ran", "x".repeat(100_000));
    same("the output", &ground.output(&command).await?, &"ran\n")
}

async fn duration(ground: &Ground<'_>) -> Verdict {
    let slept = ground.sh("sleep 1").await?.duration;
    if slept.as_millis() < 900 {
        return Err(Fault::new("a second or more for `sleep 1`", format!("{slept:?}")));
    }
    Ok(())
}
