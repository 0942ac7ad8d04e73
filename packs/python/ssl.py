"""TLS of HTTP requests, which the host of the sandbox encrypts.

The classes have the interface of the `ssl` module, so that HTTP clients work. The host always verifies certificates, with
its own roots, whatever a context says. Certificates, ciphers and keys are not available.
"""

import enum
import errno
import os
import socket as _socket
from collections import namedtuple

from _tidebox.http_exchange import NOT_HTTP, TLS_MARK

_NO_CERTIFICATES = (
    "in this sandbox the host encrypts HTTP requests (urllib.request, requests, httpx, curl); "
    "client certificates, servers and the certificates of servers are not available"
)

_NO_LOCAL_TLS = "in this sandbox TLS to its own servers is not available: use http:// for localhost"

OPENSSL_VERSION = "OpenSSL 3.0.0 (interface only: the host of the sandbox encrypts)"
OPENSSL_VERSION_NUMBER = 0x30000000
OPENSSL_VERSION_INFO = (3, 0, 0, 0, 0)
_OPENSSL_API_VERSION = OPENSSL_VERSION_INFO

HAS_SNI = HAS_ALPN = HAS_ECDH = HAS_TLSv1_2 = HAS_TLSv1_3 = HAS_NEVER_CHECK_COMMON_NAME = True
HAS_NPN = HAS_SSLv2 = HAS_SSLv3 = HAS_TLSv1 = HAS_TLSv1_1 = HAS_PSK = HAS_PHA = HAS_PSK_TLS13 = False
CHANNEL_BINDING_TYPES = []
PEM_HEADER, PEM_FOOTER = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def _export(members):
    globals().update(members.__members__)
    return members


@_export
class _SSLMethod(enum.IntEnum):
    PROTOCOL_TLS = PROTOCOL_SSLv23 = 2
    PROTOCOL_TLSv1 = 3
    PROTOCOL_TLSv1_1 = 4
    PROTOCOL_TLSv1_2 = 5
    PROTOCOL_TLS_CLIENT = 16
    PROTOCOL_TLS_SERVER = 17


@_export
class Options(enum.IntFlag):
    OP_ALL = 0x80000050
    OP_NO_SSLv2 = 0
    OP_NO_SSLv3 = 0x2000000
    OP_NO_TLSv1 = 0x4000000
    OP_NO_TLSv1_1 = 0x10000000
    OP_NO_TLSv1_2 = 0x8000000
    OP_NO_TLSv1_3 = 0x20000000
    OP_CIPHER_SERVER_PREFERENCE = 0x400000
    OP_SINGLE_DH_USE = 0
    OP_SINGLE_ECDH_USE = 0
    OP_NO_TICKET = 0x4000
    OP_NO_COMPRESSION = 0x20000
    OP_NO_RENEGOTIATION = 0x40000000
    OP_ENABLE_MIDDLEBOX_COMPAT = 0x100000
    OP_IGNORE_UNEXPECTED_EOF = 0x80
    OP_ENABLE_KTLS = 8
    OP_LEGACY_SERVER_CONNECT = 4


@_export
class VerifyMode(enum.IntEnum):
    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


@_export
class VerifyFlags(enum.IntFlag):
    VERIFY_DEFAULT = 0
    VERIFY_CRL_CHECK_LEAF = 4
    VERIFY_CRL_CHECK_CHAIN = 12
    VERIFY_X509_STRICT = 32
    VERIFY_ALLOW_PROXY_CERTS = 64
    VERIFY_X509_TRUSTED_FIRST = 32768
    VERIFY_X509_PARTIAL_CHAIN = 0x80000


