//! Command line of `ls`.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{quote_value, unicode_locale};
use tidebox_gnu::options::Syntax;

use super::{Follow, Layout, Mark, Options, Shows, TimeStyle};
use crate::common::block_size::{Unit, block_size, wrong_size};
use crate::ls::order::Key;
use crate::ls::quote::{Style, WORDS, style};
use crate::ls::{MAJOR, MINOR};

const USAGE: &str = "\
Usage: ls [OPTION]... [FILE]...
Lists each FILE, directories with their content; by default the working directory.

";

const NOTES: &str = "\n\
Exit code: 0, 1 for a problem in a directory, 2 for a problem with a FILE.
";

tidebox_gnu::options! {
    /// Options of `ls`.
    pub(super) enum Flag {
        All = "-a, --all", "list names that start with . too";
        AlmostAll = "-A, --almost-all", "same as -a, without . and ..";
        Author = "--author", "with -l, print the author of each file";
        Escape = "-b, --escape", "print C escapes for characters that cannot be shown";
        BlockSize = "--block-size=SIZE", "with -l, print sizes in units of SIZE";
        IgnoreBackups = "-B, --ignore-backups", "do not list names that end with ~";
        Changed = "-c", "use the time of the last change of the status";
        Columns = "-C", "list in columns";
        Color = "--color[=WHEN] | --colour[=WHEN]", "color the names: always, auto or never";
        Directory = "-d, --directory", "list directories themselves, not their content";
        Dired = "-D, --dired", "", unsupported "the option -D is not supported";
        Unsorted = "-f", "list everything in the order of the directory";
        Classify = "-F, --classify[=WHEN]", "append one of */=>@| to names";
        FileType = "--file-type", "same as -F, without *";
        Format = "--format=WORD", "across, commas, horizontal, long, single-column, verbose or vertical";
        FullTime = "--full-time", "same as -l --time-style=full-iso";
        WithoutOwner = "-g", "same as -l, without the owner";
        GroupDirectoriesFirst = "--group-directories-first", "list directories before files";
        NoGroup = "-G, --no-group", "with -l, do not print the group";
        HumanReadable = "-h, --human-readable", "with -l and -s, print sizes such as 1.5K";
        Si = "--si", "same as -h, with powers of 1000";
        DereferenceCommandLine = "-H, --dereference-command-line", "follow links that are operands";
        DereferenceToDir = "--dereference-command-line-symlink-to-dir", "follow operands that link to directories";
        Hide = "--hide=GLOB", "do not list names that match GLOB, unless -a or -A";
        Hyperlink = "--hyperlink[=WHEN]", "", unsupported "the option --hyperlink is not supported";
        IndicatorStyle = "--indicator-style=WORD", "append to names: none, slash, file-type or classify";
        Inode = "-i, --inode", "print the inode number of each file";
        Ignore = "-I, --ignore=GLOB", "do not list names that match GLOB";
        Kibibytes = "-k, --kibibytes", "with -s, print units of 1024 bytes";
        Long = "-l", "print mode, links, owner, group, size and time";
        Dereference = "-L, --dereference", "print the files that links lead to";
        Commas = "-m", "list names separated by commas";
        NumericUidGid = "-n, --numeric-uid-gid", "same as -l, with numbers for owner and group";
        Literal = "-N, --literal", "print names without quotes";
        WithoutGroup = "-o", "same as -l, without the group";
        Slash = "-p", "append / to directories";
        HideControlChars = "-q, --hide-control-chars", "print ? for characters that cannot be shown";
        ShowControlChars = "--show-control-chars", "print such characters as they are";
        QuoteName = "-Q, --quote-name", "print names in double quotes";
        QuotingStyle = "--quoting-style=WORD", "literal, locale, shell, shell-always, shell-escape,\nshell-escape-always, c or escape";
        Reverse = "-r, --reverse", "list in reverse order";
        Recursive = "-R, --recursive", "list directories in directories";
        Blocks = "-s, --size", "print the allocated size of each file";
        BySize = "-S", "sort by size, largest first";
        Sort = "--sort=WORD", "sort by none, size, time, version, extension or width";
        Time = "--time=WORD", "time to print or sort by: atime, ctime, mtime or birth";
        TimeStyle = "--time-style=STYLE", "full-iso, long-iso, iso, locale or +FORMAT";
        ByTime = "-t", "sort by time, newest first";
        TabSize = "-T, --tabsize=COLS", "tab stops are COLS apart (8)";
        Accessed = "-u", "use the time of the last access";
        DirectoryOrder = "-U", "do not sort";
        ByVersion = "-v", "sort by numbers in names";
        Width = "-w, --width=COLS", "width of the output; 0 removes the limit";
        Across = "-x", "list in columns, by lines";
        ByExtension = "-X", "sort by extension";
        Context = "-Z, --context", "print the security context, which is ?";
        Zero = "--zero", "end lines with NUL";
        OnePerLine = "-1", "list one name per line";
    }
}

