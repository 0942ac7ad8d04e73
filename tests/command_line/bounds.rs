//! Commands that run forever or exhaust resources: each ends with a message, and the host continues.

use std::time::Duration;

use crate::run::{exec, tidebox};

/// Other tests may slow the host down, so the best of three runs counts.
fn best_of_three(arguments: &[&str], limit: Duration) -> crate::run::Ran {
    let mut ran = tidebox(arguments);
    for _ in 0..2 {
        if ran.elapsed <= limit {
            break;
        }
        ran = tidebox(arguments);
    }
    assert!(ran.elapsed <= limit, "{arguments:?} took {:?}", ran.elapsed);
    ran
}

#[test]
fn yes_ends_when_its_reader_exits() {
    let ran = best_of_three(&["exec", "yes | head -3"], Duration::from_secs(1));
    assert_eq!((ran.code, ran.stdout()), (Some(0), "y\ny\ny\n".to_owned()));
}

#[test]
fn an_endless_loop_times_out_with_124_and_its_output() {
    let line = "echo started; while :; do :; done";
    let ran = best_of_three(&["exec", "--timeout", "1", line], Duration::from_millis(1500));
    assert_eq!((ran.code, ran.stdout()), (Some(124), "started\n".to_owned()));
    assert!(ran.elapsed >= Duration::from_secs(1), "{:?}", ran.elapsed);
    assert!(!ran.stderr.is_empty(), "the timeout is explained");
}

#[test]
fn a_timeout_ends_the_whole_pipeline() {
    let ran = best_of_three(&["exec", "--timeout", "0.5", "yes | cat | while :; do :; done"], Duration::from_secs(2));
    assert_eq!(ran.code, Some(124));
}

#[test]
fn a_sleeping_command_ends_at_its_timeout() {
    let ran = best_of_three(&["exec", "--timeout", "0.3", "sleep 60"], Duration::from_millis(1500));
    assert_eq!(ran.code, Some(124));
}

#[test]
fn endless_recursion_ends_with_a_message() {
    let ran = exec("f(){ f; }; f");
    assert_ne!(ran.code, Some(0));
    assert!(ran.code.is_some(), "the host was killed by a signal");
    assert!(ran.stderr().contains("nesting"), "{}", ran.stderr());
}

#[test]
fn a_memory_bomb_ends_with_a_message() {
    let ran = tidebox(&["exec", "--timeout", "60", "x=a; while :; do x=$x$x; done"]);
    assert!(ran.code.is_some_and(|code| code != 0 && code != 124), "{ran:?}");
    let reported = ran.stderr().to_lowercase();
    assert!(reported.contains("memory") || reported.contains("cannot allocate"), "{reported}");
}

#[test]
fn a_fork_bomb_ends_and_the_host_continues() {
    let ran = tidebox(&["exec", "--timeout", "5", "--limits", "processes=50", ":(){ :|:& }; :; wait; echo over"]);
    assert!(ran.code.is_some(), "the host was killed by a signal");
    assert_eq!(exec("echo alive").stdout(), "alive\n");
}

#[test]
fn output_over_the_limit_is_truncated_with_a_warning() {
    let ran = tidebox(&["exec", "--limits", "output=10K", "seq 1 100000"]);
    assert_eq!(ran.stdout.len(), 10 << 10);
    assert_eq!(ran.code, Some(0), "the command continues");
    assert!(ran.stderr().contains("kept the first 10240 of 588895 bytes"), "{}", ran.stderr());
}

#[test]
fn the_tail_of_the_output_is_kept_on_request() {
    let ran = tidebox(&["exec", "--json", "--limits", "output=20", "--output-overflow", "tail", "seq 1 100000"]);
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    assert_eq!(value["stdout"], "\n99998\n99999\n100000\n");
    assert_eq!((&value["truncated"], &value["exit_code"]), (&true.into(), &0.into()));
    let stderr = value["stderr"].as_str().expect("it is text");
    assert!(stderr.contains("kept the last 20 of 588895 bytes"), "{stderr}");
}

#[test]
fn output_over_the_limit_ends_the_command_on_request() {
    let ran = tidebox(&["exec", "--json", "--limits", "output=1K", "--output-overflow", "stop", "yes"]);
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    assert_eq!((ran.code, &value["stopped_by"], &value["truncated"]), (Some(137), &"output".into(), &true.into()));
    let unknown = tidebox(&["exec", "--output-overflow", "raise", "true"]);
    assert_eq!(unknown.code, Some(125));
    assert!(unknown.stderr().contains("possible values: head, tail, stop"), "{}", unknown.stderr());
}