@_export
class SSLErrorNumber(enum.IntEnum):
    SSL_ERROR_SSL = 1
    SSL_ERROR_WANT_READ = 2
    SSL_ERROR_WANT_WRITE = 3
    SSL_ERROR_WANT_X509_LOOKUP = 4
    SSL_ERROR_SYSCALL = 5
    SSL_ERROR_ZERO_RETURN = 6
    SSL_ERROR_WANT_CONNECT = 7
    SSL_ERROR_EOF = 8
    SSL_ERROR_INVALID_ERROR_CODE = 10


class TLSVersion(enum.IntEnum):
    MINIMUM_SUPPORTED = -2
    SSLv3 = 768
    TLSv1 = 769
    TLSv1_1 = 770
    TLSv1_2 = 771
    TLSv1_3 = 772
    MAXIMUM_SUPPORTED = -1


_ASN1Object = namedtuple("_ASN1Object", "nid shortname longname oid")


class Purpose(_ASN1Object, enum.Enum):
    SERVER_AUTH = 129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"
    CLIENT_AUTH = 130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"


class SSLError(OSError):
    """An error of TLS."""

    reason = library = None

    def __str__(self):
        return str(self.strerror) if self.strerror is not None else OSError.__str__(self)


class SSLZeroReturnError(SSLError): pass
class SSLWantReadError(SSLError): pass
class SSLWantWriteError(SSLError): pass
class SSLSyscallError(SSLError): pass
class SSLEOFError(SSLError): pass


class SSLCertVerificationError(SSLError, ValueError):
    """The certificate of the server is not valid."""

    verify_code = 1

    @property
    def verify_message(self):
        return self.strerror


CertificateError = SSLCertVerificationError
socket_error = OSError
SSLSession = type("SSLSession", (), {})
DefaultVerifyPaths = namedtuple(
    "DefaultVerifyPaths", "cafile capath openssl_cafile_env openssl_cafile openssl_capath_env openssl_capath")


class MemoryBIO:
    """Bytes in memory, between an `SSLObject` and its transport."""

    def __init__(self):
        self._data, self._ended = bytearray(), False

    def read(self, size=-1, /):
        size = len(self._data) if size is None or size < 0 else size
        taken = bytes(self._data[:size])
        del self._data[:size]
        return taken

    def write(self, data, /):
        if self._ended:
            raise SSLError(SSL_ERROR_SSL, "cannot write() after write_eof()")
        with memoryview(data) as view:
            self._data += view.cast("B")
            return view.nbytes

    def write_eof(self):
        self._ended = True

    @property
    def pending(self):
        return len(self._data)

    @property
    def eof(self):
        return self._ended and not self._data


class _Session:
    """The methods that `SSLObject` and `SSLSocket` share: nothing is known about the connection of the host."""

    server_side, session, session_reused = False, None, False

    def getpeercert(self, binary_form=False):
        return None if binary_form else {}

    def _unknown(self, *args, **kwargs):
        return None

    version = cipher = compression = shared_ciphers = selected_alpn_protocol = selected_npn_protocol = _unknown
    get_channel_binding = _unknown

    def get_verified_chain(self):
        return []

    get_unverified_chain = get_verified_chain

    def verify_client_post_handshake(self):
        raise SSLError(SSL_ERROR_SSL, _NO_CERTIFICATES)


