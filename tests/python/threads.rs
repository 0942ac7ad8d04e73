//! Threads do not exist; what uses them for single calls works, and everything else names the alternatives.

use super::{fails, prints, sandbox};

/// Runs a program from a file and checks its output.
async fn check(program: &str, expected: &str) {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, &format!("cat > p.py <<'P'\n{program}\nP\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn starting_a_thread_fails_and_names_the_alternatives() {
    let Some(sandbox) = sandbox() else { return };
    let reason = "RuntimeError: can't start new thread: in this sandbox Python has one thread. ThreadPoolExecutor, \
        asyncio.to_thread and run_in_executor work and call the function directly; subprocess starts processes";
    for program in [
        "import threading; threading.Thread(target=print).start()",
        "import threading; threading.Timer(1, print).start()",
        "import _thread; _thread.start_new_thread(print, ())",
        "from multiprocessing.pool import ThreadPool; ThreadPool(2)",
        "import anyio, anyio.to_thread; anyio.run(anyio.to_thread.run_sync, print)",
    ] {
        if program.contains("multiprocessing") {
            fails(&sandbox, &format!("python3 -c '{program}'"), 1, "multiprocessing cannot start interpreters").await;
        } else {
            fails(&sandbox, &format!("python3 -c '{program}'"), 1, reason).await;
        }
    }
    // A thread that did not start is not counted.
    let program = "import threading\nt = threading.Thread(target=print)\ntry: t.start()\nexcept RuntimeError: pass\n\
        print(threading.active_count(), t.is_alive())";
    check(program, "1 False\n").await;
}

#[tokio::test]
async fn a_thread_pool_calls_each_function_when_it_is_submitted() {
    let program = r#"
import concurrent.futures as cf, threading, time
with cf.ThreadPoolExecutor(max_workers=4) as pool:
    print(list(pool.map(lambda x: x * x, range(5))))
    futures = {pool.submit(pow, 2, n): n for n in (3, 1, 2)}
    print(sorted(future.result() for future in cf.as_completed(futures)), [f.done() for f in futures])
    failed = pool.submit(int, "x")
    print(repr(failed.exception()), failed.cancel(), cf.wait([failed]).done == {failed})
    nested = pool.submit(lambda: pool.submit(lambda: pool.submit(str, 7).result()).result())
    print(nested.result())
    nested.add_done_callback(lambda future: print("called", future.result()))
try: pool.submit(print)
except RuntimeError as error: print(error)
local = []
with cf.ThreadPoolExecutor(initializer=local.append, initargs=(1,)) as pool:
    print([pool.submit(len, local).result() for _ in range(2)])
def bad(): raise KeyError("k")
pool = cf.ThreadPoolExecutor(initializer=bad)
import logging
logging.disable()
for _ in range(2):
    try: pool.submit(print).result()
    except cf.thread.BrokenThreadPool as error: print(error)
"#;
    let expected = "[0, 1, 4, 9, 16]\n[2, 4, 8] [True, True, True]\n\
        ValueError(\"invalid literal for int() with base 10: 'x'\") False True\n7\ncalled 7\n\
        cannot schedule new futures after shutdown\n[1, 1]\n\
        A thread initializer failed, the thread pool is not usable anymore\n\
        A thread initializer failed, the thread pool is not usable anymore\n";
    check(program, expected).await;
}

#[tokio::test]
async fn asyncio_executors_call_the_function_directly() {
    let program = r#"
import asyncio, contextvars
name = contextvars.ContextVar("name", default="none")
def work(x):
    return x * 2, name.get(), asyncio._get_running_loop()
def inner():
    async def deep(): return await asyncio.to_thread(work, 3)
    return asyncio.run(deep())
async def main():
    name.set("main")
    print(await asyncio.to_thread(work, 1))
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, work, 2), await asyncio.gather(*(asyncio.to_thread(abs, -n) for n in range(3))))
    print(await asyncio.to_thread(inner), asyncio.get_running_loop() is loop)
    try: await asyncio.to_thread(int, "x")
    except ValueError as error: print(error)
asyncio.run(main())
"#;
    let expected = "(2, 'main', None)\n(4, 'none', None) [0, 1, 2]\n(6, 'main', None) True\n\
        invalid literal for int() with base 10: 'x'\n";
    check(program, expected).await;
}

#[tokio::test]
async fn locks_queues_and_events_work_in_one_thread() {
    let program = r#"
import queue, threading
lock = threading.Lock()
with lock: print(lock.acquire(blocking=False), lock.acquire(timeout=0.01))
q = queue.Queue()
q.put(1)
print(q.get(), q.empty(), threading.Event().wait(0.01), threading.current_thread().name)
try: q.get(timeout=0.01)
except queue.Empty: print("empty")
"#;
    check(program, "False False\n1 True False MainThread\nempty\n").await;
}

#[tokio::test]
async fn a_wait_that_nothing_can_end_is_an_error() {
    let program = r#"
import queue, threading
lock = threading.Lock()
lock.acquire()
for wait in threading.Event().wait, queue.Queue().get, lock.acquire:
    try: wait()
    except RuntimeError as error: print(error)
"#;
    let line = "this wait would never end: in this sandbox Python has one thread, and no other can release the lock or set \
        the event\n";
    check(program, &line.repeat(3)).await;
}

#[tokio::test]
async fn a_signal_handler_ends_a_wait_and_continues_a_sleep() {
    let program = r#"
import os, signal, subprocess, threading, time
event, calls = threading.Event(), []
def handle(number, frame):
    calls.append(number)
    event.set()
signal.signal(signal.SIGALRM, handle)
def kill_later(): return subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -ALRM {os.getpid()}"])
child = kill_later()
print(event.wait(), child.wait())
child, start = kill_later(), time.monotonic()
time.sleep(0.6)
print(time.monotonic() - start >= 0.6, len(calls), child.wait())
"#;
    check(program, "True 0\nTrue 2 0\n").await;
}
