//! The error numbers of WASI preview1, which the kernel uses itself.

use core::fmt;

macro_rules! errnos {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        /// Error number of a failed call: the 77 values of `errno` in the witx of `wasi_snapshot_preview1`, with its names and
        /// numbers. `Display` prints the text of `strerror` on Linux.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Errno {
            $(#[doc = concat!($text, ".")] $name = $number,)*
        }

        impl Errno {
            /// Every value, in numerical order.
            pub const ALL: [Self; 77] = [$(Self::$name),*];

            /// Returns the POSIX text, as `strerror` on Linux.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

errnos! {
    Success = 0, "No error";
    TooBig = 1, "Argument list too long";
    Acces = 2, "Permission denied";
    Addrinuse = 3, "Address already in use";
    Addrnotavail = 4, "Cannot assign requested address";
    Afnosupport = 5, "Address family not supported by protocol";
    Again = 6, "Resource temporarily unavailable";
    Already = 7, "Operation already in progress";
    Badf = 8, "Bad file descriptor";
    Badmsg = 9, "Bad message";
    Busy = 10, "Device or resource busy";
    Canceled = 11, "Operation canceled";
    Child = 12, "No child processes";
    Connaborted = 13, "Software caused connection abort";
    Connrefused = 14, "Connection refused";
    Connreset = 15, "Connection reset by peer";
    Deadlk = 16, "Resource deadlock avoided";
    Destaddrreq = 17, "Destination address required";
    Dom = 18, "Numerical argument out of domain";
    Dquot = 19, "Disk quota exceeded";
    Exist = 20, "File exists";
    Fault = 21, "Bad address";
    Fbig = 22, "File too large";
    Hostunreach = 23, "No route to host";
    Idrm = 24, "Identifier removed";
    Ilseq = 25, "Invalid or incomplete multibyte or wide character";
    Inprogress = 26, "Operation now in progress";
    Intr = 27, "Interrupted system call";
    Inval = 28, "Invalid argument";
    Io = 29, "Input/output error";
    Isconn = 30, "Transport endpoint is already connected";
    Isdir = 31, "Is a directory";
    Loop = 32, "Too many levels of symbolic links";
    Mfile = 33, "Too many open files";
    Mlink = 34, "Too many links";
    Msgsize = 35, "Message too long";
    Multihop = 36, "Multihop attempted";
    Nametoolong = 37, "File name too long";
    Netdown = 38, "Network is down";
    Netreset = 39, "Network dropped connection on reset";
    Netunreach = 40, "Network is unreachable";
    Nfile = 41, "Too many open files in system";
    Nobufs = 42, "No buffer space available";
    Nodev = 43, "No such device";
    Noent = 44, "No such file or directory";
    Noexec = 45, "Exec format error";
    Nolck = 46, "No locks available";
    Nolink = 47, "Link has been severed";
    Nomem = 48, "Cannot allocate memory";
    Nomsg = 49, "No message of desired type";
    Noprotoopt = 50, "Protocol not available";
    Nospc = 51, "No space left on device";
    Nosys = 52, "Function not implemented";
    Notconn = 53, "Transport endpoint is not connected";
    Notdir = 54, "Not a directory";
    Notempty = 55, "Directory not empty";
    Notrecoverable = 56, "State not recoverable";
    Notsock = 57, "Socket operation on non-socket";
    Notsup = 58, "Operation not supported";
    Notty = 59, "Inappropriate ioctl for device";
    Nxio = 60, "No such device or address";
    Overflow = 61, "Value too large for defined data type";
    Ownerdead = 62, "Owner died";
    Perm = 63, "Operation not permitted";
    Pipe = 64, "Broken pipe";
    Proto = 65, "Protocol error";
    Protonosupport = 66, "Protocol not supported";
    Prototype = 67, "Protocol wrong type for socket";
    Range = 68, "Numerical result out of range";
    Rofs = 69, "Read-only file system";
    Spipe = 70, "Illegal seek";
    Srch = 71, "No such process";
    Stale = 72, "Stale file handle";
    Timedout = 73, "Connection timed out";
    Txtbsy = 74, "Text file busy";
    Xdev = 75, "Invalid cross-device link";
    Notcapable = 76, "Capabilities insufficient";
}

impl Errno {
    /// Returns the number that the guest sees.
    #[must_use]
    pub const fn raw(self) -> u16 {
        self as u16
    }

    /// Returns the value of a number, or `None` if preview1 does not define it.
    #[must_use]
    pub fn from_raw(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn every_number_maps_back_to_its_value() {
        for (number, errno) in Errno::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(errno.raw()), number);
            assert_eq!(Errno::from_raw(errno.raw()), Some(errno));
        }
        assert_eq!(Errno::from_raw(77), None);
    }

    #[test]
    fn numbers_are_those_of_the_witx() {
        let witx = [(Errno::Acces, 2), (Errno::Noent, 44), (Errno::Notdir, 54), (Errno::Nospc, 51)];
        for (errno, number) in witx.into_iter().chain([(Errno::Pipe, 64), (Errno::Notcapable, 76)]) {
            assert_eq!(errno.raw(), number, "{errno:?}");
        }
    }

    #[test]
    fn display_is_the_text_of_posix() {
        assert_eq!(Errno::Noent.to_string(), "No such file or directory");
        assert_eq!(Errno::TooBig.to_string(), "Argument list too long");
    }
}
