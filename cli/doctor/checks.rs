//! The checks.

use std::env;
use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

use super::Check;
#[cfg(target_os = "linux")]
use super::linux;
use crate::cli::output::format_bytes;
use crate::cli::sandbox;
use crate::{ExecuteRequest, Packs, RuntimeConfig, SandboxBackend as _, system};

/// Runs all checks.
pub(super) fn all() -> Vec<Check> {
    let mut checks = vec![version(), cache(), programs()];
    checks.extend(packs());
    checks.push(processor());
    #[cfg(target_os = "linux")]
    checks.extend(linux::all());
    checks.push(terminal());
    checks.push(run());
    checks
}

fn version() -> Check {
    let features = [("mcp", cfg!(feature = "mcp")), ("python", cfg!(feature = "python"))];
    let features: Vec<&str> = features.into_iter().filter(|(_, built)| *built).map(|(name, _)| name).collect();
    let found = format!(
        "{} for {} {}, features: {}",
        env!("CARGO_PKG_VERSION"),
        env::consts::ARCH,
        env::consts::OS,
        features.join(", ")
    );
    Check::ok("version", found)
}

fn cache() -> Check {
    const NAME: &str = "cache";
    let Some(dir) = system::user_cache() else {
        let hint = "set XDG_CACHE_HOME to a directory of yours; without it every start compiles the programs again";
        return Check::problem(NAME, "neither XDG_CACHE_HOME nor a home directory is set", hint);
    };
    let shown = dir.display();
    match crate::CacheDir::open(dir.join("aot")).and_then(|cache| cache.check_writable()) {
        Ok(()) => {
            let (programs, packs) = (format_bytes(size(&dir.join("aot"))), format_bytes(size(&dir.join("packs"))));
            Check::ok(NAME, format!("{shown}, {programs} of compiled programs, {packs} of packs"))
        }
        Err(error) => {
            let hint = "make it a directory that only you can write to, or set XDG_CACHE_HOME to another one; \
                        until then every start compiles the programs again";
            Check::problem(NAME, format!("cannot use {shown}: {error}"), hint)
        }
    }
}

/// Returns the size of all files below a directory. Entries that cannot be read have none.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn programs() -> Check {
    match RuntimeConfig::default().archive {
        Some(_) => Check::ok("programs", "native code is installed with tidebox"),
        None => Check::ok(
            "programs",
            "native code is compiled at first use and kept in the cache; `tidebox warm` does it now",
        ),
    }
}

fn packs() -> Vec<Check> {
    let folder = system::packs_dir();
    let check = |state: crate::PackState| {
        let (name, version) = (state.name, state.version);
        let exists = folder.as_ref().is_some_and(|folder| folder.join(name).exists());
        let with = if state.with.is_empty() { String::new() } else { format!(", with {}", state.with.join(", ")) };
        match (state.ready, state.ready_on_use, exists) {
            (true, ..) => Check::ok("pack", format!("{name} {version} is installed{with}")),
            (false, true, _) => Check::ok("pack", format!("{name} {version} is prepared at first use")),
            (false, false, true) => {
                let found = format!("{name} was installed by another version of tidebox");
                Check::warning("pack", found, format!("run `tidebox pack add {name}`"))
            }
            (false, false, false) => Check::ok(
                "pack",
                format!("{name} is not installed; `tidebox pack add {name}` does it: {}", state.about),
            ),
        }
    };
    Packs::user().list().into_iter().map(check).collect()
}

#[cfg(target_arch = "x86_64")]
fn processor() -> Check {
    let v2 =
        is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("ssse3");
    let v3 =
        v2 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("fma");
    match (v2, v3) {
        (_, true) => Check::ok("processor", "x86-64-v3 or newer"),
        (true, false) => Check::ok("processor", "x86-64-v2; text search is faster with AVX2 (x86-64-v3)"),
        (false, false) => {
            let hint = "vector instructions of programs are emulated and slow; choose a virtual processor with SSE 4.2";
            Check::warning("processor", "older than x86-64-v2", hint)
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Check {
    Check::ok("processor", env::consts::ARCH)
}

fn terminal() -> Check {
    let streams = [
        ("stdin", std::io::stdin().is_terminal()),
        ("stdout", std::io::stdout().is_terminal()),
        ("stderr", std::io::stderr().is_terminal()),
    ];
    let terminals: Vec<&str> = streams.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    let term = env::var("TERM").unwrap_or_default();
    let colors = if env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty()) { "off by NO_COLOR" } else { "on" };
    match terminals.as_slice() {
        [] => Check::ok("terminal", "none; output has no colours"),
        terminals => Check::ok("terminal", format!("{} (TERM={term}), colours are {colors}", terminals.join(", "))),
    }
}

/// Runs a command in a sandbox: the check that the others explain.
fn run() -> Check {
    const NAME: &str = "sandbox";
    let start = Instant::now();
    let ran = sandbox::runtime().and_then(|runtime| {
        let sandbox = crate::sandbox()?.build()?;
        Ok(runtime.block_on(sandbox.execute(ExecuteRequest::new("echo works")))?)
    });
    match ran {
        Ok(response) if response.stdout == b"works\n" => {
            Check::ok(NAME, format!("started and ran a command in {} ms", start.elapsed().as_millis()))
        }
        Ok(response) => {
            let found = format!("a command printed {:?} {:?}", response.stdout_text(), response.stderr_text());
            Check::problem(NAME, found, "this is a bug; report it with this output")
        }
        Err(error) => Check::problem(NAME, format!("{error:#}"), "fix the problems and warnings above first"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_directory_includes_its_subdirectories() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("a"), [0; 10]).unwrap();
        fs::write(dir.path().join("sub/b"), [0; 32]).unwrap();
        assert_eq!(size(dir.path()), 42);
    }
}
