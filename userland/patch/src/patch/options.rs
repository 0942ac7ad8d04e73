//! The command line of `patch`.

use tidebox_gnu::backup::Naming;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use super::read::Style;

/// Verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    Silent,
    Usual,
    Verbose,
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
    pub(crate) removes_empty: bool,
    pub(crate) backup: bool,
    pub(crate) backup_of_mismatch: bool,
    pub(crate) naming: Naming,
    /// Value of `-z`.
    pub(crate) suffix: Option<Vec<u8>>,
    /// Default suffix of backups.
    pub(crate) default_suffix: Vec<u8>,
    pub(crate) verbosity: Verbosity,
    pub(crate) dry_run: bool,
    pub(crate) binary: bool,
    pub(crate) follows_links: bool,
    pub(crate) directory: Option<Vec<u8>>,
}

/// Error of the command line.
pub(crate) enum Request {
    Run(Box<Options>),
    Print(String),
    /// Invalid usage, with a hint at the help.
    Usage(String),
    /// Invalid usage.
    Wrong(String),
    Fatal(String),
}

tidebox_gnu::options! {
    /// Options of `patch`.
    pub(super) enum Flag {
        Strip = "-p, --strip=NUM", "take NUM leading folders from names in the patch";
        Fuzz = "-F, --fuzz=LINES", "let up to LINES lines of context differ (2)";
        IgnoreWhitespace = "-l, --ignore-whitespace", "let blanks differ";
        Context = "-c, --context", "read a context diff";
        Normal = "-n, --normal", "read a normal diff";
        Unified = "-u, --unified", "read a unified diff";
        Forward = "-N, --forward", "skip patches that seem to be applied already";
        Reverse = "-R, --reverse", "undo the patch";
        Input = "-i, --input=PATCH", "read PATCH instead of standard input";
        Directory = "-d, --directory=FOLDER", "change to FOLDER first\n\nWhat to write:";
        Output = "-o, --output=FILE", "write to FILE, or to standard output (-)";
        RejectFile = "-r, --reject-file=FILE", "write hunks that do not fit to FILE, or nowhere (-)";
        RejectFormat = "--reject-format=FORMAT", "'context' or 'unified'";
        RemoveEmptyFiles = "-E, --remove-empty-files", "remove files that become empty\n\nBackups:";
        Backup = "-b, --backup", "keep the original as FILE.orig";
        BackupIfMismatch = "--backup-if-mismatch", "the same where a hunk does not fit exactly";
        NoBackupIfMismatch = "--no-backup-if-mismatch", "keep no original there";
        VersionControl = "-V, --version-control=STYLE", "'simple', 'numbered' or 'existing'";
        Suffix = "-z, --suffix=SUFFIX", "put SUFFIX after the name of the backup\n\nOther:";
        Batch = "-t, --batch", "ask nothing; take a patch that seems reversed as reversed";
        Force = "-f, --force", "ask nothing; take a patch as it is";
        Quiet = "-s, --quiet, --silent", "say nothing unless something is wrong";
        Verbose = "--verbose", "say more";
        DryRun = "--dry-run", "only say what would happen";
        Binary = "--binary", "keep carriage returns";
        FollowSymlinks = "--follow-symlinks", "patch what links lead to";
        Get = "-g, --get=NUM", "";
        Debug = "-x, --debug=LEVEL", "", unsupported "debugging output (-x) is not supported";
        Ed = "-e, --ed", "", unsupported "scripts of ed (-e) are not supported: run ed";
        Merge = "--merge[=HOW]", "", unsupported "--merge is not supported";
        Ifdef = "-D, --ifdef=NAME", "", unsupported "-D is not supported";
        Prefixes = "-B, --prefix=PREFIX, -Y, --basename-prefix=PREFIX", "",
            unsupported "prefixes of backups (-B, -Y) are not supported: see -z";
        QuotingStyle = "--quoting-style=STYLE", "", unsupported "--quoting-style is not supported";
        SetTime = "-Z, --set-utc, -T, --set-time", "", unsupported "-T and -Z are not supported: see touch";
        Posix = "--posix", "", unsupported "--posix is not supported";
        ReadOnly = "--read-only=BEHAVIOR", "", unsupported "--read-only is not supported";
        Help = "--help", "";
        Version = "-v, --version", "";
    }
}

const VERSION: &str = "GNU patch 2.7.6 (as Tidebox speaks it)\n";

const USAGE: &str = "\
Usage: patch [OPTION]... [ORIGINAL [PATCH]]
Applies a patch, which is the output of diff, to files.

What to read:
";

impl Options {
    fn new() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(std::ffi::OsString::into_encoded_bytes);
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
            removes_empty: false,
            backup: false,
            backup_of_mismatch: true,
            naming: numbering.and_then(|name| numbering_of(&name)).unwrap_or(Naming::Existing),
            suffix: None,
            default_suffix: variable("SIMPLE_BACKUP_SUFFIX")
                .filter(|s| !s.is_empty())
                .unwrap_or_else(|| b".orig".to_vec()),
            verbosity: Verbosity::Usual,
            dry_run: false,
            binary: false,
            follows_links: false,
            directory: None,
        }
    }
}

