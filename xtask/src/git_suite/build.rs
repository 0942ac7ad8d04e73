//! Builds of Git for its own tests: a native one, and the test programs for the sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::pack_git::{self, Build, VERSION};
use crate::project::Project;
use crate::step::{Progress, run};

use super::RETRY;

/// Features that the pack lacks, so that both builds skip the same tests. Many tests call Perl although the build has none, and
/// the sandbox has no Perl: the path leads to no program on the host, too.
const SETTINGS: &str = "NO_OPENSSL = 1\nNO_CURL = 1\nNO_EXPAT = 1\nNO_GETTEXT = 1\nNO_PERL = 1\nPERL_PATH = /usr/bin/no-perl\n\
                        NO_PYTHON = 1\nNO_TCLTK = 1\nNO_GITWEB = 1\nNO_IPV6 = 1\nNO_UNIX_SOCKETS = 1\nNO_REGEX = NeedsStartEnd\n\
                        CFLAGS = -O1 -w\nSHELL_PATH = /bin/sh\n";

/// Files that the tests expect in the directory of the build, besides the program itself.
const TEST_PROGRAMS: [&str; 2] = ["t/helper/test-tool", "t/helper/test-fake-ssh"];

/// The builds, and the directory of the results.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) dir: PathBuf,
    /// Source of Git, built for the host.
    pub(super) native: PathBuf,
    /// Source of Git, built for the sandbox.
    pub(super) guest: PathBuf,
}

impl Suite {
    pub(super) fn native_result(&self, script: &str) -> PathBuf {
        self.dir.join("native").join(format!("{script}.tap"))
    }

    pub(super) fn sandbox_result(&self, script: &str) -> PathBuf {
        self.dir.join("sandbox").join(format!("{script}.tap"))
    }
}

/// Builds what is missing.
pub(super) fn prepare(project: &Project, progress: &mut Progress, build: &Build) -> Result<Suite> {
    let dir = project.target.join("git-suite");
    for results in ["native", "sandbox", "run"] {
        fs::create_dir_all(dir.join(results))?;
    }
    let native = dir.join("host").join(format!("git-{VERSION}"));
    if !native.join(TEST_PROGRAMS[0]).is_file() {
        progress.step("compile Git for the host", |_| compile_native(project, &dir.join("host")))?;
    }
    progress.step("compile Git's test programs for the sandbox", |_| {
        run(build.make(project).arg("GIT-BUILD-OPTIONS").args(TEST_PROGRAMS), RETRY)
    })?;
    Ok(Suite { dir, native, guest: build.source.clone() })
}

fn compile_native(project: &Project, dir: &Path) -> Result<()> {
    let zlib = dir.join("zlib");
    fs::create_dir_all(&zlib)?;
    let files = pack_git::zlib_files(dir, &zlib)?;
    run(Command::new("cc").args(["-c", "-O2", "-w"]).args(files).current_dir(&zlib), RETRY)?;
    run(Command::new("sh").args(["-c", "ar rcs libz.a *.o"]).current_dir(&zlib), RETRY)?;
    let source = pack_git::unpack(project, dir)?;
    fs::write(source.join("config.mak"), format!("{SETTINGS}ZLIB_PATH = {}\n", zlib.display()))?;
    let mut make = Command::new("make");
    make.current_dir(&source).args(["-s", "--no-print-directory"]).arg(pack_git::jobs());
    // The library and its headers are in one directory.
    make.arg(format!("CC=cc -I{0} -L{0}", zlib.display())).arg("all");
    run(&mut make, RETRY)
}
