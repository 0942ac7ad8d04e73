//! Tools that use resources outside the sandbox: other tasks, timers, the sandbox itself.

use std::sync::{OnceLock, Weak};
use std::time::{Duration, Instant};

use tidebox::{MountExt, MountMode};
use tokio::sync::mpsc;

use super::*;

/// 2026-11-21, in nanoseconds.
const TODAY: u64 = 1_795_219_200_000_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_streams_may_be_used_by_other_tasks() {
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("relay", |call| async move {
            let HostCall { mut stdin, mut stdout, .. } = call;
            let (sender, mut receiver) = mpsc::channel(1);
            let reading = tokio::spawn(async move {
                loop {
                    let bytes = stdin.read(5000).await;
                    if bytes.is_empty() || sender.send(bytes).await.is_err() {
                        return;
                    }
                }
            });
            let writing = tokio::spawn(async move {
                while let Some(bytes) = receiver.recv().await {
                    if stdout.write(bytes).await.is_err() {
                        return;
                    }
                }
            });
            u8::from(reading.await.is_err() || writing.await.is_err())
        })
        .build()
        .expect("it is built");
    prints(&sandbox, "seq 1 300000 | relay | tail -1", "300000\n").await;
    prints(&sandbox, "seq 1 300000 | relay > f; wc -l < f; relay < f | md5sum | cmp - <(md5sum < f)", "300000\n").await;
    prints(&sandbox, "yes | relay | head -1", "y\n").await;
}

#[tokio::test]
async fn it_may_run_commands_in_the_calling_sandbox() {
    let own: Arc<OnceLock<Weak<Sandbox>>> = Arc::default();
    let inside = Arc::clone(&own);
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("again", move |mut call| {
            let sandbox = inside.get().and_then(Weak::upgrade).expect("the sandbox runs this");
            async move {
                let reply = run(&sandbox, "cat note; seq 3 | tail -1").await;
                call.stdout.write(reply.stdout).await.map_or(BROKEN_PIPE, |()| 0)
            }
        })
        .build()
        .expect("it is built");
    let sandbox = Arc::new(sandbox);
    own.set(Arc::downgrade(&sandbox)).expect("set once");
    prints(&sandbox, "echo noted > note; again | sort -r; seq 2 | again", "noted\n3\nnoted\n3\n").await;
}

#[tokio::test]
async fn it_reads_the_sandbox_file_of_an_argument_not_the_hosts() {
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("lines", |mut call| async move {
            let path = call.arguments.get(1).cloned().unwrap_or_default();
            match call.files.read(&path, 1 << 20).await {
                Ok(bytes) => {
                    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                    call.stdout.write(format!("{lines}\n")).await.map_or(BROKEN_PIPE, |()| 0)
                }
                Err(error) => call.stderr.write(format!("lines: {error}\n")).await.map_or(1, |()| 1),
            }
        })
        .build()
        .expect("it is built");
    prints(&sandbox, "mkdir -p d; seq 5 > d/f; cd d; lines f; ln -s f l; lines ../d/l", "5\n5\n").await;
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let response = run(&sandbox, &format!("lines {host}; lines $(printf '../%.0s' {{1..20}}){host}")).await;
    assert_eq!(response.exit_code, Some(1));
    assert!(response.stdout.is_empty());
    assert_eq!(response.stderr_text().lines().count(), 2, "{}", response.stderr_text());
}

#[tokio::test]
async fn it_has_the_mount_permissions_of_the_sandbox() {
    let dir = tempfile::tempdir().expect("a directory can be created");
    std::fs::write(dir.path().join("in"), "of the host").expect("it can be written");
    let copy = |call: HostCall| async move {
        let Ok(bytes) = call.files.read("in", 100).await else { return 1 };
        u8::from(call.files.write("out", bytes).await.is_err()) * 2
    };
    for (mode, code, there) in
        [(MountMode::ReadOnly, 2, false), (MountMode::CopyOnWrite, 0, false), (MountMode::ReadWrite, 0, true)]
    {
        let sandbox = tidebox::sandbox().expect("the engine starts").host_tool("copy", copy);
        let sandbox =
            sandbox.mount_host(dir.path(), "/mnt", mode).expect("it is a directory").build().expect("it is built");
        let response = run(&sandbox, "cd /mnt && copy").await;
        assert_eq!((response.exit_code, response.output_text().as_ref()), (Some(code), ""), "{mode:?}");
        assert_eq!(dir.path().join("out").exists(), there, "{mode:?}");
    }
}

#[tokio::test]
async fn external_io_takes_no_time_in_a_deterministic_sandbox() {
    let build = || {
        builder(&Counters::default())
            .deterministic(1, TODAY)
            .host_tool("nap", |_| async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                0
            })
            .build()
            .expect("it is built")
    };
    let script = "a=$(date +%s); sleep 60 & nap; b=$(date +%s); wait; c=$(date +%s)
        (sleep 30; echo x) | upper; d=$(date +%s); timeout 3 nap; echo $? $((b-a)) $((c-b)) $((d-c))";
    let start = Instant::now();
    for _ in 0..2 {
        prints(&build(), script, "X\n0 0 60 30\n").await;
    }
    assert!(start.elapsed() < Duration::from_secs(60));
    let waits = ExecuteRequest::new("timeout 3 hang").with_timeout(Duration::from_millis(300));
    let response = build().execute(waits).await.expect("the command runs");
    assert_eq!(response.exit_code, Some(124), "the wall time holds all the same");
    assert!(response.stopped_by.is_some());
}

#[tokio::test]
async fn a_fork_has_the_tools_and_a_separate_name() {
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("whoami", |mut call| async move {
            let id = format!("{}\n", call.sandbox);
            call.stdout.write(id).await.map_or(BROKEN_PIPE, |()| 0)
        })
        .build()
        .expect("it is built");
    let fork = sandbox.fork().expect("it is open");
    prints(&sandbox, "whoami", &format!("{}\n", sandbox.id())).await;
    prints(&fork, "whoami | cat", &format!("{}\n", fork.id())).await;
    let snapshot = sandbox.snapshot().expect("it is open");
    let stranger = tidebox::sandbox().expect("the engine starts").snapshot(&snapshot).build().expect("it is built");
    let response = run(&stranger, "whoami").await;
    assert_eq!(response.exit_code, Some(126), "{}", response.output_text());
    assert!(response.stderr_text().starts_with("whoami: cannot run this file: it is a stub of a host tool"));
}
