//! Creates the sandbox of the options, with the files of the host.

use std::fs;
use std::path::Path;

use crate::network::{AllowRule, NetworkPolicy};
use crate::{ExecuteRequest, ExecuteResponse, PipExt, RuntimeConfig, SandboxBuilder, SandboxPath, WheelSource};
use anyhow::{Context, Result, bail};
use tokio::runtime::{Builder, Runtime};

use crate::cli::args::{self, CommandArg, MountArg, SandboxArgs};
use crate::cli::snapshot;

/// Base of relative paths.
pub(crate) const WORKSPACE: &str = "/workspace";

/// A single-threaded runtime: all processes of a sandbox share one thread.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start the runtime")
}

/// Returns a builder with the mounts of `--mount` and the files of `--file`.
pub(crate) fn builder(options: &SandboxArgs) -> Result<SandboxBuilder> {
    let mut sandbox = crate::sandbox()?.limits(options.limits());
    if let Some(file) = &options.snapshot {
        let bytes = snapshot::read(file)?;
        sandbox = sandbox.snapshot_bytes(&bytes).with_context(|| format!("cannot start from {}", file.display()))?;
    }
    for mount in &options.mounts {
        sandbox = with_mount(sandbox, mount)?;
    }
    for file in &options.files {
        sandbox = with_file(sandbox, file)?;
    }
    if options.pip {
        sandbox = sandbox.pip(WheelSource::Index);
    }
    if let Some(policy) = policy(options, &[])? {
        sandbox = sandbox.network(policy);
    }
    Ok(sandbox)
}

#[cfg(unix)]
fn with_mount(sandbox: SandboxBuilder, mount: &MountArg) -> Result<SandboxBuilder> {
    use crate::MountExt as _;
    Ok(sandbox.mount_host(&mount.host, mount.guest.as_str(), mount.mode)?)
}

#[cfg(not(unix))]
fn with_mount(_: SandboxBuilder, mount: &MountArg) -> Result<SandboxBuilder> {
    bail!(
        "cannot mount {}: mounts of host directories are not supported on this system; use --file",
        mount.host.display()
    )
}

/// Returns the policy of `--allow`, `--allow-git` and `--allow-git-push`, and of further hosts; `None` without any of them.
fn policy(options: &SandboxArgs, egress: &[String]) -> Result<Option<NetworkPolicy>> {
    let hosts = options.allow.iter().chain(egress).map(|host| AllowRule::host(host));
    let fetching = options.allow_git.iter().map(|repository| AllowRule::git_fetch(repository));
    let pushing = options.allow_git_push.iter().map(|repository| AllowRule::git_push(repository));
    let mut policy = None;
    for rule in hosts.chain(fetching).chain(pushing) {
        policy = Some(policy.unwrap_or_else(NetworkPolicy::new).allow(rule?));
    }
    Ok(policy)
}

/// Returns a builder with all options, including variables, working directory and timeout.
pub(crate) fn builder_with_options(options: &SandboxArgs) -> Result<SandboxBuilder> {
    let mut builder = builder(options)?;
    for (name, value) in &options.env {
        builder = builder.env(name, value);
    }
    if let Some(cwd) = cwd(options)? {
        builder = builder.cwd(cwd);
    }
    let mut limits = options.limits();
    if let Some(timeout) = options.timeout {
        limits.wall_time = timeout;
    }
    Ok(builder.limits(limits))
}

/// Returns a builder with all options, whose commands may also read from the hosts `egress` over HTTPS.
pub(crate) fn builder_with_egress(options: &SandboxArgs, egress: &[String]) -> Result<SandboxBuilder> {
    let builder = builder_with_options(options)?;
    if egress.is_empty() {
        return Ok(builder);
    }
    Ok(match policy(options, egress)? {
        Some(policy) => builder.network(policy),
        None => builder,
    })
}

/// Returns the request with the working directory, and with environment and timeout of the options.
pub(crate) fn request(options: &SandboxArgs, command: CommandArg, cwd: Option<SandboxPath>) -> Result<ExecuteRequest> {
    let mut request = match command {
        CommandArg::Line(line) => ExecuteRequest::new(line),
        CommandArg::Arguments(arguments) => ExecuteRequest::from_arguments(arguments)?,
    };
    request.timeout = options.timeout;
    request.output_overflow = options.output_overflow;
    request.env = options.env.clone();
    request.cwd = cwd;
    Ok(request)
}

/// Returns the directory of `--cwd`.
pub(crate) fn cwd(options: &SandboxArgs) -> Result<Option<SandboxPath>> {
    let Some(cwd) = &options.cwd else { return Ok(None) };
    Ok(Some(SandboxPath::parse(WORKSPACE)?.resolve(cwd)?))
}

/// Converts the exit code. Fails if the backend does not report one.
pub(crate) fn exit_code(response: &ExecuteResponse) -> Result<u8> {
    match response.exit_code {
        Some(code) => u8::try_from(code).with_context(|| format!("cannot return exit code {code}")),
        None => bail!("the command ended without a known exit code"),
    }
}

/// Compiles the guest programs into the cache, or for any processor into the directory `archive`, printing each name.
pub(crate) fn precompile(archive: Option<&Path>) -> Result<u8> {
    if let Some(dir) = archive {
        crate::write_archive(dir, |program| eprintln!("  {program}"))?;
        return Ok(0);
    }
    let config = RuntimeConfig::default();
    let Some(cache) = &config.cache else {
        bail!("cannot open the cache: no cache directory that only you can write to; set XDG_CACHE_HOME to one");
    };
    cache
        .check_writable()
        .context("cannot write to the cache; set XDG_CACHE_HOME to a directory that you can write to")?;
    crate::Runtime::new(config)?.precompile(|program| eprintln!("  {program}"))?;
    Ok(0)
}

/// Adds a host file, keeping its execute bit.
fn with_file(sandbox: SandboxBuilder, file: &args::Upload) -> Result<SandboxBuilder> {
    let host = file.host.display();
    let metadata = fs::metadata(&file.host).with_context(|| format!("cannot read {host}"))?;
    if !metadata.is_file() {
        bail!("cannot add {host}: not a regular file; use --mount for directories");
    }
    let content = fs::read(&file.host).with_context(|| format!("cannot read {host}"))?;
    let path = SandboxPath::parse(WORKSPACE)?.resolve(&file.guest)?;
    Ok(match is_executable(&metadata) {
        true => sandbox.executable(path.as_bytes(), content),
        false => sandbox.file(path.as_bytes(), content),
    })
}

#[cfg(unix)]
pub(crate) fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &fs::Metadata) -> bool {
    false
}
