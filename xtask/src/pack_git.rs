//! `cargo xtask pack git`: compiles Git for the sandbox and writes the archives of the pack. `packs/git/README.md` describes it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::c_runtime::{self, Zig};
use crate::project::{Project, list_files};
use crate::step::{Progress, output, run};
use crate::test_pack::TestPack;

const RETRY: &str = "cargo xtask pack git";

/// The version of Debian 12, whose program recorded the cases in `tests/spec`.
pub(crate) const VERSION: &str = "2.39.5";
const SOURCE: &str = "git_2.39.5.orig.tar.xz";
const SOURCE_SHA256: &str = "c58da92c378df4a986ca33266897a7397e86c22ee266a284d8c2432c39066b59";
const SOURCE_POOL: &str = "pool/main/g/git/git_2.39.5.orig.tar.xz";
/// Used if no mirror of this host has the file, and named in the pack.
const DEBIAN: &str = "http://deb.debian.org/debian/";

const ZLIB_CRATE: &str = "libz-sys";
const ZLIB_VERSION: &str = "1.1.31";
const ZLIB_SHA256: &str = "ff20308ecabd635a2dc1dd5834a86c462cca20efba1d5d3ddab1f8aea3455cb2";
/// The files of zlib without its own file streams.
const ZLIB_FILES: [&str; 10] =
    ["adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees", "uncompr", "zutil"];

/// Parts of Git that are shell scripts. The others need Perl, Python or a display.
const SCRIPTS: [&str; 12] = [
    "git-bisect",
    "git-difftool--helper",
    "git-filter-branch",
    "git-merge-octopus",
    "git-merge-one-file",
    "git-merge-resolve",
    "git-mergetool",
    "git-mergetool--lib",
    "git-quiltimport",
    "git-sh-i18n",
    "git-sh-setup",
    "git-submodule",
];

/// Commands that `packs/git/files/unavailable` refuses.
const UNAVAILABLE: [&str; 14] = [
    "archimport",
    "citool",
    "cvsexportcommit",
    "cvsimport",
    "cvsserver",
    "daemon",
    "gui",
    "imap-send",
    "instaweb",
    "p4",
    "request-pull",
    "send-email",
    "svn",
    "web--browse",
];

/// Maximum size of an archive in bytes.
const MAX_BYTES: u64 = 5 << 20;

/// Directories of a build of the pack, for `make` in Git's source.
#[derive(Debug)]
pub(crate) struct Build {
    /// Git's source with the patch, compiled for the sandbox.
    pub(crate) source: PathBuf,
    zig: Zig,
    runtime: PathBuf,
    zlib: PathBuf,
}

impl Build {
    /// Returns a command that makes targets of Git's Makefile for the sandbox.
    pub(crate) fn make(&self, project: &Project) -> Command {
        let include = project.root.join("packs/c-runtime/include");
        let mut make = Command::new("make");
        make.current_dir(&self.source).arg("--no-print-directory").arg("-s").arg(jobs());
        // The Makefile must not look at the host.
        make.args(["uname_S=WASI", "uname_M=wasm32", "uname_R=", "uname_V=", "uname_O="]);
        make.arg(format!("CC={} -I{} -I{}", self.zig.cc(), include.display(), self.zlib.display()));
        make.arg(format!("AR={} ar", self.zig.program.display()));
        make.arg(format!("RUNTIME={}", self.runtime.display())).arg(format!("ZLIB={}", self.zlib.display()));
        self.zig.set_cache(&mut make);
        make
    }
}

/// Returns the option of `make` for parallel jobs.
pub(crate) fn jobs() -> String {
    format!("-j{}", env::var("CARGO_BUILD_JOBS").unwrap_or_else(|_| "2".into()))
}

/// Returns the directory of the pack and of its build.
fn pack_dir(project: &Project) -> PathBuf {
    project.target.join("pack-git")
}

/// Returns the wheel that `cargo xtask pack git` left.
pub(crate) fn wheel(project: &Project) -> Option<PathBuf> {
    let wheel = pack_dir(project).join(wheel_name());
    wheel.is_file().then_some(wheel)
}

fn wheel_name() -> String {
    format!("tidebox_git-{VERSION}-py3-none-any.whl")
}

/// Returns the build that `cargo xtask pack git` left, or builds the pack.
pub(crate) fn find_or_build(project: &Project, progress: &mut Progress) -> Result<Build> {
    let dir = pack_dir(project);
    let source = dir.join(format!("git-{VERSION}"));
    if !source.join("git").is_file() {
        return pack_git(project, progress);
    }
    let zig = c_runtime::zig(project, progress)?;
    let runtime = c_runtime::build(project, progress, &zig)?;
    Ok(Build { source, zig, runtime, zlib: dir.join("zlib") })
}

