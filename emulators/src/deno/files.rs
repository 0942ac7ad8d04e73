//! File calls by path.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileError, FileErrorCode, FileInfo, FileKind, SandboxPath};

use super::rpc::{CallResult, RpcConnection};
use super::{error, path};
use crate::entries::{Attributes, stat, timestamp_millis};

/// A file error in the service's format.
pub(super) fn file_error_json(file_error: &FileError) -> Value {
    match file_error.code {
        FileErrorCode::FileNotFound => error("NotFound", "ENOENT", "No such file or directory (os error 2)"),
        FileErrorCode::PermissionDenied => error("PermissionDenied", "EACCES", "Permission denied (os error 13)"),
        FileErrorCode::IsDirectory => error("IsADirectory", "EISDIR", "Is a directory (os error 21)"),
        FileErrorCode::NotADirectory => error("NotADirectory", "ENOTDIR", "Not a directory (os error 20)"),
        FileErrorCode::NoSpace | FileErrorCode::TooLarge => {
            error("Error", "ENOSPC", "No space left on device (os error 28)")
        }
        _ => error("Error", "EINVAL", &file_error.message),
    }
}

fn stat_json(info: &Attributes) -> Value {
    let moment = timestamp_millis(info.modified);
    let type_bits = match info.kind {
        FileKind::Directory => 0o040_000,
        FileKind::Symlink => 0o120_000,
        FileKind::Other => 0o020_000,
        FileKind::File => 0o100_000,
    };
    let (file, directory, link) =
        (info.kind == FileKind::File, info.kind == FileKind::Directory, info.kind == FileKind::Symlink);
    json!({
        "isFile": file,
        "isDirectory": directory,
        "isSymlink": link,
        "size": info.size,
        "mtime": moment, "atime": moment, "birthtime": moment, "ctime": moment,
        "mode": type_bits | info.mode,
        "dev": 0, "ino": info.inode, "nlink": 1, "uid": info.uid, "gid": info.uid, "rdev": 0,
        "blksize": 4096, "blocks": info.size.div_ceil(512),
        "isBlockDevice": false, "isCharDevice": info.kind == FileKind::Other, "isFifo": false, "isSocket": false,
    })
}

impl RpcConnection {
    /// Handles a file call; `None` if the method is unknown.
    pub(super) async fn file_call(self: &Arc<Self>, method: &str, params: &Value) -> Option<CallResult> {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        Some(match method {
            "open" | "create" => self.open(method, params).await,
            "readFile" | "readTextFile" => self.read_file(text("path"), method == "readTextFile").await,
            "writeFile" | "writeTextFile" => self.write_file(params, method == "writeTextFile").await,
            "readDir" => self.read_dir(text("path")).await,
            "stat" | "lstat" => self.stat(text("path"), method == "stat").await,
            "mkdir" => self.mkdir(text("path"), params["options"]["recursive"] == true).await,
            "remove" => self.remove(text("path"), params["options"]["recursive"] == true).await,
            "rename" => self.two("mv -T --", text("oldPath"), text("newPath")).await,
            "copyFile" => self.two("cp --", text("fromPath"), text("toPath")).await,
            "link" => self.two("ln -T --", text("target"), text("path")).await,
            "walk" => self.walk(params).await,
            "expandGlob" => self.expand_glob(params).await,
            "makeTempFile" => self.make_temp("mktemp", &params["options"]).await,
            "makeTempDir" => self.make_temp("mktemp -d", &params["options"]).await,
            "truncate" => self.truncate(text("name"), params["length"].as_u64().unwrap_or_default()).await,
            "chown" => {
                let id = |name: &str| params[name].as_u64().map_or_else(String::new, |id| id.to_string());
                let owner = format!("{}:{}", id("uid"), id("gid"));
                self.shell(&format!("chown {owner} -- {}", quote(text("path")))).await.map(|_| Value::Null)
            }
            "utime" => self.set_times(text("path"), text("atime"), text("mtime")).await,
            "symlink" => self.two("ln -s --", text("target"), text("path")).await,
            "readLink" => self.printed("readlink --", text("path")).await,
            "realPath" => self.printed("realpath --", text("path")).await,
            "chmod" => {
                let mode = params["mode"].as_u64().unwrap_or_default();
                self.shell(&format!("chmod {mode:o} -- {}", quote(text("path")))).await.map(|_| Value::Null)
            }
            _ => return self.handle_call(method, params).await,
        })
    }

