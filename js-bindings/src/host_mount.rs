//! Folders of the host, which JavaScript reaches: calls of the kernel on mounts come back before it goes on.

use std::sync::Arc;

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, Writes};
use wasm_bindgen::JsValue;

use crate::host;
use crate::options::{bytes, list};

/// What JavaScript writes of an object, in this order; see `js/folder.ts`.
const FIELDS: usize = 10;

/// A name in a directory; no kind for what is neither a file nor a directory nor a link.
pub(crate) type Entry = (Vec<u8>, Option<EntryKind>);

/// A folder by the place that it has in the options.
#[derive(Debug)]
pub(crate) struct HostFolder {
    folder: u32,
}

impl HostFolder {
    pub(crate) fn new(folder: u32) -> Self {
        Self { folder }
    }

    /// What is in a directory.
    pub(crate) fn entries(&self, path: &[u8]) -> Result<Vec<Entry>, Errno> {
        let names = told(host::folder_list(self.folder, path))?;
        let entry = |pair: JsValue| {
            let [name, what] = <[JsValue; 2]>::try_from(list(&pair)).unwrap_or_default();
            (bytes(&name), kind(what.as_f64().unwrap_or(0.0)).ok())
        };
        Ok(names.iter().map(entry).collect())
    }
}

/// JavaScript throws the number of an error; anything else is a defect there.
fn errno(thrown: &JsValue) -> Errno {
    let number = thrown.as_f64().unwrap_or(f64::NAN) as u16;
    Errno::from_raw(number).filter(|errno| *errno != Errno::Success).unwrap_or(Errno::Io)
}

fn told<T>(result: Result<T, JsValue>) -> Result<T, Errno> {
    result.map_err(|thrown| errno(&thrown))
}

fn kind(number: f64) -> Result<EntryKind, Errno> {
    match number as u8 {
        1 => Ok(EntryKind::File),
        2 => Ok(EntryKind::Dir),
        3 => Ok(EntryKind::Symlink),
        // What does not show is not there.
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

/// A time as JavaScript takes it: seconds, or less than zero for one that stays.
fn seconds(time: Option<u64>) -> f64 {
    time.map_or(-1.0, |nanoseconds| nanoseconds as f64 / 1e9)
}

impl Mount for HostFolder {
    fn writes(&self) -> Writes {
        if host::folder_is_writable(self.folder) { Writes::InPlace } else { Writes::Never }
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        let mut fields = [0.0; FIELDS];
        told(host::folder_stat(self.folder, path, &mut fields))?;
        metadata(&fields)
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let entries = self.entries(path)?;
        Ok(entries.into_iter().filter_map(|(name, kind)| Some((name, kind?))).collect())
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        told(host::folder_read_link(self.folder, path))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        let file = told(host::folder_open(self.folder, path, access == Access::Write))?;
        Ok(Arc::new(HostFile { file }))
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        told(host::folder_create(self.folder, path, mode))
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        told(host::folder_create_dir(self.folder, path, mode))
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        told(host::folder_symlink(self.folder, target, path))
    }

    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        told(host::folder_hard_link(self.folder, existing, path))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        told(host::folder_remove(self.folder, path, false))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        told(host::folder_remove(self.folder, path, true))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        told(host::folder_rename(self.folder, from, to))
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        told(host::folder_set_mode(self.folder, path, mode))
    }

    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        told(host::folder_set_times(self.folder, path, seconds(atime), seconds(mtime)))
    }
}

/// An open file by the number that JavaScript gave it.
#[derive(Debug)]
struct HostFile {
    file: u32,
}

impl Drop for HostFile {
    fn drop(&mut self) {
        host::file_close(self.file);
    }
}

impl MountFile for HostFile {
    fn metadata(&self) -> Result<Metadata, Errno> {
        let mut fields = [0.0; FIELDS];
        told(host::file_stat(self.file, &mut fields))?;
        metadata(&fields)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        told(host::file_read(self.file, offset as f64, dst)).map(|read| read as usize)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        told(host::file_write(self.file, offset as f64, src)).map(|written| written as usize)
    }

    fn set_len(&self, len: u64) -> Result<(), Errno> {
        told(host::file_set_len(self.file, len as f64))
    }

    fn sync(&self) -> Result<(), Errno> {
        told(host::file_sync(self.file))
    }
}
