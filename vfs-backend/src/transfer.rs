//! The host putting files in and getting files out.

use std::borrow::Cow;

use tidebox_core::{Download, FileError, FileResult, SandboxPath, Upload, UploadResult};
use tidebox_kernel::{Errno, Kernel};

use crate::USER;
use crate::file::{self, READ};
use crate::refusal::refusal;

/// Every file that begins like this is a program.
pub(crate) const WASM_MAGIC: &[u8] = b"\0asm";

/// Who may execute: everybody.
const EXECUTABLE: u32 = 0o111;

pub(crate) fn upload(kernel: &mut Kernel, upload: Upload) -> UploadResult {
    let result = parse(&upload.path).and_then(|path| {
        // A WebAssembly module becomes executable, so that `./tool.wasm` works at once.
        let executable = upload.content.starts_with(WASM_MAGIC);
        place(kernel, &path, &upload.content, executable)
    });
    UploadResult { path: upload.path, result }
}

/// Writes a file as the user.
pub(crate) fn place(kernel: &mut Kernel, path: &SandboxPath, content: &[u8], executable: bool) -> FileResult<()> {
    let put = file::put(kernel, path, content, true)?;
    if executable {
        let now = kernel.now();
        let fs = kernel.fs_mut();
        let executable = fs.stat(put.ino).and_then(|stat| fs.chmod(&USER, put.ino, stat.mode | EXECUTABLE, now));
        executable.map_err(|errno| refusal(errno, path.as_bytes()))?;
    }
    Ok(())
}

pub(crate) fn download(kernel: &Kernel, path: Vec<u8>) -> Download {
    let result = parse(&path).and_then(|parsed| {
        let (ino, _) = file::open(kernel.fs(), parsed.as_bytes(), READ)?;
        let contents = kernel.fs().contents(ino).map_err(|errno| refusal(errno, &path))?;
        Ok(Cow::into_owned(contents.load().map_err(|errno| refusal(errno, &path))?))
    });
    Download { path, result }
}

/// Relative paths are invalid: who transfers is outside, and has no working directory.
fn parse(path: &[u8]) -> Result<SandboxPath, FileError> {
    // A slash at the end asks for a directory, and a directory is not what is transferred.
    if path.len() > 1 && path.ends_with(b"/") {
        return Err(refusal(Errno::Isdir, path));
    }
    SandboxPath::parse(path)
}
