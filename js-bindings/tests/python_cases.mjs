// Common uses of Python and their results: the cases of `tests/python`, which the native engine runs. Each group runs in order in
// a separate sandbox.

export const groups = {
  "programs come from an argument a file a module and standard input": [
    { run: "python3 -c 'print(6 * 7)'", prints: "42\n" },
    { run: "echo 'print(1)' | python3", prints: "1\n" },
    { run: "echo 'import sys; print(sys.argv)' | python3 - a b", prints: "['-', 'a', 'b']\n" },
    { run: "printf 'import sys\\nprint(sys.argv)' > s.py; python3 s.py x -c", prints: "['s.py', 'x', '-c']\n" },
    { run: "mkdir -p m; echo 'print(__name__, __file__)' > m/__main__.py; python3 -m m", prints: "__main__ /workspace/m/__main__.py\n" },
    { run: "printf '#!/usr/bin/env python3\\nprint(\"hi\")' > t; chmod +x t; ./t", prints: "hi\n" },
    { run: "python -c 'import sys; print(sys.version_info[:2], sys.executable)'", prints: "(3, 15) /usr/bin/python3\n" },
  ],
  "exit codes are those of the program": [
    { run: "python3 -c 'raise SystemExit(\"no\")'", fails: 1, says: "no\n" },
    { run: "python3 nosuch.py", fails: 2, says: "python3: can't open file '/workspace/nosuch.py': [Errno 2] No such file or directory\n" },
    { run: "python3 -m nosuch", fails: 1, says: "/usr/bin/python3: No module named nosuch\n" },
    { run: "python3 --nosuch", fails: 2, says: "Unknown option: --nosuch\n" },
    { run: "pip install flask", fails: 1, says: "tidebox pack add python --with flask" },
  ],
  "error numbers and their texts are those of Linux": [
    { run: "python3 -c 'import errno, os; print(errno.ENOENT, errno.EAGAIN, os.strerror(36), type(OSError(17, \"x\")).__name__)'", prints: "2 11 File name too long FileExistsError\n" },
    { run: "python3 -c 'open(\"/nosuch\")'", fails: 1, says: "FileNotFoundError: [Errno 2] No such file or directory: '/nosuch'" },
    { run: "ln -s loop loop; python3 -c 'open(\"loop\")'", fails: 1, says: "OSError: [Errno 40] Too many levels of symbolic links: 'loop'" },
  ],
  "options and variables do what they do elsewhere": [
    { run: "python3 -V", prints: "Python 3.15.0\n" },
    { run: "python3 -O -c 'assert False; print(__debug__)'", prints: "False\n" },
    { run: "mkdir -p lib; echo 'x = 5' > lib/mine.py; PYTHONPATH=lib python3 -c 'import mine; print(mine.x)'", prints: "5\n" },
    { run: "PYTHONPATH=lib python3 -E -c 'import mine'", fails: 1, says: "ModuleNotFoundError: No module named 'mine'" },
    { run: "python3 -W error -c 'import warnings\ntry: warnings.warn(\"x\")\nexcept UserWarning as w: print(w)'", prints: "x\n" },
    { run: "echo 'y = 1' > mod.py; python3 -B -c 'import mod'; ls; python3 -c 'import mod'; ls __pycache__", prints: "lib\nmod.py\nmod.cpython-315.pyc\n" },
    { run: "cd /tmp; A=b python3 -c 'import os; print(os.getcwd(), os.environ[\"A\"])'", prints: "/tmp b\n" },
  ],
  "pipes work at both ends": [
    { run: "seq 1 1000000 | python3 -c 'import sys; print(sum(map(int, sys.stdin)))'", prints: "500000500000\n" },
    { run: "python3 -c 'for i in range(10**6): print(i)' 2>/dev/null | head -2", prints: "0\n1\n" },
    { run: "printf 'a\\0\\377' | python3 -c 'import sys; print(sys.stdin.buffer.read())'", prints: "b'a\\x00\\xff'\n" },
  ],
  "modules that were not imported do not show": [
    { run: "python3 -c 'import sys; print(\"numpy\" in sys.modules, \"logging\" in sys.modules); import numpy; print(\"numpy\" in sys.modules)'", prints: "False False\nTrue\n" },
    { run: "for i in 1 2; do python3 -c 'import random; print(random.random())'; done | sort -u | wc -l", prints: "2\n" },
  ],
  "subprocesses are processes of the sandbox": [
    { run: "python3 -c 'import subprocess; print(subprocess.run([\"seq\", \"3\"], capture_output=True, text=True).stdout.split())'", prints: "['1', '2', '3']\n" },
    { run: "python3 -c 'import subprocess as s; print(s.check_output(\"sort -r | head -1\", shell=True, input=b\"a\\nb\\n\"))'", prints: "b'b\\n'\n" },
    { run: "python3 -c 'import os; print(os.system(\"exit 3\") >> 8, os.popen(\"echo hi\").read().strip())'", prints: "3 hi\n" },
    { run: "python3 -c 'import subprocess, sys; print(subprocess.run([sys.executable, \"-c\", \"print(1); exit(4)\"]).returncode)'", prints: "1\n4\n" },
    { run: "python3 -c 'import subprocess as s; p = s.Popen([\"cat\"], stdin=s.PIPE, stdout=s.PIPE); print(p.communicate(b\"x\" * 200000)[0] == b\"x\" * 200000)'", prints: "True\n" },
    { run: "python3 -c 'import subprocess as s\ntry: s.run([\"sleep\", \"30\"], timeout=0.5)\nexcept s.TimeoutExpired: print(\"late\")'", prints: "late\n" },
  ],
  "what cannot be started is an exception": [
    { run: "python3 -c 'import subprocess; subprocess.run([\"nosuch\"])'", fails: 1, says: "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'" },
    { run: "python3 -c 'import threading; threading.Thread(target=print).start()'", fails: 1, says: "RuntimeError: can't start new thread: in this sandbox Python has one thread" },
    { run: "python3 -c 'import concurrent.futures as c; print(list(c.ThreadPoolExecutor().map(abs, (-1, 2))))'", prints: "[1, 2]\n" },
    { run: "python3 -c 'import socket; socket.create_connection((\"example.org\", 80))'", fails: 1, says: "in this sandbox the network is disabled" },
    { run: "python3 -c 'import requests; requests.get(\"https://example.org\")'", fails: 1, says: "in this sandbox the network is disabled" },
  ],
  "files have modes and owners": [
    { run: "touch f; python3 -c 'import os; os.chmod(\"f\", 0o640); s = os.stat(\"f\"); print(oct(s.st_mode), s.st_uid, os.getuid(), os.access(\"f\", os.X_OK))'; stat -c %a f", prints: "0o100640 1000 1000 False\n640\n" },
    { run: "python3 -c 'import tempfile, pathlib, shutil; d = tempfile.mkdtemp(); p = pathlib.Path(d, \"a\"); p.write_text(\"x\"); shutil.copy(p, d + \"/b\"); print(sorted(x.name for x in pathlib.Path(d).iterdir())); shutil.rmtree(d)'", prints: "['a', 'b']\n" },
  ],
  "numpy computes and scikit learn learns": [
    { run: "python3 -c 'import numpy as np; a = np.arange(6).reshape(2, 3); print((a @ a.T).tolist(), np.linalg.det(np.eye(3)))'", prints: "[[5, 14], [14, 50]] 1.0\n" },
    { run: "python3 -c 'from sklearn.linear_model import LinearRegression as L; print(round(L().fit([[0], [1], [2]], [1, 3, 5]).predict([[10]])[0], 6))'", prints: "21.0\n" },
    { run: "python3 -c 'import sqlite3; print(sqlite3.connect(\":memory:\").execute(\"select 1 + 1\").fetchone())'", prints: "(2,)\n" },
  ],
};

