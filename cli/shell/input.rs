//! Reads lines from the terminal, with editing and history, or from other standard input.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context as _, Result};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use super::completion::SessionHelper;

/// Lines of the history file.
const HISTORY_LINES: usize = 10_000;

/// Prompt of a continuation line.
const CONTINUATION_PROMPT: &str = "> ";

/// Result of reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// One line, or several that form one command.
    Text(String),
    /// Ctrl-C during input.
    Cancelled,
    /// Ctrl-D or end of input.
    End,
}

/// The terminal, or other standard input.
pub(super) struct Input {
    editor: Editor<SessionHelper, FileHistory>,
    is_terminal: bool,
    /// `None` without a terminal or a state directory.
    history: Option<PathBuf>,
}

impl Input {
    pub(super) fn open(helper: SessionHelper) -> Result<Self> {
        // A line after a blank is not stored, as with HISTCONTROL=ignorespace.
        let config = Config::builder().completion_type(CompletionType::List).history_ignore_space(true);
        let mut editor = Editor::with_config(config.max_history_size(HISTORY_LINES)?.build())
            .context("cannot set up line editing")?;
        editor.set_helper(Some(helper));
        let is_terminal = io::stdin().is_terminal();
        let history = history_file().filter(|_| is_terminal);
        if let Some(file) = &history {
            // The file does not exist before the first session.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, is_terminal, history })
    }

    /// Prints a text if standard input is a terminal.
    pub(super) fn print_banner(&self, text: &str) {
        if self.is_terminal {
            eprintln!("{text}");
        }
    }

    /// Reads lines until the text is no longer `unfinished`.
    pub(super) fn read(&mut self, prompt: &str, unfinished: impl Fn(&str) -> bool) -> Result<Line> {
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { prompt } else { CONTINUATION_PROMPT };
            match self.editor.readline(prompt) {
                Ok(line) => text.push_str(&line),
                Err(ReadlineError::Interrupted) => return Ok(Line::Cancelled),
                // Run the incomplete text at the end of input; the shell reports the error.
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
        // Saved after every line, so that a killed session loses nothing. Errors are ignored.
        let _ = self.editor.add_history_entry(text);
        let _ = self.editor.append_history(file);
    }
}

/// Returns the history file below `XDG_STATE_HOME`, else below the home directory.
fn history_file() -> Option<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => env::home_dir()?.join(".local").join("state"),
    };
    let dir = state.join("tidebox");
    fs::create_dir_all(&dir).ok()?;
    Some(dir.join("history"))
}
