//! From records back to a tree, on top of a base image.

use tidebox_core::{Error, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Block, Contents, Fs, Ino, Kind, Target};

use super::damaged;
use super::record::{Held, Look, Record, What};
use crate::{ROOT, refusal, remove};

/// A name that nobody has.
const LIMBO: &[u8] = b"\x01removed by a snapshot\x01";

pub(super) struct Applying<'a> {
    fs: &'a mut Fs,
    blocks: &'a [Block],
    /// What each record made or found; the root first.
    made: Vec<Option<Ino>>,
    /// Put on at the end, because making things changes times.
    looks: Vec<(Ino, Look)>,
    /// Where the base image's files were before the first of them was removed.
    base: Option<Vec<(Vec<u8>, Ino)>>,
    /// Where what was removed rests until the end, because a later record may give it another name.
    limbo: Option<Ino>,
    removed: u64,
}

impl<'a> Applying<'a> {
    pub(super) fn new(fs: &'a mut Fs, blocks: &'a [Block]) -> Self {
        let root = fs.root();
        Self { fs, blocks, made: vec![Some(root)], looks: Vec::new(), base: None, limbo: None, removed: 0 }
    }

    pub(super) fn apply(&mut self, record: Record) -> Result<()> {
        let Record { parent, name, what } = record;
        if name.is_empty() && self.made.len() == 1 {
            // The root itself, which has no name.
            let What::Restyled(look) = what else { return Err(damaged("a name is empty")) };
            let root = self.fs.root();
            self.looks.push((root, look));
            self.made.push(Some(root));
            return Ok(());
        }
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
            return Err(damaged("something has an impossible name"));
        }
        let parent = self.of(parent)?.ok_or_else(|| damaged("a directory was removed before something in it"))?;
        let refuse = |errno| refused(errno, &name);
        let there = self.child(parent, &name).map_err(refuse)?;
        let made = match what {
            What::Anchor => Some(self.dir(parent, &name, there).map_err(refuse)?),
            What::Removed => {
                self.remove(parent, &name, there).map_err(refuse)?;
                None
            }
            What::Restyled(look) => self.style(there, look),
            What::Rewritten(look, held) => {
                if let Some(ino) = there.filter(|&ino| self.is(ino, Kind::File)) {
                    self.fill(ino, &held, &name)?;
                }
                self.style(there, look)
            }
            What::Dir(look) => {
                let ino = self.dir(parent, &name, there).map_err(refuse)?;
                self.style(Some(ino), look)
            }
            What::File(look, held) => {
                self.vacate(parent, &name, there).map_err(refuse)?;
                let (ino, _) = self.fs.create(&ROOT, parent, &name, 0o644, true, 0).map_err(refuse)?;
                self.fill(ino, &held, &name)?;
                self.style(Some(ino), look)
            }
            What::Symlink(look, target) => {
                self.vacate(parent, &name, there).map_err(refuse)?;
                let ino = self.fs.symlink(&ROOT, &target, parent, &name, 0).map_err(refuse)?;
                self.style(Some(ino), look)
            }
            What::Fifo(look) => {
                self.vacate(parent, &name, there).map_err(refuse)?;
                let ino = self.fs.mkfifo(&ROOT, parent, &name, look.mode, 0).map_err(refuse)?;
                self.style(Some(ino), look)
            }
            What::HardLink(first) => {
                let ino = self.of(first)?.ok_or_else(|| damaged("a link names what was removed"))?;
                self.link(ino, parent, &name, there).map_err(refuse)?
            }
            What::BaseLink(path) => {
                let ino = self.in_base(&path)?;
                self.link(ino, parent, &name, there).map_err(refuse)?
            }
        };
        self.made.push(made);
        Ok(())
    }

    /// Puts the attributes on.
    pub(super) fn finish(self) -> Result<()> {
        if let Some(limbo) = self.limbo {
            let root = self.fs.root();
            remove::remove_tree(self.fs, &ROOT, root, LIMBO, limbo, 0).map_err(|errno| refused(errno, b"/"))?;
        }
        for (ino, look) in self.looks {
            // Something that a later record removed has no attributes any more.
            if let Ok(stat) = self.fs.stat(ino) {
                self.fs.imprint(ino, &look.on(stat)).map_err(|errno| refused(errno, b"/"))?;
            }
        }
        Ok(())
    }

    fn of(&self, record: u64) -> Result<Option<Ino>> {
        let found = usize::try_from(record).ok().and_then(|record| self.made.get(record));
        found.copied().ok_or_else(|| damaged("a record names one that does not come before it"))
    }

    fn is(&self, ino: Ino, kind: Kind) -> bool {
        self.fs.stat(ino).is_ok_and(|stat| stat.kind == kind)
    }

    fn child(&self, parent: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match self.fs.walk(&ROOT, parent, name, false) {
            Ok(Target::Node(ino)) => Ok(Some(ino)),
            Ok(Target::Proc(_)) => Err(Errno::Rofs),
            Err(Errno::Noent) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn style(&mut self, ino: Option<Ino>, look: Look) -> Option<Ino> {
        self.looks.extend(ino.map(|ino| (ino, look)));
        ino
    }

    /// The directory of this name. Another base image may lack it or have something else there.
    fn dir(&mut self, parent: Ino, name: &[u8], there: Option<Ino>) -> Result<Ino, Errno> {
        match there {
            Some(ino) if self.is(ino, Kind::Dir) => Ok(ino),
            _ => {
                self.vacate(parent, name, there)?;
                self.fs.mkdir(&ROOT, parent, name, 0o755, 0)
            }
        }
    }

    fn vacate(&mut self, parent: Ino, name: &[u8], there: Option<Ino>) -> Result<(), Errno> {
        if there.is_some() { self.fs.unlink(&ROOT, parent, name, 0) } else { Ok(()) }
    }

    fn remove(&mut self, parent: Ino, name: &[u8], there: Option<Ino>) -> Result<(), Errno> {
        if there.is_none() {
            return Ok(());
        }
        self.base_files();
        let limbo = match self.limbo {
            Some(limbo) => limbo,
            None => self.fs.install_dir(&[b"/", LIMBO].concat(), 0o700, 0)?,
        };
        self.limbo = Some(limbo);
        self.removed += 1;
        self.fs.rename(&ROOT, parent, name, limbo, self.removed.to_string().as_bytes(), 0)
    }

    fn link(&mut self, ino: Ino, parent: Ino, name: &[u8], there: Option<Ino>) -> Result<Option<Ino>, Errno> {
        if there != Some(ino) {
            self.vacate(parent, name, there)?;
            self.fs.link(&ROOT, ino, parent, name, 0)?;
        }
        Ok(Some(ino))
    }

    fn fill(&mut self, ino: Ino, held: &Held, name: &[u8]) -> Result<()> {
        let mut blocks = Vec::new();
        for &(index, number) in &held.blocks {
            let block = usize::try_from(number).ok().and_then(|number| self.blocks.get(number));
            blocks.push((index, block.ok_or_else(|| damaged("a file names a block that is not there"))?.clone()));
        }
        let contents = Contents::assemble(held.len, blocks);
        let contents = contents.ok_or_else(|| damaged("a file has a block beyond its end"))?;
        self.fs.place_contents(ino, contents, 0).map_err(|errno| refused(errno, name))
    }

    /// The base image's files, where they are before the first of them is removed.
    fn base_files(&mut self) -> &[(Vec<u8>, Ino)] {
        let fs = &*self.fs;
        self.base.get_or_insert_with(|| installed(fs))
    }

    fn in_base(&mut self, path: &[u8]) -> Result<Ino> {
        let found = self.base_files().iter().find(|(known, _)| known == path).map(|&(_, ino)| ino);
        found.ok_or_else(|| {
            let path = String::from_utf8_lossy(path);
            damaged(&format!("the snapshot has a link to '{path}', which this base image lacks"))
        })
    }
}

/// Paths of all that the host installed, directories left out.
fn installed(fs: &Fs) -> Vec<(Vec<u8>, Ino)> {
    let (mut found, mut pending) = (Vec::new(), vec![(fs.root(), Vec::new())]);
    while let Some((dir, path)) = pending.pop() {
        for (name, ino, kind) in fs.read_dir(dir, None) {
            if !fs.is_installed(ino) {
                continue;
            }
            let path = [path.as_slice(), b"/", &name].concat();
            if kind == Kind::Dir { pending.push((ino, path)) } else { found.push((path, ino)) }
        }
    }
    found
}

fn refused(errno: Errno, name: &[u8]) -> Error {
    Error::from(refusal::refusal(errno, name))
}
