//! Applies changes to the snapshot that they were made from.

use std::collections::HashMap;

use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Block, Contents, Fs, Ino, Kind, Resolved};

use super::changes::{ContentChange, DIR, FIFO, FILE, SYMLINK};
use super::container::Container;
use super::corrupt_snapshot;
use super::decode::operation_error;
use super::record::{Attributes, MAX_LENGTH};
use super::wire::Reader;
use crate::{ROOT, remove};

/// A name that is otherwise unused.
const STAGING_DIR: &[u8] = b"\x01changed in a snapshot\x01";

/// Relation of the base image below the snapshot to the one that the changes were made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseImageMatch {
    /// It is the same: what is missing is an error.
    Same,
    /// It may be another one: directories that it lacks are created, and names that it has are replaced.
    Any,
}

/// Applies changes and returns the state of the shell session if it has changed.
///
/// The bytes are untrusted. Names that are taken away are kept until the end, so `fs` must have room for both states; the caller
/// checks the limits afterwards.
pub(super) fn apply(
    fs: &mut Fs,
    container: &Container,
    limits: &Limits,
    base: BaseImageMatch,
) -> Result<Option<Vec<u8>>> {
    let mut from = Reader::new(&container.meta);
    let shell_state = match from.number()? {
        0 => None,
        _ => Some(from.bytes(limits.shell_state_bytes as usize)?.to_vec()),
    };
    let mut changes = ChangeDecoder::new(fs, &container.blocks, limits, base)?;
    changes.locations(&mut from)?;
    changes.removed(&mut from)?;
    changes.new_inodes(&mut from)?;
    changes.added(&mut from)?;
    changes.changed(&mut from)?;
    from.end()?;
    changes.finish()?;
    Ok(shell_state)
}

struct ChangeDecoder<'a> {
    fs: &'a mut Fs,
    blocks: &'a [Block],
    limits: &'a Limits,
    base: BaseImageMatch,
    /// Inodes by their number.
    inodes: Vec<Ino>,
    staging: Ino,
    /// Directories in the staging directory, and their names there.
    staged: HashMap<Ino, Vec<u8>>,
    names: u64,
    /// Attributes to set at the end, because creating entries changes times.
    attributes: Vec<(Ino, Attributes)>,
}

impl<'a> ChangeDecoder<'a> {
    fn new(fs: &'a mut Fs, blocks: &'a [Block], limits: &'a Limits, base: BaseImageMatch) -> Result<Self> {
        let root = fs.root();
        let stat = fs.stat(root).map_err(|errno| operation_error(errno, b"/"))?;
        let staging = fs.install_dir(&[b"/", STAGING_DIR].concat(), 0o700, 0);
        let staging = staging.map_err(|errno| operation_error(errno, STAGING_DIR))?;
        Ok(Self {
            fs,
            blocks,
            limits,
            base,
            inodes: vec![root],
            staging,
            staged: HashMap::new(),
            names: 0,
            attributes: vec![(root, Attributes::of(&stat))],
        })
    }

    fn locations(&mut self, from: &mut Reader<'_>) -> Result<()> {
        for _ in 0..from.number()? {
            let (dir, name) = self.entry(from)?;
            let ino = self.located(dir, name)?;
            self.inodes.push(ino);
        }
        Ok(())
    }

    fn removed(&mut self, from: &mut Reader<'_>) -> Result<()> {
        for _ in 0..from.number()? {
            let (dir, name) = self.entry(from)?;
            let ino = self.child(dir, name)?;
            let staged = self.staging_name(ino);
            self.fs.rename(&ROOT, dir, name, self.staging, &staged, 0).map_err(|errno| operation_error(errno, name))?;
        }
        Ok(())
    }

    fn new_inodes(&mut self, from: &mut Reader<'_>) -> Result<()> {
        for _ in 0..from.number()? {
            let (kind, attributes) = (from.number()?, Attributes::read(from)?);
            // A number that no inode has; the name is what counts.
            self.names += 1;
            let name = self.names.to_string().into_bytes();
            let to_error = |errno| operation_error(errno, &name);
            let ino = match kind {
                DIR => self.fs.mkdir(&ROOT, self.staging, &name, 0o755, 0).map_err(to_error)?,
                FIFO => self.fs.mkfifo(&ROOT, self.staging, &name, 0o644, 0).map_err(to_error)?,
                SYMLINK => {
                    let target = from.bytes(MAX_LENGTH)?;
                    self.fs.symlink(&ROOT, target, self.staging, &name, 0).map_err(to_error)?
                }
                FILE => {
                    let (ino, _) = self.fs.create(&ROOT, self.staging, &name, 0o644, true, 0).map_err(to_error)?;
                    self.change_content(ino, from)?;
                    ino
                }
                _ => return Err(corrupt_snapshot("a new inode has an unknown kind")),
            };
            if kind == DIR {
                self.staged.insert(ino, name);
            }
            self.inodes.push(ino);
            self.attributes.push((ino, attributes));
        }
        Ok(())
    }

