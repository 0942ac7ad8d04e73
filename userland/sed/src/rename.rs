//! `rename`: renames files by expressions of Perl, of which it knows those that names are changed by: `s`, `y`, `tr`, `lc`
//! and `uc`.

use std::collections::VecDeque;

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::regex::{Dialect, Options as RegexOptions, Regex, Subject};
use tidebox_gnu::stream::{Input, Output};

use crate::replacement::{Case, Part, Replacement};

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

/// The exit code of code that cannot be run.
const CANNOT_RUN: i32 = 255;

/// The exit code of a command line that is wrong.
const MISUSE: i32 = 2;

const FULL_PATH: char = '\u{e001}';

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
    let long = [
        long("verbose", Takes::Nothing, 'v'),
        long("null", Takes::Nothing, '0'),
        long("nono", Takes::Nothing, 'n'),
        long("force", Takes::Nothing, 'f'),
        long("path", Takes::Nothing, FULL_PATH),
        long("fullpath", Takes::Nothing, FULL_PATH),
        long("filename", Takes::Nothing, 'd'),
        long("nopath", Takes::Nothing, 'd'),
        long("nofullpath", Takes::Nothing, 'd'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line = CommandLine {
        version: "rename (Tidebox), as File::Rename 2.01 does\n",
        misuse: MISUSE,
        ..CommandLine::new("rename", "v0nfde:hV", &long, HELP)
    };
    let mut options = Options::default();
    let operands = line.read::<Answer>(arguments, |key, value| {
        match key {
            'v' => options.verbose = true,
            '0' => options.null = true,
            'n' => options.dry = true,
            'f' => options.force = true,
            'd' => options.name_only = true,
            FULL_PATH => options.name_only = false,
            _ => options.code.push(value),
        }
        Ok(())
    });
    let mut files: VecDeque<Vec<u8>> = match operands {
        Ok(operands) => operands.into(),
        Err(answer) => return tidebox_gnu::answer::Ending::end(answer, "rename"),
    };
    if options.code.is_empty() {
        match files.pop_front() {
            Some(code) => options.code.push(code),
            None => {
                tidebox_gnu::tell_part!("{USAGE}");
                return MISUSE;
            }
        }
    }
    let statements = match read_code(&options.code.join(&b"\n"[..])) {
        Ok(statements) => statements,
        Err(message) => {
            complain("rename", &message);
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
                    complain("rename", &message);
                    return CANNOT_RUN;
                }
            }
            let new = [old.get(..from).unwrap_or_default(), &name].concat();
            if new != old {
                self.rename(&old, &new, &mut out);
            }
        }
        // What could not be renamed is told and no failure, as the tool has it.
        out.finish("rename", 0)
    }

    fn rename(&self, old: &[u8], new: &[u8], out: &mut Output) {
        let (from, to) = (String::from_utf8_lossy(old).into_owned(), String::from_utf8_lossy(new).into_owned());
        if !self.force && tidebox_rt::stat(new, false).is_ok() {
            out.flush_now();
            tidebox_gnu::tell!("{from} not renamed: {to} already exists");
            return;
        }
        if self.dry {
            out.push(format!("rename({from}, {to})\n").as_bytes());
            return;
        }
        if let Err(errno) = tidebox_rt::rename(old, new) {
            out.flush_now();
            tidebox_gnu::tell!("Can't rename {from} {to}: {}", errno.text());
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

/// Reads statements between semicolons.
fn read_code(code: &[u8]) -> Result<Vec<Statement>, String> {
    let mut statements = Vec::new();
    let mut rest = code;
    loop {
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b';').count();
        rest = rest.get(blank..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(statements);
        }
        let unknown =
            || format!("only s///, y///, tr///, lc and uc are supported here, not: {}", String::from_utf8_lossy(rest));
        let end = rest.iter().position(|byte| *byte == b';').unwrap_or(rest.len());
        let words: Vec<u8> = rest.iter().take(end).copied().filter(|byte| !b" \t\n()".contains(byte)).collect();
        let case = match words.as_slice() {
            b"$_=lc" | b"$_=lc$_" => Some(Case::Lower),
            b"$_=uc" | b"$_=uc$_" => Some(Case::Upper),
            _ => None,
        };
        if let Some(case) = case {
            statements.push(Statement::Case(case));
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        let rest_of = |keyword: &[u8]| {
            rest.strip_prefix(keyword).filter(|rest| rest.first().is_some_and(u8::is_ascii_punctuation))
        };
        let (substitutes, after) = match (rest_of(b"s"), rest_of(b"tr").or_else(|| rest_of(b"y"))) {
            (Some(after), _) => (true, after),
            (None, Some(after)) => (false, after),
            (None, None) => return Err(unknown()),
        };
        let (first, second, after) = delimited(after).ok_or_else(unknown)?;
        let letters = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (flags, after) = after.split_at_checked(letters).unwrap_or((after, b""));
        statements.push(if substitutes {
            substitute(first, second, flags)?
        } else {
            translate(&first, &second, flags)?
        });
        let blank = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        rest = after.get(blank..).unwrap_or_default();
        if rest.first().is_some_and(|byte| *byte != b';') {
            return Err(format!(
                "only s///, y///, tr///, lc and uc are supported here, not: {}",
                String::from_utf8_lossy(rest)
            ));
        }
    }
}

/// Two texts between delimiters, which may be brackets, and what follows them.
fn delimited(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, &[u8])> {
    let (open, rest) = text.split_first()?;
    let close = match open {
        b'{' => b'}',
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        other => *other,
    };
    let (first, rest) = up_to(rest, *open, close)?;
    if close == *open {
        let (second, rest) = up_to(rest, *open, close)?;
        return Some((first, second, rest));
    }
    let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (again, rest) = rest.get(blank..)?.split_first()?;
    let (second, rest) = up_to(rest, *again, if again == open { close } else { *again })?;
    Some((first, second, rest))
}

fn up_to(text: &[u8], open: u8, close: u8) -> Option<(Vec<u8>, &[u8])> {
    let (mut out, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'\\' => {
                let next = *text.get(at)?;
                at += 1;
                if next != close || close.is_ascii_alphanumeric() {
                    out.push(b'\\');
                }
                out.push(next);
                continue;
            }
            byte if byte == close && depth == 0 => return Some((out, text.get(at..)?)),
            byte if byte == close => depth -= 1,
            byte if byte == open => depth += 1,
            _ => {}
        }
        out.push(byte);
    }
}

fn substitute(pattern: Vec<u8>, replacement: Vec<u8>, flags: &[u8]) -> Result<Statement, String> {
    if let Some(flag) = flags.iter().find(|flag| !b"gi".contains(flag)) {
        return Err(format!("flag '{}' of s/// is not supported here", char::from(*flag)));
    }
    let options = RegexOptions {
        dialect: Dialect::Perl,
        ignore_case: flags.contains(&b'i'),
        whole_line: false,
        misplaced: Default::default(),
        whole_word: false,
        subject: Subject::Text,
        terminator: 0,
        captures: true,
        unicode: tidebox_gnu::message::unicode_locale(),
    };
    let regex = Regex::new(&[pattern], &options).map_err(|error| error.to_string())?;
    Ok(Statement::Substitute { regex, replacement: read_replacement(&replacement)?, global: flags.contains(&b'g') })
}

/// `$1`, `${1}`, `\1`, `$&` and the escapes for case.
fn read_replacement(text: &[u8]) -> Result<Replacement, String> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let part = match (first, after.first()) {
            (b'$', Some(b'&')) => {
                rest = after.get(1..).unwrap_or_default();
                Part::Group(0)
            }
            (b'$', Some(b'{' | b'0'..=b'9')) => {
                let braced = after.first() == Some(&b'{');
                let inner = if braced { after.get(1..).unwrap_or_default() } else { after };
                let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = std::str::from_utf8(inner.get(..digits).unwrap_or_default())
                    .ok()
                    .and_then(|digits| digits.parse().ok());
                rest = inner.get(digits + usize::from(braced)..).unwrap_or_default();
                Part::Group(number.ok_or_else(|| {
                    format!("only numbered groups are supported in {}", String::from_utf8_lossy(text))
                })?)
            }
            (b'$', Some(byte)) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                return Err(format!("variables are not supported here, as in {}", String::from_utf8_lossy(text)));
            }
            (b'\\', Some(letter)) => {
                rest = after.get(1..).unwrap_or_default();
                match letter {
                    b'1'..=b'9' => Part::Group(usize::from(letter - b'0')),
                    b'U' => Part::Case(Case::Upper),
                    b'L' => Part::Case(Case::Lower),
                    b'u' => Part::Case(Case::UpperNext),
                    b'l' => Part::Case(Case::LowerNext),
                    b'E' => Part::Case(Case::End),
                    b'n' => Part::Text(b"\n".to_vec()),
                    b't' => Part::Text(b"\t".to_vec()),
                    other => Part::Text(vec![*other]),
                }
            }
            _ => Part::Text(vec![*first]),
        };
        match (parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.extend_from_slice(&more),
            (_, part) => parts.push(part),
        }
    }
    Ok(Replacement { parts })
}

fn translate(from: &[u8], to: &[u8], flags: &[u8]) -> Result<Statement, String> {
    if let Some(flag) = flags.iter().find(|flag| !b"ds".contains(flag)) {
        return Err(format!("flag '{}' of tr/// is not supported here", char::from(*flag)));
    }
    let delete = flags.contains(&b'd');
    let (from, mut to) = (ranges(from), ranges(to));
    if to.is_empty() && !delete {
        to.clone_from(&from);
    }
    Ok(Statement::Translate { from, to, delete, squeeze: flags.contains(&b's') })
}

/// The bytes of a list with ranges.
fn ranges(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match after {
            [b'-', last, more @ ..] if last >= first => {
                out.extend(*first..=*last);
                rest = more;
            }
            [escaped, more @ ..] if *first == b'\\' => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    other => *other,
                });
                rest = more;
            }
            _ => out.push(*first),
        }
    }
    out
}
