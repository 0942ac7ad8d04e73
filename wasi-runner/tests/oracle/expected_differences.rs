//! Expected differences, each with its reason.

use std::collections::HashMap;

use crate::difference::Difference;

pub(crate) fn in_scenarios() -> Vec<Difference> {
    let mut all = paths();
    all.extend(opening());
    all.extend(contents());
    all.extend(descriptors());
    all
}

/// Differences for components in addition to some of [`in_scenarios`].
pub(crate) fn in_components() -> Vec<Difference> {
    vec![
        Difference::new(
            "a directory has flags, as on Linux",
            &[("open_fdflags", "fd_fdstat_get(it)", "badf", "ok dir -")],
        ),
        Difference::new(
            "a link with a trailing slash is followed, as on Linux, and an absolute one leaves every preopened directory",
            &[
                ("odd_stat_nofollow", "path_filestat_get(tree, \"outlink/\")", "ok link*", "perm"),
                ("odd_symlink_target", "path_filestat_get(tree, \"it\" follow)", "noent", "perm"),
            ],
        ),
        Difference::new(
            "a read of zero bytes does not report the end; wasmtime's file streams end on it",
            &[
                ("read_and_seek|read_vectors", "fd_read(*)", "ok 0 \"\"", "ok *"),
                ("read_and_seek", "fd_tell(fd)", "ok 0", "ok *"),
            ],
        ),
        Difference::new(
            "a descriptor that was not opened for a direction is a bad one for it",
            &[
                ("wrong_mode", "fd_write(reader, [\"\"])", "io", "badf"),
                ("wrong_mode", "fd_read(writer, [0])", "ok 0 \"\"", "badf"),
            ],
        ),
    ]
}

fn paths() -> Vec<Difference> {
    vec![
        Difference::new(
            "preview1 has a specific error for a path that leaves its directory; wasmtime returns the error of openat2",
            &[("*", "path_*", "perm", "notcapable")],
        ),
        Difference::new(
            "names are bytes, as on Linux; they take UTF-8 only",
            &[
                ("odd_*", "path_*not utf-8*", "ilseq", "noent|ok*"),
                ("odd_open_create", "fd_close(it)", "badf", "ok"),
                ("odd_*", "tree *not utf-8*", "nothing", "*"),
                ("odd_rename_dir_to", "tree *dir*", "*", "nothing"),
                ("odd_rename_file_to", "tree *file", "*", "nothing"),
                ("odd_symlink_target", "path_readlink(tree, \"it\", 8192)", "noent", "ok 11 \"not utf-8*"),
                ("odd_symlink_target", "path_filestat_get(tree, \"it\")", "noent", "ok link nlink=1 size=11"),
                ("odd_symlink_target", "tree *it", "nothing", "a link to not utf-8*"),
            ],
        ),
        Difference::new(
            "a link may contain an absolute path, which resolves to the sandbox's root; wasmtime's root is not the guest's",
            &[
                ("odd_symlink_target", "path_symlink(\"/*\", tree, \"it\")", "perm", "ok"),
                ("odd_symlink_target", "path_readlink(tree, \"it\", 8192)", "noent", "ok * \"/*"),
                ("odd_symlink_target", "path_filestat_get(tree, \"it\")", "noent", "ok link nlink=1 size=1|*=2|*=5"),
                ("odd_symlink_target", "path_filestat_get(tree, \"it\" follow)", "noent", "notcapable"),
                ("odd_symlink_target", "tree *it", "nothing", "a link to /*"),
            ],
        ),
        Difference::new(
            "Linux's rmdir accepts a trailing slash, reports a parent directory as not empty, and follows no link",
            &[
                ("odd_rmdir", "path_remove_directory(*)", "inval", "notempty|notdir"),
                ("odd_rmdir", "path_remove_directory(*hollow/\")", "inval", "ok"),
                ("odd_rmdir", "tree *hollow", "a directory", "nothing"),
                ("odd_rmdir", "path_remove_directory(*dangling/\")", "noent", "notdir"),
                ("odd_rmdir", "path_remove_directory(*loop/\")", "loop", "notdir"),
                ("odd_rmdir", "path_remove_directory(*outlink/\")", "perm", "notdir"),
            ],
        ),
        Difference::new(
            "a trailing slash on an existing name: Linux checks the name, wasmtime its target",
            &[
                ("odd_link_to|odd_symlink", "path_*/\")", "notdir|noent|loop|perm", "exist"),
                ("odd_unlink", "path_unlink_file(*/\")", "isdir|noent|loop|perm", "notdir"),
            ],
        ),
        Difference::new(
            "a trailing slash or dot requires a directory, even if the last link is not followed (POSIX 4.16)",
            &[
                ("odd_stat_nofollow", "path_filestat_get(*file/*\")", "ok file*", "notdir"),
                ("odd_stat_nofollow", "path_filestat_get(*link/*\")", "ok link*", "notdir|ok dir|notcapable"),
                ("odd_stat_nofollow", "path_filestat_get(*dangling/\")", "ok link*", "noent"),
                ("odd_stat_nofollow", "path_filestat_get(*loop/\")", "ok link*", "loop"),
            ],
        ),
        Difference::new(
            "POSIX's linkat follows the old name if requested; wasmtime rejects that",
            &[
                ("hard_links", "path_link(root, \"link\" follow, root, \"followed\")", "inval", "ok"),
                ("hard_links", "path_unlink_file(root, \"followed\")", "noent", "ok"),
            ],
        ),
        Difference::new(
            "`..` at the root is the root",
            &[("rename_into_itself", "path_rename(*\"..\"*)", "perm", "busy")],
        ),
    ]
}

