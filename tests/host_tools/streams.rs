//! Large output, large input, and pipes without a reader or writer.

use super::*;

#[tokio::test]
async fn a_gigabyte_writer_ends_when_its_reader_exits() {
    let seen = Counters::default();
    let sandbox = builder(&seen).build().expect("the sandbox is built");
    prints(&sandbox, "gush | head -1; echo ${PIPESTATUS[0]}", "y\n141\n").await;
    let gushed = seen.gushed.load(Ordering::Relaxed);
    assert!(gushed < 10_000_000, "{gushed} bytes were written");
}

#[tokio::test]
async fn a_slow_reader_blocks_the_writer() {
    let seen = Counters::default();
    let sandbox = builder(&seen).build().expect("the sandbox is built");
    prints(&sandbox, "gush | { sleep 0.3; head -c 2; }", "y\n").await;
    let gushed = seen.gushed.load(Ordering::Relaxed);
    assert!(gushed < 1_000_000, "{gushed} bytes were written to somebody who slept");
    prints(&sandbox, "gush 20000000 | wc -c", "20000000\n").await;
}

#[tokio::test]
async fn an_endless_writer_ends_when_the_tool_stops_reading() {
    let sandbox = sandbox();
    prints(&sandbox, "yes | count 1000; echo ${PIPESTATUS[0]}", "1000\n141\n").await;
    prints(&sandbox, "yes | code 0; echo ${PIPESTATUS[0]}", "141\n").await;
    prints(&sandbox, "gush | count 3000000; gush | upper | head -1", "3000000\nY\n").await;
}

#[tokio::test]
async fn output_over_the_limit_is_dropped_and_reported() {
    let limits = limited(|limits| limits.output_bytes = 5000);
    let sandbox = builder(&Counters::default()).limits(limits).build().expect("the sandbox is built");
    let response = run(&sandbox, "gush 2000000").await;
    assert_eq!((response.stdout.len(), response.truncated, response.exit_code), (5000, true, Some(0)));
}

#[tokio::test]
async fn a_full_file_system_is_reported_to_tool_and_user() {
    let limits = limited(|limits| limits.single_file_bytes = 100_000);
    let sandbox = builder(&Counters::default()).limits(limits).build().expect("the sandbox is built");
    let response = run(&sandbox, "gush > f; echo $?; wc -c < f; gush > /dev/full; echo $?").await;
    assert_eq!(response.stdout_text(), "141\n100000\n141\n");
    assert_eq!(
        response.stderr_text(),
        "gush: standard output: File too large\ngush: standard output: No space left on device\n"
    );
}

#[tokio::test]
async fn an_endless_writer_to_captured_output_times_out() {
    let sandbox = builder(&Counters::default())
        .limits(limited(|limits| limits.output_bytes = 100_000))
        .host_tool("endless", |mut call| async move {
            loop {
                if call.stdout.write("y\n").await.is_err() {
                    return BROKEN_PIPE;
                }
            }
        })
        .build()
        .expect("the sandbox is built");
    let request = ExecuteRequest::new("endless").with_timeout(std::time::Duration::from_millis(300));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.truncated), (Some(124), true));
    let beside = run(&sandbox, "endless & for i in 1 2 3; do echo $i >&2; done; kill $!").await;
    assert_eq!(beside.stderr_text(), "1\n2\n3\n");
}
