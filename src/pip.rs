//! `pip install` in the sandbox: the host downloads, the sandbox unpacks.

use std::fs;
use std::path::PathBuf;

use futures_channel::oneshot;
use tidebox_core::HostCall;
use tidebox_packs::{PYTHON, PackError, WheelSource, fetch_wheels};
use tidebox_vfs_backend::SandboxBuilder;

/// Host tool that `pip` calls; the same name as in `packs/python/_tidebox/packages.py`.
const COMMAND: &str = "tidebox-packages";

/// Maximum number of packages per call.
const MAX_PACKAGES: usize = 100;

/// Maximum total size of the wheels of one call, in bytes.
const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// Adds `pip install` to a sandbox.
pub trait PipExt {
    /// Enables `pip install NAME` in the sandbox. The host's `pip` downloads the wheels and their dependencies, verifies the
    /// hashes of the index, and passes them to the sandbox, which unpacks them as files of its user. Only wheels without compiled
    /// code are accepted, and only names and versions are passed on. Without this option the command prints an error that
    /// explains how to enable it.
    ///
    /// The sandbox itself gets no network access. It can make the host query the index for names of its choice, so do not enable
    /// it if even a name must not leave the sandbox.
    #[must_use]
    fn pip(self, source: WheelSource) -> Self;
}

impl PipExt for SandboxBuilder {
    fn pip(self, source: WheelSource) -> Self {
        self.host_tool(COMMAND, move |call| handle_call(call, source.clone()))
    }
}

async fn handle_call(mut call: HostCall, source: WheelSource) -> u8 {
    match install(&mut call, source).await {
        Ok(()) => 0,
        Err(message) => {
            // The reader may have closed standard error.
            let _ = call.stderr.write(format!("ERROR: {message}\n")).await;
            1
        }
    }
}

/// Downloads the packages and writes the wheels into the directory given as the first argument.
async fn install(call: &mut HostCall, source: WheelSource) -> Result<(), String> {
    let arguments = call.arguments.iter().skip(1).map(|bytes| String::from_utf8(bytes.clone()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>().map_err(|_| "a name is not UTF-8")?;
    let (dir, names) =
        arguments.split_first().filter(|(_, names)| !names.is_empty() && names.len() <= MAX_PACKAGES).ok_or_else(
            || format!("usage: {COMMAND} DIRECTORY NAME... (1 to {MAX_PACKAGES} packages); called by `pip install`"),
        )?;
    let names = names.to_vec();
    let (done, result) = oneshot::channel();
    // `pip` may take minutes, and guests are polled on this thread.
    std::thread::Builder::new()
        .name("tidebox-pip".to_owned())
        .spawn(move || {
            // The receiver is dropped if the call was cancelled.
            let _ = done.send(wheels(&names, &source));
        })
        .map_err(|error| format!("cannot start a thread on the host: {error}"))?;
    let wheels =
        result.await.map_err(|_| "the download was aborted on the host")?.map_err(|error| error.to_string())?;
    for (file, bytes) in wheels {
        call.files.write(format!("{dir}/{file}"), bytes).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Returns the file names and bytes of the wheels.
fn wheels(names: &[String], source: &WheelSource) -> Result<Vec<(String, Vec<u8>)>, PackError> {
    let path_error = |path: PathBuf, error: std::io::Error| PackError::new(format!("{}: {error}", path.display()));
    let dir = tempfile::tempdir().map_err(|error| path_error(std::env::temp_dir(), error))?;
    let mut all = 0;
    let mut wheels = Vec::new();
    for pin in fetch_wheels(dir.path(), names, &PYTHON, source)? {
        let path = dir.path().join(&pin.file);
        let bytes = fs::read(&path).map_err(|error| path_error(path, error))?;
        all += bytes.len() as u64;
        if all > MAX_TOTAL_BYTES {
            return Err(PackError::new(format!("the packages exceed {} MiB in total", MAX_TOTAL_BYTES >> 20)));
        }
        wheels.push((pin.file, bytes));
    }
    Ok(wheels)
}
