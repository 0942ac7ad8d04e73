//! Components of WASI 0.2 are processes: pipes, signals, limits and clocks apply to them as to modules.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Limits, Sandbox, SandboxBackend, StopReason, Upload};

use crate::{guest, run};

/// The rules and the tests are the same for both kinds.
fn kinds() -> [(&'static str, Sandbox); 2] {
    let make = |bytes: &Arc<[u8]>| guest::builder(bytes).build().expect("the sandbox is built");
    [("module", make(&guest::MODULE)), ("component", make(&guest::COMPONENT))]
}

async fn expect(cases: &[(&str, &str)]) {
    for (kind, sandbox) in kinds() {
        for (command, text) in cases {
            let start = Instant::now();
            let response = run(&sandbox, command).await;
            // Ignore the shell's message about a terminated job; this test does not concern it.
            let lines = response.output_text();
            let lines = lines.lines().filter(|line| !line.starts_with("bash: line "));
            let lines: String = lines.map(|line| format!("{line}\n")).collect();
            assert_eq!(lines, *text, "{kind}: {command}");
            assert!(start.elapsed() < Duration::from_secs(60), "{kind}: {command} took {:?}", start.elapsed());
        }
    }
}

#[tokio::test]
async fn a_component_starts_from_every_kind_of_caller() {
    expect(&[
        ("tell a 'b c'", "tell\na\nb c\n"),
        ("/usr/local/bin/tell a", "/usr/local/bin/tell\na\n"),
        ("env tell a", "tell\na\n"),
        ("printf 'x y' | xargs tell", "tell\nx\ny\n"),
        ("touch here; find . -name here -exec tell {} +", "tell\n./here\n"),
        ("echo $(tell a)", "tell a\n"),
        ("tell b a | sort | head -2", "a\nb\n"),
        ("which tell", "/usr/local/bin/tell\n"),
    ])
    .await;
}

#[tokio::test]
async fn an_uploaded_component_runs_by_its_path() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    let upload = Upload::new("/workspace/tell", guest::COMPONENT.to_vec());
    let uploaded = sandbox.upload_files(vec![upload]).await.expect("it responds");
    assert_eq!(uploaded[0].result, Ok(()));
    assert_eq!(run(&sandbox, "./tell a").await.output_text(), "./tell\na\n");
    let denied = run(&sandbox, "chmod -x tell; ./tell").await;
    assert_eq!(denied.exit_code, Some(126), "{}", denied.output_text());
}

#[tokio::test]
async fn a_component_reads_and_writes_pipes_files_and_devices() {
    expect(&[
        ("seq 3 | copy", "1\n2\n3\n"),
        ("seq 3 | copy | copy | tail -1", "3\n"),
        ("seq 2000 > in; copy < in > out; cmp in out && echo same", "same\n"),
        ("echo a > f; echo b | copy >> f; cat f", "a\nb\n"),
        ("copy < /dev/null | wc -c", "0\n"),
        ("copy <<< here", "here\n"),
        ("echo gone | copy > /dev/null; echo $?", "0\n"),
        ("(read first; copy) <<< $'one\\ntwo\\nthree'", "two\nthree\n"),
    ])
    .await;
}

#[tokio::test]
async fn a_component_has_the_exit_statuses_of_a_process() {
    expect(&[
        ("leave 0; echo $?", "0\n"),
        ("leave 1; echo $?", "1\n"),
        ("flood | head -1; echo ${PIPESTATUS[0]}", "y\n141\n"),
        ("trap '' PIPE; flood 2>/dev/null | head -1; echo ${PIPESTATUS[0]}", "y\n1\n"),
        ("nap & kill $!; wait $!; echo $?", "143\n"),
        ("nap & kill -9 $!; wait $!; echo $?", "137\n"),
        ("spin & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 0.2 nap; echo $?", "124\n"),
        ("timeout 0.2 spin; echo $?", "124\n"),
        ("sleep 1 | timeout 0.2 copy; echo $?", "124\n"),
        ("flood | timeout 0.2 sleep 100; echo ${PIPESTATUS[@]}", "141 124\n"),
        ("deep; echo $?", "deep: stack overflow\n139\n"),
        ("abort; echo $?", "abort: aborted\n134\n"),
        ("nothing() { :; }; cp /usr/local/bin/tell nothing.wasm; ./nothing.wasm 2>/dev/null; echo $?", "1\n"),
    ])
    .await;
}

