//! Finding files by content.
//!
//! The pattern is literal in both dialects, so the substring search that ripgrep uses for literals is sufficient;
//! `docs/decisions/own-globs-literal-grep.md` explains why no more of ripgrep is used.

use memchr::memmem::Finder;
use tidebox_core::glob::{GlobPattern, GlobRules};
use tidebox_core::{Dialect, FileError, FileResult, GrepMatch, GrepRequest, GrepResponse, SandboxPath, Truncation};
use tidebox_kernel::SharedKernel;
use tidebox_kernel::fs::{Contents, Fs, Kind};

use super::lines::LineSearch;
use super::walk::Walk;
use super::{Deadline, GREP_TIME, VISITS, VISITS_PER_YIELD};
use crate::USER;
use crate::file::{self, CHUNKS_PER_YIELD, ChunkReader, READ};
use crate::file_error::{file_error, not_regular, search_error};
use crate::yield_now::yield_now;

/// Maximum memory of the matches of one search.
const MATCH_BYTES: usize = 8 << 20;

/// Overhead of a match besides its path and text.
const MATCH_OVERHEAD: usize = 64;

/// Maximum files whose content is taken per lock acquisition.
const FILES_PER_YIELD: usize = 64;

/// Prefix in which a NUL byte makes a file binary: git's rule and number, as for `read`.
const NUL_WITHIN_BYTES: usize = 8000;

pub(crate) async fn grep(kernel: &SharedKernel, request: &GrepRequest, dialect: Dialect) -> FileResult<GrepResponse> {
    if request.pattern.contains(&b'\n') {
        return Err(FileError::pattern_spans_lines());
    }
    let filter = Filter::new(request, dialect)?;
    let mut found = MatchCollector::new(request);
    let deadline = Deadline::after(kernel, GREP_TIME);
    let mut files = {
        let kernel = kernel.lock();
        Files::new(kernel.fs(), &request.path, &filter)?
    };
    let finder = Finder::new(&request.pattern);
    loop {
        let (batch, more) = files.batch(kernel.lock().fs(), &request.path, &filter);
        for (path, contents) in batch {
            if !found.search(&finder, &path, &contents, || deadline.has_passed(kernel)).await {
                return Ok(found.response);
            }
        }
        if more && deadline.has_passed(kernel) {
            found.response.truncated = Some(Truncation::Budget);
            return Ok(found.response);
        }
        if !more {
            found.response.truncated = found.response.truncated.or(files.truncation());
            return Ok(found.response);
        }
        yield_now().await;
    }
}

/// Selects the files to search.
struct Filter {
    pattern: GlobPattern,
    skip_git: bool,
}

impl Filter {
    fn new(request: &GrepRequest, dialect: Dialect) -> FileResult<Self> {
        let pattern = request.glob.as_deref().unwrap_or(b"**");
        let pattern = GlobPattern::parse(pattern, GlobRules::FILTER)?;
        Ok(Self { pattern, skip_git: dialect.grep_skips_git() })
    }
}

/// The files to search, found incrementally.
enum Files {
    One(Option<(Vec<u8>, Contents)>),
    Tree(Walk, bool),
}

impl Files {
    fn new(fs: &Fs, path: &SandboxPath, filter: &Filter) -> FileResult<Self> {
        let bytes = path.as_bytes();
        if let Err(errno) = fs.walk(&USER, fs.root(), bytes, true) {
            return Err(search_error(errno, bytes));
        }
        let ino = file::locate(fs, bytes, true)?;
        match fs.stat(ino).map_err(|errno| file_error(errno, bytes))?.kind {
            Kind::Dir => Ok(Self::Tree(Walk::new(fs, ino, &filter.pattern), false)),
            Kind::File => {
                fs.access(&USER, ino, READ).map_err(|errno| file_error(errno, bytes))?;
                let contents = fs.contents(ino).map_err(|errno| file_error(errno, bytes))?;
                let requested = filter.pattern.matches(path.name(), false);
                Ok(Self::One(requested.then(|| (bytes.to_vec(), contents))))
            }
            Kind::Symlink | Kind::Device(_) | Kind::Fifo => Err(not_regular(bytes)),
        }
    }

