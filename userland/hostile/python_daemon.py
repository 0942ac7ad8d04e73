# Leaves a process in a new session behind.
import subprocess
subprocess.Popen(["sh", "-c", "trap '' HUP INT TERM; while :; do sleep 1; done"], start_new_session=True)
print("left", flush=True)
