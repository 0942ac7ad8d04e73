//! `mkfifo` and `mknod`: files that are no files, of which the kernel of a sandbox makes none.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::mode::Change;
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

use crate::{curly, quoted};

const MKFIFO_HELP: &str = "\
Usage: mkfifo [OPTION]... NAME...
Makes named pipes. This kernel has none, so that it tells why not.

  -m, --mode=MODE  set the mode as chmod does
";

const MKNOD_HELP: &str = "\
Usage: mknod [OPTION]... NAME TYPE [MAJOR MINOR]
Makes special files of TYPE b, c, u or p. This kernel makes none, so that it tells why not.

  -m, --mode=MODE  set the mode as chmod does
";

/// Options and operands; `Err` is an exit code.
fn parse(tool: &str, help: &str, arguments: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, i32> {
    let long = [long("mode", Takes::Value, 'm'), long("help", Takes::Nothing, 'h')];
    CommandLine::core(tool, "m:Z", &long, help).read(arguments, |key, value| {
        if key == 'm' && std::str::from_utf8(&value).ok().and_then(Change::parse).is_none() {
            complain(tool, "invalid mode");
            return Err(1);
        }
        Ok(())
    })
}

/// Why a name cannot become a special file.
fn refusal(name: &[u8]) -> Errno {
    if tidebox_rt::stat(name, false).is_ok() { Errno::EXIST } else { Errno::NOTSUP }
}

/// `mkfifo`.
pub(crate) fn mkfifo(arguments: Vec<Vec<u8>>) -> i32 {
    let names = match parse("mkfifo", MKFIFO_HELP, arguments) {
        Ok(names) => names,
        Err(code) => return code,
    };
    if names.is_empty() {
        return usage("mkfifo", "missing operand", 1);
    }
    for name in &names {
        complain("mkfifo", &format!("cannot create fifo {}: {}", quoted(name), refusal(name).text()));
    }
    1
}

/// `mknod`.
pub(crate) fn mknod(arguments: Vec<Vec<u8>>) -> i32 {
    let words = match parse("mknod", MKNOD_HELP, arguments) {
        Ok(words) => words,
        Err(code) => return code,
    };
    let kind = words.get(1).and_then(|kind| kind.first().copied());
    let wanted = if kind == Some(b'p') { 2 } else { 4 };
    if words.len() < wanted {
        return match words.last() {
            None => usage("mknod", "missing operand", 1),
            Some(last) => {
                complain("mknod", &format!("missing operand after {}", curly(last)));
                if words.len() == 2 {
                    eprintln!("Special files require major and minor device numbers.");
                }
                eprintln!("Try 'mknod --help' for more information.");
                1
            }
        };
    }
    if let Some(extra) = words.get(wanted) {
        return usage("mknod", &format!("extra operand {}", curly(extra)), 1);
    }
    let (Some(name), Some(kind)) = (words.first(), kind) else {
        return usage("mknod", "missing operand", 1);
    };
    match kind {
        b'p' => complain("mknod", &format!("{}: {}", String::from_utf8_lossy(name), refusal(name).text())),
        b'b' | b'c' | b'u' => complain("mknod", &format!("{}: {}", String::from_utf8_lossy(name), Errno::PERM.text())),
        _ => return usage("mknod", &format!("invalid device type {}", curly(&[kind])), 1),
    }
    1
}
