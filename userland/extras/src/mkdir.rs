//! `mkdir`: new folders.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{bytes_path, cited, complain, quoted};
use tidebox_gnu::mode::Change;
use tidebox_rt::Errno;

const HELP: &str = "\
Usage: mkdir [OPTION]... DIRECTORY...
Makes each FOLDER.

  -m, --mode=MODE  set the mode as chmod does
  -p, --parents    make what is missing above, too; a FOLDER that exists is no error
  -v, --verbose    say what is made
";

const CONTEXT: char = '\u{e001}';

const LONG: &[Long] = &[
    long("context", Takes::Maybe, CONTEXT),
    long("mode", Takes::Value, 'm'),
    long("parents", Takes::Nothing, 'p'),
    long("verbose", Takes::Nothing, 'v'),
    long("help", Takes::Nothing, 'h'),
];

/// What every folder may be until the umask takes from it.
const EVERYTHING: u32 = 0o777;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let (mut mode, mut parents, mut verbose) = (None, false, false);
    let line = CommandLine::core("mkdir", "m:pvZ", LONG, HELP);
    let folders = line.read(arguments, |key, value| {
        match key {
            'm' => mode = Some(value),
            CONTEXT if !value.is_empty() => {
                complain("mkdir", "warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
            }
            'p' => parents = true,
            'v' => verbose = true,
            _ => {}
        }
        Ok(())
    });
    let folders = match folders {
        Ok(folders) if folders.is_empty() => return line.wrong("missing operand"),
        Ok(folders) => folders,
        Err(answer) => return answer,
    };
    let mode = match mode.as_ref().map(|mode| std::str::from_utf8(mode).ok().and_then(Change::parse).ok_or(mode)) {
        None => None,
        Some(Ok(change)) => Some(change),
        Some(Err(text)) => return Answer::Failure(format!("invalid mode {}", cited(text)), 1),
    };
    let mut out = Vec::new();
    let mut code = 0;
    for folder in &folders {
        if let Err(message) = make(folder, mode.as_ref(), parents, verbose, &mut out) {
            complain("mkdir", &message);
            code = 1;
        }
    }
    Answer::PrintAndCode(out, code)
}

fn make(folder: &[u8], mode: Option<&Change>, parents: bool, verbose: bool, out: &mut Vec<u8>) -> Result<(), String> {
    let mut tell = |path: &[u8]| {
        if verbose {
            out.extend_from_slice(format!("mkdir: created directory {}\n", quoted(path)).as_bytes());
        }
    };
    let umask = tidebox_rt::umask(None).unwrap_or(0);
    if parents {
        for above in folders_above(folder) {
            match tidebox_rt::make_dir(above) {
                Ok(()) => tell(above),
                Err(_) if bytes_path(above).is_dir() => continue,
                Err(error) => {
                    // A file in the way up is told of as what it is not.
                    let there = tidebox_rt::stat(above, true).is_ok();
                    let reason = if error == Errno::EXIST && there { Errno::NOTDIR } else { error };
                    return Err(format!("cannot create directory {}: {}", cited(above), reason.text()));
                }
            }
            // Whatever the umask says, the next folder has to go in.
            if umask & 0o300 != 0 {
                permit(above, EVERYTHING & !umask | 0o300)?;
            }
        }
    }
    match tidebox_rt::make_dir(folder) {
        Ok(()) => tell(folder),
        Err(_) if parents && bytes_path(folder).is_dir() => return Ok(()),
        Err(error) => return Err(format!("cannot create directory {}: {}", cited(folder), error.text())),
    }
    // The mode is for the folder itself, not for those made above it.
    match mode {
        Some(mode) => permit(folder, mode.apply(EVERYTHING, true, umask)),
        None => Ok(()),
    }
}

fn permit(folder: &[u8], bits: u32) -> Result<(), String> {
    tidebox_rt::chmod(folder, bits)
        .map_err(|error| format!("cannot set permissions of {}: {}", quoted(folder), error.text()))
}

/// The folders that a path leads through, from the outermost on.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let last = path.iter().rposition(|byte| *byte != b'/').unwrap_or(0);
    let ends = (1..last).filter(move |at| path.get(*at) == Some(&b'/') && path.get(at - 1) != Some(&b'/'));
    ends.filter_map(move |at| path.get(..at))
}
