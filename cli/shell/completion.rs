//! Completion of commands and files of the sandbox with the Tab key.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use tokio::runtime::Runtime;

use super::commands;
use crate::{ExecuteRequest, Sandbox, SandboxBackend as _};

/// Characters that end an argument in the shell.
const SEPARATORS: &[char] = &[' ', '\t', '\n', ';', '|', '&', '(', ')', '<', '>', '`'];

/// Characters that need a backslash in an argument.
const SPECIAL: &[char] = &[
    ' ', '\t', '\n', ';', '|', '&', '(', ')', '<', '>', '`', '"', '\'', '\\', '$', '*', '?', '[', ']', '{', '}', '!',
    '#',
];

/// Timeout of a completion, below the time in which a user types the name.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The sandbox of the session and the runtime that its commands run in.
pub(super) struct Session {
    pub(super) runtime: Runtime,
    sandbox: RefCell<Arc<Sandbox>>,
}

impl Session {
    pub(super) fn new(runtime: Runtime, sandbox: Arc<Sandbox>) -> Self {
        Self { runtime, sandbox: RefCell::new(sandbox) }
    }

    pub(super) fn sandbox(&self) -> Arc<Sandbox> {
        Arc::clone(&self.sandbox.borrow())
    }

    /// Continues in another sandbox, and returns the previous one.
    pub(super) fn switch(&self, sandbox: Arc<Sandbox>) -> Arc<Sandbox> {
        self.sandbox.replace(sandbox)
    }

    /// Runs a command line and returns the lines of its output. An error is the same as an empty output.
    fn lines(&self, command: String) -> Vec<String> {
        let request = ExecuteRequest::new(command).with_timeout(TIMEOUT);
        match self.runtime.block_on(self.sandbox().execute(request)) {
            Ok(response) => response.stdout_text().lines().map(str::to_owned).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Completes the name of a command or a file.
    fn candidates(&self, word: &str, is_command: bool) -> Vec<Pair> {
        let quoted = crate::shell_backend::quote(word);
        let mut names: Vec<(String, bool)> = match is_command {
            true => self.lines(format!("compgen -c -- {quoted}")).into_iter().map(|name| (name, false)).collect(),
            false => {
                let directories = self.lines(format!("compgen -d -- {quoted}"));
                let files = self.lines(format!("compgen -f -- {quoted}"));
                files.into_iter().map(|name| (name.clone(), directories.contains(&name))).collect()
            }
        };
        names.sort();
        names.dedup();
        let is_unique = names.len() == 1;
        let pair = |(name, is_directory): (String, bool)| {
            let end = match (is_directory, is_unique) {
                (true, _) => "/",
                (false, true) => " ",
                (false, false) => "",
            };
            let last = name.rsplit('/').next().unwrap_or(&name);
            Pair { display: format!("{last}{}", end.trim()), replacement: format!("{}{end}", escape(&name)) }
        };
        names.into_iter().map(pair).collect()
    }
}

/// Completes lines for the editor.
pub(super) struct SessionHelper {
    session: Rc<Session>,
    host_files: FilenameCompleter,
}

impl SessionHelper {
    pub(super) fn new(session: Rc<Session>) -> Self {
        Self { session, host_files: FilenameCompleter::new() }
    }
}

impl Helper for SessionHelper {}
impl Hinter for SessionHelper {
    type Hint = String;
}
impl Highlighter for SessionHelper {}
impl Validator for SessionHelper {}

impl Completer for SessionHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or(line);
        let (start, word, is_command) = last_word(before);
        if before.starts_with(':') {
            return match before.split_whitespace().next() {
                Some(":upload") if start > 0 => self.host_files.complete(line, at, context),
                Some(":download") if start > 0 => Ok((start, self.session.candidates(&word, false))),
                _ if start == 0 => Ok((0, commands::complete(before))),
                _ => Ok((at, Vec::new())),
            };
        }
        // A path to a program is a file.
        let is_command = is_command && !word.contains('/');
        Ok((start, self.session.candidates(&word, is_command)))
    }
}

/// Returns where the last argument of a line starts, its text without backslashes, and whether it is the name of a command.
fn last_word(line: &str) -> (usize, String, bool) {
    let mut start = 0;
    let (mut word, mut escaped) = (String::new(), false);
    for (at, char) in line.char_indices() {
        if !escaped && char == '\\' {
            escaped = true;
        } else if !escaped && (SEPARATORS.contains(&char) || char == '"' || char == '\'') {
            start = at + char.len_utf8();
            word.clear();
        } else {
            word.push(char);
            escaped = false;
        }
    }
    let before = line.get(..start).unwrap_or_default().trim_end_matches([' ', '\t']);
    (start, word, before.is_empty() || before.ends_with([';', '|', '&', '(', '`', '\n']))
}

fn escape(name: &str) -> String {
    name.chars().flat_map(|char| SPECIAL.contains(&char).then_some('\\').into_iter().chain([char])).collect()
}

/// Returns the last component of a path of the host.
pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed() {
        for (line, start, word, is_command) in [
            ("", 0, "", true),
            ("ec", 0, "ec", true),
            ("ls su", 3, "su", false),
            ("ls | so", 5, "so", true),
            ("a=$(ca", 4, "ca", true),
            ("cat a\\ b/c", 4, "a b/c", false),
            ("cat \"x", 5, "x", false),
            ("true; ", 6, "", true),
            ("cat <in", 5, "in", false),
        ] {
            assert_eq!(last_word(line), (start, word.to_owned(), is_command), "{line:?}");
        }
        assert_eq!(escape("a b'c"), "a\\ b\\'c");
    }
}