/// Adds the pack for the tests that need it.
pub(crate) fn add(project: &Project, progress: &mut Progress) -> Result<()> {
    let dir = pack_dir(project);
    let mut sources = vec![project.dist().join("git-remote-http.wasm")];
    for part in ["packs/git", "packs/c-runtime/include", "packs/c-runtime/src"] {
        sources.extend(list_files(&project.root.join(part))?);
    }
    sources.extend(["xtask/src/pack_git.rs", "xtask/src/c_runtime.rs"].map(|file| project.root.join(file)));
    let pack = TestPack { name: "git", wheel: dir.join(wheel_name()), sources };
    pack.add(
        project,
        progress,
        |progress| fetch(project, progress, &dir),
        |progress| pack_git(project, progress).map(drop),
    )
}

/// Fetches what a build of the pack needs from other hosts.
fn fetch(project: &Project, progress: &mut Progress, dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    c_runtime::zig(project, progress)?;
    fetch_source(dir)?;
    zlib_files(dir, &dir.join("zlib")).map(drop)
}

/// Runs `cargo xtask pack git`.
pub(crate) fn pack_git(project: &Project, progress: &mut Progress) -> Result<Build> {
    let dir = pack_dir(project);
    fs::create_dir_all(&dir)?;
    let zig = c_runtime::zig(project, progress)?;
    let runtime = c_runtime::build(project, progress, &zig)?;
    progress.step("fetch Git's source", |_| fetch_source(&dir))?;
    let zlib = progress.step("compile zlib", |_| compile_zlib(&dir, &zig))?;
    let source = progress.step("unpack and patch Git", |_| unpack_patched(project, &dir))?;
    let build = Build { source, zig, runtime, zlib };
    progress.step("compile Git", |_| compile(project, &build))?;
    let tree = progress.step("collect the files of the pack", |_| collect(project, &dir, &build.source))?;
    for path in write_archives(project, &dir, &tree)? {
        let bytes = fs::metadata(&path)?.len();
        ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, more than {MAX_BYTES}", path.display());
        progress.print(&format!("{}: {:.2} MiB", path.display(), bytes as f64 / f64::from(1 << 20)));
    }
    Ok(build)
}

/// Downloads the source with apt, from the mirrors of this host and then from Debian. apt verifies the checksum.
fn fetch_source(dir: &Path) -> Result<PathBuf> {
    let to = dir.join(SOURCE);
    if to.exists() && sha256(&to)? == SOURCE_SHA256 {
        return Ok(to);
    }
    let listed = Command::new("apt-get").args(["indextargets", "--format", "$(REPO_URI)"]).output();
    let mut mirrors: Vec<String> = Vec::new();
    for line in listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default().lines() {
        if line.trim_end_matches('/').ends_with("/debian") && !mirrors.iter().any(|mirror| mirror == line) {
            mirrors.push(line.to_owned());
        }
    }
    mirrors.push(DEBIAN.to_owned());
    for mirror in mirrors {
        let url = format!("{}/{SOURCE_POOL}", mirror.trim_end_matches('/'));
        let mut command = Command::new("/usr/lib/apt/apt-helper");
        command.args(["download-file", &url]).arg(&to).arg(format!("SHA256:{SOURCE_SHA256}"));
        if run(&mut command, RETRY).is_ok() && sha256(&to)? == SOURCE_SHA256 {
            return Ok(to);
        }
    }
    bail!("cannot download {SOURCE}; put a file with the SHA-256 {SOURCE_SHA256} at {}", to.display())
}

fn sha256(path: &Path) -> Result<String> {
    let line = output(Command::new("sha256sum").arg("--binary").arg(path), RETRY)?;
    Ok(String::from_utf8_lossy(&line).split(' ').next().unwrap_or_default().to_owned())
}

/// Compiles zlib for the sandbox. Returns the directory with the library and its headers.
fn compile_zlib(dir: &Path, zig: &Zig) -> Result<PathBuf> {
    let out = dir.join("zlib");
    let files = zlib_files(dir, &out)?;
    zig.library(&files, &["-O2", "-w"], &out, "libz.a")?;
    Ok(out)
}

/// Fetches the crate by a package that depends on it, whose lock file has the checksum. Copies zlib's headers to `out`, and returns
/// its C files.
pub(crate) fn zlib_files(dir: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let package = dir.join("zlib-package");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"zlib-source\"\nversion = \"0.0.0\"\n\n[dependencies]\n\
         {ZLIB_CRATE} = {{ version = \"={ZLIB_VERSION}\", default-features = false }}\n\n[workspace]\n"
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let described = output(cargo().args(["metadata", "--format-version", "1"]).current_dir(&package), RETRY)
        .context("fetch zlib")?;
    let lock = fs::read_to_string(package.join("Cargo.lock"))?;
    ensure!(lock.contains(&format!("checksum = \"{ZLIB_SHA256}\"")), "{ZLIB_CRATE} has another checksum than expected");
    let described: serde_json::Value = serde_json::from_slice(&described)?;
    let packages = described["packages"].as_array().context("cargo metadata lists no packages")?;
    let found = packages.iter().find(|package| package["name"] == ZLIB_CRATE).context("zlib's crate is missing")?;
    let manifest = found["manifest_path"].as_str().context("a package has no manifest")?;
    let source = Path::new(manifest).parent().context("a manifest has no directory")?.join("src/zlib");
    fs::create_dir_all(out)?;
    for header in ["zlib.h", "zconf.h"] {
        fs::copy(source.join(header), out.join(header))?;
    }
    Ok(ZLIB_FILES.iter().map(|name| source.join(name).with_extension("c")).collect())
}

