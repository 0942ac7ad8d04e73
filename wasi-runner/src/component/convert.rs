//! Conversion between the types of `wasi:filesystem` and those of the kernel. WASI 0.2 and 0.3 have separate but equal
//! types.

/// Defines the conversions for one WASI version. Arguments: the module of its types, its conversions to and from
/// nanoseconds, and its error code for an operation that would block.
macro_rules! file_conversions {
    (types: $($types:ident)::+, time: $time:path, nanoseconds: $nanoseconds:path, again: $again:expr) => {
        use std::hash::{DefaultHasher, Hash, Hasher};

        use tidebox_kernel::{FileStat, Errno, FileType, OpenMode, OpenOptions, TimeSpec};
        use $($types)::+::{
            DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags,
            PathFlags,
        };

        /// preview1 `fdflags` that request synchronous writes.
        const DSYNC: u16 = 2;
        const RSYNC: u16 = 8;
        const SYNC: u16 = 16;

        /// Converts to `error-code`. An errno without a counterpart becomes the nearest code that a program can act on.
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

        pub(super) fn follows_links(flags: PathFlags) -> bool {
            flags.contains(PathFlags::SYMLINK_FOLLOW)
        }

        pub(super) fn time_change(time: NewTimestamp) -> TimeSpec {
            match time {
                NewTimestamp::NoChange => TimeSpec::Omit,
                NewTimestamp::Now => TimeSpec::Now,
                NewTimestamp::Timestamp(time) => TimeSpec::At($nanoseconds(time)),
            }
        }

        pub(super) fn kind(filetype: FileType) -> DescriptorType {
            match filetype {
                FileType::Pipe => DescriptorType::Fifo,
                FileType::Character => DescriptorType::CharacterDevice,
                FileType::Directory => DescriptorType::Directory,
                FileType::Regular => DescriptorType::RegularFile,
                FileType::Symlink => DescriptorType::SymbolicLink,
                FileType::Socket => DescriptorType::Socket,
            }
        }

        pub(super) fn stat(found: &FileStat) -> DescriptorStat {
            DescriptorStat {
                type_: kind(found.filetype),
                link_count: found.nlink,
                size: found.size,
                data_access_timestamp: Some($time(found.atime)),
                data_modification_timestamp: Some($time(found.mtime)),
                status_change_timestamp: Some($time(found.ctime)),
            }
        }

        /// Identifies the file independently of its content: C libraries derive an inode number from this.
        pub(super) fn identity(found: &FileStat) -> MetadataHashValue {
            let mut hasher = DefaultHasher::new();
            (found.dev, found.ino).hash(&mut hasher);
            let lower = hasher.finish();
            lower.hash(&mut hasher);
            MetadataHashValue { lower, upper: hasher.finish() }
        }

        pub(super) fn flags(mode: OpenMode, filetype: FileType) -> DescriptorFlags {
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

        pub(super) fn open_options(path: PathFlags, open: OpenFlags, how: DescriptorFlags) -> OpenOptions {
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
            OpenOptions {
                create: open.contains(OpenFlags::CREATE),
                directory: open.contains(OpenFlags::DIRECTORY),
                exclusive: open.contains(OpenFlags::EXCLUSIVE),
                truncate: open.contains(OpenFlags::TRUNCATE),
                read,
                list: read,
                write: how.contains(DescriptorFlags::WRITE),
                follow: follows_links(path),
                flags,
            }
        }
    };
}
pub(super) use file_conversions;
