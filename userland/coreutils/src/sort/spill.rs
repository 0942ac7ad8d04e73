//! Temporary files, removed at the end.

use tidebox_gnu::message::{path_label, quote_path};
use tidebox_gnu::stream::Output;
use tidebox_rt::{Errno, Open};

use super::fail;
use super::lines::Sink;
use crate::common::Failure;

/// Names that are tried before giving up.
const TRIES: usize = 100;

#[derive(Debug)]
pub(super) struct Spill {
    folders: Vec<Vec<u8>>,
    made: Vec<Vec<u8>>,
}

impl Spill {
    /// Files are made in `folders` in turn, or where the environment says.
    pub(super) fn new(folders: &[Vec<u8>]) -> Self {
        let mut folders = folders.to_vec();
        if folders.is_empty() {
            folders.push(std::env::var_os("TMPDIR").map_or_else(|| b"/tmp".to_vec(), |name| name.into_encoded_bytes()));
        }
        Self { folders, made: Vec::new() }
    }

    /// Makes a file of what `write` writes, and answers its name.
    pub(super) fn write(
        &mut self,
        end: u8,
        write: impl FnOnce(&mut Sink<'_>) -> Result<(), Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let at = self.made.len() % self.folders.len().max(1);
        let folder = self.folders.get(at).cloned().unwrap_or_else(|| b"/tmp".to_vec());
        let refused =
            |errno: Errno| fail(format!("cannot create temporary file in {}: {}", quote_path(&folder), errno.text()));
        let mut tries = 0;
        let (name, fd) = loop {
            let mut random = [0; 6];
            tidebox_rt::random(&mut random).map_err(refused)?;
            let letters: Vec<u8> = random.iter().map(|byte| b'a' + byte % 26).collect();
            let name = [folder.as_slice(), b"/sort", &letters].concat();
            let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
            match tidebox_rt::open(&name, how) {
                Ok(fd) => break (name, fd),
                Err(Errno::EXIST) if tries < TRIES => tries += 1,
                Err(errno) => return Err(refused(errno)),
            }
        };
        self.made.push(name.clone());
        let mut sink = Sink { out: Output::to(fd), end, debug: None };
        write(&mut sink)?;
        sink.out.flush_now();
        let closed = tidebox_rt::close(fd);
        match sink.out.failure().or(closed.err()) {
            None => Ok(name),
            Some(errno) => Err(fail(format!("write failed: {}: {}", path_label(&name), errno.text()))),
        }
    }

    /// Removes a file that is not needed any more, if it is one of these.
    pub(super) fn forget(&self, name: &[u8]) {
        if self.made.iter().any(|made| made == name) {
            // It is removed with the others.
            let _ = tidebox_rt::unlink(name);
        }
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        for name in &self.made {
            // The file may already be removed.
            let _ = tidebox_rt::unlink(name);
        }
    }
}
