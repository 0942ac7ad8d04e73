//! Encoder: from a tree to records of its differences from the base image.

use std::collections::BTreeMap;

use tidebox_kernel::fs::{Contents, Fs, Ino, Kind};

use super::Blocks;
use super::record::{Attributes, FileContent, Record, RecordKind};

/// Collects the records of `fs` over `base`, directories before their entries.
pub(super) fn encode_tree(fs: &Fs, base: &Fs, blocks: &mut Blocks) -> Vec<Record> {
    let mut encoder = SnapshotEncoder {
        fs,
        base,
        blocks,
        records: Vec::new(),
        levels: Vec::new(),
        records_by_inode: BTreeMap::new(),
    };
    let root = fs.root();
    let record = encoder.changed_attributes(root).map(|record_kind| {
        encoder.records.push(Record { parent: 0, name: Vec::new(), record_kind });
        1
    });
    encoder.open(Some(root), Some(base.root()), Vec::new(), RecordKind::Unchanged, record.or(Some(0)));
    while let Some(level) = encoder.levels.last_mut() {
        match level.names.next() {
            Some((name, inos)) => encoder.compare_entry(name, inos),
            None => {
                encoder.levels.pop();
            }
        }
    }
    encoder.records
}

/// Inodes of a name in the tree and in the base image.
type Inos = (Option<Ino>, Option<Ino>);

struct SnapshotEncoder<'a> {
    fs: &'a Fs,
    base: &'a Fs,
    blocks: &'a mut Blocks,
    records: Vec<Record>,
    levels: Vec<Level>,
    /// Records of inodes with several names.
    records_by_inode: BTreeMap<Ino, u64>,
}

/// A directory in the traversal.
struct Level {
    names: std::vec::IntoIter<(Vec<u8>, Inos)>,
    name: Vec<u8>,
    /// Number of its record, once it has one.
    record: Option<u64>,
    /// Its record, in case an entry in it needs one.
    record_kind: RecordKind,
}

