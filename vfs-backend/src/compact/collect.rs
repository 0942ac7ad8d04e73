//! From a tree to the records of how it differs from the base image.

use std::collections::BTreeMap;

use tidebox_kernel::fs::{Contents, Fs, Ino, Kind};

use super::Blocks;
use super::record::{Held, Look, Record, What};

/// The records of `fs` over `base`, directories before what is in them.
pub(super) fn collect(fs: &Fs, base: &Fs, blocks: &mut Blocks) -> Vec<Record> {
    let mut collecting =
        Collecting { fs, base, blocks, records: Vec::new(), levels: Vec::new(), made: BTreeMap::new() };
    let root = fs.root();
    let record = collecting.restyled(root).map(|what| {
        collecting.records.push(Record { parent: 0, name: Vec::new(), what });
        1
    });
    collecting.open(Some(root), Some(base.root()), Vec::new(), What::Anchor, record.or(Some(0)));
    while let Some(level) = collecting.levels.last_mut() {
        match level.names.next() {
            Some((name, inos)) => collecting.look(name, inos),
            None => {
                collecting.levels.pop();
            }
        }
    }
    collecting.records
}

/// What a name leads to in the tree and in the base image.
type Inos = (Option<Ino>, Option<Ino>);

struct Collecting<'a> {
    fs: &'a Fs,
    base: &'a Fs,
    blocks: &'a mut Blocks,
    records: Vec<Record>,
    levels: Vec<Level>,
    /// The records of what has several names.
    made: BTreeMap<Ino, u64>,
}

/// A directory that is being gone through.
struct Level {
    names: std::vec::IntoIter<(Vec<u8>, Inos)>,
    name: Vec<u8>,
    /// The number of its record, once it has one.
    record: Option<u64>,
    /// Its record, should something in it need one.
    what: What,
}

impl Collecting<'_> {
    fn open(&mut self, dir: Option<Ino>, base: Option<Ino>, name: Vec<u8>, what: What, record: Option<u64>) {
        let mut names: BTreeMap<Vec<u8>, Inos> = BTreeMap::new();
        for (name, ino, _) in dir.into_iter().flat_map(|dir| self.fs.read_dir(dir, None)) {
            names.insert(name.to_vec(), (Some(ino), None));
        }
        for (name, ino, _) in base.into_iter().flat_map(|dir| self.base.read_dir(dir, None)) {
            names.entry(name.to_vec()).or_default().1 = Some(ino);
        }
        let names: Vec<_> = names.into_iter().collect();
        self.levels.push(Level { names: names.into_iter(), name, record, what });
    }

    fn look(&mut self, name: Vec<u8>, (here, base): Inos) {
        if here.is_some() && here == base {
            self.of_base(name, here, base);
            return;
        }
        // What is mounted is mounted again by the builder, and what a copy-on-write mount keeps makes sense only on top of it.
        if here.is_some_and(|ino| self.fs.is_mount_point(ino)) {
            return;
        }
        // What the host installed beyond the base image is put there again by the builder, and covers what was there.
        let is_tool = |ino: Ino| self.fs.is_installed(ino) && self.base.stat(ino).is_err() && !self.is_dir(ino);
        if here.is_some_and(is_tool) {
            return;
        }
        if base.is_some() {
            self.emit(name.clone(), What::Removed);
        }
        let Some(ino) = here else { return };
        let Ok(stat) = self.fs.stat(ino) else { return };
        let look = Look::of(&stat);
        let installed = self.fs.is_installed(ino);
        match stat.kind {
            Kind::Dir if installed && self.base.stat(ino).is_err() => {
                self.open(Some(ino), None, name, What::Dir(look), None);
            }
            Kind::Dir => {
                let record = self.emit(name.clone(), What::Dir(look));
                self.open(Some(ino), None, name, What::Dir(look), Some(record));
            }
            _ if installed => {
                if let Some(path) = path_in(self.base, ino) {
                    self.emit(name, What::BaseLink(path));
                }
            }
            kind => self.leaf(name, ino, kind, look),
        }
    }

    fn is_dir(&self, ino: Ino) -> bool {
        self.fs.stat(ino).is_ok_and(|stat| stat.kind == Kind::Dir)
    }

    /// The base image's own, in its place.
    fn of_base(&mut self, name: Vec<u8>, here: Option<Ino>, base: Option<Ino>) {
        let Some(ino) = here else { return };
        let record = self.restyled(ino).map(|what| self.emit(name.clone(), what));
        if self.is_dir(ino) {
            self.open(here, base, name, What::Anchor, record);
        }
    }

    /// How the base image's inode looks otherwise now, if it does.
    fn restyled(&mut self, ino: Ino) -> Option<What> {
        let (now, then) = (Look::of(&self.fs.stat(ino).ok()?), Look::of(&self.base.stat(ino).ok()?));
        if let (Ok(contents), Ok(before)) = (self.fs.contents(ino), self.base.contents(ino))
            && !contents.reads_like(&before)
        {
            return Some(What::Rewritten(now, self.held(&contents)));
        }
        (now != then).then_some(What::Restyled(now))
    }

    fn leaf(&mut self, name: Vec<u8>, ino: Ino, kind: Kind, look: Look) {
        if let Some(&first) = self.made.get(&ino) {
            self.emit(name, What::HardLink(first));
            return;
        }
        // A file below a copy-on-write mount may show in a directory that was moved out of it.
        let contents = self.fs.contents(ino).and_then(Contents::loaded);
        let what = match (kind, contents, self.fs.readlink(ino)) {
            (Kind::File, Ok(contents), _) => What::File(look, self.held(&contents)),
            (Kind::Symlink, _, Ok(target)) => What::Symlink(look, target),
            (Kind::Fifo, ..) => What::Fifo(look),
            // Devices are the base image's.
            _ => return,
        };
        let record = self.emit(name, what);
        if self.fs.stat(ino).is_ok_and(|stat| stat.nlink > 1) {
            self.made.insert(ino, record);
        }
    }

    fn held(&mut self, contents: &Contents) -> Held {
        let numbers = contents.blocks().map(|(index, _)| (index, self.blocks.number(contents, index)));
        Held { len: contents.len(), blocks: numbers.collect() }
    }

    /// Adds a record in the innermost directory, and before it those of directories that have none yet.
    fn emit(&mut self, name: Vec<u8>, what: What) -> u64 {
        let mut parent = 0;
        for level in &mut self.levels {
            parent = *level.record.get_or_insert_with(|| {
                self.records.push(Record { parent, name: level.name.clone(), what: level.what.clone() });
                self.records.len() as u64
            });
        }
        self.records.push(Record { parent, name, what });
        self.records.len() as u64
    }
}

/// Where the base image has an inode. Asked only for what was moved, and base images are small.
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
