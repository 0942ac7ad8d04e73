//! Evaluation of the options.

use tidebox_gnu::user::Kind;

use super::lists::Lists;
use super::owners;
use super::values::{format, invalid_owner, no_such, owner};
use super::{How, Mode, Old, Options, Stop, TagRule, Word, whole};
use crate::checkpoint::Checkpoints;
use crate::exclude::{Exclude, IgnoreFile, Reach, VCS};
use crate::flags::{
    ADD_FILE, BACKUP, CHECKPOINT, CHECKPOINT_ACTION, CLAMP, DEFAULTS, DELETE, EXCLUDE, EXCLUDE_BACKUPS, EXCLUDE_CACHES,
    EXCLUDE_CACHES_ALL, EXCLUDE_CACHES_UNDER, EXCLUDE_IGNORE, EXCLUDE_IGNORE_BELOW, EXCLUDE_TAG, EXCLUDE_TAG_ALL,
    EXCLUDE_TAG_UNDER, EXCLUDE_VCS, EXCLUDE_VCS_IGNORES, FULL_TIME, GROUP, GROUP_MAP, HARD_DEREFERENCE, HELP,
    IGNORE_COMMAND, IGNORE_FAILED, INDEX_FILE, KEEP_DIR_SYMLINK, KEEP_NEWER, LZIP, LZMA, LZOP, MODE, MTIME,
    NEWER_MTIME, NO_AUTO, NO_IGNORE_COMMAND, NO_OVERWRITE_DIR, NO_QUOTE_CHARS, NO_SAME_OWNER, NO_SAME_PERMISSIONS,
    NUMERIC, OCCURRENCE, OLD_ARCHIVE, ONE_FILE_SYSTEM, ONE_TOP_LEVEL, OVERWRITE, OWNER, OWNER_MAP, PAX_OPTION, POSIX,
    QUOTE_CHARS, QUOTING, RECORD_SIZE, REFUSED, REFUSED_VALUE, REMOVE_FILES, SAME_OWNER, SHOW_STORED, SHOW_TRANSFORMED,
    SKIP_OLD, SORT, STRIP, SUFFIX, TEST_LABEL, TO_COMMAND, TOTALS, TRANSFORM, USAGE, UTC, VERSION, WARNING, ZSTD,
};
use crate::header::{BLOCK, Format};
use crate::quote::Style;
use crate::transform::Transform;

/// State of the command-line parser.
pub(super) struct Reading {
    pub(super) mode: Option<Mode>,
    pub(super) options: Options,
    pub(super) how: How,
    pub(super) lists: Lists,
    pub(super) clamp: bool,
    pub(super) posix_option: bool,
    pub(super) has_format: bool,
    /// Positional options that no name has followed yet.
    pub(super) idle: Vec<(&'static str, Option<Vec<u8>>)>,
}

pub(super) fn usage(message: impl Into<String>) -> Stop {
    Stop::Usage(2, message.into())
}

impl Reading {
    pub(super) fn new() -> Self {
        Self {
            mode: None,
            how: How::default(),
            lists: Lists::default(),
            clamp: false,
            posix_option: false,
            has_format: false,
            idle: Vec::new(),
            options: Options::new(),
        }
    }

