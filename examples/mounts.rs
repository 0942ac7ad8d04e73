//! Mounts host directories and other file systems in a sandbox, and shows a sandbox to programs that use `vfs`.

use std::io::Write;
use std::sync::Arc;

use tidebox::{ExecuteRequest, MountExt, MountMode, Sandbox, SandboxBackend, SandboxFs};
use vfs::{FileSystem, MemoryFS, VfsPath};

async fn output(sandbox: &Sandbox, command: &str) -> tidebox::Result<String> {
    Ok(sandbox.execute(ExecuteRequest::new(command)).await?.output_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let repo = tempfile::tempdir()?;
    std::fs::write(repo.path().join("main.c"), "int main() { return 1; }\n")?;

    // Changes by the agent stay in the sandbox.
    let sandbox = tidebox::sandbox()?.mount_host(repo.path(), "/workspace/repo", MountMode::CopyOnWrite)?.build()?;
    let changed =
        output(&sandbox, "cd repo && sed -i 's/return 1/return 0/' main.c && rm -rf .git && cat main.c").await?;
    assert_eq!(changed, "int main() { return 0; }\n");
    assert_eq!(std::fs::read_to_string(repo.path().join("main.c"))?, "int main() { return 1; }\n");

    // Read-only.
    let sandbox = tidebox::sandbox()?.mount_host(repo.path(), "/repo", MountMode::ReadOnly)?.build()?;
    let rejected = output(&sandbox, "echo x > /repo/main.c").await?;
    assert!(rejected.contains("Read-only file system"), "{rejected}");

    // A file system of the `vfs` crate, here one in memory, that both sides write.
    let shared = Arc::new(VfsPath::new(MemoryFS::new()));
    let memory: Arc<dyn FileSystem> = Arc::new(vfs::AltrootFS::new((*shared).clone()));
    let sandbox = Arc::new(tidebox::sandbox()?.mount_vfs(memory, "/shared", MountMode::ReadWrite).build()?);
    shared.join("question")?.create_file()?.write_all(b"6 * 7\n")?;
    output(&sandbox, "echo $(( $(cat /shared/question) )) > /shared/answer").await?;
    assert_eq!(shared.join("answer")?.read_to_string()?, "42\n");

    // The sandbox as such a file system.
    let files: VfsPath = SandboxFs::at_dir(Arc::clone(&sandbox), "/workspace").into();
    files.join("notes.txt")?.create_file()?.write_all(b"from the application\n")?;
    assert_eq!(output(&sandbox, "cat notes.txt").await?, "from the application\n");
    Ok(())
}
