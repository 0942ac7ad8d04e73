//! Snapshots, forks and differences between them.
//!
//! In JavaScript a snapshot is the bytes of a snapshot file: it is independent of its sandbox and worker, can be sent to another
//! worker, and is the starting state of a fork.

use js_sys::{Array, Uint8Array};
use tidebox_core::{Error, FileKind, SandboxBackend};
use tidebox_vfs_backend::{Change, ContentChange, DiffSide, Snapshot, SnapshotDiff};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::js::{count, failure, invalid, object, text};
use crate::sandbox::Sandbox;

/// Hexadecimal digits of a fork's id that seed its random numbers: the maximum that a JavaScript number holds exactly.
const SEED_DIGITS: usize = 13;

fn to_js_error(error: Error) -> JsValue {
    failure(&error)
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Takes a snapshot: `bytes`, and its counts `fileBytes` and `inodes`.
    ///
    /// # Errors
    /// An object of `kind` and `message` for a closed sandbox.
    pub fn snapshot(&self) -> Result<JsValue, JsValue> {
        Ok(snapshot_to_js(&self.backend.snapshot().map_err(to_js_error)?))
    }

    /// Returns the starting state of a fork: a snapshot, an `id`, and for a deterministic sandbox its `timeMs` and `seed`.
    ///
    /// # Errors
    /// Like [`snapshot`](Self::snapshot).
    pub fn fork(&self) -> Result<JsValue, JsValue> {
        let fork = self.backend.fork().map_err(to_js_error)?;
        let snapshot = snapshot_to_js(&fork.snapshot().map_err(to_js_error)?);
        let id = fork.id().as_str();
        let digits = id.get(id.len().saturating_sub(SEED_DIGITS)..).unwrap_or_default();
        let seed = u64::from_str_radix(digits, 16).unwrap_or(0);
        let now = self.backend.with_fs(|_, now| now).map_err(to_js_error)?;
        Ok(object([
            ("snapshot", snapshot),
            ("id", JsValue::from_str(id)),
            ("timeMs", count(now.div_ceil(1_000_000))),
            ("seed", count(seed)),
        ]))
    }

    /// Restores files and shell session; running commands are stopped. Later changes are relative to this state.
    ///
    /// # Errors
    /// Like [`snapshot`](Self::snapshot), and for bytes that are not a snapshot or exceed the limits. Then nothing has changed.
    pub fn restore(&self, bytes: &[u8]) -> Result<(), JsValue> {
        let snapshot = self.recipe.base_snapshot()?.apply_changes(bytes, &self.limits).map_err(to_js_error)?;
        self.backend.restore(&snapshot).map_err(to_js_error)?;
        self.reset_changes().map_err(to_js_error)
    }

    /// Compares two snapshots; `undefined` as the second is the current state.
    ///
    /// # Errors
    /// Like [`restore`](Self::restore).
    pub fn diff(&self, before: &[u8], after: &JsValue) -> Result<JsValue, JsValue> {
        let base_snapshot = self.recipe.base_snapshot()?;
        let before = base_snapshot.apply_changes(before, &self.limits).map_err(to_js_error)?;
        let after = self.snapshot_of(after)?;
        Ok(diff_to_js(&Snapshot::diff(&before, &after)))
    }

    /// Converts a snapshot to a tar archive; `undefined` is the current state.
    ///
    /// # Errors
    /// Like [`restore`](Self::restore).
    #[wasm_bindgen(js_name = toTar)]
    pub fn to_tar(&self, snapshot: &JsValue) -> Result<Uint8Array, JsValue> {
        let snapshot = self.snapshot_of(snapshot)?;
        let mut tar = Vec::new();
        snapshot.to_tar(&mut tar).map_err(|error| invalid("write tar", &error.to_string()))?;
        Ok(Uint8Array::from(tar.as_slice()))
    }

    /// Converts a tar archive to a snapshot in the form of [`snapshot`](Self::snapshot).
    ///
    /// # Errors
    /// An object of `kind` and `message` for bytes that are not a tar archive, or one with rejected entries.
    #[wasm_bindgen(js_name = fromTar)]
    pub fn from_tar(&self, tar: &[u8]) -> Result<JsValue, JsValue> {
        Ok(snapshot_to_js(&Snapshot::from_tar(tar, self.recipe.base(), &self.limits).map_err(to_js_error)?))
    }

    fn snapshot_of(&self, bytes: &JsValue) -> Result<Snapshot, JsValue> {
        if bytes.is_undefined() {
            return self.backend.snapshot().map_err(to_js_error);
        }
        self.recipe.base_snapshot()?.apply_changes(&crate::options::bytes(bytes), &self.limits).map_err(to_js_error)
    }
}

fn snapshot_to_js(snapshot: &Snapshot) -> JsValue {
    object([
        ("bytes", Uint8Array::from(snapshot.to_bytes().as_slice()).into()),
        ("fileBytes", count(snapshot.file_bytes())),
        ("inodes", count(snapshot.inodes())),
    ])
}

fn diff_to_js(diff: &SnapshotDiff) -> JsValue {
    let patch = diff.to_patch();
    object([
        ("changes", diff.changes.iter().map(change).collect::<Array>().into()),
        ("truncated", diff.truncated.into()),
        ("patch", text(&patch)),
        ("patchBytes", Uint8Array::from(patch.as_slice()).into()),
    ])
}

fn change(change: &Change) -> JsValue {
    let kind = match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let (content, hunks) = match &change.content {
        ContentChange::None => ("same", JsValue::UNDEFINED),
        ContentChange::Text(hunks) => ("text", text(hunks)),
        ContentChange::Binary => ("binary", JsValue::UNDEFINED),
        _ => ("too_large", JsValue::UNDEFINED),
    };
    object([
        ("path", text(&change.path)),
        ("change", JsValue::from_str(kind)),
        ("before", change.before.as_ref().map_or(JsValue::UNDEFINED, side)),
        ("after", change.after.as_ref().map_or(JsValue::UNDEFINED, side)),
        ("content", JsValue::from_str(content)),
        ("hunks", hunks),
    ])
}

fn side(side: &DiffSide) -> JsValue {
    let kind = match side.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        _ => "other",
    };
    object([("kind", JsValue::from_str(kind)), ("mode", side.mode.into()), ("size", count(side.size))])
}
