//! CPython's `test` package, which the pack lacks, from Debian's packages of the same Python version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::step;

/// The packages that contain it, and the directory in each.
const PACKAGES: [&str; 2] = ["libpython3.15-testsuite", "libpython3.15-stdlib"];
const INSIDE: &str = "usr/lib/python3.15/test";

/// The distribution that has them, on the mirror of this host.
const DISTRIBUTION: &str = "sid";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

const RETRY: &str = "cargo xtask python-tests";

/// Returns the directory that contains the package `test`, and fetches it if it is missing.
pub(super) fn suite_dir() -> Result<PathBuf> {
    let kept = cache()?.join("cpython-3.15-tests");
    if !kept.join("test/test_json").is_dir() {
        fetch(&kept).context(
            "cannot fetch CPython's own tests from Debian's packages; copy Lib/test of CPython 3.15 into a directory DIR and run \
             `cargo xtask python-tests --suite DIR`",
        )?;
    }
    Ok(kept)
}

fn cache() -> Result<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| Some(env::home_dir()?.join(".cache"))).context("cannot find the home directory")?;
    Ok(base.join("tidebox/tests"))
}

/// Fetches with a separate configuration of apt, apart from the sources and lists of the host.
fn fetch(kept: &Path) -> Result<()> {
    let partial = kept.with_extension("new");
    let _ = fs::remove_dir_all(&partial);
    for dir in ["state/lists/partial", "cache/archives/partial", "unpacked"] {
        fs::create_dir_all(partial.join(dir)).with_context(|| format!("cannot create {}", partial.display()))?;
    }
    let root = partial.display();
    fs::write(partial.join("sources.list"), format!("deb [signed-by={KEYS}] {} {DISTRIBUTION} main\n", mirror()?))?;
    fs::write(partial.join("state/status"), "")?;
    let settings = format!(
        "Dir::State \"{root}/state\";\nDir::State::status \"{root}/state/status\";\nDir::Cache \"{root}/cache\";\n\
         Dir::Etc::sourcelist \"{root}/sources.list\";\nDir::Etc::sourceparts \"-\";\nAcquire::Languages \"none\";\n\
         Debug::NoLocking \"1\";\n"
    );
    fs::write(partial.join("apt.conf"), settings)?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", partial.join("apt.conf")).current_dir(&partial).args(["-qq"]).args(arguments);
        step::run(&mut command, RETRY)
    };
    apt(&["update"])?;
    apt(&[&["download"], &PACKAGES[..]].concat())?;
    let mut found = 0;
    for entry in fs::read_dir(&partial)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            step::run(Command::new("dpkg-deb").arg("-x").arg(&file).arg(partial.join("unpacked")), RETRY)?;
            found += 1;
        }
    }
    ensure!(found == PACKAGES.len(), "apt-get downloaded {found} packages instead of {}", PACKAGES.len());
    fs::create_dir_all(kept)?;
    fs::rename(partial.join("unpacked").join(INSIDE), kept.join("test"))?;
    fs::remove_dir_all(&partial)?;
    Ok(())
}

/// Returns the mirror that the host's apt uses.
fn mirror() -> Result<String> {
    let mut apt = Command::new("apt-get");
    apt.args(["indextargets", "--format", "$(ORIGIN) $(SITE)", "Created-By: Packages"]);
    let printed = String::from_utf8(step::output(&mut apt, RETRY)?)?;
    let site =
        printed.lines().find_map(|line| line.strip_prefix("Debian ").filter(|site| !site.ends_with("-security")));
    Ok(site.context("apt-get lists no mirror of Debian")?.to_owned())
}
