//! Configuration of a new sandbox.

use std::fmt;
use std::sync::Arc;

use tidebox_core::network::{HttpGateway, NetworkPolicy};
use tidebox_core::{Dialect, Error, ErrorKind, Limits, Result, SandboxId, SandboxPath, ShellMode};
use tidebox_kernel::engine::Engine;
use tidebox_kernel::{Clock, Entropy, Kernel, KernelConfig, SeededEntropy, VirtualClock};

use crate::ROOT;
use crate::backend::VfsBackend;
use crate::background::Tasks;
use crate::execute::Environment;
use crate::host_tool::{self, HostToolSpec};
use crate::image::{self, BaseImage};
use crate::mount::{self, MountSpec};
use crate::port::ExposePorts;
use crate::seed::InitialFiles;
use crate::tool::{self, Tool};
use crate::transfer;

/// Builds a sandbox.
///
/// Defaults: an empty `/workspace` that is also the working directory; only the environment variables that
/// [`env`](Self::env) lists; [`Limits::default`]; the JavaScript dialect; host name `tidebox`; a random id; the clock
/// and the randomness passed to [`new`](Self::new). Nothing of the host is visible: no directory, no variable, no
/// network.
pub struct SandboxBuilder {
    engine: Arc<dyn Engine>,
    pub(crate) base: BaseImage,
    pub(crate) clock: Box<dyn Clock>,
    entropy: Box<dyn Entropy>,
    pub(crate) beginning: InitialFiles,
    pub(crate) files: Vec<SeedFile>,
    pub(crate) mounts: Vec<MountSpec>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) host_tools: Vec<HostToolSpec>,
    pub(crate) network: Option<NetworkPolicy>,
    pub(crate) gateway: Option<Arc<dyn HttpGateway>>,
    env: Vec<(String, String)>,
    cwd: SandboxPath,
    pub(crate) limits: Limits,
    dialect: Dialect,
    hostname: String,
    id: Option<SandboxId>,
    spool: Option<usize>,
    tasks: Option<Arc<dyn Tasks>>,
    ports: Option<Arc<dyn ExposePorts>>,
    pub(crate) shell_mode: ShellMode,
}

