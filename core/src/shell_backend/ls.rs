//! Listing a directory.

use super::reply::ask;
use super::script::Script;
use super::walk::{Depth, Listing, list};
use super::{SCRIPT_TIME, ShellHost};
use crate::backend::FileResult;
use crate::error::{Error, ErrorKind, FileError, FileErrorCode, Result};
use crate::file::LsResponse;
use crate::path::SandboxPath;

/// [`crate::SandboxBackend::ls`], from one script.
///
/// # Errors
/// Those of the host, and [`ErrorKind::Protocol`] when the listing did not arrive whole.
pub async fn ls<H: ShellHost + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<LsResponse>> {
    let script = list(Script::new().set("p", path.as_bytes()), Depth::One);
    let reply = match ask(host, "ls", script, SCRIPT_TIME).await? {
        Ok(reply) => reply,
        Err(FileErrorCode::FileNotFound) if host.dialect().missing_directory_is_empty() => {
            return Ok(Ok(LsResponse::default()));
        }
        Err(code) => return Ok(Err(FileError::at_root(code, path.as_bytes()))),
    };
    let listing = Listing::parse(reply);
    if !listing.whole {
        let message = "the list did not arrive whole; list a part of the directory with a command";
        return Err(Error::new(ErrorKind::Protocol, "ls", message).with_context("path", path.to_string()));
    }
    let entries = listing.entries.into_iter().map(|entry| {
        let path = path.join(&entry.name);
        entry.info(path)
    });
    Ok(Ok(LsResponse { entries: entries.collect() }))
}