    /// Returns the content of a file.
    pub(super) async fn read(&self, name: &SandboxPath) -> Result<Vec<u8>, Value> {
        match self.sandbox.sandbox.download_files(vec![name.as_bytes().to_vec()]).await.map(|mut files| files.pop()) {
            Ok(Some(file)) => match file.result {
                Ok(content) => Ok(content),
                Err(file_error) => Err(file_error_json(&file_error)),
            },
            Ok(None) => Err(error("Error", "EIO", "the backend returned no result for the file")),
            Err(failed) => Err(error("Error", "EIO", &failed.to_string())),
        }
    }

    /// Returns the error for a missing file: a parent may be a file or unreadable.
    pub(super) async fn absent(&self, name: &SandboxPath) -> Value {
        let mut above = name.parent();
        while let Some(path) = above {
            match stat(&self.sandbox, &path).await {
                Some(info) if info.kind != FileKind::File => break,
                Some(_) => return error("NotADirectory", "ENOTDIR", "Not a directory (os error 20)"),
                None => above = path.parent(),
            }
        }
        error("NotFound", "ENOENT", "No such file or directory (os error 2)")
    }

    async fn read_file(&self, name: &str, as_text: bool) -> CallResult {
        let content = self.read(&path(name)?).await?;
        match as_text {
            false => Ok(json!(BASE64.encode(content))),
            true => String::from_utf8(content)
                .map(Value::String)
                .map_err(|_| error("TypeError", "EILSEQ", "stream did not contain valid UTF-8")),
        }
    }

    async fn write_file(&self, params: &Value, as_text: bool) -> CallResult {
        let name = path(params["path"].as_str().unwrap_or_default())?;
        let options = &params["options"];
        let content = match (params["contentStreamId"].as_u64(), params["content"].as_str()) {
            (Some(stream), _) => self.read_upload(stream).await?,
            (None, Some(text)) if as_text => text.as_bytes().to_vec(),
            (None, text) => BASE64
                .decode(text.unwrap_or_default())
                .map_err(|_| error("TypeError", "EINVAL", "the content is not base64"))?,
        };
        let (create_new, append) = (options["createNew"] == true, options["append"] == true);
        let mut before = Vec::new();
        // Most writes ignore existing content.
        if create_new || append || options["create"] == false {
            let there = stat(&self.sandbox, &name).await.is_some();
            if there && create_new {
                return Err(error("AlreadyExists", "EEXIST", "File exists (os error 17)"));
            }
            if !there && options["create"] == false {
                return Err(self.absent(&name).await);
            }
            if there && append {
                before = self.read(&name).await?;
            }
        }
        self.put(&name, [before, content].concat()).await?;
        match options["mode"].as_u64() {
            Some(mode) => self.chmod(&name, mode).await.map(|()| Value::Null),
            None => Ok(Value::Null),
        }
    }

    /// Sets the permission bits of a file.
    pub(super) async fn chmod(&self, name: &SandboxPath, mode: u64) -> CallResult<()> {
        self.shell(&format!("chmod {mode:o} -- {}", quote(&name.to_text()))).await.map(drop)
    }

    async fn make_temp(&self, command: &str, options: &Value) -> CallResult {
        let text = |name: &str| options[name].as_str().unwrap_or_default();
        let directory = path(if text("dir").is_empty() { "/tmp" } else { text("dir") })?.to_text().into_owned();
        let template = format!("{}/{}XXXXXXXX", directory.trim_end_matches('/'), text("prefix"));
        let suffix = format!("--suffix={}", text("suffix"));
        self.printed(&format!("{command} {} --", quote(&suffix)), &template).await
    }

    async fn truncate(&self, name: &str, length: u64) -> CallResult {
        let name = path(name)?;
        if stat(&self.sandbox, &name).await.is_none() {
            return Err(self.absent(&name).await);
        }
        self.shell(&format!("truncate -s {length} -- {}", quote(&name.to_text()))).await.map(|_| Value::Null)
    }

    /// Sets the access and modification times, given in RFC 3339.
    pub(super) async fn set_times(&self, name: &str, accessed: &str, modified: &str) -> CallResult {
        let name = path(name)?;
        if stat(&self.sandbox, &name).await.is_none() {
            return Err(self.absent(&name).await);
        }
        let name = quote(&name.to_text());
        let (accessed, modified) = (quote(accessed), quote(modified));
        let command = format!("touch -c -a -d {accessed} -- {name} && touch -c -m -d {modified} -- {name}");
        self.shell(&command).await.map(|_| Value::Null)
    }