class SSLObject(_Session):
    """TLS without a socket. The bytes pass through, after a mark for the socket that they are written to."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} does not have a public constructor. Instances are returned by SSLContext.wrap_bio().")

    @classmethod
    def _create(cls, incoming, outgoing, context, server_hostname):
        self = cls.__new__(cls)
        self._incoming, self._outgoing, self._marked = incoming, outgoing, False
        self.context, self.server_hostname = context, server_hostname
        return self

    def do_handshake(self):
        if not self._marked:
            self._outgoing.write(TLS_MARK)
            self._marked = True

    def read(self, len=1024, buffer=None):
        data = self._incoming.read(len)
        if not data and not self._incoming.eof and len:
            raise SSLWantReadError(SSL_ERROR_WANT_READ, "The operation did not complete (read)")
        if buffer is None:
            return data
        buffer[:data.__len__()] = data
        return data.__len__()

    def write(self, data):
        return self._outgoing.write(data)

    def pending(self):
        return self._incoming.pending

    def unwrap(self):
        return None


class SSLSocket(_Session, _socket.socket):
    """A socket whose request the host encrypts."""

    def __init__(self, *args, **kwargs):
        raise TypeError(f"{type(self).__name__} does not have a public constructor. Instances are returned by SSLContext.wrap_socket().")

    @classmethod
    def _create(cls, sock, context, server_hostname):
        if sock._exchange is None and sock._target is not None:
            raise SSLError(SSL_ERROR_SSL, _NO_LOCAL_TLS)
        self = cls.__new__(cls)
        # The other object is closed, like a detached socket.
        self.__dict__.update(sock.__dict__)
        self._io_refs, self._closed = sock._io_refs, False
        sock._exchange, sock._fd, sock._closed = None, -1, True
        self.context, self.server_hostname = context, server_hostname
        if self._exchange is not None:
            self._exchange.tls = True
        return self

    def connect(self, address, /):
        super().connect(address)
        if self._exchange is None:
            raise SSLError(SSL_ERROR_SSL, _NO_LOCAL_TLS)
        self._exchange.tls = True

    @property
    def _sslobj(self):
        return self

    def do_handshake(self, block=False):
        if self._exchange is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    def read(self, len=1024, buffer=None):
        return self.recv(len) if buffer is None else self.recv_into(buffer, len)

    def write(self, data):
        return self.send(data)

    def pending(self):
        return 0

    def unwrap(self):
        raise OSError(SSL_ERROR_SSL, NOT_HTTP)


class SSLContext:
    """Settings of TLS. They are stored, and only the host's apply."""

    sslsocket_class, sslobject_class = SSLSocket, SSLObject

    def __init__(self, protocol=None, *args, **kwargs):
        self.protocol = _SSLMethod(PROTOCOL_TLS if protocol is None else protocol)
        client = self.protocol == PROTOCOL_TLS_CLIENT
        self._verify_mode, self._check_hostname = CERT_REQUIRED if client else CERT_NONE, client
        self.options = OP_ALL | OP_NO_SSLv3 | OP_NO_COMPRESSION
        self.verify_flags = VERIFY_X509_TRUSTED_FIRST
        self.minimum_version, self.maximum_version = TLSVersion.TLSv1_2, TLSVersion.MAXIMUM_SUPPORTED
        self.post_handshake_auth, self.keylog_filename, self.sni_callback = False, None, None
        self.hostname_checks_common_name, self.num_tickets, self.security_level = True, 2, 2

    @property
    def check_hostname(self):
        return self._check_hostname

    @check_hostname.setter
    def check_hostname(self, value):
        self._check_hostname = bool(value)
        if value and self._verify_mode == CERT_NONE:
            self._verify_mode = CERT_REQUIRED

    @property
    def verify_mode(self):
        return self._verify_mode

    @verify_mode.setter
    def verify_mode(self, value):
        value = VerifyMode(value)
        if value == CERT_NONE and self._check_hostname:
            raise ValueError("Cannot set verify_mode to CERT_NONE when check_hostname is enabled.")
        self._verify_mode = value

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata cannot be all omitted")
        for path in filter(None, (cafile, capath)):
            os.stat(path)

    def _stored(self, *args, **kwargs):
        """Has no effect."""

    load_default_certs = set_default_verify_paths = set_ciphers = set_ciphersuites = set_groups = _stored
    set_alpn_protocols = set_npn_protocols = set_ecdh_curve = load_dh_params = set_servername_callback = _stored
    set_client_sigalgs = set_server_sigalgs = _stored

    def load_cert_chain(self, certfile, keyfile=None, password=None):
        raise SSLError(SSL_ERROR_SSL, _NO_CERTIFICATES)

    set_psk_client_callback = set_psk_server_callback = load_cert_chain

    def get_ciphers(self):
        return []

    get_groups = get_ciphers

    def get_ca_certs(self, binary_form=False):
        return []

    def cert_store_stats(self):
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    def session_stats(self):
        return {}

    def _name(self, server_side, server_hostname):
        if server_side:
            raise SSLError(SSL_ERROR_SSL, _NO_CERTIFICATES)
        if self._check_hostname and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        return server_hostname.decode("ascii") if isinstance(server_hostname, (bytes, bytearray)) else server_hostname

    def wrap_socket(self, sock, server_side=False, do_handshake_on_connect=True, suppress_ragged_eofs=True,
                    server_hostname=None, session=None):
        name = self._name(server_side, server_hostname)
        if not isinstance(sock, _socket.socket) or isinstance(sock, SSLSocket):
            raise NotImplementedError("only stream sockets are supported")
        return self.sslsocket_class._create(sock, self, name)

    def wrap_bio(self, incoming, outgoing, server_side=False, server_hostname=None, session=None):
        return self.sslobject_class._create(incoming, outgoing, self, self._name(server_side, server_hostname))


