//! File changes: new content, backups, deletion.

use std::fs;

use tidebox_gnu::backup::Backup;
use tidebox_gnu::message::{bytes_path, error_text};
use tidebox_gnu::stream::write_file;
use tidebox_rt::Errno;

use super::options::Options;
use super::{Fatal, failed};

/// New content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Becomes {
    Contents(Vec<u8>),
    /// A symbolic link with this target.
    Link(Vec<u8>),
    Gone,
}

/// Change of a file, applied after its patch or, for git, after all patches.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) name: Vec<u8>,
    pub(crate) becomes: Becomes,
    pub(crate) mode: Option<u32>,
    pub(crate) backup: bool,
}

fn io_error(what: &str, name: &[u8], error: &std::io::Error) -> Fatal {
    format!("{what} {} : {}", String::from_utf8_lossy(name), error_text(error))
}

impl Pending {
    /// Deletes the file.
    pub(crate) fn removal(name: Vec<u8>, backup: bool) -> Self {
        Self { name, becomes: Becomes::Gone, mode: None, backup }
    }

    pub(crate) fn is_removal(&self) -> bool {
        self.becomes == Becomes::Gone
    }

    /// Applies the change. `kept` are the files with a backup of this run, which later ones do not replace.
    pub(crate) fn place(&self, options: &Options, kept: &mut Vec<Vec<u8>>) -> Result<(), Fatal> {
        let exists = tidebox_rt::stat(&self.name, false).is_ok();
        if self.backup && !kept.contains(&self.name) {
            kept.push(self.name.clone());
            self.back_up(options, exists)?;
        }
        match &self.becomes {
            Becomes::Contents(contents) => self.write(contents),
            Becomes::Link(target) => self.make_link(target),
            // The backup may have moved it already.
            Becomes::Gone if exists && tidebox_rt::stat(&self.name, false).is_ok() => self.remove(),
            Becomes::Gone => Ok(()),
        }
    }

    fn back_up(&self, options: &Options, exists: bool) -> Result<(), Fatal> {
        let backup = backup_name(&self.name, options);
        make_folders(&backup)?;
        if exists {
            fs::rename(bytes_path(&self.name), bytes_path(&backup))
                .map_err(|error| io_error("Can't rename file", &self.name, &error))
        } else {
            write_file(&backup, b"").map_err(|errno| failed("Can't create file", &backup, errno))
        }
    }

    /// Writes a temporary file next to the file, so that the replacement is atomic.
    fn write(&self, contents: &[u8]) -> Result<(), Fatal> {
        make_folders(&self.name)?;
        if tidebox_rt::stat(&self.name, false)
            .is_ok_and(|stat| stat.kind() != tidebox_rt::FileKind::File && stat.kind() != tidebox_rt::FileKind::Symlink)
        {
            return write_file(&self.name, contents).map_err(|errno| failed("Can't create file", &self.name, errno));
        }
        let target = &self.name;
        let temporary = [target.as_slice(), b".patch-new".as_slice()].concat();
        let written = write_file(&temporary, contents).and_then(|()| match self.mode {
            Some(mode) => tidebox_gnu::mode::keep(&temporary, mode & 0o7777),
            None => Ok(()),
        });
        if let Err(errno) = written {
            let _ = tidebox_rt::unlink(&temporary);
            return Err(failed("Can't create file", &self.name, errno));
        }
        fs::rename(bytes_path(&temporary), bytes_path(target)).map_err(|error| {
            let _ = tidebox_rt::unlink(&temporary);
            io_error("Can't create file", &self.name, &error)
        })
    }

    fn make_link(&self, target: &[u8]) -> Result<(), Fatal> {
        make_folders(&self.name)?;
        match tidebox_rt::unlink(&self.name) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed("Can't remove file", &self.name, errno)),
        }
        tidebox_rt::symlink(target, &self.name).map_err(|errno| failed("Can't create symbolic link", &self.name, errno))
    }

    /// Removes the file, and directories that become empty.
    fn remove(&self) -> Result<(), Fatal> {
        tidebox_rt::unlink(&self.name).map_err(|errno| failed("Can't remove file", &self.name, errno))?;
        let mut folder = bytes_path(&self.name).parent();
        while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
            if fs::remove_dir(path).is_err() {
                break;
            }
            folder = path.parent();
        }
        Ok(())
    }
}

/// Creates the parent directories of a file.
pub(crate) fn make_folders(name: &[u8]) -> Result<(), Fatal> {
    match bytes_path(name).parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => fs::create_dir_all(folder).map_err(|error| io_error("Can't create file", name, &error)),
        None => Ok(()),
    }
}

/// Returns the backup name of a file.
fn backup_name(name: &[u8], options: &Options) -> Vec<u8> {
    let suffix = options.suffix.as_ref().unwrap_or(&options.default_suffix);
    Backup::with(options.naming, suffix).name(name)
}

/// Reads a file; a missing one is empty.
pub(crate) fn read_or_empty(name: &[u8]) -> Result<Vec<u8>, Errno> {
    match tidebox_gnu::stream::Input::file(name) {
        Ok(mut input) => input.read_to_end(),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Vec::new()),
        Err(errno) => Err(errno),
    }
}
