//! Persistence of shell state between commands.

/// Initial state of the shell of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShellMode {
    /// Only the files of earlier commands, as with the cloud providers.
    #[default]
    Fresh,
    /// The sandbox's shell session: working directory, variables, functions and aliases are those at the end of the last command
    /// that finished in the session. Options, traps, `$?`, positional parameters, open descriptors and jobs are not kept.
    Persistent,
}

impl ShellMode {
    /// Returns a stable name for other languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Persistent => "persistent",
        }
    }
}
