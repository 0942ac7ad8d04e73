"""The groups of the sandbox, read from `/etc/group`."""

__all__ = ["struct_group", "getgrall", "getgrgid", "getgrnam"]


class struct_group(tuple):
    """One entry: four fields, accessible by index and by name."""

    __slots__ = ()
    _names = "gr_name", "gr_passwd", "gr_gid", "gr_mem"
    n_fields = n_sequence_fields = 4

    def __repr__(self):
        return "grp.struct_group(" + ", ".join(f"{name}={value!r}" for name, value in zip(self._names, self)) + ")"


for _at, _name in enumerate(struct_group._names):
    setattr(struct_group, _name, property(lambda self, at=_at: self[at]))


def getgrall():
    found = []
    with open("/etc/group", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            fields = line.rstrip("\n").split(":")
            if len(fields) == 4 and fields[2].isdigit():
                members = [name for name in fields[3].split(",") if name]
                found.append(struct_group((fields[0], fields[1], int(fields[2]), members)))
    return found


def getgrnam(name, /):
    if not isinstance(name, str):
        raise TypeError(f"getgrnam() argument must be str, not {type(name).__name__}")
    for entry in getgrall():
        if entry.gr_name == name:
            return entry
    raise KeyError(f"getgrnam(): name not found: {name!r}")


def getgrgid(id):
    if not isinstance(id, int):
        raise TypeError(f"gid should be integer, not {type(id).__name__}")
    for entry in getgrall():
        if entry.gr_gid == id:
            return entry
    raise KeyError(f"getgrgid(): gid not found: {id}")
