# Reads, changes and creates files outside the sandbox, and files of the base system.
import os


def attempt(what, work):
    try:
        print(what, "SUCCEEDED", work())
    except OSError as error:
        print(what, error.strerror)
    except AttributeError:
        print(what, "is missing")


for path in ["/proc/1/root/etc/shadow", "/proc/self/root/../../etc/shadow", "/etc/../../../../etc/shadow", "/root/.ssh/id_rsa",
             "/proc/kcore", "/dev/mem", "/dev/sda", "/var/run/docker.sock", "//etc/shadow"]:
    attempt(f"read {path}", lambda: open(path, "rb").read(10))
for path in ["/proc/sysrq-trigger", "/proc/self/mem", "/proc/sys/kernel/core_pattern", "/proc/self/environ", "/etc/passwd",
             "/bin/bash", "/usr/lib/new"]:
    attempt(f"write {path}", lambda: open(path, "wb").write(b"x"))
attempt("remove", lambda: os.unlink("/bin/ls"))
attempt("rename", lambda: os.rename("/etc", "/tmp/etc"))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("device", lambda: os.mknod("/tmp/sda", 0o60666, os.makedev(8, 0)))
attempt("owner", lambda: os.chown("/etc/passwd", 0, 0))
attempt("user", lambda: os.setuid(0))
os.symlink("/../../../..", "up")
print("same root", os.stat("up").st_ino == os.stat("/").st_ino, os.path.realpath("/etc/../../../.."))
