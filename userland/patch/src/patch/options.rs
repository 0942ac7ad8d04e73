//! The command line of `patch`.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

use super::merge::Conflicts;
use super::read::Style;

/// How much `patch` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    Silent,
    Usual,
    Verbose,
}

/// How backups are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    Simple,
    Numbered,
    Existing,
}

/// What to do with files that may not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOnly {
    Ignore,
    Warn,
    Fail,
}

/// How times of the patch are read when files get them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    Now,
    OfPatch,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) input: Option<Vec<u8>>,
    pub(crate) strip: Option<usize>,
    pub(crate) fuzz: i64,
    pub(crate) style: Option<Style>,
    pub(crate) reverse: bool,
    pub(crate) forward: bool,
    pub(crate) force: bool,
    pub(crate) batch: bool,
    pub(crate) loosely: bool,
    pub(crate) output: Option<Vec<u8>>,
    pub(crate) rejects: Option<Vec<u8>>,
    pub(crate) reject_unified: Option<bool>,
    pub(crate) define: Option<Vec<u8>>,
    /// Hunks that do not fit are merged.
    pub(crate) merge: Option<Conflicts>,
    pub(crate) removes_empty: bool,
    pub(crate) times: Times,
    pub(crate) backup: bool,
    pub(crate) backup_of_mismatch: bool,
    pub(crate) numbering: Numbering,
    /// What `-z` gave.
    pub(crate) suffix: Option<Vec<u8>>,
    /// What backups end with that have neither a suffix nor a prefix.
    pub(crate) usual_suffix: Vec<u8>,
    pub(crate) prefix: Vec<u8>,
    pub(crate) name_prefix: Vec<u8>,
    pub(crate) verbosity: Verbosity,
    pub(crate) dry_run: bool,
    pub(crate) binary: bool,
    pub(crate) posix: bool,
    pub(crate) follows_links: bool,
    pub(crate) read_only: ReadOnly,
    pub(crate) directory: Option<Vec<u8>>,
    pub(crate) quoting: Quoting,
}

/// How names are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    Literal,
    Shell,
    ShellAlways,
    C,
    Escape,
}

