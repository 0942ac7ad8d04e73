//! `tidebox shell` with a pipe as standard input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::{command, finish, tidebox, tidebox_reading};

fn session(lines: &str) -> crate::run::Ran {
    tidebox_reading(&["shell"], lines.as_bytes())
}

#[test]
fn files_and_the_working_directory_persist_between_lines() {
    let ran = session("mkdir -p a/b && echo kept >a/b/f\ncd a/b\npwd\ncat f\ncd ..; ls\n");
    assert_eq!(ran.stdout(), "/workspace/a/b\nkept\nb\n", "{}", ran.stderr());
    assert_eq!(ran.code, Some(0));
}

#[test]
fn variables_functions_and_aliases_persist_and_options_do_not() {
    let ran = session("a=1; f() { echo f $a; }; alias g='echo aliased'; set -e\nf\ng\nfalse; echo $a\n");
    assert_eq!(ran.stdout(), "f 1\naliased\n1\n", "{}", ran.stderr());
}

#[test]
fn a_line_can_change_a_variable_of_the_options() {
    let ran = tidebox_reading(&["shell", "--env", "A=1"], b"echo $A; A=2\necho $A\n");
    assert_eq!(ran.stdout(), "1\n2\n", "{}", ran.stderr());
}

#[test]
fn a_missing_directory_of_the_options_is_reported() {
    let ran = tidebox_reading(&["shell", "--cwd", "/nowhere"], b"pwd\n");
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr().contains("/nowhere: No such file or directory"), "{}", ran.stderr());
}

#[test]
fn a_failing_line_keeps_the_directory() {
    let ran = session("cd /tmp; false\npwd\ncd / && exit 3\npwd\n)\npwd\n");
    assert_eq!(ran.stdout(), "/tmp\n/\n/\n", "{}", ran.stderr());
}

#[test]
fn a_directory_that_was_removed_does_not_end_the_session() {
    let ran = session("mkdir d; cd d; rmdir ../d\npwd\n");
    assert_eq!(ran.stdout(), "/workspace\n", "{}", ran.stderr());
    assert!(ran.stderr().contains("the session continues in /workspace"), "{}", ran.stderr());
}

#[test]
fn a_session_returns_the_last_or_given_exit_code() {
    assert_eq!(session("true\n(exit 4)\n").code, Some(4));
    assert_eq!(session("true\nexit 5\necho not reached\n").code, Some(5));
    assert_eq!(session("").code, Some(0));
}

#[test]
fn an_incomplete_line_continues_in_the_next() {
    let ran = session("for i in 1 2\ndo echo $i\ndone\necho 'two\nlines'\necho a\\\nb\ncat <<END\nhere\nEND\n");
    assert_eq!(ran.stdout(), "1\n2\ntwo\nlines\nab\nhere\n", "{}", ran.stderr());
}

#[test]
fn options_apply_to_the_whole_session() {
    let ran = tidebox_reading(
        &["shell", "--env", "A=1", "--cwd", "/tmp", "--timeout", "0.3"],
        b"echo $A; pwd\nsleep 9\necho $A\n",
    );
    assert_eq!(ran.stdout(), "1\n/tmp\n1\n");
}

#[test]
fn snapshots_are_restored_and_compared() {
    let ran = session(
        "echo one >f; a=1\n:snapshot first\necho two >f; a=2; mkdir d\n:diff first\n:restore first\ncat f; echo $a; ls\n:diff first\n",
    );
    let expected = "new directory /workspace/d\ndiff --git a/workspace/f b/workspace/f\n";
    assert!(ran.stdout().starts_with("snapshot first: "), "{}{}", ran.stdout(), ran.stderr());
    assert!(ran.stdout().contains(expected) && ran.stdout().contains("-one\n+two\n"), "{}", ran.stdout());
    assert!(ran.stdout().ends_with("\none\n1\nf\n"), "{}{}", ran.stdout(), ran.stderr());
    let ran = session("echo x >new\n:diff\n:restore nosuch\n");
    assert!(ran.stdout().contains("+++ b/workspace/new"), "{}", ran.stdout());
    assert!(ran.stderr().contains("no snapshot nosuch; there are: start"), "{}", ran.stderr());
}

#[test]
fn a_copy_of_the_sandbox_is_discarded_by_back() {
    let ran = session("a=1; echo one >f\n:fork\ncat f; echo $a; a=2; echo two >f\n:back\ncat f; echo $a\n:back\n");
    assert!(ran.stdout().ends_with("discards it\none\n1\none\n1\n"), "{}{}", ran.stdout(), ran.stderr());
    assert!(ran.stderr().contains("this sandbox is not a copy") && ran.code == Some(1), "{}", ran.stderr());
}

#[test]
fn files_are_copied_to_and_from_the_host() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    std::fs::write(dir.path().join("a b"), "host\n").expect("the file can be written");
    let lines = ":upload 'a b' sub/c\ncat sub/c\n:upload 'a b'\ncat 'a b'\necho guest >out\n:download out\n:download out\n:download out 'x y'\n:download nosuch\n";
    let mut command = command(&["shell"]);
    command.current_dir(dir.path());
    let ran = finish(command, lines.as_bytes());
    let shown = ran.stdout();
    assert!(shown.contains("5 B to /workspace/sub/c\nhost\n5 B to /workspace/a b\nhost\n"), "{shown}{}", ran.stderr());
    for name in ["out", "x y"] {
        assert_eq!(std::fs::read_to_string(dir.path().join(name)).expect("the file was copied"), "guest\n");
    }
    assert!(ran.stderr().contains("out exists; add the path of this host to replace it"), "{}", ran.stderr());
    assert!(ran.stderr().contains("cannot read /workspace/nosuch"), "{}", ran.stderr());
}

#[test]
fn a_session_shows_limits_figures_and_help() {
    let ran = tidebox_reading(
        &["shell", "--limits", "processes=7"],
        b":limits\n:time on\ntrue\n:time off\ntrue\n:help\n:nosuch\n:time\n: x\n",
    );
    assert!(ran.stdout().contains("  processes         7       concurrent processes\n"), "{}", ran.stdout());
    assert!(ran.stdout().contains(":fork      "), "{}", ran.stdout());
    assert_eq!(ran.stderr().matches(", peak memory ").count(), 1, "{}", ran.stderr());
    assert!(
        ran.stderr().contains("unknown command :nosuch") && ran.stderr().contains("usage: :time on|off"),
        "{}",
        ran.stderr()
    );
    assert_eq!(ran.code, Some(0), "a colon alone is a command of the shell");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_only_the_running_command() {
    let mut child = command(&["shell"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the session starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut line = String::new();

    stdin.write_all(b"echo looping; while :; do :; done\n").expect("the line is sent");
    stdout.read_line(&mut line).expect("the loop has started");
    assert_eq!(line, "looping\n");
    let before = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(killed.success());

    stdin.write_all(b"echo alive\n").expect("the next line is sent");
    line.clear();
    stdout.read_line(&mut line).expect("the session continues");
    assert_eq!(line, "alive\n");
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    drop(stdin);
    assert_eq!(child.wait().expect("the session ends").code(), Some(0));
}

#[test]
fn a_session_rejects_a_command() {
    assert_eq!(tidebox(&["shell", "echo hi"]).code, Some(125));
}