/** Directories, environments and streams of subprocesses. */
export const subprocesses = {
  program: String.raw`
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
`,
  prints:
    "/tmp\n A=b\nTEXT\nCompletedProcess(args='echo out; echo err >&2; exit 5', returncode=5, stdout='out\\n', stderr='err\\n')\n1\n-9\nb'1\\n2\\n' x\ngot 1\ngot 2\ngot 3\nb'5\\n' 0 0\nlogged\n 0 2\n-15 -15\n",
};

/** A hundred thousand rows, grouped and drawn. */
export const data = String.raw`
awk 'BEGIN { print "group,value"; for (i = 0; i < 100000; i++) print "g" i % 5 "," i }' > data.csv
cat > plot.py <<'P'
import pandas as pd
import matplotlib.pyplot as plt

frame = pd.read_csv("data.csv")
means = frame.groupby("group")["value"].mean()
print(len(frame), means.to_dict())
means.plot(kind="bar")
plt.savefig("means.png")
P
python3 plot.py
`;

/** A package with tests. */
export const project = String.raw`
mkdir -p proj/shapes proj/tests && cd proj
cat > pyproject.toml <<'T'
[project]
name = "shapes"
version = "0.1"
T
cat > shapes/__init__.py <<'T'
from math import pi

def area(radius):
    if radius < 0:
        raise ValueError("no such circle")
    return pi * radius ** 2
T
cat > tests/test_shapes.py <<'T'
import pytest
from shapes import area

@pytest.mark.parametrize("radius, expected", [(0, 0), (1, 3.14159), (2, 12.56637)])
def test_area(radius, expected):
    assert area(radius) == pytest.approx(expected, abs=1e-4)

def test_negative():
    with pytest.raises(ValueError, match="no such"):
        area(-1)

def test_writes(tmp_path, capsys):
    (tmp_path / "a").write_text("b")
    print((tmp_path / "a").read_text())
    assert capsys.readouterr().out == "b\n"
T
`;
