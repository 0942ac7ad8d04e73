//! The limits of a sandbox apply to Python.

use std::time::Duration;

use tidebox::{ExecuteRequest, Limits, SandboxBackend, StopReason};

use super::{ready, run};

#[tokio::test]
async fn exceeding_memory_raises_a_catchable_exception() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 400 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let caught = "try: x = bytearray(10**9)\nexcept MemoryError: print(\"no\")";
    let response = run(&sandbox, &format!("python3 -c '{caught}'")).await;
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"no\n".as_slice(), Some(0)));
}

#[tokio::test]
async fn an_endless_loop_is_stopped() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built");
    let mut request = ExecuteRequest::new("python3 -c 'while True: pass'");
    request.timeout = Some(Duration::from_secs(2));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!(response.exit_code, Some(124));
}

#[tokio::test]
async fn endless_recursion_raises_an_exception() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built");
    let response = run(&sandbox, "python3 -c 'def f(): f()\nf()' 2>&1 | tail -1").await;
    let text = String::from_utf8_lossy(&response.stdout).into_owned();
    assert!(text.starts_with("RecursionError: maximum recursion depth exceeded"), "{text}");
}

#[tokio::test]
async fn an_uncaught_memory_error_ends_only_the_program() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 300 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let program = "x = []\nwhile True: x.append(bytearray(1 << 20))";
    let response = run(&sandbox, &format!("python3 -c '{program}'; echo $?; echo after")).await;
    let (out, err) = (response.stdout_text().into_owned(), String::from_utf8_lossy(&response.stderr).into_owned());
    assert_eq!(out, "1\nafter\n", "{err}");
    assert!(err.ends_with("MemoryError\n"), "{err}");
}

#[tokio::test]
async fn output_is_truncated_and_files_fail_at_their_limits() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.output_bytes = 1000;
    limits.file_bytes = 8 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let response = run(&sandbox, "python3 -c 'print(\"x\" * 10 ** 6)'").await;
    assert!(response.truncated && response.stdout.len() == 1000);
    let write = "try: open(\"big\", \"wb\").write(bytes(64 << 20))\nexcept OSError as error: print(error.strerror)";
    let response = run(&sandbox, &format!("python3 -c '{write}'")).await;
    assert_eq!(response.stdout_text(), "No space left on device\n");
}

/// Runs a program with modified limits and returns its output.
async fn within(change: impl FnOnce(&mut Limits), program: &str) -> tidebox::ExecuteResponse {
    let mut limits = Limits::default();
    change(&mut limits);
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let request = ExecuteRequest::new("python3 -c \"$PROGRAM\"").with_env("PROGRAM", program);
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    let after = run(&sandbox, "echo on").await;
    assert_eq!(after.stdout_text(), "on\n", "the sandbox goes on");
    response
}

#[tokio::test]
async fn ignoring_memory_errors_ends_at_the_deadline() {
    if !ready() {
        return;
    }
    let program = "x = []\nwhile True:\n  try: x.append(bytearray(1 << 20))\n  except MemoryError: pass";
    let change = |limits: &mut Limits| {
        limits.process_memory_bytes = 300 << 20;
        limits.wall_time = Duration::from_secs(3);
    };
    let response = within(change, program).await;
    assert_eq!(response.exit_code, Some(124), "{}", response.stderr_text());
    assert!(response.peak_memory_bytes < 400 << 20, "{}", response.peak_memory_bytes);
}

#[tokio::test]
async fn an_interpreter_without_memory_to_start_is_killed() {
    if !ready() {
        return;
    }
    let response = within(|limits| limits.process_memory_bytes = 64 << 20, "print(1)").await;
    assert_eq!((response.exit_code, response.stopped_by), (Some(137), Some(StopReason::Memory)));
}

#[tokio::test]
async fn the_total_memory_of_all_processes_is_limited() {
    if !ready() {
        return;
    }
    let program = "import subprocess, sys\n\
        held = [subprocess.Popen([sys.executable, '-c', 'x = bytearray(100 << 20); print(1, flush=True); input()'], \
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(4)]\n\
        print(sum(each.stdout.readline() == b'1\\n' for each in held) < 4)\n\
        for each in held: each.stdin.close(); each.wait()";
    let response = within(|limits| limits.sandbox_memory_bytes = 600 << 20, program).await;
    assert_eq!(response.stdout_text(), "True\n", "{}", response.stderr_text());
}

#[tokio::test]
async fn exceeded_resource_limits_raise_their_errors() {
    if !ready() {
        return;
    }
    let opened = "held = []\ntry:\n  while True: held.append(open('/etc/passwd'))\n\
        except OSError as error: print(error.errno, len(held) < 40)";
    let response = within(|limits| limits.descriptors = 40, opened).await;
    assert_eq!(response.stdout_text(), "24 True\n", "{}", response.stderr_text());
    let started = "import subprocess\nheld = []\ntry:\n  while True: held.append(subprocess.Popen(['sleep', '60']))\n\
        except OSError as error: print(error.errno, len(held) < 10)\nfor each in held: each.kill()";
    let response = within(|limits| limits.processes = 10, started).await;
    assert_eq!(response.stdout_text(), "11 True\n", "{}", response.stderr_text());
    let made = "n = 0\ntry:\n  while True:\n    open(f'f{n}', 'w').close(); n += 1\n\
        except OSError as error: print(error.errno, n < 300)";
    let response = within(|limits| limits.inodes = 300, made).await;
    assert_eq!(response.stdout_text(), "28 True\n", "{}", response.stderr_text());
    let long = "try:\n  with open('big', 'wb', 0) as f:\n    for _ in range(9): f.write(bytes(1 << 20))\n\
        except OSError as error: print(error.errno)";
    let response = within(|limits| limits.single_file_bytes = 4 << 20, long).await;
    assert_eq!(response.stdout_text(), "27\n", "{}", response.stderr_text());
}

