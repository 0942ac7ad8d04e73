//! `whereis`: finds the program, source and manual of a command.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

const USAGE: &str = "
Usage:
 whereis [options] <name>

Locate the binary, source, and manual-page files for a command.

Options:
";

tidebox_gnu::options! {
    /// Options of `whereis`.
    enum Flag {
        Binaries = "-b", "search only for binaries";
        Manuals = "-m", "search only for manuals and infos";
        Sources = "-s", "search only for sources\n\n";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
        Paths = "-B, -M, -S", "", unsupported "search paths (-B, -M, -S) are not supported; use find";
        Unusual = "-u", "", unsupported "the option -u is not supported";
        List = "-l", "", unsupported "the option -l is not supported";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nFor more details see whereis(1).\n",
    version: "whereis from util-linux 2.38.1\n",
    ..Syntax::new("whereis", USAGE, 16)
};

/// Directories of programs, besides those in `PATH`.
const BINARIES: &[&str] =
    &["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib", "/etc", "/usr/games", "/usr/local/bin", "/usr/local/sbin"];
const MANUALS: &[&str] = &["/usr/share/man/man1", "/usr/share/man/man5", "/usr/share/man/man8", "/usr/share/info"];
const SOURCES: &[&str] = &["/usr/src", "/usr/local/src"];

/// Runs `whereis`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    if arguments.is_empty() {
        return SYNTAX.usage_error("not enough arguments");
    }
    let mut kinds = Vec::new();
    let names = SYNTAX.parse::<i32>(arguments, |flag, _| {
        kinds.push(flag);
        Ok(())
    });
    let names = match names {
        Ok(names) => names,
        Err(code) => return code,
    };
    let path = std::env::var_os("PATH").map(std::ffi::OsString::into_encoded_bytes).unwrap_or_default();
    let path = path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty());
    let standard = |folders: &'static [&str]| folders.iter().map(|folder| folder.as_bytes());
    let binaries = distinct(standard(BINARIES).chain(path));
    let (manuals, sources) = (distinct(standard(MANUALS)), distinct(standard(SOURCES)));
    let mut out = Vec::new();
    for name in &names {
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        out.extend_from_slice(&[base, b":"].concat());
        for (flag, folders) in [(Flag::Binaries, &binaries), (Flag::Manuals, &manuals), (Flag::Sources, &sources)] {
            if kinds.is_empty() || kinds.contains(&flag) {
                folders.iter().for_each(|folder| list(base, folder, flag == Flag::Binaries, &mut out));
            }
        }
        out.push(b'\n');
    }
    print("whereis", &out)
}

/// Returns the existing directories, without duplicates.
fn distinct<'a>(folders: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let (mut found, mut known) = (Vec::new(), Vec::new());
    for folder in folders {
        let Ok(real) = std::fs::canonicalize(tidebox_rt::path_of_bytes(folder)) else {
            continue;
        };
        if !known.contains(&real) {
            let is_absolute = folder.starts_with(b"/");
            found.push(if is_absolute { folder.to_vec() } else { real.as_os_str().as_encoded_bytes().to_vec() });
            known.push(real);
        }
    }
    found
}

/// Appends the files of a directory that belong to a name.
fn list(name: &[u8], folder: &[u8], program: bool, out: &mut Vec<u8>) {
    let mut entries = tidebox_rt::read_dir(folder).unwrap_or_default();
    entries.retain(|entry| matches(name, &entry.name, program));
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in &entries {
        out.extend_from_slice(&[b" ", folder, b"/", &entry.name].concat());
    }
}

/// Returns whether a file belongs to a name. Sources and manuals may have a suffix of a number and an extension.
fn matches(name: &[u8], file: &[u8], program: bool) -> bool {
    let Some(rest) = file.strip_prefix(name) else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.is_empty() || (!program && rest.get(digits) == Some(&b'.'))
}