fn opening() -> Vec<Difference> {
    vec![
        Difference::new(
            "O_DIRECTORY on a link that is not followed: Linux returns ENOTDIR",
            &[("open_*|odd_open_directory", "path_open(*directory - nofollow)", "loop", "notdir")],
        ),
        Difference::new(
            "a link whose target ends in a slash resolves only to a directory; Linux returns EISDIR when creating a file",
            &[("symlinks", "path_open(root, \"slash\", rw creat -)", "isdir", "notdir|loop")],
        ),
        Difference::new(
            "O_DIRECTORY is compatible with O_EXCL and O_TRUNC without O_CREAT, as on Linux",
            &[
                ("open_*", "path_open(*directory+*)", "inval", "notdir|noent|isdir|loop"),
                ("open_dir|open_dirlink", "path_open(*directory+excl*)", "inval", "ok it"),
                ("open_dir|open_dirlink", "fd_f*stat_get(it)", "badf", "ok dir*"),
                ("open_dir|open_dirlink", "fd_close(it)", "badf", "ok"),
            ],
        ),
        Difference::new(
            "every write is already as durable as possible, so the sync flags are accepted and reported",
            &[
                ("open_fdflags", "path_open(*sync*)", "notsup", "ok it"),
                ("open_fdflags", "fd_fdstat_get(it)", "badf", "ok *sync*"),
                ("open_fdflags", "fd_close(it)", "badf", "ok"),
            ],
        ),
        Difference::new(
            "a descriptor has only the requested rights; wasmtime always permits reading, and writing to created files",
            &[
                ("open_without_rights", "fd_read(it, [1])", "ok*", "badf"),
                ("open_without_rights", "fd_write(it, [\"x\"])", "ok 1", "badf"),
                ("open_without_rights", "tree *", "1 bytes: x", "0 bytes: "),
            ],
        ),
    ]
}

fn contents() -> Vec<Difference> {
    vec![
        Difference::new(
            "a call fills all buffers; they fill the first",
            &[
                ("read_vectors", "fd_read(fd, [2, 3])", "ok 2 \"o,\"", "ok 5 \"o, wo\""),
                ("write_vectors", "fd_write(fd, [\"ab\" \"cd\"])", "ok 2", "ok 4"),
            ],
        ),
        Difference::new(
            "a call reads as much as requested; wasmtime reads at most 64 KiB",
            &[("blocks|write_past_the_end", "fd_pread(*)", "ok 65536 *", "ok *")],
        ),
        Difference::new(
            "POSIX's pwrite respects the offset even with O_APPEND; Linux does not, and documents that as a bug",
            &[
                ("append", "fd_pread(fd, [100], 0)", "ok 33 *END*\"", "ok 32 *END\""),
                ("append", "tree file", "33 *", "32 *"),
            ],
        ),
        Difference::new(
            "space can be allocated; they support it on no file",
            &[
                ("allocate_and_advise", "fd_allocate(*)", "notsup", "ok|inval|fbig"),
                ("allocate_and_advise", "fd_filestat_get(fd)", "ok file nlink=1 size=13", "ok file nlink=1 size=20"),
                ("wrong_mode", "fd_allocate(reader, 0, 10)", "notsup", "badf"),
                ("file_as_directory", "fd_allocate(file, 0, 1)", "notsup", "ok"),
                ("file_as_directory", "fd_filestat_get(file)", "*size=0", "*size=1"),
            ],
        ),
        Difference::new(
            "offsets are unsigned in preview1, and reading past the end of any file returns nothing",
            &[
                ("huge_offsets", "fd_read(*)|fd_pread(*)", "inval", "ok 0 \"\""),
                ("huge_offsets", "fd_pwrite(fd, [\"\"], *)", "inval", "ok 0"),
                ("huge_offsets", "fd_pwrite(fd, [\"x\"], *)|fd_write(fd, [\"x\"])", "inval", "fbig"),
            ],
        ),
        Difference::new(
            "an offset over 2^63 - 1 is rejected, as in lseek; wasmtime stores it",
            &[
                ("huge_offsets", "fd_seek(*)", "ok *", "inval"),
                ("huge_offsets", "fd_tell(fd)", "ok *", "ok 9223372036854775807"),
                ("allocate_and_advise", "fd_advise(fd, 18446744073709551615, 1, 0)", "ok", "inval"),
            ],
        ),
        Difference::new(
            "a descriptor for reading cannot set a size: it is the wrong descriptor, not the wrong argument",
            &[("wrong_mode", "fd_filestat_set_size(reader, 3)", "inval", "badf")],
        ),
    ]
}

