//! Runs a case with bash and the GNU tools of the host, in namespaces that look like the sandbox: the same working directory,
//! user, host name and variables.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::format::{Case, Outcome};

/// Creates private mounts, switches to the sandbox's user and runs its arguments. Standard input is read by [`WRITE_FILES`].
const SETUP: &str = r#"
set -e
hostname tidebox
mount -t tmpfs -o mode=755 tmpfs /mnt
printf 'root:x:0:0:root:/:/bin/bash\ntidebox:x:1000:1000:Tidebox:/workspace:/bin/bash\n' > /mnt/passwd
printf 'root:x:0:\ntidebox:x:1000:\n' > /mnt/group
mount --bind /mnt/passwd /etc/passwd
mount --bind /mnt/group /etc/group
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755,uid=1000,gid=1000 tmpfs "$1"
# The user must be able to reopen /dev/stderr.
chown 1000:1000 /proc/self/fd/1 /proc/self/fd/2
cd "$1"
shift
exec setpriv --reuid 1000 --regid 1000 --clear-groups -- env -i --default-signal "$@"
"#;

const VARIABLES: &[&str] = &[
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "HOME=/workspace",
    "PWD=/workspace",
    "USER=tidebox",
    "LOGNAME=tidebox",
    "SHELL=/bin/bash",
    "LANG=C.UTF-8",
    "TERM=dumb",
    "TZ=UTC",
];

/// Creates the files given on standard input as `path NUL length NUL bytes`, then runs the script. The script is the entry with
/// an empty path.
const WRITE_FILES: &str = r#"
import os, subprocess, sys
data = sys.stdin.buffer.read()
while True:
    path, length, data = data.split(b"\0", 2)
    length = int(length)
    content, data = data[:length], data[length:]
    if not path:
        break
    directory = os.path.dirname(path)
    if directory:
        os.makedirs(directory, exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
os.environ["SHLVL"] = "0"
code = subprocess.call(["bash", "-c", content], stdin=subprocess.DEVNULL)
sys.exit(code if code >= 0 else 128 - code)
"#;

/// Runs a case on the host with additional variables. Needs Linux and root, to create the namespaces.
pub(crate) fn run(case: &Case, variables: &[(&str, &str)]) -> Outcome {
    let directory = std::path::Path::new("/workspace");
    assert!(directory.is_dir(), "missing mount point of the cases: mkdir {}", directory.display());
    let mut command = Command::new("unshare");
    command.args(["--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c", SETUP, "setup"]);
    command.arg("/workspace").args(VARIABLES);
    command.args(variables.iter().map(|(name, value)| format!("{name}={value}"))).args(["python3", "-c", WRITE_FILES]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("unshare of util-linux starts");
    let mut input = Vec::new();
    for (path, bytes) in case.files.iter().map(|(path, bytes)| (path.as_str(), bytes)).chain([("", &case.script)]) {
        input.extend_from_slice(format!("{path}\0{}\0", bytes.len()).as_bytes());
        input.extend_from_slice(bytes);
    }
    child.stdin.take().expect("standard input is a pipe").write_all(&input).expect("the setup script reads its input");
    let output = child.wait_with_output().expect("the setup script exits");
    let exit = output.status.code().expect("the setup script is not killed");
    Outcome { stdout: output.stdout, stderr: output.stderr, exit }
}
