# Looks for the host: its variables, network, devices, native code, threads and processes.
import os, socket, sys


def attempt(what, work):
    try:
        print(what, "SUCCEEDED", work())
    except Exception as error:
        print(what, type(error).__name__)


print("secret", os.environ["SECRET_OF_GUEST"], "host", [name for name in os.environ if "CARGO" in name or "RUST" in name])
attempt("connect", lambda: socket.create_connection(("127.0.0.1", 22), 1))
attempt("listen", lambda: socket.create_server(("10.0.0.1", 0)))
attempt("resolve", lambda: socket.getaddrinfo("example.com", 80))
attempt("metadata", lambda: __import__("urllib.request").request.urlopen("http://169.254.169.254/latest", timeout=1))
attempt("ctypes", lambda: __import__("ctypes").CDLL(None).getpid())
attempt("extension", lambda: __import__("importlib.machinery").machinery.ExtensionFileLoader("x", "/tmp/x.so").load_module("x"))
attempt("fork", lambda: os.fork())
attempt("mmap", lambda: __import__("mmap").mmap(os.open("/dev/zero", os.O_RDONLY), 1 << 40))
