//! A large module of one sandbox, and another sandbox that starts a small one while the first one compiles.

use std::time::Duration;

use tidebox::{ExecuteRequest, Sandbox, SandboxBackend, StopReason, Upload};

/// Functions of the large module. In a debug build, compiling them takes minutes.
const FUNCTIONS: u32 = 150_000;

/// A module whose `_start` does nothing.
const SMALL: &[u8] =
    b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x0a\x01\x06_start\0\0\x0a\x04\x01\x02\0\x0b";

/// Appends an unsigned LEB128 number.
fn push_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn push_section(out: &mut Vec<u8>, id: u8, content: &[u8]) {
    out.push(id);
    push_number(out, u32::try_from(content.len()).expect("the section is small enough"));
    out.extend_from_slice(content);
}

/// A module of 47 MB, within all limits: the function that the export names, 150,000 times.
fn large_module() -> Vec<u8> {
    // One local of type i64, then `local 0 = local 0 * local 0 + 1`, and so on.
    let mut body = vec![1, 1, 0x7e];
    for _ in 0..31 {
        body.extend_from_slice(&[0x20, 0, 0x20, 0, 0x7e, 0x42, 1, 0x7c, 0x21, 0]);
    }
    body.push(0x0b);
    let mut functions = Vec::new();
    push_number(&mut functions, FUNCTIONS);
    functions.extend(std::iter::repeat_n(0, FUNCTIONS as usize));
    let mut code = Vec::new();
    push_number(&mut code, FUNCTIONS);
    for _ in 0..FUNCTIONS {
        push_number(&mut code, u32::try_from(body.len()).expect("the body is small"));
        code.extend_from_slice(&body);
    }
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    push_section(&mut module, 1, &[1, 0x60, 0, 0]);
    push_section(&mut module, 3, &functions);
    push_section(&mut module, 7, b"\x01\x06_start\0\0");
    push_section(&mut module, 10, &code);
    module
}

async fn sandbox_with(module: &[u8]) -> Sandbox {
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built");
    let uploaded = sandbox.upload_files(vec![Upload::new("/workspace/guest", module)]).await.expect("it responds");
    assert!(uploaded.iter().all(|file| file.result.is_ok()), "{uploaded:?}");
    sandbox
}

fn request() -> ExecuteRequest {
    ExecuteRequest::new("chmod +x guest; ./guest; echo $?")
}

/// Names of this process's threads that compile.
#[cfg(target_os = "linux")]
fn compiling_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux lists the threads");
    let is_compiling = |name: String| name.starts_with("tidebox-compile");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| is_compiling(name.clone()))
        .count()
}

/// While the large module of one sandbox compiles, the small one of another sandbox starts and ends. After the timeout of the
/// first command its compilation stops, so that the next large module does not wait for it.
pub(crate) fn hold() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let large = large_module();
        assert!(large.len() > 47_000_000, "{} bytes", large.len());
        let hostile = sandbox_with(&large).await;
        let neighbor = sandbox_with(SMALL).await;

        let mut first = Box::pin(hostile.execute(request().with_timeout(Duration::from_secs(3600))));
        // The compilation starts once the command is polled, and takes minutes.
        for _ in 0..200 {
            let waited = tokio::time::timeout(Duration::from_millis(5), &mut first).await;
            assert!(waited.is_err(), "the large module is still being compiled: {waited:?}");
        }
        let small = neighbor.execute(request()).await.expect("it responds");
        assert_eq!((small.output_text().as_ref(), small.exit_code), ("0\n", Some(0)));
        let waited = tokio::time::timeout(Duration::from_millis(1), &mut first).await;
        assert!(waited.is_err(), "the neighbor did not wait for the large module: {waited:?}");
        drop(first);

        let timed_out = hostile.execute(request().with_timeout(Duration::from_millis(300))).await.expect("it responds");
        assert_eq!((timed_out.exit_code, timed_out.stopped_by), (Some(124), Some(StopReason::Timeout)));
        #[cfg(target_os = "linux")]
        {
            // Each thread stops after its current step: hashing, rewriting, or one function.
            let mut waits = 0;
            while compiling_threads() > 0 {
                waits += 1;
                assert!(waits < 600, "an abandoned compilation continues");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    });
}
