//! Options of a sandbox, as `python/tidebox` passes them: dictionaries with checked names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use tidebox::network::{AllowRule, HeaderInjection, NetworkPolicy};
use tidebox::{
    Dialect, Error, ErrorKind, Limits, MountExt, MountMode, PipExt, SandboxBuilder, SandboxId, SandboxPath, Secret,
    SeedDir, ShellMode, WheelSource,
};

use crate::arguments::{Content, PathArgument, duration};
use crate::errors::{checked, invalid};
use crate::host_tool::{self, ToolFunction};

/// A directory of the host at a path of the sandbox.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct MountOption {
    host: PathBuf,
    path: PathArgument,
    mode: String,
}

/// Hosts that the sandbox may send requests to.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AllowOption {
    host: String,
    methods: Option<Vec<String>>,
    ports: Vec<u16>,
    http: bool,
    /// `fetch` or `push`: a rule for Git, which has no methods.
    git: Option<String>,
    /// Path of the repositories of a rule for Git.
    path: Option<String>,
}

/// A header that Tidebox adds to requests; the sandbox does not see its value.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CredentialOption {
    host: String,
    header: String,
    value: String,
    http: bool,
}

/// All options of a sandbox.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SandboxOptions {
    files: Vec<(PathArgument, Content)>,
    env: Vec<(String, String)>,
    cwd: Option<PathArgument>,
    limits: BTreeMap<String, Option<f64>>,
    mounts: Vec<MountOption>,
    seed_dir: Option<PathBuf>,
    tar: Option<Content>,
    allow: Vec<AllowOption>,
    credentials: Vec<CredentialOption>,
    pip: bool,
    persistent: bool,
    seed: Option<u64>,
    time: Option<f64>,
    hostname: Option<String>,
    dialect: String,
    id: Option<String>,
    tools: Vec<(String, ToolFunction)>,
}

/// True after the engine has started.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Returns a builder on the shared engine, which the first call starts.
pub(crate) fn builder() -> tidebox::Result<SandboxBuilder> {
    let builder = tidebox::sandbox();
    STARTED.store(true, Ordering::Release);
    builder
}

/// Returns whether the engine has started, so that creating a sandbox takes microseconds.
#[pyfunction]
pub(crate) fn engine_started() -> bool {
    STARTED.load(Ordering::Acquire)
}

impl SandboxOptions {
    /// Returns the id of the sandbox before it is created: the option, or that of the seed.
    pub(crate) fn future_id(&self) -> PyResult<SandboxId> {
        match (&self.id, self.seed) {
            (Some(id), _) => checked(SandboxId::parse(id)),
            (None, Some(seed)) => checked(SandboxBuilder::id_of_seed(seed)),
            (None, None) => Err(invalid("a sandbox that is created later needs an id")),
        }
    }

    /// Returns the working directory.
    pub(crate) fn working_directory(&self) -> PyResult<SandboxPath> {
        let path = self.cwd.as_ref().map_or(WORKSPACE, |cwd| &cwd.0);
        SandboxPath::parse(path).map_err(|error| invalid(format!("cwd: {}", error.message)))
    }

    /// Returns a function that creates a builder with the options, which it has checked once.
    pub(crate) fn repeatable(self) -> PyResult<impl Fn() -> tidebox::Result<SandboxBuilder> + Send + Sync + 'static> {
        self.clone().apply(checked(builder())?)?;
        Ok(move || {
            let failed = |error: PyErr| Error::new(ErrorKind::InvalidRequest, "create a sandbox", error.to_string());
            self.clone().apply(builder()?).map_err(failed)
        })
    }

    /// Applies the options.
    pub(crate) fn apply(self, mut builder: SandboxBuilder) -> PyResult<SandboxBuilder> {
        let cwd = self.working_directory()?;
        let mut limits = Limits::default();
        for (name, value) in self.limits {
            set_limit(&mut limits, &name, value)?;
        }
        builder = builder.limits(limits);
        for (path, content) in self.files {
            builder = builder.file(path.0, content.0);
        }
        for (name, value) in self.env {
            builder = builder.env(name, value);
        }
        builder = builder.cwd(cwd);
        for mount in self.mounts {
            builder = mount_host(builder, &mount)?;
        }
        if let Some(dir) = self.seed_dir {
            builder = builder.seed_dir(dir);
        }
        if let Some(tar) = self.tar {
            builder = builder.tar(tar.0);
        }
        if !self.allow.is_empty() || !self.credentials.is_empty() {
            builder = builder.network(policy(self.allow, self.credentials)?);
        }
        if self.pip {
            builder = builder.pip(WheelSource::Index);
        }
        if self.persistent {
            builder = builder.shell_mode(ShellMode::Persistent);
        }
        if let Some(seed) = self.seed {
            builder = builder.deterministic(seed, nanoseconds(self.time.unwrap_or(DETERMINISTIC_TIME))?);
        }
        if let Some(name) = self.hostname {
            builder = builder.hostname(name);
        }
        let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == self.dialect);
        builder = builder.dialect(dialect.ok_or_else(|| {
            let names = Dialect::ALL.map(Dialect::as_str).join("', '");
            invalid(format!("dialect must be one of '{names}', not {:?}", self.dialect))
        })?);
        if let Some(id) = self.id {
            builder = builder.id(checked(SandboxId::parse(id))?);
        }
        for (name, function) in self.tools {
            builder = host_tool::add(builder, name, function);
        }
        Ok(builder)
    }
}