#[test]
fn a_command_ends_when_its_processor_time_is_used_up() {
    let line = "(while :; do :; done) & while :; do :; done";
    let ran = tidebox(&["exec", "--json", "--limits", "cpu-time=0.2", line]);
    let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
    assert_eq!((ran.code, &value["stopped_by"]), (Some(152), &"cpu_time".into()));
    assert!(value["cpu_time_ms"].as_f64().is_some_and(|ms| ms >= 200.0), "{value}");
    let waits = tidebox(&["exec", "--limits", "cpu-time=0.2", "sleep 0.5"]);
    assert_eq!(waits.code, Some(0), "waiting takes no processor time: {}", waits.stderr());
}

#[test]
fn guests_see_their_processor_time() {
    let line = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times > t; head -1 t; \
                TIMEFORMAT='%U %S'; time for i in $(seq 1 300000); do :; done; \
                cut -d' ' -f14 /proc/$$/stat; awk '{ print ($1 == \"cpu\" && $2 > 0) ? \"measured\" : $0; exit }' /proc/stat";
    let ran = tidebox(&["exec", line]);
    let stdout = ran.stdout();
    let lines: Vec<&str> = stdout.lines().collect();
    let [own, ticks, total] = lines.as_slice() else { panic!("{ran:?}") };
    assert!(own.starts_with("0m") && !own.starts_with("0m0.000s"), "{ran:?}");
    assert!(ticks.parse::<u64>().is_ok_and(|ticks| ticks > 0), "{ran:?}");
    assert_eq!(*total, "measured");
    let stderr = ran.stderr();
    let user = stderr.lines().last().and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    assert!(user.is_some_and(|seconds| seconds > 0.0), "{ran:?}");
}

#[test]
fn the_stop_reason_names_the_limit_behind_a_failure() {
    for (limits, line, reason) in [
        ("files=64K", "yes | head -c 200000 > b", "files"),
        ("file=64K", "head -c 200000 /dev/zero > b", "files"),
        ("inodes=60", "for i in $(seq 100); do : > f$i || exit 1; done", "inodes"),
        ("descriptors=16", "for i in $(seq 10 40); do eval \"exec $i</dev/null\" || exit 1; done", "descriptors"),
        ("processes=4", "sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait; exit 1", "processes"),
        ("nesting=20", "printf 'bash ./deep' > deep; bash ./deep", "nesting"),
        ("nesting=20", "f() { f; }; f", "nesting"),
        ("nesting=20", "x='eval \"$x\"'; eval \"$x\"", "nesting"),
        ("process-memory=32M", "awk 'BEGIN { s = \"x\"; while (1) s = s s }'", "memory"),
    ] {
        let ran = tidebox(&["exec", "--json", "--limits", limits, line]);
        let value: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("stdout is one JSON object");
        assert_ne!(ran.code, Some(0), "{line}: {value}");
        assert_eq!(value["stopped_by"], reason, "{line}: {value}");
    }
    let handled = tidebox(&["exec", "--json", "--limits", "file=64K", "head -c 200000 /dev/zero > b; true"]);
    let value: serde_json::Value = serde_json::from_slice(&handled.stdout).expect("stdout is one JSON object");
    assert_eq!((handled.code, &value["stopped_by"]), (Some(0), &serde_json::Value::Null));
}

#[test]
fn a_stopped_process_waits_until_it_continues() {
    let line = "(while :; do echo tick; sleep 0.02; done) > log & child=$!; sleep 0.2; kill -STOP $child; sleep 0.1; \
                ps -o stat= -p $child; before=$(wc -l < log); sleep 0.3; after=$(wc -l < log); \
                [ $before = $after ] && echo stopped; kill -TERM $child; sleep 0.1; kill -0 $child && echo alive; \
                kill -CONT $child; wait $child; echo $?";
    let ran = tidebox(&["exec", line]);
    assert_eq!(ran.stdout(), "T\nstopped\nalive\n143\n", "{ran:?}");
}

#[test]
fn files_over_the_quota_fail_and_existing_files_stay() {
    let line = "echo kept >a; yes | head -c 200000 >b; echo $?; cat a";
    let ran = tidebox(&["exec", "--limits", "files=64K", line]);
    assert!(ran.stdout().ends_with("kept\n"), "{ran:?}");
    assert!(ran.stderr().contains("No space left on device"), "{}", ran.stderr());
}

#[test]
fn processes_above_the_limit_fail() {
    let line = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done; wait";
    let ran = tidebox(&["exec", "--limits", "processes=4", line]);
    assert!(!ran.stderr.is_empty(), "{ran:?}");
    assert!(ran.code.is_some());
}
