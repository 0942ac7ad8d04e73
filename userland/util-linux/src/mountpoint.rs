//! `mountpoint`: checks whether a directory is a mount point.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::read_all;
use tidebox_rt::{FileKind, Stat};

use tidebox_gnu::tool::print;

const USAGE: &str = "
Usage:
 mountpoint [-qd] /path/to/directory
 mountpoint -x /dev/device

Check whether a directory or file is a mountpoint.

Options:
";

tidebox_gnu::options! {
    /// Options of `mountpoint`.
    enum Flag {
        Quiet = "-q, --quiet", "quiet mode - don't print anything";
        NoFollow = "--nofollow", "do not follow symlink";
        FsDevno = "-d, --fs-devno", "print maj:min device number of the filesystem";
        Devno = "-x, --devno", "print maj:min device number of the block device\n\n";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
    }
}

const LINE: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nFor more details see mountpoint(1).\n",
    version: "mountpoint from util-linux 2.38.1\n",
    ..Syntax::new("mountpoint", USAGE, 20)
};

/// Exit code if the directory is not a mount point.
const NO_MOUNT: i32 = 32;

/// Runs `mountpoint`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut quiet, mut follow, mut number, mut device) = (false, true, false, false);
    let operands = LINE.parse::<i32>(arguments, |key, _| {
        match key {
            Flag::Quiet => quiet = true,
            Flag::FsDevno => number = true,
            Flag::Devno => device = true,
            _ => follow = false,
        }
        Ok(())
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    let [name] = operands.as_slice() else {
        return LINE.usage_error("bad usage");
    };
    let shown = String::from_utf8_lossy(name).into_owned();
    let fail = |message: &str, code: i32| {
        if !quiet {
            print_error("mountpoint", &format!("{shown}: {message}"));
        }
        code
    };
    let stat = match tidebox_rt::stat(name, follow) {
        Ok(stat) => stat,
        Err(errno) => return fail(errno.text(), 1),
    };
    if device {
        // The sandbox has no block devices.
        return fail("not a block device", NO_MOUNT);
    }
    let mounted = is_mounted(name, &stat);
    if quiet {
        return if mounted { 0 } else { NO_MOUNT };
    }
    if !mounted {
        print("mountpoint", format!("{shown} is not a mountpoint\n").as_bytes());
        return NO_MOUNT;
    }
    if number {
        let (major, minor) = (stat.dev >> 8 & 0xfff, stat.dev & 0xff);
        return print("mountpoint", format!("{major}:{minor}\n").as_bytes());
    }
    print("mountpoint", format!("{shown} is a mountpoint\n").as_bytes())
}

/// Returns whether a directory is in the list of mounts, or on another device than its parent.
fn is_mounted(name: &[u8], stat: &Stat) -> bool {
    let listed = std::fs::canonicalize(tidebox_rt::path_of_bytes(name)).is_ok_and(|path| {
        let text = read_all(b"/proc/mounts").unwrap_or_default();
        let wanted = path.as_os_str().as_encoded_bytes().to_vec();
        text.split(|byte| *byte == b'\n')
            .filter_map(|line| line.split(|byte| *byte == b' ').nth(1))
            .any(|mounted| mounted == wanted.as_slice())
    });
    if listed || stat.kind() != FileKind::Dir {
        return listed;
    }
    let around = tidebox_rt::stat(&[name, b"/.."].concat(), true);
    around.is_ok_and(|around| around.dev != stat.dev || around.ino == stat.ino)
}
