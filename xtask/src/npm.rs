//! The npm package: the kernel for JavaScript, the TypeScript around it, and the userland.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::project::Project;
use crate::setup;
use crate::step::{self, Progress};

const RETRY: &str = "cargo xtask npm";

/// The profile of the kernel that is published; see the workspace's `Cargo.toml`.
const PROFILE: &str = "npm";

/// Maximum size of the packed package in bytes. Every user downloads it.
const MAX_BYTES: u64 = 8_000_000;

/// Files of the repository that go into the package as they are.
const LICENSE_FILES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the package and packs it.
pub(crate) fn npm(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::guests(project, progress)?;
    pack(project, progress, Types::Write).map(|_| ())
}

/// Mode of the step for `js-bindings/types`, the declarations for users. They are committed, so that every change of
/// them is reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    Write,
    Check,
}

/// The declarations that the package's own lead to.
const TYPES: [&str; 28] = [
    "agent_backend.d.ts",
    "ai_sdk.d.ts",
    "ai_sdk_harness.d.ts",
    "bash_tool.d.ts",
    "error.d.ts",
    "host_tool.d.ts",
    "mastra.d.ts",
    "mastra_filesystem.d.ts",
    "mastra_processes.d.ts",
    "network_options.d.ts",
    "openai_agents.d.ts",
    "openai_agents_session.d.ts",
    "options.d.ts",
    "pack_add.node.d.ts",
    "pack_export.node.d.ts",
    "pack_options.d.ts",
    "ports.d.ts",
    "prepare.d.ts",
    "process.d.ts",
    "protocol.d.ts",
    "public.d.ts",
    "python_session.d.ts",
    "remote.d.ts",
    "remote_options.d.ts",
    "sandbox.d.ts",
    "snapshot.d.ts",
    "output.d.ts",
    "usage.d.ts",
];

/// Packs the package from the current guest programs and returns the path of the archive.
pub(crate) fn pack(project: &Project, progress: &mut Progress, types: Types) -> Result<PathBuf> {
    let bindings = project.root.join("js-bindings");
    for module in MODULES {
        self::module(project, progress, &bindings, module)?;
    }
    install(progress, &bindings)?;
    let package = bindings.join("package");
    if package.exists() {
        fs::remove_dir_all(&package).context("cannot remove the old package")?;
    }
    progress.run("compile the TypeScript", npm_command(&bindings, &["exec", "--", "tsc", "-p", "."]), RETRY)?;
    declarations(&bindings, &package, types)?;
    assemble(project, progress, &bindings, &package)?;
    archive(progress, &package)
}

const KERNEL: &str = "kernel";

/// Modules of the package: the name in messages, the package that each is built from, and the name of its files.
const MODULES: [(&str, &str, &str); 2] = [
    ("the kernel", "tidebox-js-bindings", KERNEL),
    ("the module for cloud providers", "tidebox-js-remote", "remote_kernel"),
];

/// A module and the JavaScript that belongs to it.
fn module(
    project: &Project,
    progress: &mut Progress,
    bindings: &Path,
    (what, package, name): (&str, &str, &str),
) -> Result<()> {
    let build = ["build", "--locked", "--profile", PROFILE, "--target", "wasm32-unknown-unknown", "--lib", "--package"];
    let mut cargo = project.cargo(&build);
    cargo.arg(package);
    progress.run(&format!("build {what} for JavaScript"), cargo, RETRY)?;
    let file = format!("{}.wasm", package.replace('-', "_"));
    let module = project.target.join("wasm32-unknown-unknown").join(PROFILE).join(file);
    // A separate workspace and target directory: its dependencies are not shared.
    let mut bindgen =
        project.cargo(&["run", "--locked", "--quiet", "--manifest-path", "js-bindings/bindgen/Cargo.toml"]);
    bindgen.env("CARGO_TARGET_DIR", project.target.join("bindgen")).arg("--").arg(module);
    bindgen.arg(bindings.join("js")).arg(name);
    progress.run(&format!("write the JavaScript of {what}"), bindgen, RETRY)?;
    if name == KERNEL { guard_futures(&bindings.join("js").join(format!("{name}.js"))) } else { Ok(()) }
}