/// Default working directory.
const WORKSPACE: &[u8] = b"/workspace";

/// Start of the clock of deterministic sandboxes without a time: 2024-01-01, in seconds since 1970.
const DETERMINISTIC_TIME: f64 = 1_704_067_200.0;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked")]
fn nanoseconds(seconds: f64) -> PyResult<u64> {
    let nanos = seconds * 1e9;
    if !(0.0..9e18).contains(&nanos) {
        return Err(invalid(format!("time must be seconds since 1970 and before 2255, not {seconds}")));
    }
    Ok(nanos as u64)
}

fn mount_host(builder: SandboxBuilder, mount: &MountOption) -> PyResult<SandboxBuilder> {
    let mode = match mount.mode.as_str() {
        "ro" => MountMode::ReadOnly,
        "rw" => MountMode::ReadWrite,
        "cow" => MountMode::CopyOnWrite,
        other => return Err(invalid(format!("the mode of a mount must be 'ro', 'rw' or 'cow', not {other:?}"))),
    };
    #[cfg(unix)]
    {
        checked(builder.mount_host(&mount.host, mount.path.0.clone(), mode))
    }
    #[cfg(not(unix))]
    {
        let _ = (builder, mode, &mount.host, &mount.path);
        Err(invalid("mounts of host directories are not supported on this system; use seed_dir"))
    }
}

fn policy(allow: Vec<AllowOption>, credentials: Vec<CredentialOption>) -> PyResult<NetworkPolicy> {
    let mut policy = NetworkPolicy::new();
    for option in allow {
        let mut rule = match (option.git.as_deref(), option.methods) {
            (None, Some(methods)) => checked(AllowRule::host(&option.host))?.methods(methods),
            (None, None) => checked(AllowRule::host(&option.host))?.any_method(),
            (Some(git), _) => git_rule(git, &option.host, option.path.as_deref())?,
        };
        for port in option.ports {
            rule = rule.port(port);
        }
        if option.http {
            rule = rule.http();
        }
        policy = policy.allow(rule);
    }
    for option in credentials {
        let injection = checked(HeaderInjection::new(&option.host, &option.header, Secret::new(option.value)))?;
        policy = policy.with_injection(if option.http { injection.over_http() } else { injection });
    }
    Ok(policy)
}

fn git_rule(git: &str, host: &str, path: Option<&str>) -> PyResult<AllowRule> {
    let repository = match path {
        Some(path) => format!("{host}/{}", path.strip_prefix('/').unwrap_or(path)),
        None => host.to_owned(),
    };
    match git {
        "fetch" => checked(AllowRule::git_fetch(&repository)),
        "push" => checked(AllowRule::git_push(&repository)),
        other => Err(invalid(format!("HostRule.git must be 'fetch' or 'push', not {other:?}"))),
    }
}

/// Sets a limit by its name. `None` means unlimited where that exists.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float stops at the bounds")]
fn set_limit(limits: &mut Limits, name: &str, value: Option<f64>) -> PyResult<()> {
    if name == "cpu_time" {
        limits.cpu_time = value.map(|seconds| duration(seconds, "Limits.cpu_time")).transpose()?;
        return Ok(());
    }
    let Some(value) = value else { return Ok(()) };
    if name == "wall_time" {
        limits.wall_time = duration(value, "Limits.wall_time")?;
        return Ok(());
    }
    if name == "background_time" {
        limits.background_time = duration(value, "Limits.background_time")?;
        return Ok(());
    }
    if value.is_nan() || value < 0.0 {
        return Err(invalid(format!("Limits.{name} must not be negative")));
    }
    let (wide, narrow) = (value as u64, value as u32);
    match name {
        "process_memory_bytes" => limits.process_memory_bytes = wide,
        "sandbox_memory_bytes" => limits.sandbox_memory_bytes = wide,
        "processes" => limits.processes = narrow,
        "descriptors" => limits.descriptors = narrow,
        "pipe_bytes" => limits.pipe_bytes = narrow,
        "sockets" => limits.sockets = narrow,
        "output_bytes" => limits.output_bytes = wide,
        "file_bytes" => limits.file_bytes = wide,
        "single_file_bytes" => limits.single_file_bytes = wide,
        "inodes" => limits.inodes = wide,
        "path_bytes" => limits.path_bytes = narrow,
        "symlink_depth" => limits.symlink_depth = narrow,
        "argument_bytes" => limits.argument_bytes = narrow,
        "module_bytes" => limits.module_bytes = wide,
        "nesting" => limits.nesting = narrow,
        "shell_state_bytes" => limits.shell_state_bytes = wide,
        "background_processes" => limits.background_processes = narrow,
        "background_output_bytes" => limits.background_output_bytes = wide,
        "background_memory_bytes" => limits.background_memory_bytes = wide,
        "background_cpu_percent" => limits.background_cpu_percent = narrow,
        _ => return Err(invalid(format!("unknown limit {name:?}"))),
    }
    Ok(())
}
