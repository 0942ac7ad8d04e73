//! Cancellation of a command at any moment: its future is dropped after one poll, after two, and so on until it would have
//! ended. Each time all its resources are released, untouched files are unchanged, and the sandbox stays usable.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tidebox::{ExecuteRequest, ResourceUsage, Runtime, RuntimeConfig, Sandbox, SandboxBackend, ShellMode, Upload};

/// Process slots of the pool, fewer than the commands need, so that some processes run outside the pool.
const SLOTS: u32 = 12;

/// Maximum number of polls after which a command is dropped. Commands that end earlier need fewer.
const MAX_POLLS: u32 = 40;

/// Commands of every kind: pipes, subshells, background jobs, signals, files, custom programs, waiting and computing.
const COMMANDS: [&str; 10] = [
    "seq 20000 | sort -rn | head -3 | cat",
    "for i in 1 2 3 4; do (echo $i; (sleep 0.001; echo $i)) & done; wait",
    "x=$(seq 3000); echo \"${x#1}\" | while read -r n; do [ \"$n\" = 50 ] && break; done",
    "head -c 3000000 /dev/zero > big; cp big other; rm big other",
    "sleep 1000 & sleep 1000 & kill %1; sleep 0.005; kill %2; wait",
    "trap 'echo bye' TERM; (sleep 0.002; kill $$) & sleep 0.01; wait",
    "while :; do :; done",
    "chmod +x guest; ./guest; ./guest; timeout 0.005 yes > /dev/null",
    "coproc cat; echo a >&${COPROC[1]}; read -r a <&${COPROC[0]}; diff <(seq 100) <(seq 101)",
    "exec {fd}<> f; echo kept >&$fd; rm f; mkdir -p a/b/c; find . -name c; tar cf t.tar a; rm -r a t.tar",
];

/// Returns a program that differs every time, so that it has to be compiled.
fn guest(number: u32) -> Vec<u8> {
    let text = format!(
        r#"(module (memory 1) (func (export "_start") (local i32) (local.set 0 (i32.const {number}))
             (loop $more (local.set 0 (i32.add (local.get 0) (i32.const 1)))
               (br_if $more (i32.lt_u (local.get 0) (i32.const 1000000))))))"#
    );
    wat::parse_str(text).expect("the guest is valid")
}

/// Polls a command this number of times. Returns whether it completed.
async fn run_for(sandbox: &Sandbox, request: ExecuteRequest, polls: u32) -> bool {
    let mut running = pin!(sandbox.execute(request));
    let mut left = polls;
    poll_fn(|cx| {
        if let Poll::Ready(reply) = running.as_mut().poll(cx) {
            reply.expect("the sandbox responds");
            return Poll::Ready(true);
        }
        left -= 1;
        if left == 0 { Poll::Ready(false) } else { Poll::Pending }
    })
    .await
}

fn expect_nothing_left(sandbox: &Sandbox, what: &str) {
    let left = sandbox.resource_usage();
    let nothing = ResourceUsage::default();
    let seen = [left.commands, left.processes, left.open_files, left.pipes, left.memory_bytes, left.pipe_bytes];
    assert_eq!(seen, [0; 6], "{what}: {left:?}");
    assert_eq!(left.argument_bytes, nothing.argument_bytes, "{what}");
}

fn runtime() -> Runtime {
    let mut config = RuntimeConfig::default();
    config.pool_slots = SLOTS;
    Runtime::new(config).expect("the engine starts")
}

#[tokio::test]
async fn dropping_a_command_at_any_poll_leaks_nothing() {
    let runtime = runtime();
    let mut module = 0;
    for mode in [ShellMode::Fresh, ShellMode::Persistent] {
        for command in COMMANDS {
            let sandbox = runtime.sandbox().build().expect("the sandbox is built");
            for polls in 1..=MAX_POLLS {
                module += 1;
                let upload = Upload::new("/workspace/guest", guest(module));
                sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
                let request = ExecuteRequest::new(command).with_shell_mode(mode).with_timeout(Duration::from_secs(60));
                let ended = run_for(&sandbox, request, polls).await;
                expect_nothing_left(&sandbox, &format!("{command} after {polls} polls"));
                if ended {
                    break;
                }
            }
            let look = "rm -rf /workspace/*; set -- /proc/[0-9]*; echo $#; ls -A /workspace; echo alive";
            let response = sandbox.execute(ExecuteRequest::new(look)).await.expect("the sandbox responds");
            assert_eq!(response.output_text(), "2\nalive\n", "after {command}");
            assert!(sandbox.resource_usage().files.file_bytes < 1 << 16, "{command}: {:?}", sandbox.resource_usage());
        }
    }
    assert_eq!(runtime.processes(), 0, "the engine has processes of commands that are gone");
}

#[tokio::test]
async fn a_child_that_never_ran_is_freed_with_its_command() {
    let runtime = runtime();
    // The first two end in the poll in which they fork. The last one is stopped by its timeout at a random point.
    for command in ["(sleep 1000; echo never) &", "(exit) & (exit) & exit 0", ":() { : | : & }; :"] {
        let sandbox = runtime.sandbox().build().expect("the sandbox is built");
        for time in 0..2 * u64::from(SLOTS) {
            let wall_time = Duration::from_millis(1 + time % 5);
            sandbox.execute(ExecuteRequest::new(command).with_timeout(wall_time)).await.expect("the sandbox responds");
            expect_nothing_left(&sandbox, command);
            assert_eq!(runtime.processes(), 0, "the engine still has processes of {command}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_concurrent_commands_does_not_affect_others() {
    let sandbox = std::sync::Arc::new(tidebox::sandbox().and_then(|builder| builder.build()).expect("it is built"));
    for round in 0..6 {
        let mut running = tokio::task::JoinSet::new();
        for number in 0..6u32 {
            let sandbox = std::sync::Arc::clone(&sandbox);
            running.spawn(async move {
                let command = COMMANDS[(round + number as usize) % COMMANDS.len()];
                if number % 2 == 0 {
                    run_for(&sandbox, ExecuteRequest::new(command), number + 1).await;
                    return;
                }
                let request = ExecuteRequest::new(format!("seq {number} 99 | tail -1; echo $$ > /tmp/p{number}"));
                let response = sandbox.execute(request).await.expect("the sandbox responds");
                assert_eq!(response.output_text(), "99\n");
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.expect("no command failed");
        }
        expect_nothing_left(&sandbox, "all at once");
    }
}
