//! `tidebox completions` and `tidebox man`: files for an installation, from the definition of the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use clap_complete::Shell;

use crate::cli::output::STDOUT_FAILED;
use crate::cli::{args, exit_code};

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "tidebox", &mut script);
    io::stdout().lock().write_all(&script).context(STDOUT_FAILED)?;
    Ok(exit_code::SUCCESS)
}

/// Writes a manual page of `tidebox` and one of each command into a directory, which is created if it is missing.
pub(crate) fn man(dir: &Path) -> Result<u8> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    clap_mangen::generate_to(args::command(), dir)
        .with_context(|| format!("cannot write the manual pages into {}", dir.display()))?;
    Ok(exit_code::SUCCESS)
}
