//! `mkdir`: creates directories.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{bytes_path, print_error, quote_path, quote_value};
use tidebox_gnu::mode::Change;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

const USAGE: &str = "\
Usage: mkdir [OPTION]... DIRECTORY...
Makes each FOLDER.

";

tidebox_gnu::options! {
    /// Options of `mkdir`.
    enum Flag {
        Mode = "-m, --mode=MODE", "set the mode as chmod does";
        Parents = "-p, --parents", "make what is missing above, too; a FOLDER that exists is no error";
        Verbose = "-v, --verbose", "say what is made";
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
    let folders = line.parse(arguments, |key, value| {
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
    let folders = match folders {
        Ok(folders) if folders.is_empty() => return line.usage_error("missing operand"),
        Ok(folders) => folders,
        Err(answer) => return answer,
    };
    let mode = match mode.as_ref().map(|mode| std::str::from_utf8(mode).ok().and_then(Change::parse).ok_or(mode)) {
        None => None,
        Some(Ok(change)) => Some(change),
        Some(Err(text)) => return ToolResult::Failure(format!("invalid mode {}", quote_value(text)), 1),
    };
    let mut out = Vec::new();
    let mut code = 0;
    for folder in &folders {
        if let Err(message) = make(folder, mode.as_ref(), parents, verbose, &mut out) {
            print_error("mkdir", &message);
            code = 1;
        }
    }
    ToolResult::PrintAndCode(out, code)
}

fn make(folder: &[u8], mode: Option<&Change>, parents: bool, verbose: bool, out: &mut Vec<u8>) -> Result<(), String> {
    let mut report = |path: &[u8]| {
        if verbose {
            out.extend_from_slice(format!("mkdir: created directory {}\n", quote_path(path)).as_bytes());
        }
    };
    let umask = tidebox_rt::umask(None).unwrap_or(0);
    if parents {
        for above in folders_above(folder) {
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
    match tidebox_rt::make_dir(folder) {
        Ok(()) => report(folder),
        Err(_) if parents && bytes_path(folder).is_dir() => return Ok(()),
        Err(error) => return Err(format!("cannot create directory {}: {}", quote_value(folder), error.text())),
    }
    // The mode applies to the directory itself, not to its new parents.
    match mode {
        Some(mode) => permit(folder, mode.apply(EVERYTHING, true, umask)),
        None => Ok(()),
    }
}

fn permit(folder: &[u8], bits: u32) -> Result<(), String> {
    tidebox_rt::chmod(folder, bits)
        .map_err(|error| format!("cannot set permissions of {}: {}", quote_path(folder), error.text()))
}

/// Returns the parent directories of a path, the outermost one first.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let last = path.iter().rposition(|byte| *byte != b'/').unwrap_or(0);
    let ends = (1..last).filter(move |at| path.get(*at) == Some(&b'/') && path.get(at - 1) != Some(&b'/'));
    ends.filter_map(move |at| path.get(..at))
}