    fn added(&mut self, from: &mut Reader<'_>) -> Result<()> {
        for _ in 0..from.number()? {
            let (dir, name) = self.entry(from)?;
            let ino = self.inode(from)?;
            self.replace_existing(dir, name)?;
            let added = match self.staged.remove(&ino) {
                Some(staged) => self.fs.rename(&ROOT, self.staging, &staged, dir, name, 0),
                // The name in the staging directory, if there is one, disappears with it.
                None => self.fs.link(&ROOT, ino, dir, name, 0),
            };
            added.map_err(|errno| operation_error(errno, name))?;
        }
        Ok(())
    }

    fn changed(&mut self, from: &mut Reader<'_>) -> Result<()> {
        for _ in 0..from.number()? {
            let ino = self.inode(from)?;
            self.attributes.push((ino, Attributes::read(from)?));
            if from.number()? != 0 {
                self.change_content(ino, from)?;
            }
        }
        Ok(())
    }

    /// Returns the inode of a location. Everything but a directory of the base image exists.
    fn located(&mut self, dir: Ino, name: &[u8]) -> Result<Ino> {
        let missing =
            self.base == BaseImageMatch::Any && matches!(self.fs.walk(&ROOT, dir, name, false), Err(Errno::Noent));
        if missing {
            return self.fs.mkdir(&ROOT, dir, name, 0o755, 0).map_err(|errno| operation_error(errno, name));
        }
        self.child(dir, name)
    }

    /// Moves away what another base image has at a name that is added.
    fn replace_existing(&mut self, dir: Ino, name: &[u8]) -> Result<()> {
        if self.base == BaseImageMatch::Same {
            return Ok(());
        }
        let Ok(existing) = self.child(dir, name) else { return Ok(()) };
        let staged = self.staging_name(existing);
        let moved = self.fs.rename(&ROOT, dir, name, self.staging, &staged, 0);
        moved.map_err(|errno| operation_error(errno, name))
    }

    fn change_content(&mut self, ino: Ino, from: &mut Reader<'_>) -> Result<()> {
        let ContentChange { len, blocks } = ContentChange::read(from, self.limits)?;
        let mut changes = Vec::new();
        for (index, kept, number) in blocks {
            let rest = match number.checked_sub(1) {
                None => &[],
                Some(number) => {
                    let block = usize::try_from(number).ok().and_then(|number| self.blocks.get(number));
                    block.ok_or_else(|| corrupt_snapshot("a file refers to a missing block"))?.as_bytes()
                }
            };
            changes.push((index, kept, rest));
        }
        let before: Contents = self.fs.contents(ino).map_err(|errno| operation_error(errno, b"a file"))?;
        let contents = before.patched(len, changes);
        let contents = contents.ok_or_else(|| corrupt_snapshot("the blocks of a file do not fit"))?;
        self.fs.set_contents(ino, contents, 0).map_err(|errno| operation_error(errno, b"a file"))
    }

    /// Removes what has no name any more, and sets the attributes.
    fn finish(self) -> Result<()> {
        let (root, to_error) = (self.fs.root(), |errno| operation_error(errno, b"/"));
        remove::remove_tree(self.fs, &ROOT, root, STAGING_DIR, self.staging, 0).map_err(to_error)?;
        for (ino, attributes) in self.attributes {
            // An inode that was taken away has no attributes.
            if let Ok(stat) = self.fs.stat(ino) {
                self.fs.set_stat(ino, &attributes.apply_to(stat)).map_err(to_error)?;
            }
        }
        Ok(())
    }

    fn inode(&self, from: &mut Reader<'_>) -> Result<Ino> {
        let found = usize::try_from(from.number()?).ok().and_then(|number| self.inodes.get(number));
        found.copied().ok_or_else(|| corrupt_snapshot("a change refers to an inode that is not listed before it"))
    }

    fn entry<'b>(&self, from: &mut Reader<'b>) -> Result<(Ino, &'b [u8])> {
        let (dir, name) = (self.inode(from)?, from.bytes(MAX_LENGTH)?);
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
            return Err(corrupt_snapshot("something has an impossible name"));
        }
        Ok((dir, name))
    }

    /// Returns the inode of a name in the snapshot that the changes were made from.
    fn child(&self, dir: Ino, name: &[u8]) -> Result<Ino> {
        match self.fs.walk(&ROOT, dir, name, false) {
            Ok(Resolved::Node(ino)) if ino != self.staging => Ok(ino),
            Err(Errno::Noent) | Ok(_) => {
                let name = name.escape_ascii();
                let message =
                    format!("the changes are not of this snapshot: it has no '{name}'; apply them to the one before");
                Err(Error::new(ErrorKind::InvalidRequest, "apply changes", message))
            }
            Err(errno) => Err(operation_error(errno, name)),
        }
    }

    /// Returns an unused name in the staging directory, and remembers it for a directory.
    fn staging_name(&mut self, ino: Ino) -> Vec<u8> {
        self.names += 1;
        let name = self.names.to_string().into_bytes();
        if self.fs.stat(ino).is_ok_and(|stat| stat.kind == Kind::Dir) {
            self.staged.insert(ino, name.clone());
        }
        name
    }
}
