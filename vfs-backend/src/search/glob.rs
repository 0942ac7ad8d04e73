//! Finding files by name.

use tidebox_core::glob::GlobPattern;
use tidebox_core::{Dialect, FileInfo, FileResult, GlobRequest, GlobResponse, SandboxPath, Truncation};
use tidebox_kernel::fs::{Fs, Ino, Kind};
use tidebox_kernel::{Errno, SharedKernel};

use super::walk::Walk;
use super::{Deadline, GLOB_TIME, VISITS, VISITS_PER_YIELD};
use crate::file::{info, locate};
use crate::file_error::search_error;
use crate::yield_now::yield_now;

/// Maximum matches per search; the reference has the same limit.
const MATCHES: usize = 10_000;

pub(crate) async fn glob(kernel: &SharedKernel, request: &GlobRequest, dialect: Dialect) -> FileResult<GlobResponse> {
    let pattern = GlobPattern::parse(&request.pattern, dialect.glob_rules())?;
    let deadline = Deadline::after(kernel, GLOB_TIME);
    let mut search = {
        let kernel = kernel.lock();
        let dir = directory(kernel.fs(), request)?;
        Search { walk: Walk::new(kernel.fs(), dir, &pattern), response: GlobResponse::default() }
    };
    loop {
        if search.step(kernel.lock().fs(), request, &pattern, dialect) {
            return Ok(search.response);
        }
        if deadline.has_passed(kernel) {
            search.response.truncated = Some(Truncation::Budget);
            return Ok(search.response);
        }
        yield_now().await;
    }
}

fn directory(fs: &Fs, request: &GlobRequest) -> FileResult<Ino> {
    let path = request.path.as_bytes();
    let dir = match fs.walk(&crate::USER, fs.root(), path, true) {
        Err(errno) => return Err(search_error(errno, path)),
        Ok(_) => locate(fs, path, true)?,
    };
    match fs.stat(dir).map_err(|errno| search_error(errno, path))?.kind {
        Kind::Dir => Ok(dir),
        _ => Err(search_error(Errno::Notdir, path)),
    }
}

struct Search {
    walk: Walk,
    response: GlobResponse,
}

impl Search {
    /// Continues for one time slice; returns true when finished.
    fn step(&mut self, fs: &Fs, request: &GlobRequest, pattern: &GlobPattern, dialect: Dialect) -> bool {
        for _ in 0..VISITS_PER_YIELD {
            let Some(entry) = self.walk.next(fs, pattern) else {
                self.response.truncated = self.walk.unreadable.then_some(Truncation::Unreadable);
                return true;
            };
            if self.walk.visits > VISITS {
                self.response.truncated = Some(Truncation::Budget);
                return true;
            }
            let is_dir = matches!(entry.kind, Kind::Dir);
            let kinds = match entry.kind {
                Kind::File => true,
                // A link counts as its target: a link to a file is always found, a link to a directory only if the
                // dialect finds directories.
                Kind::Symlink => dialect.glob_finds_directories() || self.points_to_file(fs, request),
                Kind::Dir | Kind::Device(_) | Kind::Fifo => dialect.glob_finds_directories(),
            };
            if kinds && pattern.accepts(&entry.state, is_dir) {
                if self.response.files.len() >= MATCHES {
                    self.response.truncated = Some(Truncation::Budget);
                    return true;
                }
                self.response.files.extend(self.match_info(fs, entry.ino, request, dialect));
            }
            if is_dir && !entry.state.is_dead() {
                self.walk.enter(fs, entry.ino, entry.state);
            }
        }
        false
    }

    fn points_to_file(&self, fs: &Fs, request: &GlobRequest) -> bool {
        crate::file::open(fs, &request.path.join(self.walk.path()), 0).is_ok()
    }

    fn match_info(&self, fs: &Fs, ino: Ino, request: &GlobRequest, dialect: Dialect) -> Option<FileInfo> {
        let relative = dialect.glob_is_relative() && request.path != SandboxPath::root();
        let path = if relative { self.walk.path().to_vec() } else { request.path.join(self.walk.path()) };
        Some(info(path, &fs.stat(ino).ok()?))
    }
}
