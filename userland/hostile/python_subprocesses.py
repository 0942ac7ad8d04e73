# Starts programs without end and waits for none.
import subprocess
started = []
try:
    while True:
        started.append(subprocess.Popen(["sleep", "1000"]))
except OSError as error:
    print(type(error).__name__, error.strerror, flush=True)
raise SystemExit(3 if 1 < len(started) < 16 else 4)
