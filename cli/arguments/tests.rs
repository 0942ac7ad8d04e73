use super::*;

fn parsed(arguments: &[&str]) -> Result<Call, String> {
    parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
}

fn executed(arguments: &[&str]) -> Exec {
    match parsed(arguments) {
        Ok(Call::Exec(exec)) => exec,
        other => panic!("{arguments:?} is no exec: {other:?}"),
    }
}

#[test]
fn a_mount_is_read_only_unless_its_mode_says_otherwise() {
    let mount = |text: &str| executed(&["exec", "--mount", text, "ls"]).setting.mounts;
    let folder = |host: &str, guest: &str, mode| [Folder { host: host.into(), guest: guest.to_owned(), mode }];
    assert_eq!(mount("src:/workspace/src"), folder("src", "/workspace/src", MountMode::ReadOnly));
    assert_eq!(mount("src:s:ro"), folder("src", "s", MountMode::ReadOnly));
    assert_eq!(mount("C:\\x:/x:rw"), folder("C:\\x", "/x", MountMode::ReadWrite));
    assert_eq!(mount(".:/workspace/repo:cow"), folder(".", "/workspace/repo", MountMode::CopyOnWrite));
    for wrong in ["src", "src:", ":/workspace", "src:rw", ":cow"] {
        let error = parsed(&["exec", "--mount", wrong, "ls"]).expect_err(wrong);
        assert!(error.contains("HOST:GUEST[:ro|rw|cow]"), "{error}");
    }
}

#[test]
fn exec_takes_every_option_before_and_after_the_command() {
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
        "cat a.txt",
        "--timeout",
        "0.25",
        "--json",
        "--stdin",
        "--limits",
        "processes=7",
    ]);
    assert_eq!(exec.command, "cat a.txt");
    assert_eq!(exec.setting.files, [Upload { host: "a.txt".into(), guest: "/workspace/a.txt".into() }]);
    assert_eq!(exec.setting.env, [("A".to_owned(), "1=2".to_owned())]);
    assert_eq!(exec.setting.cwd.as_deref(), Some("/tmp"));
    assert_eq!(exec.setting.timeout, Some(Duration::from_millis(250)));
    assert_eq!(exec.setting.allow, ["a.example", "*.b.example"]);
    assert_eq!(exec.setting.limits.processes, 7);
    assert!(exec.json && exec.stdin);
}

#[test]
fn a_command_that_begins_with_a_dash_follows_two_dashes() {
    assert_eq!(executed(&["exec", "--", "--version"]).command, "--version");
}

#[test]
fn a_host_path_may_hold_a_colon() {
    let exec = executed(&["exec", "--file", r"C:\a.txt:/b", "true"]);
    assert_eq!(exec.setting.files, [Upload { host: r"C:\a.txt".into(), guest: "/b".into() }]);
}

#[test]
fn what_is_wrong_is_named() {
    for (arguments, expected) in [
        (&["exec"][..], "there is no command to run"),
        (&["exec", "echo", "hi"], "\"hi\" stands after the command"),
        (&["exec", "--file", "nothing", "true"], "not of the form HOST:GUEST"),
        (&["exec", "--file", ":/a", "true"], "not of the form HOST:GUEST"),
        (&["exec", "--env", "=x", "true"], "not of the form NAME=VALUE"),
        (&["exec", "--timeout", "0", "true"], "not a number of seconds above 0"),
        (&["exec", "--timeout", "-1", "true"], "not a number of seconds above 0"),
        (&["exec", "--timeout", "nan", "true"], "not a number of seconds above 0"),
        (&["exec", "--timeout", "1e300", "true"], "not a number of seconds above 0"),
        (&["exec", "--jsn", "true"], "--jsn"),
        (&["run", "true"], "there is no command \"run\""),
        (&["shell", "true"], "true"),
        (&["warm", "now"], "now"),
    ] {
        let error = parsed(arguments).expect_err("these arguments are wrong");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn no_arguments_ask_for_help() {
    assert_eq!(parsed(&[]), Ok(Call::Help));
    assert_eq!(parsed(&["exec", "--help"]), Ok(Call::Help));
    assert_eq!(parsed(&["--version"]), Ok(Call::Version));
}
