# Runs bytecode that no compiler writes, each opcode in an interpreter of its own.
import subprocess, sys
FORGED = """
def victim():
    return 1
code = victim.__code__
eval(code.replace(co_code=bytes([{opcode}, 255] * 64), co_consts=(), co_names=(), co_stacksize=1))
"""
codes = set()
for opcode in range(256):
    command = ["timeout", "2", sys.executable, "-c", FORGED.format(opcode=opcode)]
    codes.add(subprocess.run(command, capture_output=True).returncode)
# Success, an exception, a timeout, and the signals SIGABRT, SIGFPE and SIGSEGV.
print("other exit codes:", sorted(codes - {0, 1, 124, 134, 136, 139}), "crashes:", bool(codes & {134, 139}))
