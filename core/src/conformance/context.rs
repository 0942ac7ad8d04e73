//! The context of a case: its directory and shared steps.
//!
//! Files are created and checked by transfers, so that a wrong `write` fails only the cases of `write`.

use super::capabilities::Capabilities;
use super::failure::{CaseFailure, CaseResult, text};
use crate::backend::{FileResult, SandboxBackend};
use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode, Result};
use crate::execute::{ExecuteRequest, ExecuteResponse};
use crate::file::{Content, ReadRequest, ReadResponse};
use crate::path::SandboxPath;
use crate::transfer::Upload;

/// Context of one case.
#[derive(Debug)]
pub(super) struct CaseContext<'a> {
    pub(super) backend: &'a dyn SandboxBackend,
    pub(super) capabilities: &'a Capabilities,
    /// Directory for this case only. It does not exist until a file is created in it.
    pub(super) dir: SandboxPath,
}

impl<'a> CaseContext<'a> {
    pub(super) fn new(
        backend: &'a dyn SandboxBackend,
        capabilities: &'a Capabilities,
        root: &SandboxPath,
        case: &str,
    ) -> CaseResult<Self> {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name: String = case.chars().map(plain).take(80).collect();
        let dir = SandboxPath::parse(root.join(format!("conformance-{name}").as_bytes()))?;
        Ok(Self { backend, capabilities, dir })
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.capabilities.dialect
    }

    /// Returns the path of a name below the directory.
    pub(super) fn path(&self, name: impl AsRef<[u8]>) -> CaseResult<SandboxPath> {
        Ok(SandboxPath::parse(self.dir.join(name.as_ref()))?)
    }

    /// Like [`path`](Self::path), but as bytes, for transfers and for comparison with search results.
    pub(super) fn full(&self, name: impl AsRef<[u8]>) -> Vec<u8> {
        self.dir.join(name.as_ref())
    }

    /// Deletes the directory and its contents.
    pub(super) async fn clear(&self) -> CaseResult {
        if self.capabilities.execute && !self.capabilities.fresh_shell {
            // A persistent shell may still be in it.
            self.backend.execute(ExecuteRequest::new("cd /")).await?;
        }
        match self.backend.delete(&self.dir).await? {
            Ok(_) => Ok(()),
            Err(error) if error.code == FileErrorCode::FileNotFound => Ok(()),
            Err(error) => Err(CaseFailure::new("the directory of the case can be deleted", error.message)),
        }
    }

    pub(super) async fn put(&self, name: impl AsRef<[u8]>, content: impl Into<Vec<u8>>) -> CaseResult {
        self.put_all(vec![(name.as_ref().to_vec(), content.into())]).await
    }

    pub(super) async fn put_all(&self, files: Vec<(Vec<u8>, Vec<u8>)>) -> CaseResult {
        let count = files.len();
        let files = files.into_iter().map(|(name, content)| Upload::new(self.full(name), content)).collect();
        let results = self.backend.upload_files(files).await?;
        if results.len() != count {
            return Err(CaseFailure::new(format!("{count} results of an upload"), results.len().to_string()));
        }
        for result in results {
            result.result?;
        }
        Ok(())
    }

    /// Creates files with the same content.
    pub(super) async fn put_names(&self, names: &[&str], content: &str) -> CaseResult {
        self.put_all(names.iter().map(|name| (name.as_bytes().to_vec(), content.into())).collect()).await
    }

    /// Creates an empty directory.
    pub(super) async fn make_dir(&self, name: &str) -> CaseResult {
        let inside = format!("{name}/x");
        self.put(&inside, "").await?;
        self.backend.delete(&self.path(inside)?).await??;
        Ok(())
    }

    pub(super) async fn get(&self, name: impl AsRef<[u8]>) -> CaseResult<Vec<u8>> {
        let mut results = self.backend.download_files(vec![self.full(name)]).await?;
        match (results.pop(), results.is_empty()) {
            (Some(download), true) => Ok(download.result?),
            _ => Err(CaseFailure::new("one result of a download", "another number")),
        }
    }

    pub(super) async fn get_text(&self, name: impl AsRef<[u8]>) -> CaseResult<String> {
        Ok(text(&self.get(name).await?))
    }

    /// Returns whether a file can be downloaded.
    pub(super) async fn exists(&self, name: impl AsRef<[u8]>) -> CaseResult<bool> {
        let results = self.backend.download_files(vec![self.full(name)]).await?;
        Ok(results.first().is_some_and(|download| download.result.is_ok()))
    }

    pub(super) async fn read(&self, name: impl AsRef<[u8]>) -> CaseResult<ReadResponse> {
        Ok(self.backend.read(ReadRequest::new(self.path(name)?)).await??)
    }

    pub(super) async fn read_page(&self, name: &str, offset: u64, limit: u64) -> CaseResult<ReadResponse> {
        let request = ReadRequest::new(self.path(name)?).with_offset(offset).with_limit(limit);
        Ok(self.backend.read(request).await??)
    }

    /// Runs a command in the directory, which is created if missing.
    pub(super) async fn run(&self, command: &str) -> CaseResult<ExecuteResponse> {
        Ok(self.backend.execute(self.request(command)).await?)
    }

    /// Builds the request that [`run`](Self::run) executes. The command itself enters the directory, because not every backend
    /// accepts a working directory.
    pub(super) fn request(&self, command: &str) -> ExecuteRequest {
        let dir = quoted(&self.dir.to_text());
        ExecuteRequest::new(format!("mkdir -p {dir} && cd {dir} || exit 99\n{command}"))
    }

    /// Returns the output of a command that must succeed.
    pub(super) async fn output(&self, command: &str) -> CaseResult<String> {
        let response = self.run(command).await?;
        // An unknown exit code does not count as a failure.
        if response.exit_code.unwrap_or(0) != 0 {
            let actual = format!("exit code {:?}: {}", response.exit_code, response.output_text());
            return Err(CaseFailure::new(format!("`{command}` succeeds"), actual));
        }
        Ok(response.output_text().into_owned())
    }
}

/// Returns the error of an operation that must fail.
pub(super) fn expect_error<T: std::fmt::Debug>(what: &str, result: Result<FileResult<T>>) -> CaseResult<FileError> {
    match result? {
        Err(error) => Ok(error),
        Ok(done) => Err(CaseFailure::new(format!("{what} fails"), format!("success: {done:?}"))),
    }
}

/// Returns the text of a page that must be text.
pub(super) fn page_text(response: &ReadResponse) -> CaseResult<&str> {
    match &response.content {
        Content::Text(text) => Ok(text),
        Content::Binary(bytes) => Err(CaseFailure::new("text", format!("{} bytes of a binary file", bytes.len()))),
    }
}

/// Quotes a shell word so that the shell takes it literally.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