/// The global function by which the generated JavaScript runs futures.
const RUN_FUTURES: &str = "queueMicrotask(";

/// Makes the kernel run its futures by the function of `js/time.ts`: with the global
/// function, an exception in the caller's thread would end the application.
fn guard_futures(file: &Path) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(
        text.contains(RUN_FUTURES),
        "{} does not contain {RUN_FUTURES}; see how wasm-bindgen runs futures now",
        file.display()
    );
    let text = format!("import {{ queueMicrotask }} from \"./time.js\";\n{text}");
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Installs the tools that build and test the package, in the versions that its manifest names. A lock file is not used: the few
/// packages pin their dependencies exactly, and npm cannot read a lock file without host names that lists packages for other
/// platforms.
fn install(progress: &mut Progress, bindings: &Path) -> Result<()> {
    let manifest = fs::read(bindings.join("package.json")).context("cannot read js-bindings/package.json")?;
    let stamp = bindings.join("node_modules/.installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == manifest) {
        progress.print("the npm packages are installed");
        return Ok(());
    }
    progress.run("install npm packages", npm_command(bindings, &["install"]), RETRY)?;
    fs::write(&stamp, manifest).with_context(|| format!("cannot write {}", stamp.display()))
}

fn declarations(bindings: &Path, package: &Path, types: Types) -> Result<()> {
    fs::create_dir_all(bindings.join("types"))?;
    for name in TYPES {
        let (generated, committed) = (package.join("dist").join(name), bindings.join("types").join(name));
        let same = fs::read(&generated)? == fs::read(&committed).unwrap_or_default();
        match types {
            _ if same => {}
            Types::Write => copy(&generated, &committed)?,
            Types::Check => {
                bail!("js-bindings/types/{name} differs from the TypeScript sources; run `{RETRY}` and commit the file")
            }
        }
    }
    Ok(())
}

fn assemble(project: &Project, progress: &mut Progress, bindings: &Path, package: &Path) -> Result<()> {
    for (_, _, name) in MODULES {
        for file in [format!("{name}.js"), format!("{name}.d.ts"), format!("{name}_bg.wasm")] {
            copy(&bindings.join("js").join(&file), &package.join("dist").join(&file))?;
        }
    }
    bundle_worker(progress, bindings)?;
    bundle_entries(progress, bindings)?;
    for file in ["package.json", "README.md"] {
        copy(&bindings.join(file), &package.join(file))?;
    }
    for file in LICENSE_FILES {
        copy(&project.root.join(file), &package.join(file))?;
    }
    let mut userland = project.cargo(&[
        "run",
        "--locked",
        "--quiet",
        "--package",
        "tidebox-js-bindings",
        "--example",
        "package_userland",
    ]);
    let (rewritten, packed) =
        (project.target.join("npm-programs/rewritten"), project.target.join("npm-programs/packed"));
    userland.arg("--").arg(project.userland()).arg(&rewritten);
    progress.run("rewrite the guest programs for JavaScript", userland, RETRY)?;
    let packs = ["run", "--locked", "--quiet", "--package", "tidebox-js-bindings", "--example", "package_packs"];
    let mut packs = project.cargo(&packs);
    packs.arg("--").arg(project.root.join("packs")).arg(package.join("packs.json"));
    progress.run("list the packs for the package", packs, RETRY)?;
    let mut archive = Command::new("node");
    archive.current_dir(bindings).arg("build/archive.mjs").args([&rewritten, &package.join("userland"), &packed]);
    progress.run("pack the guest programs", archive, RETRY)?;
    let mut prepare = Command::new("node");
    prepare.current_dir(bindings).arg("build/prepare_kernel.mjs").arg(package);
    progress.run("store the base image in the kernel", prepare, RETRY)?;
    write_url_module(package)
}

