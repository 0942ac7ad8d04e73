//! The program that Modal installs in every sandbox; its clients read and write files with it.

use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileError, FileErrorCode, FileKind, SandboxPath, Upload};
use tidebox_remote_adapters::modal::messages::ExitStatus;

use super::command::RunningCommand;
use crate::entries::{Attributes, attributes};
use crate::registry::SandboxRecord;

/// Command in its single argument.
#[derive(Debug, Deserialize)]
enum ToolCommand {
    WriteFile {
        path: String,
    },
    ReadFile {
        path: String,
    },
    ListFiles {
        path: String,
    },
    Stat {
        path: String,
    },
    Remove {
        path: String,
        #[serde(default)]
        recursive: bool,
    },
    MakeDirectory {
        path: String,
        #[serde(default)]
        parents: bool,
    },
}

/// Error code and message.
struct Failure(&'static str, String);

/// Runs the tool until it exits.
pub(super) async fn run(running: &RunningCommand, sandbox: &SandboxRecord, words: &[String]) -> ExitStatus {
    let order = words.get(1).map(|order| serde_json::from_str::<ToolCommand>(order));
    let done = match order {
        Some(Ok(order)) => run_command(running, sandbox, order).await,
        _ if words.get(1).is_some_and(|order| order.starts_with("{\"Watch\"")) => {
            Err(Failure("NotSupported", "Tidebox's emulator of Modal has no watches of files".to_owned()))
        }
        _ => Err(Failure("NotSupported", "Tidebox's emulator of Modal has no such operation on files".to_owned())),
    };
    match done {
        Ok(output) => {
            running.change(|state| state.stdout = output);
            ExitStatus::Code(0)
        }
        Err(Failure(kind, message)) => {
            let line = format!("{}\n", json!({ "error_kind": kind, "message": message }));
            running.change(|state| state.stderr = line.into_bytes());
            ExitStatus::Code(1)
        }
    }
}

async fn run_command(
    running: &RunningCommand,
    sandbox: &SandboxRecord,
    order: ToolCommand,
) -> Result<Vec<u8>, Failure> {
    match order {
        ToolCommand::WriteFile { path } => {
            let path = parse(&path)?;
            let content = running.input().await;
            let uploaded = sandbox.sandbox.upload_files(vec![Upload::new(path.as_bytes(), content)]).await;
            match uploaded.map_err(broken)?.pop().map(|file| file.result) {
                Some(Ok(())) => Ok(Vec::new()),
                Some(Err(error)) => Err(failure(&error)),
                None => Err(Failure("Other", "the backend returned no result for the file".to_owned())),
            }
        }
        ToolCommand::ReadFile { path } => {
            let path = parse(&path)?;
            let files = sandbox.sandbox.download_files(vec![path.as_bytes().to_vec()]).await;
            match files.map_err(broken)?.pop().map(|file| file.result) {
                Some(result) => result.map_err(|error| failure(&error)),
                None => Err(Failure("Other", "the backend returned no result for the file".to_owned())),
            }
        }
        ToolCommand::ListFiles { path } => list(sandbox, &parse(&path)?).await,
        ToolCommand::Stat { path } => match stat(sandbox, &parse(&path)?).await? {
            Some(info) => Ok(entry(&info).to_string().into_bytes()),
            None => Err(not_found()),
        },
        ToolCommand::Remove { path, recursive } => remove(sandbox, &parse(&path)?, recursive).await,
        ToolCommand::MakeDirectory { path, parents } => make_directory(sandbox, &parse(&path)?, parents).await,
    }
}

fn parse(path: &str) -> Result<SandboxPath, Failure> {
    SandboxPath::parse(path).map_err(|error| Failure("InvalidPath", error.message))
}

fn broken(error: tidebox_core::Error) -> Failure {
    Failure("Other", error.to_string())
}

fn not_found() -> Failure {
    Failure("NotFound", "No such file or directory".to_owned())
}

fn failure(error: &FileError) -> Failure {
    let kind = match error.code {
        FileErrorCode::FileNotFound => return not_found(),
        FileErrorCode::IsDirectory => "IsDirectory",
        FileErrorCode::NotADirectory => "NotDirectory",
        FileErrorCode::PermissionDenied => "PermissionDenied",
        FileErrorCode::TooLarge => "FileTooLarge",
        FileErrorCode::NoSpace => return Failure("Other", "No space left on device".to_owned()),
        _ => "Other",
    };
    Failure(kind, error.message.clone())
}

/// Returns the entry at a path; a symbolic link itself.
async fn stat(sandbox: &SandboxRecord, path: &SandboxPath) -> Result<Option<Attributes>, Failure> {
    let found = attributes(sandbox, path, 0).await.map_err(|message| Failure("Other", message))?;
    Ok(found.into_iter().next())
}

async fn list(sandbox: &SandboxRecord, path: &SandboxPath) -> Result<Vec<u8>, Failure> {
    match stat(sandbox, path).await? {
        None => return Err(not_found()),
        Some(info) if info.kind == FileKind::File => {
            return Err(Failure("NotDirectory", "Not a directory".to_owned()));
        }
        Some(_) => {}
    }
    // It reports a directory that cannot be read.
    sandbox.sandbox.ls(path).await.map_err(broken)?.map_err(|error| failure(&error))?;
    let found = attributes(sandbox, path, 1).await.map_err(|message| Failure("Other", message))?;
    let entries = found.iter().filter(|found| found.path != path.to_text());
    Ok(Value::from(entries.map(entry).collect::<Vec<_>>()).to_string().into_bytes())
}

fn entry(info: &Attributes) -> Value {
    let kind = match info.kind {
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::File | FileKind::Other => "file",
    };
    let modified = info.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let owner = info.owner(super::USER.name);
    json!({
        "name": info.name(),
        "path": info.path,
        "type": kind,
        "size": info.size,
        "mode": info.permissions(),
        "permissions": letters(info),
        "owner": owner,
        "group": owner,
        "modified_time": modified.as_secs_f64(),
        "symlink_target": info.target,
    })
}

/// Formats kind and permissions like `ls -l`.
fn letters(info: &Attributes) -> String {
    let kind = match info.kind {
        FileKind::Directory => 'd',
        FileKind::Symlink => 'l',
        FileKind::File | FileKind::Other => '-',
    };
    let bits = "rwxrwxrwx".chars().enumerate();
    let permissions = bits.map(|(at, letter)| if info.mode & (0o400 >> at) == 0 { '-' } else { letter });
    std::iter::once(kind).chain(permissions).collect()
}

async fn remove(sandbox: &SandboxRecord, path: &SandboxPath, recursive: bool) -> Result<Vec<u8>, Failure> {
    let info = stat(sandbox, path).await?.ok_or_else(not_found)?;
    if info.kind == FileKind::Directory && !recursive {
        let listed = sandbox.sandbox.ls(path).await.map_err(broken)?.map_err(|error| failure(&error))?;
        if !listed.entries.is_empty() {
            return Err(Failure("DirectoryNotEmpty", "Directory not empty".to_owned()));
        }
    }
    let deleted = sandbox.sandbox.delete(path).await.map_err(broken)?;
    deleted.map(|_| Vec::new()).map_err(|error| failure(&error))
}

async fn make_directory(sandbox: &SandboxRecord, path: &SandboxPath, parents: bool) -> Result<Vec<u8>, Failure> {
    match stat(sandbox, path).await? {
        Some(info) if info.kind == FileKind::Directory && parents => return Ok(Vec::new()),
        Some(_) => return Err(Failure("PathAlreadyExists", "File exists".to_owned())),
        None => {}
    }
    let above = path.parent().unwrap_or_else(SandboxPath::root);
    if !parents && stat(sandbox, &above).await?.is_none() {
        return Err(not_found());
    }
    let command = format!("mkdir -p -- {}", quote(&path.to_text()));
    let response = sandbox.sandbox.execute(ExecuteRequest::new(command)).await.map_err(broken)?;
    match response.exit_code {
        Some(0) => Ok(Vec::new()),
        _ => Err(Failure("NotDirectory", response.stderr_text().trim_end().to_owned())),
    }
}
