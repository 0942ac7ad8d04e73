use std::time::Duration;

use super::*;
use crate::MountMode;

fn parsed(arguments: &[&str]) -> Result<Command, String> {
    parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
}

fn executed(arguments: &[&str]) -> Exec {
    match parsed(arguments) {
        Ok(Command::Exec(exec)) => exec,
        other => panic!("{arguments:?} is not exec: {other:?}"),
    }
}

#[test]
fn mounts_are_read_only_by_default() {
    let mount = |text: &str| executed(&["exec", "--mount", text, "ls"]).options.mounts;
    let mount_arg = |host: &str, guest: &str, mode| [MountArg { host: host.into(), guest: guest.to_owned(), mode }];
    assert_eq!(mount("src:/workspace/src"), mount_arg("src", "/workspace/src", MountMode::ReadOnly));
    assert_eq!(mount("src:s:ro"), mount_arg("src", "s", MountMode::ReadOnly));
    assert_eq!(mount("C:\\x:/x:rw"), mount_arg("C:\\x", "/x", MountMode::ReadWrite));
    assert_eq!(mount(".:/workspace/repo:cow"), mount_arg(".", "/workspace/repo", MountMode::CopyOnWrite));
    for invalid in ["src", "src:", ":/workspace", "src:rw", ":cow"] {
        let error = parsed(&["exec", "--mount", invalid, "ls"]).expect_err(invalid);
        assert!(error.contains("HOST:GUEST[:ro|rw|cow]"), "{error}");
    }
}

#[test]
fn exec_accepts_options_before_and_after_the_command() {
    let exec = executed(&[
        "exec",
        "--file",
        "a.txt:/workspace/a.txt",
        "--env=A=1=2",
        "--cwd",
        "/tmp",
        "--allow",
        "a.example",
        "--allow=*.b.example",
        "--allow-git",
        "a.example/org/repo",
        "--allow-git-push=b.example",
        "cat a.txt",
        "--timeout",
        "0.25",
        "--json",
        "--stdin",
        "--limits",
        "processes=7",
    ]);
    assert_eq!(exec.command(), CommandArg::Line("cat a.txt".to_owned()));
    assert_eq!(exec.options.files, [Upload { host: "a.txt".into(), guest: "/workspace/a.txt".into() }]);
    assert_eq!(exec.options.env, [("A".to_owned(), "1=2".to_owned())]);
    assert_eq!(exec.options.cwd.as_deref(), Some("/tmp"));
    assert_eq!(exec.options.timeout, Some(Duration::from_millis(250)));
    assert_eq!(exec.options.allow, ["a.example", "*.b.example"]);
    assert_eq!(exec.options.allow_git, ["a.example/org/repo"]);
    assert_eq!(exec.options.allow_git_push, ["b.example"]);
    assert_eq!(exec.options.limits().processes, 7);
    assert!(exec.json && exec.stdin);
}

#[test]
fn two_dashes_precede_a_command_with_a_leading_dash() {
    assert_eq!(executed(&["exec", "--", "--version"]).command(), CommandArg::Line("--version".to_owned()));
}

#[test]
fn argv_takes_all_arguments_after_the_program() {
    for before in [&["exec", "--json", "--argv"][..], &["exec", "--argv", "--json", "--"]] {
        let exec = executed(&[before, &["grep", "--json", "a b", "--", "-x"]].concat());
        let expected = ["grep", "--json", "a b", "--", "-x"].map(str::to_owned).to_vec();
        assert_eq!((exec.command(), exec.json), (CommandArg::Arguments(expected), true));
    }
    let late = parsed(&["exec", "ls", "--argv"]).expect_err("the option is too late");
    assert!(late.contains("--argv must be before the program"), "{late}");
}

#[test]
fn host_paths_may_contain_a_colon() {
    let exec = executed(&["exec", "--file", r"C:\a.txt:/b", "true"]);
    assert_eq!(exec.options.files, [Upload { host: r"C:\a.txt".into(), guest: "/b".into() }]);
}

