# Starts itself twice, and each copy does so.
import subprocess, sys
while True:
    try:
        for _ in range(2):
            subprocess.Popen([sys.executable, __file__])
    except OSError as error:
        print(error.strerror, file=sys.stderr)
