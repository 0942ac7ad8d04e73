//! Temporary files, removed at the end.

use tidebox_gnu::message::{path_label, quote_path};
use tidebox_gnu::stream::Output;
use tidebox_rt::{Errno, Open};

use super::fail;
use super::lines::Sink;
use crate::common::Failure;

/// Maximum number of attempts to find an unused name.
const MAX_TRIES: usize = 100;

#[derive(Debug)]
pub(super) struct Spill {
    dirs: Vec<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

impl Spill {
    /// Uses the directories alternately. Without any, it uses `TMPDIR` or `/tmp`.
    pub(super) fn new(dirs: &[Vec<u8>]) -> Self {
        let mut dirs = dirs.to_vec();
        if dirs.is_empty() {
            dirs.push(std::env::var_os("TMPDIR").map_or_else(|| b"/tmp".to_vec(), |name| name.into_encoded_bytes()));
        }
        Self { dirs, files: Vec::new() }
    }

    /// Creates a file with the output of `write`, and returns its name.
    pub(super) fn write(
        &mut self,
        end: u8,
        write: impl FnOnce(&mut Sink<'_>) -> Result<(), Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let at = self.files.len() % self.dirs.len().max(1);
        let dir = self.dirs.get(at).cloned().unwrap_or_else(|| b"/tmp".to_vec());
        let create_error =
            |errno: Errno| fail(format!("cannot create temporary file in {}: {}", quote_path(&dir), errno.text()));
        let mut tries = 0;
        let (name, fd) = loop {
            let mut random = [0; 6];
            tidebox_rt::random(&mut random).map_err(create_error)?;
            let letters: Vec<u8> = random.iter().map(|byte| b'a' + byte % 26).collect();
            let name = [dir.as_slice(), b"/sort", &letters].concat();
            let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
            match tidebox_rt::open(&name, how) {
                Ok(fd) => break (name, fd),
                Err(Errno::EXIST) if tries < MAX_TRIES => tries += 1,
                Err(errno) => return Err(create_error(errno)),
            }
        };
        self.files.push(name.clone());
        let mut sink = Sink { out: Output::to(fd), end, debug: None };
        write(&mut sink)?;
        sink.out.flush_now();
        let closed = tidebox_rt::close(fd);
        match sink.out.failure().or(closed.err()) {
            None => Ok(name),
            Some(errno) => Err(fail(format!("write failed: {}: {}", path_label(&name), errno.text()))),
        }
    }

    /// Removes a file if it is one of the temporary files.
    pub(super) fn remove(&self, name: &[u8]) {
        if self.files.iter().any(|file| file == name) {
            // After an error the file is removed with the others.
            let _ = tidebox_rt::unlink(name);
        }
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        for name in &self.files {
            // The file may already be removed.
            let _ = tidebox_rt::unlink(name);
        }
    }
}