#[test]
fn errors_name_the_invalid_argument() {
    for (arguments, expected) in [
        (&["exec"][..], "missing command"),
        (&["exec", "--argv"], "missing program"),
        (&["exec", "echo", "hi"], "unexpected argument \"hi\" after the command"),
        (&["exec", "--file", "nothing", "true"], "expected HOST:GUEST"),
        (&["exec", "--file", ":/a", "true"], "expected HOST:GUEST"),
        (&["exec", "--env", "=x", "true"], "expected NAME=VALUE"),
        (&["exec", "--timeout", "0", "true"], "expected seconds greater than 0"),
        (&["exec", "--timeout", "-1", "true"], "expected seconds greater than 0"),
        (&["exec", "--timeout", "nan", "true"], "expected seconds greater than 0"),
        (&["exec", "--timeout", "1e300", "true"], "expected seconds greater than 0"),
        (&["exec", "--jsn", "true"], "--jsn"),
        (&["run", "true"], "unrecognized subcommand 'run'"),
        (&["shell", "true"], "true"),
        (&["warm", "now"], "now"),
    ] {
        let error = parsed(arguments).expect_err("the arguments are invalid");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn every_command_has_a_help() {
    for arguments in [&["--help"][..], &["-h"], &["exec", "--help"], &["help", "exec"], &["pack", "add", "-h"]] {
        let error = parse(arguments.iter().map(OsString::from)).expect_err("the help is not a command");
        assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{arguments:?}");
    }
    assert_eq!(parsed(&["-V"]), Ok(Command::Version { json: false }));
    assert_eq!(parsed(&["--version", "--json"]), Ok(Command::Version { json: true }));
    assert!(parsed(&["--json"]).is_err() && parsed(&["--"]).is_err());
}

#[test]
fn the_definition_is_consistent() {
    command().debug_assert();
}

#[test]
fn the_last_value_of_an_option_is_used() {
    let exec = executed(&["exec", "--cwd", "/a", "--cwd=/b", "--json", "--json", "--pip", "--pip", "true"]);
    assert_eq!((exec.options.cwd.as_deref(), exec.json, exec.options.pip), (Some("/b"), true, true));
    let exec = executed(&["exec", "--limits", "processes=7,memory=1M", "true", "--limits", "processes=9"]);
    assert_eq!((exec.options.limits().processes, exec.options.limits().sandbox_memory_bytes), (9, 1 << 20));
}

#[test]
fn the_value_of_an_option_may_start_with_a_hyphen() {
    let Ok(Command::Serve(serve)) = parsed(&["serve", "--key", "-x-", "--provider", "e2b,deno"]) else {
        panic!("it is serve")
    };
    assert_eq!((serve.key.as_deref(), serve.providers), (Some("-x-"), vec!["e2b".to_owned(), "deno".to_owned()]));
}

#[test]
fn a_public_url_may_name_its_provider() {
    let url = "https://sandboxes.example.com/?a=b";
    for (value, provider) in [(url.to_owned(), None), (format!("daytona={url}"), Some("daytona"))] {
        let Ok(Command::Serve(serve)) = parsed(&["serve", "--public-url", &value]) else { panic!("it is serve") };
        let expected = PublicUrl { provider: provider.map(str::to_owned), url: url.to_owned() };
        assert_eq!(serve.public_url, [expected]);
    }
}

#[test]
fn a_typo_gets_a_suggestion() {
    for (arguments, expected) in [
        (&["exce", "true"][..], "'exec'"),
        (&["exec", "--jsn", "true"], "'--json'"),
        (&["exec", "--output-overflow", "tial", "true"], "'tail'"),
        (&["serve", "--provider", "e3b"], "'e2b'"),
    ] {
        let error = parsed(arguments).expect_err("the arguments are invalid");
        assert!(error.contains("tip: a similar") && error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn ports_are_published_at_a_free_or_a_named_port() {
    let exec = executed(&["exec", "--publish", "8000", "--publish=3000:80", "serve"]);
    let published = |port, host_port| PublishedPort { port, host_port };
    assert_eq!(exec.publish, [published(8000, 0), published(3000, 80)]);
    for invalid in ["", "0", "x", "8000:", ":8000", "65536", "1:65536", "127.0.0.1:8000", "1:2:3"] {
        let error = parsed(&["exec", "--publish", invalid, "serve"]).expect_err(invalid);
        assert!(error.contains("PORT:HOST_PORT"), "{error}");
    }
    assert!(parsed(&["shell", "--publish", "8000"]).is_err(), "a shell publishes no ports");
}
