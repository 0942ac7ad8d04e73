//! Downloading wheels with the host's package client, verified only by their hashes.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::PackError;
use crate::pack::Pack;
use crate::pin::PinnedWheel;
use crate::progress::{ByteCount, PackProgress};

/// Commands of the package client, the most likely first.
const CLIENTS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

const HINT: &str = "packs are downloaded from the index that pip uses, so the host must reach it once. The partial download \
    is kept: fix the cause and run the command again";

/// Exit code of `fetch.py` if it found the files and could not download them.
const EXIT_DOWNLOAD_FAILED: i32 = 4;

/// Source of wheels.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WheelSource {
    /// The configuration of the host's package client: its index, proxy and mirror settings.
    Index,
    /// Only a directory with wheels.
    Directory(PathBuf),
    /// Like [`Index`](Self::Index), but with the index at this URL instead of the configured one.
    IndexAt(String),
}

impl WheelSource {
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Index => Vec::new(),
            Self::Directory(dir) => vec!["--no-index".into(), "--find-links".into(), dir.display().to_string()],
            Self::IndexAt(address) => vec![format!("--index-url={address}")],
        }
    }
}

/// Destination of the package client's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputTarget {
    /// Standard error of this process.
    Terminal,
    /// The caller: only errors, as part of the returned error.
    Caller,
}

/// Returns whether the file exists and has the pinned hash.
pub(crate) fn is_verified(dir: &Path, wheel: &PinnedWheel) -> bool {
    hash(&dir.join(&wheel.file)).is_ok_and(|found| found == wheel.sha256)
}

