//! Lines from the terminal, with editing and history, or from whatever else our standard input is.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context as _, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

/// The prompt of a line that goes on.
const CONTINUED: &str = "> ";

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, or several that belong together.
    Text(String),
    /// Ctrl-C before the end of the line.
    Dropped,
    /// Ctrl-D, or the end of the input.
    End,
}

/// The terminal, or a pipe or file in its place.
#[derive(Debug)]
pub(super) struct Input {
    editor: DefaultEditor,
    is_terminal: bool,
    /// `None` where there is no terminal or no place for it.
    history: Option<PathBuf>,
}

impl Input {
    pub(super) fn open() -> Result<Self> {
        let mut editor = DefaultEditor::new().context("cannot set up line editing")?;
        let is_terminal = io::stdin().is_terminal();
        let history = history_file().filter(|_| is_terminal);
        if let Some(file) = &history {
            // There is none before the first session.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, is_terminal, history })
    }

    /// Tells a person at a terminal something.
    pub(super) fn greet(&self, text: &str) {
        if self.is_terminal {
            eprintln!("{text}");
        }
    }

    /// Reads until what was read is no longer `unfinished`.
    pub(super) fn read(&mut self, prompt: &str, unfinished: impl Fn(&str) -> bool) -> Result<Line> {
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { prompt } else { CONTINUED };
            match self.editor.readline(prompt) {
                Ok(line) => text.push_str(&line),
                Err(ReadlineError::Interrupted) => return Ok(Line::Dropped),
                // What an unfinished text lacks will not come any more; the shell inside says what it is.
                Err(ReadlineError::Eof) if text.is_empty() => return Ok(Line::End),
                Err(ReadlineError::Eof) => return Ok(Line::Text(text)),
                Err(error) => return Err(error).context("cannot read the next line"),
            }
            if text.ends_with('\\') || unfinished(&text) {
                text.push('\n');
                continue;
            }
            self.remember(&text);
            return Ok(Line::Text(text));
        }
    }

    fn remember(&mut self, text: &str) {
        let Some(file) = &self.history else { return };
        // Saved after every line, so that a session that is killed loses nothing. A history that cannot be saved is no
        // reason to disturb the work.
        let _ = self.editor.add_history_entry(text);
        let _ = self.editor.append_history(file);
    }
}

/// Where programs keep such state: below `XDG_STATE_HOME`, else below the home directory.
fn history_file() -> Option<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => env::home_dir()?.join(".local").join("state"),
    };
    let folder = state.join("tidebox");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
