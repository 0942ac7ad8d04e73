//! `mkdir`: creates directories.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{bytes_path, print_error, quote_path, quote_value};
use tidebox_gnu::mode::Change;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

const USAGE: &str = "\
Usage: mkdir [OPTION]... DIRECTORY...
Creates each DIRECTORY.

";

tidebox_gnu::options! {
    /// Options of `mkdir`.
    enum Flag {
        Mode = "-m, --mode=MODE", "set the mode, in the syntax of chmod";
        Parents = "-p, --parents", "create missing parent directories; ignore existing directories";
        Verbose = "-v, --verbose", "print each created directory";
        SelinuxContext = "-Z", "";
        Context = "--context[=X]", "";
    }
}

/// Mode of a new directory before the umask is applied.
const EVERYTHING: u32 = 0o777;

/// Runs `mkdir`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let (mut mode, mut parents, mut verbose) = (None, false, false);
    let line = Syntax::core("mkdir", USAGE, 19);
    let dirs = line.parse(arguments, |key, value| {
        match key {
            Flag::Mode => mode = Some(value),
            Flag::Context if !value.is_empty() => {
                print_error("mkdir", "warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
            }
            Flag::Parents => parents = true,
            Flag::Verbose => verbose = true,
            _ => {}
        }
        Ok(())
    });
    let dirs = match dirs {
        Ok(dirs) if dirs.is_empty() => return line.usage_error("missing operand"),
        Ok(dirs) => dirs,
        Err(answer) => return answer,
    };
    let mode = match mode.as_ref().map(|mode| std::str::from_utf8(mode).ok().and_then(Change::parse).ok_or(mode)) {
        None => None,
        Some(Ok(change)) => Some(change),
        Some(Err(text)) => return ToolResult::Failure(format!("invalid mode {}", quote_value(text)), 1),
    };
    let mut out = Vec::new();
    let mut code = 0;
    for dir in &dirs {
        if let Err(message) = make(dir, mode.as_ref(), parents, verbose, &mut out) {
            print_error("mkdir", &message);
            code = 1;
        }
    }
    ToolResult::PrintAndCode(out, code)
}

fn make(dir: &[u8], mode: Option<&Change>, parents: bool, verbose: bool, out: &mut Vec<u8>) -> Result<(), String> {
    let mut report = |path: &[u8]| {
        if verbose {
            out.extend_from_slice(format!("mkdir: created directory {}\n", quote_path(path)).as_bytes());
        }
    };
    let umask = tidebox_rt::umask(None).unwrap_or(0);
    if parents {
        for above in dirs_above(dir) {
            match tidebox_rt::make_dir(above) {
                Ok(()) => report(above),
                Err(_) if bytes_path(above).is_dir() => continue,
                Err(error) => {
                    // A parent that is not a directory is reported as such.
                    let exists = tidebox_rt::stat(above, true).is_ok();
                    let reason = if error == Errno::EXIST && exists { Errno::NOTDIR } else { error };
                    return Err(format!("cannot create directory {}: {}", quote_value(above), reason.text()));
                }
            }
            // The next directory must be created in this one, even if the umask forbids it.
            if umask & 0o300 != 0 {
                permit(above, EVERYTHING & !umask | 0o300)?;
            }
        }
    }
    match tidebox_rt::make_dir(dir) {
        Ok(()) => report(dir),
        Err(_) if parents && bytes_path(dir).is_dir() => return Ok(()),
        Err(error) => return Err(format!("cannot create directory {}: {}", quote_value(dir), error.text())),
    }
    // The mode applies to the directory itself, not to its new parents.
    match mode {
        Some(mode) => permit(dir, mode.apply(EVERYTHING, true, umask)),
        None => Ok(()),
    }
}

fn permit(dir: &[u8], bits: u32) -> Result<(), String> {
    tidebox_rt::chmod(dir, bits)
        .map_err(|error| format!("cannot set permissions of {}: {}", quote_path(dir), error.text()))
}

/// Returns the parent directories of a path, the outermost one first.
fn dirs_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let last = path.iter().rposition(|byte| *byte != b'/').unwrap_or(0);
    let ends = (1..last).filter(move |at| path.get(*at) == Some(&b'/') && path.get(at - 1) != Some(&b'/'));
    ends.filter_map(move |at| path.get(..at))
}
