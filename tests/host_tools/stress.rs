//! Many calls on many threads; some are killed while they run.

use std::time::Duration;

use tokio::task::JoinSet;

use super::*;

/// Copies through two separate tasks, which may run on any thread.
async fn relay(call: HostCall) -> u8 {
    let HostCall { mut stdin, mut stdout, .. } = call;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(2);
    let reading = tokio::spawn(async move {
        loop {
            let bytes = stdin.read(3000).await;
            if bytes.is_empty() || sender.send(bytes).await.is_err() {
                return;
            }
        }
    });
    while let Some(bytes) = receiver.recv().await {
        if stdout.write(bytes).await.is_err() {
            return BROKEN_PIPE;
        }
    }
    u8::from(reading.await.is_err())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_call_hangs_or_loses_bytes_under_random_kills() {
    let mut running = JoinSet::new();
    for which in 0..4 {
        let build = builder(&Counters::default()).host_tool("relay", relay);
        let sandbox = Arc::new(build.build().expect("the sandbox is built"));
        for _ in 0..3 {
            let sandbox = Arc::clone(&sandbox);
            running.spawn(async move {
                for round in 0..6 {
                    let whole = "seq 1 20000 | relay | upper | relay | count";
                    prints(&sandbox, whole, "108894\n").await;
                    // 0 would mean unlimited.
                    let delay = 1 + (which * 7 + round * 3) % 20;
                    let cut =
                        format!("timeout 0.0{delay:02} sh -c 'yes | relay | upper | relay | cat' | wc -c >/dev/null");
                    run(&sandbox, &cut).await;
                    run(&sandbox, "yes | relay | head -1; gush | relay | count 100000; hang & kill $!; wait").await;
                }
            });
        }
    }
    let all = async { while running.join_next().await.transpose().expect("no command failed").is_some() {} };
    tokio::time::timeout(Duration::from_secs(100), all).await.expect("no call hangs");
}