/// The Worker of Node and Deno in one file of CommonJS: every sandbox reads it, and a Worker that loads a dozen modules takes a
/// quarter longer to start.
fn bundle_worker(progress: &mut Progress, bindings: &Path) -> Result<()> {
    let address = "--banner:js=const address = require(\"node:url\").pathToFileURL(__filename).href;";
    let bundle = [
        "exec",
        "--",
        "esbuild",
        "package/dist/worker.node.js",
        "--bundle",
        "--platform=node",
        "--format=cjs",
        "--define:import.meta.url=address",
        address,
        "--outfile=package/dist/worker.node.cjs",
        // wasm-bindgen writes some declarations twice, which causes a warning.
        "--log-level=error",
    ];
    progress.run("bundle the Worker of Node", npm_command(bindings, &bundle), RETRY)
}

/// Modules that the entry point of Node and Deno does not contain: those that are loaded when they are needed, and the error
/// classes that the other entry points and these modules have to share with it.
const APART: [&str; 7] = [
    "./error.js",
    "./expose.node.js",
    "./gateway_failure.js",
    "./gateway.node.js",
    "./packs.node.js",
    "./remote_kernel.js",
    "./caller.node.js",
];

/// The entry point of Node and Deno in one file, because importing thirty modules takes twice as long, and the kernel for the
/// caller's thread in another, because a copy of it is loaded after the kernel has trapped.
fn bundle_entries(progress: &mut Progress, bindings: &Path) -> Result<()> {
    bundle_module(progress, bindings, "package/dist/node.js")?;
    bundle_module(progress, bindings, "package/dist/caller.node.js")
}

fn bundle_module(progress: &mut Progress, bindings: &Path, entry: &str) -> Result<()> {
    let (outfile, apart) = (format!("--outfile={entry}"), APART.map(|module| format!("--external:{module}")));
    let mut bundle = vec!["exec", "--", "esbuild", entry, "--bundle", "--platform=node", "--format=esm"];
    bundle.extend(["--allow-overwrite", "--log-level=error", &outfile]);
    bundle.extend(apart.iter().map(String::as_str));
    progress.run(&format!("bundle {entry}"), npm_command(bindings, &bundle), RETRY)
}

/// A module that names the file of each program in a way that bundlers see; `js/userland.web.d.ts` declares it.
fn write_url_module(package: &Path) -> Result<()> {
    let listed = fs::read(package.join("userland/programs.json")).context("cannot read userland/programs.json")?;
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&listed)?;
    let mut module = String::from("/** URLs of the programs of the package. */\nexport default {\n");
    for program in &listed {
        let file = program["file"].as_str().context("a program in userland/programs.json has no file")?;
        module.push_str(&format!("  \"{file}.piece\": new URL(\"../userland/{file}.piece\", import.meta.url),\n"));
    }
    module.push_str("};\n");
    fs::write(package.join("dist/userland.web.js"), module).context("cannot write dist/userland.web.js")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(|_| ()).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn archive(progress: &mut Progress, package: &Path) -> Result<PathBuf> {
    progress.step("pack", |progress| {
        let printed = step::output(&mut npm_command(package, &["pack", "--json"]), RETRY)?;
        let packed: serde_json::Value =
            serde_json::from_slice(&printed).context("cannot parse the output of `npm pack` as JSON")?;
        let Some(packed) = first(&packed) else {
            bail!("`npm pack` listed no package; check js-bindings/package.json");
        };
        let name = packed["filename"].as_str().context("`npm pack` printed no file name")?;
        let [size, unpacked] = ["size", "unpackedSize"].map(|field| packed[field].as_u64().unwrap_or(u64::MAX));
        progress.print(&format!("{name}: {size} bytes packed, {unpacked} bytes unpacked"));
        ensure!(size <= MAX_BYTES, "{name} is larger than {MAX_BYTES} bytes; find out which file has grown");
        Ok(package.join(name))
    })
}

/// Old versions of npm print a list, newer ones an object by names.
fn first(packed: &serde_json::Value) -> Option<&serde_json::Value> {
    packed.get(0).or_else(|| packed.as_object()?.values().next())
}

pub(crate) fn npm_command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(dir).args(arguments);
    command
}