/// Downloads the wheels that are missing or damaged.
pub(crate) fn fetch(
    dir: &Path,
    wheels: &[PinnedWheel],
    pack: &Pack,
    source: &WheelSource,
    progress: &mut dyn FnMut(PackProgress<'_>),
) -> Result<(), PackError> {
    let missing: Vec<&PinnedWheel> = wheels.iter().filter(|wheel| !is_verified(dir, wheel)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for wheel in &missing {
        // A damaged file would be taken for a complete one.
        match std::fs::remove_file(dir.join(&wheel.file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PackError::file(&dir.join(&wheel.file), &error));
            }
            _ => {}
        }
    }
    if resume(dir, &missing, pack, source, progress)? {
        return Ok(());
    }
    let pins: String = missing
        .iter()
        .map(|wheel| format!("{}=={} --hash=sha256:{}\n", wheel.project, wheel.version, wheel.sha256))
        .collect();
    let list = tempfile::NamedTempFile::new_in(dir).map_err(|error| PackError::file(dir, &error))?;
    std::fs::write(list.path(), pins).map_err(|error| PackError::file(list.path(), &error))?;
    let mut arguments = options(dir, pack);
    arguments.extend(source.arguments());
    arguments.extend(["--no-deps".into(), "--require-hashes".into(), "--requirement".into()]);
    arguments.push(list.path().display().to_string());
    download(&arguments, OutputTarget::Terminal)?;
    match missing.iter().find(|wheel| !is_verified(dir, wheel)) {
        None => Ok(()),
        Some(wheel) => Err(PackError::new(format!(
            "{} does not have the pinned SHA-256 {}; the file from the index cannot be trusted",
            wheel.file, wheel.sha256
        ))),
    }
}

/// A line of `fetch.py`: how much of a file is stored.
#[derive(Deserialize)]
struct FetchReport {
    file: String,
    done: u64,
    total: Option<u64>,
}

/// Downloads the files over the package client's own connections, resuming partial downloads. Returns whether they are complete;
/// if not, this client does not support it or does not find them, and the caller must use `pip download`.
fn resume(
    dir: &Path,
    missing: &[&PinnedWheel],
    pack: &Pack,
    source: &WheelSource,
    progress: &mut dyn FnMut(PackProgress<'_>),
) -> Result<bool, PackError> {
    let mut arguments = options(dir, pack);
    // The first is the name of the command, which the program below sets itself.
    arguments.remove(0);
    arguments.extend(source.arguments());
    arguments.push("--no-input".into());
    let request = serde_json::json!({ "arguments": arguments, "dir": dir.display().to_string(), "wheels": missing });
    let mut command = Command::new("python3");
    command.args(["-c", include_str!("fetch.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(PackError::new(format!("cannot start python3: {error}"))),
    };
    // A program that does not read it ends with a code that states the reason.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(request.to_string().as_bytes()));
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
    {
        if let Ok(FetchReport { file, done, total }) = serde_json::from_str(&line) {
            progress(PackProgress::download(&format!("downloading {file}"), ByteCount { done, total }));
        }
    }
    let status = child.wait().map_err(|error| PackError::new(format!("cannot wait for python3: {error}")))?;
    match status.code() {
        Some(0) if missing.iter().all(|wheel| is_verified(dir, wheel)) => Ok(true),
        Some(EXIT_DOWNLOAD_FAILED) => {
            Err(PackError::new(format!("cannot download the files of the pack: see the messages above; {HINT}")))
        }
        _ => Ok(false),
    }
}

/// Downloads wheels without compiled code by name (`NAME` or `NAME==VERSION`) with their dependencies into an empty directory,
/// and returns their pins. The package client verifies each against the hash in the index.
///
/// # Errors
/// If pip is missing or fails; then with pip's messages.
pub fn fetch_wheels(
    dir: &Path,
    names: &[String],
    pack: &Pack,
    source: &WheelSource,
) -> Result<Vec<PinnedWheel>, PackError> {
    fetch_by_name(dir, names, pack, source, OutputTarget::Caller)
}

/// Like [`fetch_wheels`], but with messages on the terminal.
pub(crate) fn fetch_interactive(dir: &Path, names: &[String], pack: &Pack) -> Result<Vec<PinnedWheel>, PackError> {
    fetch_by_name(dir, names, pack, &WheelSource::Index, OutputTarget::Terminal)
}

fn fetch_by_name(
    dir: &Path,
    names: &[String],
    pack: &Pack,
    source: &WheelSource,
    output_target: OutputTarget,
) -> Result<Vec<PinnedWheel>, PackError> {
    if let Some(bad) = names.iter().find(|name| !is_requirement(name)) {
        return Err(PackError::new(format!("{bad:?} is not a package name; use NAME or NAME==VERSION")));
    }
    let mut arguments = options(dir, pack);
    arguments.extend(source.arguments());
    arguments.extend(names.iter().cloned());
    download(&arguments, output_target)?;
    let listed = std::fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>());
    let mut files = listed.map_err(|error| PackError::file(dir, &error))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "whl"));
    files.sort();
    files.iter().map(|file| PinnedWheel::from_file(file)).collect()
}

/// Accepts `NAME`, extras and versions, but no option, path or address, from which the package client would download anything.
fn is_requirement(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[],<>=!~*+ ".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain) && !text.ends_with(".whl")
}

/// Only wheels without compiled code, which are the only ones that run in the sandbox.
fn options(dir: &Path, pack: &Pack) -> Vec<String> {
    let dir = dir.display().to_string();
    ["download", "--disable-pip-version-check", "--only-binary=:all:", "--implementation", "py", "--abi", "none"]
        .into_iter()
        .chain(["--platform", "any", "--python-version", pack.language, "--dest", &dir])
        .map(str::to_owned)
        .collect()
}

fn download(arguments: &[String], output_target: OutputTarget) -> Result<(), PackError> {
    for client in CLIENTS {
        let Some((program, first)) = client.split_first() else { continue };
        let mut command = Command::new(program);
        // The client's output goes to standard error, like its progress.
        command.args(first).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        // Enables resuming of partial downloads in clients that support it; others ignore the variable.
        command.env("PIP_RESUME_RETRIES", "5");
        command.stderr(if output_target == OutputTarget::Terminal { Stdio::inherit() } else { Stdio::piped() });
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(PackError::new(format!("cannot start {program}: {error}"))),
        };
        if output.status.success() {
            return Ok(());
        }
        // A Python without pip exits with status 1, too; the next command may have it.
        let mut version = Command::new(program);
        version.args(first).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !version.status().is_ok_and(|status| status.success()) {
            continue;
        }
        if output_target == OutputTarget::Caller {
            return Err(PackError::new(error_lines(&output.stderr)));
        }
        return Err(PackError::new(format!(
            "`{} download` ended with {}: see the messages above; {HINT}",
            client.join(" "),
            output.status
        )));
    }
    Err(PackError::new("cannot download packs: pip is missing; install Python with pip on this host"))
}

/// Returns the client's error messages without URLs, which the caller does not need.
fn error_lines(stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("ERROR: ")).filter(|line| !line.contains("://"));
    match lines.collect::<Vec<_>>() {
        lines if lines.is_empty() => "the index cannot be reached from the host".to_owned(),
        lines => lines.join("; "),
    }
}

/// Returns the SHA-256 of a file, in hexadecimal digits.
pub(crate) fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hasher.update(block.get(..count).unwrap_or_default()),
        }
    }
}
