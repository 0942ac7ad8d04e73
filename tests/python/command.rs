//! The command line.

use super::{fails, prints, run, sandbox};

#[tokio::test]
async fn programs_run_from_argument_file_module_and_stdin() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -c 'print(6 * 7)'", "42\n").await;
    prints(&sandbox, "echo 'print(1)' | python3", "1\n").await;
    prints(&sandbox, "echo 'import sys; print(sys.argv)' | python3 - a b", "['-', 'a', 'b']\n").await;
    prints(&sandbox, "printf 'import sys\\nprint(sys.argv)' > s.py; python3 s.py x -c", "['s.py', 'x', '-c']\n").await;
    prints(
        &sandbox,
        "mkdir -p m; echo 'print(__name__, __file__)' > m/__main__.py; python3 -m m",
        "__main__ /workspace/m/__main__.py\n",
    )
    .await;
    prints(&sandbox, "printf '#!/usr/bin/env python3\\nprint(\"hi\")' > t; chmod +x t; ./t", "hi\n").await;
    prints(
        &sandbox,
        "python -c 'import sys; print(sys.version_info[:2], sys.executable)'",
        "(3, 15) /usr/bin/python3\n",
    )
    .await;
}

#[tokio::test]
async fn exit_codes_are_those_of_the_program() {
    let Some(sandbox) = sandbox() else { return };
    assert_eq!(run(&sandbox, "python3 -c 'import sys; sys.exit(3)'").await.exit_code, Some(3));
    assert_eq!(run(&sandbox, "python3 -c 'import os; os._exit(4)'").await.exit_code, Some(4));
    fails(&sandbox, "python3 -c 'raise SystemExit(\"no\")'", 1, "no\n").await;
    fails(
        &sandbox,
        "python3 nosuch.py",
        2,
        "python3: can't open file '/workspace/nosuch.py': [Errno 2] No such file or directory\n",
    )
    .await;
    fails(&sandbox, "python3 -m nosuch", 1, "/usr/bin/python3: No module named nosuch\n").await;
    fails(&sandbox, "python3 --nosuch", 2, "Unknown option: --nosuch\n").await;
    fails(&sandbox, "pip install flask", 1, "tidebox pack add python --with flask").await;
}

#[tokio::test]
async fn a_missing_pack_is_reported_with_the_command_to_add_it() {
    let mut config = tidebox::RuntimeConfig::default();
    config.packs = Vec::new();
    let runtime = tidebox::Runtime::new(config).expect("the engine starts");
    let sandbox = runtime.sandbox().build().expect("the sandbox is built");
    for name in ["python3", "pip", "pytest"] {
        let text = format!("bash: line 1: {name}: the pack python is not installed; on the host, run: ");
        fails(&sandbox, &format!("{name} --version"), 127, &(text + "tidebox pack add python ")).await;
    }
}

#[tokio::test]
async fn a_traceback_names_only_the_programs_lines() {
    let Some(sandbox) = sandbox() else { return };
    let script = "printf 'def f():\\n    return 1 / 0\\n\\nf()\\n' > t.py; python3 t.py";
    let response = run(&sandbox, script).await;
    let err = String::from_utf8_lossy(&response.stderr).into_owned();
    assert_eq!(response.exit_code, Some(1));
    assert!(err.starts_with("Traceback (most recent call last):\n  File \"/workspace/t.py\", line 4"), "{err}");
    assert!(err.ends_with("ZeroDivisionError: division by zero\n") && !err.contains("_tidebox"), "{err}");
}

#[tokio::test]
async fn options_and_variables_work_as_in_cpython() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -V", "Python 3.15.0\n").await;
    prints(&sandbox, "python3 -O -c 'assert False; print(__debug__)'", "False\n").await;
    prints(
        &sandbox,
        "mkdir -p lib; echo 'x = 5' > lib/mine.py; PYTHONPATH=lib python3 -c 'import mine; print(mine.x)'",
        "5\n",
    )
    .await;
    fails(&sandbox, "PYTHONPATH=lib python3 -E -c 'import mine'", 1, "ModuleNotFoundError: No module named 'mine'")
        .await;
    prints(
        &sandbox,
        "python3 -W error -c 'import warnings\ntry: warnings.warn(\"x\")\nexcept UserWarning as w: print(w)'",
        "x\n",
    )
    .await;
    prints(
        &sandbox,
        "echo 'y = 1' > mod.py; python3 -B -c 'import mod'; ls; python3 -c 'import mod'; ls __pycache__",
        "lib\nmod.py\nmod.cpython-315.pyc\n",
    )
    .await;
    prints(&sandbox, "cd /tmp; A=b python3 -c 'import os; print(os.getcwd(), os.environ[\"A\"])'", "/tmp b\n").await;
}

#[tokio::test]
async fn pipes_work_at_both_ends() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "seq 1 1000000 | python3 -c 'import sys; print(sum(map(int, sys.stdin)))'", "500000500000\n")
        .await;
    prints(&sandbox, "python3 -c 'for i in range(10**6): print(i)' 2>/dev/null | head -2", "0\n1\n").await;
    prints(
        &sandbox,
        "printf 'a\\0\\377' | python3 -c 'import sys; print(sys.stdin.buffer.read())'",
        "b'a\\x00\\xff'\n",
    )
    .await;
}