/// What the command line asks for.
pub(crate) enum Request {
    Run(Box<Options>),
    Print(&'static str),
    /// A wrong command line, and where to read more.
    Usage(String),
    /// A wrong command line.
    Wrong(String),
    Fatal(String),
}

const DRY_RUN: char = '\u{e001}';
const VERBOSE: char = '\u{e002}';
const BINARY: char = '\u{e003}';
const HELP: char = '\u{e004}';
const MISMATCH: char = '\u{e005}';
const NO_MISMATCH: char = '\u{e006}';
const POSIX: char = '\u{e007}';
const QUOTING: char = '\u{e008}';
const REJECT_FORMAT: char = '\u{e009}';
const READ_ONLY: char = '\u{e00a}';
const FOLLOW: char = '\u{e00b}';
const MERGE: char = '\u{e00c}';

const LONG: &[Long] = &[
    long("backup", Takes::Nothing, 'b'),
    long("prefix", Takes::Value, 'B'),
    long("context", Takes::Nothing, 'c'),
    long("directory", Takes::Value, 'd'),
    long("ifdef", Takes::Value, 'D'),
    long("ed", Takes::Nothing, 'e'),
    long("remove-empty-files", Takes::Nothing, 'E'),
    long("force", Takes::Nothing, 'f'),
    long("fuzz", Takes::Value, 'F'),
    long("get", Takes::Value, 'g'),
    long("input", Takes::Value, 'i'),
    long("ignore-whitespace", Takes::Nothing, 'l'),
    long("normal", Takes::Nothing, 'n'),
    long("forward", Takes::Nothing, 'N'),
    long("output", Takes::Value, 'o'),
    long("strip", Takes::Value, 'p'),
    long("reject-file", Takes::Value, 'r'),
    long("reverse", Takes::Nothing, 'R'),
    long("quiet", Takes::Nothing, 's'),
    long("silent", Takes::Nothing, 's'),
    long("batch", Takes::Nothing, 't'),
    long("set-time", Takes::Nothing, 'T'),
    long("unified", Takes::Nothing, 'u'),
    long("version", Takes::Nothing, 'v'),
    long("version-control", Takes::Value, 'V'),
    long("debug", Takes::Value, 'x'),
    long("basename-prefix", Takes::Value, 'Y'),
    long("suffix", Takes::Value, 'z'),
    long("set-utc", Takes::Nothing, 'Z'),
    long("dry-run", Takes::Nothing, DRY_RUN),
    long("verbose", Takes::Nothing, VERBOSE),
    long("binary", Takes::Nothing, BINARY),
    long("help", Takes::Nothing, HELP),
    long("backup-if-mismatch", Takes::Nothing, MISMATCH),
    long("no-backup-if-mismatch", Takes::Nothing, NO_MISMATCH),
    long("posix", Takes::Nothing, POSIX),
    long("quoting-style", Takes::Value, QUOTING),
    long("reject-format", Takes::Value, REJECT_FORMAT),
    long("read-only", Takes::Value, READ_ONLY),
    long("follow-symlinks", Takes::Nothing, FOLLOW),
    long("merge", Takes::Maybe, MERGE),
];

const SHORT: &str = "bB:cd:D:eEfF:g:i:lnNo:p:r:RstTuvV:x:Y:z:Z";

const VERSION: &str = "GNU patch 2.7.6 (as Tidebox speaks it)\n";

const HELP_TEXT: &str = include_str!("help.txt");

impl Options {
    fn new() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(std::ffi::OsString::into_encoded_bytes);
        let posix = variable("POSIXLY_CORRECT").is_some();
        let numbering = variable("PATCH_VERSION_CONTROL").or_else(|| variable("VERSION_CONTROL"));
        Self {
            file: None,
            input: None,
            strip: None,
            fuzz: 2,
            style: None,
            reverse: false,
            forward: false,
            force: false,
            batch: false,
            loosely: false,
            output: None,
            rejects: None,
            reject_unified: None,
            define: None,
            merge: None,
            removes_empty: false,
            times: Times::Now,
            backup: false,
            backup_of_mismatch: !posix,
            numbering: numbering.and_then(|name| numbering_of(&name)).unwrap_or(Numbering::Existing),
            suffix: None,
            usual_suffix: variable("SIMPLE_BACKUP_SUFFIX")
                .filter(|s| !s.is_empty())
                .unwrap_or_else(|| b".orig".to_vec()),
            prefix: Vec::new(),
            name_prefix: Vec::new(),
            verbosity: Verbosity::Usual,
            dry_run: false,
            binary: false,
            posix,
            follows_links: false,
            read_only: ReadOnly::Warn,
            directory: None,
            quoting: variable("QUOTING_STYLE").and_then(|name| quoting_of(&name)).unwrap_or(Quoting::Shell),
        }
    }
}

fn numbering_of(name: &[u8]) -> Option<Numbering> {
    const NAMES: &[(&str, Numbering)] = &[
        ("existing", Numbering::Existing),
        ("nil", Numbering::Existing),
        ("never", Numbering::Simple),
        ("simple", Numbering::Simple),
        ("numbered", Numbering::Numbered),
        ("t", Numbering::Numbered),
    ];
    let name = std::str::from_utf8(name).ok()?;
    let exact = NAMES.iter().find(|(known, _)| *known == name);
    let mut fitting = NAMES.iter().filter(|(known, _)| known.starts_with(name));
    let only = fitting.next().filter(|_| fitting.next().is_none() && !name.is_empty());
    exact.or(only).map(|(_, numbering)| *numbering)
}

fn quoting_of(name: &[u8]) -> Option<Quoting> {
    Some(match name {
        b"literal" => Quoting::Literal,
        b"shell" => Quoting::Shell,
        b"shell-always" => Quoting::ShellAlways,
        b"c" => Quoting::C,
        b"escape" => Quoting::Escape,
        _ => return None,
    })
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Reads the command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let mut options = Options::new();
    let mut operands = Vec::new();
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return Request::Usage(message),
            Ok(None) => break,
            Ok(Some(Item::Operand(operand))) => operands.push(operand),
            Ok(Some(Item::Option('v', _))) => return Request::Print(VERSION),
            Ok(Some(Item::Option(HELP, _))) => return Request::Print(HELP_TEXT),
            Ok(Some(Item::Option(MERGE, how))) => match how.as_deref() {
                None | Some(b"merge") => options.merge = Some(Conflicts::Merge),
                Some(b"diff3") => options.merge = Some(Conflicts::Diff3),
                Some(_) => return Request::Usage(String::new()),
            },
            Ok(Some(Item::Option(key, value))) => {
                if let Err(request) = set(&mut options, key, value.unwrap_or_default()) {
                    return request;
                }
            }
        }
    }
    let mut operands = operands.into_iter();
    options.file = operands.next();
    if let Some(input) = operands.next() {
        options.input = Some(input);
    }
    if let Some(extra) = operands.next() {
        return Request::Usage(format!("{}: extra operand", text(&extra)));
    }
    Request::Run(Box::new(options))
}

