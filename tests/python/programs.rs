//! Complete programs as people and agents write them.

use super::{fails, prints, sandbox};

/// Runs a program from a file.
async fn check_output(program: &str, expected: &str) {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn command_lines_are_parsed_and_errors_reported() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import argparse
p = argparse.ArgumentParser(prog="tool")
p.add_argument("files", nargs="*")
p.add_argument("-n", "--number", type=int, default=3)
p.add_argument("--mode", choices=["a", "b"], default="a")
print(vars(p.parse_args()))
"#;
    let made = format!("cat > tool.py <<'P'{program}P\npython3 tool.py x y -n 5 --mode b");
    prints(&sandbox, &made, "{'files': ['x', 'y'], 'number': 5, 'mode': 'b'}\n").await;
    fails(&sandbox, "python3 tool.py -n x", 2, "tool: error: argument -n/--number: invalid int value: 'x'\n").await;
    fails(&sandbox, "python3 tool.py --mode c", 2, "invalid choice: 'c' (choose from 'a', 'b')\n").await;
}

#[tokio::test]
async fn csv_is_grouped_and_written_as_json() {
    let program = r#"
import collections, csv, json, statistics
with open("rows.csv", "w", newline="") as file:
    rows = csv.DictWriter(file, ["name", "value"])
    rows.writeheader()
    rows.writerows({"name": f"n{i % 3}", "value": i} for i in range(10))
groups = collections.defaultdict(list)
for row in csv.DictReader(open("rows.csv")):
    groups[row["name"]].append(float(row["value"]))
json.dump({name: [statistics.mean(values), round(statistics.stdev(values), 3)] for name, values in groups.items()}, open("r.json", "w"))
print(open("r.json").read(), open("rows.csv", newline="").read(15).encode())
"#;
    let expected = "{\"n0\": [4.5, 3.873], \"n1\": [4.0, 3.0], \"n2\": [5.0, 3.0]} b'name,value\\r\\nn0,'\n";
    check_output(program, expected).await;
}

#[tokio::test]
async fn asyncio_waits_for_timers_queues_and_programs() {
    let program = r#"
import asyncio, sys
async def work(n, queue):
    await asyncio.sleep(0.01 * n)
    await queue.put(n)
    return n * n
async def main():
    queue = asyncio.Queue()
    print(await asyncio.gather(*(work(n, queue) for n in (3, 1, 2))), [queue.get_nowait() for _ in range(3)])
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.05)
    except asyncio.TimeoutError:
        print("late")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work(0, queue))
    print(task.result())
    pipe = asyncio.subprocess.PIPE
    upper = await asyncio.create_subprocess_exec("tr", "a-z", "A-Z", stdin=pipe, stdout=pipe)
    print(await upper.communicate(b"text" * 50000) == (b"TEXT" * 50000, None), upper.returncode)
    shell = await asyncio.create_subprocess_shell("echo out; echo err >&2; exit 3", stdout=pipe, stderr=pipe)
    print(await shell.communicate(), shell.returncode)
    both = [await asyncio.create_subprocess_exec(sys.executable, "-c", f"print({n})", stdout=pipe) for n in (1, 2)]
    print([(await each.stdout.read()).strip() for each in both], [await each.wait() for each in both])
    slow = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        await asyncio.wait_for(slow.wait(), 0.05)
    except asyncio.TimeoutError:
        slow.kill()
    print(await slow.wait())
asyncio.run(main())
"#;
    let expected = "[9, 1, 4] [1, 2, 3]\nlate\n0\nTrue 0\n(b'out\\n', b'err\\n') 3\n[b'1', b'2'] [0, 0]\n-9\n";
    check_output(program, expected).await;
}

#[tokio::test]
async fn files_are_created_moved_packed_and_changed() {
    let program = r#"
import os, pathlib, shutil, stat, tarfile, tempfile, zipfile
with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name)
    (top / "a/b").mkdir(parents=True)
    (top / "a/b/f.txt").write_text("hello\n")
    (top / "a/g.py").write_text("x = 1")
    shutil.copytree(top / "a", top / "c")
    print(sorted(path.relative_to(top).as_posix() for path in top.rglob("*")))
    print(sorted(zipfile.ZipFile(shutil.make_archive(str(top / "out"), "zip", top / "a")).namelist()))
    print(sorted(tarfile.open(shutil.make_archive(str(top / "out"), "gztar", top / "a")).getnames()))
    shutil.unpack_archive(str(top / "out.zip"), top / "un")
    fd = os.open(top / "m", os.O_CREAT | os.O_WRONLY, 0o600)
    os.fchmod(fd, 0o640)
    os.write(fd, b"abc")
    os.ftruncate(fd, 1)
    print(oct(os.fstat(fd).st_mode), os.fstat(fd).st_size)
    os.chmod(fd, 0o4711)
    os.close(fd)
    print(stat.filemode(os.stat(top / "m").st_mode))
    try:
        os.fchmod(fd, 0o600)
    except OSError as error:
        print(error)
    os.utime(top / "m", (1, 2))
    shutil.move(top / "m", top / "n")
    print((top / "n").stat().st_mtime, (top / "m").exists(), (top / "un/b/f.txt").read_text().strip())
    try:
        (top / "none").stat()
    except OSError as error:
        print(repr(error.filename.replace(name, "T")))
