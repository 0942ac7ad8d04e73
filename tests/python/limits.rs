//! What bounds other programs bounds this one.

use std::time::Duration;

use tidebox::{ExecuteRequest, Limits, SandboxBackend};

use super::{ready, run};

#[tokio::test]
async fn too_much_memory_is_an_exception_that_can_be_caught() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 400 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let caught = "try: x = bytearray(10**9)\nexcept MemoryError: print(\"no\")";
    let response = run(&sandbox, &format!("python3 -c '{caught}'")).await;
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"no\n".as_slice(), Some(0)));
}

#[tokio::test]
async fn a_loop_without_end_is_stopped() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let mut request = ExecuteRequest::new("python3 -c 'while True: pass'");
    request.timeout = Some(Duration::from_secs(2));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!(response.exit_code, Some(124));
}

#[tokio::test]
async fn recursion_without_end_is_an_exception() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let response = run(&sandbox, "python3 -c 'def f(): f()\nf()' 2>&1 | tail -1").await;
    let said = String::from_utf8_lossy(&response.stdout).into_owned();
    assert!(said.starts_with("RecursionError: maximum recursion depth exceeded"), "{said}");
}

#[tokio::test]
async fn memory_that_nobody_catches_ends_the_program_and_nothing_else() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 300 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let program = "x = []\nwhile True: x.append(bytearray(1 << 20))";
    let response = run(&sandbox, &format!("python3 -c '{program}'; echo $?; echo after")).await;
    let (out, err) = (response.stdout_text().into_owned(), String::from_utf8_lossy(&response.stderr).into_owned());
    assert_eq!(out, "1\nafter\n", "{err}");
    assert!(err.ends_with("MemoryError\n"), "{err}");
}

#[tokio::test]
async fn output_is_cut_where_the_limit_is_and_files_are_refused_there() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.output_bytes = 1000;
    limits.file_bytes = 8 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let response = run(&sandbox, "python3 -c 'print(\"x\" * 10 ** 6)'").await;
    assert!(response.truncated && response.stdout.len() == 1000);
    let write = "try: open(\"big\", \"wb\").write(bytes(64 << 20))\nexcept OSError as error: print(error.strerror)";
    let response = run(&sandbox, &format!("python3 -c '{write}'")).await;
    assert_eq!(response.stdout_text(), "No space left on device\n");
}

#[tokio::test]
async fn threads_and_sockets_are_refused_in_words() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let thread = "import threading\ntry: threading.Thread(target=print).start()\nexcept RuntimeError as e: print(e)";
    let socket = "import socket\ntry: socket.create_connection((\"example.com\", 80))\nexcept OSError as e: print(e)";
    let response = run(&sandbox, &format!("python3 -c '{thread}'; python3 -c '{socket}'")).await;
    let said = response.stdout_text().into_owned();
    assert!(
        said.starts_with("can't start new thread\n") && said.contains("there are no sockets in this sandbox"),
        "{said}"
    );
}

#[tokio::test]
async fn much_output_passes_a_pipe_within_little_memory() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 200 << 20;
    limits.sandbox_memory_bytes = 500 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let source = "import sys\nfor i in range(200): sys.stdout.write(\"y\" * (1 << 20))";
    let sink = "import sys\nprint(sum(len(block) for block in iter(lambda: sys.stdin.buffer.read(1 << 16), b\"\")))";
    let response = run(&sandbox, &format!("python3 -c '{source}' | python3 -c '{sink}'")).await;
    assert_eq!(response.stdout_text(), "209715200\n", "{}", String::from_utf8_lossy(&response.stderr));
}

/// Whatever recurses in C counts its depth or ends the process; neither reaches the host's stack.
#[tokio::test]
async fn deep_recursion_in_c_ends_in_python_and_the_sandbox_goes_on() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
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
        let response = sandbox.execute(request).await.expect("the sandbox answers");
        let (stdout, stderr) = (response.stdout_text().into_owned(), response.stderr_text().into_owned());
        // Done, an exception, or the end of this process alone.
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