impl fmt::Debug for SandboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxBuilder")
            .field("engine", &self.engine)
            .field("files", &self.files.len())
            .field("mounts", &self.mounts)
            .field("tools", &self.tools.len())
            .field("host_tools", &self.host_tools.len())
            .field("network", &self.network)
            .field("cwd", &self.cwd)
            .field("limits", &self.limits)
            .field("dialect", &self.dialect)
            .field("hostname", &self.hostname)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SandboxBuilder {
    /// A sandbox whose programs run in `engine`, whose initial files are `base`, and which takes time and randomness
    /// from `clock` and `entropy`. The id comes from `entropy` too.
    pub fn new(engine: Arc<dyn Engine>, base: &BaseImage, clock: Box<dyn Clock>, entropy: Box<dyn Entropy>) -> Self {
        Self {
            engine,
            base: base.clone(),
            clock,
            entropy,
            beginning: InitialFiles::default(),
            files: Vec::new(),
            mounts: Vec::new(),
            tools: Vec::new(),
            host_tools: Vec::new(),
            network: None,
            gateway: None,
            env: Vec::new(),
            // The path is absolute.
            cwd: SandboxPath::root().resolve("workspace").unwrap_or_else(|_| SandboxPath::root()),
            limits: Limits::default(),
            dialect: Dialect::default(),
            hostname: image::HOSTNAME.to_owned(),
            id: None,
            spool: None,
            tasks: None,
            ports: None,
            shell_mode: ShellMode::default(),
        }
    }

    /// Adds a file before the first command, like an upload: missing parent directories are created, the user owns it,
    /// and a WebAssembly module is executable. A relative path is resolved against the working directory.
    #[must_use]
    pub fn file(mut self, path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        let executable = content.starts_with(transfer::WASM_MAGIC);
        self.files.push(SeedFile { path: path.into(), content, executable });
        self
    }

    /// Adds an executable file, otherwise like [`file`](Self::file): for example a script with a `#!` line.
    #[must_use]
    pub fn executable(mut self, path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(SeedFile { path: path.into(), content: content.into(), executable: true });
        self
    }

    /// Sets a variable for every command. Default: `PATH=/usr/local/bin:/usr/bin:/bin`, `HOME=/workspace`, `PWD` (the
    /// working directory), `USER` and `LOGNAME` `tidebox`, `SHELL=/bin/bash`, `LANG=C.UTF-8`, `TERM=dumb`.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the default working directory of commands, which is created if it is missing. Default `/workspace`.
    #[must_use]
    pub fn cwd(mut self, cwd: SandboxPath) -> Self {
        self.cwd = cwd;
        self
    }

    /// Sets all limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the dialect: the reference implementation to follow. Default [`Dialect::Js`].
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets the host name that `hostname` and `/etc/hostname` report. Default `tidebox`.
    #[must_use]
    pub fn hostname(mut self, hostname: impl Into<String>) -> Self {
        self.hostname = hostname.into();
        self
    }

    /// Sets the id. Default: `sb-` and 128 random bits.
    #[must_use]
    pub fn id(mut self, id: SandboxId) -> Self {
        self.id = Some(id);
        self
    }

    /// For an engine that cannot run two processes concurrently: a pipe accepts up to `bytes` bytes while its reader
    /// has not started; see [`Kernel::spool_pipes`]. Default: pipes hold [`Limits::pipe_bytes`], and writers block.
    #[must_use]
    pub fn spool_pipes(mut self, bytes: usize) -> Self {
        self.spool = Some(bytes);
        self
    }

    /// Sets the implementation that makes ports reachable from outside. Default: none, and
    /// [`port_endpoint`](tidebox_core::SandboxBackend::port_endpoint) is not supported.
    #[must_use]
    pub fn ports(mut self, ports: Arc<dyn ExposePorts>) -> Self {
        self.ports = Some(ports);
        self
    }

    /// Sets the executor of processes that outlive the call which started them. Default: none, and such processes are not
    /// supported.
    #[must_use]
    pub fn tasks(mut self, tasks: Arc<dyn Tasks>) -> Self {
        self.tasks = Some(tasks);
        self
    }

    /// Makes runs deterministic: the clock starts at `realtime` nanoseconds since the epoch and advances only while all
    /// programs wait, and randomness comes from `seed`. Two sandboxes with the same seed have the same id, unless
    /// [`id`](Self::id) is set.
    #[must_use]
    pub fn deterministic(mut self, seed: u64, realtime: u64) -> Self {
        self.clock = Box::new(VirtualClock::new(realtime));
        self.entropy = Box::new(SeededEntropy::new(seed));
        self
    }

    /// Returns the id of a [deterministic](Self::deterministic) sandbox with this seed that sets no [`id`](Self::id).
    ///
    /// # Errors
    ///
    /// None occurs: the id has a fixed form.
    pub fn id_of_seed(seed: u64) -> Result<SandboxId> {
        random_id(&mut SeededEntropy::new(seed))
    }

    /// Builds the sandbox without starting anything: an idle sandbox takes a few kilobytes of memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] for an invalid environment variable, host name, [`tool`](Self::tool) or
    /// [`host_tool`](Self::host_tool); [`ErrorKind::Unsupported`] for a [`network`](Self::network) policy without a
    /// gateway; [`ErrorKind::FileOperationFailed`] for a file that cannot be written.
    pub fn build(self) -> Result<VfsBackend> {
        let (this, networks) = self.install_network()?;
        let Self {
            engine,
            base,
            clock,
            mut entropy,
            beginning,
            files,
            mounts,
            tools,
            host_tools,
            env,
            cwd,
            limits,
            dialect,
            hostname,
            id,
            spool,
            tasks,
            ports,
            shell_mode,
            network: _,
            gateway: _,
        } = this;
        let id = match id {
            Some(id) => id,
            None => random_id(&mut *entropy)?,
        };
        let environment = Environment::new(&env, &cwd)?;
        let beginning = beginning.resolve(base.files);
        let (base, shell_state) = (beginning.base(), beginning.shell_state());
        let name = hostname.clone();
        let mut kernel = Kernel::new(KernelConfig { limits, clock, entropy, files: beginning.files(), hostname });
        if let Some(bytes) = spool {
            kernel.spool_pipes(bytes);
        }
        set_hostname(&mut kernel, &name)?;
        let taken: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        tool::install(kernel.fs_mut(), tools)?;
        host_tool::install(&mut kernel, &id, host_tools, &taken)?;
        mount::mount(&mut kernel, &cwd, mounts)?;
        let now = kernel.now();
        crate::file::create_dir_all(kernel.fs_mut(), &cwd, now)?;
        beginning.seed_with(&mut kernel, &cwd)?;
        for file in files {
            let path = cwd.resolve(&file.path)?;
            transfer::write_upload(&mut kernel, &path, &file.content, file.executable)?;
        }
        let sandbox = VfsBackend::new(id, dialect, cwd, environment, engine, base, kernel)
            .with_shell_mode(shell_mode)
            .with_networks(networks);
        sandbox.set_shell_state(shell_state)?;
        Ok(sandbox.with_tasks(tasks).with_ports(ports))
    }
}

/// An initial file.
pub(crate) struct SeedFile {
    path: Vec<u8>,
    content: Vec<u8>,
    executable: bool,
}

/// Random, because a clock or a counter would not be unique across host processes.
fn random_id(entropy: &mut dyn Entropy) -> Result<SandboxId> {
    let mut random = [0; 16];
    entropy.fill(&mut random);
    SandboxId::parse(format!("sb-{:032x}", u128::from_le_bytes(random)))
}

fn set_hostname(kernel: &mut Kernel, hostname: &str) -> Result<()> {
    let good = !hostname.is_empty() && hostname.len() <= 64 && hostname.bytes().all(|b| b.is_ascii_graphic());
    if !good {
        let message = format!("'{hostname}' is not a valid host name; use up to 64 printable characters");
        return Err(Error::new(ErrorKind::InvalidRequest, "build sandbox", message));
    }
    let now = kernel.now();
    for (path, text) in image::hostname_files(hostname) {
        let fs = kernel.fs_mut();
        // A base image without these files has no host name to set.
        if let Ok(tidebox_kernel::fs::Resolved::Node(ino)) = fs.walk(&ROOT, fs.root(), path.as_bytes(), true) {
            let same = fs.contents(ino).is_ok_and(|contents| *contents.as_bytes() == *text.as_bytes());
            if !same {
                fs.write_all(ino, text.as_bytes(), now)
                    .map_err(|errno| crate::file_error::file_error(errno, path.as_bytes()))?;
            }
        }
    }
    Ok(())
}