fn failure(message: impl Into<String>) -> ToolResult {
    ToolResult::Failure(message.into(), MAJOR)
}

fn usage(message: String) -> ToolResult {
    ToolResult::Usage(message, MAJOR)
}

/// Parses a command line. `defaults` are the options of the tool without arguments.
pub(crate) fn parse(tool: &str, arguments: Vec<Vec<u8>>, defaults: Options) -> Result<Options, ToolResult> {
    let mut options = defaults;
    let line = Syntax { notes: NOTES, usage_exit_code: MAJOR, ..Syntax::core(tool, USAGE, 27) };
    let read = line.parse(arguments, |key, value| options.option(key, &String::from_utf8_lossy(&value)));
    options.files = read?;
    options.order.resolve(options.layout == Layout::Long);
    if options.layout == Layout::Long && options.follow == Follow::Dirs || options.mark == Mark::Classify {
        options.follow = if options.follow == Follow::Dirs { Follow::Never } else { options.follow };
    }
    if options.layout == Layout::Long {
        let style = options.time_style.take().or_else(|| std::env::var("TIME_STYLE").ok());
        options.times = style.map_or(Ok(TimeStyle::Locale), |style| time_style(&style))?;
    }
    if options.dirs_as_files && options.follow == Follow::Dirs {
        options.follow = Follow::Never;
    }
    Ok(options)
}

