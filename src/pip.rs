//! `pip install` in the sandbox: the host fetches, the sandbox unpacks.

use std::fs;
use std::path::PathBuf;

use futures_channel::oneshot;
use tidebox_core::HostCall;
use tidebox_packs::{PYTHON, PackError, WheelSource, fetch_wheels};
use tidebox_vfs_backend::SandboxBuilder;

/// What `pip` in the sandbox calls, which has the same name in `packs/python/_tidebox/packages.py`.
const COMMAND: &str = "tidebox-packages";

/// Packages that one call may name.
const NAMES: usize = 100;

/// Bytes of all wheels of one call together.
const BYTES: u64 = 256 << 20;

/// Lets programs of a sandbox install packages for Python.
pub trait PipExt {
    /// Makes `pip install NAME` work in the sandbox: this machine's own `pip` fetches the wheels and what they need, holds each to
    /// the hash that its index has for it, and hands them into the sandbox, where they are unpacked as files of its user. Only
    /// wheels without compiled code are taken, and only names and versions are passed on. Without this the command says
    /// that packages cannot be fetched, and how to allow it.
    ///
    /// The sandbox still has no network of its own. What it can do is to have this machine ask the index for names that it
    /// chooses, so do not allow it where even a name must not leave.
    #[must_use]
    fn pip(self, source: WheelSource) -> Self;
}

impl PipExt for SandboxBuilder {
    fn pip(self, source: WheelSource) -> Self {
        self.host_tool(COMMAND, move |call| answer(call, source.clone()))
    }
}

async fn answer(mut call: HostCall, source: WheelSource) -> u8 {
    match install(&mut call, source).await {
        Ok(()) => 0,
        Err(message) => {
            // Whoever no longer reads it does not want to know.
            let _ = call.stderr.write(format!("ERROR: {message}\n")).await;
            1
        }
    }
}

/// Fetches what the call names and puts the wheels into the directory that it names first.
async fn install(call: &mut HostCall, source: WheelSource) -> Result<(), String> {
    let arguments = call.arguments.iter().skip(1).map(|bytes| String::from_utf8(bytes.clone()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>().map_err(|_| "a name is not UTF-8")?;
    let (folder, names) = arguments
        .split_first()
        .filter(|(_, names)| !names.is_empty() && names.len() <= NAMES)
        .ok_or_else(|| format!("{COMMAND} DIRECTORY NAME... takes 1 to {NAMES} packages; `pip install` calls it"))?;
    let names = names.to_vec();
    let (done, fetched) = oneshot::channel();
    // The package client may take minutes, and guests are polled in this thread.
    std::thread::Builder::new()
        .name("tidebox-pip".to_owned())
        .spawn(move || {
            // When the call was given up, nobody wants them.
            let _ = done.send(wheels(&names, &source));
        })
        .map_err(|error| format!("the host cannot start a thread: {error}"))?;
    let wheels = fetched.await.map_err(|_| "the host gave up")?.map_err(|error| error.to_string())?;
    for (file, bytes) in wheels {
        call.files.write(format!("{folder}/{file}"), bytes).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The names of wheels and their bytes.
fn wheels(names: &[String], source: &WheelSource) -> Result<Vec<(String, Vec<u8>)>, PackError> {
    let told = |path: PathBuf, error: std::io::Error| PackError::new(format!("{}: {error}", path.display()));
    let folder = tempfile::tempdir().map_err(|error| told(std::env::temp_dir(), error))?;
    let mut all = 0;
    let mut wheels = Vec::new();
    for pin in fetch_wheels(folder.path(), names, &PYTHON, source)? {
        let path = folder.path().join(&pin.file);
        let bytes = fs::read(&path).map_err(|error| told(path, error))?;
        all += bytes.len() as u64;
        if all > BYTES {
            return Err(PackError::new(format!("the packages are larger than {} MiB together", BYTES >> 20)));
        }
        wheels.push((pin.file, bytes));
    }
    Ok(wheels)
}
