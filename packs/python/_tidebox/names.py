"""Names, addresses and numbers of the `socket` module. The numbers are those of Linux."""

import errno
import os

from . import http_exchange

AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 = 0, 1, 2, 10
SOCK_STREAM, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_CLOEXEC = 1, 2, 0o4000, 0o2000000
IPPROTO_TCP = 6

# Without `AF_UNIX`: programs ask for it to decide whether sockets with a path exist.
CONSTANTS = dict(
    AF_UNSPEC=AF_UNSPEC, AF_INET=AF_INET, AF_INET6=AF_INET6, SOCK_STREAM=SOCK_STREAM, SOCK_DGRAM=SOCK_DGRAM,
    SOCK_NONBLOCK=SOCK_NONBLOCK, SOCK_CLOEXEC=SOCK_CLOEXEC, SHUT_RD=0, SHUT_WR=1, SHUT_RDWR=2, SOMAXCONN=4096,
    MSG_OOB=1, MSG_PEEK=2, MSG_TRUNC=0x20, MSG_DONTWAIT=0x40, MSG_WAITALL=0x100, MSG_NOSIGNAL=0x4000,
    SOL_SOCKET=1, SO_REUSEADDR=2, SO_TYPE=3, SO_ERROR=4, SO_BROADCAST=6, SO_SNDBUF=7, SO_RCVBUF=8, SO_KEEPALIVE=9,
    SO_LINGER=13, SO_REUSEPORT=15, SO_RCVLOWAT=18, SO_SNDLOWAT=19, SO_RCVTIMEO=20, SO_SNDTIMEO=21, SO_ACCEPTCONN=30,
    SO_PROTOCOL=38, SO_DOMAIN=39, IPV6_V6ONLY=26,
    EAI_BADFLAGS=-1, EAI_NONAME=-2, EAI_AGAIN=-3, EAI_FAIL=-4, EAI_NODATA=-5, EAI_FAMILY=-6, EAI_SOCKTYPE=-7,
    EAI_SERVICE=-8, EAI_MEMORY=-10, EAI_SYSTEM=-11, EAI_OVERFLOW=-12,
    AI_PASSIVE=1, AI_CANONNAME=2, AI_NUMERICHOST=4, AI_V4MAPPED=8, AI_ALL=0x10, AI_ADDRCONFIG=0x20, AI_NUMERICSERV=0x400,
    NI_NUMERICHOST=1, NI_NUMERICSERV=2, NI_NOFQDN=4, NI_NAMEREQD=8, NI_DGRAM=16,
)

# The number of the family in the interpreter's own functions, which were compiled without IPv6.
_COMPILED_INET = 1

_SERVICES = {"ftp": 21, "ssh": 22, "telnet": 23, "smtp": 25, "domain": 53, "http": 80, "pop3": 110, "imap": 143, "https": 443}

NO_RESOLVER = (
    "in this sandbox programs cannot resolve names of other hosts: the host does so when it sends an HTTP request "
    "(urllib.request, requests, httpx, curl)"
)

gaierror = OSError
_compiled_pton = _compiled_ntop = None


def install(module):
    """Replaces the numbers of `_socket`, and its functions that use them."""
    global gaierror, _compiled_pton, _compiled_ntop
    gaierror = module.gaierror
    _compiled_pton, _compiled_ntop = module.inet_pton, module.inet_ntop
    for name in list(vars(module)):
        if name.startswith(("AI_", "EAI_", "NI_", "SO_", "MSG_", "SOCK_")):
            delattr(module, name)
    vars(module).update(CONSTANTS)
    for function in inet_pton, inet_ntop, getaddrinfo, gethostbyname, gethostbyname_ex, gethostbyaddr, getnameinfo:
        setattr(module, function.__name__, function)
    module.getservbyname, module.getservbyport = getservbyname, getservbyport


def inet_pton(family, text, /):
    """Converts an IP address of a family from text to packed bytes."""
    if family == AF_INET:
        return _compiled_pton(_COMPILED_INET, text)
    if family != AF_INET6:
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    import ipaddress

    try:
        return ipaddress.IPv6Address(text).packed
    except ipaddress.AddressValueError:
        raise OSError("illegal IP address string passed to inet_pton") from None


def inet_ntop(family, packed, /):
    """Converts an IP address of a family from packed bytes to text."""
    if family == AF_INET:
        return _compiled_ntop(_COMPILED_INET, packed)
    if family != AF_INET6:
        raise ValueError(f"unknown address family {family}")
    if len(packed) != 16:
        raise ValueError("invalid length of packed IP address string")
    import ipaddress

    return str(ipaddress.IPv6Address(bytes(packed)))


ntop = inet_ntop


def host_name(host):
    host = host.decode("ascii") if isinstance(host, (bytes, bytearray)) else host
    if not isinstance(host, str):
        raise TypeError(f"str, bytes or bytearray expected, not {type(host).__name__}")
    return host