def create_default_context(purpose=Purpose.SERVER_AUTH, *, cafile=None, capath=None, cadata=None):
    if not isinstance(purpose, _ASN1Object):
        raise TypeError(purpose)
    context = SSLContext(PROTOCOL_TLS_CLIENT if purpose == Purpose.SERVER_AUTH else PROTOCOL_TLS_SERVER)
    context.verify_flags |= VERIFY_X509_PARTIAL_CHAIN | VERIFY_X509_STRICT
    if cafile or capath or cadata:
        context.load_verify_locations(cafile, capath, cadata)
    return context


def _create_unverified_context(protocol=None, *, cert_reqs=CERT_NONE, check_hostname=False, purpose=Purpose.SERVER_AUTH,
                               certfile=None, keyfile=None, cafile=None, capath=None, cadata=None):
    context = SSLContext(PROTOCOL_TLS_CLIENT if protocol is None else protocol)
    context.check_hostname = check_hostname
    context.verify_mode = cert_reqs
    if certfile or keyfile:
        context.load_cert_chain(certfile, keyfile)
    return context


_create_default_https_context = create_default_context
_create_stdlib_context = _create_unverified_context


def get_server_certificate(addr, ssl_version=PROTOCOL_TLS_CLIENT, ca_certs=None, timeout=None):
    raise SSLError(SSL_ERROR_SSL, _NO_CERTIFICATES)


def get_default_verify_paths():
    return DefaultVerifyPaths(None, None, "SSL_CERT_FILE", "", "SSL_CERT_DIR", "")


def get_protocol_name(protocol_code):
    return _SSLMethod(protocol_code).name


def DER_cert_to_PEM_cert(der_cert_bytes):
    import base64
    import textwrap

    text = base64.standard_b64encode(der_cert_bytes).decode("ascii")
    return "\n".join([PEM_HEADER, *textwrap.wrap(text, 64), PEM_FOOTER, ""])


def PEM_cert_to_DER_cert(pem_cert_string):
    import base64

    text = pem_cert_string.strip()
    if not text.startswith(PEM_HEADER) or not text.endswith(PEM_FOOTER):
        raise ValueError(f"Invalid PEM encoding; must start with {PEM_HEADER} and end with {PEM_FOOTER}")
    return base64.decodebytes(text[len(PEM_HEADER):-len(PEM_FOOTER)].encode("ascii"))


def cert_time_to_seconds(cert_time):
    import calendar
    import time

    return calendar.timegm(time.strptime(cert_time, "%b %d %H:%M:%S %Y GMT"))


def RAND_bytes(n, /):
    return os.urandom(n)


def RAND_status():
    return True


def RAND_add(string, entropy, /):
    """Has no effect."""
