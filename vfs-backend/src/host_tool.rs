//! Commands of the sandbox that the application answers.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{
    BoxFuture, Error, ErrorKind, FileAccess, FileError, FileErrorCode, FileResult, HostCall, HostFiles, HostTool,
    Result, SandboxId, SandboxPath,
};
use tidebox_kernel::{CallingProcess, HostProgram, HostPrograms, Kernel};

use crate::builder::SandboxBuilder;
use crate::file::Opened;
use crate::image::is_command_name;
use crate::{file, tool};

impl SandboxBuilder {
    /// Makes a function of the application a command, `/usr/local/bin/<name>`: whoever runs it in the sandbox calls the
    /// function, which has the application's authority and what it captured. Of that the sandbox sees nothing but what the
    /// function writes and the exit code that it ends with.
    ///
    /// To the sandbox it is a process like every other: `which` finds it, it works in pipes and in the background,
    /// signals and limits of time end it, and it counts as a process. A command of this name in `/bin` stays, but `PATH`
    /// finds this one first. Forks of the sandbox have the same tools. For an `Arc<dyn HostTool>` give
    /// `move |call| tool.call(call)`.
    ///
    /// ```no_run
    /// # use tidebox_core::Disconnected;
    /// # use tidebox_vfs_backend::SandboxBuilder;
    /// # fn example(builder: SandboxBuilder, token: String) -> SandboxBuilder {
    /// builder.host_tool("ask", move |mut call| {
    ///     let token = token.clone();
    ///     async move {
    ///         let question = call.argument(1).unwrap_or_default().into_owned();
    ///         let answer = format!("{question}? A token of {} letters may know.\n", token.len());
    ///         call.stdout.write(answer).await.map_or(Disconnected::EXIT_CODE, |()| 0)
    ///     }
    /// })
    /// # }
    /// ```
    ///
    /// [`build`](Self::build) refuses a name that cannot be a file's or is given twice.
    #[must_use]
    pub fn host_tool<Answer>(
        self,
        name: impl Into<String>,
        tool: impl Fn(HostCall) -> Answer + Send + Sync + 'static,
    ) -> Self
    where
        Answer: Future<Output = u8> + Send + 'static,
    {
        self.host_tool_in(tool::FOLDER, name.into(), Arc::new(tool))
    }

    /// The same in another folder, for commands that are found in other ways than by `PATH`.
    #[must_use]
    pub(crate) fn host_tool_in(mut self, folder: &'static str, name: String, tool: Arc<dyn HostTool>) -> Self {
        self.host_tools.push(Installation { folder, name, tool });
        self
    }
}

/// A host tool and where its file is to be.
pub(crate) struct Installation {
    folder: &'static str,
    name: String,
    tool: Arc<dyn HostTool>,
}

/// Makes the tools commands of the sandbox with this id. The names in `taken` are other programs' in the folder of
/// commands.
pub(crate) fn install(
    kernel: &mut Kernel,
    sandbox: &SandboxId,
    tools: Vec<Installation>,
    taken: &[String],
) -> Result<()> {
    let mut programs = HostPrograms::new(sandbox.clone());
    let mut paths = Vec::new();
    for Installation { folder, name, tool } in tools {
        if !is_command_name(&name) {
            return Err(refused(&name, "this cannot be a command's name; use a file name without slashes"));
        }
        let path = format!("{folder}/{name}");
        if paths.contains(&path) || (folder == tool::FOLDER && taken.contains(&name)) {
            return Err(refused(&name, "two programs were given this name; leave one of them out"));
        }
        programs.add(path.as_bytes(), Answering(tool));
        paths.push(path);
    }
    if paths.is_empty() {
        return Ok(());
    }
    kernel.set_host_programs(programs).map_err(|errno| {
        let message = format!("the files of {} cannot be made: {errno}", paths.join(", "));
        Error::new(ErrorKind::InvalidRequest, "make sandbox", message)
    })
}

fn refused(name: &str, why: &str) -> Error {
    let message = format!("the host tool '{}' cannot be installed: {why}", name.escape_debug());
    Error::new(ErrorKind::InvalidRequest, "make sandbox", message)
}

/// A tool as the kernel starts it: with the sandbox's files.
struct Answering(Arc<dyn HostTool>);

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answering").finish_non_exhaustive()
    }
}

impl HostProgram for Answering {
    fn start(&self, process: CallingProcess, mut call: HostCall) -> BoxFuture<'static, u8> {
        call.files = HostFiles::new(call.cwd.clone(), Files(process));
        self.0.call(call)
    }
}

/// The sandbox's files for as long as the process lives that calls.
struct Files(CallingProcess);

fn call_is_over(path: &SandboxPath) -> FileError {
    let message = format!("Permission denied: '{path}'; the call that asks for it is over");
    FileError::new(FileErrorCode::PermissionDenied, message)
}

impl FileAccess for Files {
    fn read<'a>(&'a self, path: &'a SandboxPath, most: u64) -> BoxFuture<'a, FileResult<Vec<u8>>> {
        Box::pin(async move {
            // Copied after the lock is given back: the file stays as it was.
            let opened = self.0.with_kernel(|kernel| Opened::new(kernel.fs(), path));
            let opened = opened.ok_or_else(|| call_is_over(path))??;
            opened.whole(most).ok_or_else(|| {
                let message = format!("'{path}' is larger than the {most} bytes that this command reads");
                FileError::new(FileErrorCode::TooLarge, message)
            })
        })
    }

    fn write<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> BoxFuture<'a, FileResult<()>> {
        Box::pin(async move {
            let put = self.0.with_kernel(|kernel| file::put(kernel, path, content, true));
            put.ok_or_else(|| call_is_over(path))?.map(drop)
        })
    }
}
