//! Tests that run the job scripts in the shells of this host and parse their reports.

use super::*;

#[test]
fn reports_are_parsed_in_both_byte_encodings() {
    let expected =
        Report { code: Some(3), size: ReadOffsets { out: 3, err: 0 }, out: b"\xff\0a".to_vec(), err: Vec::new() };
    assert_eq!(report("tidebox 3 3 0 base64\n/wBh\n.\n.\n", ReadOffsets::default()).unwrap(), expected);
    assert_eq!(report("tidebox 3       3 0 od\n ff 00 61\n.\n.\n", ReadOffsets::default()).unwrap(), expected);
    assert_eq!(
        report("a profile's noise\ntidebox 3 3 0 base64\n/wBh\n.\n.\n", ReadOffsets::default()).unwrap(),
        expected
    );
    let running = report("tidebox - 5 5 base64\n.\n.\n", ReadOffsets { out: 5, err: 5 }).unwrap();
    assert_eq!((running.code, running.size), (None, ReadOffsets { out: 5, err: 5 }));
}

#[test]
fn a_truncated_report_is_an_error() {
    for cut in
        ["", "tidebox 0 4 0 base64\n", "tidebox 0 4 0 base64\nYWJj\n.\n.\n", "tidebox 0 4 0 base64\nYWJj!\n.\n.\n"]
    {
        assert_eq!(report(cut, ReadOffsets::default()).unwrap_err().kind(), ErrorKind::Protocol, "{cut:?}");
    }
}

#[test]
fn short_text_is_verbatim_and_complete() {
    let read = |text: &str| report(text, ReadOffsets::default());
    let expected = Report {
        code: Some(0),
        size: ReadOffsets { out: 5, err: 3 },
        out: b"a\n.\nb".to_vec(),
        err: b"\x1b[m".to_vec(),
    };
    assert_eq!(read("tidebox 0 5 3 text\na\n.\nb\x1b[m.\n").unwrap(), expected);
    assert_eq!(read("tidebox 0 5 3 text\na\n.\nb\x1b[m.").unwrap(), expected, "the line end of the mark says nothing");
    for cut in ["tidebox 0 5 3 text\na\n.\n", "tidebox 0 5 3 text\na\n.\nb\x1b[", "tidebox 0 5 3 text\na\n.\nb\x1b[m"] {
        assert_eq!(read(cut).unwrap_err().kind(), ErrorKind::Protocol, "{cut:?}");
    }
    // A report modified in transit is rejected.
    assert_eq!(read("tidebox 0 3 0 text\n\u{fffd}.\n").unwrap_err().kind(), ErrorKind::Protocol);
}

#[cfg(target_os = "linux")]
mod with_the_host_shell {
    use super::*;
    use std::process::Command;

    /// Shells that a daemon may use. The line is passed as an argument or on standard input.
    const SHELLS: [&str; 2] = ["sh", "bash"];

    fn run(line: &str) -> (Option<i32>, String) {
        run_by("sh", line)
    }