impl SnapshotEncoder<'_> {
    fn open(
        &mut self,
        dir: Option<Ino>,
        base: Option<Ino>,
        name: Vec<u8>,
        record_kind: RecordKind,
        record: Option<u64>,
    ) {
        if let Some(dir) = dir.filter(|&dir| Some(dir) == base && self.fs.shares(self.base, dir)) {
            let names = self.changed_names(dir);
            self.levels.push(Level { names, name, record, record_kind });
            return;
        }
        let mut names: BTreeMap<Vec<u8>, Inos> = BTreeMap::new();
        for (name, ino, _) in dir.into_iter().flat_map(|dir| self.fs.read_dir(dir, None)) {
            names.insert(name.to_vec(), (Some(ino), None));
        }
        for (name, ino, _) in base.into_iter().flat_map(|dir| self.base.read_dir(dir, None)) {
            names.entry(name.to_vec()).or_default().1 = Some(ino);
        }
        let names: Vec<_> = names.into_iter().collect();
        self.levels.push(Level { names: names.into_iter(), name, record, record_kind });
    }

    /// Returns the entries of an unchanged directory that may have changed, and its directories. Most of a tree is skipped here.
    fn changed_names(&self, dir: Ino) -> std::vec::IntoIter<(Vec<u8>, Inos)> {
        let entries = self.fs.read_dir(dir, None);
        let changed = entries.filter(|&(_, ino, kind)| kind == Kind::Dir || !self.fs.shares(self.base, ino));
        let names: Vec<_> = changed.map(|(name, ino, _)| (name.into_owned(), (Some(ino), Some(ino)))).collect();
        names.into_iter()
    }

    fn compare_entry(&mut self, name: Vec<u8>, (current, base): Inos) {
        if current.is_some() && current == base {
            self.encode_base_entry(name, current, base);
            return;
        }
        // The builder mounts again, and the upper layer of a copy-on-write mount is meaningless without the lower one.
        if current.is_some_and(|ino| self.fs.is_mount_point(ino)) {
            return;
        }
        // Files installed by the host on top of the base image are installed again by the builder and hide any existing
        // file.
        let is_tool = |ino: Ino| self.fs.is_installed(ino) && self.base.stat(ino).is_err() && !self.is_dir(ino);
        if current.is_some_and(is_tool) {
            return;
        }
        if base.is_some() {
            self.emit(name.clone(), RecordKind::Removed);
        }
        let Some(ino) = current else { return };
        let Ok(stat) = self.fs.stat(ino) else { return };
        let attributes = Attributes::of(&stat);
        let installed = self.fs.is_installed(ino);
        match stat.kind {
            Kind::Dir if installed && self.base.stat(ino).is_err() => {
                self.open(Some(ino), None, name, RecordKind::Dir(attributes), None);
            }
            Kind::Dir => {
                let record = self.emit(name.clone(), RecordKind::Dir(attributes));
                self.open(Some(ino), None, name, RecordKind::Dir(attributes), Some(record));
            }
            _ if installed => self.encode_base_link(name, ino),
            kind => self.encode_leaf(name, ino, kind, attributes),
        }
    }

    fn is_dir(&self, ino: Ino) -> bool {
        self.fs.stat(ino).is_ok_and(|stat| stat.kind == Kind::Dir)
    }

    /// Encodes an entry that is the base image's own, at the same path.
    fn encode_base_entry(&mut self, name: Vec<u8>, current: Option<Ino>, base: Option<Ino>) {
        let Some(ino) = current else { return };
        if self.fs.shares(self.base, ino) && !self.is_dir(ino) {
            return;
        }
        let record = self.changed_attributes(ino).map(|record_kind| self.emit(name.clone(), record_kind));
        if self.is_dir(ino) {
            self.open(current, base, name, RecordKind::Unchanged, record);
        }
    }

    /// Encodes another name of the base image's inode. A second record of the name has its changes: the path in the base
    /// image may no longer exist.
    fn encode_base_link(&mut self, name: Vec<u8>, ino: Ino) {
        let Some(path) = path_in(self.base, ino) else { return };
        self.emit(name.clone(), RecordKind::BaseLink(path));
        if let Some(record_kind) = self.changed_attributes(ino) {
            self.emit(name, record_kind);
        }
    }

    /// Returns a record of changed attributes if the base image's inode has any.
    fn changed_attributes(&mut self, ino: Ino) -> Option<RecordKind> {
        let (now, then) = (Attributes::of(&self.fs.stat(ino).ok()?), Attributes::of(&self.base.stat(ino).ok()?));
        if let (Ok(contents), Ok(before)) = (self.fs.contents(ino), self.base.contents(ino))
            && !contents.reads_like(&before)
        {
            return Some(RecordKind::ContentChanged(now, self.encode_content(&contents)));
        }
        (now != then).then_some(RecordKind::AttributesChanged(now))
    }

    fn encode_leaf(&mut self, name: Vec<u8>, ino: Ino, kind: Kind, attributes: Attributes) {
        if let Some(&first) = self.records_by_inode.get(&ino) {
            self.emit(name, RecordKind::HardLink(first));
            return;
        }
        // A file of a copy-on-write mount may be visible in a directory that was moved out of it.
        let contents = self.fs.contents(ino).and_then(Contents::into_memory);
        let record_kind = match (kind, contents, self.fs.readlink(ino)) {
            (Kind::File, Ok(contents), _) => RecordKind::File(attributes, self.encode_content(&contents)),
            (Kind::Symlink, _, Ok(target)) => RecordKind::Symlink(attributes, target),
            (Kind::Fifo, ..) => RecordKind::Fifo(attributes),
            // Devices always come from the base image.
            _ => return,
        };
        let record = self.emit(name, record_kind);
        if self.fs.stat(ino).is_ok_and(|stat| stat.nlink > 1) {
            self.records_by_inode.insert(ino, record);
        }
    }

    fn encode_content(&mut self, contents: &Contents) -> FileContent {
        let numbers = contents.blocks().map(|(index, _)| (index, self.blocks.number(contents, index)));
        FileContent { len: contents.len(), blocks: numbers.collect() }
    }

    /// Adds a record in the innermost directory, preceded by records of directories that have none yet.
    fn emit(&mut self, name: Vec<u8>, record_kind: RecordKind) -> u64 {
        let mut parent = 0;
        for level in &mut self.levels {
            parent = *level.record.get_or_insert_with(|| {
                self.records.push(Record { parent, name: level.name.clone(), record_kind: level.record_kind.clone() });
                self.records.len() as u64
            });
        }
        self.records.push(Record { parent, name, record_kind });
        self.records.len() as u64
    }
}

/// Returns the path of an inode in the base image. Used only for moved files, and base images are small.
fn path_in(base: &Fs, wanted: Ino) -> Option<Vec<u8>> {
    let mut pending = vec![(base.root(), Vec::new())];
    while let Some((dir, path)) = pending.pop() {
        for (name, ino, kind) in base.read_dir(dir, None) {
            let path = [path.as_slice(), b"/", &name].concat();
            if ino == wanted {
                return Some(path);
            }
            if kind == Kind::Dir {
                pending.push((ino, path));
            }
        }
    }
    None
}
