//! Running a case by the machine's own bash and GNU tools, in surroundings that look like the sandbox: the same working
//! directory, user, host name and variables.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::format::{Case, Outcome};

/// Prepares mounts that only this process and its children see, becomes the sandbox's user and runs bash on the script.
/// Descriptor 0 has the files of the case as shell commands first.
const STAGE: &str = r#"
set -e
hostname tidebox
mount -t tmpfs -o mode=755 tmpfs /mnt
printf 'root:x:0:0:root:/:/bin/bash\ntidebox:x:1000:1000:Tidebox:/workspace:/bin/bash\n' > /mnt/passwd
printf 'root:x:0:\ntidebox:x:1000:\n' > /mnt/group
mount --bind /mnt/passwd /etc/passwd
mount --bind /mnt/group /etc/group
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755,uid=1000,gid=1000 tmpfs "$1"
# Whoever opens /dev/stderr anew must be allowed to.
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

/// Lays out the files that stand in standard input as `path NUL length NUL bytes`, then runs the script that follows
/// the last one as the sandbox runs a command line.
const LAY_OUT: &str = r#"
import os, subprocess, sys
data = sys.stdin.buffer.read()
while True:
    path, length, data = data.split(b"\0", 2)
    length = int(length)
    content, data = data[:length], data[length:]
    if not path:
        break
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
os.environ["SHLVL"] = "0"
code = subprocess.call(["bash", "-c", content], stdin=subprocess.DEVNULL)
sys.exit(code if code >= 0 else 128 - code)
"#;

/// Runs a case natively. It needs root and Linux, because the surroundings are made by namespaces.
pub(crate) fn run(case: &Case) -> Outcome {
    let folder = std::path::Path::new("/workspace");
    assert!(folder.is_dir(), "cases run in {0}, where a file system is mounted for each: mkdir {0}", folder.display());
    let mut command = Command::new("unshare");
    command.args(["--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c", STAGE, "stage"]);
    command.arg("/workspace").args(VARIABLES).args(["python3", "-c", LAY_OUT]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("unshare of util-linux starts");
    let mut input = Vec::new();
    for (path, bytes) in case.files.iter().map(|(path, bytes)| (path.as_str(), bytes)).chain([("", &case.script)]) {
        input.extend_from_slice(format!("{path}\0{}\0", bytes.len()).as_bytes());
        input.extend_from_slice(bytes);
    }
    child.stdin.take().expect("a pipe").write_all(&input).expect("the stage reads its input");
    let output = child.wait_with_output().expect("the stage ends");
    let exit = output.status.code().expect("the stage exits by itself");
    Outcome { stdout: output.stdout, stderr: output.stderr, exit }
}