    async fn read_dir(&self, name: &str) -> CallResult {
        let name = path(name)?;
        if self.stat(&name.to_text(), true).await?["isDirectory"] != true {
            return Err(error("NotADirectory", "ENOTDIR", "Not a directory (os error 20)"));
        }
        match self.sandbox.sandbox.ls(&name).await {
            Ok(Ok(listed)) => {
                let entry = |info: &FileInfo| {
                    let path = String::from_utf8_lossy(&info.path).into_owned();
                    json!({
                        "name": path.rsplit('/').next().unwrap_or_default(),
                        "isFile": info.kind == FileKind::File,
                        "isDirectory": info.is_dir(),
                        "isSymlink": info.kind == FileKind::Symlink,
                    })
                };
                Ok(listed.entries.iter().map(entry).collect())
            }
            Ok(Err(file_error)) => Err(file_error_json(&file_error)),
            Err(failed) => Err(error("Error", "EIO", &failed.to_string())),
        }
    }

    pub(super) async fn stat(&self, name: &str, follow: bool) -> CallResult {
        let mut name = path(name)?;
        if follow && let Ok(real) = self.printed("realpath --", &name.to_text()).await {
            name = path(real.as_str().unwrap_or_default())?;
        }
        match self.attributes(&name, 0).await?.first() {
            Some(info) => Ok(stat_json(info)),
            // The content of a directory without read permission is unknown.
            None => match self.read(&name).await {
                Err(file_error) => Err(file_error),
                Ok(_) => Err(self.absent(&name).await),
            },
        }
    }

    async fn mkdir(&self, name: &str, recursive: bool) -> CallResult {
        let name = path(name)?;
        match stat(&self.sandbox, &name).await {
            Some(info) if recursive && info.is_dir() => return Ok(Value::Null),
            Some(_) => return Err(error("AlreadyExists", "EEXIST", "File exists (os error 17)")),
            None => {}
        }
        let option = if recursive { "-p " } else { "" };
        self.shell(&format!("mkdir {option}-- {}", quote(&name.to_text()))).await.map(|_| Value::Null)
    }

    async fn remove(&self, name: &str, recursive: bool) -> CallResult {
        let name = path(name)?;
        let Some(info) = stat(&self.sandbox, &name).await else { return Err(self.absent(&name).await) };
        let command = match (info.is_dir(), recursive) {
            (_, true) => "rm -r --",
            (true, false) => "rmdir --",
            (false, false) => "rm --",
        };
        self.shell(&format!("{command} {}", quote(&name.to_text()))).await.map(|_| Value::Null)
    }

    async fn two(&self, command: &str, first: &str, second: &str) -> CallResult {
        self.shell(&format!("{command} {} {}", quote(first), quote(second))).await.map(|_| Value::Null)
    }

    async fn printed(&self, command: &str, name: &str) -> CallResult {
        let output = self.shell(&format!("{command} {}", quote(name))).await?;
        Ok(json!(output.strip_suffix('\n').unwrap_or(&output)))
    }

    /// Returns the output of a command, or its error output as a service error.
    pub(super) async fn shell(&self, command: &str) -> Result<String, Value> {
        let mut request = ExecuteRequest::new(command);
        request.cwd = SandboxPath::parse(super::HOME).ok();
        match self.sandbox.sandbox.execute(request).await {
            Ok(response) if response.exit_code == Some(0) => Ok(response.stdout_text().into_owned()),
            Ok(response) => {
                let received = response.stderr_text();
                let words = received.trim_end();
                let (class, code) = match words.rsplit(": ").next().unwrap_or_default() {
                    "No such file or directory" => ("NotFound", "ENOENT"),
                    "Operation not permitted" => ("PermissionDenied", "EPERM"),
                    "Permission denied" => ("PermissionDenied", "EACCES"),
                    "File exists" => ("AlreadyExists", "EEXIST"),
                    "Not a directory" => ("NotADirectory", "ENOTDIR"),
                    "Is a directory" => ("IsADirectory", "EISDIR"),
                    "Directory not empty" => ("Error", "ENOTEMPTY"),
                    "No space left on device" => ("Error", "ENOSPC"),
                    _ => ("Error", "EINVAL"),
                };
                Err(error(class, code, words))
            }
            Err(failed) => Err(error("Error", "EIO", &failed.to_string())),
        }
    }
}
