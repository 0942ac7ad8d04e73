//! The file tree that every sandbox begins with.

use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Device, FileBytes, Fs, Snapshot};

use crate::{ROOT, zoneinfo};

/// The user's numbers; the name is in `/etc/passwd` below.
const USER_ID: u32 = 1000;

/// What a program's file may do: read and run by everybody, changed by nobody.
const PROGRAM_MODE: u32 = 0o755;

/// The machine's name unless the builder says otherwise.
pub(crate) const HOSTNAME: &str = "tidebox";

/// A program to install under `/bin`.
#[derive(Clone, Debug)]
pub struct Program {
    /// The commands that it serves. A program of many commands looks at the name it was called by.
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

/// A file tree, made once and shared by all sandboxes that begin with it.
///
/// `/bin` holds the programs, `/usr/bin` and `/sbin` are the same directory; `/etc`, `/dev` and `/proc` are what programs
/// look for and tell nothing of the host. All of it is dated 1970, so that two images of the same programs are equal. The user owns `/` (agents' frameworks write to directories of their own there) and
/// `/workspace`; everybody may write to `/tmp`; the rest is the system's and read-only.
#[derive(Clone, Debug)]
pub struct BaseImage {
    pub(crate) files: Snapshot,
}

impl BaseImage {
    /// Makes the tree with these programs. `bash` should be one of them, because `execute` starts it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when a command's name is no file name or is given twice.
    pub fn new(programs: &[Program]) -> Result<Self> {
        Self::with_files(programs, [])
    }

    /// Makes the tree with these programs and, below `/usr`, these files, which everybody may read.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] as [`Self::new`], and when a file cannot be where it is to be.
    pub fn with_files(programs: &[Program], files: impl IntoIterator<Item = (String, FileBytes)>) -> Result<Self> {
        // The base is ours, not the sandbox's, so only the defaults bound it.
        let mut fs = Fs::new(&Limits::default());
        tree(&mut fs).map_err(|errno| broken("the base directories", errno))?;
        for program in programs {
            install(&mut fs, program)?;
        }
        for (path, bytes) in files {
            fs.install(path.as_bytes(), bytes, 0o644, ROOT.uid).map_err(|errno| broken(&path, errno))?;
        }
        Ok(Self { files: fs.snapshot() })
    }
}

fn broken(what: &str, errno: Errno) -> Error {
    Error::new(ErrorKind::InvalidRequest, "make base image", format!("{what} cannot be made: {errno}"))
}

/// Whether a file of a folder of commands can have this name.
pub(crate) fn is_command_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != ".."
}

fn install(fs: &mut Fs, program: &Program) -> Result<()> {
    let mut first = None;
    for name in &program.names {
        if !is_command_name(name) {
            let message = format!("'{name}' cannot be a command's name; use a file name without slashes");
            return Err(Error::new(ErrorKind::InvalidRequest, "make base image", message));
        }
        let path = format!("/bin/{name}").into_bytes();
        let root = fs.root();
        if fs.walk(&ROOT, root, &path, false).is_ok() {
            let message = format!("two programs serve the command '{name}'; leave one of them out");
            return Err(Error::new(ErrorKind::InvalidRequest, "make base image", message));
        }
        match first {
            // Further names are links, so that an engine knows them to be one module.
            Some(ino) => fs.link(&ROOT, ino, root, &path, 0).map_err(|errno| broken(name, errno))?,
            None => {
                let installed = fs.install(&path, program.bytes.clone(), PROGRAM_MODE, ROOT.uid);
                first = Some(installed.map_err(|errno| broken(name, errno))?);
            }
        }
    }
    Ok(())
}

fn tree(fs: &mut Fs) -> std::result::Result<(), Errno> {
    for (dir, mode, owner) in [
        // Everybody may put something there, and nobody may take away what holds the programs that all commands run.
        ("/", 0o1777, ROOT.uid),
        ("/bin", 0o755, ROOT.uid),
        ("/dev", 0o755, ROOT.uid),
        ("/etc", 0o755, ROOT.uid),
        ("/tmp", 0o1777, ROOT.uid),
        ("/usr/lib", 0o755, ROOT.uid),
        ("/usr/local/bin", 0o755, ROOT.uid),
        ("/usr/share", 0o755, ROOT.uid),
        ("/workspace", 0o755, USER_ID),
    ] {
        fs.install_dir(dir.as_bytes(), mode, owner)?;
    }
    fs.install_proc(b"/proc")?;
    for (link, target) in [
        ("/sbin", "bin"),
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
    for (path, text) in texts(HOSTNAME) {
        fs.install(path.as_bytes(), text.into_bytes().into(), 0o644, ROOT.uid)?;
    }
    for (path, zone) in zoneinfo::files() {
        fs.install(path.as_bytes(), zone, 0o644, ROOT.uid)?;
    }
    Ok(())
}

/// The files of `/etc`. They describe the sandbox; there is no network, hence no `resolv.conf`.
fn texts(hostname: &str) -> Vec<(&'static str, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let mut texts = named(hostname).to_vec();
    texts.extend([
        ("/etc/passwd", "root:x:0:0:root:/:/bin/bash\ntidebox:x:1000:1000:Tidebox:/workspace:/bin/bash\n".to_owned()),
        ("/etc/group", "root:x:0:\ntidebox:x:1000:\n".to_owned()),
        ("/etc/timezone", "Etc/UTC\n".to_owned()),
        ("/etc/shells", "/bin/sh\n/bin/bash\n".to_owned()),
        (
            "/etc/os-release",
            format!("NAME=\"Tidebox\"\nID=tidebox\nVERSION_ID=\"{version}\"\nPRETTY_NAME=\"Tidebox {version}\"\n"),
        ),
    ]);
    texts
}

/// The files that hold the machine's name.
pub(crate) fn named(hostname: &str) -> [(&'static str, String); 2] {
    [
        ("/etc/hostname", format!("{hostname}\n")),
        ("/etc/hosts", format!("127.0.0.1\tlocalhost\n127.0.1.1\t{hostname}\n")),
    ]
}
