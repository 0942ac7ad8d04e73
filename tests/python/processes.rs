//! Other programs, started from Python.

use super::{fails, prints, sandbox};

#[tokio::test]
async fn subprocesses_are_processes_of_the_sandbox() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -c 'import subprocess; print(subprocess.run([\"seq\", \"3\"], capture_output=True, text=True).stdout.split())'", "['1', '2', '3']\n").await;
    prints(&sandbox, "python3 -c 'import subprocess as s; print(s.check_output(\"sort -r | head -1\", shell=True, input=b\"a\\nb\\n\"))'", "b'b\\n'\n").await;
    prints(
        &sandbox,
        "python3 -c 'import os; print(os.system(\"exit 3\") >> 8, os.popen(\"echo hi\").read().strip())'",
        "3 hi\n",
    )
    .await;
    prints(&sandbox, "python3 -c 'import subprocess, sys; print(subprocess.run([sys.executable, \"-c\", \"print(1); exit(4)\"]).returncode)'", "1\n4\n").await;
    prints(&sandbox, "python3 -c 'import subprocess as s; p = s.Popen([\"cat\"], stdin=s.PIPE, stdout=s.PIPE); print(p.communicate(b\"x\" * 200000)[0] == b\"x\" * 200000)'", "True\n").await;
    prints(&sandbox, "python3 -c 'import subprocess as s\ntry: s.run([\"sleep\", \"30\"], timeout=0.5)\nexcept s.TimeoutExpired: print(\"late\")'", "late\n").await;
}

#[tokio::test]
async fn what_cannot_be_started_is_an_exception() {
    let Some(sandbox) = sandbox() else { return };
    fails(
        &sandbox,
        "python3 -c 'import subprocess; subprocess.run([\"nosuch\"])'",
        1,
        "FileNotFoundError: [Errno 44] No such file or directory: 'nosuch'",
    )
    .await;
    fails(
        &sandbox,
        "python3 -c 'import threading; threading.Thread(target=print).start()'",
        1,
        "RuntimeError: can't start new thread",
    )
    .await;
    fails(
        &sandbox,
        "python3 -c 'import socket; socket.create_connection((\"example.org\", 80))'",
        1,
        "OSError: [Errno 58] there are no sockets in this sandbox",
    )
    .await;
}

#[tokio::test]
async fn files_have_modes_and_owners() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "touch f; python3 -c 'import os; os.chmod(\"f\", 0o640); s = os.stat(\"f\"); print(oct(s.st_mode), s.st_uid, os.getuid(), os.access(\"f\", os.X_OK))'; stat -c %a f", "0o100640 1000 1000 False\n640\n").await;
    prints(&sandbox, "python3 -c 'import tempfile, pathlib, shutil; d = tempfile.mkdtemp(); p = pathlib.Path(d, \"a\"); p.write_text(\"x\"); shutil.copy(p, d + \"/b\"); print(sorted(x.name for x in pathlib.Path(d).iterdir())); shutil.rmtree(d)'", "['a', 'b']\n").await;
}
