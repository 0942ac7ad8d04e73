//! `grep`, `egrep` and `fgrep` with the command line of GNU.

mod input;
mod options;
mod output;
mod search;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::exit;

use options::{Directories, Listing, Options, Request};
use output::Output;
use search::{Searcher, Summary};
use tidebox_gnu::message::{bytes_path, error_text, path_bytes, print_error};
use tidebox_gnu::regex::Regex;
use tidebox_gnu::stream::StandardInput;
use tidebox_gnu::tool::print_and_exit_code;

/// Exit code of an error.
const TROUBLE: i32 = 2;

fn main() {
    tidebox_rt::init();
    exit(run());
}

fn run() -> i32 {
    let request = match options::parse(&tidebox_gnu::message::program(), tidebox_gnu::message::arguments()) {
        Ok(request) => request,
        Err(message) => {
            if let Some(message) = message {
                print_error("grep", &message);
            }
            tidebox_gnu::eprint_line!("{}", options::USAGE);
            return TROUBLE;
        }
    };
    let options = match request {
        Request::Search(options) => options,
        Request::Print(text) => return print_and_exit_code("grep", &text, TROUBLE),
        Request::NoSuchChoice(message) => {
            print_error("grep", &message);
            tidebox_gnu::eprint_line!("{}", options::USAGE);
            // The only error with a different exit code.
            return 1;
        }
        Request::Fail(message) => {
            print_error("grep", &message);
            return TROUBLE;
        }
    };
    let regex = match Regex::new(&options.patterns, &options.regex) {
        Ok(regex) => regex,
        Err(error) => {
            let message = error.to_string();
            print_error("grep", if message.ends_with("nested too deeply") { "stack overflow" } else { &message });
            return TROUBLE;
        }
    };
    for warning in regex.warnings() {
        print_error("grep: warning", warning);
    }
    if selects_nothing(&options) && options.listing != Listing::NotMatching {
        return 1;
    }
    let mut grep = Grep { options: &options, regex: &regex, out: Output::new(&options), matched: false, failed: false };
    grep.all();
    grep.end()
}

/// Returns whether no line can be selected in any file, so that the files are not read.
fn selects_nothing(options: &Options) -> bool {
    let whole = options.regex.whole_line || options.regex.whole_word;
    let all = !whole && options.patterns.iter().any(Vec::is_empty);
    options.max_count == Some(0) || if options.invert { all } else { options.patterns.is_empty() }
}

struct Grep<'a> {
    options: &'a Options,
    regex: &'a Regex,
    out: Output,
    /// A line was selected somewhere.
    matched: bool,
    /// A message was printed, or would have been without `-s`.
    failed: bool,
}

