//! The C compiler and the runtime of programs in C (`packs/c-runtime`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::step::{Progress, run};

const RETRY: &str = "cargo xtask pack c-runtime";

/// The compiler, with the hash of each wheel that may be installed.
const ZIG: &str = "ziglang==0.17.1 \
    --hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54\n";

const TARGET: &str = "wasm32-wasi";

/// The compiler and its cache.
#[derive(Debug)]
pub(crate) struct Zig {
    pub(crate) program: PathBuf,
    cache: PathBuf,
}

impl Zig {
    /// Returns the command line of the C compiler.
    pub(crate) fn cc(&self) -> String {
        format!("{} cc -target {TARGET}", self.program.display())
    }

    pub(crate) fn set_cache(&self, command: &mut Command) {
        command.env("ZIG_GLOBAL_CACHE_DIR", &self.cache).env("ZIG_LOCAL_CACHE_DIR", &self.cache);
    }

    /// Runs the compiler. Undefined behavior is not trapped, as in other C compilers.
    fn compile(&self, arguments: &[&str], files: &[&Path], to: &Path, output: &str) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["cc", "-target", TARGET, "-fno-sanitize=all", "-ffunction-sections", "-fdata-sections"]);
        self.set_cache(&mut command);
        run(command.args(arguments).args(files).arg(output).arg(to), RETRY)
    }

    /// Compiles C files into a static library in `out`, replacing an older one.
    pub(crate) fn library(&self, files: &[PathBuf], arguments: &[&str], out: &Path, name: &str) -> Result<()> {
        let mut objects = Vec::new();
        for file in files {
            let object = out.join(file.file_name().context("a C file has a name")?).with_extension("o");
            self.compile(&[arguments, &["-c"]].concat(), &[file], &object, "-o")?;
            objects.push(object);
        }
        let library = out.join(name);
        if library.exists() {
            fs::remove_file(&library)?;
        }
        let mut command = Command::new(&self.program);
        self.set_cache(&mut command);
        run(command.arg("ar").arg("rcs").arg(library).args(objects), RETRY)
    }
}

/// Installs the compiler into a virtual environment below the target directory.
pub(crate) fn zig(project: &Project, progress: &mut Progress) -> Result<Zig> {
    let venv = project.target.join("venv/zig");
    let requirements = project.target.join("venv/zig.txt");
    let marker = venv.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == ZIG) {
        return Ok(Zig { program: find_zig(&venv)?, cache: project.target.join("zig-cache") });
    }
    fs::create_dir_all(project.target.join("venv"))?;
    fs::write(&requirements, ZIG)?;
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(&venv);
    progress.run("create a virtual environment for the C compiler", create, RETRY)?;
    let mut install = Command::new(venv.join("bin/pip"));
    install.args(["install", "--quiet", "--no-deps", "--require-hashes", "-r"]).arg(&requirements);
    progress.run("install the C compiler", install, RETRY)?;
    fs::write(marker, ZIG)?;
    Ok(Zig { program: find_zig(&venv)?, cache: project.target.join("zig-cache") })
}

fn find_zig(venv: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(venv.join("lib"))? {
        let program = entry?.path().join("site-packages/ziglang/zig");
        if program.exists() {
            return Ok(program);
        }
    }
    anyhow::bail!("{} contains no compiler; remove it, then run `{RETRY}` again", venv.display())
}

/// Compiles the runtime. Returns the directory of `libtidebox.a`.
pub(crate) fn build(project: &Project, progress: &mut Progress, zig: &Zig) -> Result<PathBuf> {
    let own = project.root.join("packs/c-runtime");
    let out = project.target.join("c-runtime");
    progress.step("compile the C runtime", |_| {
        fs::create_dir_all(&out)?;
        let include = format!("-I{}", own.join("include").display());
        let arguments = ["-DTIDEBOX_RUNTIME", "-Os", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", &include];
        zig.library(&c_files(&own.join("src"))?, &arguments, &out, "libtidebox.a")
    })?;
    Ok(out)
}

/// Compiles the runtime and its tests, which `tests/c_runtime.rs` runs in a sandbox.
pub(crate) fn c_runtime(project: &Project, progress: &mut Progress) -> Result<()> {
    let zig = zig(project, progress)?;
    let out = build(project, progress, &zig)?;
    let own = project.root.join("packs/c-runtime");
    let include = format!("-I{}", own.join("include").display());
    let library = out.join("libtidebox.a");
    let arguments = ["-Os", "-Wall", "-Wextra", "-Werror", "-Wl,--export=__stack_pointer", &include];
    progress.step("compile the tests of the C runtime", |_| {
        for file in c_files(&own.join("tests"))? {
            let program = out.join(file.file_name().context("a C file has a name")?).with_extension("wasm");
            zig.compile(&arguments, &[&file, &library], &program, "-o")?;
        }
        Ok(())
    })
}

/// Returns the C files of a directory in the order of their names, so that the library has equal bytes each time.
fn c_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "c") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
