//! The command line.

use tidebox_gnu::getopt::{Item, Parser, Spec};
use tidebox_rt::Errno;

use crate::exclude::{Exclude, VCS};
use crate::flags::{
    ADD_FILE, ANCHORED, CLAMP, DEFAULTS, DELETE, EXCLUDE, EXCLUDE_BACKUPS, EXCLUDE_CACHES, EXCLUDE_CACHES_ALL,
    EXCLUDE_CACHES_UNDER, EXCLUDE_IGNORE, EXCLUDE_TAG, EXCLUDE_TAG_ALL, EXCLUDE_TAG_UNDER, EXCLUDE_VCS,
    EXCLUDE_VCS_IGNORES, FULL_TIME, GROUP, HARD_DEREFERENCE, HELP, IGNORE_CASE, IGNORE_FAILED, KEEP_DIR_SYMLINK,
    KEEP_NEWER, LONG, LZIP, LZMA, LZOP, MODE, MTIME, NEWER_MTIME, NO_ANCHORED, NO_AUTO, NO_IGNORE_CASE, NO_NULL,
    NO_OVERWRITE_DIR, NO_RECURSION, NO_SAME_OWNER, NO_SAME_PERMISSIONS, NO_SLASH, NO_WILDCARDS, NULL, NUMERIC,
    OCCURRENCE, OLD_ARCHIVE, ONE_FILE_SYSTEM, ONE_TOP_LEVEL, OVERWRITE, OWNER, PAX_OPTION, POSIX, QUOTING, RECORD_SIZE,
    RECURSION, REFUSED, REFUSED_VALUE, REMOVE_FILES, SAME_OWNER, SHORT, SHOW_STORED, SHOW_TRANSFORMED, SKIP_OLD, SLASH,
    SORT, STRIP, TOTALS, TRANSFORM, USAGE, UTC, VERSION, WARNING, WILDCARDS, ZSTD,
};
use crate::header::{BLOCK, Format};
use crate::transform::Transform;

/// What the run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Create,
    Extract,
    List,
    Append,
    Update,
    Concatenate,
    Delete,
    Compare,
}

/// What happens to files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Replace,
    Overwrite,
    Keep,
    Skip,
    KeepNewer,
    UnlinkFirst,
}

/// One thing to put in, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Name(Vec<u8>),
    /// Names that follow are below this folder.
    Folder(Vec<u8>),
    /// Names are listed in a file; whether each ends with a NUL.
    List(Vec<u8>, bool),
}

/// An owner to write in place of the real one: a name, an id or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) id: Option<u64>,
}

/// Everything that one run was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) archive: Vec<u8>,
    pub(crate) words: Vec<Word>,
    pub(crate) verbose: u8,
    /// What compresses: a program and its arguments.
    pub(crate) compressor: Option<Vec<Vec<u8>>>,
    /// The suffix of the archive names it.
    pub(crate) auto_compress: bool,
    pub(crate) format: Format,
    pub(crate) record: usize,
    pub(crate) absolute: bool,
    pub(crate) follow: bool,
    pub(crate) hard_follow: bool,
    pub(crate) recursive: bool,
    pub(crate) sorted: bool,
    pub(crate) owner: Option<Owner>,
    pub(crate) group: Option<Owner>,
    pub(crate) numeric: bool,
    /// Seconds and nanoseconds to write in place of the real time, and whether only where that is later.
    pub(crate) mtime: Option<((i64, u32), bool)>,
    /// Only what was changed since; with `true` also what only its state was changed of.
    pub(crate) newer: Option<((i64, u32), bool)>,
    pub(crate) file_mode: Option<tidebox_gnu::mode::Change>,
    pub(crate) excludes: Vec<Exclude>,
    pub(crate) tags: Vec<(Vec<u8>, TagRule)>,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) show_transformed: bool,
    pub(crate) strip: usize,
    pub(crate) wildcards: Option<bool>,
    pub(crate) anchored: bool,
    pub(crate) ignore_case: bool,
    pub(crate) slash_is_plain: bool,
    pub(crate) old: Old,
    pub(crate) touch: bool,
    pub(crate) keep_modes: Option<bool>,
    pub(crate) keep_owner: Option<bool>,
    pub(crate) to_stdout: bool,
    pub(crate) remove_files: bool,
    pub(crate) totals: bool,
    pub(crate) ignore_zeros: bool,
    pub(crate) ignore_failed_read: bool,
    pub(crate) full_time: bool,
    pub(crate) block_numbers: bool,
    pub(crate) check_links: bool,
    /// Folders that are there keep their modes and times.
    pub(crate) keep_dirs: bool,
    /// What is mounted below a folder is left out.
    pub(crate) one_file_system: bool,
    pub(crate) keep_dir_symlink: bool,
    pub(crate) one_top_level: Option<Vec<u8>>,
    pub(crate) occurrence: Option<u64>,
    pub(crate) warnings: bool,
    pub(crate) literal: bool,
    /// When the run began, by a clock that never goes back.
    pub(crate) began: u64,
    /// Records of POSIX that are left out, and the name that records stand under.
    pub(crate) pax_deletes: Vec<String>,
    pub(crate) pax_name: String,
    /// Times that were given in words: the option, the words, and what was read.
    pub(crate) dates: Vec<(&'static str, Vec<u8>, (i64, u32))>,
    /// An option that only counts for names after it, of which there are none.
    pub(crate) idle_excludes: Vec<(&'static str, Option<Vec<u8>>)>,
}

/// What of a folder that holds a certain file is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagRule {
    /// The folder and that file.
    KeepTag,
    /// The folder.
    KeepFolder,
    Nothing,
}

