//! Open files.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::{SandboxPath, Upload};

use super::rpc::{CallResult, RpcConnection};
use super::{error, path};

/// Open files by client number.
#[derive(Debug, Default)]
pub(super) struct Handles {
    next: u64,
    open: BTreeMap<u64, OpenFile>,
}

/// An open file: its content, with writes applied. Written back when it is closed.
#[derive(Clone, Debug)]
struct OpenFile {
    path: SandboxPath,
    content: Vec<u8>,
    at: usize,
    append: bool,
    writable: bool,
    changed: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Options {
    read: Option<bool>,
    write: Option<bool>,
    append: Option<bool>,
    truncate: Option<bool>,
    create: Option<bool>,
    create_new: Option<bool>,
    mode: Option<u64>,
}

fn is(flag: Option<bool>) -> bool {
    flag.unwrap_or_default()
}

impl RpcConnection {
    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock()
    }

    /// `open` and `create`
    pub(super) async fn open(&self, method: &str, params: &Value) -> CallResult {
        let name = path(params["path"].as_str().unwrap_or_default())?;
        let options: Options = if method == "create" {
            Options {
                read: Some(true),
                write: Some(true),
                create: Some(true),
                truncate: Some(true),
                ..Options::default()
            }
        } else {
            serde_json::from_value(params["options"].clone()).unwrap_or_default()
        };
        let writable = is(options.write) || is(options.append);
        let there = self.read(&name).await;
        let is_new = there.is_err();
        let content = match there {
            Ok(_) if is(options.create_new) => {
                return Err(error("AlreadyExists", "EEXIST", "File exists (os error 17)"));
            }
            Ok(_) if is(options.truncate) => Vec::new(),
            Ok(content) => content,
            Err(missing) if missing["code"] == "ENOENT" && (is(options.create) || is(options.create_new)) => Vec::new(),
            Err(file_error) => return Err(file_error),
        };
        if writable {
            // Check write permission now, as the service does.
            self.put(&name, content.clone()).await?;
            if is_new && let Some(mode) = options.mode {
                self.chmod(&name, mode).await?;
            }
        }
        let mut handles = self.handles();
        handles.next += 1;
        let number = handles.next;
        let open = OpenFile { path: name, content, at: 0, append: is(options.append), writable, changed: false };
        handles.open.insert(number, open);
        Ok(json!({ "fileHandleId": number }))
    }

    /// Handles calls for an open file.
    pub(super) async fn handle_call(&self, method: &str, params: &Value) -> Option<CallResult> {
        let number = params["fileHandleId"].as_u64().unwrap_or_default();
        let bad = || error("BadResource", "EBADF", "Bad file descriptor (os error 9)");
        if method == "fileClose" || method == "fileSync" || method == "fileSyncData" {
            let open = {
                let mut handles = self.handles();
                if method == "fileClose" { handles.open.remove(&number) } else { handles.open.get(&number).cloned() }
            };
            return Some(match open {
                Some(open) if open.changed => self.put(&open.path, open.content).await.map(|()| Value::Null),
                Some(_) => Ok(Value::Null),
                None => Err(bad()),
            });
        }
        if method == "fileStat" || method == "fileUtime" {
            let Some(open) = self.handles().open.get(&number).cloned() else { return Some(Err(bad())) };
            return Some(self.file_attributes(method, open, number, params).await);
        }
        let mut handles = self.handles();
        let open = handles.open.get_mut(&number);
        Some(match (method, open) {
            ("fileRead" | "fileWrite" | "fileSeek" | "fileTruncate", None) => Err(bad()),
            ("fileRead", Some(open)) => Ok(open.read(params["length"].as_u64().unwrap_or(65_536))),
            ("fileWrite", Some(open)) if !open.writable => Err(bad()),
            ("fileWrite", Some(open)) => {
                let data = params["data"].as_str().and_then(|data| BASE64.decode(data).ok()).unwrap_or_default();
                open.write(&data);
                Ok(json!({ "bytesWritten": data.len() }))
            }
            ("fileSeek", Some(open)) => open.seek(params),
            ("fileTruncate", Some(open)) => {
                // The clients name it differently.
                let length = params["len"].as_u64().or_else(|| params["size"].as_u64());
                let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
                open.content.resize(length, 0);
                open.changed = true;
                Ok(Value::Null)
            }
            _ => return None,
        })
    }

