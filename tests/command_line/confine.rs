//! `--confine` restricts every thread of the command, and commands run as without it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::run::{command, tidebox};

#[test]
fn a_confined_command_runs_with_its_mount() {
    let dir = tempfile::tempdir().expect("created");
    fs::write(dir.path().join("data"), "b\na\n").expect("written");
    let mount = format!("{}:/data:rw", dir.path().display());
    let ran = tidebox(&["exec", "--confine", "--mount", &mount, "sort /data/data > /data/sorted; seq 2 | tac | cat"]);
    assert_eq!((ran.stdout().as_str(), ran.code), ("2\n1\n", Some(0)), "{}", ran.stderr());
    assert_eq!(fs::read_to_string(dir.path().join("sorted")).expect("written through the mount"), "a\nb\n");
}

#[test]
fn every_thread_of_a_confined_command_has_a_filter() {
    let mut child =
        command(&["exec", "--confine", "echo started; sleep 60"]).stdout(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("read");
    assert_eq!(line, "started\n");
    let tasks = format!("/proc/{}/task", child.id());
    let mut threads = 0;
    for task in fs::read_dir(tasks).expect("the process runs") {
        // A thread may end while the files are read.
        let Ok(status) = fs::read_to_string(task.expect("read").path().join("status")) else { continue };
        assert!(status.contains("Seccomp:\t2\n") && status.contains("NoNewPrivs:\t1\n"), "{status}");
        threads += 1;
    }
    assert!(threads > 0, "the process has threads");
    child.kill().expect("it runs");
    child.wait().expect("waited");
}

#[test]
fn programs_of_the_host_exclude_a_confined_command() {
    let ran = tidebox(&["exec", "--confine", "--pip", "true"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr().contains("cannot use --confine with --pip"), "{}", ran.stderr());
}
