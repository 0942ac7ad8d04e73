//! `mkdir`: new folders.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{bytes_path, cited, complain, path_bytes, quoted};
use tidebox_gnu::mode::Change;

const HELP: &str = "\
Usage: mkdir [OPTION]... DIRECTORY...
Makes each FOLDER.

  -m, --mode=MODE  set the mode as chmod does
  -p, --parents    make what is missing above, too; a FOLDER that exists is no error
  -v, --verbose    say what is made
";

const LONG: &[Long] = &[
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
            'm' => match std::str::from_utf8(&value).ok().and_then(Change::parse) {
                Some(change) => mode = Some(change),
                None => return Err(Answer::Failure(format!("invalid mode {}", cited(&value)), 1)),
            },
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
    let path = bytes_path(folder);
    let mut missing = vec![path];
    if parents {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        missing.extend(above.take_while(|above| !above.is_dir()));
    }
    for path in missing.into_iter().rev() {
        match tidebox_rt::make_dir(path_bytes(path)) {
            Ok(()) => {}
            Err(_) if parents && path.is_dir() => continue,
            Err(error) => {
                // A file in the way up is told of as what it is not.
                let above = path.ancestors().skip(1).any(|above| above.is_file());
                let reason = if above { "Not a directory" } else { error.text() };
                return Err(format!("cannot create directory {}: {reason}", cited(folder)));
            }
        }
        if verbose {
            out.extend_from_slice(format!("mkdir: created directory {}\n", quoted(path_bytes(path))).as_bytes());
        }
        // The mode is for the folder itself, not for those made above it.
        if let Some(mode) = mode.filter(|_| path_bytes(path) == folder) {
            let umask = tidebox_rt::umask(None).unwrap_or(0);
            let bits = mode.apply(EVERYTHING, true, umask);
            tidebox_rt::chmod(folder, bits)
                .map_err(|error| format!("cannot set permissions of {}: {}", quoted(folder), error.text()))?;
        }
    }
    Ok(())
}
