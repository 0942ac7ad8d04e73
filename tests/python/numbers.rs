//! Error numbers are those of Linux for every source of an exception.

use super::{prints, sandbox};

#[tokio::test]
async fn exceptions_have_linux_numbers_texts_and_classes() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import errno, os
os.makedirs("full/a"); open("file", "w").close(); os.symlink("loop", "loop")
for wrong in (
    lambda: open("no"), lambda: os.stat("no"), lambda: os.mkdir("full"), lambda: os.rmdir("full"), lambda: open("full"),
    lambda: os.listdir("file"), lambda: os.stat("file/x"), lambda: os.rename("no", "x"), lambda: os.close(99),
    lambda: os.fstat(99), lambda: open("/etc/passwd", "w"), lambda: open("n" * 300, "w"), lambda: open("loop"),
    lambda: os.stat("loop"), lambda: os.kill(99999, 0), lambda: os.waitpid(-1, 0), lambda: os.get_terminal_size(0),
    lambda: os.execv("/nosuch", ["x"]), lambda: os.readlink("file"), lambda: os.pipe2(-1) and os.lseek(os.pipe()[0], 0, 0),
):
    try:
        wrong()
    except OSError as error:
        print(type(error).__name__, errno.errorcode[error.errno], str(error)[:60])
"#;
    let expected = "\
FileNotFoundError ENOENT [Errno 2] No such file or directory: 'no'
FileNotFoundError ENOENT [Errno 2] No such file or directory: 'no'
FileExistsError EEXIST [Errno 17] File exists: 'full'
OSError ENOTEMPTY [Errno 39] Directory not empty: 'full'
IsADirectoryError EISDIR [Errno 21] Is a directory: 'full'
NotADirectoryError ENOTDIR [Errno 20] Not a directory: 'file'
NotADirectoryError ENOTDIR [Errno 20] Not a directory: 'file/x'
FileNotFoundError ENOENT [Errno 2] No such file or directory: 'no' -> 'x'
OSError EBADF [Errno 9] Bad file descriptor
OSError EBADF [Errno 9] Bad file descriptor
PermissionError EACCES [Errno 13] Permission denied: '/etc/passwd'
OSError ENAMETOOLONG [Errno 36] File name too long: 'nnnnnnnnnnnnnnnnnnnnnnnnnnnn
OSError ELOOP [Errno 40] Too many levels of symbolic links: 'loop'
OSError ELOOP [Errno 40] Too many levels of symbolic links: 'loop'
ProcessLookupError ESRCH [Errno 3] No such process
ChildProcessError ECHILD [Errno 10] No child processes
OSError ENOTTY [Errno 25] Inappropriate ioctl for device
FileNotFoundError ENOENT [Errno 2] No such file or directory
OSError EINVAL [Errno 22] Invalid argument: 'file'
OSError ESPIPE [Errno 29] Illegal seek
";
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn named_error_numbers_have_their_linux_meaning() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import errno, io, os, socket, pathlib
print(errno.ENOENT, errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.ENOTSUP, errno.EINTR, errno.errorcode[13])
print(os.strerror(2), os.strerror(36), os.strerror(11), os.strerror(0), os.strerror(999), sep="; ")
for number in (2, 13, 17, 20, 21, 32, 4, 11, 110, 111, 10, 3, 1):
    print(number, type(OSError(number, "x")).__name__, end=", ")
print(OSError(2, os.strerror(2), "name"), hasattr(errno, "ENOTCAPABLE"))
print(socket.EAGAIN, sorted(socket._blocking_errnos), pathlib.Path("/nosuch").exists())
class Raw(io.RawIOBase):
    calls = 0
    def readable(self): return True
    def readinto(self, buffer):
        self.calls += 1
        if self.calls == 1: raise InterruptedError(errno.EINTR, "again")
        buffer[:2] = b"ok"; return 2
print(io.BufferedReader(Raw()).read1(2))
"#;
    let expected = "2 13 11 11 95 4 EACCES\n\
        No such file or directory; File name too long; Resource temporarily unavailable; Success; Unknown error 999\n\
        2 FileNotFoundError, 13 PermissionError, 17 FileExistsError, 20 NotADirectoryError, 21 IsADirectoryError, \
        32 BrokenPipeError, 4 InterruptedError, 11 BlockingIOError, 110 TimeoutError, 111 ConnectionRefusedError, \
        10 ChildProcessError, 3 ProcessLookupError, 1 PermissionError, \
        [Errno 2] x: 'name' False\n11 [11] False\nb'ok'\n"
        .replace("[Errno 2] x", "[Errno 2] No such file or directory");
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), &expected).await;
}

#[tokio::test]
async fn invalid_descriptors_and_signals_raise_as_natively() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import os
for wrong in (
    lambda: os.kill(os.getpid(), -1), lambda: os.kill(os.getpid(), 999), lambda: os.kill(2**40, 9), lambda: os.dup(-1),
    lambda: os.waitpid(2**40, 0), lambda: os.dup2(0, -1),
):
    try:
        print("returned", wrong())
    except (OSError, OverflowError) as error:
        print(type(error).__name__, getattr(error, "errno", None))
"#;
    let expected = "OSError 22\nOSError 22\nOverflowError None\nOSError 9\nOverflowError None\nOSError 9\n";
    prints(&sandbox, &format!("cat > p.py <<'P'{program}P\npython3 p.py"), expected).await;
}