fn descriptors() -> Vec<Difference> {
    vec![
        Difference::new(
            "POSIX returns ENOTDIR if a path starts at a descriptor that is not a directory; the descriptor itself is valid",
            &[
                ("file_as_directory|standard_streams", "path_*", "badf", "notdir"),
                ("file_as_directory|standard_streams", "fd_readdir(*)", "badf false", "notdir false"),
            ],
        ),
        Difference::new(
            "POSIX returns EISDIR for reading a directory",
            &[("*", "fd_read(*)|fd_pread(*)", "badf", "isdir")],
        ),
        Difference::new(
            "a directory can be synchronised and have flags, as on Linux",
            &[
                ("directory_as_file", "fd_sync(*)|fd_datasync(*)", "badf", "ok"),
                ("directory_as_file|flags", "fd_fdstat_set_flags(*)", "badf", "ok"),
                ("flags|open_fdflags", "fd_fdstat_get(*)", "ok dir -", "ok dir *"),
            ],
        ),
        Difference::new(
            "sync flags are also stored and reported when set later",
            &[
                ("flags", "fd_fdstat_set_flags(file, *sync*)", "inval", "ok"),
                ("flags", "fd_fdstat_get(file)", "ok file append+nonblock", "ok file *sync"),
            ],
        ),
        Difference::new(
            "the preopened directory accepts times like others; wasmtime opens it in a mode that does not",
            &[("directory_as_file", "fd_filestat_set_times(root, 1, 1, atim+mtim)", "badf", "ok")],
        ),
        Difference::new(
            "fd_prestat_dir_name of a descriptor that is not preopened: badf, as fd_prestat_get returns on both sides",
            &[("*", "fd_prestat_dir_name(*)", "notdir", "badf")],
        ),
        Difference::new(
            "rights reflect the capabilities of a descriptor; only a directory has inheriting rights",
            &[
                ("rights", "fd_fdstat_get(*, rights)", "ok * inheriting *", "ok * inheriting -"),
                ("rights", "fd_fdstat_get(it, rights)", "ok read inheriting read", "ok - inheriting read+seek+write"),
            ],
        ),
        Difference::new(
            "standard streams are open files that nothing is known about, not bad descriptors",
            &[
                ("standard_streams", "fd_advise(*)", "badf", "spipe"),
                ("standard_streams", "fd_allocate(*)|fd_sync(*)|fd_datasync(*)", "badf", "inval"),
                ("standard_streams", "fd_filestat_set_size(*)", "badf", "inval"),
                ("standard_streams", "fd_fdstat_set_flags(*)", "badf", "ok"),
                ("standard_streams", "fd_fdstat_set_rights(*)", "badf", "notsup"),
                ("standard_streams", "fd_filestat_set_times(*)", "badf", "perm"),
                ("standard_streams", "fd_filestat_get(*)", "ok unknown nlink=0 size=0", "ok unknown nlink=1 size=0"),
            ],
        ),
        Difference::new(
            "an invalid subscription gets an event with its error, like poll's POLLNVAL, and the others get theirs",
            &[
                ("poll_errors", "poll_oneoff(bad descriptor)", "badf", "ok [1 read badf]"),
                ("poll_errors", "poll_oneoff(bad descriptor and file)", "badf", "ok [1 read badf, 2 read ok]"),
                ("poll_errors", "poll_oneoff(unknown clock)", "inval", "ok [1 clock inval]"),
                ("sockets", "poll_oneoff(bad descriptor)", "badf", "ok [0 read badf]"),
            ],
        ),
        Difference::new(
            "files and directories are always ready and never hang up, as with poll on Linux",
            &[
                ("poll_errors", "poll_oneoff(directory)", "badf", "ok [1 read ok]"),
                ("poll_descriptors", "poll_oneoff(file at its end)", "ok [8 read ok hangup]", "ok [8 read ok]"),
            ],
        ),
        Difference::new(
            "the processor time of a process can be read; wasmtime does not measure it",
            &[
                ("clocks", "clock_res_get(2)", "badf", "ok between 1 ns and 1 s: true"),
                ("clocks", "clock_time_get(2)", "badf", "ok"),
                ("clocks", "clock_res_get(3)", "badf", "ok between 1 ns and 1 s: true"),
                ("clocks", "clock_time_get(3)", "badf", "ok"),
            ],
        ),
        Difference::new(
            "waiting on a CPU-time clock is not supported; wasmtime sleeps on any clock",
            &[("poll_errors", "poll_oneoff(process clock)", "ok [1 clock ok]", "ok [1 clock badf]")],
        ),
        Difference::new(
            "Tidebox has signals; 0 checks whether one could be sent",
            &[("yield_and_raise", "proc_raise(0)", "notsup", "ok")],
        ),
    ]
}

