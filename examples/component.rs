//! Adds a component of WASI 0.2 to a sandbox: an ordinary Rust program, built with `cargo build --release --target
//! wasm32-wasip2`. Its source is `userland/example-component`, and `cargo xtask userland` builds it.

use std::time::Duration;

use tidebox::{ExecuteRequest, Limits, SandboxBackend, StopReason, Upload};

const COMPONENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/userland/dist/totals.component.wasm");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let component = std::fs::read(COMPONENT)?;
    let mut limits = Limits::default();
    limits.process_memory_bytes = 64 << 20;
    let sandbox = tidebox::sandbox()?.limits(limits).tool("totals", component.clone()).build()?;

    // A component is a command like any other: it works in pipelines and sees the files of the sandbox.
    let command =
        "printf 'fig,2\\napple,5\\nfig,7\\n' | tee sales.csv | totals | sort -t, -k2n; totals sales.csv | wc -l";
    let response = sandbox.execute(ExecuteRequest::new(command)).await?;
    assert_eq!(response.stdout_text(), "apple,5\nfig,9\n2\n");

    // It has an exit code, and its messages are on standard error.
    let response = sandbox.execute(ExecuteRequest::new("echo fig | totals")).await?;
    assert_eq!(response.exit_code, Some(1));
    assert_eq!(response.stderr_text(), "totals: cannot read \"fig\" as NAME,NUMBER\n");

    // Limits apply to it as to every process: here it waits for input without end.
    let request = ExecuteRequest::new("sleep 60 | totals").with_timeout(Duration::from_millis(200));
    assert_eq!(sandbox.execute(request).await?.stopped_by, Some(StopReason::Timeout));

    // An uploaded component runs by its path. The first start compiles it.
    sandbox.upload_files(vec![Upload::new("/workspace/mine", component)]).await?;
    let response = sandbox.execute(ExecuteRequest::new("./mine sales.csv /etc/shadow")).await?;
    assert_eq!((response.exit_code, response.stdout_text().as_ref()), (Some(1), ""));
    assert!(response.stderr_text().starts_with("totals: /etc/shadow: "), "{}", response.stderr_text());
    Ok(())
}
