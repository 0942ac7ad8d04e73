//! Finding files by name.

use tidebox_core::glob::GlobPattern;
use tidebox_core::{Dialect, FileInfo, FileResult, GlobRequest, GlobResponse, SandboxPath, Truncation};
use tidebox_kernel::fs::{Fs, Ino, Kind};
use tidebox_kernel::{Errno, SharedKernel};

use super::walk::Walk;
use super::{Deadline, GLOB_TIME, VISITS, VISITS_PER_TURN};
use crate::backend::lock;
use crate::file::{info, locate};
use crate::refusal::root_refusal;
use crate::turn::yield_now;

/// Matches that one search returns; the reference has the same bound.
const MATCHES: usize = 10_000;

pub(crate) async fn glob(kernel: &SharedKernel, request: &GlobRequest, dialect: Dialect) -> FileResult<GlobResponse> {
    let pattern = GlobPattern::parse(&request.pattern, dialect.glob_rules())?;
    let deadline = Deadline::after(kernel, GLOB_TIME);
    let mut search = {
        let kernel = lock(kernel);
        let dir = directory(kernel.fs(), request)?;
        Search { walk: Walk::new(kernel.fs(), dir, &pattern), response: GlobResponse::default() }
    };
    loop {
        if search.step(lock(kernel).fs(), request, &pattern, dialect) {
            return Ok(search.response);
        }
        if deadline.is_over(kernel) {
            search.response.truncated = Some(Truncation::Budget);
            return Ok(search.response);
        }
        yield_now().await;
    }
}

fn directory(fs: &Fs, request: &GlobRequest) -> FileResult<Ino> {
    let path = request.path.as_bytes();
    let dir = match fs.walk(&crate::USER, fs.root(), path, true) {
        Err(errno) => return Err(root_refusal(errno, path)),
        Ok(_) => locate(fs, path, true)?,
    };
    match fs.stat(dir).map_err(|errno| root_refusal(errno, path))?.kind {
        Kind::Dir => Ok(dir),
        _ => Err(root_refusal(Errno::Notdir, path)),
    }
}

struct Search {
    walk: Walk,
    response: GlobResponse,
}

impl Search {
    /// Goes on for one turn; true when there is nothing left to do.
    fn step(&mut self, fs: &Fs, request: &GlobRequest, pattern: &GlobPattern, dialect: Dialect) -> bool {
        for _ in 0..VISITS_PER_TURN {
            let Some(entry) = self.walk.next(fs, pattern) else {
                self.response.truncated = self.walk.unreadable.then_some(Truncation::Unreadable);
                return true;
            };
            if self.walk.visits > VISITS {
                self.response.truncated = Some(Truncation::Budget);
                return true;
            }
            let is_dir = matches!(entry.kind, Kind::Dir);
            let wanted = match entry.kind {
                Kind::File => true,
                // A link is what it points to: a file is found, a directory only where directories are.
                Kind::Symlink => dialect.glob_finds_directories() || self.points_to_file(fs, request),
                Kind::Dir | Kind::Device(_) | Kind::Fifo => dialect.glob_finds_directories(),
            };
            if wanted && pattern.accepts(&entry.state, is_dir) {
                if self.response.files.len() >= MATCHES {
                    self.response.truncated = Some(Truncation::Budget);
                    return true;
                }
                self.response.files.extend(self.found(fs, entry.ino, request, dialect));
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

    fn found(&self, fs: &Fs, ino: Ino, request: &GlobRequest, dialect: Dialect) -> Option<FileInfo> {
        let relative = dialect.glob_is_relative() && request.path != SandboxPath::root();
        let path = if relative { self.walk.path().to_vec() } else { request.path.join(self.walk.path()) };
        Some(info(path, &fs.stat(ino).ok()?))
    }
}
