//! Tests of mounted file systems, with an in-memory tree mounted into another.

mod changes;
mod cow;
mod lookup;
mod random_ops;
mod replace_only;

use std::sync::{Arc, Mutex, MutexGuard};

use super::super::{
    Access, Contents, EntryKind, Fs, Ino, Kind, Metadata, Mount, MountFile, MountMode, Resolved, Stat, WriteSupport,
};
use super::{USER, fresh};
use crate::errno::Errno;

/// An in-memory file system that implements the mount interface. It uses only paths and open files, as a host file system does.
#[derive(Debug)]
struct Foreign {
    fs: Arc<Mutex<Fs>>,
    writes: WriteSupport,
}

impl Foreign {
    fn new() -> Arc<Self> {
        Self::that_writes(WriteSupport::InPlace)
    }

    fn that_writes(writes: WriteSupport) -> Arc<Self> {
        Arc::new(Self { fs: Arc::new(Mutex::new(fresh())), writes })
    }

    /// One with some files, as the tests expect them.
    fn filled() -> Arc<Self> {
        let foreign = Self::new();
        foreign.fill();
        foreign
    }

    fn fill(&self) {
        let mut fs = self.fs();
        for dir in ["dir", "dir/sub", "empty"] {
            fs.dir(dir);
        }
        for (file, bytes) in [("file", "hello"), ("dir/a", "aaa"), ("dir/b", "bbb"), ("dir/sub/c", "ccc")] {
            fs.put(file, bytes.as_bytes());
        }
        let root = fs.root();
        for (link, target) in
            [("link", "dir/a"), ("up", "../outside"), ("dir/back", "sub/../b"), ("absolute", "/m/file")]
        {
            fs.symlink(&USER, target.as_bytes(), root, link.as_bytes(), 5).expect(link);
        }
    }

    fn fs(&self) -> MutexGuard<'_, Fs> {
        self.fs.lock().expect("no test panics with the lock")
    }

    fn find(&self, path: &[u8]) -> Result<Ino, Errno> {
        let fs = self.fs();
        let absolute = [b"/", path].concat();
        match fs.walk(&USER, fs.root(), &absolute, false)? {
            Resolved::Node(ino) => Ok(ino),
            Resolved::Proc(_) => Err(Errno::Noent),
        }
    }

    fn change<T>(&self, path: &[u8], change: impl FnOnce(&mut Fs, Ino, &[u8]) -> Result<T, Errno>) -> Result<T, Errno> {
        let mut fs = self.fs();
        let (root, absolute) = (fs.root(), [b"/", path].concat());
        change(&mut fs, root, &absolute)
    }
}

fn metadata(stat: &Stat) -> Metadata {
    let kind = match stat.kind {
        Kind::File => EntryKind::File,
        Kind::Dir => EntryKind::Dir,
        Kind::Symlink => EntryKind::Symlink,
        Kind::Device(_) | Kind::Fifo => panic!("the tests make neither devices nor named pipes"),
    };
    let Stat { mode, nlink, size, atime, mtime, ctime, .. } = *stat;
    Metadata { kind, mode, nlink, size, atime, mtime, ctime }
}

impl Mount for Foreign {
    fn writes(&self) -> WriteSupport {
        self.writes
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        let ino = self.find(path)?;
        Ok(metadata(&self.fs().stat(ino)?))
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let ino = self.find(path)?;
        let fs = self.fs();
        if fs.stat(ino)?.kind != Kind::Dir {
            return Err(Errno::Notdir);
        }
        let kind = |ino| Some(metadata(&fs.stat(ino).ok()?).kind);
        let mut names: Vec<_> =
            fs.read_dir(ino, None).filter_map(|(name, ino, _)| Some((name.into_owned(), kind(ino)?))).collect();
        // Unordered, as on a host.
        names.reverse();
        Ok(names)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let ino = self.find(path)?;
        self.fs().readlink(ino)
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        let ino = self.find(path)?;
        self.fs().hold(ino);
        Ok(Arc::new(Open { fs: Arc::clone(&self.fs), ino, access }))
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.change(path, |fs, root, path| fs.create(&USER, root, path, mode, true, 6).map(drop))
    }

    fn replace(&self, path: &[u8], content: &Contents) -> Result<(), Errno> {
        let ino = self.find(path)?;
        self.fs().write_all(ino, &content.load()?, 6)
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.change(path, |fs, root, path| fs.mkdir(&USER, root, path, mode, 6).map(drop))
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        self.change(path, |fs, root, path| fs.symlink(&USER, target, root, path, 6).map(drop))
    }

    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        let existing = self.find(existing)?;
        self.change(path, |fs, root, path| fs.link(&USER, existing, root, path, 6))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        self.change(path, |fs, root, path| fs.unlink(&USER, root, path, 6))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        self.change(path, |fs, root, path| fs.rmdir(&USER, root, path, 6))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let from = [b"/", from].concat();
        self.change(to, |fs, root, to| fs.rename(&USER, root, &from, root, to, 6))
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let ino = self.find(path)?;
        self.fs().chmod(&USER, ino, mode, 6)
    }

    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        let ino = self.find(path)?;
        self.fs().set_times(&USER, ino, atime, mtime, 6)
    }
}

#[derive(Debug)]
struct Open {
    fs: Arc<Mutex<Fs>>,
    ino: Ino,
    access: Access,
}

impl Open {
    fn fs(&self) -> MutexGuard<'_, Fs> {
        self.fs.lock().expect("no test panics with the lock")
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let ino = self.ino;
        self.fs().release(ino);
    }
}

impl MountFile for Open {
    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(metadata(&self.fs().stat(self.ino)?))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        if self.access == Access::Write {
            return Err(Errno::Badf);
        }
        self.fs().read_at(self.ino, offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        if self.access == Access::Read {
            return Err(Errno::Badf);
        }
        self.fs().write_at(self.ino, offset, src, 6)
    }

    fn set_len(&self, len: u64) -> Result<(), Errno> {
        if self.access == Access::Read {
            return Err(Errno::Badf);
        }
        self.fs().truncate(self.ino, len, 6)
    }
}

/// A tree with a foreign one at `/m`.
fn mounted(foreign: &Arc<Foreign>, mode: MountMode) -> Fs {
    let mut fs = fresh();
    let mount = Arc::clone(foreign);
    fs.mount(b"/m", mount, mode).expect("it can be mounted");
    fs
}

fn read(fs: &Fs, path: &str) -> Result<String, Errno> {
    fs.read_all(fs.at(path)?, u64::MAX).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Everything below a directory that a program can see, except times and numbers.
fn view(fs: &Fs, top: &str) -> String {
    let mut text = String::new();
    let mut pending = vec![(fs.at(top).expect(top), String::new())];
    while let Some((ino, path)) = pending.pop() {
        let stat = fs.stat(ino).expect("it was listed");
        let bytes = fs.read_all(ino, u64::MAX).or_else(|_| fs.readlink(ino));
        text += &format!("{path} {:?} {:o} {bytes:?}\n", stat.kind, stat.mode);
        for (name, below, kind) in fs.read_dir(ino, None) {
            assert_eq!(fs.stat(below).map(|stat| stat.kind), Ok(kind));
            pending.push((below, format!("{path}/{}", name.escape_ascii())));
        }
    }
    text
}
