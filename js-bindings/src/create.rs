//! Creates a sandbox from the options of `Sandbox.create`.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use js_sys::JSON;
use sha2::{Digest as _, Sha256};
use tidebox_core::{Error, FileError, SandboxId, SandboxPath};
use tidebox_kernel::engine::Engine;
use tidebox_vfs_backend::{BaseImage, SandboxBuilder, Snapshot, Tasks, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::clock::{PlatformClock, PlatformEntropy};
use crate::engine::JsEngine;
use crate::gateway::JsGateway;
use crate::host_mount::HostDir;
use crate::host_tool::JsTool;
use crate::js::{failure, invalid};
use crate::options::{self, bytes, count, get, text};
use crate::pack::Pack;
use crate::policy;
use crate::program::{PackageProgram, Programs};
use crate::seed::seed;
use crate::tasks::LocalTasks;

/// Capacity of a pipe if the programs of a pipeline run one after the other: large enough for the output of an agent's commands,
/// small enough for a browser tab.
const SPOOL_BYTES: usize = 32 << 20;

thread_local! {
    static PACKAGE: RefCell<Vec<PackageProgram>> = const { RefCell::new(Vec::new()) };
    /// Programs and base images by the digest of the packs in them, the last used one last.
    static IMAGES: RefCell<Vec<(PackDigest, Image)>> = const { RefCell::new(Vec::new()) };
}

/// Digest of the packs of a sandbox.
type PackDigest = [u8; 32];

/// Number of base images that are kept. An image takes about 120 KiB, and those of packs more.
const KEPT_IMAGES: usize = 4;

/// Programs and files that all sandboxes with the same packs share.
#[derive(Clone, Debug)]
struct Image {
    programs: Arc<Programs>,
    base: BaseImage,
}

/// Sets the programs of the package, unless the build has. Called before the first sandbox is created.
#[wasm_bindgen(js_name = usePrograms)]
pub fn use_programs(programs: &JsValue) {
    if PACKAGE.with_borrow(Vec::is_empty) {
        PACKAGE.set(options::programs(programs));
    }
}

/// Sets the programs of the package and creates their base image. Returns false if that fails. `build/prepare_kernel.mjs` calls it
/// when the package is built, and stores the memory in the module. So it must not use values of JavaScript.
///
/// Each line of `list` is a program: file, length in bytes, SHA-256 in hexadecimal and commands, separated by spaces.
#[wasm_bindgen(js_name = preparePrograms)]
pub fn prepare_programs(list: &str) -> bool {
    let Some(programs) = list.lines().map(PackageProgram::parse).collect::<Option<Vec<_>>>() else { return false };
    PACKAGE.set(programs);
    let Ok(image) = Image::new(&[]) else { return false };
    IMAGES.with_borrow_mut(|images| images.push((PackDigest::default(), image)));
    true
}

impl Image {
    /// Returns the image with these packs.
    fn of(packs: &JsValue) -> Result<Self, Error> {
        let digest = pack_digest(packs);
        let found = IMAGES.with_borrow_mut(|images| {
            let at = images.iter().position(|(known, _)| *known == digest)?;
            let entry = images.remove(at);
            let image = entry.1.clone();
            images.push(entry);
            Some(image)
        });
        if let Some(image) = found {
            return Ok(image);
        }
        let image = Self::new(&options::list(packs))?;
        let dropped = IMAGES.with_borrow_mut(|images| {
            images.push((digest, image.clone()));
            (images.len() > KEPT_IMAGES).then(|| images.remove(0))
        });
        drop(dropped);
        Ok(image)
    }

    fn new(packs: &[JsValue]) -> Result<Self, Error> {
        let (mut programs, mut installed) = Programs::new(PACKAGE.with_borrow(Clone::clone));
        let mut files = Vec::new();
        for pack in packs.iter().map(Pack::new) {
            // A command of a pack replaces the placeholder that explains how to install it.
            for other in &mut installed {
                other.names.retain(|name| !pack.commands.contains(name));
            }
            installed.push(pack.program());
            files.extend(pack.files());
            programs.add(pack);
        }
        let base = BaseImage::with_files(&installed, files)?;
        Ok(Self { programs: Arc::new(programs), base })
    }
}

fn pack_digest(packs: &JsValue) -> PackDigest {
    if options::list(packs).is_empty() {
        return PackDigest::default();
    }
    // They are plain values, which JSON can represent.
    let text = JSON::stringify(packs).map(String::from).unwrap_or_default();
    Sha256::digest(text).into()
}

/// The options of a sandbox. Kept because a restore builds the base snapshot again.
pub(crate) struct SandboxRecipe {
    sandbox: u32,
    engine: Arc<dyn Engine>,
    base: BaseImage,
    given: JsValue,
    suspends: bool,
    tasks: Arc<LocalTasks>,
}

impl fmt::Debug for SandboxRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Making").field("suspends", &self.suspends).finish_non_exhaustive()
    }
}

