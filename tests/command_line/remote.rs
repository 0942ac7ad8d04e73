//! `tidebox exec --backend`: sandboxes at providers, here the emulators.

use crate::run::{Ran, command, finish, host_file, tidebox};
use crate::serve::Server;

const PROVIDERS: [&str; 6] = ["daytona", "deno", "e2b", "langsmith", "modal", "runloop"];

fn run_at(server: &Server, arguments: &[&str], stdin: &[u8]) -> Ran {
    let mut command = command(arguments);
    command.envs(&server.variables);
    finish(command, stdin)
}

/// The number of sandboxes of the E2B emulator.
fn count(server: &Server) -> usize {
    let key = format!("x-api-key: {}\r\n", server.variables["E2B_API_KEY"]);
    let (status, body) = server.ask("GET", "/v2/sandboxes", &key, b"");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let list: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    list.as_array().expect("an array").len()
}

#[test]
fn a_command_runs_at_every_provider() {
    let server = Server::start(&["--provider", "all"]);
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let data = format!("{}:/tmp/data", host_file(dir.path(), "data", b"from the host\n", false));
    let script = format!("{}:/tmp/script", host_file(dir.path(), "script", b"#!/bin/sh\necho ran $1\n", true));
    for provider in PROVIDERS {
        let line = "cat /tmp/data; /tmp/script $A; cat; pwd; echo err >&2; exit 3";
        let arguments = [
            "exec",
            "--backend",
            provider,
            "--file",
            &data,
            "--file",
            &script,
            "--env",
            "A=1",
            "--cwd",
            "/tmp",
            "--stdin",
        ];
        let ran = run_at(&server, &[&arguments[..], &[line]].concat(), b"input\n");
        assert_eq!(ran.stdout(), "from the host\nran 1\ninput\n/tmp\n", "{provider}: {}", ran.stderr());
        assert_eq!((ran.code, ran.stderr().as_str()), (Some(3), "err\n"), "{provider}");
    }
    assert_eq!(count(&server), 0, "the sandbox was not deleted");
}

#[test]
fn json_and_relative_paths_work_at_a_provider() {
    let server = Server::start(&["--provider", "e2b"]);
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let file = format!("{}:data", host_file(dir.path(), "data", b"x\n", false));
    let ran = run_at(&server, &["exec", "--backend", "e2b", "--json", "--file", &file, "cat data; false"], b"");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &report["stdout"]), (Some(1), &"x\n".into()), "{}", ran.stderr());
    let failed = run_at(&server, &["exec", "--backend", "e2b", "--file", "/nowhere:x", "true"], b"");
    assert!(failed.code == Some(125) && failed.stderr().contains("cannot read /nowhere"), "{}", failed.stderr());
    assert_eq!(count(&server), 0, "a sandbox was not deleted");
}

#[test]
fn options_of_local_sandboxes_are_refused_by_name() {
    for (option, value) in [
        ("--mount", Some(".:/x")),
        ("--snapshot", Some("x")),
        ("--allow-git", Some("example.com")),
        ("--allow-git-push", Some("example.com")),
        ("--pip", None),
        ("--limits", Some("memory=1M")),
        ("--publish", Some("80")),
    ] {
        let arguments: Vec<&str> =
            ["exec", "--backend", "e2b", option].into_iter().chain(value).chain(["true"]).collect();
        let ran = tidebox(&arguments);
        let expected = format!("{option} is not supported with --backend e2b");
        assert!(ran.code == Some(125) && ran.stderr().contains(&expected), "{option}: {}", ran.stderr());
    }
    let mut without_key = command(&["exec", "--json", "--backend", "e2b", "true"]);
    without_key.env_remove("E2B_API_KEY");
    let ran = finish(without_key, b"");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &report["error"]["kind"]), (Some(125), &"unauthenticated".into()), "{}", ran.stderr());
}

#[cfg(unix)]
#[test]
fn an_interrupt_deletes_the_sandbox() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let server = Server::start(&["--provider", "e2b"]);
    let mut command = command(&["exec", "--backend", "e2b", "echo started; sleep 60"]);
    let mut child = command.envs(&server.variables).stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout is a pipe")).read_line(&mut line).expect("the command prints");
    assert_eq!((line.as_str(), count(&server)), ("started\n", 1));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(killed.success());
    assert_eq!(child.wait().expect("the command ends").code(), Some(130));
    assert_eq!(count(&server), 0);
}