    pub(super) fn name(&mut self, name: Vec<u8>) {
        self.idle.clear();
        self.options.words.push(Word::Name(name, self.how));
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
        self.options.excludes.push(Exclude {
            pattern: pattern.to_vec(),
            from: self.options.words.len(),
            wildcards: wildcards && self.how.wildcards != Some(false),
            anchored: self.how.anchored == Some(true),
            ignore_case: self.how.ignore_case,
            slash_is_plain: self.how.slash_is_plain,
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

    /// Applies one option.
    pub(super) fn set(&mut self, key: char, value: Option<Vec<u8>>) -> Result<(), Stop> {
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
            'C' => {
                options.words.push(Word::Folder(value.clone()));
                self.idle.push(("-C", Some(value)));
            }
            'T' => self.list(&value)?,
            ADD_FILE => self.name(value),
            'K' => options.start = Some(value),
            'w' => options.asks = true,
            'W' => options.verify = true,
            INDEX_FILE => options.index_file = Some(value),
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
            // GNU tar looks below the directory for both.
            EXCLUDE_IGNORE | EXCLUDE_IGNORE_BELOW => {
                options.ignore_files.push(IgnoreFile { name: value, reach: Reach::Below });
            }
            EXCLUDE_VCS_IGNORES => options.ignore_files.extend(IgnoreFile::of_version_control()),
            TO_COMMAND => options.command = Some(value),
            IGNORE_COMMAND => options.ignore_command = true,
            NO_IGNORE_COMMAND => options.ignore_command = false,
            CHECKPOINT => Checkpoints::of(&mut options.checkpoints).every(&text).map_err(Stop::Fatal)?,
            CHECKPOINT_ACTION => Checkpoints::of(&mut options.checkpoints).action(&value).map_err(Stop::Fatal)?,
            BACKUP => options.backup.set_control(Some(value)),
            SUFFIX => options.backup.suffix(value),
            'V' => options.label = Some(value),
            TEST_LABEL => self.mode(Mode::TestLabel)?,
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
            SORT => {
                options.sorted = match text.as_str() {
                    "name" => true,
                    "none" | "inode" => false,
                    _ => return Err(Stop::NoSuch(no_such(&value, "--sort", &["none", "name", "inode"]))),
                }
            }
            OWNER => options.owner = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "owner"))?),
            GROUP => options.group = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "group"))?),
            OWNER_MAP => options.owner_map = owners::read(&value, Kind::User)?,
            GROUP_MAP => options.group_map = owners::read(&value, Kind::Group)?,
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
                let wrong = || Stop::Fatal([value.as_slice(), b": Invalid number"].concat());
                options.occurrence = Some(nth.ok_or_else(wrong)?);
            }
            WARNING => options.warnings = text != "none",
            QUOTING => {
                let style = Style::named(&text).ok_or_else(|| {
                    let hint = "Try 'tar --quoting-style=help' to get a list.";
                    Stop::Fatal(format!("Unknown quoting style '{text}'. {hint}").into_bytes())
                })?;
                crate::quote::set_style(style);
            }
            QUOTE_CHARS => crate::quote::mark(&value, true),
            NO_QUOTE_CHARS => crate::quote::mark(&value, false),
            HELP => return Err(Stop::Print(include_str!("../help.txt").to_owned())),
            '?' => return Err(Stop::Print(include_str!("../help.txt").to_owned())),
            USAGE => {
                return Err(Stop::Print(
                    include_str!("../help.txt").lines().take(1).map(|line| format!("{line}\n")).collect(),
                ));
            }
            VERSION => return Err(Stop::Print(super::VERSION_TEXT.to_owned())),
            DEFAULTS => {
                return Err(Stop::Print("--format=gnu -f- -b20 --quoting-style=escape --rmt-command=/usr/sbin/rmt --rsh-command=/usr/bin/ssh\n".to_owned()));
            }
            'g' | 'G' | 'F' | 'L' | 'M' => {
                return Err(Stop::Fatal(format!("option -{key} is not supported by this tar").into_bytes()));
            }
            REFUSED | REFUSED_VALUE => {
                let text = "this option is not supported by this tar: see `tar --help' for those that are";
                return Err(Stop::Fatal(text.as_bytes().to_vec()));
            }
            _ if self.how.set(key) || self.lists.set(key) => {}
            // They change how tapes are read, or when directories get their times, but not the result.
            _ => {}
        }
        Ok(())
    }

    /// Parses a time, and keeps the string to show the result.
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
                self.options.pax.deletes.push(key.to_owned());
            } else if let Some(name) = word.strip_prefix("exthdr.name=") {
                self.options.pax.name = name.to_owned();
            } else if let Some((key, value)) = word.split_once(":=") {
                self.options.pax.each.push((key.to_owned(), value.as_bytes().to_vec()));
            } else if let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.contains('.')) {
                self.options.pax.global.push((key.to_owned(), value.as_bytes().to_vec()));
            } else {
                return Err(Stop::Fatal(format!("--pax-option={word} is not supported by this tar").into_bytes()));
            }
        }
        Ok(())
    }
}
