//! Where a case works, and the steps that cases share.
//!
//! Files are set up and looked at by transfers, so that a wrong `write` fails the cases of `write` and not all of them.

use super::capabilities::Capabilities;
use super::fault::{Fault, Verdict, text};
use crate::backend::{FileResult, SandboxBackend};
use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode, Result};
use crate::execute::{ExecuteRequest, ExecuteResponse};
use crate::file::{Content, ReadRequest, ReadResponse};
use crate::path::SandboxPath;
use crate::transfer::Upload;

/// The place and the means of one case.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) backend: &'a dyn SandboxBackend,
    pub(super) capabilities: &'a Capabilities,
    /// A directory for this case alone. It is there only once something was put into it.
    pub(super) dir: SandboxPath,
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        backend: &'a dyn SandboxBackend,
        capabilities: &'a Capabilities,
        root: &SandboxPath,
        case: &str,
    ) -> Verdict<Self> {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name: String = case.chars().map(plain).take(80).collect();
        let dir = SandboxPath::parse(root.join(format!("conformance-{name}").as_bytes()))?;
        Ok(Self { backend, capabilities, dir })
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.capabilities.dialect
    }

    /// The path of a name below the directory.
    pub(super) fn path(&self, name: impl AsRef<[u8]>) -> Verdict<SandboxPath> {
        Ok(SandboxPath::parse(self.dir.join(name.as_ref()))?)
    }

    /// The same as bytes, for transfers and for what searches return.
    pub(super) fn full(&self, name: impl AsRef<[u8]>) -> Vec<u8> {
        self.dir.join(name.as_ref())
    }

    /// Deletes the directory with everything in it.
    pub(super) async fn clear(&self) -> Verdict {
        if self.capabilities.execute && !self.capabilities.fresh_shell {
            // A shell that lasts is still in it.
            self.backend.execute(ExecuteRequest::new("cd /")).await?;
        }
        match self.backend.delete(&self.dir).await? {
            Ok(_) => Ok(()),
            Err(error) if error.code == FileErrorCode::FileNotFound => Ok(()),
            Err(error) => Err(Fault::new("the directory of the case can be deleted", error.message)),
        }
    }

    pub(super) async fn put(&self, name: impl AsRef<[u8]>, content: impl Into<Vec<u8>>) -> Verdict {
        self.put_all(vec![(name.as_ref().to_vec(), content.into())]).await
    }

    pub(super) async fn put_all(&self, files: Vec<(Vec<u8>, Vec<u8>)>) -> Verdict {
        let count = files.len();
        let files = files.into_iter().map(|(name, content)| Upload::new(self.full(name), content)).collect();
        let results = self.backend.upload_files(files).await?;
        if results.len() != count {
            return Err(Fault::new(format!("{count} results of an upload"), results.len().to_string()));
        }
        for result in results {
            result.result?;
        }
        Ok(())
    }

    /// Makes files of one content.
    pub(super) async fn put_names(&self, names: &[&str], content: &str) -> Verdict {
        self.put_all(names.iter().map(|name| (name.as_bytes().to_vec(), content.into())).collect()).await
    }

    /// Makes a directory that is empty.
    pub(super) async fn make_dir(&self, name: &str) -> Verdict {
        let inside = format!("{name}/x");
        self.put(&inside, "").await?;
        self.backend.delete(&self.path(inside)?).await??;
        Ok(())
    }

    pub(super) async fn get(&self, name: impl AsRef<[u8]>) -> Verdict<Vec<u8>> {
        let mut results = self.backend.download_files(vec![self.full(name)]).await?;
        match (results.pop(), results.is_empty()) {
            (Some(download), true) => Ok(download.result?),
            _ => Err(Fault::new("one result of a download", "another number")),
        }
    }

    pub(super) async fn get_text(&self, name: impl AsRef<[u8]>) -> Verdict<String> {
        Ok(text(&self.get(name).await?))
    }

    /// Whether a file can be downloaded.
    pub(super) async fn is_there(&self, name: impl AsRef<[u8]>) -> Verdict<bool> {
        let results = self.backend.download_files(vec![self.full(name)]).await?;
        Ok(results.first().is_some_and(|download| download.result.is_ok()))
    }

    pub(super) async fn read(&self, name: impl AsRef<[u8]>) -> Verdict<ReadResponse> {
        Ok(self.backend.read(ReadRequest::new(self.path(name)?)).await??)
    }

    pub(super) async fn read_page(&self, name: &str, offset: u64, limit: u64) -> Verdict<ReadResponse> {
        let request = ReadRequest::new(self.path(name)?).with_offset(offset).with_limit(limit);
        Ok(self.backend.read(request).await??)
    }

    /// Runs a command in the directory, which is made where it is not there.
    pub(super) async fn sh(&self, command: &str) -> Verdict<ExecuteResponse> {
        Ok(self.backend.execute(self.request(command)).await?)
    }

    /// The request that [`sh`](Self::sh) runs. The directory is entered by the command itself, because not every backend
    /// takes a working directory.
    pub(super) fn request(&self, command: &str) -> ExecuteRequest {
        let dir = quoted(&self.dir.to_text());
        ExecuteRequest::new(format!("mkdir -p {dir} && cd {dir} || exit 99\n{command}"))
    }

    /// The output of a command that must succeed.
    pub(super) async fn output(&self, command: &str) -> Verdict<String> {
        let response = self.sh(command).await?;
        // An unknown exit code is no failure.
        if response.exit_code.unwrap_or(0) != 0 {
            let seen = format!("exit code {:?}: {}", response.exit_code, response.output_text());
            return Err(Fault::new(format!("`{command}` succeeds"), seen));
        }
        Ok(response.output_text().into_owned())
    }
}

/// The refusal of an operation that must be refused.
pub(super) fn refused<T: std::fmt::Debug>(what: &str, answer: Result<FileResult<T>>) -> Verdict<FileError> {
    match answer? {
        Err(error) => Ok(error),
        Ok(done) => Err(Fault::new(format!("{what} is refused"), format!("success: {done:?}"))),
    }
}

/// The text of a page that must be text.
pub(super) fn page_text(response: &ReadResponse) -> Verdict<&str> {
    match &response.content {
        Content::Text(text) => Ok(text),
        Content::Binary(bytes) => Err(Fault::new("text", format!("{} bytes of a binary file", bytes.len()))),
    }
}

/// A word that the shell takes literally.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
