//! Calls that walk directories: `walk` and `expandGlob`. Their entries arrive on a stream, one JSON object per chunk.

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{FileKind, SandboxPath};

use std::sync::Arc;

use super::rpc::{CallResult, RpcConnection};
use super::{HOME, absent_error, error, path};
use crate::entries::{Attributes, attributes};

/// Maximum depth of a walk without a depth.
const MAX_DEPTH: u32 = 1000;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Walk {
    max_depth: Option<u32>,
    include_files: Option<bool>,
    include_dirs: Option<bool>,
    include_symlinks: Option<bool>,
    follow_symlinks: Option<bool>,
    exts: Option<Vec<String>>,
    #[serde(rename = "match")]
    matches: Option<Vec<Value>>,
    skip: Option<Vec<Value>>,
}

impl Walk {
    fn includes(&self, entry: &Attributes) -> bool {
        let wanted = match entry.kind {
            FileKind::Directory => self.include_dirs,
            FileKind::Symlink => self.include_symlinks,
            FileKind::File | FileKind::Other => self.include_files,
        };
        let has_ending = |exts: &Vec<String>| exts.iter().any(|ext| entry.path.ends_with(ext));
        wanted.unwrap_or(true) && self.exts.as_ref().is_none_or(has_ending)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Glob {
    root: Option<String>,
    exclude: Option<Vec<String>>,
    include_dirs: Option<bool>,
    extended: Option<bool>,
    globstar: Option<bool>,
    case_insensitive: Option<bool>,
}

/// Parses the options, which the JavaScript client sends next to the path and the Python client below it.
fn options<T: for<'a> Deserialize<'a>>(params: &Value) -> CallResult<T> {
    let options = params.get("options").filter(|options| options.is_object()).unwrap_or(params);
    serde_json::from_value(options.clone()).map_err(|wrong| error("TypeError", "EINVAL", &wrong.to_string()))
}

impl RpcConnection {
    /// `walk`
    pub(super) async fn walk(self: &Arc<Self>, params: &Value) -> CallResult {
        let root = path(params["path"].as_str().unwrap_or_default())?;
        let walk: Walk = options(params)?;
        if walk.matches.is_some() || walk.skip.is_some() {
            return Err(absent_error("regular expressions in walk (match and skip)"));
        }
        if walk.follow_symlinks == Some(true) {
            return Err(absent_error("walks that follow symbolic links"));
        }
        let depth = walk.max_depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        let found = self.attributes(&root, depth).await?;
        if found.is_empty() {
            return Err(self.absent(&root).await);
        }
        let entries = found.iter().filter(|entry| walk.includes(entry));
        Ok(self.stream_entries(entries.map(|entry| entry_json(&entry.path, entry.kind)).collect()))
    }

    /// `expandGlob`, by the shell of the sandbox.
    pub(super) async fn expand_glob(self: &Arc<Self>, params: &Value) -> CallResult {
        let glob: Glob = options(params)?;
        if glob.exclude.as_ref().is_some_and(|exclude| !exclude.is_empty()) {
            return Err(absent_error("exclusions in expandGlob"));
        }
        let root = path(glob.root.as_deref().unwrap_or(HOME))?;
        let pattern = params["glob"].as_str().unwrap_or_default();
        if pattern.contains('{') {
            return Err(absent_error("braces in expandGlob"));
        }
        let full = if pattern.starts_with('/') {
            pattern.to_owned()
        } else {
            format!("{}/{pattern}", root.to_text().trim_end_matches('/'))
        };
        let set = |is_set: Option<bool>, name: &str| {
            format!("shopt {} {name}", if is_set.unwrap_or(true) { "-s" } else { "-u" })
        };
        let script = format!(
            "{}; {}; {}; shopt -s nullglob dotglob; IFS=; p={}; for f in $p; do \
             if [ -L \"$f\" ]; then k=l; elif [ -d \"$f\" ]; then k=d; else k=f; fi; printf '%s\\0' $k \"$f\"; done",
            set(glob.extended, "extglob"),
            set(glob.globstar, "globstar"),
            set(Some(glob.case_insensitive == Some(true)), "nocaseglob"),
            quote(&full),
        );
        let printed = self.shell(&script).await?;
        let fields: Vec<&str> = printed.split('\0').collect();
        let entries = fields.chunks_exact(2).filter_map(|fields| {
            let [kind, path] = fields else { return None };
            let kind = match *kind {
                "l" => FileKind::Symlink,
                "d" => FileKind::Directory,
                _ => FileKind::File,
            };
            let is_wanted = kind != FileKind::Directory || glob.include_dirs != Some(false);
            is_wanted.then(|| entry_json(path.trim_end_matches('/'), kind))
        });
        Ok(self.stream_entries(entries.collect()))
    }

    /// Returns the entry at a path, followed by those below it.
    pub(super) async fn attributes(&self, name: &SandboxPath, depth: u32) -> CallResult<Vec<Attributes>> {
        attributes(&self.sandbox, name, depth).await.map_err(|message| error("Error", "EIO", &message))
    }

    /// Sends entries on a new stream.
    fn stream_entries(self: &Arc<Self>, entries: Vec<Value>) -> Value {
        let stream = self.stream();
        let peer = Arc::clone(self);
        // The response names the stream, so it goes first.
        tokio::spawn(async move {
            peer.begin_stream(stream);
            for entry in entries {
                peer.enqueue(stream, entry.to_string().as_bytes());
            }
            peer.end_stream(stream);
        });
        json!({ "streamId": stream })
    }
}

fn entry_json(path: &str, kind: FileKind) -> Value {
    json!({
        "path": path,
        "name": path.rsplit('/').next().unwrap_or_default(),
        "isFile": kind == FileKind::File,
        "isDirectory": kind == FileKind::Directory,
        "isSymlink": kind == FileKind::Symlink,
    })
}
