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
async fn subprocesses_take_directories_environments_and_streams() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import os, subprocess as s, sys
run = lambda *a, **k: s.run(*a, capture_output=True, text=True, **k)
print(run(["pwd"], cwd="/tmp").stdout, run(["env"], env={"A": "b"}).stdout, end="")
print(s.check_output(["tr", "a-z", "A-Z"], input="text", text=True))
print(run("echo out; echo err >&2; exit 5", shell=True))
try:
    s.check_call(["false"])
except s.CalledProcessError as error:
    print(error.returncode)
print(run(["sh", "-c", "kill -9 $$"]).returncode)
both = s.run(["sh", "-c", "echo 1; echo 2 >&2"], stdout=s.PIPE, stderr=s.STDOUT)
print(both.stdout, s.getoutput("echo x"))
with s.Popen(["sh", "-c", "for i in 1 2 3; do echo $i; read reply; done"], stdin=s.PIPE, stdout=s.PIPE, text=True, bufsize=1) as p:
    for line in p.stdout:
        print("got", line.strip())
        print("next", file=p.stdin)
first = s.Popen(["seq", "5"], stdout=s.PIPE)
last = s.Popen(["tail", "-1"], stdin=first.stdout, stdout=s.PIPE)
first.stdout.close()
print(last.communicate()[0], first.wait(), p.returncode)
with open("log", "w") as log:
    s.run(["echo", "logged"], stdout=log)
print(open("log").read(), os.system("test -e log"), s.run(["ls", "/nosuch"], stderr=s.DEVNULL).returncode)
p = s.Popen(["sleep", "600"])
p.terminate()
print(p.wait(), p.poll())
"#;
    let expected = "/tmp\n A=b\nTEXT\nCompletedProcess(args='echo out; echo err >&2; exit 5', returncode=5, stdout='out\\n', \
        stderr='err\\n')\n1\n-9\nb'1\\n2\\n' x\ngot 1\ngot 2\ngot 3\nb'5\\n' 0 0\nlogged\n 0 2\n-15 -15\n";
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn a_failed_start_raises_an_exception() {
    let Some(sandbox) = sandbox() else { return };
    fails(
        &sandbox,
        "python3 -c 'import subprocess; subprocess.run([\"nosuch\"])'",
        1,
        "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'",
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
        "socket.gaierror: [Errno -2] in this sandbox the network is disabled",
    )
    .await;
}

#[tokio::test]
async fn files_have_modes_and_owners() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "touch f; python3 -c 'import os; os.chmod(\"f\", 0o640); s = os.stat(\"f\"); print(oct(s.st_mode), s.st_uid, os.getuid(), os.access(\"f\", os.X_OK))'; stat -c %a f", "0o100640 1000 1000 False\n640\n").await;
    prints(&sandbox, "python3 -c 'import tempfile, pathlib, shutil; d = tempfile.mkdtemp(); p = pathlib.Path(d, \"a\"); p.write_text(\"x\"); shutil.copy(p, d + \"/b\"); print(sorted(x.name for x in pathlib.Path(d).iterdir())); shutil.rmtree(d)'", "['a', 'b']\n").await;
}

#[tokio::test]
async fn modes_masks_and_variables_are_as_requested() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import os, stat, subprocess, tempfile
mode = lambda path: oct(os.stat(path).st_mode & 0o7777)
os.mkdir("d", 0o750)
os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o600))
open("g", "w").close()
print(mode("d"), mode("f"), mode("g"), mode(tempfile.mkstemp()[1]))
os.umask(0o077)
os.mkdir("e")
open("h", "w").close()
print(mode("e"), mode("h"))
os.putenv("PUT", "there")
print(subprocess.check_output("echo $PUT", shell=True, text=True), end="")
os.environ.clear()
print(subprocess.run(["/usr/bin/env"], capture_output=True, text=True).stdout.count("PUT"))
print(os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", "exit 7"]))
import grp, pwd
print(pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name)
try:
    os.stat("a\0b")
except ValueError as error:
    print(error)
"#;
    let expected = "0o750 0o600 0o644 0o600\n0o700 0o600\nthere\n0\n7\ntidebox tidebox\nembedded null byte\n";
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn a_traceback_ends_where_the_program_does() {
    let Some(sandbox) = sandbox() else { return };
    let killed = "python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGINT)' 2>&1 | grep -c _tidebox || true";
    prints(&sandbox, killed, "0\n").await;
    fails(&sandbox, "python3 -c 'import os; os.chmod(\"nosuch\", 0)'", 1, "File \"<string>\", line 1, in <module>\n")
        .await;
    prints(&sandbox, "python3 -c 'import os; os.chmod(\"nosuch\", 0)' 2>&1 | grep -c '  File'", "1\n").await;
}
