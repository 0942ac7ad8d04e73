//! Commands of the session itself, which start with a colon.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rustyline::completion::Pair;

use super::Shell;
use super::completion::file_name;
use crate::cli::limits;
use crate::cli::output::{STDOUT_FAILED, format_bytes};
use crate::{Change, ExecuteRequest, ExecuteResponse, SandboxBackend as _, SandboxPath, Snapshot, Upload};

/// Name of the snapshot of the start of the session.
const START: &str = "start";

/// The commands, their arguments and their meaning.
const COMMANDS: [(&str, &str, &str); 10] = [
    (":help", "", "list these commands"),
    (":snapshot", "[NAME]", "remember all files and the state of the shell"),
    (":restore", "NAME", "return to a snapshot"),
    (":diff", "[NAME]", "show what changed since a snapshot, or since the start of the session"),
    (":upload", "HOST [GUEST]", "copy a file of this host into the sandbox"),
    (":download", "GUEST [HOST]", "copy a file of the sandbox to this host"),
    (":limits", "", "show the limits of the sandbox"),
    (":fork", "", "continue in a copy of the sandbox"),
    (":back", "", "return to the sandbox that was copied, and discard the copy"),
    (":time", "on|off", "show time and memory after each command"),
];

/// Returns whether a line is a command of the session. `:` alone is a command of the shell.
pub(super) fn is_command(line: &str) -> bool {
    line.strip_prefix(':').is_some_and(|name| name.starts_with(|char: char| char.is_ascii_alphabetic()))
}

/// Returns the names that start with a prefix.
pub(super) fn complete(prefix: &str) -> Vec<Pair> {
    let names = COMMANDS.into_iter().map(|(name, ..)| name).filter(|name| name.starts_with(prefix));
    names.map(|name| Pair { display: name.to_owned(), replacement: format!("{name} ") }).collect()
}

impl Shell {
    /// Runs a command of the session. An error is printed, and the session continues.
    pub(super) fn run_command(&mut self, line: &str) -> Result<()> {
        let words = split_words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match self.dispatch(&words) {
            Ok(text) => {
                self.last = 0;
                io::stdout().lock().write_all(text.as_bytes()).context(STDOUT_FAILED)
            }
            Err(error) => {
                self.last = 1;
                eprintln!("tidebox: {}", crate::cli::format_error_chain(&error));
                Ok(())
            }
        }
    }

    /// Returns the text to print.
    fn dispatch(&mut self, words: &[&str]) -> Result<String> {
        match words {
            [":help"] => Ok(help()),
            [":snapshot"] => self.snapshot(&self.free_number()),
            [":snapshot", name] => self.snapshot(name),
            [":restore", name] => self.restore(name),
            [":diff"] => self.diff(START),
            [":diff", name] => self.diff(name),
            [":upload", host] => self.upload(host, None),
            [":upload", host, guest] => self.upload(host, Some(guest)),
            [":download", guest] => self.download(guest, None),
            [":download", guest, host] => self.download(guest, Some(host)),
            [":limits"] => Ok(limits::table_of(&self.limits)),
            [":fork"] => self.fork(),
            [":back"] => self.back(),
            [":time", "on"] => self.set_time(true),
            [":time", "off"] => self.set_time(false),
            [name, ..] => match COMMANDS.into_iter().find(|(known, ..)| known == name) {
                Some((name, arguments, _)) => {
                    bail!("wrong arguments; usage: {}", format!("{name} {arguments}").trim_end())
                }
                None => bail!("unknown command {name}; `:help` lists the commands of the session"),
            },
            [] => Ok(String::new()),
        }
    }

    /// Remembers the start of the session.
    pub(super) fn remember_start(&mut self) -> Result<()> {
        let start = self.session.sandbox().snapshot()?;
        self.snapshots.insert(START.to_owned(), start);
        Ok(())
    }

    /// Returns the first number that is not the name of a snapshot.
    fn free_number(&self) -> String {
        let mut names = (1..=self.snapshots.len()).map(|number| number.to_string());
        // Among as many numbers as there are names, one is free: the start has a name that is not a number.
        names.find(|name| !self.snapshots.contains_key(name)).unwrap_or_default()
    }

    fn snapshot(&mut self, name: &str) -> Result<String> {
        let snapshot = self.session.sandbox().snapshot()?;
        let text = format!("snapshot {name}: {} in files\n", format_bytes(snapshot.file_bytes()));
        self.snapshots.insert(name.to_owned(), snapshot);
        Ok(text)
    }

    fn find(&self, name: &str) -> Result<&Snapshot> {
        let names = || self.snapshots.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        self.snapshots.get(name).with_context(|| format!("no snapshot {name}; there are: {}", names()))
    }

    fn restore(&mut self, name: &str) -> Result<String> {
        self.session.sandbox().restore(self.find(name)?)?;
        Ok(String::new())
    }