#[tokio::test]
async fn the_deadline_ends_sleep_waits_and_c_code() {
    if !ready() {
        return;
    }
    for program in [
        "import time; time.sleep(600)",
        "import subprocess; subprocess.run(['sleep', '600'])",
        "sum(range(10 ** 12))",
        "import re; re.match('(a*)*b', 'a' * 60)",
        "import time\nwhile True:\n  try: time.sleep(600)\n  except BaseException: pass",
    ] {
        let response = within(|limits| limits.wall_time = Duration::from_secs(1), program).await;
        assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)), "{program}");
    }
}

#[tokio::test]
async fn large_output_passes_a_pipe_in_bounded_memory() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 200 << 20;
    limits.sandbox_memory_bytes = 500 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let source = "import sys\nfor i in range(200): sys.stdout.write(\"y\" * (1 << 20))";
    let sink = "import sys\nprint(sum(len(block) for block in iter(lambda: sys.stdin.buffer.read(1 << 16), b\"\")))";
    let response = run(&sandbox, &format!("python3 -c '{source}' | python3 -c '{sink}'")).await;
    assert_eq!(response.stdout_text(), "209715200\n", "{}", String::from_utf8_lossy(&response.stderr));
}

/// Recursive C code counts its depth or ends the process; neither overflows the host's stack.
#[tokio::test]
async fn deep_recursion_in_c_ends_only_the_interpreter() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built");
    let programs = [
        "import json; json.loads('['*200000)",
        "import json; x = []\nfor _ in range(200000): x = [x]\njson.dumps(x)",
        "x = []\nfor _ in range(200000): x = [x]\nrepr(x)",
        "x = ()\nfor _ in range(200000): x = (x,)\nhash(x)",
        "a, b = [], []\nfor _ in range(200000): a, b = [a], [b]\na == b",
        "import re; re.compile('('*20000 + ')'*20000)",
        "import re; re.match('(?:a?){2000}' * 20, 'a' * 3000)",
        "eval('('*50000 + ')'*50000)",
        "eval('-'*50000 + '1')",
        "eval('+'.join(['1']*50000))",
        "compile('[' * 90 + ']' * 90 + '\\n' + 'if 1:\\n' * 1, 'f', 'exec')",
        "import ast; ast.parse('x' + '.y'*50000)",
        "import pickle; x = []\nfor _ in range(100000): x = [x]\npickle.dumps(x)",
        "import copy; x = []\nfor _ in range(100000): x = [x]\ncopy.deepcopy(x)",
        "class A:\n def __getattr__(self, name): return getattr(self, name)\nA().x",
        "class A:\n def __repr__(self): return repr(self)\nrepr(A())",
        "class A:\n def __eq__(self, other): return self == other\nA() == A()",
        "class A(type):\n def __instancecheck__(self, x): return isinstance(x, self)\nclass B(metaclass=A): pass\nisinstance(1, B)",
        "import functools; f = abs\nfor _ in range(100000): f = functools.partial(f)\nf(1)",
        "import itertools; x = iter([])\nfor _ in range(100000): x = itertools.chain(x)\nnext(x, 0)",
        "def f(): yield from f()\nlist(f())",
        "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        "import sys; sys.setrecursionlimit(10**9)\nclass A:\n def __repr__(self): return repr([self])\nrepr(A())",
        "x = None\nfor _ in range(500000): x = [x]\ndel x",
        "import xml.etree.ElementTree as e; e.fromstring('<a>'*100000 + '</a>'*100000)",
    ];
    for program in programs {
        let mut request = ExecuteRequest::new("python3 -c \"$PROGRAM\"; echo ended $?").with_env("PROGRAM", program);
        request.timeout = Some(Duration::from_secs(120));
        let response = sandbox.execute(request).await.expect("the sandbox responds");
        let (stdout, stderr) = (response.stdout_text().into_owned(), response.stderr_text().into_owned());
        // Success, an exception, or the end of this process alone.
        let ended = ["ended 0\n", "ended 1\n", "ended 134\n", "ended 137\n", "ended 139\n"]
            .iter()
            .any(|end| stdout.ends_with(end));
        assert!(ended, "{program}\n{stdout}\n{stderr}");
        if stdout.ends_with("ended 1\n") {
            assert!(stderr.contains("Error"), "{program}\n{stderr}");
        }
    }
    let after = run(&sandbox, "python3 -c 'print(6 * 7)'").await;
    assert_eq!(after.stdout_text(), "42\n");
}