pub(crate) fn in_random_sequences() -> Vec<Difference> {
    vec![
        Difference::new(
            "preview1 has a specific error for a path that leaves its directory; wasmtime returns the error of openat2",
            &[("random *", "path_*", "perm", "notcapable")],
        ),
        Difference::new(
            "POSIX returns ENOTDIR if a path starts at a descriptor that is not a directory; the descriptor itself is valid",
            &[
                ("random *", "path_*(s*", "badf", "notdir"),
                ("random *", "path_rename(*, s*|path_symlink(*, s*", "badf", "notdir"),
                ("random *", "fd_readdir(s*)", "badf", "notdir"),
            ],
        ),
        Difference::new(
            "linkat looks up the old name before it checks the new one, as on Linux",
            &[
                ("random *", "path_link(*, s*", "badf", "notdir|noent|loop|notcapable"),
                ("random *", "path_link(*)", "notdir|loop|perm", "noent"),
            ],
        ),
        Difference::new(
            "POSIX returns EISDIR for reading a directory",
            &[("random *", "fd_read(s*)|fd_pread(s*)", "badf", "isdir")],
        ),
        Difference::new(
            "a directory can have flags, as on Linux",
            &[
                ("random *", "fd_fdstat_set_flags(s*)", "badf", "ok"),
                ("random *", "fd_fdstat_get(s*)", "ok dir -", "ok dir append"),
            ],
        ),
        Difference::new(
            "a descriptor for reading cannot set a size: it is the wrong descriptor, not the wrong argument",
            &[("random *", "fd_filestat_set_size(s*)", "inval", "badf")],
        ),
        Difference::new(
            "O_DIRECTORY on a link that is not followed: Linux returns ENOTDIR",
            &[("random *", "path_open(*directory* nofollow)", "loop", "notdir")],
        ),
        Difference::new(
            "Linux's rmdir calls a directory above the path full",
            &[("random *", "path_remove_directory(*..\")", "inval", "notempty")],
        ),
        Difference::new(
            "a trailing slash on an existing name: Linux checks the name, wasmtime its target",
            &[
                ("random *", "path_symlink(*/\")|path_link(*/\")", "notdir|noent|loop|perm", "exist"),
                ("random *", "path_unlink_file(*/\")", "isdir|noent|loop", "notdir"),
            ],
        ),
        Difference::new(
            "a trailing slash or dot requires a directory, even if the last link is not followed (POSIX 4.16)",
            &[("random *", "path_filestat_get(*/*\")", "ok file*|ok link*", "notdir|loop|noent|ok dir|notcapable")],
        ),
    ]
}

/// Results of invalid calls other than `fault`.
pub(crate) fn faults() -> HashMap<&'static str, &'static str> {
    // An argument with a value that the witx lacks is still an argument.
    let mut results: HashMap<_, _> = [
        "clock_res_get id",
        "clock_time_get id",
        "fd_advise advice",
        "fd_fdstat_set_flags flags",
        "fd_fdstat_set_flags high flags",
        "fd_filestat_set_times flags",
        "fd_seek whence",
        "path_open fdflags",
        "path_open oflags",
        "proc_raise signal",
    ]
    .map(|call| (call, "inval"))
    .into();
    // Unknown bits of these flags have no effect, and C libraries set all of them.
    results.extend(["path_filestat_get flags", "path_open dirflags", "path_open rights"].map(|call| (call, "ok")));
    // WebAssembly allows any address for any access.
    results.insert("misaligned fd_filestat_get", "ok");
    // Calls that fail for another reason first.
    results.insert("fd_fdstat_set_rights rights", "notsup");
    results.insert("sock_shutdown how", "notsock");
    results
}