/// Parses a number of C: decimal, or octal or hexadecimal by its prefix.
fn count(text: &str) -> Option<usize> {
    match (text.strip_prefix("0x").or(text.strip_prefix("0X")), text.strip_prefix('0')) {
        (Some(digits), _) => usize::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => usize::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

impl Options {
    fn option(&mut self, key: Flag, value: &str) -> Result<(), ToolResult> {
        match key {
            Flag::All => self.shows = Shows::All,
            Flag::AlmostAll => self.shows = Shows::AlmostAll,
            Flag::Escape => self.style = Style::Escape,
            Flag::IgnoreBackups => self.ignore.extend([b"*~".to_vec(), b".*~".to_vec()]),
            Flag::Changed => self.order.stamp = 'c',
            Flag::Accessed => self.order.stamp = 'u',
            Flag::Columns => self.layout = Layout::Columns,
            Flag::Directory => self.dirs_as_files = true,
            Flag::Unsorted => {
                self.shows = Shows::All;
                self.order.key = Some(Key::None);
            }
            Flag::WithoutOwner => (self.layout, self.owner) = (Layout::Long, false),
            Flag::NoGroup => self.group = false,
            Flag::HumanReadable => (self.sizes, self.block_sizes) = (Unit::Human(1024), Unit::Human(1024)),
            Flag::Kibibytes => self.block_sizes = Unit::Bytes(1024),
            Flag::DereferenceCommandLine => self.follow = Follow::Operands,
            Flag::Inode => self.inodes = true,
            Flag::Ignore => self.ignore.push(value.as_bytes().to_vec()),
            Flag::Hide => self.hidden.push(value.as_bytes().to_vec()),
            Flag::Long => self.layout = Layout::Long,
            Flag::Dereference => self.follow = Follow::Always,
            Flag::Commas => self.layout = Layout::Commas,
            Flag::NumericUidGid => (self.layout, self.numeric) = (Layout::Long, true),
            Flag::WithoutGroup => (self.layout, self.group) = (Layout::Long, false),
            Flag::Slash => self.mark = Mark::Slash,
            Flag::Literal => self.style = Style::Literal,
            Flag::HideControlChars => self.hides = true,
            Flag::QuoteName => self.style = Style::C,
            Flag::Reverse => self.order.reverse = true,
            Flag::Recursive => self.recursive = true,
            Flag::Blocks => self.blocks = true,
            Flag::BySize => self.order.key = Some(Key::Size),
            Flag::ByTime => self.order.key = Some(Key::Time),
            Flag::DirectoryOrder => self.order.key = Some(Key::None),
            Flag::ByVersion => self.order.key = Some(Key::Version),
            Flag::ByExtension => self.order.key = Some(Key::Extension),
            Flag::TabSize | Flag::Width | Flag::BlockSize => return self.number(key, value),
            Flag::Across => self.layout = Layout::Across,
            Flag::OnePerLine if self.layout != Layout::Long => self.layout = Layout::Lines,
            Flag::DereferenceToDir => self.follow = Follow::Dirs,
            Flag::Si => (self.sizes, self.block_sizes) = (Unit::Human(1000), Unit::Human(1000)),
            Flag::ShowControlChars => self.hides = false,
            Flag::Author => self.author = true,
            Flag::FileType => self.mark = Mark::FileType,
            Flag::GroupDirectoriesFirst => self.order.dirs_first = true,
            Flag::FullTime => (self.layout, self.time_style) = (Layout::Long, Some("full-iso".to_owned())),
            Flag::Zero => {
                if self.layout != Layout::Long {
                    self.layout = Layout::Lines;
                }
                (self.end, self.color, self.style, self.hides) = (0, false, Style::Literal, false);
            }
            _ => return self.choice(key, value),
        }
        Ok(())
    }

    /// Applies an option whose value is a number.
    fn number(&mut self, key: Flag, value: &str) -> Result<(), ToolResult> {
        match key {
            Flag::TabSize => {
                let wrong = || failure(format!("invalid tab size: {}", quote_value(value.as_bytes())));
                self.tab_size = count(value).ok_or_else(wrong)?;
            }
            Flag::Width => {
                let wrong = || failure(format!("invalid line width: {}", quote_value(value.as_bytes())));
                // 0 removes the limit.
                self.width = Some(count(value).ok_or_else(wrong)?).filter(|width| *width > 0).unwrap_or(usize::MAX);
            }
            _ => {
                let wrong = || failure(wrong_size("--block-size", value.as_bytes()));
                let unit = block_size(value.strip_prefix('\'').unwrap_or(value)).ok_or_else(wrong)?;
                (self.sizes, self.block_sizes) = (unit, unit);
            }
        }
        Ok(())
    }

    /// Applies an option whose value is one of a few names.
    fn choice(&mut self, key: Flag, value: &str) -> Result<(), ToolResult> {
        let choose = |option: &str, words: &[&[&str]]| {
            parse_choice(option, value.as_bytes(), words).map_err(|message| ToolResult::Usage(message, MINOR))
        };
        // Without a value the option means `always`.
        let when = |option: &str| -> Result<bool, ToolResult> {
            Ok(match if value.is_empty() { 0 } else { choose(option, WHEN)? } {
                0 => true,
                1 => false,
                _ => tidebox_rt::is_terminal(1),
            })
        };
        match key {
            Flag::Classify if when("--classify")? => self.mark = Mark::Classify,
            Flag::Color => self.color = when("--color")?,
            Flag::Sort => {
                let keys = [Key::None, Key::Time, Key::Size, Key::Extension, Key::Version, Key::Width];
                let words: &[&[&str]] = &[&["none"], &["time"], &["size"], &["extension"], &["version"], &["width"]];
                // Newer versions of GNU `ls` accept `name`, which the message does not list.
                self.order.key =
                    if value == "name" { Some(Key::Name) } else { keys.get(choose("--sort", words)?).copied() };
            }
            Flag::Time => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"], &["birth", "creation"]];
                self.order.stamp = match value {
                    "mtime" | "modification" => 'm',
                    _ => match choose("--time", words)? {
                        0 => 'u',
                        1 => 'c',
                        _ => 'b',
                    },
                }
            }
            Flag::Format => {
                let words: &[&[&str]] =
                    &[&["verbose", "long"], &["commas"], &["horizontal", "across"], &["vertical"], &["single-column"]];
                let layouts = [Layout::Long, Layout::Commas, Layout::Across, Layout::Columns, Layout::Lines];
                self.layout = layouts.get(choose("--format", words)?).copied().unwrap_or(self.layout);
            }
            Flag::IndicatorStyle => {
                let words: &[&[&str]] = &[&["none"], &["slash"], &["file-type"], &["classify"]];
                let marks = [Mark::Nothing, Mark::Slash, Mark::FileType, Mark::Classify];
                self.mark = marks.get(choose("--indicator-style", words)?).copied().unwrap_or(self.mark);
            }
            Flag::QuotingStyle => self.style = style(choose("--quoting-style", WORDS)?),
            Flag::TimeStyle => self.time_style = Some(value.to_owned()),
            Flag::Context => self.contexts = true,
            _ => {}
        }
        Ok(())
    }
}

const WHEN: &[&[&str]] = &[&["always", "yes", "force"], &["never", "no", "none"], &["auto", "tty", "if-tty"]];

fn time_style(value: &str) -> Result<TimeStyle, ToolResult> {
    if let Some(format) = value.strip_prefix('+') {
        return Ok(TimeStyle::Format(format.to_owned()));
    }
    let word = match value.strip_prefix("posix-") {
        // Styles with this prefix do not apply to the POSIX locale.
        Some(_) if !unicode_locale() => "locale",
        Some(word) => word,
        None => value,
    };
    Ok(match word {
        "full-iso" => TimeStyle::FullIso,
        "long-iso" => TimeStyle::LongIso,
        "iso" => TimeStyle::Iso,
        "locale" => TimeStyle::Locale,
        _ => {
            return Err(usage(format!(
                "invalid argument {} for {}\nValid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  \
                 - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format",
                quote_value(value.as_bytes()),
                quote_value(b"time style")
            )));
        }
    })
}
