//! Getting wheels with the package client of the machine, and trusting nothing but their hashes.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use crate::error::PackError;
use crate::pack::Pack;
use crate::pin::Pin;

/// How the package client may be called, the likeliest first.
const CLIENTS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

const WHAT_TO_DO: &str = "packs come from the index that pip uses, so the machine has to reach it this once. What was fetched \
    is kept: run the command again when the cause is gone";

/// The exit code by which `fetch.py` says that it found the files and could not fetch them.
const FAILED: i32 = 4;

/// Where wheels come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WheelSource {
    /// Where the package client of the machine gets them: its own index, proxy and mirror settings.
    Index,
    /// A folder with wheels, and nothing else.
    Folder(PathBuf),
    /// The same, with the index at this address in the place of its own.
    IndexAt(String),
}

impl WheelSource {
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Index => Vec::new(),
            Self::Folder(folder) => vec!["--no-index".into(), "--find-links".into(), folder.display().to_string()],
            Self::IndexAt(address) => vec![format!("--index-url={address}")],
        }
    }
}

/// Who hears what the package client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hearer {
    /// Whoever runs this program, on its standard error.
    Terminal,
    /// Whoever asked for the packages: only what went wrong, as part of the error.
    Caller,
}

/// Whether the file is there and is the one that is meant.
pub(crate) fn is_good(folder: &Path, wheel: &Pin) -> bool {
    hash(&folder.join(&wheel.file)).is_ok_and(|found| found == wheel.sha256)
}

/// Fetches what of the wheels is not there yet, or is there but broken.
pub(crate) fn fetch(folder: &Path, wheels: &[Pin], pack: &Pack, source: &WheelSource) -> Result<(), PackError> {
    let missing: Vec<&Pin> = wheels.iter().filter(|wheel| !is_good(folder, wheel)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for wheel in &missing {
        // A broken file would be taken for the finished one.
        match std::fs::remove_file(folder.join(&wheel.file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PackError::file(&folder.join(&wheel.file), &error));
            }
            _ => {}
        }
    }
    if resume(folder, &missing, pack, source)? {
        return Ok(());
    }
    let pins: String = missing
        .iter()
        .map(|wheel| format!("{}=={} --hash=sha256:{}\n", wheel.project, wheel.version, wheel.sha256))
        .collect();
    let list = tempfile::NamedTempFile::new_in(folder).map_err(|error| PackError::file(folder, &error))?;
    std::fs::write(list.path(), pins).map_err(|error| PackError::file(list.path(), &error))?;
    let mut arguments = options(folder, pack);
    arguments.extend(source.arguments());
    arguments.extend(["--no-deps".into(), "--require-hashes".into(), "--requirement".into()]);
    arguments.push(list.path().display().to_string());
    download(&arguments, Hearer::Terminal)?;
    match missing.iter().find(|wheel| !is_good(folder, wheel)) {
        None => Ok(()),
        Some(wheel) => Err(PackError::new(format!(
            "{} is not the file that was pinned (SHA-256 {}); what the index delivers cannot be trusted",
            wheel.file, wheel.sha256
        ))),
    }
}

/// Has the package client's own connections fetch the files, beginning with what a download that broke off has left. Answers
/// whether they are there now; if not, this client does not offer that or does not find them, and is to be asked the ordinary way.
fn resume(folder: &Path, missing: &[&Pin], pack: &Pack, source: &WheelSource) -> Result<bool, PackError> {
    let mut arguments = options(folder, pack);
    // The first is the name of the command, which the program below chooses itself.
    arguments.remove(0);
    arguments.extend(source.arguments());
    arguments.push("--no-input".into());
    let wish = serde_json::json!({ "arguments": arguments, "folder": folder.display().to_string(), "wheels": missing });
    let mut command = Command::new("python3");
    command.args(["-c", include_str!("fetch.py")]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(PackError::new(format!("python3 cannot be started: {error}"))),
    };
    // One that does not read it ends with a code that says why.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(wish.to_string().as_bytes()));
    let status = child.wait().map_err(|error| PackError::new(format!("python3 cannot be waited for: {error}")))?;
    match status.code() {
        Some(0) if missing.iter().all(|wheel| is_good(folder, wheel)) => Ok(true),
        Some(FAILED) => {
            Err(PackError::new(format!("the files of the pack were not fetched, for the reason above; {WHAT_TO_DO}")))
        }
        _ => Ok(false),
    }
}

