//! Emulators of the cloud providers for tests: `tidebox serve` as a user runs it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::RETRY;
use crate::project::Project;
use crate::step::Progress;

/// The API key of the emulators. Tests check that it does not leak.
const KEY: &str = "planted-key-of-the-emulator";

/// Servers that run until this is dropped.
#[derive(Debug)]
pub(super) struct Emulators {
    process: Child,
    /// Kept open, so that the emulators can continue to write.
    _printed: BufReader<ChildStdout>,
    /// Environment variables with their addresses.
    variables: Vec<(String, String)>,
}

impl Emulators {
    pub(super) fn start(project: &Project, progress: &mut Progress) -> Result<Self> {
        let build = project.cargo(&["build", "--locked", "--workspace", "--bin", "tidebox"]);
        progress.run("build the command tidebox", build, RETRY)?;
        let mut command = Command::new(project.tidebox());
        command.args(["serve", "--provider", "all", "--listen", "127.0.0.1:0", "--key", KEY]);
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start the emulators")?;
        let mut printed = BufReader::new(process.stdout.take().context("their output is a pipe")?);
        let mut variables = vec![("TIDEBOX_EMULATORS_KEY".to_owned(), KEY.to_owned())];
        loop {
            let mut line = String::new();
            if printed.read_line(&mut line).context("cannot read the output of the emulators")? == 0 {
                bail!(
                    "the emulators exited before they were ready; run `tidebox serve --provider all` to see the cause"
                );
            }
            if line.starts_with("# ready") {
                return Ok(Self { process, _printed: printed, variables });
            }
            variables.extend(exported(&line));
        }
    }

    /// Sets the variables for a program.
    pub(super) fn point(&self, command: &mut Command) {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }
}

impl Drop for Emulators {
    fn drop(&mut self) {
        // The process may have exited already; its sandboxes end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Name and value of a line `export NAME='VALUE'`.
fn exported(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim_end().strip_prefix("export ")?.split_once('=')?;
    let value = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
    Some((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_a_shell_are_variables() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(exported("export E2B_API_URL='http://127.0.0.1:1'\n"), pair("E2B_API_URL", "http://127.0.0.1:1"));
        assert_eq!(exported("# e2b at http://127.0.0.1:1\n"), None);
    }
}
