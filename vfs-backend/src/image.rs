//! Base image: the initial file tree of every sandbox.

use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Device, FileBytes, Fs, FsSnapshot};

use crate::{ROOT, zoneinfo};

/// User id and group id; the name is in `/etc/passwd` below.
const USER_ID: u32 = 1000;

/// Mode of a program's file: everyone can read and run it, only root can write it.
const PROGRAM_MODE: u32 = 0o755;

/// Default host name.
pub(crate) const HOSTNAME: &str = "tidebox";

/// A program to install under `/bin`.
#[derive(Clone, Debug)]
pub struct Program {
    /// Names of its commands. A multi-call program uses the name by which it was called.
    pub names: Vec<String>,
    /// The WebAssembly module. Sandboxes share it, and it does not count as their file bytes.
    pub bytes: FileBytes,
}

impl Program {
    /// A program and its names.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>, bytes: impl Into<FileBytes>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), bytes: bytes.into() }
    }
}

/// An initial file tree, built once and shared by all sandboxes that use it.
///
/// `/bin` holds the programs, `/usr/bin` and `/sbin` are the same directory. `/etc`, `/dev` and `/proc` have what
/// programs expect and reveal nothing about the host. All times are in 1970, so that two images of the same programs
/// are equal. The user owns `/` (agent frameworks create their own directories there) and `/workspace`; everyone may
/// write to `/tmp`; the rest belongs to the system and is read-only.
#[derive(Clone, Debug)]
pub struct BaseImage {
    pub(crate) files: FsSnapshot,
}

/// A file of a base image.
#[derive(Clone, Debug)]
pub struct BaseFile {
    /// Its absolute path.
    pub path: String,
    /// Its content.
    pub bytes: FileBytes,
    /// True if it has execute bits.
    pub executable: bool,
}

impl BaseImage {
    /// Builds the tree with these programs, which should include `bash` because `execute` starts it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] when a command's name is not a valid file name or is used twice.
    pub fn new(programs: &[Program]) -> Result<Self> {
        Self::with_files(programs, [])
    }

    /// Builds the tree with these programs and with world-readable files.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] as [`Self::new`], and when a file's path is invalid.
    pub fn with_files(programs: &[Program], files: impl IntoIterator<Item = BaseFile>) -> Result<Self> {
        // The base image is not charged to a sandbox, so only the default limits apply.
        let mut fs = Fs::new(&Limits::default());
        build_tree(&mut fs).map_err(|errno| build_error("the base directories", errno))?;
        for program in programs {
            install(&mut fs, program)?;
        }
        for BaseFile { path, bytes, executable } in files {
            let mode = if executable { PROGRAM_MODE } else { 0o644 };
            fs.install(path.as_bytes(), bytes, mode, ROOT.uid).map_err(|errno| build_error(&path, errno))?;
        }
        Ok(Self { files: fs.snapshot() })
    }
}

fn build_error(what: &str, errno: Errno) -> Error {
    Error::new(ErrorKind::InvalidRequest, "build base image", format!("cannot create {what}: {errno}"))
}

/// Returns whether a file in a command directory can have this name.
pub(crate) fn is_command_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != ".."
}

fn install(fs: &mut Fs, program: &Program) -> Result<()> {
    let mut first = None;
    for name in &program.names {
        if !is_command_name(name) {
            let message = format!("invalid command name '{name}'; use a file name without slashes");
            return Err(Error::new(ErrorKind::InvalidRequest, "build base image", message));
        }
        let path = format!("/bin/{name}").into_bytes();
        let root = fs.root();
        if fs.walk(&ROOT, root, &path, false).is_ok() {
            let message = format!("two programs have the command '{name}'; remove one of them");
            return Err(Error::new(ErrorKind::InvalidRequest, "build base image", message));
        }
        match first {
            // Further names are hard links, so that an engine recognises them as one module.
            Some(ino) => fs.link(&ROOT, ino, root, &path, 0).map_err(|errno| build_error(name, errno))?,
            None => {
                let installed = fs.install(&path, program.bytes.clone(), PROGRAM_MODE, ROOT.uid);
                first = Some(installed.map_err(|errno| build_error(name, errno))?);
            }
        }
    }
    Ok(())
}

