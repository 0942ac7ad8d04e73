//! Restrictions of this process by the Linux kernel: a second wall around the sandboxes, in case a guest escapes from the engine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope, path_beneath_rules,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use tidebox_core::{Error, ErrorKind, Result};

use crate::{runtime, system};

/// Version of Landlock that is required: files and their truncation, connecting to TCP ports and listening (Linux 6.7).
const REQUIRED: ABI = ABI::V4;

/// Version with scopes: no signals to other processes, and no access to their abstract Unix sockets (Linux 6.12). Used if the kernel has it.
const SCOPES: ABI = ABI::V6;

/// Files of the system that the library and its dependencies read while sandboxes run: the memory map of this process (reset of
/// instances), the limit of processors, and the time zone.
const SYSTEM_FILES: [&str; 4] = ["/proc/self", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/etc/localtime"];

/// Files for names and certificates, read if the network is allowed.
const NETWORK_FILES: [&str; 6] =
    ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki", "/usr/share/ca-certificates"];

/// System calls that no part of Tidebox makes and that help an attacker. They fail with EPERM.
const DENIED: &[libc::c_long] = &[
    // Other programs, and other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Parts of the kernel with a history of faults.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_personality,
    // The system as a whole.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Restrictions of the calling thread, and of the threads that it starts afterwards, for the rest of their lives: Landlock for files
/// and TCP, and a seccomp filter that fails calls such as `execve`, `ptrace` and `mount`. Linux only.
///
/// By default it may only read the cache directory of Tidebox, the native code shipped with this program and a few files of the
/// system. It may not write, and not connect to TCP ports or listen on them; UDP and Unix sockets are not restricted. The cache stays read-only, because another process would run the native code in it: compile what sandboxes need before,
/// with `tidebox warm`, or each process compiles it again.
///
/// The sandboxes do not need this. It bounds the harm if a guest breaks out of the engine.
///
/// ```no_run
/// # fn main() -> tidebox::Result<()> {
/// // First of all, before any thread starts.
/// tidebox::Confinement::new().read("/srv/data").write("/srv/results").apply()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Confinement {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    connects: bool,
    listens: bool,
}

impl Default for Confinement {
    fn default() -> Self {
        Self::new()
    }
}

impl Confinement {
    /// Returns the default restrictions. They take effect in [`apply`](Self::apply).
    #[must_use]
    pub fn new() -> Self {
        let mut read: Vec<PathBuf> = SYSTEM_FILES.map(PathBuf::from).to_vec();
        read.extend(system::user_cache());
        read.extend(runtime::shipped_code().map(PathBuf::from));
        Self { read, write: vec![PathBuf::from("/dev/null")], connects: false, listens: false }
    }

    /// Allows reading a file, or all files below a directory. Paths that do not exist are ignored.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Allows reading and changing a file, or all files below a directory. Paths that do not exist are ignored.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Allows connecting to any TCP port, and reading the files for names and certificates. The sandboxes' network policies still
    /// decide what a guest reaches.
    #[must_use]
    pub fn connect(mut self) -> Self {
        self.connects = true;
        self.read.extend(NETWORK_FILES.map(PathBuf::from));
        self
    }

    /// Allows listening on any TCP port.
    #[must_use]
    pub fn listen(mut self) -> Self {
        self.listens = true;
        self
    }

    /// Restricts the calling thread and the threads that it starts later. Cannot be undone.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the kernel lacks Landlock with TCP rules (Linux 6.7) or seccomp. The thread may then be
    /// restricted in part.
    pub fn apply(&self) -> Result<()> {
        self.restrict_files_and_ports().map_err(|error| unsupported("Landlock of Linux 6.7 or later", &error))?;
        let filter = filter().map_err(|error| unsupported("seccomp", &error))?;
        seccompiler::apply_filter(&filter).map_err(|error| unsupported("seccomp", &error))
    }

    fn restrict_files_and_ports(&self) -> std::result::Result<(), landlock::RulesetError> {
        let mut ports = AccessNet::from_all(REQUIRED);
        if self.connects {
            ports.remove(AccessNet::ConnectTcp);
        }
        if self.listens {
            ports.remove(AccessNet::BindTcp);
        }
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(REQUIRED))?;
        if !ports.is_empty() {
            ruleset = ruleset.handle_access(ports)?;
        }
        let readable = AccessFs::ReadFile | AccessFs::ReadDir;
        let writable = AccessFs::from_all(REQUIRED) & !AccessFs::Execute;
        let ruleset = ruleset.set_compatibility(CompatLevel::BestEffort).scope(Scope::from_all(SCOPES))?.create()?;
        let ruleset = ruleset
            .add_rules(path_beneath_rules(&self.read, readable))?
            .add_rules(path_beneath_rules(&self.write, writable))?;
        ruleset.restrict_self().map(drop)
    }
}

