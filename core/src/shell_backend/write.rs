//! Writing, editing and deleting.

use super::read::probe;
use super::reply::run_script;
use super::script::{Script, octal};
use super::{EDIT_BYTES, SCRIPT_TIMEOUT, ShellTransport};
use crate::backend::FileResult;
use crate::edit::{Edit, replace};
use crate::error::{FileError, FileErrorCode, Result};
use crate::file::{DeleteResponse, EditRequest, EditResponse, WriteRequest, WriteResponse};
use crate::path::SandboxPath;

/// Maximum size of content that is part of the script. On Linux one argument of a program is limited to 128 KiB, at one provider
/// all arguments together to 64 KiB, and a byte takes up to four.
const SMALL_BYTES: usize = 12 * 1024;

/// Creates the parent directories and rejects paths that cannot be written as files; then `content` writes.
const CHECK_WRITABLE_SCRIPT: &str = r#"
[ ! -d "$p" ] || refuse is_directory
if [ -e "$p" ]; then
  [ -f "$p" ] || refuse not_a_regular_file
  [ -z "$keep" ] || refuse already_exists
  [ -w "$p" ] || refuse permission_denied
  new=0
else
  [ -z "$there" ] || lost "$p"
  d=${p%/*}; [ -n "$d" ] || d=/
  if [ ! -d "$d" ]; then
    mkdir -p -- "$d" || { [ -d "$d" ] || [ -w "${d%/*}/" ] || lost "$d/x"; refuse permission_denied; }
  fi
  new=1
fi
( : >> "$p" ) || refuse permission_denied
content > "$p" || refuse no_space
say ok $new
"#;

/// Implements [`crate::SandboxBackend::write`] with one script, and one transfer before it if the content is longer than 12 KiB.
///
/// # Errors
/// Those of the transport.
pub async fn write<H: ShellTransport + ?Sized>(host: &H, request: &WriteRequest) -> Result<FileResult<WriteResponse>> {
    let keep = !host.dialect().write_replaces();
    let written =
        write_file(host, "write", &request.path, &request.content, ExistingPolicy { keep, there: false }).await?;
    Ok(written.map(|created| WriteResponse { path: request.path.clone(), created }))
}

/// Effect of an existing or a missing file on a write.
#[derive(Clone, Copy)]
struct ExistingPolicy {
    /// An existing file is an error.
    keep: bool,
    /// A missing file is an error.
    there: bool,
}

/// Writes a file and returns whether it was created.
async fn write_file<H: ShellTransport + ?Sized>(
    host: &H,
    operation: &'static str,
    path: &SandboxPath,
    content: &[u8],
    existing: ExistingPolicy,
) -> Result<FileResult<bool>> {
    let flag = |on: bool| if on { b"x".as_slice() } else { b"" };
    let script =
        Script::new().set("p", path.as_bytes()).set("keep", flag(existing.keep)).set("there", flag(existing.there));
    let script = if content.len() <= SMALL_BYTES {
        script.lines(&format!("content() {{ printf '{}'; }}", octal(content)))
    } else {
        let temporary = host.temporary_path();
        if let Err(error) = host.store(&temporary, content).await? {
            return Ok(Err(error));
        }
        script.set("t", temporary.as_bytes()).lines("trap 'rm -f -- \"$t\"' EXIT\ncontent() { cat -- \"$t\"; }")
    };
    Ok(match run_script(host, operation, script.lines(CHECK_WRITABLE_SCRIPT), SCRIPT_TIMEOUT).await? {
        Ok(mut reply) => Ok(reply.field() == Some(b"1")),
        Err(code) => Err(FileError::with_code(code, path.as_bytes())),
    })
}

/// Implements [`crate::SandboxBackend::edit`]: reads the file, changes it here, and writes it.
///
/// # Errors
/// Those of the transport.
pub async fn edit<H: ShellTransport + ?Sized>(host: &H, request: &EditRequest) -> Result<FileResult<EditResponse>> {
    let path = &request.path;
    let probe_result = match probe(host, "edit", path).await? {
        Ok(probe_result) => probe_result,
        Err(code) => return Ok(Err(FileError::with_code(code, path.as_bytes()))),
    };
    if probe_result.size > EDIT_BYTES {
        let message = format!(
            "File '{path}' has {} bytes; the limit is {EDIT_BYTES}. Change it with a command",
            probe_result.size
        );
        return Ok(Err(FileError::new(FileErrorCode::TooLarge, message)));
    }
    let bytes = match probe_result.content {
        Some(content) => content,
        None => match read_all(host, path).await? {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        },
    };
    let replaced = match apply_edit(&bytes, request, host) {
        Ok(replaced) => replaced,
        Err(error) => return Ok(Err(error)),
    };
    let existing = ExistingPolicy { keep: false, there: true };
    let written = write_file(host, "edit", path, replaced.text.as_bytes(), existing).await?;
    Ok(written.map(|_| EditResponse { path: path.clone(), occurrences: replaced.occurrences }))
}

fn apply_edit<H: ShellTransport + ?Sized>(
    bytes: &[u8],
    request: &EditRequest,
    host: &H,
) -> FileResult<crate::edit::EditResult> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(FileError::with_code(FileErrorCode::NotText, request.path.as_bytes()));
    };
    let wanted = Edit {
        old: &request.old,
        new: &request.new,
        replace_all: request.replace_all,
        dialect: host.dialect(),
        max_bytes: EDIT_BYTES,
    };
    replace(text, &wanted)
}

async fn read_all<H: ShellTransport + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<Vec<u8>>> {
    let mut bytes = Vec::new();
    let max_bytes = usize::try_from(EDIT_BYTES).unwrap_or(usize::MAX);
    let mut take = |chunk: &[u8]| {
        bytes.extend_from_slice(chunk);
        bytes.len() <= max_bytes
    };
    Ok(host.fetch(path, &mut take).await?.map(|()| bytes))
}

/// Implements [`crate::SandboxBackend::delete`] with one script.
///
/// # Errors
/// Those of the transport.
pub async fn delete<H: ShellTransport + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<DeleteResponse>> {
    if path.name() == b".." {
        return Ok(Err(FileError::with_code(FileErrorCode::InvalidPath, path.as_bytes())));
    }
    let script = Script::new().set("p", path.as_bytes()).lines(
        r#"[ "$p" != / ] || refuse permission_denied
[ -e "$p" ] || [ -L "$p" ] || lost "$p"
rm -rf -- "$p"
[ ! -e "$p" ] && [ ! -L "$p" ] || refuse permission_denied
say ok"#,
    );
    Ok(match run_script(host, "delete", script, SCRIPT_TIMEOUT).await? {
        Ok(_) => Ok(DeleteResponse { path: path.clone() }),
        Err(code) => Err(FileError::with_code(code, path.as_bytes())),
    })
}
