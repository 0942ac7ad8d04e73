//! Uploads and downloads of files by the host.

use std::borrow::Cow;

use tidebox_core::{Download, FileError, FileResult, SandboxPath, Upload, UploadResult};
use tidebox_kernel::{Errno, Kernel};

use crate::USER;
use crate::file::{self, READ};
use crate::file_error::file_error;

/// A file with this prefix is a program.
pub(crate) const WASM_MAGIC: &[u8] = b"\0asm";

/// Execute permission for everyone.
const EXECUTABLE: u32 = 0o111;

pub(crate) fn upload(kernel: &mut Kernel, upload: Upload) -> UploadResult {
    let result = parse(&upload.path).and_then(|path| {
        // A WebAssembly module becomes executable, so that `./tool.wasm` works without chmod.
        let executable = upload.content.starts_with(WASM_MAGIC);
        write_upload(kernel, &path, &upload.content, executable)
    });
    UploadResult { path: upload.path, result }
}

/// Writes a file as the user.
pub(crate) fn write_upload(
    kernel: &mut Kernel,
    path: &SandboxPath,
    content: &[u8],
    executable: bool,
) -> FileResult<()> {
    let put = file::write_file(kernel, path, content, true)?;
    if executable {
        let now = kernel.now();
        let fs = kernel.fs_mut();
        let executable = fs.stat(put.ino).and_then(|stat| fs.chmod(&USER, put.ino, stat.mode | EXECUTABLE, now));
        executable.map_err(|errno| file_error(errno, path.as_bytes()))?;
    }
    Ok(())
}

pub(crate) fn download(kernel: &Kernel, path: Vec<u8>) -> Download {
    let result = parse(&path).and_then(|parsed| {
        let (ino, _) = file::open(kernel.fs(), parsed.as_bytes(), READ)?;
        let contents = kernel.fs().contents(ino).map_err(|errno| file_error(errno, &path))?;
        Ok(Cow::into_owned(contents.load().map_err(|errno| file_error(errno, &path))?))
    });
    Download { path, result }
}

/// Relative paths are invalid: a transfer has no working directory.
fn parse(path: &[u8]) -> Result<SandboxPath, FileError> {
    // A trailing slash denotes a directory, and directories are not transferred.
    if path.len() > 1 && path.ends_with(b"/") {
        return Err(file_error(Errno::Isdir, path));
    }
    SandboxPath::parse(path)
}
