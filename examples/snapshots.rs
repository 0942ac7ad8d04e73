//! Tries two ways from one point, compares them, keeps the better one in a file and begins a new sandbox with it.

use tidebox::{ExecuteRequest, Result, Sandbox, SandboxBackend, Snapshot};

async fn run(sandbox: &Sandbox, command: &str) -> Result<String> {
    let response = sandbox.execute(ExecuteRequest::new(command)).await?;
    Ok(response.success()?.stdout_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let sandbox = tidebox::sandbox()?.file("words.txt", "pear\napple\nfig\n").build()?;
    let start = sandbox.snapshot()?;

    // Two attempts at once, each in a sandbox of its own that shares the bytes with this one.
    let (sorted, broken) = (sandbox.fork()?, sandbox.fork()?);
    run(&sorted, "sort -o words.txt words.txt && echo done > state").await?;
    run(&broken, "rm words.txt").await?;
    assert_eq!(run(&sandbox, "cat words.txt").await?, "pear\napple\nfig\n");

    let change = Snapshot::diff(&start, &sorted.snapshot()?);
    let patch = String::from_utf8_lossy(&change.to_patch()).into_owned();
    assert!(patch.contains("+++ b/workspace/state") && patch.contains("+done"), "{patch}");

    // The second attempt goes back to the start.
    broken.restore(&start)?;
    assert_eq!(run(&broken, "wc -l < words.txt").await?.trim(), "3");

    // Kept as one file, and as a tar that every program reads.
    let file = sorted.snapshot()?.to_bytes();
    let later = tidebox::sandbox()?.snapshot_bytes(&file)?.build()?;
    assert_eq!(run(&later, "cat words.txt state").await?, "apple\nfig\npear\ndone\n");
    let mut tar = Vec::new();
    later.snapshot()?.to_tar(&mut tar).expect("memory takes everything");
    let unpacked = tidebox::sandbox()?.tar(tar).build()?;
    assert_eq!(run(&unpacked, "ls").await?, "state\nwords.txt\n");
    Ok(())
}
