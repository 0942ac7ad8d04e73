//! Command line of `du`.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_value};
use tidebox_gnu::options::{ParsedOption, Syntax};

use crate::common::block_size::{Unit, block_size, of_environment, wrong_size};

const USAGE: &str = "\
Usage: du [OPTION]... [FILE]...
Prints the disk usage of each FILE, for directories recursively.

";

tidebox_gnu::options! {
    /// Options of `du`.
    pub(super) enum Flag {
        All = "-a, --all", "print files, not only directories";
        Summarize = "-s, --summarize", "print only a total for each FILE";
        MaxDepth = "-d, --max-depth=N", "print directories at most N levels deep";
        Total = "-c, --total", "print a grand total";
        SeparateDirs = "-S, --separate-dirs", "do not include the size of subdirectories";
        HumanReadable = "-h, --human-readable", "print sizes such as 1K, 234M, 2G";
        Si = "--si", "like -h, with powers of 1000";
        Bytes = "-b, --bytes", "same as --apparent-size --block-size=1";
        ApparentSize = "--apparent-size", "print file sizes instead of disk usage";
        Inodes = "--inodes", "print the number of files instead of disk usage";
        Kibibytes = "-k", "print units of 1 KiB (the default)";
        Mebibytes = "-m", "print units of 1 MiB";
        BlockSize = "-B, --block-size=SIZE", "print units of SIZE bytes; K, M, G may follow";
        CountLinks = "-l, --count-links", "count every hard link";
        Dereference = "-L, --dereference", "follow links";
        DereferenceArgs = "-D, -H, --dereference-args", "follow links that are operands";
        OneFileSystem = "-x, --one-file-system", "has no effect: there is one file system";
        Null = "-0, --null", "end lines with a zero byte";
        Exclude = "--exclude=GLOB", "skip files whose name matches GLOB";
        NoDereference = "-P, --no-dereference", "do not follow links (the default)";
        ExcludeFrom = "-X, --exclude-from=FILE", "skip files that match a pattern of FILE";
        Files0From = "--files0-from=FILE", "read NUL-terminated file names from FILE";
        Threshold = "-t, --threshold=SIZE", "skip entries smaller than SIZE, or larger if negative";
        Time = "--time[=WHICH]", "print the latest time: modification, atime or ctime";
        TimeStyle = "--time-style=STYLE", "full-iso, long-iso, iso or +FORMAT";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("du", USAGE, 24);

/// Parsed options of `du`.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) all: bool,
    pub(super) max_depth: Option<usize>,
    pub(super) summarize: bool,
    pub(super) total: bool,
    pub(super) separate: bool,
    pub(super) apparent: bool,
    pub(super) count_links: bool,
    pub(super) follow: bool,
    pub(super) follow_arguments: bool,
    pub(super) unit: Unit,
    pub(super) end: u8,
    pub(super) exclude: Vec<Vec<u8>>,
    pub(super) inodes: bool,
    /// Minimum size to print; if negative, the maximum.
    pub(super) threshold: Option<i64>,
    pub(super) list: Option<Vec<u8>>,
    /// Time to print: `m`, `c` or `u`.
    pub(super) time: Option<char>,
    time_style: Vec<u8>,
    pub(super) time_format: Vec<u8>,
}

/// Parses the command line. Returns the options and the files.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), ToolResult> {
    let mut options = Options {
        all: false,
        max_depth: None,
        summarize: false,
        total: false,
        separate: false,
        apparent: false,
        count_links: false,
        follow: false,
        follow_arguments: false,
        unit: of_environment(&["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]),
        end: b'\n',
        exclude: Vec::new(),
        inodes: false,
        threshold: None,
        list: None,
        time: None,
        time_style: b"long-iso".to_vec(),
        time_format: Vec::new(),
    };
    let mut files = LINE.parse_given(arguments, |given| options.option(given))?;
    if options.time.is_some() {
        options.time_format =
            time_format(&options.time_style).map_err(|message| LINE.usage_error::<ToolResult>(message))?;
    }
    if options.inodes && options.apparent {
        print_error("du", "warning: options --apparent-size and -b are ineffective with --inodes");
    }
    if options.summarize && options.all {
        return Err(LINE.usage_error("cannot both summarize and show all entries"));
    }
    if options.summarize && options.max_depth == Some(0) {
        print_error("du", "warning: summarizing is the same as using --max-depth=0");
    }
    if options.summarize && options.max_depth.is_some_and(|depth| depth > 0) {
        let depth = options.max_depth.unwrap_or(0);
        return Err(LINE.usage_error(format!("warning: summarizing conflicts with --max-depth={depth}")));
    }
    if options.summarize {
        options.max_depth = Some(0);
    }
    if let Some(extra) = files.first().filter(|_| options.list.is_some()) {
        let rest = "file operands cannot be combined with --files0-from";
        return Err(LINE.usage_error(format!("extra operand {}\n{rest}", quote_value(extra))));
    }
    if files.is_empty() && options.list.is_none() {
        files.push(b".".to_vec());
    }
    Ok((options, files))
}

impl Options {
    fn option(&mut self, ParsedOption { id, letter, value }: ParsedOption<Flag>) -> Result<(), ToolResult> {
        let wrong = |message: String| LINE.usage_error::<ToolResult>(message);
        match id {
            Flag::All => self.all = true,
            Flag::Summarize => self.summarize = true,
            Flag::Total => self.total = true,
            Flag::SeparateDirs => self.separate = true,
            Flag::HumanReadable => self.unit = Unit::Human(1024),
            Flag::Si => self.unit = Unit::Human(1000),
            Flag::Bytes => (self.apparent, self.unit) = (true, Unit::Bytes(1)),
            Flag::Kibibytes => self.unit = Unit::Bytes(1024),
            Flag::Mebibytes => self.unit = Unit::Bytes(1 << 20),
            Flag::ApparentSize => self.apparent = true,
            Flag::CountLinks => self.count_links = true,
            Flag::Dereference => self.follow = true,
            Flag::NoDereference => (self.follow, self.follow_arguments) = (false, false),
            Flag::DereferenceArgs => self.follow_arguments = true,
            Flag::Null => self.end = 0,
            Flag::Exclude => self.exclude.push(value),
            Flag::ExcludeFrom => {
                let text = tidebox_gnu::stream::read_all(&value);
                let text = text.map_err(|errno| {
                    wrong(format!("{}: {}", tidebox_gnu::message::path_label(&value), errno.text()))
                })?;
                self.exclude
                    .extend(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
            }
            Flag::Inodes => (self.inodes, self.unit) = (true, Unit::Bytes(1)),
            Flag::Files0From => self.list = Some(value),
            Flag::Threshold => {
                let option = if letter.is_some() { "-t" } else { "--threshold" };
                let wrong = || ToolResult::Failure(wrong_size(option, &value), 1);
                self.threshold = Some(threshold(&value).ok_or_else(wrong)?);
            }
            Flag::Time => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"]];
                self.time = Some(match value.as_slice() {
                    b"" | b"mtime" | b"modification" => 'm',
                    _ if parse_choice("--time", &value, words).map_err(wrong)? == 0 => 'u',
                    _ => 'c',
                });
            }
            Flag::TimeStyle => self.time_style = value,
            Flag::MaxDepth => {
                let text = String::from_utf8_lossy(&value);
                let depth =
                    text.parse().map_err(|_| wrong(format!("invalid maximum depth {}", quote_value(&value))))?;
                self.max_depth = Some(depth);
            }
            Flag::BlockSize => {
                let option = if letter.is_some() { "-B" } else { "--block-size" };
                let wrong = || ToolResult::Failure(wrong_size(option, &value), 1);
                self.unit = block_size(&String::from_utf8_lossy(&value)).ok_or_else(wrong)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the format of `--time-style`.
fn time_format(style: &[u8]) -> Result<Vec<u8>, String> {
    let words: &[&[&str]] = &[&["full-iso"], &["long-iso"], &["iso"]];
    Ok(match style.strip_prefix(b"+") {
        Some(format) => format.to_vec(),
        None => match parse_choice("time style", style, words)? {
            0 => b"%Y-%m-%d %H:%M:%S.%N %z".to_vec(),
            1 => b"%Y-%m-%d %H:%M".to_vec(),
            _ => b"%Y-%m-%d".to_vec(),
        },
    })
}

/// Parses the value of `-t`, which may be negative.
fn threshold(value: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(value).into_owned();
    let (sign, size) = text.strip_prefix('-').map_or((1, text.as_str()), |size| (-1, size));
    let size = match block_size(size) {
        Some(Unit::Bytes(size) | Unit::Lettered(size, _)) => i64::try_from(size).ok(),
        _ if size == "0" && sign > 0 => Some(0),
        _ => None,
    };
    size.map(|size| sign * size)
}