fn set(options: &mut Options, key: char, value: Vec<u8>) -> Result<(), Request> {
    let number = |what: &str| {
        let parsed = std::str::from_utf8(&value).ok().and_then(|digits| digits.parse::<u32>().ok());
        parsed.ok_or_else(|| Request::Fatal(format!("{what} {} is not a number", text(&value))))
    };
    match key {
        'b' => options.backup = true,
        'B' | 'Y' | 'z' if value.is_empty() => {
            let what = if key == 'z' { "backup suffix" } else { "backup prefix" };
            return Err(Request::Fatal(format!("{what} is empty")));
        }
        'B' => (options.prefix, options.numbering) = (value, Numbering::Simple),
        'Y' => (options.name_prefix, options.numbering) = (value, Numbering::Simple),
        'z' => (options.suffix, options.numbering) = (Some(value), Numbering::Simple),
        'c' => options.style = Some(Style::NewContext),
        'd' => options.directory = Some(value),
        'D' => options.define = Some(value),
        'e' => options.style = Some(Style::Ed),
        'E' => options.removes_empty = true,
        'f' => options.force = true,
        'F' => options.fuzz = i64::from(number("fuzz factor")?),
        'g' => {
            let digits = value.strip_prefix(b"-").unwrap_or(&value);
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(Request::Fatal(format!("get option value {} is not a number", text(&value))));
            }
            // There is no version control to get files from, so that any number is as good as 0.
        }
        'i' => options.input = Some(value),
        'l' => options.loosely = true,
        'n' => options.style = Some(Style::Normal),
        'N' => options.forward = true,
        'o' if value.is_empty() => {
            return Err(Request::Fatal("Can't create file '' : No such file or directory".to_owned()));
        }
        'o' => options.output = Some(value),
        'p' => options.strip = usize::try_from(number("strip count")?).ok(),
        'r' => options.rejects = Some(value),
        'R' => options.reverse = true,
        's' => options.verbosity = Verbosity::Silent,
        't' => options.batch = true,
        // Local time is universal time here.
        'T' | 'Z' => options.times = Times::OfPatch,
        'u' => options.style = Some(Style::Unified),
        'V' => match numbering_of(&value) {
            Some(numbering) => options.numbering = numbering,
            None => {
                let shown = text(&value);
                let message = format!("invalid argument '{shown}' for '--version-control or -V option'{BACKUP_STYLES}");
                return Err(Request::Wrong(message));
            }
        },
        'x' => return Err(Request::Fatal("debugging output (-x) is not supported".to_owned())),
        _ => return set_long(options, key, &value),
    }
    Ok(())
}

fn set_long(options: &mut Options, key: char, value: &[u8]) -> Result<(), Request> {
    match key {
        DRY_RUN => options.dry_run = true,
        VERBOSE => options.verbosity = Verbosity::Verbose,
        BINARY => options.binary = true,
        MISMATCH => options.backup_of_mismatch = true,
        NO_MISMATCH => options.backup_of_mismatch = false,
        POSIX => (options.posix, options.backup_of_mismatch) = (true, false),
        FOLLOW => options.follows_links = true,
        QUOTING => match quoting_of(value) {
            Some(quoting) => options.quoting = quoting,
            None => return Err(Request::Usage(format!("invalid argument '{}' for 'quoting style'", text(value)))),
        },
        REJECT_FORMAT => match value {
            b"context" => options.reject_unified = Some(false),
            b"unified" => options.reject_unified = Some(true),
            _ => return Err(Request::Usage(String::new())),
        },
        READ_ONLY => match value {
            b"ignore" => options.read_only = ReadOnly::Ignore,
            b"warn" => options.read_only = ReadOnly::Warn,
            b"fail" => options.read_only = ReadOnly::Fail,
            _ => return Err(Request::Usage(String::new())),
        },
        _ => {}
    }
    Ok(())
}

const BACKUP_STYLES: &str =
    "\nValid arguments are:\n  - 'none', 'off'\n  - 'simple', 'never'\n  - 'existing', 'nil'\n  - 'numbered', 't'";
