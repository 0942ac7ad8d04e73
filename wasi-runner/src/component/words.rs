//! The words of `wasi:filesystem` and what they are to the kernel. WASI 0.2 and 0.3 have the same, as types of their own.

/// Defines them for one of the two: where its types are, how it tells a time in nanoseconds, how it is told one, and what
/// it calls an operation that would have to wait.
macro_rules! file_words {
    (types: $($types:ident)::+, time: $time:path, nanoseconds: $nanoseconds:path, again: $again:expr) => {
        use std::hash::{DefaultHasher, Hash, Hasher};

        use tidebox_kernel::{Description, Errno, FileType, Mode, Opening, Stamp};
        use $($types)::+::{
            DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags,
            PathFlags,
        };

        /// `fdflags` of preview1 that ask for writes to be finished before they return.
        const DSYNC: u16 = 2;
        const RSYNC: u16 = 8;
        const SYNC: u16 = 16;

        /// The `error-code`. What it has no word for is the nearest that a program may act on.
        pub(super) fn code(errno: Errno) -> ErrorCode {
            match errno {
                Errno::Acces => ErrorCode::Access,
                Errno::Again => $again,
                Errno::Already => ErrorCode::Already,
                Errno::Badf => ErrorCode::BadDescriptor,
                Errno::Busy => ErrorCode::Busy,
                Errno::Deadlk => ErrorCode::Deadlock,
                Errno::Dquot => ErrorCode::Quota,
                Errno::Exist => ErrorCode::Exist,
                Errno::Fbig => ErrorCode::FileTooLarge,
                Errno::Ilseq => ErrorCode::IllegalByteSequence,
                Errno::Inprogress => ErrorCode::InProgress,
                Errno::Intr => ErrorCode::Interrupted,
                Errno::Inval | Errno::TooBig | Errno::Fault | Errno::Range | Errno::Dom => ErrorCode::Invalid,
                Errno::Isdir => ErrorCode::IsDirectory,
                Errno::Loop => ErrorCode::Loop,
                Errno::Mlink => ErrorCode::TooManyLinks,
                Errno::Msgsize => ErrorCode::MessageSize,
                Errno::Nametoolong => ErrorCode::NameTooLong,
                Errno::Nodev => ErrorCode::NoDevice,
                Errno::Noent => ErrorCode::NoEntry,
                Errno::Nolck => ErrorCode::NoLock,
                Errno::Nomem | Errno::Mfile | Errno::Nfile | Errno::Nobufs => ErrorCode::InsufficientMemory,
                Errno::Nospc => ErrorCode::InsufficientSpace,
                Errno::Notdir => ErrorCode::NotDirectory,
                Errno::Notempty => ErrorCode::NotEmpty,
                Errno::Notrecoverable => ErrorCode::NotRecoverable,
                Errno::Notsup | Errno::Nosys => ErrorCode::Unsupported,
                Errno::Notty => ErrorCode::NoTty,
                Errno::Nxio => ErrorCode::NoSuchDevice,
                Errno::Overflow => ErrorCode::Overflow,
                Errno::Perm | Errno::Notcapable => ErrorCode::NotPermitted,
                Errno::Pipe => ErrorCode::Pipe,
                Errno::Rofs => ErrorCode::ReadOnly,
                Errno::Spipe => ErrorCode::InvalidSeek,
                Errno::Txtbsy => ErrorCode::TextFileBusy,
                Errno::Xdev => ErrorCode::CrossDevice,
                _ => ErrorCode::Io,
            }
        }

        pub(super) fn follow(flags: PathFlags) -> bool {
            flags.contains(PathFlags::SYMLINK_FOLLOW)
        }

        pub(super) fn stamp(time: NewTimestamp) -> Stamp {
            match time {
                NewTimestamp::NoChange => Stamp::Keep,
                NewTimestamp::Now => Stamp::Now,
                NewTimestamp::Timestamp(time) => Stamp::At($nanoseconds(time)),
            }
        }

        pub(super) fn kind(filetype: FileType) -> DescriptorType {
            match filetype {
                FileType::Pipe => DescriptorType::Fifo,
                FileType::Character => DescriptorType::CharacterDevice,
                FileType::Directory => DescriptorType::Directory,
                FileType::Regular => DescriptorType::RegularFile,
                FileType::Symlink => DescriptorType::SymbolicLink,
            }
        }

        pub(super) fn stat(found: &Description) -> DescriptorStat {
            DescriptorStat {
                type_: kind(found.filetype),
                link_count: found.nlink,
                size: found.size,
                data_access_timestamp: Some($time(found.atime)),
                data_modification_timestamp: Some($time(found.mtime)),
                status_change_timestamp: Some($time(found.ctime)),
            }
        }

        /// Names the file, whatever is written to it: C libraries make an inode number of it.
        pub(super) fn identity(found: &Description) -> MetadataHashValue {
            let mut hasher = DefaultHasher::new();
            (found.dev, found.ino).hash(&mut hasher);
            let lower = hasher.finish();
            lower.hash(&mut hasher);
            MetadataHashValue { lower, upper: hasher.finish() }
        }

        pub(super) fn flags(mode: Mode, filetype: FileType) -> DescriptorFlags {
            let mut flags = DescriptorFlags::empty();
            for (set, flag) in [
                (mode.read, DescriptorFlags::READ),
                (mode.write, DescriptorFlags::WRITE),
                (mode.flags & SYNC != 0, DescriptorFlags::FILE_INTEGRITY_SYNC),
                (mode.flags & DSYNC != 0, DescriptorFlags::DATA_INTEGRITY_SYNC),
                (mode.flags & RSYNC != 0, DescriptorFlags::REQUESTED_WRITE_SYNC),
                (filetype == FileType::Directory, DescriptorFlags::MUTATE_DIRECTORY),
            ] {
                if set {
                    flags |= flag;
                }
            }
            flags
        }

        pub(super) fn opening(path: PathFlags, open: OpenFlags, how: DescriptorFlags) -> Opening {
            let read = how.contains(DescriptorFlags::READ);
            let mut flags = 0;
            for (flag, bit) in [
                (DescriptorFlags::FILE_INTEGRITY_SYNC, SYNC),
                (DescriptorFlags::DATA_INTEGRITY_SYNC, DSYNC),
                (DescriptorFlags::REQUESTED_WRITE_SYNC, RSYNC),
            ] {
                if how.contains(flag) {
                    flags |= bit;
                }
            }
            Opening {
                create: open.contains(OpenFlags::CREATE),
                directory: open.contains(OpenFlags::DIRECTORY),
                exclusive: open.contains(OpenFlags::EXCLUSIVE),
                truncate: open.contains(OpenFlags::TRUNCATE),
                read,
                list: read,
                write: how.contains(DescriptorFlags::WRITE),
                follow: follow(path),
                flags,
            }
        }
    };
}
pub(super) use file_words;
