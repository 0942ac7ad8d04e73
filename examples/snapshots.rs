//! Tries two changes from one snapshot, compares them, saves the better one to a file and creates a new sandbox from it.

use tidebox::{ExecuteRequest, Result, Sandbox, SandboxBackend, Snapshot};

async fn run(sandbox: &Sandbox, command: &str) -> Result<String> {
    let response = sandbox.execute(ExecuteRequest::new(command)).await?;
    Ok(response.into_success()?.stdout_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let sandbox = tidebox::sandbox()?.file("words.txt", "pear\napple\nfig\n").build()?;
    let start = sandbox.snapshot()?;

    // Two concurrent attempts, each in a fork that shares its files with this sandbox.
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

    // Save it as a snapshot file, and as a tar archive that other programs can read.
    let file = sorted.snapshot()?.to_bytes();
    let later = tidebox::sandbox()?.snapshot_bytes(&file)?.build()?;
    assert_eq!(run(&later, "cat words.txt state").await?, "apple\nfig\npear\ndone\n");
    let mut tar = Vec::new();
    later.snapshot()?.to_tar(&mut tar).expect("memory takes everything");
    let unpacked = tidebox::sandbox()?.tar(tar).build()?;
    assert_eq!(run(&unpacked, "ls").await?, "state\nwords.txt\n");
    Ok(())
}