impl SandboxRecipe {
    pub(crate) fn new(sandbox: u32, given: JsValue, suspends: bool) -> Result<Self, Error> {
        let Image { programs, base } = Image::of(&get(&given, "packs"))?;
        let engine = Arc::new(JsEngine { sandbox, programs });
        Ok(Self { sandbox, engine, base, given, suspends, tasks: Arc::default() })
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
            // JavaScript opens the seed directory after the mounts, so its number follows theirs.
            let mounts = u32::try_from(options::list(&get(&self.given, "mounts")).len()).unwrap_or(u32::MAX);
            let directory = first_directory(&self.given).saturating_add(mounts);
            builder = builder.seed_with(move |planter| seed(planter, &HostDir::new(directory)));
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

    /// Ends the processes of the sandbox without running their guests again.
    pub(crate) fn abort_tasks(&self) {
        self.tasks.abort();
    }

    /// The base image, for tars.
    pub(crate) fn base(&self) -> &BaseImage {
        &self.base
    }

    fn builder(&self) -> Result<SandboxBuilder, JsValue> {
        let (given, engine) = (&self.given, Arc::clone(&self.engine));
        let builder = SandboxBuilder::new(engine, &self.base, Box::new(PlatformClock), Box::new(PlatformEntropy));
        let builder = builder.tasks(Arc::clone(&self.tasks) as Arc<dyn Tasks>);
        let builder = apply_settings(builder, given)?;
        let builder = programs(builder, self.sandbox, given);
        let builder = mounts(network(builder, self.sandbox, given)?, given);
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
fn programs(mut builder: SandboxBuilder, sandbox: u32, given: &JsValue) -> SandboxBuilder {
    for name in options::list(&get(given, "hostTools")).iter().filter_map(JsValue::as_string) {
        let tool = JsTool::new(sandbox, &name);
        builder = builder.host_tool(name, move |call| tool.call(call));
    }
    for (name, wasm) in options::entries(&get(given, "programs")) {
        builder = builder.tool(name, bytes(&wasm));
    }
    builder
}

fn network(builder: SandboxBuilder, sandbox: u32, given: &JsValue) -> Result<SandboxBuilder, JsValue> {
    let given = get(given, "network");
    if !given.is_object() {
        return Ok(builder);
    }
    let policy = policy::policy(&given).map_err(|error| failure(&error))?;
    Ok(builder.network(policy).gateway(Arc::new(JsGateway::new(sandbox, &given))))
}

/// Returns the number of the first directory of the sandbox in JavaScript; the others follow.
fn first_directory(given: &JsValue) -> u32 {
    count(given, "firstDirectory").and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

fn mounts(mut builder: SandboxBuilder, given: &JsValue) -> SandboxBuilder {
    for (number, mount) in (first_directory(given)..).zip(options::list(&get(given, "mounts"))) {
        let path = text(&mount, "path").unwrap_or_default();
        let mode = options::mount_mode(&text(&mount, "mode").unwrap_or_default());
        builder = builder.mount(path, Arc::new(HostDir::new(number)), mode);
    }
    builder
}