/// Compiles the filter of [`DENIED`].
fn filter() -> std::result::Result<BpfProgram, seccompiler::BackendError> {
    // A call without conditions is denied whatever its arguments are.
    let rules: BTreeMap<i64, _> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, denied, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn unsupported(what: &str, error: &dyn std::fmt::Display) -> Error {
    let message =
        format!("cannot confine this process: {what} is not available: {error}; run it without this restriction");
    Error::new(ErrorKind::Unsupported, "confine", message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    use super::Confinement;

    /// Runs in a new thread, because restrictions last as long as the thread.
    fn in_thread(work: impl FnOnce() + Send + 'static) {
        std::thread::spawn(work).join().expect("the thread ends without a panic");
    }

    #[test]
    fn a_confined_thread_opens_only_allowed_files() {
        let dir = tempfile::tempdir().expect("created");
        let (readable, writable) = (dir.path().join("read"), dir.path().join("write"));
        for path in [&readable, &writable] {
            fs::create_dir(path).expect("created");
            fs::write(path.join("file"), "content").expect("written");
        }
        in_thread(move || {
            Confinement::new().read(&readable).write(&writable).apply().expect("the kernel has Landlock");
            assert_eq!(fs::read_to_string(readable.join("file")).expect("allowed"), "content");
            assert_eq!(fs::write(readable.join("file"), "").unwrap_err().kind(), ErrorKind::PermissionDenied);
            fs::write(writable.join("new"), "x").expect("allowed");
            for path in ["/etc/passwd", "/root", "/proc/1/environ"] {
                assert_eq!(fs::read(path).unwrap_err().kind(), ErrorKind::PermissionDenied, "{path}");
            }
        });
    }

    #[test]
    fn a_confined_thread_reads_the_cache_and_does_not_write_it() {
        use std::os::unix::fs::DirBuilderExt as _;

        let dir = tempfile::tempdir().expect("created");
        let cache = dir.path().join("aot");
        fs::DirBuilder::new().mode(0o700).create(&cache).expect("created");
        in_thread(move || {
            Confinement::new().read(&cache).apply().expect("the kernel has Landlock");
            let opened = crate::CacheDir::open(&cache).expect("it is private");
            assert_eq!(opened.check_writable().unwrap_err().kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn a_confined_thread_starts_no_program_and_no_connection() {
        let server = TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = server.local_addr().expect("bound");
        in_thread(move || {
            Confinement::new().apply().expect("the kernel has Landlock");
            assert_eq!(Command::new("/bin/true").status().unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert_eq!(TcpListener::bind("127.0.0.1:0").unwrap_err().kind(), ErrorKind::PermissionDenied);
        });
        in_thread(move || {
            Confinement::new().connect().listen().apply().expect("the kernel has Landlock");
            drop(TcpStream::connect(address).expect("allowed"));
            drop(TcpListener::bind("127.0.0.1:0").expect("allowed"));
        });
    }
}
