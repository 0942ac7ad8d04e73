//! Whether one command finds what the command before left in the shell.

/// What the shell of a command starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShellMode {
    /// Nothing of earlier commands but the files, as the providers have it.
    #[default]
    Fresh,
    /// The sandbox's shell session: working directory, variables, functions and aliases are as the last command that
    /// finished in the session left them. Options, traps, `$?`, positional parameters, open descriptors and jobs are not.
    Persistent,
}

impl ShellMode {
    /// A stable name for other languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Persistent => "persistent",
        }
    }
}
