//! What cannot be transferred, and does not stop the others.

use super::super::capabilities::Need::{Execute, Modes};
use super::super::case::{Case, cases};
use super::super::fault::{Fault, Verdict, holds, same, text};
use super::super::ground::Ground;
use crate::transfer::{TransferCode, Upload};

pub(in super::super) const CASES: &[Case] = cases![
    "upload_files: a relative path is invalid" [] upload_relative;
    "upload_files: an empty path and one with a NUL byte are invalid" [] upload_invalid;
    "upload_files: a directory is not replaced by a file" [] upload_directory;
    "upload_files: one file that fails stops no other" [] upload_partial;
    "upload_files: a file that may not be written is refused" [Modes, Execute] upload_mode;
    "download_files: a file that is not there is `file_not_found`" [] missing;
    "download_files: a directory is `is_directory`" [] directory;
    "download_files: a relative path is invalid" [] relative;
    "download_files: an empty path and one with a NUL byte are invalid" [] invalid;
    "download_files: one path that fails stops no other" [] partial;
    "download_files: a file that may not be read is refused" [Modes, Execute] mode;
];

/// The code of an upload of one file, `None` when it went.
async fn upload(ground: &Ground<'_>, path: &[u8]) -> Verdict<Option<TransferCode>> {
    let results = ground.backend.upload_files(vec![Upload::new(path, "x")]).await?;
    match results.as_slice() {
        [one] => Ok(one.result.as_ref().err().map(|error| error.code.transfer_code())),
        other => Err(Fault::new("one result", format!("{other:?}"))),
    }
}

async fn download(ground: &Ground<'_>, path: &[u8]) -> Verdict<Option<TransferCode>> {
    let results = ground.backend.download_files(vec![path.to_vec()]).await?;
    match results.as_slice() {
        [one] => Ok(one.result.as_ref().err().map(|error| error.code.transfer_code())),
        other => Err(Fault::new("one result", format!("{other:?}"))),
    }
}

async fn upload_relative(ground: &Ground<'_>) -> Verdict {
    for path in ["relative.txt", "./relative.txt", "../relative.txt", "~/relative.txt"] {
        same(path, &upload(ground, path.as_bytes()).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn upload_invalid(ground: &Ground<'_>) -> Verdict {
    for path in [Vec::new(), ground.full("a\0b")] {
        same("the code", &upload(ground, &path).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn upload_directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "kept").await?;
    same("the code", &upload(ground, &ground.full("d")).await?, &Some(TransferCode::IsDirectory))?;
    same("the file in the directory", &ground.get_text("d/a").await?, &"kept")
}

async fn upload_partial(ground: &Ground<'_>) -> Verdict {
    let paths = [ground.full("first"), b"relative".to_vec(), ground.full("last")];
    let files = paths.iter().map(|path| Upload::new(path.clone(), "x")).collect();
    let results = ground.backend.upload_files(files).await?;
    let done: Vec<bool> = results.iter().map(|result| result.result.is_ok()).collect();
    same("which went", &done, &vec![true, false, true])?;
    same("the last file", &ground.get_text("last").await?, &"x")
}

async fn upload_mode(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "kept").await?;
    ground.output("chmod 444 a").await?;
    let code = upload(ground, &ground.full("a")).await?;
    ground.output("chmod 644 a").await?;
    same("the code", &code, &Some(TransferCode::PermissionDenied))?;
    same("the file", &ground.get_text("a").await?, &"kept")
}

async fn missing(ground: &Ground<'_>) -> Verdict {
    same("the code", &download(ground, &ground.full("nothing")).await?, &Some(TransferCode::FileNotFound))
}

async fn directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    same("the code", &download(ground, &ground.full("d")).await?, &Some(TransferCode::IsDirectory))
}

async fn relative(ground: &Ground<'_>) -> Verdict {
    for path in ["relative.txt", "./relative.txt", "../etc/passwd", "~/relative.txt"] {
        same(path, &download(ground, path.as_bytes()).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn invalid(ground: &Ground<'_>) -> Verdict {
    for path in [Vec::new(), ground.full("a\0b")] {
        same("the code", &download(ground, &path).await?, &Some(TransferCode::InvalidPath))?;
    }
    Ok(())
}

async fn partial(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    let paths = vec![ground.full("nothing"), b"relative".to_vec(), ground.full("a")];
    let results = ground.backend.download_files(paths).await?;
    let contents: Vec<Option<String>> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    same("the contents", &contents, &vec![None, None, Some("x".to_owned())])
}

async fn mode(ground: &Ground<'_>) -> Verdict {
    ground.output("echo secret > a; chmod 000 a").await?;
    let results = ground.backend.download_files(vec![ground.full("a")]).await?;
    ground.output("chmod 644 a").await?;
    let codes: Vec<_> = results.iter().map(|got| got.result.as_ref().err().map(|e| e.code.transfer_code())).collect();
    holds("one refusal, `permission_denied`", codes == [Some(TransferCode::PermissionDenied)], &codes)
}