def port_number(port):
    if isinstance(port, (str, bytes)):
        name = os.fsdecode(port)
        port = int(name) if name.isdecimal() else _SERVICES.get(name)
        if port is None:
            raise gaierror(CONSTANTS["EAI_SERVICE"], "Servname not supported for ai_socktype")
    if not isinstance(port, int):
        raise TypeError(f"'{type(port).__name__}' object cannot be interpreted as an integer")
    if not 0 <= port <= 65535:
        raise OverflowError("port must be 0-65535.")
    return port


def _is_own(host):
    """Returns whether a name is one of this sandbox."""
    host = host.lower().removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    import socket

    return host == socket.gethostname().lower()


def packed_address(host):
    """Returns the family and the bytes of an IP address, or None."""
    host = host.strip("[]").partition("%")[0]
    family = AF_INET6 if ":" in host else AF_INET
    try:
        return family, inet_pton(family, host)
    except (OSError, ValueError):
        return None


def resolve(host, family):
    """Returns the address of a name of this sandbox, or of an IP address, in a family. None for other names."""
    if host in ("", "<any>"):
        return bytes(4 if family == AF_INET else 16)
    if _is_own(host):
        return b"\x7f\0\0\1" if family == AF_INET else bytes(15) + b"\1"
    found = packed_address(host)
    if found is None:
        return None
    kind, packed = found
    if kind == family:
        return packed
    # IPv6 sockets take IPv4 addresses, mapped.
    return bytes(10) + b"\xff\xff" + packed if family == AF_INET6 else None


def is_local(packed, family):
    if family == AF_INET6 and packed.startswith(bytes(10) + b"\xff\xff"):
        packed = packed[12:]
    if len(packed) == 4:
        return packed[0] == 127 or packed == bytes(4)
    return packed in (bytes(16), bytes(15) + b"\1")


def unknown(host):
    return gaierror(CONSTANTS["EAI_NONAME"], NO_RESOLVER if host else "Name or service not known")


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    """Resolves names of this sandbox. Returns another name itself as the address: the host resolves it when it sends a request."""
    if type not in (0, SOCK_STREAM) or proto not in (0, IPPROTO_TCP):
        raise gaierror(CONSTANTS["EAI_SOCKTYPE"], "in this sandbox only stream sockets exist")
    if family not in (AF_UNSPEC, AF_INET, AF_INET6):
        raise gaierror(CONSTANTS["EAI_FAMILY"], "ai_family not supported")
    port = 0 if port is None else port_number(port)
    if host is None:
        passive = flags & CONSTANTS["AI_PASSIVE"]
        host = ("::" if passive else "::1") if family == AF_INET6 else ("0.0.0.0" if passive else "127.0.0.1")
    host = host_name(host)
    found = packed_address(host)
    if found is None and _is_own(host):
        kind = AF_INET6 if family == AF_INET6 else AF_INET
        found = kind, resolve(host, kind)
    if found is None or not is_local(found[1], found[0]):
        if flags & CONSTANTS["AI_NUMERICHOST"] and found is None:
            raise gaierror(CONSTANTS["EAI_NONAME"], "Name or service not known")
        if not http_exchange.is_enabled():
            raise gaierror(CONSTANTS["EAI_NONAME"], http_exchange.NO_NETWORK)
        kind, address = (AF_INET6 if ":" in host else AF_INET), host.strip("[]")
    else:
        kind, address = found[0], inet_ntop(*found)
    if family not in (AF_UNSPEC, kind):
        raise gaierror(CONSTANTS["EAI_NONAME"], "Address family for hostname not supported")
    name = host if flags & CONSTANTS["AI_CANONNAME"] else ""
    return [(kind, SOCK_STREAM, IPPROTO_TCP, name, (address, port) if kind == AF_INET else (address, port, 0, 0))]


def gethostbyname(name, /):
    """Returns the IPv4 address of a name of this sandbox."""
    packed = resolve(host_name(name), AF_INET)
    if packed is None:
        raise unknown(name)
    return inet_ntop(AF_INET, packed)


def gethostbyname_ex(name, /):
    return name, [], [gethostbyname(name)]


def gethostbyaddr(name, /):
    """Returns the names and the addresses of this sandbox."""
    address = gethostbyname(name)
    if not is_local(inet_pton(AF_INET, address), AF_INET) or address == "0.0.0.0":
        import socket

        raise socket.herror(1, "Unknown host")
    return "localhost", [], [address]


def getnameinfo(address, flags, /):
    """Returns the host and the port of an address, as text."""
    host, port = host_name(address[0]), port_number(address[1])
    found = packed_address(host)
    if found is None and not _is_own(host):
        raise unknown(host)
    if not flags & CONSTANTS["NI_NUMERICHOST"] and (found is None or is_local(found[1], found[0])):
        host = "localhost"
    service = next((name for name, known in _SERVICES.items() if known == port), str(port))
    return host, str(port) if flags & CONSTANTS["NI_NUMERICSERV"] else service


def getservbyname(name, protocol="tcp", /):
    if name not in _SERVICES:
        raise OSError("service/proto not found")
    return _SERVICES[name]


def getservbyport(port, protocol="tcp", /):
    for name, known in _SERVICES.items():
        if known == port:
            return name
    raise OSError("port/proto not found")
