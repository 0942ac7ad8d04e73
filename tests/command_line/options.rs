//! The options of `tidebox exec`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{command, exec, host_file, tidebox, tidebox_reading};

#[test]
fn the_exit_code_is_that_of_the_command() {
    for code in [0, 1, 2, 42, 127, 255] {
        assert_eq!(exec(&format!("exit {code}")).code, Some(code));
    }
}

#[test]
fn argv_runs_a_program_without_a_shell() {
    let arguments = ["--argv", "printf", "%s|", "$HOME", "a b", "it's", "--json"];
    let ran = tidebox(&[&["exec"], &arguments[..]].concat());
    assert_eq!((ran.code, ran.stdout()), (Some(0), "$HOME|a b|it's|--json|".to_owned()));
    assert_eq!(tidebox(&["exec", "--argv", "no-such-program"]).code, Some(127));
    let ran = tidebox(&["exec", "--json", "--argv", "--", "sh", "-c", "echo $1 >&2; exit 3", "sh", "x"]);
    let report: Value = serde_json::from_str(&ran.stdout()).expect("JSON");
    assert_eq!((ran.code, &report["stderr"], &report["exit_code"]), (Some(3), &"x\n".into(), &3.into()));
}

#[test]
fn stdout_and_stderr_are_separate() {
    let ran = exec("echo out; echo err >&2");
    assert_eq!((ran.stdout(), ran.stderr()), ("out\n".to_owned(), "err\n".to_owned()));
}