impl Grep<'_> {
    fn all(&mut self) {
        let files = &self.options.files;
        let recursive = self.options.directories == Directories::Recurse;
        if files.is_empty() && recursive {
            // The files are then printed without `./`.
            self.walk(Path::new("."), true);
        } else if files.is_empty() {
            self.file(None, b"-", false);
        }
        for name in files {
            if self.is_done() {
                return;
            }
            if name == b"-" {
                self.file(None, name, false);
                continue;
            }
            let path = bytes_path(name).to_owned();
            let is_folder = path.is_dir();
            if self.options.filter.excludes_argument(name, is_folder) {
                continue;
            }
            if is_folder && recursive {
                self.walk(&path, false);
            } else if !(is_folder && self.options.directories == Directories::Skip || self.skips(name)) {
                self.file(Some(&path), name, false);
            }
        }
    }

    /// Returns whether a name is a device or FIFO that is skipped.
    fn skips(&self, name: &[u8]) -> bool {
        self.options.skips_devices
            && tidebox_rt::stat(name, true)
                .is_ok_and(|stat| !matches!(stat.kind(), tidebox_rt::FileKind::File | tidebox_rt::FileKind::Dir))
    }

    /// Returns whether the exit code is final and no output remains.
    fn is_done(&self) -> bool {
        self.out.is_broken() || (self.options.quiet && self.matched)
    }

    fn walk(&mut self, root: &Path, bare: bool) {
        let mut walk = walk::Walk::new(root, self.options.follow_links);
        while let Some(next) = walk.next_file(&self.options.filter) {
            match next {
                Ok(path) => {
                    let shown = if bare { path.strip_prefix(root).unwrap_or(&path).to_owned() } else { path.clone() };
                    self.file(Some(&path), path_bytes(&shown), true);
                }
                Err(walk::WalkError { path, reason }) => self.trouble(path_bytes(&path), &reason),
            }
            if self.is_done() {
                return;
            }
        }
    }

    fn trouble(&mut self, name: &[u8], reason: &str) {
        self.failed = true;
        if !self.options.no_messages {
            self.out.flush();
            print_error("grep", &format!("{}: {reason}", String::from_utf8_lossy(name)));
        }
    }

    /// Searches one file; without a path, standard input.
    fn file(&mut self, path: Option<&PathBuf>, name: &[u8], walked: bool) {
        let shown = match path {
            Some(_) => name.to_vec(),
            None => self.options.label.clone().unwrap_or_else(|| b"(standard input)".to_vec()),
        };
        self.out.begin_file(shown.clone(), self.options.with_names.unwrap_or(walked || self.options.files.len() > 1));
        if self.options.initial_tab {
            let state = match path {
                Some(path) => tidebox_rt::stat(path_bytes(path), true),
                None => tidebox_rt::fstat(0),
            };
            let size = state
                .ok()
                .filter(|state| state.kind() == tidebox_rt::FileKind::File)
                .map_or(i64::MAX as u64, |state| state.size);
            self.out.number_width(size.saturating_add(u64::from(self.options.line_numbers)));
        }
        let found = match path {
            Some(path) => match File::open(path) {
                Ok(file) if self.is_output(path) => {
                    drop(file);
                    self.trouble(name, "input file is also the output");
                    return;
                }
                Ok(file) => self.search(file),
                Err(error) => {
                    self.trouble(name, &error_text(&error));
                    return;
                }
            },
            None if self.is_output_state(tidebox_rt::fstat(0).ok()) => {
                self.trouble(&shown, "input file is also the output");
                return;
            }
            None => {
                let found = self.search(StandardInput);
                StandardInput::unread(found.unused);
                found
            }
        };
        if let Some(error) = &found.error {
            self.trouble(&shown, error);
        }
        self.report(&found);
    }

    fn search(&mut self, from: impl Read) -> Summary {
        Searcher::new(self.options, self.regex, &mut self.out).search(from)
    }

    /// Prints the per-file summary.
    fn report(&mut self, found: &Summary) {
        let selected = found.selected > 0;
        self.matched |= selected;
        if self.options.quiet {
            return;
        }
        match self.options.listing {
            Listing::Matching if selected => self.out.file_name(),
            Listing::NotMatching if !selected => self.out.file_name(),
            Listing::Count => self.out.count(found.selected),
            Listing::Lines if selected && found.binary => self.out.binary_matches(),
            _ => {}
        }
    }

    /// Returns whether the search would never end because the output is appended to the file itself.
    fn is_output(&self, path: &Path) -> bool {
        self.is_output_state(tidebox_rt::stat(path_bytes(path), true).ok())
    }

    fn is_output_state(&self, file: Option<tidebox_rt::Stat>) -> bool {
        if self.options.quiet || self.options.listing != Listing::Lines || self.options.max_count == Some(1) {
            return false;
        }
        let out = tidebox_rt::fstat(1).ok().filter(|out| out.kind() == tidebox_rt::FileKind::File);
        let Some(out) = out else {
            return false;
        };
        file.is_some_and(|file| (file.dev, file.ino) == (out.dev, out.ino))
    }

    fn end(mut self) -> i32 {
        self.out.flush();
        if let Some(error) = self.out.error() {
            print_error("grep", &format!("write error: {error}"));
            return TROUBLE;
        }
        match (self.matched, self.failed) {
            (true, true) if self.options.quiet => 0,
            (_, true) => TROUBLE,
            (true, false) => 0,
            (false, false) => 1,
        }
    }
}
