//! Snapshots, forks and what differs between them.
//!
//! On the side of JavaScript a snapshot is the bytes of a compact file: it outlives its sandbox and its Worker, can be sent to
//! another Worker, and is all that a fork begins with.

use js_sys::{Array, Uint8Array};
use tidebox_core::{Error, FileKind, SandboxBackend};
use tidebox_vfs_backend::{Change, ContentChange, Side, Snapshot, SnapshotDiff};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::answer::{count, failure, invalid, object, text};
use crate::sandbox::Sandbox;

/// The digits of a fork's id that make the seed of its randomness: as many as a number of JavaScript holds exactly.
const SEED_DIGITS: usize = 13;

fn thrown(error: Error) -> JsValue {
    failure(&error)
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// What the sandbox is now, as `bytes` and what they count: `fileBytes`, `inodes`.
    ///
    /// # Errors
    /// An object of `kind` and `message` for a sandbox that is closed.
    pub fn snapshot(&self) -> Result<JsValue, JsValue> {
        Ok(kept(&self.backend.snapshot().map_err(thrown)?))
    }

    /// What a fork begins with: a snapshot, an `id`, and for a deterministic sandbox the `timeMs` and `seed` with which it
    /// goes on.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot).
    pub fn fork(&self) -> Result<JsValue, JsValue> {
        let fork = self.backend.fork().map_err(thrown)?;
        let snapshot = kept(&fork.snapshot().map_err(thrown)?);
        let id = fork.id().as_str();
        let digits = id.get(id.len().saturating_sub(SEED_DIGITS)..).unwrap_or_default();
        let seed = u64::from_str_radix(digits, 16).unwrap_or(0);
        let now = self.backend.with_files(|_, now| now).map_err(thrown)?;
        Ok(object([
            ("snapshot", snapshot),
            ("id", JsValue::from_str(id)),
            ("timeMs", count(now.div_ceil(1_000_000))),
            ("seed", count(seed)),
        ]))
    }

    /// Puts files and shell session back to what they were; commands that run are stopped. What changes from here on is
    /// told from there.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot), and for bytes that are no snapshot or more than the limits hold. Nothing has changed
    /// then.
    pub fn restore(&self, bytes: &[u8]) -> Result<(), JsValue> {
        let snapshot = self.making.ground()?.with_changes(bytes, &self.limits).map_err(thrown)?;
        self.backend.restore(&snapshot).map_err(thrown)?;
        self.begin_anew().map_err(thrown)
    }

    /// What changed from one snapshot to another; `undefined` instead of the second is the sandbox as it is now.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn diff(&self, before: &[u8], after: &JsValue) -> Result<JsValue, JsValue> {
        let ground = self.making.ground()?;
        let before = ground.with_changes(before, &self.limits).map_err(thrown)?;
        let after = self.snapshot_of(after)?;
        Ok(told(&Snapshot::diff(&before, &after)))
    }

    /// A snapshot as a tar; `undefined` is the sandbox as it is now.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    #[wasm_bindgen(js_name = toTar)]
    pub fn to_tar(&self, snapshot: &JsValue) -> Result<Uint8Array, JsValue> {
        let snapshot = self.snapshot_of(snapshot)?;
        let mut tar = Vec::new();
        snapshot.to_tar(&mut tar).map_err(|error| invalid("write tar", &error.to_string()))?;
        Ok(Uint8Array::from(tar.as_slice()))
    }

    /// A tar as a snapshot, as [`snapshot`](Self::snapshot) answers it.
    ///
    /// # Errors
    /// An object of `kind` and `message` for bytes that are no tar, or one with entries that are refused.
    #[wasm_bindgen(js_name = fromTar)]
    pub fn from_tar(&self, tar: &[u8]) -> Result<JsValue, JsValue> {
        Ok(kept(&Snapshot::from_tar(tar, self.making.base(), &self.limits).map_err(thrown)?))
    }

    fn snapshot_of(&self, bytes: &JsValue) -> Result<Snapshot, JsValue> {
        if bytes.is_undefined() {
            return self.backend.snapshot().map_err(thrown);
        }
        self.making.ground()?.with_changes(&crate::options::bytes(bytes), &self.limits).map_err(thrown)
    }
}

fn kept(snapshot: &Snapshot) -> JsValue {
    object([
        ("bytes", Uint8Array::from(snapshot.to_bytes().as_slice()).into()),
        ("fileBytes", count(snapshot.file_bytes())),
        ("inodes", count(snapshot.inodes())),
    ])
}

fn told(diff: &SnapshotDiff) -> JsValue {
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

fn side(side: &Side) -> JsValue {
    let kind = match side.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        _ => "other",
    };
    object([("kind", JsValue::from_str(kind)), ("mode", side.mode.into()), ("size", count(side.size))])
}
