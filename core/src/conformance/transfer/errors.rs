//! Failed transfers, which must not affect the other files of the request.

use super::super::capabilities::Requirement::{Execute, Modes};
use super::super::case::{Case, cases};
use super::super::context::CaseContext;
use super::super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::transfer::{TransferCode, Upload};

pub(in super::super) const CASES: &[Case] = cases![
    "upload_files: a relative path is invalid" [] upload_relative;
    "upload_files: an empty path and one with a NUL byte are invalid" [] upload_invalid;
    "upload_files: a directory is not replaced by a file" [] upload_directory;
    "upload_files: one failed file does not affect others" [] upload_partial;
    "upload_files: a file without write permission is rejected" [Modes, Execute] upload_mode;
    "download_files: a missing file is `file_not_found`" [] missing;
    "download_files: a directory is `is_directory`" [] directory;
    "download_files: a relative path is invalid" [] relative;
    "download_files: an empty path and one with a NUL byte are invalid" [] invalid;
    "download_files: one failed path does not affect others" [] partial;
    "download_files: a file without read permission is rejected" [Modes, Execute] mode;
];

/// Returns the error code of the upload of one file, `None` on success.
async fn upload(context: &CaseContext<'_>, path: &[u8]) -> CaseResult<Option<TransferCode>> {
    let results = context.backend.upload_files(vec![Upload::new(path, "x")]).await?;
    match results.as_slice() {
        [one] => Ok(one.result.as_ref().err().map(|error| error.code.transfer_code())),
        other => Err(CaseFailure::new("one result", format!("{other:?}"))),
    }
}

async fn download(context: &CaseContext<'_>, path: &[u8]) -> CaseResult<Option<TransferCode>> {
    let results = context.backend.download_files(vec![path.to_vec()]).await?;
    match results.as_slice() {
        [one] => Ok(one.result.as_ref().err().map(|error| error.code.transfer_code())),
        other => Err(CaseFailure::new("one result", format!("{other:?}"))),
    }
}

async fn upload_relative(context: &CaseContext<'_>) -> CaseResult {
    for path in ["relative.txt", "./relative.txt", "../relative.txt", "~/relative.txt"] {
        check_eq(path, &upload(context, path.as_bytes()).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn upload_invalid(context: &CaseContext<'_>) -> CaseResult {
    for path in [Vec::new(), context.full("a\0b")] {
        check_eq("the code", &upload(context, &path).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn upload_directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "kept").await?;
    check_eq("the code", &upload(context, &context.full("d")).await?, &Some(TransferCode::IsDirectory))?;
    check_eq("the file in the directory", &context.get_text("d/a").await?, &"kept")
}

async fn upload_partial(context: &CaseContext<'_>) -> CaseResult {
    let paths = [context.full("first"), b"relative".to_vec(), context.full("last")];
    let files = paths.iter().map(|path| Upload::new(path.clone(), "x")).collect();
    let results = context.backend.upload_files(files).await?;
    let done: Vec<bool> = results.iter().map(|result| result.result.is_ok()).collect();
    check_eq("the successes", &done, &vec![true, false, true])?;
    check_eq("the last file", &context.get_text("last").await?, &"x")
}

async fn upload_mode(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "kept").await?;
    context.output("chmod 444 a").await?;
    let code = upload(context, &context.full("a")).await?;
    context.output("chmod 644 a").await?;
    check_eq("the code", &code, &Some(TransferCode::PermissionDenied))?;
    check_eq("the file", &context.get_text("a").await?, &"kept")
}

async fn missing(context: &CaseContext<'_>) -> CaseResult {
    check_eq("the code", &download(context, &context.full("nothing")).await?, &Some(TransferCode::FileNotFound))
}

async fn directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    check_eq("the code", &download(context, &context.full("d")).await?, &Some(TransferCode::IsDirectory))
}

async fn relative(context: &CaseContext<'_>) -> CaseResult {
    for path in ["relative.txt", "./relative.txt", "../etc/passwd", "~/relative.txt"] {
        check_eq(path, &download(context, path.as_bytes()).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn invalid(context: &CaseContext<'_>) -> CaseResult {
    for path in [Vec::new(), context.full("a\0b")] {
        check_eq("the code", &download(context, &path).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn partial(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    let paths = vec![context.full("nothing"), b"relative".to_vec(), context.full("a")];
    let results = context.backend.download_files(paths).await?;
    let contents: Vec<Option<String>> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    check_eq("the contents", &contents, &vec![None, None, Some("x".to_owned())])
}

async fn mode(context: &CaseContext<'_>) -> CaseResult {
    context.output("echo secret > a; chmod 000 a").await?;
    let results = context.backend.download_files(vec![context.full("a")]).await?;
    context.output("chmod 644 a").await?;
    let codes: Vec<_> = results.iter().map(|got| got.result.as_ref().err().map(|e| e.code.transfer_code())).collect();
    check("one error, `permission_denied`", codes == [Some(TransferCode::PermissionDenied)], &codes)
}
