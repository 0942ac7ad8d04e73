//! Host directories through JavaScript. Calls are synchronous.

use std::sync::Arc;

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, WriteSupport};
use wasm_bindgen::JsValue;

use crate::js_imports;
use crate::options::{bytes, list};

/// Number of fields that JavaScript writes for an object; see `js/directories.node.ts`.
const FIELDS: usize = 10;

/// A name in a directory. The kind is `None` unless it is a file, a directory or a link.
pub(crate) type Entry = (Vec<u8>, Option<EntryKind>);

/// A host directory by its number in JavaScript.
#[derive(Debug)]
pub(crate) struct HostDir {
    number: u32,
}

impl HostDir {
    pub(crate) fn new(number: u32) -> Self {
        Self { number }
    }

    /// Lists a directory.
    pub(crate) fn entries(&self, path: &[u8]) -> Result<Vec<Entry>, Errno> {
        let names = map_js_error(js_imports::dir_list(self.number, path))?;
        let entry = |pair: JsValue| {
            let [name, what] = <[JsValue; 2]>::try_from(list(&pair)).unwrap_or_default();
            (bytes(&name), kind(what.as_f64().unwrap_or(0.0)).ok())
        };
        Ok(names.iter().map(entry).collect())
    }
}

/// JavaScript throws errno values; anything else is a bug.
fn errno(error: &JsValue) -> Errno {
    let number = error.as_f64().unwrap_or(f64::NAN) as u16;
    Errno::from_raw(number).filter(|errno| *errno != Errno::Success).unwrap_or(Errno::Io)
}

fn map_js_error<T>(result: Result<T, JsValue>) -> Result<T, Errno> {
    result.map_err(|error| errno(&error))
}

fn kind(number: f64) -> Result<EntryKind, Errno> {
    match number as u8 {
        1 => Ok(EntryKind::File),
        2 => Ok(EntryKind::Dir),
        3 => Ok(EntryKind::Symlink),
        // Hidden objects count as missing.
        _ => Err(Errno::Noent),
    }
}

fn metadata(fields: &[f64; FIELDS]) -> Result<Metadata, Errno> {
    let [what, mode, nlink, size, times @ ..] = *fields;
    let [atime, atime_rest, mtime, mtime_rest, ctime, ctime_rest] = times;
    let time = |seconds: f64, rest: f64| (seconds as u64).saturating_mul(1_000_000_000).saturating_add(rest as u64);
    Ok(Metadata {
        kind: kind(what)?,
        mode: mode as u32 & 0o777,
        nlink: nlink as u64,
        size: size as u64,
        atime: time(atime, atime_rest),
        mtime: time(mtime, mtime_rest),
        ctime: time(ctime, ctime_rest),
    })
}

/// Converts a time for JavaScript: seconds, or a negative number to keep the current one.
fn seconds(time: Option<u64>) -> f64 {
    time.map_or(-1.0, |nanoseconds| nanoseconds as f64 / 1e9)
}

impl Mount for HostDir {
    fn writes(&self) -> WriteSupport {
        if js_imports::dir_is_writable(self.number) { WriteSupport::InPlace } else { WriteSupport::None }
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        let mut fields = [0.0; FIELDS];
        map_js_error(js_imports::dir_stat(self.number, path, &mut fields))?;
        metadata(&fields)
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let entries = self.entries(path)?;
        Ok(entries.into_iter().filter_map(|(name, kind)| Some((name, kind?))).collect())
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        map_js_error(js_imports::dir_read_link(self.number, path))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        let file = map_js_error(js_imports::dir_open_file(self.number, path, access == Access::Write))?;
        Ok(Arc::new(HostFile { file }))
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        map_js_error(js_imports::dir_create_file(self.number, path, mode))
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        map_js_error(js_imports::dir_create_dir(self.number, path, mode))
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        map_js_error(js_imports::dir_symlink(self.number, target, path))
    }

    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        map_js_error(js_imports::dir_hard_link(self.number, existing, path))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        map_js_error(js_imports::dir_remove(self.number, path, false))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        map_js_error(js_imports::dir_remove(self.number, path, true))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        map_js_error(js_imports::dir_rename(self.number, from, to))
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        map_js_error(js_imports::dir_set_mode(self.number, path, mode))
    }

    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        map_js_error(js_imports::dir_set_times(self.number, path, seconds(atime), seconds(mtime)))
    }
}

/// An open file by its number in JavaScript.
#[derive(Debug)]
struct HostFile {
    file: u32,
}

impl Drop for HostFile {
    fn drop(&mut self) {
        js_imports::file_close(self.file);
    }
}

impl MountFile for HostFile {
    fn metadata(&self) -> Result<Metadata, Errno> {
        let mut fields = [0.0; FIELDS];
        map_js_error(js_imports::file_stat(self.file, &mut fields))?;
        metadata(&fields)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        map_js_error(js_imports::file_read(self.file, offset as f64, dst)).map(|read| read as usize)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        map_js_error(js_imports::file_write(self.file, offset as f64, src)).map(|written| written as usize)
    }

    fn set_len(&self, len: u64) -> Result<(), Errno> {
        map_js_error(js_imports::file_set_len(self.file, len as f64))
    }

    fn sync(&self) -> Result<(), Errno> {
        map_js_error(js_imports::file_sync(self.file))
    }
}
