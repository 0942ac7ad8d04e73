//! Puts a file into a new sandbox, runs a pipeline over it, and gets a file out.

use tidebox::{ExecuteRequest, SandboxBackend, Upload};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    let sandbox = tidebox::sandbox()?.build()?;
    sandbox.upload_files(vec![Upload::new("/workspace/fruit.csv", "pear,3\napple,5\nfig,9\n")]).await?;

    let request = ExecuteRequest::new("sort fruit.csv | tee sorted.csv | cut -d, -f1 | head -2");
    let response = sandbox.execute(request).await?;
    assert_eq!(response.exit_code, Some(0));
    assert_eq!(response.stdout_text(), "apple\nfig\n");

    // Commands, transfers and file operations see the same files.
    let files = sandbox.download_files(vec!["/workspace/sorted.csv".into()]).await?;
    assert_eq!(files[0].result.as_deref(), Ok(&b"apple,5\nfig,9\npear,3\n"[..]));
    Ok(())
}
