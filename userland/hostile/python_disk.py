# Writes files without end.
number = 0
try:
    while True:
        with open(f"file{number}", "wb") as file:
            file.write(bytes(1 << 18))
        number += 1
except OSError as error:
    print(error.strerror)
raise SystemExit(0 if number < 16 else 1)