    fn run_by(shell: &str, line: &str) -> (Option<i32>, String) {
        let output = Command::new(shell).arg("-c").arg(line).output().expect("the shell is installed");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Passes the line on standard input, as the daemon does.
    fn run_on_input_of(shell: &str, line: &str) -> (Option<i32>, String) {
        use std::io::Write as _;
        use std::process::Stdio;
        let mut child = Command::new(shell).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        child.stdin.take().expect("its input").write_all(line.as_bytes()).expect("the report is parsed");
        let output = child.wait_with_output().expect("the job ends");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Removes the files of the last jobs.
    fn tidy(jobs: &Jobs, job: &Job) {
        run(&job.cleanup_script());
        std::fs::remove_dir(&jobs.dir).expect("the directory is empty");
    }

    #[test]
    fn a_job_reports_its_output_and_removes_its_files() {
        for shell in SHELLS {
            let jobs = Jobs::new();
            let job = jobs.next_job();
            let (code, text) = run_by(shell, &job.start("sh", "printf 'a\\000b'; echo \"it's\" >&2; exit 3", &[]));
            let report = report(&text, ReadOffsets::default()).expect("a report");
            assert_eq!((code, report.code), (Some(0), Some(3)));
            assert_eq!((report.out, report.err), (b"a\0b".to_vec(), b"it's\n".to_vec()));
            assert!(
                run(&job.poll_script(ReadOffsets::default())).1.starts_with("tidebox 3 3 5"),
                "the report can be requested again"
            );
            let next = jobs.next_job();
            assert_eq!(run_by(shell, &next.start("sh", "exit 0", std::slice::from_ref(&job))).0, Some(0));
            assert_eq!(run(&job.poll_script(ReadOffsets::default())).0, Some(NO_SUCH_JOB), "the next job removed it");
            tidy(&jobs, &next);
        }
    }

    #[test]
    fn every_shell_reports_output_unchanged() {
        let (long, limit) = (format!("{:05000}", 7), format!("{:04096}", 7));
        for written in [
            "",
            "hi\n",
            "no end of line",
            "\n\n",
            " \t blanks \n ",
            "a\\nb\\\\%s%%",
            "\x1b[31m\x07\r\n",
            ".\n.\n",
            "tidebox 1 2 3 text\n",
            "é",
            "\u{fffd}",
            &long,
            &limit,
            "$(exit 9)`exit 9`*",
        ] {
            for shell in SHELLS {
                for run_it in [run_by, run_on_input_of] {
                    let jobs = Jobs::new();
                    let job = jobs.next_job();
                    let word = quote(written);
                    let script = format!("printf %s {word}; printf %s {word} >&2; exit 7");
                    let (code, text) = run_it(shell, &job.start(shell, &script, &[]));
                    let report = report(&text, ReadOffsets::default()).expect("a report");
                    assert_eq!((code, report.code), (Some(0), Some(7)), "{written:?} by {shell}");
                    assert_eq!((&*report.out, &*report.err), (written.as_bytes(), written.as_bytes()), "{shell}");
                    tidy(&jobs, &job);
                }
            }
        }
    }

    #[test]
    fn bash_reports_short_text_without_programs() {
        for (script, kind) in [("echo hi; echo oh >&2", "text"), ("printf 'a\\000'", "base64"), ("printf é", "base64")]
        {
            let jobs = Jobs::new();
            let job = jobs.next_job();
            let (_, text) = run_by("bash", &job.start("bash", script, &[]));
            assert!(text.lines().next().is_some_and(|line| line.ends_with(kind)), "{script}: {text}");
            tidy(&jobs, &job);
        }
    }

    #[test]
    fn a_repeated_job_runs_once_with_private_files() {
        use std::os::unix::fs::PermissionsExt as _;
        for shell in SHELLS {
            let jobs = Jobs::new();
            let job = jobs.next_job();
            let line = job.start("sh", "echo ran", &[]);
            assert_eq!(run_by(shell, &line).0, Some(0));
            let (code, text) = run_by(shell, &line);
            assert_eq!((code, text.contains("ran")), (Some(125), false), "{shell}");
            let mode = std::fs::metadata(&jobs.dir).expect("it exists").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            tidy(&jobs, &job);
        }
    }

    #[test]
    fn a_command_does_not_inherit_wrapper_state() {
        for shell in SHELLS {
            let jobs = Jobs::new();
            let job = jobs.next_job();
            let script = "echo $c$o$e$k$LC_ALL; echo >/dev/null; echo a >\"$F\"; echo b >\"$F\"; cat \"$F\"; rm \"$F\"";
            let file = format!("{}-file", jobs.dir);
            let line = job.start(shell, script, &[]);
            let output = Command::new(shell)
                .args(["-c", &line])
                .envs([("c", "1"), ("o", "2"), ("e", "3"), ("k", "4"), ("LC_ALL", "C.UTF-8"), ("F", &file)])
                .output()
                .expect("a shell");
            let report = report(&String::from_utf8_lossy(&output.stdout), ReadOffsets::default()).expect("a report");
            assert_eq!(String::from_utf8_lossy(&report.out), "1234C.UTF-8\nb\n", "{shell}");
            tidy(&jobs, &job);
        }
    }

    #[test]
    fn a_chunk_respects_the_requested_range() {
        let jobs = Jobs::new();
        let job = jobs.next_job();
        let size = usize::try_from(REPORT_BYTES).expect("a size") + 3;
        let (_, text) = run(&job.start("sh", &format!("head -c {size} /dev/zero; echo abc >&2"), &[]));
        let first = report(&text, ReadOffsets::default()).expect("a report");
        assert_eq!((first.out.len(), first.size.out), (size - 3, u64::try_from(size).expect("a size")));
        let seen = ReadOffsets { out: REPORT_BYTES, err: 1 };
        let rest = report(&run(&job.poll_script(seen)).1, seen).expect("a report");
        assert_eq!((rest.out, rest.err), (b"\0\0\0".to_vec(), b"bc\n".to_vec()));
        let seen = ReadOffsets { out: first.size.out, err: 4 };
        let nothing = report(&run(&job.poll_script(seen)).1, seen).expect("a report");
        assert!(nothing.out.is_empty() && nothing.err.is_empty(), "{nothing:?}");
        tidy(&jobs, &job);
    }

    #[test]
    fn a_job_is_polled_and_killed_with_its_descendants() {
        use std::os::unix::process::CommandExt as _;
        let jobs = Jobs::new();
        let job = jobs.next_job();
        let script = "echo one; sleep 300 & echo $! >&2; wait";
        let mut waiting =
            Command::new("sh").arg("-c").arg(job.start("sh", script, &[])).process_group(0).spawn().unwrap();
        let mut seen = Report { code: None, size: ReadOffsets::default(), out: Vec::new(), err: Vec::new() };
        while seen.out != b"one\n" || seen.err.is_empty() {
            if let (Some(0), text) = run(&job.poll_script(ReadOffsets::default())) {
                seen = report(&text, ReadOffsets::default()).expect("a report");
            }
        }
        let ended = report(
            &run(&job.end(ReadOffsets { out: 2, err: seen.size.err })).1,
            ReadOffsets { out: 2, err: seen.size.err },
        );
        let ended = ended.expect("a report");
        assert_eq!((ended.code, ended.out, ended.err), (None, b"e\n".to_vec(), Vec::new()));
        waiting.wait().expect("the command ended");
        let child = String::from_utf8_lossy(&seen.err).trim().to_owned();
        let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_else(|_| "gone ) Z".to_owned());
        assert!(state.contains(") Z"), "its child was ended too: {state}");
        tidy(&jobs, &job);
    }
}
