//! Host tools: commands of the sandbox that run application code.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileAccess, FileError, FileErrorCode, FileResult, HostCall, HostFiles, HostTool,
    Result, SandboxId, SandboxPath,
};
use tidebox_kernel::{HostProgram, HostPrograms, Kernel, ProcessHandle};

use crate::builder::SandboxBuilder;
use crate::file::FileReader;
use crate::image::is_command_name;
use crate::{file, tool};

impl SandboxBuilder {
    /// Makes an application function available as the command `/usr/local/bin/<name>`: a program in the sandbox that
    /// runs it calls the function, which has the application's authority and its captured state. The sandbox sees only
    /// what the function writes and its exit code.
    ///
    /// In the sandbox it is an ordinary process: `which` finds it, it works in pipes and in the background, signals and
    /// timeouts end it, and it counts as a process. A command of this name in `/bin` stays, but `PATH` finds this one
    /// first. Forks of the sandbox have the same tools. For an `Arc<dyn HostTool>` pass `move |call| tool.call(call)`.
    ///
    /// ```no_run
    /// # use tidebox_core::BrokenPipe;
    /// # use tidebox_vfs_backend::SandboxBuilder;
    /// # fn example(builder: SandboxBuilder, token: String) -> SandboxBuilder {
    /// builder.host_tool("ask", move |mut call| {
    ///     let token = token.clone();
    ///     async move {
    ///         let question = call.argument(1).unwrap_or_default().into_owned();
    ///         let reply = format!("{question}? A token of {} letters may know.\n", token.len());
    ///         call.stdout.write(reply).await.map_or(BrokenPipe::EXIT_CODE, |()| 0)
    ///     }
    /// })
    /// # }
    /// ```
    ///
    /// [`build`](Self::build) rejects a name that is not a valid file name or is used twice.
    #[must_use]
    pub fn host_tool<Answer>(
        self,
        name: impl Into<String>,
        tool: impl Fn(HostCall) -> Answer + Send + Sync + 'static,
    ) -> Self
    where
        Answer: Future<Output = u8> + Send + 'static,
    {
        self.host_tool_at(tool::COMMAND_DIR, name.into(), Arc::new(tool))
    }

    /// Adds a host tool in another directory, for commands that are not found through `PATH`.
    #[must_use]
    pub(crate) fn host_tool_at(mut self, dir: &'static str, name: String, tool: Arc<dyn HostTool>) -> Self {
        self.host_tools.push(HostToolSpec { dir, name, tool });
        self
    }
}

/// A host tool and the location of its file.
pub(crate) struct HostToolSpec {
    dir: &'static str,
    name: String,
    tool: Arc<dyn HostTool>,
}

/// Installs the tools as commands of the sandbox with this id. `taken` lists names of other programs in the command
/// directory.
pub(crate) fn install(
    kernel: &mut Kernel,
    sandbox: &SandboxId,
    tools: Vec<HostToolSpec>,
    taken: &[String],
) -> Result<()> {
    let mut programs = HostPrograms::new(sandbox.clone());
    let mut paths = Vec::new();
    for HostToolSpec { dir, name, tool } in tools {
        if !is_command_name(&name) {
            return Err(tool_error(&name, "invalid command name; use a file name without slashes"));
        }
        let path = format!("{dir}/{name}");
        if paths.contains(&path) || (dir == tool::COMMAND_DIR && taken.contains(&name)) {
            return Err(tool_error(&name, "two programs have this name; remove one of them"));
        }
        programs.add(path.as_bytes(), HostToolProgram(tool));
        paths.push(path);
    }
    if paths.is_empty() {
        return Ok(());
    }
    kernel.set_host_programs(programs).map_err(|errno| {
        let message = format!("cannot create the files of {}: {errno}", paths.join(", "));
        Error::new(ErrorKind::InvalidRequest, "build sandbox", message)
    })
}

fn tool_error(name: &str, why: &str) -> Error {
    let message = format!("cannot install the host tool '{}': {why}", name.escape_debug());
    Error::new(ErrorKind::InvalidRequest, "build sandbox", message)
}

/// A tool as started by the kernel: with access to the sandbox's files.
struct HostToolProgram(Arc<dyn HostTool>);

impl fmt::Debug for HostToolProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answering").finish_non_exhaustive()
    }
}

impl HostProgram for HostToolProgram {
    fn start(&self, process: ProcessHandle, mut call: HostCall) -> BoxFuture<'static, u8> {
        call.files = HostFiles::new(call.cwd.clone(), ProcessFiles(process));
        self.0.call(call)
    }
}

/// Access to the sandbox's files while the calling process lives.
struct ProcessFiles(ProcessHandle);

fn call_ended(path: &SandboxPath) -> FileError {
    let message = format!("Permission denied: '{path}'; the call has ended");
    FileError::new(FileErrorCode::PermissionDenied, message)
}

impl FileAccess for ProcessFiles {
    fn read<'a>(&'a self, path: &'a SandboxPath, max_bytes: u64) -> BoxFuture<'a, FileResult<Vec<u8>>> {
        Box::pin(async move {
            // Copied after releasing the lock; the content does not change.
            let opened = self.0.with_kernel(|kernel| FileReader::new(kernel.fs(), path));
            let opened = opened.ok_or_else(|| call_ended(path))??;
            opened.read_all(max_bytes).ok_or_else(|| {
                let message = format!("'{path}' is larger than the {max_bytes} bytes that this command reads");
                FileError::new(FileErrorCode::TooLarge, message)
            })
        })
    }

    fn write<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> BoxFuture<'a, FileResult<()>> {
        Box::pin(async move {
            let put = self.0.with_kernel(|kernel| file::write_file(kernel, path, content, true));
            put.ok_or_else(|| call_ended(path))?.map(drop)
        })
    }
}