/// `exit` of WASI 0.2 has only success and failure, and current toolchains call only that; `exit-with-code` has any code.
#[tokio::test]
async fn a_component_may_exit_with_any_code() {
    let leave = r#"(component
      (import "wasi:cli/exit@0.2.12" (instance $exit (export "exit-with-code" (func (param "status-code" u8)))))
      (core func $leave (canon lower (func $exit "exit-with-code")))
      (core module $main
        (import "exit" "leave" (func $leave (param i32)))
        (func (export "run") (result i32) (call $leave (i32.const 42)) (i32.const 0)))
      (core instance $i (instantiate $main (with "exit" (instance (export "leave" (func $leave))))))
      (func $run (result (result)) (canon lift (core func $i "run")))
      (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))"#;
    let builder = tidebox::sandbox().expect("the engine starts");
    let leave = wat::parse_str(leave).expect("well-formed");
    let sandbox = builder.tool("leave-42", leave).build().expect("the sandbox is built");
    assert_eq!(run(&sandbox, "leave-42; echo $?").await.output_text(), "42\n");
    let (module, component) = (guest::builder(&guest::MODULE), guest::builder(&guest::COMPONENT));
    for (builder, text) in [(module, "42\n"), (component, "1\n")] {
        let sandbox = builder.build().expect("the sandbox is built");
        assert_eq!(run(&sandbox, "leave 42; echo $?").await.output_text(), text);
    }
}