fn numbering_of(name: &[u8]) -> Option<Naming> {
    const NAMES: &[(&str, Naming)] = &[
        ("existing", Naming::Existing),
        ("nil", Naming::Existing),
        ("never", Naming::Simple),
        ("simple", Naming::Simple),
        ("numbered", Naming::Numbered),
        ("t", Naming::Numbered),
    ];
    let name = std::str::from_utf8(name).ok()?;
    let exact = NAMES.iter().find(|(known, _)| *known == name);
    let mut fitting = NAMES.iter().filter(|(known, _)| known.starts_with(name));
    let only = fitting.next().filter(|_| fitting.next().is_none() && !name.is_empty());
    exact.or(only).map(|(_, numbering)| *numbering)
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, ..Syntax::new("patch", USAGE, 30) };

/// Parses the command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let mut options = Options::new();
    let mut operands = Vec::new();
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item() {
            Err(ToolResult::Print(text)) => return Request::Print(String::from_utf8_lossy(&text).into_owned()),
            Err(ToolResult::Failure(message, _)) => return Request::Fatal(message),
            Err(ToolResult::Usage(message, _)) => return Request::Usage(message),
            Err(ToolResult::Code(_) | ToolResult::PrintAndCode(..)) => return Request::Usage(String::new()),
            Ok(None) => break,
            Ok(Some(Item::Operand(operand))) => operands.push(operand),
            Ok(Some(Item::Option(flag, value))) => {
                if let Err(request) = set(&mut options, flag, value.unwrap_or_default()) {
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

fn set(options: &mut Options, key: Flag, value: Vec<u8>) -> Result<(), Request> {
    let number = |what: &str| {
        let parsed = std::str::from_utf8(&value).ok().and_then(|digits| digits.parse::<u32>().ok());
        parsed.ok_or_else(|| Request::Fatal(format!("{what} {} is not a number", text(&value))))
    };
    match key {
        Flag::Backup => options.backup = true,
        Flag::Suffix if value.is_empty() => return Err(Request::Fatal("backup suffix is empty".to_owned())),
        Flag::Suffix => (options.suffix, options.naming) = (Some(value), Naming::Simple),
        Flag::Context => options.style = Some(Style::NewContext),
        Flag::Directory => options.directory = Some(value),
        Flag::RemoveEmptyFiles => options.removes_empty = true,
        Flag::Force => options.force = true,
        Flag::Fuzz => options.fuzz = i64::from(number("fuzz factor")?),
        Flag::Get => {
            let digits = value.strip_prefix(b"-").unwrap_or(&value);
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(Request::Fatal(format!("get option value {} is not a number", text(&value))));
            }
            // Version control is not supported, so any number is treated as 0.
        }
        Flag::Input => options.input = Some(value),
        Flag::IgnoreWhitespace => options.loosely = true,
        Flag::Normal => options.style = Some(Style::Normal),
        Flag::Forward => options.forward = true,
        Flag::Output if value.is_empty() => {
            return Err(Request::Fatal("Can't create file '' : No such file or directory".to_owned()));
        }
        Flag::Output => options.output = Some(value),
        Flag::Strip => options.strip = usize::try_from(number("strip count")?).ok(),
        Flag::RejectFile => options.rejects = Some(value),
        Flag::Reverse => options.reverse = true,
        Flag::Quiet => options.verbosity = Verbosity::Silent,
        Flag::Batch => options.batch = true,
        Flag::Unified => options.style = Some(Style::Unified),
        Flag::VersionControl => match numbering_of(&value) {
            Some(numbering) => options.naming = numbering,
            None => {
                let value = text(&value);
                let message = format!("invalid argument '{value}' for '--version-control or -V option'{BACKUP_STYLES}");
                return Err(Request::Wrong(message));
            }
        },
        _ => return set_long(options, key, &value),
    }
    Ok(())
}

fn set_long(options: &mut Options, key: Flag, value: &[u8]) -> Result<(), Request> {
    match key {
        Flag::DryRun => options.dry_run = true,
        Flag::Verbose => options.verbosity = Verbosity::Verbose,
        Flag::Binary => options.binary = true,
        Flag::BackupIfMismatch => options.backup_of_mismatch = true,
        Flag::NoBackupIfMismatch => options.backup_of_mismatch = false,
        Flag::FollowSymlinks => options.follows_links = true,
        Flag::RejectFormat => match value {
            b"context" => options.reject_unified = Some(false),
            b"unified" => options.reject_unified = Some(true),
            _ => return Err(Request::Usage(String::new())),
        },
        _ => {}
    }
    Ok(())
}

const BACKUP_STYLES: &str =
    "\nValid arguments are:\n  - 'none', 'off'\n  - 'simple', 'never'\n  - 'existing', 'nil'\n  - 'numbered', 't'";
