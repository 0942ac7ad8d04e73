//! The table of options.

use tidebox_gnu::options::Syntax;

const USAGE: &str = "\
Usage: tar [OPTION...] [FILE]...
This tar saves many files together into a single archive, and can restore
individual files from the archive.

Examples:
  tar -cf archive.tar foo bar  # Create archive.tar from files foo and bar.
  tar -tvf archive.tar         # List all files in archive.tar verbosely.
  tar -xf archive.tar          # Extract all files from archive.tar.

 Main operation mode:
";

const VERSION: &str = "tar (GNU tar) 1.34\nThis is the tar of Tidebox, which does what GNU tar does.\n";

/// Exit code of an invalid option.
const INVALID_OPTION: i32 = 64;

pub(super) const LINE: Syntax<'_, Flag> =
    Syntax { version: VERSION, usage_exit_code: INVALID_OPTION, ..Syntax::new("tar", USAGE, 29) };

tidebox_gnu::options! {
    /// Options of `tar`.
    pub(super) enum Flag {
        Create = "-c, --create", "create a new archive";
        Delete = "--delete", "delete from the archive";
        Compare = "-d, --diff, --compare", "find differences between archive and file system";
        Append = "-r, --append", "append files to the end of an archive";
        List = "-t, --list", "list the contents of an archive";
        TestLabel = "--test-label", "print the label, or compare it with the operand";
        Update = "-u, --update", "only append files newer than copy in archive";
        Extract = "-x, --extract, --get", "extract files from an archive\n\n Archive and compression:";
        File = "-f, --file=ARCHIVE", "use the file ARCHIVE; - is standard input or output";
        AutoCompress = "-a, --auto-compress", "use the archive's suffix to select the compressor";
        NoAutoCompress = "--no-auto-compress", "";
        Gzip = "-z, --gzip | --gunzip, --ungzip", "compress with gzip";
        Bzip2 = "-j, --bzip2", "compress with bzip2";
        Xz = "-J, --xz", "compress with xz";
        Zstd = "--zstd", "compress with zstd";
        Lzma = "--lzma", "compress with lzma";
        Program = "-I, --use-compress-program=PROG", "compress with PROG, which must accept -d";
        Format = "-H, --format=FORMAT", "gnu, pax (posix) or ustar";
        Posix = "--posix", "same as --format=pax";
        PaxOption = "--pax-option=LIST", "delete=PATTERN and exthdr.name=NAME";
        Label = "-V, --label=TEXT", "create an archive with a label, or require it";
        BlockingFactor = "-b, --blocking-factor=N", "records of N blocks of 512 bytes";
        RecordSize = "--record-size=N", "records of N bytes";
        IgnoreZeros = "-i, --ignore-zeros", "ignore zeroed blocks in the archive\n\n Selection of files:";
        Directory = "-C, --directory=DIR", "change to directory DIR";
        FilesFrom = "-T, --files-from=FILE", "get names from FILE";
        Null = "--null", "names of -T end with NUL";
        NoNull = "--no-null", "";
        AddFile = "--add-file=FILE", "add FILE, even if its name starts with a dash";
        ExcludeFrom = "-X, --exclude-from=FILE", "exclude patterns listed in FILE";
        Exclude = "--exclude=PATTERN", "exclude files";
        ExcludeVcs = "--exclude-vcs", "exclude files of version control";
        ExcludeBackups = "--exclude-backups", "exclude backup and lock files";
        Wildcards = "--wildcards", "names are patterns";
        NoWildcards = "--no-wildcards", "names and patterns are literal";
        Anchored = "--anchored", "patterns match from the start of a name";
        NoAnchored = "--no-anchored", "patterns also match after a slash";
        IgnoreCase = "--ignore-case", "ignore case";
        NoIgnoreCase = "--no-ignore-case", "";
        WildcardsMatchSlash = "--wildcards-match-slash", "";
        NoWildcardsMatchSlash = "--no-wildcards-match-slash", "wildcards do not match a slash";
        Recursion = "--recursion", "";
        NoRecursion = "--no-recursion", "do not descend into directories";
        OneFileSystem = "--one-file-system", "stay on one file system";
        Newer = "-N, --newer=DATE | --after-date=DATE", "only files newer than DATE, or than a file";
        NewerMtime = "--newer-mtime=DATE", "same, but ignore status changes";
        Dereference = "-h, --dereference", "follow symbolic links";
        HardDereference = "--hard-dereference", "add the files that hard links refer to";
        RemoveFiles = "--remove-files", "remove files after adding them";
        IgnoreFailedRead = "--ignore-failed-read",
            "do not fail because of unreadable files\n\n Names and attributes:";
        AbsoluteNames = "-P, --absolute-names", "don't strip leading '/'s from file names";
        StripComponents = "--strip-components=N", "strip N leading components when extracting";
        Transform = "--transform=EXPRESSION, --xform=EXPRESSION", "change names with a sed expression";
        OneTopLevel = "--one-top-level[=DIR]", "extract into a directory";
        Owner = "--owner=NAME", "NAME, NAME:ID or ID as owner of added files";
        Group = "--group=NAME", "the same for the group";
        Mode = "--mode=CHANGES", "mode of added files";
        Mtime = "--mtime=DATE", "time of added files";
        ClampMtime = "--clamp-mtime", "only replace times later than --mtime";
        Sort = "--sort=ORDER", "none, name or inode";
        NumericOwner = "--numeric-owner", "numbers instead of names of owners";
        SamePermissions = "-p, --preserve-permissions, --same-permissions", "extract modes exactly";
        NoSamePermissions = "--no-same-permissions", "apply the umask to modes";
        Touch = "-m, --touch", "don't extract modification times\n\n Existing files:";
        KeepOldFiles = "-k, --keep-old-files", "treat existing files as errors";
        SkipOldFiles = "--skip-old-files", "skip existing files";
        KeepNewerFiles = "--keep-newer-files", "keep existing files that are newer";
        Overwrite = "--overwrite", "write into existing files";
        UnlinkFirst = "-U, --unlink-first", "remove each file before extracting over it";
        KeepDirectorySymlink = "--keep-directory-symlink", "keep links to directories";
        NoOverwriteDir = "--no-overwrite-dir", "keep attributes of existing directories\n\n Output:";
        Verbose = "-v, --verbose", "list files; twice: with attributes";
        ToStdout = "-O, --to-stdout", "extract files to standard output";
        ToCommand = "--to-command=COMMAND", "pipe extracted files to a command";
        IgnoreCommandError = "--ignore-command-error", "ignore exit codes of commands";
        NoIgnoreCommandError = "--no-ignore-command-error", "";
        Totals = "--totals[=SIGNAL]", "print total bytes at the end";
        FullTime = "--full-time", "print times to their full resolution";
        Utc = "--utc", "";
        ShowTransformed = "--show-transformed-names, --show-stored-names", "show names after transformation";
        Warning = "--warning=KEYWORD", "none disables warnings";
        Help = "-?, --help", "print this help";
        Usage = "--usage", "print the synopsis";
        Version = "--version", "print the version";
        OldArchive = "-o", "";
        NoEffect = "-B, -n, -S, -s, --read-full-records, --seek, --no-seek, --sparse, --preserve-order, --same-order, \
            --check-device, --no-check-device, --overwrite-dir, --delay-directory-restore, \
            --no-delay-directory-restore, --no-acls, --no-selinux, --no-xattrs, --force-local, --verbatim-files-from, --no-verbatim-files-from, \
            --no-unquote, --same-owner, --no-same-owner", "";
        NoEffectWithValue = "--hole-detection=HOW", "";
        NoEffectWithChoice = "--atime-preserve[=HOW]", "";
        Concatenate = "-A, --catenate, --concatenate", "", unsupported "--concatenate is not supported";
        Tags = "--exclude-caches, --exclude-caches-under, --exclude-caches-all, --exclude-tag=FILE, \
            --exclude-tag-under=FILE, --exclude-tag-all=FILE", "", unsupported "use --exclude instead";
        Compressors = "-Z, --compress, --uncompress, --lzip, --lzop", "",
            unsupported "only gzip, bzip2, xz, lzma and zstd are supported";
        QuotingStyle = "--quoting-style=STYLE", "", unsupported "--quoting-style is not supported";
        Incremental = "-G, --incremental", "", unsupported "incremental archives are not supported";
        ListedIncremental = "-g, --listed-incremental=FILE | --level=N", "",
            unsupported "incremental archives are not supported";
        MultiVolume = "-M, --multi-volume", "", unsupported "archives of several volumes are not supported";
        Volumes = "-L, --tape-length=N | -F, --info-script=COMMAND, --new-volume-script=COMMAND, --volno-file=FILE", "",
            unsupported "archives of several volumes are not supported";
        Remote = "--rmt-command=COMMAND, --rsh-command=COMMAND", "", unsupported "remote archives are not supported";
        Attributes = "--acls, --selinux, --xattrs", "", unsupported "extended attributes are not supported";
        Checkpoint = "--checkpoint[=N], --checkpoint-action=ACTION", "", unsupported "checkpoints are not supported";
        ExcludeVcsIgnores = "--exclude-vcs-ignores", "",
            unsupported "--exclude-vcs-ignores is not supported; use --exclude-from";
        Interactive = "-w, --interactive, --confirmation", "", unsupported "confirmations are not supported";
        Verify = "-W, --verify", "", unsupported "--verify is not supported; run tar -d afterwards";
        StartingFile = "-K, --starting-file=NAME", "", unsupported "--starting-file is not supported";
        Unsupported = "-R, --block-number, -l, --check-links, --old-archive, --portability, --recursive-unlink, \
            --show-defaults, --show-omitted-dirs, --show-snapshot-field-ranges", "",
            unsupported "this option is not supported: see `tar --help' for those that are";
        UnsupportedValue = "--exclude-ignore=FILE, --exclude-ignore-recursive=FILE, --group-map=FILE, \
            --owner-map=FILE, --index-file=FILE, --no-quote-chars=TEXT, --quote-chars=TEXT, --sparse-version=N, \
            --suffix=TEXT", "", unsupported "this option is not supported: see `tar --help' for those that are";
        Occurrence = "--occurrence[=N]", "", unsupported "--occurrence is not supported";
        Backup = "--backup[=CONTROL]", "", unsupported "--backup is not supported: see --keep-old-files";
    }
}
