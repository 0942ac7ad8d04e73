//! `rename`: renames files by Perl expressions. Supports those for changing names: `s`, `y`, `tr`, `lc` and `uc`.

mod code;

use std::collections::VecDeque;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::Regex;
use tidebox_gnu::stream::{Input, Output};

use code::read_code;

use crate::replacement::{Case, Replacement};

const USAGE: &str = "\
Usage:
    file-rename [ -h|-m|-V ] [ -v ] [ -0 ] [ -n ] [ -f ] [ -d ] [ -u [enc]]
    [ -e|-E perlexpr]*|perlexpr [ files ]

";

const HELP: &str = "\
Usage:
    rename [ -h|-V ] [ -v ] [ -0 ] [ -n ] [ -f ] [ -d ] [ -e perlexpr ]*|perlexpr [ files ]

Options:
    -v, --verbose
            Verbose: print names of files successfully renamed.

    -0, --null
            Use \\0 as record separator when reading from STDIN.

    -n, --nono
            No action: print names of files to be renamed, but don't rename.

    -f, --force
            Over write: allow existing files to be over-written.

    --path, --fullpath
            Rename full path: including any directory component. DEFAULT

    -d, --filename, --nopath, --nofullpath
            Do not rename directory: only rename filename component of path.

    -h, --help
            Help: print this.

    -V, --version
            Version: show version number.

    -e      Expression: code to act on files name. May be repeated.

The code is statements of the forms s/RE/TEXT/FLAGS, y/FROM/TO/FLAGS, tr/FROM/TO/FLAGS, $_ = lc and $_ = uc.

";

/// The exit code of unsupported code.
const CANNOT_RUN: i32 = 255;

/// The exit code of a usage error.
const MISUSE: i32 = 2;

tidebox_gnu::options! {
    /// Options of `rename`. `--help` prints the manual instead of a table.
    enum Flag {
        Verbose = "-v, --verbose", "";
        Null = "-0, --null", "";
        DryRun = "-n, --nono", "";
        Force = "-f, --force", "";
        FullPath = "--path, --fullpath", "";
        NameOnly = "-d, --filename, --nopath, --nofullpath", "";
        Code = "-e CODE", "";
        Help = "-h, --help", "";
        Version = "-V, --version", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax {
    version: "rename (Tidebox), as File::Rename 2.01 does\n",
    usage_exit_code: MISUSE,
    ..Syntax::new("rename", HELP, 0)
};

#[derive(Default)]
struct Options {
    verbose: bool,
    null: bool,
    dry: bool,
    force: bool,
    name_only: bool,
    code: Vec<Vec<u8>>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options::default();
    let operands = LINE.parse::<ToolResult>(arguments, |key, value| {
        match key {
            Flag::Verbose => options.verbose = true,
            Flag::Null => options.null = true,
            Flag::DryRun => options.dry = true,
            Flag::Force => options.force = true,
            Flag::NameOnly => options.name_only = true,
            Flag::FullPath => options.name_only = false,
            _ => options.code.push(value),
        }
        Ok(())
    });
    let mut files: VecDeque<Vec<u8>> = match operands {
        Ok(operands) => operands.into(),
        Err(answer) => return tidebox_gnu::exit::IntoExitCode::into_exit_code(answer, "rename"),
    };
    if options.code.is_empty() {
        match files.pop_front() {
            Some(code) => options.code.push(code),
            None => {
                tidebox_gnu::eprint_part!("{USAGE}");
                return MISUSE;
            }
        }
    }
    let statements = match read_code(&options.code.join(&b"\n"[..])) {
        Ok(statements) => statements,
        Err(message) => {
            print_error("rename", &message);
            return CANNOT_RUN;
        }
    };
    options.run(files, &statements)
}

impl Options {
    fn run(&self, mut files: VecDeque<Vec<u8>>, statements: &[Statement]) -> i32 {
        let mut out = Output::standard();
        if files.is_empty() {
            let (mut input, mut line) = (Input::standard(), Vec::new());
            let end = if self.null { 0 } else { b'\n' };
            while input.line(end, &mut line).unwrap_or(false) {
                files.push_back(line.strip_suffix(&[end]).unwrap_or(&line).to_vec());
            }
        }
        for old in files {
            let from =
                if self.name_only { old.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1) } else { 0 };
            let mut name = old.get(from..).unwrap_or_default().to_vec();
            for statement in statements {
                if let Err(message) = statement.apply(&mut name) {
                    print_error("rename", &message);
                    return CANNOT_RUN;
                }
            }
            let new = [old.get(..from).unwrap_or_default(), &name].concat();
            if new != old {
                self.rename(&old, &new, &mut out);
            }
        }
        // As in the original, a failed rename is reported and does not change the exit code.
        out.finish("rename", 0)
    }

    fn rename(&self, old: &[u8], new: &[u8], out: &mut Output) {
        let (from, to) = (String::from_utf8_lossy(old).into_owned(), String::from_utf8_lossy(new).into_owned());
        if !self.force && tidebox_rt::stat(new, false).is_ok() {
            out.flush_now();
            tidebox_gnu::eprint_line!("{from} not renamed: {to} already exists");
            return;
        }
        if self.dry {
            out.push(format!("rename({from}, {to})\n").as_bytes());
            return;
        }
        if let Err(errno) = tidebox_rt::rename(old, new) {
            out.flush_now();
            tidebox_gnu::eprint_line!("Can't rename {from} {to}: {}", errno.text());
            return;
        }
        if self.verbose {
            out.push(format!("{from} renamed as {to}\n").as_bytes());
        }
    }
}

/// A statement that changes a name.
enum Statement {
    Substitute { regex: Regex, replacement: Replacement, global: bool },
    Translate { from: Vec<u8>, to: Vec<u8>, delete: bool, squeeze: bool },
    Case(Case),
}

impl Statement {
    fn apply(&self, name: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Case(Case::Upper) => *name = String::from_utf8_lossy(name).to_uppercase().into_bytes(),
            Self::Case(_) => *name = String::from_utf8_lossy(name).to_lowercase().into_bytes(),
            Self::Translate { from, to, delete, squeeze } => {
                let mut out: Vec<u8> = Vec::with_capacity(name.len());
                let mut last = None;
                for byte in name.iter() {
                    let Some(at) = from.iter().position(|known| known == byte) else {
                        out.push(*byte);
                        last = None;
                        continue;
                    };
                    let new = match to.get(at) {
                        Some(new) => *new,
                        None if *delete => continue,
                        None => to.last().copied().unwrap_or(*byte),
                    };
                    if !(*squeeze && last == Some(new)) {
                        out.push(new);
                    }
                    last = Some(new);
                }
                *name = out;
            }
            Self::Substitute { regex, replacement, global } => {
                let (mut out, mut at) = (Vec::new(), 0);
                while at <= name.len()
                    && let Some(groups) = regex.captures(name, at).map_err(|error| error.to_string())?
                {
                    let Some(found) = groups.first().cloned().flatten() else { break };
                    out.extend_from_slice(name.get(at..found.start).unwrap_or_default());
                    replacement.write(name, &groups, &mut out);
                    at = found.end;
                    if found.is_empty() {
                        out.extend_from_slice(name.get(at..at + 1).unwrap_or_default());
                        at += 1;
                    }
                    if !global {
                        break;
                    }
                }
                out.extend_from_slice(name.get(at..).unwrap_or_default());
                *name = out;
            }
        }
        Ok(())
    }
}