    /// Handles `fileStat` and `fileUtime`, after writing back the file.
    async fn file_attributes(&self, method: &str, open: OpenFile, number: u64, params: &Value) -> CallResult {
        let name = open.path.to_text().into_owned();
        if open.changed {
            self.put(&open.path, open.content).await?;
            if let Some(open) = self.handles().open.get_mut(&number) {
                open.changed = false;
            }
        }
        match method {
            "fileStat" => self.stat(&name, true).await,
            _ => {
                let text = |field: &str| params[field].as_str().unwrap_or_default();
                self.set_times(&name, text("atime"), text("mtime")).await
            }
        }
    }

    /// Writes back open files when a client disconnects.
    pub(super) async fn close_files(&self) {
        let open = std::mem::take(&mut self.handles().open);
        for file in open.into_values().filter(|file| file.changed) {
            // No client is left to report an error to.
            let _ = self.put(&file.path, file.content).await;
        }
    }

    /// Writes a whole file. Parent directories are not created.
    pub(super) async fn put(&self, name: &SandboxPath, content: Vec<u8>) -> Result<(), Value> {
        let above = name.parent().unwrap_or_else(SandboxPath::root);
        match self.stat(&above.to_text(), true).await {
            Ok(stat) if stat["isDirectory"] == true => {}
            Ok(_) => return Err(error("NotADirectory", "ENOTDIR", "Not a directory (os error 20)")),
            Err(_) => return Err(self.absent(name).await),
        }
        let uploaded = self.sandbox.sandbox.upload_files(vec![Upload::new(name.as_bytes(), content)]).await;
        match uploaded.map(|mut results| results.pop().map(|result| result.result)) {
            Ok(Some(Ok(()))) => Ok(()),
            Ok(Some(Err(file_error))) => Err(super::files::file_error_json(&file_error)),
            Ok(None) => Err(error("Error", "EIO", "the backend returned no result for the file")),
            Err(failed) => Err(error("Error", "EIO", &failed.to_string())),
        }
    }
}

impl OpenFile {
    fn read(&mut self, length: u64) -> Value {
        let end = self.at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)).min(self.content.len());
        let chunk = self.content.get(self.at..end).unwrap_or_default();
        let data = if chunk.is_empty() { Value::Null } else { json!(BASE64.encode(chunk)) };
        self.at = end.max(self.at);
        json!({ "data": data })
    }

    fn write(&mut self, data: &[u8]) {
        if self.append {
            self.at = self.content.len();
        }
        let end = self.at + data.len();
        if self.content.len() < end {
            self.content.resize(end, 0);
        }
        if let Some(place) = self.content.get_mut(self.at..end) {
            place.copy_from_slice(data);
        }
        (self.at, self.changed) = (end, true);
    }

    fn seek(&mut self, params: &Value) -> CallResult {
        let offset = &params["offset"];
        let offset = offset.as_i64().or_else(|| offset.as_str()?.parse().ok()).unwrap_or_default();
        let from = match params["whence"].as_u64() {
            Some(1) => self.at,
            Some(2) => self.content.len(),
            _ => 0,
        };
        let to =
            i64::try_from(from).ok().and_then(|from| from.checked_add(offset)).and_then(|to| usize::try_from(to).ok());
        match to {
            Some(to) => {
                self.at = to;
                Ok(json!({ "position": to }))
            }
            None => Err(error("TypeError", "EINVAL", "Invalid argument (os error 22)")),
        }
    }
}
