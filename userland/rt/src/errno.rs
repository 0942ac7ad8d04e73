//! Error numbers of preview1.

use core::fmt;

/// A preview1 error number. `Display` is the text that a Unix program prints.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub u16);

macro_rules! errnos {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Errno {
            $(#[doc = $text] pub const $name: Self = Self($number);)*

            /// The POSIX text of the error.
            pub fn text(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "Unknown error",
                }
            }

            /// The name of the error without its leading `E`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($number => stringify!($name),)*
                    _ => "UNKNOWN",
                }
            }
        }
    };
}

errnos! {
    SUCCESS = 0, "Success";
    TOOBIG = 1, "Argument list too long";
    ACCES = 2, "Permission denied";
    ADDRINUSE = 3, "Address already in use";
    ADDRNOTAVAIL = 4, "Cannot assign requested address";
    AFNOSUPPORT = 5, "Address family not supported by protocol";
    AGAIN = 6, "Resource temporarily unavailable";
    ALREADY = 7, "Operation already in progress";
    BADF = 8, "Bad file descriptor";
    BADMSG = 9, "Bad message";
    BUSY = 10, "Device or resource busy";
    CANCELED = 11, "Operation canceled";
    CHILD = 12, "No child processes";
    CONNABORTED = 13, "Software caused connection abort";
    CONNREFUSED = 14, "Connection refused";
    CONNRESET = 15, "Connection reset by peer";
    DEADLK = 16, "Resource deadlock avoided";
    DESTADDRREQ = 17, "Destination address required";
    DOM = 18, "Numerical argument out of domain";
    DQUOT = 19, "Disk quota exceeded";
    EXIST = 20, "File exists";
    FAULT = 21, "Bad address";
    FBIG = 22, "File too large";
    HOSTUNREACH = 23, "No route to host";
    IDRM = 24, "Identifier removed";
    ILSEQ = 25, "Invalid or incomplete multibyte or wide character";
    INPROGRESS = 26, "Operation now in progress";
    INTR = 27, "Interrupted system call";
    INVAL = 28, "Invalid argument";
    IO = 29, "Input/output error";
    ISCONN = 30, "Transport endpoint is already connected";
    ISDIR = 31, "Is a directory";
    LOOP = 32, "Too many levels of symbolic links";
    MFILE = 33, "Too many open files";
    MLINK = 34, "Too many links";
    MSGSIZE = 35, "Message too long";
    MULTIHOP = 36, "Multihop attempted";
    NAMETOOLONG = 37, "File name too long";
    NETDOWN = 38, "Network is down";
    NETRESET = 39, "Network dropped connection on reset";
    NETUNREACH = 40, "Network is unreachable";
    NFILE = 41, "Too many open files in system";
    NOBUFS = 42, "No buffer space available";
    NODEV = 43, "No such device";
    NOENT = 44, "No such file or directory";
    NOEXEC = 45, "Exec format error";
    NOLCK = 46, "No locks available";
    NOLINK = 47, "Link has been severed";
    NOMEM = 48, "Cannot allocate memory";
    NOMSG = 49, "No message of desired type";
    NOPROTOOPT = 50, "Protocol not available";
    NOSPC = 51, "No space left on device";
    NOSYS = 52, "Function not implemented";
    NOTCONN = 53, "Transport endpoint is not connected";
    NOTDIR = 54, "Not a directory";
    NOTEMPTY = 55, "Directory not empty";
    NOTRECOVERABLE = 56, "State not recoverable";
    NOTSOCK = 57, "Socket operation on non-socket";
    NOTSUP = 58, "Operation not supported";
    NOTTY = 59, "Inappropriate ioctl for device";
    NXIO = 60, "No such device or address";
    OVERFLOW = 61, "Value too large for defined data type";
    OWNERDEAD = 62, "Owner died";
    PERM = 63, "Operation not permitted";
    PIPE = 64, "Broken pipe";
    PROTO = 65, "Protocol error";
    PROTONOSUPPORT = 66, "Protocol not supported";
    PROTOTYPE = 67, "Protocol wrong type for socket";
    RANGE = 68, "Numerical result out of range";
    ROFS = 69, "Read-only file system";
    SPIPE = 70, "Illegal seek";
    SRCH = 71, "No such process";
    STALE = 72, "Stale file handle";
    TIMEDOUT = 73, "Connection timed out";
    TXTBSY = 74, "Text file busy";
    XDEV = 75, "Invalid cross-device link";
    NOTCAPABLE = 76, "Capabilities insufficient";
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({} {})", self.0, self.name())
    }
}

impl std::error::Error for Errno {}

impl From<Errno> for std::io::Error {
    /// Keeps the text; std maps numbers to its own kinds only on wasm.
    fn from(errno: Errno) -> Self {
        #[cfg(target_family = "wasm")]
        return Self::from_raw_os_error(i32::from(errno.0));
        #[cfg(not(target_family = "wasm"))]
        return Self::other(errno);
    }
}

#[cfg(target_family = "wasm")]
/// Converts the return value of an ABI call into a result.
pub(crate) fn check(code: i32) -> crate::Result<()> {
    match u16::try_from(code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Errno(code)),
        Err(_) => Err(Errno::IO),
    }
}