    /// Returns the next files, and whether there may be more.
    fn batch(&mut self, fs: &Fs, root: &SandboxPath, filter: &Filter) -> (Vec<(Vec<u8>, Contents)>, bool) {
        let (walk, unreadable) = match self {
            Self::One(file) => return (file.take().into_iter().collect(), false),
            Self::Tree(walk, unreadable) => (walk, unreadable),
        };
        let mut batch = Vec::new();
        for _ in 0..VISITS_PER_YIELD {
            if batch.len() >= FILES_PER_YIELD {
                break;
            }
            if walk.visits >= VISITS {
                return (batch, false);
            }
            let Some(entry) = walk.next(fs, &filter.pattern) else { return (batch, false) };
            match entry.kind {
                Kind::Dir if filter.skip_git && (walk.path() == b".git" || walk.path().ends_with(b"/.git")) => {}
                Kind::Dir if !entry.state.is_dead() => walk.enter(fs, entry.ino, entry.state),
                Kind::File if filter.pattern.accepts(&entry.state, false) => {
                    match fs.access(&USER, entry.ino, READ).and_then(|()| fs.contents(entry.ino)) {
                        Ok(contents) => batch.push((root.join(walk.path()), contents)),
                        Err(_) => *unreadable = true,
                    }
                }
                _ => {}
            }
        }
        (batch, true)
    }

    fn truncation(&self) -> Option<Truncation> {
        match self {
            Self::One(_) => None,
            Self::Tree(walk, _) if walk.visits >= VISITS => Some(Truncation::Budget),
            Self::Tree(walk, unreadable) => (*unreadable || walk.unreadable).then_some(Truncation::Unreadable),
        }
    }
}

/// The matches found, and the remaining limits.
struct MatchCollector {
    response: GrepResponse,
    max_count: usize,
    available: usize,
}

impl MatchCollector {
    fn new(request: &GrepRequest) -> Self {
        Self {
            response: GrepResponse::default(),
            max_count: request.max_count.unwrap_or(usize::MAX),
            available: MATCH_BYTES,
        }
    }

    /// Searches one file; returns false when the search has to end.
    async fn search(
        &mut self,
        finder: &Finder<'_>,
        path: &[u8],
        contents: &Contents,
        over: impl Fn() -> bool + Send,
    ) -> bool {
        let mut lines = LineSearch::new(finder);
        let mut reader = ChunkReader::new(contents);
        while let Some((number, chunk)) = reader.next() {
            if number == 1 && memchr::memchr(0, chunk.get(..NUL_WITHIN_BYTES).unwrap_or(chunk)).is_some() {
                return true;
            }
            if !lines.push(chunk, &mut |line, text| self.add(path, line, text)) {
                return false;
            }
            if number % CHUNKS_PER_YIELD == 0 {
                if over() {
                    self.response.truncated = Some(Truncation::Budget);
                    return false;
                }
                yield_now().await;
            }
        }
        let mut go_on = true;
        let left_out = lines.finish(&mut |line, text| {
            go_on = self.add(path, line, text);
            go_on
        });
        if left_out && go_on {
            self.response.truncated = Some(Truncation::Budget);
        }
        go_on
    }

    /// Adds a match. A match over the limit is dropped and marks the result as truncated.
    fn add(&mut self, path: &[u8], line: u64, text: &[u8]) -> bool {
        let cost = path.len().saturating_add(text.len()).saturating_add(MATCH_OVERHEAD);
        let why = if self.response.matches.len() >= self.max_count {
            Truncation::MaxCount
        } else if cost > self.available {
            Truncation::Budget
        } else {
            self.available -= cost;
            self.response.matches.push(GrepMatch { path: path.to_vec(), line, text: text.to_vec() });
            return true;
        };
        self.response.truncated = Some(why);
        false
    }
}