/// Why the run ends before it begins.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A text for standard output.
    Print(String),
    /// A wrong use, which ends with this code and a hint.
    Usage(i32, String),
    /// What cannot be done.
    Fatal(Vec<u8>),
    /// A value that is none of a list.
    NoSuch(Vec<u8>),
}

const VERSION_TEXT: &str = "tar (GNU tar) 1.34\nThis is the tar of Tidebox, which does what GNU tar does.\n";

/// Reads the command line.
pub(crate) fn read(arguments: Vec<Vec<u8>>) -> Result<Options, Stop> {
    let mut reading = Reading::new();
    let mut all = Vec::new();
    if let Some(preset) = tidebox_rt::environ().iter().find_map(|variable| variable.strip_prefix(b"TAR_OPTIONS=")) {
        all.extend(preset.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
    }
    all.extend(without_dash(arguments)?);
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, all);
    loop {
        match parser.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(name))) => reading.name(name),
            Ok(Some(Item::Option(key, value))) => reading.set(key, value)?,
            Err(message) => return Err(Stop::Usage(64, message)),
        }
    }
    reading.finish()
}

/// The first word may be options without a dash, whose values follow it one after the other.
fn without_dash(arguments: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Stop> {
    let mut rest = arguments.into_iter();
    let Some(first) = rest.next() else {
        return Ok(Vec::new());
    };
    if first.first() == Some(&b'-') || first.is_empty() {
        return Ok(std::iter::once(first).chain(rest).collect());
    }
    let mut words = Vec::new();
    for letter in &first {
        let letter = char::from(*letter);
        words.push(format!("-{letter}").into_bytes());
        let valued = SHORT.split_once(letter).is_some_and(|(_, after)| after.starts_with(':'));
        if valued {
            let value = rest.next();
            words.push(value.ok_or_else(|| Stop::Usage(2, format!("Old option '{letter}' requires an argument.")))?);
        }
    }
    Ok(words.into_iter().chain(rest).collect())
}

struct Reading {
    mode: Option<Mode>,
    options: Options,
    null: bool,
    clamp: bool,
    posix_option: bool,
    has_format: bool,
    /// Excludes that no name has followed yet.
    idle: Vec<(&'static str, Option<Vec<u8>>)>,
}

fn usage(message: impl Into<String>) -> Stop {
    Stop::Usage(2, message.into())
}

impl Reading {
    fn new() -> Self {
        let archive = tidebox_rt::environ().iter().find_map(|variable| Some(variable.strip_prefix(b"TAPE=")?.to_vec()));
        Self {
            mode: None,
            null: false,
            clamp: false,
            posix_option: false,
            has_format: false,
            idle: Vec::new(),
            options: Options {
                mode: Mode::List,
                archive: archive.unwrap_or_else(|| b"-".to_vec()),
                words: Vec::new(),
                verbose: 0,
                compressor: None,
                auto_compress: false,
                format: Format::Gnu,
                record: 20 * BLOCK,
                absolute: false,
                follow: false,
                hard_follow: false,
                recursive: true,
                sorted: false,
                owner: None,
                group: None,
                numeric: false,
                mtime: None,
                newer: None,
                file_mode: None,
                excludes: Vec::new(),
                tags: Vec::new(),
                transforms: Vec::new(),
                show_transformed: false,
                strip: 0,
                wildcards: None,
                anchored: false,
                ignore_case: false,
                slash_is_plain: true,
                old: Old::Replace,
                touch: false,
                keep_modes: None,
                keep_owner: None,
                to_stdout: false,
                remove_files: false,
                totals: false,
                ignore_zeros: false,
                ignore_failed_read: false,
                full_time: false,
                block_numbers: false,
                check_links: false,
                keep_dirs: false,
                one_file_system: false,
                keep_dir_symlink: false,
                one_top_level: None,
                occurrence: None,
                warnings: true,
                literal: false,
                began: tidebox_rt::monotonic_ns(),
                pax_deletes: Vec::new(),
                pax_name: "%d/PaxHeaders/%f".to_owned(),
                dates: Vec::new(),
                idle_excludes: Vec::new(),
            },
        }
    }

    fn name(&mut self, name: Vec<u8>) {
        self.idle.clear();
        self.options.words.push(Word::Name(name));
    }

    fn mode(&mut self, mode: Mode) -> Result<(), Stop> {
        if self.mode.is_some_and(|before| before != mode) {
            return Err(usage("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"));
        }
        self.mode = Some(mode);
        Ok(())
    }

    fn compressor(&mut self, words: &[&str]) -> Result<(), Stop> {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        if self.options.compressor.as_ref().is_some_and(|before| *before != words) {
            return Err(usage("Conflicting compression options"));
        }
        self.options.compressor = Some(words);
        Ok(())
    }

    fn exclude(&mut self, pattern: &[u8], wildcards: bool) {
        let options = &self.options;
        self.options.excludes.push(Exclude {
            pattern: pattern.to_vec(),
            from: options.words.len(),
            wildcards: wildcards && options.wildcards != Some(false),
            anchored: options.anchored,
            ignore_case: options.ignore_case,
            slash_is_plain: options.slash_is_plain,
        });
    }

    fn exclude_from(&mut self, file: &[u8]) -> Result<(), Stop> {
        let text = whole(file).map_err(|errno| Stop::Fatal([file, b": ", errno.text().as_bytes()].concat()))?;
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            if !line.is_empty() && !line.starts_with(b"#") {
                self.exclude(line, true);
            }
        }
        Ok(())
    }

    /// Does what one option asks for.
    fn set(&mut self, key: char, value: Option<Vec<u8>>) -> Result<(), Stop> {
        let given = value.is_some();
        let value = value.unwrap_or_default();
        let text = String::from_utf8_lossy(&value).into_owned();
        let options = &mut self.options;
        match key {
            'A' => self.mode(Mode::Concatenate)?,
            'c' => self.mode(Mode::Create)?,
            'd' => self.mode(Mode::Compare)?,
            'r' => self.mode(Mode::Append)?,
            't' => {
                self.options.verbose = self.options.verbose.saturating_add(1);
                self.mode(Mode::List)?;
            }
            'u' => self.mode(Mode::Update)?,
            'x' => self.mode(Mode::Extract)?,
            DELETE => self.mode(Mode::Delete)?,
            'f' => options.archive = value,
            'v' => options.verbose = options.verbose.saturating_add(1),
            'C' => options.words.push(Word::Folder(value)),
            'T' => {
                self.idle.clear();
                let null = self.null;
                self.options.words.push(Word::List(value, null));
            }
            ADD_FILE => self.name(value),
            NULL => self.null = true,
            NO_NULL => self.null = false,
            'X' => {
                self.exclude_from(&value)?;
                self.idle.push(("--exclude-from", Some(value)));
            }
            EXCLUDE => {
                self.exclude(&value, true);
                self.idle.push(("--exclude", Some(value)));
            }
            EXCLUDE_VCS => {
                VCS.iter().for_each(|name| self.exclude(name, false));
                self.idle.push(("--exclude-vcs", None));
            }
            EXCLUDE_BACKUPS => {
                [".#*", "*~", "#*#"].iter().for_each(|pattern| self.exclude(pattern.as_bytes(), true));
                self.idle.push(("--exclude-backups", None));
            }
            EXCLUDE_TAG => options.tags.push((value, TagRule::KeepTag)),
            EXCLUDE_TAG_UNDER => options.tags.push((value, TagRule::KeepFolder)),
            EXCLUDE_TAG_ALL => options.tags.push((value, TagRule::Nothing)),
            EXCLUDE_CACHES => options.tags.push((b"CACHEDIR.TAG".to_vec(), TagRule::KeepTag)),
            EXCLUDE_CACHES_UNDER => options.tags.push((b"CACHEDIR.TAG".to_vec(), TagRule::KeepFolder)),
            EXCLUDE_CACHES_ALL => options.tags.push((b"CACHEDIR.TAG".to_vec(), TagRule::Nothing)),
            'z' => self.compressor(&["gzip"])?,
            'j' => self.compressor(&["bzip2"])?,
            'J' => self.compressor(&["xz"])?,
            'Z' => self.compressor(&["compress"])?,
            ZSTD => self.compressor(&["zstd"])?,
            LZMA => self.compressor(&["lzma"])?,
            LZIP => self.compressor(&["lzip"])?,
            LZOP => self.compressor(&["lzop"])?,
            'I' => {
                let words: Vec<&str> = text.split_whitespace().collect();
                self.compressor(&words)?;
            }
            'a' => options.auto_compress = true,
            NO_AUTO => options.auto_compress = false,
            'H' => (options.format, self.has_format) = (format(&text)?, true),
            'o' if self.mode == Some(Mode::Extract) => options.keep_owner = Some(false),
            'o' | OLD_ARCHIVE => options.format = Format::V7,
            POSIX => options.format = Format::Pax,
            PAX_OPTION => self.pax(&text)?,
            'b' => {
                let factor: usize = text
                    .parse()
                    .ok()
                    .filter(|factor| (1..=1 << 20).contains(factor))
                    .ok_or_else(|| usage(format!("{text}: Invalid blocking factor")))?;
                options.record = factor * BLOCK;
            }
            RECORD_SIZE => {
                let size: usize = text.parse().map_err(|_| usage(format!("{text}: Invalid record size")))?;
                if size == 0 || !size.is_multiple_of(BLOCK) || size > 512 << 20 {
                    return Err(usage(format!("Record size must be a multiple of {BLOCK}.")));
                }
                options.record = size;
            }
            'P' => options.absolute = true,
            'h' => options.follow = true,
            HARD_DEREFERENCE => options.hard_follow = true,
            NO_RECURSION => options.recursive = false,
            RECURSION => options.recursive = true,
            SORT => {
                options.sorted = match text.as_str() {
                    "name" => true,
                    "none" | "inode" => false,
                    _ => return Err(Stop::NoSuch(no_such(&value, "--sort", &["none", "name", "inode"]))),
                }
            }
            OWNER => options.owner = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "owner"))?),
            GROUP => options.group = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "group"))?),
            NUMERIC => options.numeric = true,
            MTIME => self.options.mtime = Some((self.date(value, "--mtime")?, false)),
            CLAMP => self.clamp = true,
            'N' | NEWER_MTIME => {
                let name = if key == 'N' { "--after-date" } else { "--newer-mtime" };
                self.options.newer = Some((self.date(value, name)?, key == 'N'));
            }
            MODE => {
                let change = tidebox_gnu::mode::Change::parse(&text);
                options.file_mode = Some(change.ok_or_else(|| Stop::Fatal(b"Invalid mode given on option".to_vec()))?);
            }
            STRIP => {
                options.strip = text.parse().map_err(|_| usage(format!("{text}: Invalid number of elements")))?;
            }
            TRANSFORM => options.transforms.extend(Transform::parse(&value).map_err(usage)?),
            SHOW_TRANSFORMED | SHOW_STORED => options.show_transformed = true,
            WILDCARDS => options.wildcards = Some(true),
            NO_WILDCARDS => options.wildcards = Some(false),
            ANCHORED => options.anchored = true,
            NO_ANCHORED => options.anchored = false,
            IGNORE_CASE => options.ignore_case = true,
            NO_IGNORE_CASE => options.ignore_case = false,
            SLASH => options.slash_is_plain = true,
            NO_SLASH => options.slash_is_plain = false,
            'k' => options.old = Old::Keep,
            SKIP_OLD => options.old = Old::Skip,
            KEEP_NEWER => options.old = Old::KeepNewer,
            OVERWRITE => options.old = Old::Overwrite,
            'U' => options.old = Old::UnlinkFirst,
            KEEP_DIR_SYMLINK => options.keep_dir_symlink = true,
            'm' => options.touch = true,
            'p' => options.keep_modes = Some(true),
            NO_SAME_PERMISSIONS => options.keep_modes = Some(false),
            SAME_OWNER => options.keep_owner = Some(true),
            NO_SAME_OWNER => options.keep_owner = Some(false),
            'O' => options.to_stdout = true,
            REMOVE_FILES => options.remove_files = true,
            TOTALS => options.totals = true,
            'i' => options.ignore_zeros = true,
            IGNORE_FAILED => options.ignore_failed_read = true,
            FULL_TIME => options.full_time = true,
            UTC => options.verbose = options.verbose.saturating_add(1),
            'R' => options.block_numbers = true,
            'l' => options.check_links = true,
            NO_OVERWRITE_DIR => options.keep_dirs = true,
            ONE_FILE_SYSTEM => options.one_file_system = true,
            ONE_TOP_LEVEL => options.one_top_level = Some(value),
            OCCURRENCE => {
                let nth = if given { text.parse().ok() } else { Some(1) };
                options.occurrence = Some(nth.ok_or_else(|| usage(format!("{text}: Invalid number")))?);
            }
            WARNING => options.warnings = text != "none",
            QUOTING => match text.as_str() {
                "literal" => options.literal = true,
                "escape" => options.literal = false,
                _ => {
                    return Err(Stop::Fatal(
                        format!("--quoting-style={text} is not supported by this tar").into_bytes(),
                    ));
                }
            },
            HELP => return Err(Stop::Print(include_str!("help.txt").to_owned())),
            '?' => return Err(Stop::Print(include_str!("help.txt").to_owned())),
            USAGE => {
                return Err(Stop::Print(
                    include_str!("help.txt").lines().take(1).map(|line| format!("{line}\n")).collect(),
                ));
            }
            VERSION => return Err(Stop::Print(VERSION_TEXT.to_owned())),
            DEFAULTS => {
                return Err(Stop::Print("--format=gnu -f- -b20 --quoting-style=escape --rmt-command=/usr/sbin/rmt --rsh-command=/usr/bin/ssh\n".to_owned()));
            }
            'g' | 'G' | 'F' | 'K' | 'L' | 'M' | 'V' | 'W' | 'w' => {
                return Err(Stop::Fatal(format!("option -{key} is not supported by this tar").into_bytes()));
            }
            EXCLUDE_IGNORE | EXCLUDE_VCS_IGNORES => {
                return Err(Stop::Fatal(
                    b"--exclude-ignore and --exclude-vcs-ignores are not supported by this tar".to_vec(),
                ));
            }
            REFUSED | REFUSED_VALUE => {
                let text = "this option is not supported by this tar: see `tar --help' for those that are";
                return Err(Stop::Fatal(text.as_bytes().to_vec()));
            }
            // They change how archives on tapes are read, or when folders get their times, and not what comes out.
            _ => {}
        }
        Ok(())
    }

    /// Reads a time, and keeps its words to show how they were read.
    fn date(&mut self, text: Vec<u8>, option: &'static str) -> Result<(i64, u32), Stop> {
        let time = crate::date::read(&text)?;
        if !text.starts_with(b"/") && !text.starts_with(b".") {
            self.options.dates.push((option, text, time));
        }
        Ok(time)
    }

    fn pax(&mut self, text: &str) -> Result<(), Stop> {
        self.posix_option = true;
        for word in text.split(',') {
            if let Some(key) = word.strip_prefix("delete=") {
                self.options.pax_deletes.push(key.to_owned());
            } else if let Some(name) = word.strip_prefix("exthdr.name=") {
                self.options.pax_name = name.to_owned();
            } else {
                return Err(Stop::Fatal(format!("--pax-option={word} is not supported by this tar").into_bytes()));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Options, Stop> {
        let Some(mode) = self.mode else {
            return Err(usage("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"));
        };
        let mut options = self.options;
        options.mode = mode;
        if self.posix_option {
            if self.has_format && options.format != Format::Pax {
                return Err(usage("--pax-option can be used only on POSIX archives"));
            }
            options.format = Format::Pax;
        }
        if let Some((_, clamps)) = &mut options.mtime {
            *clamps = self.clamp;
        }
        let adds = matches!(mode, Mode::Create | Mode::Append | Mode::Update);
        if adds && options.words.iter().any(|word| matches!(word, Word::Name(_) | Word::List(..))) {
            options.idle_excludes = self.idle;
        }
        if options.auto_compress && mode == Mode::Create && options.compressor.is_none() {
            options.compressor = by_suffix(&options.archive);
        }
        let empty = !options.words.iter().any(|word| matches!(word, Word::Name(_) | Word::List(..)));
        if mode == Mode::Create && empty {
            return Err(usage("Cowardly refusing to create an empty archive"));
        }
        if options.compressor.is_some()
            && matches!(mode, Mode::Append | Mode::Update | Mode::Concatenate | Mode::Delete)
        {
            return Err(usage("Cannot update compressed archives"));
        }
        if let Some(folder) = &mut options.one_top_level
            && folder.is_empty()
        {
            *folder = top_level(&options.archive).ok_or_else(|| {
                usage("Cannot deduce top-level directory name; please set it explicitly with --one-top-level=DIR")
            })?;
        }
        Ok(options)
    }
}

fn format(text: &str) -> Result<Format, Stop> {
    Ok(match text {
        "v7" => Format::V7,
        "oldgnu" => Format::OldGnu,
        "ustar" => Format::Ustar,
        "posix" | "pax" => Format::Pax,
        "gnu" => Format::Gnu,
        _ => return Err(usage(format!("{text}: Invalid archive format"))),
    })
}

/// `NAME`, `NAME:ID`, `:ID` or `ID`.
fn owner(value: &[u8]) -> Option<Owner> {
    let text = std::str::from_utf8(value).ok()?;
    if let Some((name, id)) = text.split_once(':') {
        let name = (!name.is_empty()).then(|| name.as_bytes().to_vec());
        return Some(Owner { name, id: Some(id.parse().ok()?) });
    }
    match text.parse() {
        Ok(id) => Some(Owner { name: None, id: Some(id) }),
        Err(_) => Some(Owner { name: Some(value.to_vec()), id: None }),
    }
}

fn invalid_owner(value: &[u8], what: &str) -> Stop {
    Stop::Fatal([value, b": Invalid ", what.as_bytes()].concat())
}

fn no_such(value: &[u8], option: &str, valid: &[&str]) -> Vec<u8> {
    let mut text = [b"invalid argument ".as_slice(), &crate::quote::quoted(value), b" for "].concat();
    text.extend(crate::quote::quoted(option.as_bytes()));
    text.extend_from_slice(b"\nValid arguments are:");
    for valid in valid {
        text.extend_from_slice(b"\n  - ");
        text.extend(crate::quote::quoted(valid.as_bytes()));
    }
    text
}

/// Suffixes of archives, and what compresses them.
const SUFFIXES: &[(&[u8], &str)] = &[
    (b".gz", "gzip"),
    (b".tgz", "gzip"),
    (b".taz", "gzip"),
    (b".Z", "compress"),
    (b".taZ", "compress"),
    (b".bz2", "bzip2"),
    (b".tbz", "bzip2"),
    (b".tbz2", "bzip2"),
    (b".tz2", "bzip2"),
    (b".lz", "lzip"),
    (b".lzma", "xz"),
    (b".tlz", "xz"),
    (b".lzo", "lzop"),
    (b".xz", "xz"),
    (b".txz", "xz"),
    (b".zst", "zstd"),
    (b".tzst", "zstd"),
];

/// What compresses an archive of that name.
pub(crate) fn by_suffix(name: &[u8]) -> Option<Vec<Vec<u8>>> {
    let found = SUFFIXES.iter().find(|(suffix, _)| name.len() > suffix.len() && name.ends_with(suffix));
    found.map(|(_, program)| vec![program.as_bytes().to_vec()])
}

/// The name of an archive without folders and suffixes.
fn top_level(name: &[u8]) -> Option<Vec<u8>> {
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let known = SUFFIXES.iter().find_map(|(suffix, _)| last.strip_suffix(*suffix)).unwrap_or(last);
    let stem = known.strip_suffix(b".tar").unwrap_or(known);
    (stem.len() < last.len() && !stem.is_empty()).then(|| stem.to_vec())
}

/// The whole of a file; `-` is standard input.
pub(crate) fn whole(name: &[u8]) -> Result<Vec<u8>, Errno> {
    let fd = match name {
        b"-" => 0,
        _ => tidebox_rt::open(name, tidebox_rt::Open { read: true, ..tidebox_rt::Open::default() })?,
    };
    let mut text = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match tidebox_rt::read(fd, &mut chunk) {
            Ok(0) => break,
            Ok(got) => text.extend_from_slice(chunk.get(..got).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    if fd != 0 {
        tidebox_rt::close(fd)?;
    }
    Ok(text)
}
