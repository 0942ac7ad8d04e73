"""The users of the sandbox, read from `/etc/passwd`."""

__all__ = ["struct_passwd", "getpwall", "getpwnam", "getpwuid"]


class struct_passwd(tuple):
    """One entry: seven fields, accessible by index and by name."""

    __slots__ = ()
    _names = "pw_name", "pw_passwd", "pw_uid", "pw_gid", "pw_gecos", "pw_dir", "pw_shell"
    n_fields = n_sequence_fields = 7

    def __repr__(self):
        return "pwd.struct_passwd(" + ", ".join(f"{name}={value!r}" for name, value in zip(self._names, self)) + ")"


for _at, _name in enumerate(struct_passwd._names):
    setattr(struct_passwd, _name, property(lambda self, at=_at: self[at]))


def getpwall():
    found = []
    with open("/etc/passwd", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            fields = line.rstrip("\n").split(":")
            if len(fields) == 7 and fields[2].isdigit() and fields[3].isdigit():
                fields[2:4] = map(int, fields[2:4])
                found.append(struct_passwd(fields))
    return found


def getpwnam(name, /):
    if not isinstance(name, str):
        raise TypeError(f"getpwnam() argument must be str, not {type(name).__name__}")
    for entry in getpwall():
        if entry.pw_name == name:
            return entry
    raise KeyError(f"getpwnam(): name not found: {name!r}")


def getpwuid(uid, /):
    if not isinstance(uid, int):
        raise TypeError(f"uid should be integer, not {type(uid).__name__}")
    for entry in getpwall():
        if entry.pw_uid == uid:
            return entry
    raise KeyError(f"getpwuid(): uid not found: {uid}")