    fn diff(&self, name: &str) -> Result<String> {
        let now = self.session.sandbox().snapshot()?;
        let diff = Snapshot::diff(self.find(name)?, &now);
        let directories: String = diff.changes.iter().filter_map(describe_directory).collect();
        let cut = if diff.truncated { "more changes are not shown\n" } else { "" };
        Ok(format!("{directories}{}{cut}", String::from_utf8_lossy(&diff.to_patch())))
    }

    fn upload(&self, host: &str, guest: Option<&str>) -> Result<String> {
        let host = PathBuf::from(host);
        let content = fs::read(&host).with_context(|| format!("cannot read {}", host.display()))?;
        let guest =
            guest.or(file_name(&host)).context("the name of the file is not UTF-8; add its path in the sandbox")?;
        let path = self.guest_path(guest)?;
        let bytes = content.len() as u64;
        let results = self
            .session
            .runtime
            .block_on(self.session.sandbox().upload_files(vec![Upload::new(path.as_bytes(), content)]))?;
        for uploaded in results {
            uploaded.result.with_context(|| format!("cannot write {path}"))?;
        }
        Ok(format!("{} to {path}\n", format_bytes(bytes)))
    }

    fn download(&self, guest: &str, host: Option<&str>) -> Result<String> {
        let path = self.guest_path(guest)?;
        let target = match host {
            Some(host) => PathBuf::from(host),
            None => {
                let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                let name =
                    std::str::from_utf8(name).context("the name of the file is not UTF-8; add a path of this host")?;
                let target = PathBuf::from(name);
                if target.exists() {
                    bail!("{} exists; add the path of this host to replace it", target.display());
                }
                target
            }
        };
        let files = vec![path.as_bytes().to_vec()];
        let results = self.session.runtime.block_on(self.session.sandbox().download_files(files))?;
        let mut bytes = 0;
        for downloaded in results {
            let content = downloaded.result.with_context(|| format!("cannot read {path}"))?;
            bytes += content.len() as u64;
            fs::write(&target, content).with_context(|| format!("cannot write {}", target.display()))?;
        }
        Ok(format!("{} to {}\n", format_bytes(bytes), target.display()))
    }

    fn fork(&mut self) -> Result<String> {
        let copy = Arc::new(self.session.sandbox().fork()?);
        self.originals.push(self.session.switch(copy));
        Ok("this is a copy of the sandbox; `:back` returns and discards it\n".to_owned())
    }

    fn back(&mut self) -> Result<String> {
        let original = self.originals.pop().context("this sandbox is not a copy; `:fork` makes one")?;
        drop(self.session.switch(original));
        Ok(String::new())
    }

    fn set_time(&mut self, shows_time: bool) -> Result<String> {
        self.shows_time = shows_time;
        Ok(String::new())
    }

    /// Returns a path relative to the working directory of the session.
    fn guest_path(&self, path: &str) -> Result<SandboxPath> {
        let request = ExecuteRequest::new("builtin pwd");
        let response = self.session.runtime.block_on(self.session.sandbox().execute(request))?;
        Ok(SandboxPath::parse(response.stdout_text().trim_end_matches('\n'))?.resolve(path)?)
    }
}

/// Prints the figures of a command for `:time on`.
pub(super) fn print_figures(response: &ExecuteResponse) {
    let cpu = response.cpu_time.map_or_else(|| "unknown".to_owned(), |time| format!("{:.3} s", time.as_secs_f64()));
    let memory = format_bytes(response.peak_memory_bytes);
    eprintln!("[{:.3} s, processor {cpu}, peak memory {memory}]", response.duration.as_secs_f64());
}

/// Describes a directory that was added or removed, which a patch does not contain.
fn describe_directory(change: &Change) -> Option<String> {
    let is_directory = |side: crate::DiffSide| side.kind == crate::FileKind::Directory;
    let path = String::from_utf8_lossy(&change.path);
    match (change.before.map(is_directory), change.after.map(is_directory)) {
        (None | Some(false), Some(true)) => Some(format!("new directory {path}\n")),
        (Some(true), None | Some(false)) => Some(format!("deleted directory {path}\n")),
        _ => None,
    }
}

fn help() -> String {
    let row = |(name, arguments, meaning): &(&str, &str, &str)| format!("{name:<10} {arguments:<13} {meaning}\n");
    COMMANDS.iter().map(row).collect()
}

/// Splits a line at blanks outside quotes.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut escaped) = (None::<String>, None, false);
    for char in line.chars() {
        match char {
            _ if escaped => {
                word.get_or_insert_default().push(char);
                escaped = false;
            }
            '\\' if quote != Some('\'') => escaped = true,
            _ if quote == Some(char) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && char.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_quoted() {
        assert_eq!(split_words(":upload  'a b' c\\ d \"e'f\" ''"), [":upload", "a b", "c d", "e'f", ""]);
        assert_eq!(split_words("  "), [""; 0]);
    }

    #[test]
    fn only_names_after_a_colon_are_commands_of_the_session() {
        assert!(is_command(":help") && is_command(":nosuch"));
        assert!(!is_command(":") && !is_command(": true") && !is_command("a :help") && !is_command(":>file"));
    }
}
