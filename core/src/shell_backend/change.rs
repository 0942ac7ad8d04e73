//! Writing, editing and deleting.

use super::reply::ask;
use super::script::{Script, octal};
use super::view::look;
use super::{EDIT_BYTES, SCRIPT_TIME, ShellHost};
use crate::backend::FileResult;
use crate::edit::{Edit, replace};
use crate::error::{FileError, FileErrorCode, Result};
use crate::file::{DeleteResponse, EditRequest, EditResponse, WriteRequest, WriteResponse};
use crate::path::SandboxPath;

/// Content up to this size is part of the script. One argument of a program may be 128 KiB on Linux, all of them 64 KiB at
/// one provider, and a byte takes up to four.
const SMALL_BYTES: usize = 12 * 1024;

/// Makes the directories above and refuses what no file can be written to; then `content` writes.
const MAY_WRITE: &str = r#"
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

/// [`crate::SandboxBackend::write`]: one script, and one transfer before it when the content is longer than 12 KiB.
///
/// # Errors
/// Those of the host.
pub async fn write<H: ShellHost + ?Sized>(host: &H, request: &WriteRequest) -> Result<FileResult<WriteResponse>> {
    let keep = !host.dialect().write_replaces();
    let written = put(host, "write", &request.path, &request.content, Existing { keep, there: false }).await?;
    Ok(written.map(|created| WriteResponse { path: request.path.clone(), created }))
}

/// What a file that is there, or is not, means to a write.
#[derive(Clone, Copy)]
struct Existing {
    /// One that is there is refused.
    keep: bool,
    /// One that is not there is refused.
    there: bool,
}

/// Writes a file and tells whether it is new.
async fn put<H: ShellHost + ?Sized>(
    host: &H,
    operation: &'static str,
    path: &SandboxPath,
    content: &[u8],
    existing: Existing,
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
    Ok(match ask(host, operation, script.lines(MAY_WRITE), SCRIPT_TIME).await? {
        Ok(mut reply) => Ok(reply.field() == Some(b"1")),
        Err(code) => Err(FileError::refused(code, path.as_bytes())),
    })
}

/// [`crate::SandboxBackend::edit`]: the file is read, changed here, and written.
///
/// # Errors
/// Those of the host.
pub async fn edit<H: ShellHost + ?Sized>(host: &H, request: &EditRequest) -> Result<FileResult<EditResponse>> {
    let path = &request.path;
    let look = match look(host, "edit", path).await? {
        Ok(look) => look,
        Err(code) => return Ok(Err(FileError::refused(code, path.as_bytes()))),
    };
    if look.size > EDIT_BYTES {
        let message =
            format!("File '{path}' has {} bytes; the limit is {EDIT_BYTES}. Change it with a command", look.size);
        return Ok(Err(FileError::new(FileErrorCode::TooLarge, message)));
    }
    let bytes = match look.content {
        Some(content) => content,
        None => match whole(host, path).await? {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        },
    };
    let replaced = match changed(&bytes, request, host) {
        Ok(replaced) => replaced,
        Err(error) => return Ok(Err(error)),
    };
    let existing = Existing { keep: false, there: true };
    let written = put(host, "edit", path, replaced.text.as_bytes(), existing).await?;
    Ok(written.map(|_| EditResponse { path: path.clone(), occurrences: replaced.occurrences }))
}

fn changed<H: ShellHost + ?Sized>(bytes: &[u8], request: &EditRequest, host: &H) -> FileResult<crate::edit::Replaced> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(FileError::refused(FileErrorCode::NotText, request.path.as_bytes()));
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

async fn whole<H: ShellHost + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = usize::try_from(EDIT_BYTES).unwrap_or(usize::MAX);
    let mut take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        bytes.len() <= most
    };
    Ok(host.fetch(path, &mut take).await?.map(|()| bytes))
}

/// [`crate::SandboxBackend::delete`], from one script.
///
/// # Errors
/// Those of the host.
pub async fn delete<H: ShellHost + ?Sized>(host: &H, path: &SandboxPath) -> Result<FileResult<DeleteResponse>> {
    if path.name() == b".." {
        return Ok(Err(FileError::refused(FileErrorCode::InvalidPath, path.as_bytes())));
    }
    let script = Script::new().set("p", path.as_bytes()).lines(
        r#"[ "$p" != / ] || refuse permission_denied
[ -e "$p" ] || [ -L "$p" ] || lost "$p"
rm -rf -- "$p"
[ ! -e "$p" ] && [ ! -L "$p" ] || refuse permission_denied
say ok"#,
    );
    Ok(match ask(host, "delete", script, SCRIPT_TIME).await? {
        Ok(_) => Ok(DeleteResponse { path: path.clone() }),
        Err(code) => Err(FileError::refused(code, path.as_bytes())),
    })
}
