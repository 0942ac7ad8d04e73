# Opens files without end.
opened = []
try:
    while True:
        opened.append(open("/etc/passwd"))
except OSError as error:
    print(error.strerror)
raise SystemExit(0 if len(opened) < 64 else 1)