#[test]
fn output_is_printed_as_it_arrives() {
    let mut child = command(&["exec", "echo first; sleep 3; echo second"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line arrives");
    assert_eq!(line, "first\n");
    let first = Instant::now();
    stdout.read_to_string(&mut line).expect("the rest arrives");
    assert_eq!(line, "first\nsecond\n");
    // Without streaming both lines would arrive at the end.
    assert!(first.elapsed() > Duration::from_secs(1), "the second line came {:?} after the first", first.elapsed());
    assert!(child.wait().expect("the command ends").success());
}

#[test]
fn invalid_utf8_is_printed_unchanged() {
    assert_eq!(exec(r"printf '\xff\x00\xfe'").stdout, b"\xff\x00\xfe");
}

#[test]
fn closing_the_output_ends_the_command() {
    let mut child = command(&["exec", "--timeout", "30", "yes"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let before = Instant::now();
    let mut start = [0; 4];
    child.stdout.take().expect("stdout is a pipe").read_exact(&mut start).expect("some output arrives");
    assert_eq!(&start, b"y\ny\n");
    let status = child.wait().expect("the command ends");
    assert_eq!(status.code(), Some(141));
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
}

#[test]
fn json_prints_one_object_with_all_fields() {
    let ran = tidebox(&["exec", "--json", "echo out; echo err >&2; exit 3"]);
    assert_eq!(ran.code, Some(3));
    let value: Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    let object = value.as_object().expect("it is an object");
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "cpu_time_ms",
            "duration_ms",
            "exit_code",
            "output",
            "peak_memory_bytes",
            "stderr",
            "stdout",
            "stopped_by",
            "truncated"
        ]
    );
    assert_eq!(object["stdout"], "out\n");
    assert_eq!(object["stderr"], "err\n");
    assert_eq!(object["output"], "out\nerr\n");
    assert_eq!(object["exit_code"], 3);
    assert_eq!(object["truncated"], false);
    assert_eq!(object["stopped_by"], Value::Null);
    assert!(object["duration_ms"].as_f64().is_some_and(|ms| ms > 0.0 && ms < 60_000.0), "{value}");
    assert!(object["cpu_time_ms"].as_f64().is_some_and(|ms| ms > 0.0 && ms < 60_000.0), "{value}");
    assert!(object["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes >= 65_536), "{value}");
}

#[test]
fn json_reports_the_stop_reason() {
    let ran = tidebox(&["exec", "--json", "--timeout", "0.2", "echo so far; sleep 9"]);
    let value: Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    assert_eq!((ran.code, &value["exit_code"]), (Some(124), &Value::from(124)));
    assert_eq!(value["stopped_by"], "timeout");
    assert_eq!(value["stdout"], "so far\n");
}

#[test]
fn json_replaces_invalid_utf8() {
    let ran = tidebox(&["exec", "--json", r"printf 'a\xffb'"]);
    let value: Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    assert_eq!(value["stdout"], "a\u{fffd}b");
}

#[test]
fn host_files_keep_their_bytes_and_execute_bit() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let data = host_file(dir.path(), "data.bin", b"a\xff\0b", false);
    let script = host_file(dir.path(), "script", b"#!/bin/sh\necho ran \"$@\"\n", true);
    let ran = tidebox(&[
        "exec",
        "--file",
        &format!("{data}:in/data.bin"),
        "--file",
        &format!("{script}:/tmp/script"),
        "cat in/data.bin; /tmp/script x; test -x in/data.bin; echo $?",
    ]);
    assert_eq!(ran.stdout, b"a\xff\0bran x\n1\n", "{}", ran.stderr());
}

#[test]
fn a_missing_host_file_exits_with_125() {
    let ran = tidebox(&["exec", "--file", "no/such/file:/workspace/a", "true"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr().contains("no/such/file"), "{}", ran.stderr());
}

#[test]
fn a_file_cannot_replace_a_system_program() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let file = host_file(dir.path(), "evil", b"evil", true);
    let ran = tidebox(&["exec", "--file", &format!("{file}:/bin/sh"), "true"]);
    assert_eq!(ran.code, Some(125));
    assert_eq!(ran.stderr().matches("/bin/sh").count(), 1, "{}", ran.stderr());
}

#[test]
fn a_directory_is_rejected_as_a_file() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let ran = tidebox(&["exec", "--file", &format!("{}:/workspace/a", dir.path().display()), "true"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr().contains("not a regular file"), "{}", ran.stderr());
}

#[test]
fn cwd_and_env_options_are_applied() {
    let ran = tidebox(&[
        "exec",
        "--cwd",
        "/tmp",
        "--env",
        "A=x y=z",
        "--env",
        "B=",
        "pwd; echo \"[$A][$B]\"; env | grep ^A=",
    ]);
    assert_eq!(ran.stdout(), "/tmp\n[x y=z][]\nA=x y=z\n");
}

#[test]
fn a_missing_working_directory_is_reported() {
    let ran = tidebox(&["exec", "--cwd", "/no/such", "echo ran"]);
    assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().contains("/no/such"), "{}", ran.stderr());
}

#[test]
fn stdin_is_passed_only_with_the_option() {
    assert_eq!(tidebox_reading(&["exec", "--stdin", "tr a-z A-Z"], b"hello").stdout(), "HELLO");
    assert_eq!(tidebox_reading(&["exec", "wc -c"], b"hello").stdout().trim(), "0");
}

#[test]
fn a_large_stdin_arrives_completely() {
    let input = "0123456789abcdef\n".repeat(100_000);
    let ran = tidebox_reading(&["exec", "--stdin", "cat | tail -c 17; "], input.as_bytes());
    assert_eq!(ran.stdout(), "0123456789abcdef\n");
    let ran = tidebox_reading(&["exec", "--stdin", "wc -c"], input.as_bytes());
    assert_eq!(ran.stdout().trim(), input.len().to_string());
}

#[test]
fn invalid_options_exit_with_125_and_a_hint() {
    for (arguments, expected) in [
        (&["exec"][..], "missing command"),
        (&["exec", "--limits", "speed=1", "true"], "expected one of: wall-time"),
        (&["exec", "--timeout", "soon", "true"], "expected seconds"),
        (&["exec", "--cwd", "", "true"], "empty"),
        (&["frobnicate"], "try '--help'"),
        (&["exce", "true"], "a similar subcommand exists: 'exec'"),
        (&["exec", "--jsn", "true"], "a similar argument exists: '--json'"),
    ] {
        let ran = tidebox(arguments);
        assert_eq!(ran.code, Some(125), "{arguments:?}");
        assert!(ran.stderr().contains(expected), "{arguments:?}: {}", ran.stderr());
    }
}

#[test]
fn help_lists_all_options_on_stdout() {
    let (all, ran) = (tidebox(&["--help"]), tidebox(&["exec", "--help"]));
    assert_eq!((all.code, ran.code), (Some(0), Some(0)));
    for option in ["--file", "--cwd", "--env", "--timeout", "--limits", "--json", "--stdin", "memory"] {
        assert!(ran.stdout().contains(option), "{option}");
    }
    for listed in ["exec", "shell", "serve", "pack", "124", "125"] {
        assert!(all.stdout().contains(listed), "{listed}");
    }
    assert_eq!(tidebox(&[]).stdout(), all.stdout());
}
