# Signals processes of others, and at last all of its own command.
import os, signal
for pid in [0x7fffffff, 99999, 4321, -99999]:
    try:
        os.kill(pid, signal.SIGKILL)
        print(pid, "killed")
    except OSError as error:
        print(pid, error.strerror)
for number in [0, 65, 10**6]:
    try:
        os.kill(os.getpid(), number)
        print(number, "sent")
    except (OSError, ValueError) as error:
        print(number, error)
print("last", flush=True)
os.kill(-1, signal.SIGKILL)
os.kill(os.getppid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
