//! Selection of files to search.

use std::cmp::Ordering;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, Walk, WalkBuilder};
use tidebox_gnu::message::{bytes_path, path_bytes};

use crate::message;
use crate::options::{Mode, Options, SortBy, TypeChange};

/// A search input.
#[derive(Debug)]
pub(crate) struct Subject {
    /// `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    /// Named on the command line, so it is searched even if it looks binary.
    pub(crate) is_explicit: bool,
}

/// Start of the search: operands, working directory, or standard input.
#[derive(Debug)]
pub(crate) struct Roots {
    pub(crate) paths: Vec<PathBuf>,
    /// No operand was given, and names are shown without `./`.
    pub(crate) is_default: bool,
}

pub(crate) fn roots(options: &Options) -> Roots {
    if !options.paths.is_empty() {
        return Roots {
            paths: options.paths.iter().map(|path| bytes_path(path).to_owned()).collect(),
            is_default: false,
        };
    }
    let readable = tidebox_rt::fstat(0).is_ok_and(|stat| {
        use tidebox_rt::FileKind;
        matches!(stat.kind(), FileKind::File | FileKind::Pipe | FileKind::Socket)
    });
    let path = if readable && options.mode == Mode::Search { "-" } else { "./" };
    Roots { paths: vec![PathBuf::from(path)], is_default: true }
}

impl Roots {
    /// Returns whether only one file is searched, whose name is not shown.
    pub(crate) fn is_one_file(&self) -> bool {
        match self.paths.as_slice() {
            [path] => path.as_os_str() == "-" || path.is_file(),
            _ => false,
        }
    }

    /// All files, and errors about unreadable ones.
    pub(crate) fn walk(&self, options: &Options) -> Result<Subjects, String> {
        let mut paths = self.paths.iter();
        let first = paths.next().map_or(Path::new("./"), PathBuf::as_path);
        let mut builder = WalkBuilder::new(first);
        paths.for_each(|path| {
            builder.add(path);
        });
        for file in &options.ignore_files {
            if !options.no_ignore_files
                && let Some(error) = builder.add_ignore(bytes_path(file))
            {
                message::print(&message::of_walk(&error));
            }
        }
        let vcs = !options.no_ignore && !options.no_ignore_vcs;
        builder
            .max_depth(options.max_depth)
            .follow_links(options.follow)
            .max_filesize(options.max_filesize)
            .same_file_system(options.one_file_system)
            .overrides(overrides(options)?)
            .types(types(options)?)
            .hidden(!options.hidden)
            .parents(!options.no_ignore && !options.no_ignore_parent)
            .ignore(!options.no_ignore && !options.no_ignore_dot)
            .git_global(vcs && !options.no_ignore_global)
            .git_ignore(vcs)
            .git_exclude(vcs && !options.no_ignore_exclude)
            .require_git(!options.no_require_git)
            .ignore_case_insensitive(options.ignore_files_in_any_case);
        if !options.no_ignore {
            builder.add_custom_ignore_filename(".rgignore");
        }
        sort(&mut builder, options.sort);
        Ok(Subjects { walk: builder.build(), strip: self.is_default, quiet: options.no_messages })
    }
}

/// Files are sorted by name by default, so that the output is deterministic.
fn sort(builder: &mut WalkBuilder, by: Option<(SortBy, bool)>) {
    let turned = |order: Ordering, reverse: bool| if reverse { order.reverse() } else { order };
    match by {
        None | Some((SortBy::Path, false)) => {
            builder.sort_by_file_name(std::ffi::OsStr::cmp);
        }
        Some((SortBy::Path, true)) => {
            builder.sort_by_file_name(|left, right| right.cmp(left));
        }
        Some((by, reverse)) => {
            builder.sort_by_file_path(move |left, right| turned(time_of(left, by).cmp(&time_of(right, by)), reverse));
        }
    }
}

fn time_of(path: &Path, by: SortBy) -> Option<SystemTime> {
    let metadata: Metadata = path.metadata().ok()?;
    match by {
        SortBy::Accessed => metadata.accessed().ok(),
        SortBy::Created => metadata.created().ok(),
        SortBy::Modified | SortBy::Path => metadata.modified().ok(),
    }
}

/// Globs of `-g` and `--iglob`.
fn overrides(options: &Options) -> Result<Override, String> {
    let mut builder = OverrideBuilder::new(std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")));
    for (glob, any_case) in &options.globs {
        let result = builder
            .case_insensitive(*any_case || options.globs_ignore_case)
            .and_then(|builder| builder.add(glob).map(|_| ()));
        result.map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}

/// Types of `-t` and related options.
pub(crate) fn types(options: &Options) -> Result<Types, String> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for change in &options.types {
        match change {
            TypeChange::Select(name) => {
                builder.select(name);
            }
            TypeChange::Negate(name) => {
                builder.negate(name);
            }
            TypeChange::Clear(name) => {
                builder.clear(name);
            }
            TypeChange::Add(definition) => builder.add_def(definition).map_err(|error| error.to_string())?,
        }
    }
    builder.build().map_err(|error| error.to_string())
}

/// Iterator over the files of a search.
pub(crate) struct Subjects {
    walk: Walk,
    strip: bool,
    quiet: bool,
}

impl Iterator for Subjects {
    type Item = Subject;

    fn next(&mut self) -> Option<Subject> {
        loop {
            let entry = match self.walk.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    self.print(&error);
                    continue;
                }
            };
            if let Some(error) = entry.error() {
                self.print(error);
            }
            if let Some(subject) = self.subject(entry) {
                return Some(subject);
            }
        }
    }
}

impl Subjects {
    fn print(&self, error: &ignore::Error) {
        if self.quiet { message::note() } else { message::print(&message::of_walk(error)) }
    }

    fn subject(&self, entry: DirEntry) -> Option<Subject> {
        if entry.is_stdin() {
            return Some(Subject { path: None, is_explicit: true });
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        // An operand is searched directly unless it is a directory, which is walked.
        let is_named = entry.depth() == 0 && !entry.path().is_dir();
        if !is_file && !is_named {
            return None;
        }
        let path = entry.into_path();
        let path = if self.strip { path.strip_prefix("./").map(Path::to_owned).unwrap_or(path) } else { path };
        Some(Subject { path: Some(path), is_explicit: is_named })
    }
}

/// Prints the names of all files that would be searched.
pub(crate) fn list(options: &Options) -> Result<bool, String> {
    let roots = roots(options);
    let mut out = io::BufWriter::new(io::stdout());
    let mut found = false;
    for subject in roots.walk(options)? {
        found = true;
        if options.quiet {
            break;
        }
        let name = subject.path.as_deref().map_or(&b"<stdin>"[..], path_bytes);
        let end: &[u8] = if options.null { b"\0" } else { b"\n" };
        out.write_all(name).and_then(|()| out.write_all(end)).map_err(|error| crate::output::failed(&error))?;
    }
    out.flush().map_err(|error| crate::output::failed(&error))?;
    Ok(found)
}