fn build_tree(fs: &mut Fs) -> std::result::Result<(), Errno> {
    for (dir, mode, owner) in [
        // Everyone may create files there, but not remove the directories of the programs.
        ("/", 0o1777, ROOT.uid),
        ("/bin", 0o755, ROOT.uid),
        ("/dev", 0o755, ROOT.uid),
        ("/dev/shm", 0o1777, ROOT.uid),
        ("/etc", 0o755, ROOT.uid),
        // As in `/`, everyone may create files there: applications use `/home/NAME` as working directory.
        ("/home", 0o1777, ROOT.uid),
        ("/media", 0o755, ROOT.uid),
        ("/mnt", 0o755, ROOT.uid),
        ("/opt", 0o755, ROOT.uid),
        ("/root", 0o700, ROOT.uid),
        ("/run", 0o755, ROOT.uid),
        ("/run/lock", 0o1777, ROOT.uid),
        ("/srv", 0o755, ROOT.uid),
        ("/sys", 0o555, ROOT.uid),
        ("/sys/devices/system/cpu", 0o755, ROOT.uid),
        ("/tmp", 0o1777, ROOT.uid),
        ("/usr/include", 0o755, ROOT.uid),
        ("/usr/lib", 0o755, ROOT.uid),
        ("/usr/local/bin", 0o755, ROOT.uid),
        ("/usr/local/lib", 0o755, ROOT.uid),
        ("/usr/share", 0o755, ROOT.uid),
        ("/usr/src", 0o755, ROOT.uid),
        ("/var/cache", 0o755, ROOT.uid),
        ("/var/lib", 0o755, ROOT.uid),
        ("/var/log", 0o755, ROOT.uid),
        ("/var/tmp", 0o1777, ROOT.uid),
        ("/workspace", 0o755, USER_ID),
    ] {
        fs.install_dir(dir.as_bytes(), mode, owner)?;
    }
    fs.install_proc(b"/proc")?;
    for (link, target) in [
        ("/sbin", "bin"),
        ("/lib", "usr/lib"),
        ("/var/lock", "/run/lock"),
        ("/var/run", "/run"),
        ("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC"),
        ("/usr/bin", "../bin"),
        ("/usr/sbin", "../bin"),
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
    ] {
        fs.install_symlink(link.as_bytes(), target.as_bytes())?;
    }
    for (path, device) in [
        ("/dev/null", Device::Null),
        ("/dev/zero", Device::Zero),
        ("/dev/full", Device::Full),
        ("/dev/random", Device::Random),
        ("/dev/urandom", Device::Urandom),
        ("/dev/tty", Device::Tty),
    ] {
        fs.install_device(path.as_bytes(), device, 0o666)?;
    }
    for (path, text) in etc_files(HOSTNAME) {
        fs.install(path.as_bytes(), text.into_bytes().into(), 0o644, ROOT.uid)?;
    }
    for (path, zone) in zoneinfo::files() {
        fs.install(path.as_bytes(), zone, 0o644, ROOT.uid)?;
    }
    Ok(())
}

/// Returns the files of `/etc`, which describe the sandbox, and of `/sys`. `resolv.conf` has no server, because programs cannot
/// resolve names: requests through `curl` are resolved by the host.
fn etc_files(hostname: &str) -> Vec<(&'static str, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let mut texts = hostname_files(hostname).to_vec();
    texts.extend([
        ("/etc/passwd", "root:x:0:0:root:/:/bin/bash\ntidebox:x:1000:1000:Tidebox:/workspace:/bin/bash\n".to_owned()),
        ("/etc/group", "root:x:0:\ntidebox:x:1000:\n".to_owned()),
        ("/etc/timezone", "Etc/UTC\n".to_owned()),
        ("/etc/shells", "/bin/sh\n/bin/bash\n".to_owned()),
        (
            "/etc/resolv.conf",
            "# The sandbox has no name server. The host resolves the names of allowed requests.\n".to_owned(),
        ),
        ("/etc/debian_version", "12.0\n".to_owned()),
        ("/etc/profile", PROFILE.to_owned()),
        ("/sys/devices/system/cpu/online", "0\n".to_owned()),
        ("/sys/devices/system/cpu/possible", "0\n".to_owned()),
        ("/sys/devices/system/cpu/present", "0\n".to_owned()),
        (
            "/etc/os-release",
            format!("NAME=\"Tidebox\"\nID=tidebox\nVERSION_ID=\"{version}\"\nPRETTY_NAME=\"Tidebox {version}\"\n"),
        ),
    ]);
    texts
}

/// Read by login shells.
const PROFILE: &str = "\
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -d /etc/profile.d ]; then
  for i in /etc/profile.d/*.sh; do
    if [ -r \"$i\" ]; then . \"$i\"; fi
  done
  unset i
fi
";

/// Returns the files that contain the host name.
pub(crate) fn hostname_files(hostname: &str) -> [(&'static str, String); 2] {
    [
        ("/etc/hostname", format!("{hostname}\n")),
        ("/etc/hosts", format!("127.0.0.1\tlocalhost\n127.0.1.1\t{hostname}\n")),
    ]
}
