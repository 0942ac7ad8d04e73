//! `mkfifo` and `mknod`: special files. The kernel of a sandbox creates FIFOs only. Devices need root, which no process has.

use tidebox_gnu::message::{display_name, print_error, quote_path, quote_value};
use tidebox_gnu::mode::Change;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

const MKFIFO_USAGE: &str = "\
Usage: mkfifo [OPTION]... NAME...
Creates named pipes (FIFOs).

";

const MKNOD_USAGE: &str = "\
Usage: mknod [OPTION]... NAME TYPE [MAJOR MINOR]
Creates the special file NAME. TYPE is p for a named pipe, or b, c or u for a device, which needs root.

";

tidebox_gnu::options! {
    /// Options of `mkfifo` and `mknod`.
    enum Flag {
        Mode = "-m, --mode=MODE", "set the mode, in the syntax of chmod; the default is a=rw - umask";
        Context = "-Z, --context[=CTX]", "";
    }
}

/// Mode of a new special file before the umask is applied.
const EVERYTHING: u32 = 0o666;

/// Returns the operands and the mode of `-m`. `Err` is an exit code.
fn parse(tool: &str, usage: &str, arguments: Vec<Vec<u8>>) -> Result<(Vec<Vec<u8>>, Option<Change>), i32> {
    let mut mode = None;
    let operands = Syntax::<Flag>::core(tool, usage, 19).parse(arguments, |flag, value| {
        if flag == Flag::Mode {
            mode = Some(value);
        }
        Ok::<(), i32>(())
    })?;
    Ok((operands, mode.map(|mode| change(tool, &mode)).transpose()?))
}

fn change(tool: &str, mode: &[u8]) -> Result<Change, i32> {
    let change = std::str::from_utf8(mode).ok().and_then(Change::parse);
    let Some(change) = change else {
        print_error(tool, "invalid mode");
        return Err(1);
    };
    Ok(change)
}

/// Returns the mode of a new special file. Without `-m` the kernel applies the umask to it.
fn permissions(tool: &str, mode: Option<&Change>) -> Result<u32, i32> {
    let Some(mode) = mode else { return Ok(EVERYTHING) };
    let bits = mode.apply(EVERYTHING, false, tidebox_rt::umask(None).unwrap_or(0));
    if bits & !0o777 != 0 {
        print_error(tool, "mode must specify only file permission bits");
        return Err(1);
    }
    Ok(bits)
}

/// Sets the mode of `-m`, because the kernel has applied the umask to it.
fn set_mode(tool: &str, name: &[u8], mode: Option<u32>) -> i32 {
    match mode.map_or(Ok(()), |bits| tidebox_rt::chmod(name, bits)) {
        Ok(()) => 0,
        Err(errno) => {
            print_error(tool, &format!("cannot set permissions of {}: {}", quote_path(name), errno.text()));
            1
        }
    }
}

/// `mkfifo`.
pub fn mkfifo(arguments: Vec<Vec<u8>>) -> i32 {
    let (names, mode) = match parse("mkfifo", MKFIFO_USAGE, arguments) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    if names.is_empty() {
        return usage("mkfifo", "missing operand", 1);
    }
    let bits = match permissions("mkfifo", mode.as_ref()) {
        Ok(bits) => bits,
        Err(code) => return code,
    };
    let mut code = 0;
    for name in &names {
        code |= match tidebox_rt::make_fifo(name, bits) {
            Ok(()) => set_mode("mkfifo", name, mode.as_ref().map(|_| bits)),
            Err(errno) => {
                print_error("mkfifo", &format!("cannot create fifo {}: {}", quote_path(name), errno.text()));
                1
            }
        };
    }
    code
}

/// `mknod`.
pub fn mknod(arguments: Vec<Vec<u8>>) -> i32 {
    let (words, mode) = match parse("mknod", MKNOD_USAGE, arguments) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let bits = match permissions("mknod", mode.as_ref()) {
        Ok(bits) => bits,
        Err(code) => return code,
    };
    let kind = words.get(1).and_then(|kind| kind.first().copied());
    let expected = if kind == Some(b'p') { 2 } else { 4 };
    if words.len() < expected {
        return too_few(&words);
    }
    if let Some(extra) = words.get(expected) {
        return usage("mknod", &format!("extra operand {}", quote_value(extra)), 1);
    }
    let (Some(name), Some(kind)) = (words.first(), kind) else { return too_few(&words) };
    let made = match kind {
        b'p' => tidebox_rt::make_fifo(name, bits),
        b'b' | b'c' | b'u' => Err(Errno::PERM),
        _ => return usage("mknod", &format!("invalid device type {}", quote_value(words.get(1).unwrap_or(name))), 1),
    };
    match made {
        Ok(()) => set_mode("mknod", name, mode.as_ref().map(|_| bits)),
        Err(errno) => {
            print_error("mknod", &format!("{}: {}", display_name(name), errno.text()));
            1
        }
    }
}

fn too_few(words: &[Vec<u8>]) -> i32 {
    let Some(last) = words.last() else { return usage("mknod", "missing operand", 1) };
    usage("mknod", &format!("missing operand after {}", quote_value(last)), 1)
}
