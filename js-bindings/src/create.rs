//! Creates a sandbox from the options of `Sandbox.create`.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{Error, FileError, SandboxId, SandboxPath};
use tidebox_kernel::engine::Engine;
use tidebox_vfs_backend::{BaseFile, BaseImage, SandboxBuilder, Snapshot, VfsBackend};
use wasm_bindgen::JsValue;

use crate::clock::{PlatformClock, PlatformEntropy};
use crate::engine::JsEngine;
use crate::gateway::JsGateway;
use crate::host_mount::HostDir;
use crate::host_tool::JsTool;
use crate::options::{self, bytes, count, get, text};
use crate::pack::Pack;
use crate::policy;
use crate::program::Programs;
use crate::response::{failure, invalid};
use crate::seed::seed;

/// Capacity of a pipe if the programs of a pipeline run one after the other: large enough for the output of an agent's commands,
/// small enough for a browser tab.
const SPOOL_BYTES: usize = 32 << 20;

/// The options of a sandbox. Kept because a restore builds the base snapshot again.
pub(crate) struct SandboxRecipe {
    engine: Arc<dyn Engine>,
    base: BaseImage,
    given: JsValue,
    suspends: bool,
}

impl fmt::Debug for SandboxRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Making").field("suspends", &self.suspends).finish_non_exhaustive()
    }
}

impl SandboxRecipe {
    pub(crate) fn new(programs: &JsValue, given: JsValue, suspends: bool) -> Result<Self, Error> {
        let (mut programs, mut installed) = Programs::new(options::programs(programs));
        let mut files = Vec::new();
        for pack in options::list(&get(&given, "packs")).iter().map(Pack::new) {
            // A command of a pack replaces the placeholder that explains how to install it.
            for other in &mut installed {
                other.names.retain(|name| !pack.commands.contains(name));
            }
            installed.push(pack.program());
            let read_only = pack.files().into_iter();
            files.extend(read_only.map(|(path, bytes)| BaseFile { path, bytes, executable: false }));
            programs.add(pack);
        }
        let base = BaseImage::with_files(&installed, files)?;
        Ok(Self { engine: Arc::new(JsEngine { programs: Arc::new(programs) }), base, given, suspends })
    }

    /// Creates the sandbox.
    pub(crate) fn sandbox(&self) -> Result<VfsBackend, JsValue> {
        let mut builder = self.builder()?;
        let snapshot = get(&self.given, "snapshot");
        if snapshot.is_object() {
            builder = builder.snapshot_bytes(&bytes(&snapshot)).map_err(|error| failure(&error))?;
        }
        let tar = get(&self.given, "tar");
        if tar.is_object() {
            builder = builder.tar(bytes(&tar));
        }
        if text(&self.given, "seedDirectory").is_some() {
            // JavaScript opens the seed directory after the mounts, so its index follows theirs.
            let index = u32::try_from(options::list(&get(&self.given, "mounts")).len()).unwrap_or(u32::MAX);
            builder = builder.seed_with(move |planter| seed(planter, &HostDir::new(index)));
        }
        for (path, content) in options::entries(&get(&self.given, "files")) {
            builder = builder.file(path, bytes(&content));
        }
        builder.build().map_err(|error| failure(&error))
    }

    /// Returns the sandbox without any initial files: programs, tools and mounts. Snapshots are applied to it.
    pub(crate) fn base_snapshot(&self) -> Result<Snapshot, JsValue> {
        let base_snapshot = self.builder()?.build().map_err(|error| failure(&error))?;
        base_snapshot.snapshot().map_err(|error| failure(&error))
    }

    /// The base image, for tars.
    pub(crate) fn base(&self) -> &BaseImage {
        &self.base
    }

    fn builder(&self) -> Result<SandboxBuilder, JsValue> {
        let (given, engine) = (&self.given, Arc::clone(&self.engine));
        let builder = SandboxBuilder::new(engine, &self.base, Box::new(PlatformClock), Box::new(PlatformEntropy));
        let builder = apply_settings(builder, given)?;
        let builder = programs(builder, given);
        let builder = mounts(network(builder, given)?, given);
        Ok(if self.suspends { builder } else { builder.spool_pipes(SPOOL_BYTES) })
    }
}

fn apply_settings(mut builder: SandboxBuilder, given: &JsValue) -> Result<SandboxBuilder, JsValue> {
    let to_js = |error: FileError| invalid("create", &error.message);
    builder = builder.limits(options::limits(&get(given, "limits")));
    if let Some(cwd) = text(given, "cwd") {
        builder = builder.cwd(SandboxPath::root().resolve(cwd).map_err(to_js)?);
    }
    if let Some(hostname) = text(given, "hostname") {
        builder = builder.hostname(hostname);
    }
    if let Some(id) = text(given, "id") {
        builder = builder.id(SandboxId::parse(id).map_err(|error| failure(&error))?);
    }
    if let Some(mode) = text(given, "shellMode") {
        builder = builder.shell_mode(options::shell_mode(&mode));
    }
    for (name, value) in options::variables(&get(given, "env")) {
        builder = builder.env(name, value);
    }
    let deterministic = get(given, "deterministic");
    if deterministic.is_object() {
        let seed = count(&deterministic, "seed").unwrap_or(0);
        let milliseconds = count(&deterministic, "timeMs").unwrap_or(0);
        builder = builder.deterministic(seed, milliseconds.saturating_mul(1_000_000));
    }
    Ok(builder)
}

/// Installs host tools and modules of the application as commands.
fn programs(mut builder: SandboxBuilder, given: &JsValue) -> SandboxBuilder {
    for name in options::list(&get(given, "hostTools")).iter().filter_map(JsValue::as_string) {
        let tool = JsTool::new(&name);
        builder = builder.host_tool(name, move |call| tool.call(call));
    }
    for (name, wasm) in options::entries(&get(given, "programs")) {
        builder = builder.tool(name, bytes(&wasm));
    }
    builder
}

fn network(builder: SandboxBuilder, given: &JsValue) -> Result<SandboxBuilder, JsValue> {
    let given = get(given, "network");
    if !given.is_object() {
        return Ok(builder);
    }
    let policy = policy::policy(&given).map_err(|error| failure(&error))?;
    Ok(builder.network(policy).gateway(Arc::new(JsGateway::new(&given))))
}

fn mounts(mut builder: SandboxBuilder, given: &JsValue) -> SandboxBuilder {
    for (index, mount) in (0..).zip(options::list(&get(given, "mounts"))) {
        let path = text(&mount, "path").unwrap_or_default();
        let mode = options::mount_mode(&text(&mount, "mode").unwrap_or_default());
        builder = builder.mount(path, Arc::new(HostDir::new(index)), mode);
    }
    builder
}
