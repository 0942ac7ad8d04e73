//! Runs a script of races, randomness and waiting twice, and gets the same bytes.

use tidebox::{ExecuteRequest, ExecuteResponse, Result, SandboxBackend};

/// 2026-11-21, in nanoseconds since 1970.
const TODAY: u64 = 1_795_219_200_000_000_000;

const SCRIPT: &str = "
    date
    for n in 1 2 3 4; do (for i in 1 2 3; do echo job $n, line $i; sleep 0.$RANDOM; done >> log) & done
    wait
    mv log $(mktemp -p . log.XXXXXX)
    timeout 60 sleep 86400 || date
    ls -lai --full-time; cat log.*
    od -An -N8 -tx1 /dev/urandom
";

async fn run(seed: u64) -> Result<(ExecuteResponse, Vec<u8>)> {
    let sandbox = tidebox::sandbox()?.deterministic(seed, TODAY).build()?;
    let response = sandbox.execute(ExecuteRequest::new(SCRIPT)).await?;
    Ok((response, sandbox.snapshot()?.to_bytes()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (response, files) = run(1).await?;
    assert_eq!(run(1).await?, (response.clone(), files.clone()));
    assert_ne!(run(2).await?.0.stdout, response.stdout);
    // A minute of the sandbox's clock took no real time.
    assert!(response.stdout_text().contains("00:01:0"), "{}", response.output_text());
    Ok(())
}
