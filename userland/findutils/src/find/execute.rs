//! `-exec` and related actions.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use tidebox_gnu::command::Command;
use tidebox_gnu::message::{print_error, quote_value};
use tidebox_rt::ExitStatus;

use crate::entry::Entry;

/// Maximum bytes of paths per command of `-exec ... +`, as in GNU.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024;

/// A command that runs for matching files.
#[derive(Debug)]
pub(crate) struct Execute {
    words: Vec<Vec<u8>>,
    /// Many files per command (`+`).
    many: bool,
    /// Run in the directory of the file.
    in_folder: bool,
    /// Prompt first.
    prompts: bool,
    /// Pending files by directory. Without `in_folder` there is one list.
    waiting: RefCell<BTreeMap<Vec<u8>, Batch>>,
    failed: Cell<bool>,
}

#[derive(Debug, Default)]
struct Batch {
    paths: Vec<Vec<u8>>,
    bytes: usize,
}

/// Returns whether an argument contains the placeholder `{}`.
pub(crate) fn holds_braces(word: &[u8]) -> bool {
    word.windows(2).any(|pair| pair == b"{}")
}

impl Execute {
    pub(crate) fn new(words: Vec<Vec<u8>>, many: bool, in_folder: bool, prompts: bool) -> Self {
        Self { words, many, in_folder, prompts, waiting: RefCell::default(), failed: Cell::new(false) }
    }

    /// Runs the command for a file, or queues the file. Returns whether it succeeded.
    pub(crate) fn run(&self, entry: &Entry) -> bool {
        let (folder, path) = if self.in_folder {
            let name =
                if entry.name() == b"/" { entry.name().to_vec() } else { [b"./".as_slice(), &entry.base()].concat() };
            let folder = if entry.folder().is_empty() { b"/" } else { entry.folder() };
            (folder.to_vec(), name)
        } else {
            (Vec::new(), entry.path.clone())
        };
        if self.many {
            self.keep(folder, path);
            return true;
        }
        if self.prompts && !self.ask(&entry.path) {
            return false;
        }
        let words: Vec<Vec<u8>> = self.words.iter().map(|word| fill_in(word, &path)).collect();
        self.start(&words, &folder)
    }

    fn keep(&self, folder: Vec<u8>, path: Vec<u8>) {
        let full = {
            let mut waiting = self.waiting.borrow_mut();
            let batch = waiting.entry(folder.clone()).or_default();
            batch.bytes += path.len() + 1;
            batch.paths.push(path);
            batch.bytes >= MAX_ARGUMENT_BYTES
        };
        if full {
            self.run_batch(&folder);
        }
    }

    /// Runs the pending commands. Returns whether all commands succeeded.
    pub(crate) fn finish(&self) -> bool {
        let folders: Vec<Vec<u8>> = self.waiting.borrow().keys().cloned().collect();
        for folder in folders {
            self.run_batch(&folder);
        }
        !self.failed.get()
    }

    fn run_batch(&self, folder: &[u8]) {
        let Some(batch) = self.waiting.borrow_mut().remove(folder) else {
            return;
        };
        let mut words = self.words.clone();
        // The last argument is `{}`.
        words.pop();
        words.extend(batch.paths);
        if !self.start(&words, folder) {
            self.failed.set(true);
        }
    }

    fn start(&self, words: &[Vec<u8>], folder: &[u8]) -> bool {
        let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let command = Command { directory: folder, ..Command::new(&arguments) };
        match command.run() {
            Ok(ExitStatus::Exited(code)) => code == 0,
            Ok(ExitStatus::Killed(signal)) => {
                let name = quote_value(arguments.first().copied().unwrap_or_default());
                print_error("find", &format!("{name} terminated by signal {signal}"));
                false
            }
            Err(error) => {
                let name = quote_value(arguments.first().copied().unwrap_or_default());
                print_error("find", &format!("{name}: {}", error.text()));
                false
            }
        }
    }

    fn ask(&self, path: &[u8]) -> bool {
        let name = String::from_utf8_lossy(self.words.first().map_or(b"".as_slice(), Vec::as_slice)).into_owned();
        tidebox_gnu::eprint_part!("< {name} ... {} > ? ", String::from_utf8_lossy(path));
        // At the end of input the command does not run.
        let _ = io::stderr().flush();
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim_start().starts_with(['y', 'Y'])
    }
}

fn fill_in(word: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len() + path.len());
    let mut rest = word;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"{}") {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(path);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