print(os.path.exists(name))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    print(file.write("text"), file.seek(0), file.read(), os.path.splitext(file.name)[1])
"#;
    let expected = "['a', 'a/b', 'a/b/f.txt', 'a/g.py', 'c', 'c/b', 'c/b/f.txt', 'c/g.py']\n['b/', 'b/f.txt', 'g.py']\n\
        ['.', './b', './b/f.txt', './g.py']\n0o100640 1\n-rws--x--x\n[Errno 9] Bad file descriptor\n2.0 False hello\n'T/none'\n\
        False\n4 0 text .txt\n";
    check_output(program, expected).await;
}

#[tokio::test]
async fn a_database_keeps_rows_in_a_file() {
    let program = r#"
import sqlite3
with sqlite3.connect("t.db") as base:
    base.execute("create table t(a integer primary key, b text)")
    base.executemany("insert into t(b) values(?)", [("x",), ("y",)])
base = sqlite3.connect("t.db")
base.row_factory = sqlite3.Row
print([dict(row) for row in base.execute("select * from t order by a desc")])
try:
    base.execute("select * from nosuch")
except sqlite3.OperationalError as error:
    print(error)
"#;
    check_output(program, "[{'a': 2, 'b': 'y'}, {'a': 1, 'b': 'x'}]\nno such table: nosuch\n").await;
}

#[tokio::test]
async fn unittest_reports_failures_and_errors() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import unittest, unittest.mock
class T(unittest.TestCase):
    def test_equal(self): self.assertEqual([1, 2], [1, 3])
    def test_error(self): raise KeyError("k")
    @unittest.skip("later")
    def test_skip(self): pass
    def test_mock(self):
        mock = unittest.mock.Mock(return_value=3)
        self.assertEqual(mock(1), 3)
        mock.assert_called_once_with(1)
    def test_raises(self):
        with self.assertRaisesRegex(FileNotFoundError, r"^\[Errno 2\] No such file or directory: '/nosuch'$"): open("/nosuch")
unittest.main()
"#;
    let made = format!("cat > t.py <<'P'{program}P\npython3 t.py");
    fails(&sandbox, &made, 1, "FAILED (failures=1, errors=1, skipped=1)\n").await;
}

#[tokio::test]
async fn input_reads_standard_input_to_its_end() {
    let Some(sandbox) = sandbox() else { return };
    let program = "name = input('name? ')\nprint('hi', name)\nimport sys\nprint([*sys.stdin])\ntry: input()\nexcept EOFError as e: print(e)\n";
    let made = format!("cat > p.py <<'P'\n{program}P\nprintf 'bob\\nx\\ny' | python3 p.py");
    prints(&sandbox, &made, "name? hi bob\n['x\\n', 'y']\nEOF when reading a line\n").await;
}

#[tokio::test]
async fn multiprocessing_fails_with_a_message() {
    let Some(sandbox) = sandbox() else { return };
    let text = "ImportError: multiprocessing cannot start interpreters in this sandbox; subprocess starts programs";
    let process = "python3 -c 'import multiprocessing as m; m.Process(target=print).start()'";
    fails(&sandbox, process, 1, text).await;
    fails(&sandbox, "python3 -c 'import multiprocessing as m; m.Pool(2)'", 1, text).await;
}

#[tokio::test]
async fn signals_that_a_program_sends_itself_reach_its_handlers() {
    let program = r#"
import os, signal, time
signal.signal(signal.SIGUSR1, lambda number, frame: print("got", signal.Signals(number).name))
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.strsignal(15))
start = time.monotonic()
time.sleep(0.05)
print(time.monotonic() - start >= 0.05)
"#;
    check_output(program, "got SIGUSR1\nTrue Terminated\nTrue\n").await;
}
