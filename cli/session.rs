//! The sandbox of one call: made from the options, with the files of the host put in.

use std::fs;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tidebox::network::{AllowRule, NetworkPolicy};
use tidebox::{
    ExecuteRequest, ExecuteResponse, MountExt, PipExt, RuntimeConfig, SandboxBackend, SandboxBuilder, SandboxPath,
    WheelSource,
};
use tokio::runtime::{Builder, Runtime};

use crate::arguments::{self, Setting};

/// Where relative paths start.
pub(crate) const WORKSPACE: &str = "/workspace";

/// One thread: all processes of one sandbox run on one anyway.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start the runtime")
}

/// Makes the sandbox and puts the files of `--file` into it.
pub(crate) fn open(setting: &Setting) -> Result<Arc<dyn SandboxBackend>> {
    Ok(Arc::new(builder(setting)?.build()?))
}

/// The sandbox before it is made, with the folders of `--mount` and the files of `--file`.
pub(crate) fn builder(setting: &Setting) -> Result<SandboxBuilder> {
    let mut sandbox = tidebox::sandbox()?.limits(setting.limits.clone());
    for folder in &setting.mounts {
        sandbox = sandbox.mount_host(&folder.host, folder.guest.as_str(), folder.mode)?;
    }
    for file in &setting.files {
        sandbox = with_file(sandbox, file)?;
    }
    if setting.pip {
        sandbox = sandbox.pip(WheelSource::Index);
    }
    if !setting.allow.is_empty() {
        let mut policy = NetworkPolicy::new();
        for host in &setting.allow {
            policy = policy.allow(AllowRule::host(host)?);
        }
        sandbox = sandbox.network(policy);
    }
    Ok(sandbox)
}

/// The sandbox before it is made, where all options are part of it and none of a command: variables, directory and time, too.
pub(crate) fn shaped(setting: &Setting) -> Result<SandboxBuilder> {
    let mut builder = builder(setting)?;
    for (name, value) in &setting.env {
        builder = builder.env(name, value);
    }
    if let Some(cwd) = cwd(setting)? {
        builder = builder.cwd(cwd);
    }
    let mut limits = setting.limits.clone();
    if let Some(timeout) = setting.timeout {
        limits.wall_time = timeout;
    }
    Ok(builder.limits(limits))
}

/// The command with what the options say about directory, environment and time.
pub(crate) fn request(setting: &Setting, command: String) -> Result<ExecuteRequest> {
    let mut request = ExecuteRequest::new(command);
    request.timeout = setting.timeout;
    request.env = setting.env.clone();
    request.cwd = cwd(setting)?;
    Ok(request)
}

/// The directory of `--cwd`.
pub(crate) fn cwd(setting: &Setting) -> Result<Option<SandboxPath>> {
    let Some(cwd) = &setting.cwd else { return Ok(None) };
    Ok(Some(SandboxPath::parse(WORKSPACE)?.resolve(cwd)?))
}

/// The exit code as ours. A backend that does not know one leaves nothing to report.
pub(crate) fn exit_code(response: &ExecuteResponse) -> Result<u8> {
    match response.exit_code {
        Some(code) => u8::try_from(code).with_context(|| format!("the command ended with exit code {code}")),
        None => bail!("the command ended without a known exit code"),
    }
}

/// Compiles the guest programs into the cache, and says which one it is at.
pub(crate) fn warm() -> Result<u8> {
    let config = RuntimeConfig::default();
    if config.cache.is_none() {
        bail!("there is no cache folder that only you can write to; set XDG_CACHE_HOME to one");
    }
    tidebox::Runtime::new(config)?.prepare(|program| eprintln!("  {program}"))?;
    Ok(0)
}

/// Puts a file of the host into the sandbox that is being made, with its execute bit.
fn with_file(sandbox: SandboxBuilder, file: &arguments::Upload) -> Result<SandboxBuilder> {
    let host = file.host.display();
    let metadata = fs::metadata(&file.host).with_context(|| format!("cannot read {host}"))?;
    if !metadata.is_file() {
        bail!("--file takes files, and {host} is none");
    }
    let content = fs::read(&file.host).with_context(|| format!("cannot read {host}"))?;
    let path = SandboxPath::parse(WORKSPACE)?.resolve(&file.guest)?;
    Ok(match is_executable(&metadata) {
        true => sandbox.executable(path.as_bytes(), content),
        false => sandbox.file(path.as_bytes(), content),
    })
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}
