//! Effects of the options.

use tidebox_gnu::options::ParsedOption;
use tidebox_gnu::stream::read_all;

use super::flags::{Flag, LINE};
use super::lists::Lists;
use super::values::{format, invalid_choice, invalid_owner, owner, program};
use super::{How, Mode, Old, Options, Stop, Word};
use crate::exclude::{Exclude, VCS};
use crate::header::{BLOCK, Format};
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

    /// Applies one option.
    pub(super) fn set(&mut self, option: ParsedOption<Flag>) -> Result<(), Stop> {
        let ParsedOption { id, value, .. } = option;
        if self.how.set(id) || self.lists.set(id) || self.without_value(id) {
            return Ok(());
        }
        if let Some(program) = program(id) {
            return self.compressor(&[program]);
        }
        if self.exclusion(id, &value)? {
            return Ok(());
        }
        match id {
            Flag::Create => self.mode(Mode::Create),
            Flag::Delete => self.mode(Mode::Delete),
            Flag::Compare => self.mode(Mode::Compare),
            Flag::Append => self.mode(Mode::Append),
            Flag::TestLabel => self.mode(Mode::TestLabel),
            Flag::Update => self.mode(Mode::Update),
            Flag::Extract => self.mode(Mode::Extract),
            Flag::List => {
                self.options.verbose = self.options.verbose.saturating_add(1);
                self.mode(Mode::List)
            }
            // When extracting, it means the default: no owners.
            Flag::OldArchive if self.mode == Some(Mode::Extract) => Ok(()),
            Flag::OldArchive => Err(Stop::Fatal(b"the format v7 is not supported".to_vec())),
            Flag::Usage => Err(Stop::Print(LINE.usage.lines().take(1).map(|line| format!("{line}\n")).collect())),
            _ => self.with_value(id, value),
        }
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

    /// Applies an option without a value; returns whether it is one.
    fn without_value(&mut self, id: Flag) -> bool {
        let options = &mut self.options;
        match id {
            Flag::Verbose | Flag::Utc => options.verbose = options.verbose.saturating_add(1),
            Flag::AutoCompress | Flag::NoAutoCompress => options.auto_compress = id == Flag::AutoCompress,
            Flag::Posix => options.format = Format::Pax,
            Flag::AbsoluteNames => options.absolute = true,
            Flag::Dereference => options.follow = true,
            Flag::HardDereference => options.hard_follow = true,
            Flag::NumericOwner => options.numeric = true,
            Flag::ClampMtime => self.clamp = true,
            Flag::ShowTransformed => options.show_transformed = true,
            Flag::KeepOldFiles => options.old = Old::Keep,
            Flag::SkipOldFiles => options.old = Old::Skip,
            Flag::KeepNewerFiles => options.old = Old::KeepNewer,
            Flag::Overwrite => options.old = Old::Overwrite,
            Flag::UnlinkFirst => options.old = Old::UnlinkFirst,
            Flag::KeepDirectorySymlink => options.keep_dir_symlink = true,
            Flag::NoOverwriteDir => options.keep_dirs = true,
            Flag::OneFileSystem => options.one_file_system = true,
            Flag::Touch => options.touch = true,
            Flag::SamePermissions => options.keep_modes = Some(true),
            Flag::NoSamePermissions => options.keep_modes = Some(false),
            Flag::ToStdout => options.to_stdout = true,
            Flag::RemoveFiles => options.remove_files = true,
            Flag::Totals => options.totals = true,
            Flag::IgnoreZeros => options.ignore_zeros = true,
            Flag::IgnoreFailedRead => options.ignore_failed_read = true,
            Flag::IgnoreCommandError => options.ignore_command = true,
            Flag::NoIgnoreCommandError => options.ignore_command = false,
            Flag::FullTime => options.full_time = true,
            _ => return false,
        }
        true
    }

    /// Applies an option that excludes files; returns whether it is one.
    fn exclusion(&mut self, id: Flag, value: &[u8]) -> Result<bool, Stop> {
        match id {
            Flag::ExcludeFrom => {
                self.exclude_from(value)?;
                self.idle.push(("--exclude-from", Some(value.to_vec())));
            }
            Flag::Exclude => {
                self.exclude(value, true);
                self.idle.push(("--exclude", Some(value.to_vec())));
            }
            Flag::ExcludeVcs => {
                VCS.iter().for_each(|name| self.exclude(name, false));
                self.idle.push(("--exclude-vcs", None));
            }
            Flag::ExcludeBackups => {
                [".#*", "*~", "#*#"].iter().for_each(|pattern| self.exclude(pattern.as_bytes(), true));
                self.idle.push(("--exclude-backups", None));
            }
            _ => return Ok(false),
        }
        Ok(true)
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
        let text = read_all(file).map_err(|errno| Stop::Fatal([file, b": ", errno.text().as_bytes()].concat()))?;
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            if !line.is_empty() && !line.starts_with(b"#") {
                self.exclude(line, true);
            }
        }
        Ok(())
    }

    fn with_value(&mut self, id: Flag, value: Vec<u8>) -> Result<(), Stop> {
        let text = String::from_utf8_lossy(&value).into_owned();
        let options = &mut self.options;
        match id {
            Flag::File => options.archive = value,
            Flag::Directory => {
                options.words.push(Word::Folder(value.clone()));
                self.idle.push(("-C", Some(value)));
            }
            Flag::FilesFrom => self.list(&value)?,
            Flag::AddFile => self.name(value),
            Flag::ToCommand => options.command = Some(value),
            Flag::Label => options.label = Some(value),
            Flag::Program => {
                let words: Vec<&str> = text.split_whitespace().collect();
                self.compressor(&words)?;
            }
            Flag::Format => (options.format, self.has_format) = (format(&text)?, true),
            Flag::PaxOption => self.pax(&text)?,
            Flag::BlockingFactor => {
                let factor = text.parse::<usize>().ok().filter(|factor| (1..=1 << 20).contains(factor));
                options.record = factor.ok_or_else(|| usage(format!("{text}: Invalid blocking factor")))? * BLOCK;
            }
            Flag::RecordSize => {
                let size: usize = text.parse().map_err(|_| usage(format!("{text}: Invalid record size")))?;
                if size == 0 || !size.is_multiple_of(BLOCK) || size > 512 << 20 {
                    return Err(usage(format!("Record size must be a multiple of {BLOCK}.")));
                }
                options.record = size;
            }
            Flag::Sort => {
                options.sorted = match text.as_str() {
                    "name" => true,
                    "none" | "inode" => false,
                    _ => return Err(Stop::Invalid(invalid_choice(&value, "--sort", &["none", "name", "inode"]))),
                }
            }
            Flag::Owner => options.owner = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "owner"))?),
            Flag::Group => options.group = Some(owner(&value).ok_or_else(|| invalid_owner(&value, "group"))?),
            Flag::Mtime => self.options.mtime = Some((self.date(value, "--mtime")?, false)),
            Flag::Newer => self.options.newer = Some((self.date(value, "--after-date")?, true)),
            Flag::NewerMtime => self.options.newer = Some((self.date(value, "--newer-mtime")?, false)),
            Flag::Mode => {
                let change = tidebox_gnu::mode::Change::parse(&text);
                options.file_mode = Some(change.ok_or_else(|| Stop::Fatal(b"Invalid mode given on option".to_vec()))?);
            }
            Flag::StripComponents => {
                options.strip = text.parse().map_err(|_| usage(format!("{text}: Invalid number of elements")))?;
            }
            Flag::Transform => options.transforms.extend(Transform::parse(&value).map_err(usage)?),
            Flag::OneTopLevel => options.one_top_level = Some(value),
            Flag::Warning => options.warnings = text != "none",
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
            } else {
                return Err(Stop::Fatal(format!("--pax-option={word} is not supported").into_bytes()));
            }
        }
        Ok(())
    }
}
