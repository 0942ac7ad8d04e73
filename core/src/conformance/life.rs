//! What a sandbox is from its beginning to its end.

use super::capabilities::Need::MayClose;
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same};
use super::ground::Ground;
use crate::error::{ErrorKind, Result};
use crate::execute::ExecuteRequest;
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::search::{GlobRequest, GrepRequest};
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "id: a sandbox has a name that is not empty and stays" [] stable_id;
];

/// Cases that end the sandbox.
pub(super) const CLOSING: &[Case] = cases![
    "close: a closed sandbox answers every method with the error closed, and may be closed twice" [MayClose] closed;
];

async fn stable_id(ground: &Ground<'_>) -> Verdict {
    let id = ground.backend.id().as_str().to_owned();
    holds("an id that is not empty", !id.is_empty(), &id)?;
    ground.put("a", "x").await?;
    same("the id after an operation", &ground.backend.id().as_str(), &id)
}

async fn closed(ground: &Ground<'_>) -> Verdict {
    let backend = ground.backend;
    let path = ground.path("a")?;
    ground.put("a", "x").await?;
    ground.clear().await?;
    backend.close().await?;
    backend.close().await?;
    is_closed("execute", backend.execute(ExecuteRequest::new("echo x")).await)?;
    let mut sink = |_| {};
    is_closed("execute_streaming", backend.execute_streaming(ExecuteRequest::new("echo x"), &mut sink).await)?;
    is_closed("ls", backend.ls(&ground.dir).await)?;
    is_closed("read", backend.read(ReadRequest::new(path.clone())).await)?;
    is_closed("write", backend.write(WriteRequest::new(path.clone(), "x")).await)?;
    is_closed("edit", backend.edit(EditRequest::new(path.clone(), "x", "y")).await)?;
    is_closed("delete", backend.delete(&path).await)?;
    is_closed("grep", backend.grep(GrepRequest::new("x", ground.dir.clone())).await)?;
    is_closed("glob", backend.glob(GlobRequest::new("*", ground.dir.clone())).await)?;
    is_closed("upload_files", backend.upload_files(vec![Upload::new(path.as_bytes(), "x")]).await)?;
    is_closed("download_files", backend.download_files(vec![path.as_bytes().to_vec()]).await)
}

fn is_closed<T: std::fmt::Debug>(method: &str, answer: Result<T>) -> Verdict {
    match answer {
        Err(error) if error.kind() == ErrorKind::Closed => Ok(()),
        Err(error) => Err(Fault::new(format!("{method} answers `closed`"), format!("{} ({error})", error.kind()))),
        Ok(answer) => Err(Fault::new(format!("{method} answers `closed`"), format!("{answer:?}"))),
    }
}
