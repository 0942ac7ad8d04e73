//! Scripts that start with `#!`.

use crate::text::{Ending, Text};

/// Names of interpreters, by the last component of their path.
const INTERPRETERS: &[(&str, &str, &str, Ending)] = &[
    ("sh", "POSIX shell script", "text/x-shellscript", Ending::Executable),
    ("bash", "Bourne-Again shell script", "text/x-shellscript", Ending::Executable),
    ("csh", "C shell script", "text/x-shellscript", Ending::Executable),
    ("tcsh", "Tenex C shell script", "text/x-shellscript", Ending::Executable),
    ("zsh", "Paul Falstad's zsh script", "text/x-shellscript", Ending::Executable),
    ("ksh", "Korn shell script", "text/x-shellscript", Ending::Executable),
    ("fish", "fish shell script", "text/x-shellscript", Ending::Executable),
    ("awk", "awk script", "text/x-awk", Ending::Executable),
    ("nawk", "new awk script", "text/x-nawk", Ending::Executable),
    ("gawk", "GNU awk script", "text/x-gawk", Ending::Executable),
    ("perl", "Perl script text executable", "text/x-perl", Ending::Alone),
    ("ruby", "Ruby script", "text/x-ruby", Ending::Executable),
    ("node", "Node.js script executable", "application/javascript", Ending::Encoding),
    ("nodejs", "Node.js script executable", "application/javascript", Ending::Encoding),
    ("lua", "Lua script", "text/x-lua", Ending::Executable),
    ("tclsh", "Tcl/Tk script", "text/x-tcl", Ending::Executable),
    ("wish", "Tcl/Tk script", "text/x-tcl", Ending::Executable),
];

/// Interpreters that are detected only by path, not through `env`.
const BY_PATH: &[&str] = &["sh", "csh", "ksh", "awk", "nawk", "gawk"];

fn first_line(text: &[u8]) -> Option<String> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    Some(line.trim_matches([' ', '\t', '\r']).to_owned())
}

/// A script with an unknown interpreter.
pub(crate) fn unknown(text: &[u8]) -> Option<Text> {
    let line = first_line(text).filter(|line| !line.is_empty())?;
    let command = line.strip_prefix("/usr/bin/env ").map(str::trim_start);
    let name = format!("a {} script", command.unwrap_or(&line));
    Some(Text { name: name.into(), mime: "text/plain", ending: Ending::Executable })
}

/// Returns the type of a script by its first line.
pub(crate) fn shebang(text: &[u8]) -> Option<Text> {
    let line = first_line(text)?;
    let command = line.strip_prefix("/usr/bin/env ").map(str::trim_start);
    let path = command.unwrap_or(&line).split([' ', '\t']).next().unwrap_or_default();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let by_env = command.is_some() && folder.is_empty();
    let usual = matches!(folder, "/bin" | "/usr/bin" | "/usr/local/bin");
    if (by_env || usual) && name.starts_with("python") {
        return Some(Text::executable("Python script", "text/x-script.python"));
    }
    let known = INTERPRETERS.iter().find(|(known, ..)| *known == name && (usual || by_env && !BY_PATH.contains(known)));
    known.map(|(_, name, mime, ending)| Text { name: (*name).into(), mime, ending: *ending })
}
