//! A host directory, with one of the host's shells.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidebox::{
    BoxFuture, Dialect, Download, Error, ErrorKind, ExecuteResponse, FileError, FileErrorCode, FileFuture, FileResult,
    Result, SandboxPath, Upload, UploadResult,
};
use tidebox_core::shell_backend::{ChunkSink, ShellTransport};

use crate::derived::ShellHost;

/// Returns the path of a host program by its name.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

#[derive(Debug)]
pub(crate) struct Local {
    shell: PathBuf,
    dir: PathBuf,
    /// Directory with links to busybox, so that no other tools are found.
    applets: Option<tempfile::TempDir>,
    dialect: Dialect,
    temporary: AtomicU64,
}

impl Local {
    pub(crate) fn new(shell: PathBuf, dir: PathBuf, dialect: Dialect) -> Self {
        let applets = shell.ends_with("busybox").then(|| {
            let applets = tempfile::tempdir().expect("a temporary dir");
            crate::applets(&shell, applets.path());
            applets
        });
        Self { shell, dir, applets, dialect, temporary: AtomicU64::new(0) }
    }

    fn run(&self, command: &str) -> Result<ExecuteResponse> {
        if command.contains('\0') {
            return Err(Error::new(ErrorKind::InvalidRequest, "execute", "a command has no NUL byte"));
        }
        let mut shell = Command::new(&self.shell);
        if let Some(applets) = &self.applets {
            shell.arg("sh").env("PATH", applets.path());
        }
        let started = Instant::now();
        let output = shell.args(["-c", command]).current_dir(&self.dir).stdin(Stdio::null()).output();
        let output = output.expect("the shell starts");
        let mut response = ExecuteResponse::default();
        response.output = [output.stdout.as_slice(), &output.stderr].concat();
        (response.stdout, response.stderr) = (output.stdout, output.stderr);
        response.exit_code = output.status.code();
        response.duration = started.elapsed();
        Ok(response)
    }

    fn upload(&self, upload: &Upload) -> FileResult<()> {
        let path = local(&upload.path)?;
        let refused = |error: std::io::Error| refused(&error, &upload.path);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).map_err(refused)?;
        }
        std::fs::write(path, &upload.content).map_err(refused)
    }

    fn download(&self, given: &[u8]) -> FileResult<Vec<u8>> {
        let path = local(given)?;
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(FileError::with_code(FileErrorCode::NotARegularFile, given));
        }
        std::fs::read(path).map_err(|error| refused(&error, given))
    }
}

fn local(path: &[u8]) -> FileResult<&Path> {
    use std::os::unix::ffi::OsStrExt as _;
    SandboxPath::parse(path)?;
    if path.ends_with(b"/") {
        return Err(FileError::with_code(FileErrorCode::IsDirectory, path));
    }
    Ok(Path::new(std::ffi::OsStr::from_bytes(path)))
}

fn refused(error: &std::io::Error, path: &[u8]) -> FileError {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => FileErrorCode::FileNotFound,
        std::io::ErrorKind::IsADirectory => FileErrorCode::IsDirectory,
        std::io::ErrorKind::NotADirectory | std::io::ErrorKind::AlreadyExists => FileErrorCode::NotADirectory,
        std::io::ErrorKind::PermissionDenied => FileErrorCode::PermissionDenied,
        _ => FileErrorCode::InvalidPath,
    };
    FileError::with_code(code, path)
}

impl ShellTransport for Local {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn is_binary_safe(&self) -> bool {
        true
    }

    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        self.execute(script, time)
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: ChunkSink<'a>) -> FileFuture<'a, ()> {
        Box::pin(async move {
            let mut file = match local(path.as_bytes()).map(std::fs::File::open) {
                Ok(Ok(file)) => file,
                Ok(Err(error)) => return Ok(Err(refused(&error, path.as_bytes()))),
                Err(error) => return Ok(Err(error)),
            };
            let mut chunk = vec![0; 10_000];
            loop {
                let got = file.read(&mut chunk).expect("the file is readable");
                if got == 0 || !sink(&chunk[..got]) {
                    return Ok(Ok(()));
                }
            }
        })
    }

    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> FileFuture<'a, ()> {
        Box::pin(async move { Ok(self.upload(&Upload::new(path.as_bytes(), content))) })
    }

    fn temporary_path(&self) -> SandboxPath {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let name = format!("/tmp/derived-{}-{number}", std::process::id());
        SandboxPath::parse(name).expect("the path is absolute")
    }
}

impl ShellHost for Local {
    fn execute(&self, command: String, _: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move { self.run(&command) })
    }

    fn put(&self, upload: Upload) -> BoxFuture<'_, Result<UploadResult>> {
        Box::pin(async move {
            let result = self.upload(&upload);
            Ok(UploadResult { path: upload.path, result })
        })
    }

    fn get(&self, path: Vec<u8>) -> BoxFuture<'_, Result<Download>> {
        Box::pin(async move {
            let result = self.download(&path);
            Ok(Download { path, result })
        })
    }
}