#[tokio::test]
async fn unimported_modules_are_not_visible() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -c 'import sys; print(\"numpy\" in sys.modules, \"logging\" in sys.modules); import numpy; print(\"numpy\" in sys.modules)'", "False False\nTrue\n").await;
    prints(
        &sandbox,
        "for i in 1 2; do python3 -c 'import random; print(random.random())'; done | sort -u | wc -l",
        "2\n",
    )
    .await;
}

#[tokio::test]
async fn an_interrupt_raises_an_exception_and_runs_handlers() {
    let Some(sandbox) = sandbox() else { return };
    // The signal is sent after the program has reported that it runs.
    let signalled = |signal: &str, program: &str| {
        let sender =
            format!("until [ -e ready ]; do sleep 0.02; done; pid=$(cat ready); rm ready; kill -{signal} $pid");
        let prelude = "import os, signal, time\nopen(\"pid\", \"w\").write(str(os.getpid()))\n";
        format!("{{ {sender}; }} & python3 -c '{prelude}{program}'")
    };
    let busy = "os.rename(\"pid\", \"ready\")\nwhile True: pass";
    fails(&sandbox, &signalled("INT", busy), 130, "KeyboardInterrupt").await;
    let handled = "signal.signal(signal.SIGTERM, lambda *a: (print(\"term\"), exit(7)))\n\
        os.rename(\"pid\", \"ready\")\ntime.sleep(600)";
    let response = run(&sandbox, &signalled("TERM", handled)).await;
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"term\n".as_slice(), Some(7)));
}

#[tokio::test]
async fn archives_are_programs_and_so_are_directories_in_them() {
    let Some(sandbox) = sandbox() else { return };
    let made = "mkdir app && echo 'print(\"app\", __file__)' > app/__main__.py";
    let zipped = "python3 -m zipapp app -p '/usr/bin/env python3' && python3 app.pyz && ./app.pyz";
    let lines = "app /workspace/app.pyz/__main__.py\n".repeat(2);
    prints(&sandbox, &format!("{made} && {zipped}"), &lines).await;
    let inner = "zip -qr all.zip app && python3 all.zip/app && cd app && python3 .";
    let lines = "app /workspace/all.zip/app/__main__.py\napp /workspace/app/__main__.py\n";
    prints(&sandbox, inner, lines).await;
    fails(&sandbox, "mkdir empty; python3 empty", 1, "can't find '__main__' module in '/workspace/empty'").await;
}

#[tokio::test]
async fn a_program_starts_with_the_global_names_of_cpython() {
    let Some(sandbox) = sandbox() else { return };
    let usual = "['__builtins__', '__doc__', '__loader__', '__name__', '__package__', '__spec__']\n";
    prints(&sandbox, "python3 -c 'print(sorted(globals()))'", usual).await;
    prints(
        &sandbox,
        "echo 'print(__file__, __loader__)' | python3",
        "<stdin> <class '_frozen_importlib.BuiltinImporter'>\n",
    )
    .await;
    prints(&sandbox, "echo 'print(__file__)' > s.py; python3 ./s.py", "/workspace/./s.py\n").await;
}

#[tokio::test]
async fn closed_streams_are_none_and_bad_source_is_located() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -c 'print(1)' >&-; echo $?", "0\n").await;
    prints(&sandbox, "python3 -c 'import sys; print(sys.stdin)' <&-", "None\n").await;
    fails(&sandbox, "printf 'x = 1\\0\\n' > n.py; python3 n.py", 1, "  File \"/workspace/n.py\", line 1\n    x = 1\n")
        .await;
    fails(&sandbox, "printf 'x = \"\\351\"\\n' > l.py; python3 l.py", 1, "in file /workspace/l.py on line 1").await;
    fails(&sandbox, "python3 -c 'import sys; sys.exit(2 ** 70)'", 255, "").await;
    fails(&sandbox, "python3 --nosuch", 2, "Unknown option: --nosuch\nusage: python3").await;
}

#[tokio::test]
async fn the_interactive_interpreter_continues_after_an_exception() {
    let Some(sandbox) = sandbox() else { return };
    let response = run(&sandbox, "printf 'x = 5\\nx / 0\\nx + 1\\nexit(3)\\n' | python3 -q -i").await;
    let err = String::from_utf8_lossy(&response.stderr).into_owned();
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"6\n".as_slice(), Some(3)));
    assert!(err.contains("    x / 0\n    ~~^~~\nZeroDivisionError: division by zero\n>>> "), "{err}");
}

#[tokio::test]
async fn modules_that_are_commands_run() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "echo '{\"a\":[1]}' | python3 -m json.tool --indent 1", "{\n \"a\": [\n  1\n ]\n}\n").await;
    fails(&sandbox, "echo '{\"a\":' | python3 -m json.tool", 1, "Expecting value: line 2 column 1 (char 6)").await;
    let tests = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(1, 2)\n";
    let script = format!("cat > test_t.py <<'P'\n{tests}P\npython3 -m unittest -v test_t");
    fails(&sandbox, &script, 1, "FAIL: test_a (test_t.T.test_a)").await;
    prints(&sandbox, "python3 -m timeit -n 1 -r 1 pass | cut -c1-16", "1 loop, best of \n").await;
}