/// Unpacks Git's source into a fresh directory below `dir`.
pub(crate) fn unpack(project: &Project, dir: &Path) -> Result<PathBuf> {
    let archive = fetch_source(&pack_dir(project))?;
    let source = dir.join(format!("git-{VERSION}"));
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(dir), RETRY)?;
    Ok(source)
}

/// Unpacks the source and applies the patch.
fn unpack_patched(project: &Project, dir: &Path) -> Result<PathBuf> {
    let source = unpack(project, dir)?;
    let patch = project.root.join("packs/git/patch/tidebox.patch");
    run(Command::new("patch").args(["-s", "-p1", "-i"]).arg(&patch).current_dir(&source), RETRY)?;
    fs::copy(project.root.join("packs/git/config.mak"), source.join("config.mak"))?;
    Ok(source)
}

fn compile(project: &Project, build: &Build) -> Result<()> {
    run(build.make(project).arg("git").args(SCRIPTS), RETRY)?;
    run(Command::new("make").args(["-s", "-C", "templates", "all"]).current_dir(&build.source), RETRY)
}

/// Collects the files by their paths in the sandbox, below `files`, and those for people next to it.
fn collect(project: &Project, dir: &Path, source: &Path) -> Result<PathBuf> {
    let own = project.root.join("packs/git");
    let tree = dir.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    let core = tree.join("files/usr/lib/git-core");
    fs::create_dir_all(&core)?;
    fs::create_dir_all(tree.join("files/etc"))?;
    fs::copy(source.join("git"), tree.join("git.wasm"))?;
    let helper = project.dist().join("git-remote-http.wasm");
    ensure!(helper.is_file(), "{} is missing; build it by `cargo xtask userland`", helper.display());
    for name in ["git-remote-http", "git-remote-https"] {
        fs::copy(&helper, core.join(name))?;
    }
    for script in SCRIPTS {
        copy_script(&source.join(script), &core.join(script))?;
    }
    for name in UNAVAILABLE {
        copy_script(&own.join("files/unavailable"), &core.join(format!("git-{name}")))?;
    }
    copy_tree(&source.join("mergetools"), &core.join("mergetools"))?;
    let templates = tree.join("files/usr/share/git-core/templates");
    copy_tree(&source.join("templates/blt"), &templates)?;
    // The home directory of a sandbox is often a repository.
    let exclude = templates.join("info/exclude");
    let text = fs::read_to_string(&exclude)?;
    fs::write(&exclude, format!("{text}/.gitconfig\n/.git-credentials\n"))?;
    fs::copy(own.join("files/gitconfig"), tree.join("files/etc/gitconfig"))?;
    fs::copy(source.join("COPYING"), tree.join("COPYING"))?;
    fs::copy(own.join("patch/tidebox.patch"), tree.join("tidebox.patch"))?;
    fs::copy(own.join("config.mak"), tree.join("config.mak"))?;
    fs::write(tree.join("SOURCES"), sources())?;
    Ok(tree)
}

fn copy_script(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    #[cfg(unix)]
    fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Names the exact sources of the pack, as Git's licence requires.
fn sources() -> String {
    let mut text = format!("Sources of Git {VERSION} in this pack, which is under GPL-2.0 (COPYING):\n\n");
    let mut line = |what: &str, from: &str, sha256: &str| {
        write!(text, "{what}\n  {from}\n  SHA-256 {sha256}\n").expect("writing to a String cannot fail");
    };
    line("Git", &format!("{DEBIAN}{SOURCE_POOL}"), SOURCE_SHA256);
    line("zlib", &format!("the directory src/zlib of the crate {ZLIB_CRATE} {ZLIB_VERSION} at crates.io"), ZLIB_SHA256);
    text.push_str(
        "\nThe changes to Git are in tidebox.patch and the settings of its Makefile in config.mak, both next to this file. The C\n\
         library is the one of the compiler (ziglang at PyPI) with packs/c-runtime of Tidebox. `cargo xtask pack git` of Tidebox\n\
         builds the pack from these.\n",
    );
    text
}

fn write_archives(project: &Project, dir: &Path, tree: &Path) -> Result<[PathBuf; 2]> {
    let tgz = dir.join(format!("tidebox-git-{VERSION}.tgz"));
    archive(project, tree, [tgz, dir.join(wheel_name())], ["tidebox_git", VERSION, "GPL-2.0-only"], RETRY)
}

/// Packs a tree into a `.tgz` and a wheel, with name, version and licence of the wheel.
pub(crate) fn archive(
    project: &Project,
    tree: &Path,
    archives: [PathBuf; 2],
    wheel: [&str; 3],
    retry: &str,
) -> Result<[PathBuf; 2]> {
    let mut command = Command::new("python3");
    command.arg(project.root.join("packs/archive.py")).arg(tree).args(&archives).args(wheel);
    run(&mut command, retry)?;
    Ok(archives)
}