/// Fetches wheels without compiled code by their names (`NAME` or `NAME==VERSION`), with what they need, into a folder of their
/// own, and tells which they are. The package client holds each to the hash that the index has for it.
///
/// # Errors
/// When pip is absent, or says why not: then in its words.
pub fn fetch_wheels(folder: &Path, names: &[String], pack: &Pack, source: &WheelSource) -> Result<Vec<Pin>, PackError> {
    fetch_named(folder, names, pack, source, Hearer::Caller)
}

/// The same for whoever sits at the terminal.
pub(crate) fn fetch_new(folder: &Path, names: &[String], pack: &Pack) -> Result<Vec<Pin>, PackError> {
    fetch_named(folder, names, pack, &WheelSource::Index, Hearer::Terminal)
}

fn fetch_named(
    folder: &Path,
    names: &[String],
    pack: &Pack,
    source: &WheelSource,
    hearer: Hearer,
) -> Result<Vec<Pin>, PackError> {
    if let Some(bad) = names.iter().find(|name| !is_requirement(name)) {
        return Err(PackError::new(format!("{bad:?} is no name of a package; write NAME or NAME==VERSION")));
    }
    let mut arguments = options(folder, pack);
    arguments.extend(source.arguments());
    arguments.extend(names.iter().cloned());
    download(&arguments, hearer)?;
    let listed = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>());
    let mut files = listed.map_err(|error| PackError::file(folder, &error))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "whl"));
    files.sort();
    files.iter().map(|file| Pin::of(file)).collect()
}

/// `NAME`, extras and versions: no option, no path and no address, which the package client would follow anywhere.
fn is_requirement(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[],<>=!~*+ ".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain) && !text.ends_with(".whl")
}

/// Only wheels without compiled code, which is what can run inside.
fn options(folder: &Path, pack: &Pack) -> Vec<String> {
    let folder = folder.display().to_string();
    ["download", "--disable-pip-version-check", "--only-binary=:all:", "--implementation", "py", "--abi", "none"]
        .into_iter()
        .chain(["--platform", "any", "--python-version", pack.language, "--dest", &folder])
        .map(str::to_owned)
        .collect()
}

fn download(arguments: &[String], hearer: Hearer) -> Result<(), PackError> {
    for client in CLIENTS {
        let Some((program, first)) = client.split_first() else { continue };
        let mut command = Command::new(program);
        // What the client says goes to standard error, where its progress belongs.
        command.args(first).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        // Clients that can go on with a download that broke off do; others do not know the variable.
        command.env("PIP_RESUME_RETRIES", "5");
        command.stderr(if hearer == Hearer::Terminal { Stdio::inherit() } else { Stdio::piped() });
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(PackError::new(format!("{program} cannot be started: {error}"))),
        };
        if output.status.success() {
            return Ok(());
        }
        // A Python without its package client says so with status 1, too; the next one may have it.
        let mut asked = Command::new(program);
        asked.args(first).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !asked.status().is_ok_and(|status| status.success()) {
            continue;
        }
        if hearer == Hearer::Caller {
            return Err(PackError::new(complaints(&output.stderr)));
        }
        return Err(PackError::new(format!(
            "`{} download` ended with {}, for the reason above; {WHAT_TO_DO}",
            client.join(" "),
            output.status
        )));
    }
    Err(PackError::new("packs are fetched with pip, and there is none; install Python with pip on this machine"))
}

/// What the client says went wrong, without addresses, of which the caller need not know.
fn complaints(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines = said.lines().filter_map(|line| line.strip_prefix("ERROR: ")).filter(|line| !line.contains("://"));
    match lines.collect::<Vec<_>>() {
        lines if lines.is_empty() => "the index cannot be reached from the host".to_owned(),
        lines => lines.join("; "),
    }
}

/// SHA-256 of a file, in hexadecimal digits.
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
