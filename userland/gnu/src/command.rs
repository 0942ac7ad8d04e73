//! Running other programs.

use tidebox_rt::{Errno, ExitStatus, Fd, SpawnRequest, WaitResult};

/// Default of `PATH`.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Interpreter of an executable file that is neither a module nor a script with `#!`.
const SHELL: &[u8] = b"/bin/sh";

/// A program to run.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// The arguments, the program's name first.
    pub arguments: &'a [&'a [u8]],
    /// The environment; `None` inherits the caller's.
    pub environment: Option<&'a [Vec<u8>]>,
    /// The working directory; empty means the caller's.
    pub directory: &'a [u8],
    /// Pairs of the child's descriptor and the caller's descriptor.
    pub descriptors: &'a [(Fd, Fd)],
    /// As in [`SpawnRequest`]: 0 the caller's process group, 1 a new one.
    pub group: u32,
    /// Signals that the child starts with ignored; bit *n* is signal *n*.
    pub ignored: u64,
}

/// The caller's standard input, output and error.
pub const STANDARD: &[(Fd, Fd)] = &[(0, 0), (1, 1), (2, 2)];

impl<'a> Command<'a> {
    /// A command that inherits everything.
    pub fn new(arguments: &'a [&'a [u8]]) -> Self {
        Self { arguments, environment: None, directory: b"", descriptors: STANDARD, group: 0, ignored: 0 }
    }

    /// Starts the program and returns its process id. The program is looked up in `PATH` of the environment it receives.
    pub fn spawn(&self) -> Result<u32, Errno> {
        let inherited;
        let environment = match self.environment {
            Some(environment) => environment,
            None => {
                inherited = tidebox_rt::environ();
                &inherited
            }
        };
        let name = self.arguments.first().copied().unwrap_or_default();
        if name.is_empty() {
            return Err(Errno::NOENT);
        }
        if name.contains(&b'/') {
            return self.start(name, environment);
        }
        let path = environment.iter().rev().find_map(|entry| entry.strip_prefix(b"PATH="));
        let mut answer = Errno::NOENT;
        for folder in path.unwrap_or(DEFAULT_PATH).split(|byte| *byte == b':') {
            let folder = if folder.is_empty() { b"." } else { folder };
            match self.start(&[folder, b"/", name].concat(), environment) {
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                // A file without execute permission is skipped, but reported if no other file is found.
                Err(Errno::ACCES) => answer = Errno::ACCES,
                other => return other,
            }
        }
        Err(answer)
    }

    fn start(&self, path: &[u8], environment: &[Vec<u8>]) -> Result<u32, Errno> {
        match self.start_with(self.descriptors, path, environment) {
            // A descriptor that is closed here is closed in the child, too.
            Err(Errno::BADF) => {
                let is_open = |pair: &&(Fd, Fd)| tidebox_rt::fstat(pair.1).is_ok();
                let open: Vec<(Fd, Fd)> = self.descriptors.iter().filter(is_open).copied().collect();
                self.start_with(&open, path, environment)
            }
            other => other,
        }
    }

    fn start_with(&self, descriptors: &[(Fd, Fd)], path: &[u8], environment: &[Vec<u8>]) -> Result<u32, Errno> {
        let environment: Vec<&[u8]> = environment.iter().map(Vec::as_slice).collect();
        let mut request = SpawnRequest {
            path,
            args: self.arguments,
            env: &environment,
            cwd: self.directory,
            fds: descriptors,
            group: self.group,
            ignored: self.ignored,
        };
        match tidebox_rt::spawn(&request) {
            Err(Errno::NOEXEC) => {
                let mut script = vec![SHELL, path];
                script.extend(self.arguments.iter().skip(1));
                (request.path, request.args) = (SHELL, &script);
                tidebox_rt::spawn(&request)
            }
            other => other,
        }
    }

    /// Runs the program until it exits.
    pub fn run(&self) -> Result<ExitStatus, Errno> {
        wait(self.spawn()?)
    }
}

/// Waits for a child to end.
pub fn wait(pid: u32) -> Result<ExitStatus, Errno> {
    let pid = i32::try_from(pid).map_err(|_| Errno::CHILD)?;
    loop {
        match tidebox_rt::wait(pid, true) {
            Ok(Some(WaitResult { status, .. })) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