/// At the maximum recursion depth of a guest, the stack has room for the host's calls: calls of components run on the guest's
/// stack.
#[tokio::test]
async fn a_recursing_component_that_calls_the_host_ends_alone() {
    let deep = r#"(component
      (import "wasi:random/random@0.2.12" (instance $random
        (export "get-random-u64" (func (result u64)))
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
      (import "wasi:cli/environment@0.2.12" (instance $environment
        (export "get-environment" (func (result (list (tuple string string)))))))
      (core module $libc
        (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
      (core instance $libc (instantiate $libc))
      (core func $number (canon lower (func $random "get-random-u64")))
      (core func $bytes (canon lower (func $random "get-random-bytes")
        (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
      (core func $variables (canon lower (func $environment "get-environment")
        (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
      (core module $main
        (import "host" "number" (func $number (result i64)))
        (import "host" "bytes" (func $bytes (param i64 i32)))
        (import "host" "variables" (func $variables (param i32)))
        (func $down (export "run") (result i32)
          (drop (call $number))
          (call $bytes (i64.const 4096) (i32.const 16))
          (call $variables (i32.const 16))
          (drop (call $down))
          (i32.const 0)))
      (core instance $i (instantiate $main (with "host" (instance
        (export "number" (func $number)) (export "bytes" (func $bytes)) (export "variables" (func $variables))))))
      (func $run (result (result)) (canon lift (core func $i "run")))
      (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))"#;
    let builder = tidebox::sandbox().expect("the engine starts");
    let deep = wat::parse_str(deep).expect("well-formed");
    let sandbox = builder.tool("deeper", deep).build().expect("the sandbox is built");
    let response = run(&sandbox, "{ deeper; } 2> told; echo $?; head -1 told; echo alive").await;
    assert_eq!(response.output_text(), "139\ndeeper: stack overflow\nalive\n");
}

#[tokio::test]
async fn the_deadline_ends_waiting_and_computing_components() {
    for (kind, sandbox) in kinds() {
        for command in ["nap", "spin", "sleep 1000 | copy", "flood | sleep 1000"] {
            let request = ExecuteRequest::new(command).with_timeout(Duration::from_millis(300));
            let response = sandbox.execute(request).await.expect("it responds");
            assert_eq!(response.stopped_by, Some(StopReason::Timeout), "{kind}: {command}");
        }
    }
}

#[tokio::test]
async fn memory_of_a_component_is_limited() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 32 << 20;
    let sandbox = guest::builder(&guest::COMPONENT).limits(limits).build().expect("the sandbox is built");
    let response = run(&sandbox, "hog; echo $?").await;
    let text = response.output_text();
    assert!(text.contains("hog: out of memory (the limits are 32768 KiB for a process"), "{text}");
    assert!(text.ends_with("137\n"), "{text}");
    assert!(response.peak_memory_bytes <= 64 << 20, "{} bytes", response.peak_memory_bytes);
}

#[tokio::test]
async fn components_stream_large_data_in_bounded_memory() {
    let sandbox = guest::builder(&guest::COMPONENT).build().expect("the sandbox is built");
    let command = "head -c 100000000 /dev/zero | copy | tail -c +2 | copy | wc -c";
    let response = run(&sandbox, command).await;
    assert_eq!(response.output_text(), "99999999\n");
    assert!(response.peak_memory_bytes < 100 << 20, "{} bytes", response.peak_memory_bytes);
}

#[tokio::test]
async fn fixed_time_passes_while_a_component_sleeps() {
    let sandbox = guest::builder(&guest::COMPONENT).deterministic(7, 0).build().expect("the sandbox is built");
    let start = Instant::now();
    let command = "before=$(date +%s); nap; echo $(($(date +%s) - before))";
    let request = ExecuteRequest::new(command).with_timeout(Duration::from_secs(7200));
    let response = sandbox.execute(request).await.expect("it responds");
    assert_eq!(response.output_text(), "3600\n");
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn an_invalid_component_is_rejected_with_a_message() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    for (wat, reason) in [
        ("(component)", "it has no export wasi:cli/run"),
        (r#"(component (import "own:thing/it" (func)))"#, "unsupported import of the component"),
    ] {
        let bytes = wat::parse_str(wat).expect("well-formed");
        let uploaded = sandbox.upload_files(vec![Upload::new("/workspace/t.wasm", bytes)]).await.expect("it responds");
        assert_eq!(uploaded[0].result, Ok(()));
        let response = run(&sandbox, "./t.wasm").await;
        assert_eq!(response.exit_code, Some(126));
        assert!(response.output_text().contains(reason), "{}", response.output_text());
    }
}

#[tokio::test]
async fn the_standard_library_can_read_its_files() {
    expect(&[
        (
            "mkdir d && cd d && files",
            "create_new: Err(AlreadyExists)\nrest: \"TWO\\n\"\nlen: 5\ngone: Err(NotFound)\n\
             busy: true\nfile b\nfile c\nleft: \"one\\nT\"\n\
             escape: Ok(\"tidebox\\n\")\nabsolute: \"absolute\\n\"\ndenied: Err(PermissionDenied)\n",
        ),
        ("cat /tmp/elsewhere; ls -A d", "absolute\n"),
        ("mkdir l; touch l/f 'l/a b'; ln -s f l/s; mkdir l/d; list l", "dir d\nfile a b\nfile f\nlink s\n"),
        ("cd /tmp; list /workspace/l | wc -l", "4\n"),
        ("HOME=/h show < /dev/null | grep -v seconds", "HOME=/h\nslept: true\nterminal: false\n"),
    ])
    .await;
}

#[tokio::test]
async fn the_network_is_denied() {
    let sandbox = guest::builder(&guest::COMPONENT).build().expect("the sandbox is built");
    let response = run(&sandbox, "network").await;
    let text = response.output_text();
    for line in ["connect: PermissionDenied", "listen: PermissionDenied", "udp: PermissionDenied", "lookup: "] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("allowed"), "{text}");
}

#[tokio::test]
async fn random_bytes_come_from_the_kernel() {
    let random = async |seed| {
        let builder = guest::builder(&guest::COMPONENT).deterministic(seed, 0);
        run(&builder.build().expect("the sandbox is built"), "random; random").await.output_text().into_owned()
    };
    let (one, again, other) = (random(1).await, random(1).await, random(2).await);
    assert_eq!(one, again);
    assert_ne!(one, other);
    let lines: Vec<&str> = one.lines().collect();
    assert_ne!(lines[0], lines[1]);
}
