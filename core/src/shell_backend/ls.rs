//! Listing a directory.

use super::reply::run_script;
use super::script::Script;
use super::walk::{Depth, Listing, list};
use super::{SCRIPT_TIMEOUT, ShellTransport};
use crate::backend::FileResult;
use crate::error::{Error, ErrorKind, FileError, FileErrorCode, Result};
use crate::file::LsResponse;
use crate::path::SandboxPath;

/// Implements [`crate::SandboxBackend::ls`] with one script.
///
/// # Errors
/// Those of the transport, and [`ErrorKind::Protocol`] if the listing is incomplete.
pub async fn ls<H: ShellTransport + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<LsResponse>> {
    let script = list(Script::new().set("p", path.as_bytes()), Depth::One);
    let reply = match run_script(host, "ls", script, SCRIPT_TIMEOUT).await? {
        Ok(reply) => reply,
        Err(FileErrorCode::FileNotFound) if host.dialect().missing_directory_is_empty() => {
            return Ok(Ok(LsResponse::default()));
        }
        Err(code) => return Ok(Err(FileError::for_search_root(code, path.as_bytes()))),
    };
    let listing = Listing::parse(reply);
    if !listing.complete {
        let message = "the listing is incomplete; list a part of the directory with a command";
        return Err(Error::new(ErrorKind::Protocol, "ls", message).with_context("path", path.to_string()));
    }
    let entries = listing.entries.into_iter().map(|entry| {
        let path = path.join(&entry.name);
        entry.info(path)
    });
    Ok(Ok(LsResponse { entries: entries.collect() }))
}
