//! The command line.

mod value;

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{print_error, unicode_locale};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::{self, Dialect};

use crate::walk::Filter;
use value::{context, max_count, read_file};

/// Hint after the message of a usage error.
pub(crate) const USAGE: &str = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.";

/// Text of `--help` before the options.
const HELP: &str = "\
Usage: grep [OPTION]... PATTERNS [FILE]...
Search for PATTERNS in each FILE; without FILE in standard input, with -r in the
working directory. PATTERNS may be several, separated by newlines.

How patterns are read:
";

const NOTES: &str = "\n\
Exit code: 0 when a line was selected, 1 when none was, 2 on any trouble.
";

/// Scripts check the first line for `GNU`.
const VERSION: &str =
    "grep (GNU grep) 3.8\nTidebox's grep does what that version does. It is free under MIT or Apache-2.0.\n";

/// Output per file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The selected lines.
    Lines,
    /// The number of selected lines.
    Count,
    /// The file name if a line is selected.
    Matching,
    /// The file name if no line is selected.
    NotMatching,
}

/// Handling of directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directories {
    Read,
    Recurse,
    Skip,
}

/// Handling of binary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// Print that it matches.
    Report,
    /// It is searched as text.
    Text,
    /// It does not match.
    Never,
}

/// All options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) patterns: Vec<Vec<u8>>,
    pub(crate) regex: regex::Options,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) filter: Filter,
    pub(crate) listing: Listing,
    pub(crate) directories: Directories,
    /// Skip devices and FIFOs named on the command line.
    pub(crate) skips_devices: bool,
    pub(crate) follow_links: bool,
    pub(crate) binary: Binary,
    pub(crate) invert: bool,
    pub(crate) only_matching: bool,
    pub(crate) quiet: bool,
    pub(crate) no_messages: bool,
    /// Print names; `None` depends on the number of files.
    pub(crate) with_names: Option<bool>,
    pub(crate) line_numbers: bool,
    pub(crate) byte_offsets: bool,
    pub(crate) initial_tab: bool,
    pub(crate) null_after_name: bool,
    pub(crate) line_buffered: bool,
    pub(crate) color: bool,
    pub(crate) max_count: Option<u64>,
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    pub(crate) separator: Option<Vec<u8>>,
    pub(crate) label: Option<Vec<u8>>,
}

impl Options {
    /// Returns whether lines are printed.
    pub(crate) fn prints_lines(&self) -> bool {
        self.listing == Listing::Lines && !self.quiet
    }
}

/// Action of a command line.
#[derive(Debug)]
pub(crate) enum Request {
    Search(Box<Options>),
    /// Only text is printed.
    Print(String),
    /// An option has an invalid choice.
    NoSuchChoice(String),
    /// The command line is valid but requests something unsupported.
    Fail(String),
}

tidebox_gnu::options! {
    /// Options of `grep`.
    enum Flag {
        BasicRegexp = "-G, --basic-regexp", "basic regular expressions (the default)";
        ExtendedRegexp = "-E, --extended-regexp", "extended regular expressions";
        FixedStrings = "-F, --fixed-strings", "strings";
        PerlRegexp = "-P, --perl-regexp", "Perl regular expressions";
        Regexp = "-e, --regexp=PATTERNS", "use PATTERNS, also when they begin with a dash";
        File = "-f, --file=FILE", "take patterns from FILE, one on each line";
        IgnoreCase = "-i, --ignore-case | -y", "letters match in either case";
        NoIgnoreCase = "--no-ignore-case", "they do not (the default)";
        WordRegexp = "-w, --word-regexp", "match whole words only";
        LineRegexp = "-x, --line-regexp", "match whole lines only";
        NullData = "-z, --null-data", "lines end in a zero byte\n\nWhich lines and files:";
        InvertMatch = "-v, --invert-match", "select lines that do not match";
        MaxCount = "-m, --max-count=NUM", "stop after NUM selected lines of a file";
        Recursive = "-r, --recursive", "search folders too, but follow links only when named";
        DereferenceRecursive = "-R, --dereference-recursive", "search folders too and follow links";
        Directories = "-d, --directories=ACTION", "read, recurse or skip folders";
        Devices = "-D, --devices=ACTION", "read or skip devices";
        Include = "--include=GLOB", "search only files whose name matches GLOB";
        Exclude = "--exclude=GLOB", "skip files whose name matches GLOB";
        ExcludeFrom = "--exclude-from=FILE", "skip files whose name matches a GLOB in FILE";
        ExcludeDir = "--exclude-dir=GLOB", "skip folders whose name matches GLOB";
        Text = "-a, --text", "treat every file as text";
        SkipBinary = "-I", "treat binary files as not matching";
        BinaryFiles = "--binary-files=TYPE", "binary, text or without-match";
        Binary = "-U, --binary", "has no effect here\n\nWhat is printed:";
        Count = "-c, --count", "only the number of selected lines";
        FilesWithMatches = "-l, --files-with-matches", "only names of files with selected lines";
        FilesWithoutMatch = "-L, --files-without-match", "only names of files without";
        OnlyMatching = "-o, --only-matching", "only the parts that match";
        Quiet = "-q, --quiet, --silent", "nothing; the exit code tells";
        NoMessages = "-s, --no-messages", "no message about files that cannot be read";
        LineNumber = "-n, --line-number", "line numbers";
        ByteOffset = "-b, --byte-offset", "byte offsets";
        WithFilename = "-H, --with-filename", "file names";
        NoFilename = "-h, --no-filename", "no file names";
        Label = "--label=LABEL", "the name of standard input";
        InitialTab = "-T, --initial-tab", "a tab before each line";
        Null = "-Z, --null", "a zero byte after each file name";
        LineBuffered = "--line-buffered", "write each line at once";
        Color = "--color[=WHEN] | --colour[=WHEN]", "colors: always, never or auto\n\nLines around:";
        BeforeContext = "-B, --before-context=NUM", "NUM lines before";
        AfterContext = "-A, --after-context=NUM", "NUM lines after";
        Context = "-C, --context=NUM", "NUM lines before and after";
        GroupSeparator = "--group-separator=SEP", "print SEP between groups instead of --";
        NoGroupSeparator = "--no-group-separator", "print nothing between groups";
        Matcher = "-X MATCHER", "";
        Help = "--help", "";
        Version = "-V, --version", "";
        UnixByteOffsets = "-u, --unix-byte-offsets", "";
        Digit = "-0 ... -9", "";
    }
}

/// Reason to stop parsing.
enum Stop {
    /// With the usage, and a message before it.
    Usage(Option<String>),
    /// With the usage after a message about an invalid choice.
    NoSuchChoice(String),
    /// With a message only.
    Fail(String),
    /// With text on stdout.
    Print(String),
}

impl FromEarlyExit for Stop {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        match answer {
            ToolResult::Print(text) => Self::Print(String::from_utf8_lossy(&text).into_owned()),
            ToolResult::Usage(message, _) | ToolResult::Failure(message, _) => Self::Usage(Some(message)),
            ToolResult::Code(_) | ToolResult::PrintAndCode(..) => Self::Usage(None),
        }
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("grep", HELP, 28) };

/// Parses the command line. The error is a message to print before the usage.
pub(crate) fn parse(program: &str, arguments: Vec<Vec<u8>>) -> Result<Request, Option<String>> {
    match Reader::new(program).read(arguments) {
        Ok(options) => Ok(Request::Search(Box::new(options))),
        Err(Stop::Usage(message)) => Err(message),
        Err(Stop::NoSuchChoice(message)) => Ok(Request::NoSuchChoice(message)),
        Err(Stop::Fail(message)) => Ok(Request::Fail(message)),
        Err(Stop::Print(text)) => Ok(Request::Print(text)),
    }
}

struct Reader {
    options: Options,
    /// `-e` or `-f` was given, so that the first operand is a file.
    patterns_given: bool,
    /// Digits of `-NUM` until now.
    digits: String,
    /// Number of arguments after the one with the last digit.
    digits_at: Option<usize>,
    context: Option<usize>,
}

impl Reader {
    fn new(program: &str) -> Self {
        let dialect = match program {
            "egrep" => Dialect::Extended,
            "fgrep" => Dialect::Fixed,
            _ => Dialect::Basic,
        };
        let regex = regex::Options { unicode: unicode_locale(), ..regex::Options::of(dialect) };
        let options = Options {
            patterns: Vec::new(),
            regex,
            files: Vec::new(),
            filter: Filter::default(),
            listing: Listing::Lines,
            directories: Directories::Read,
            skips_devices: false,
            follow_links: false,
            binary: Binary::Report,
            invert: false,
            only_matching: false,
            quiet: false,
            no_messages: false,
            with_names: None,
            line_numbers: false,
            byte_offsets: false,
            initial_tab: false,
            null_after_name: false,
            line_buffered: false,
            color: false,
            max_count: None,
            before: None,
            after: None,
            separator: Some(b"--".to_vec()),
            label: None,
        };
        Self { options, patterns_given: false, digits: String::new(), digits_at: None, context: None }
    }

    fn read(mut self, arguments: Vec<Vec<u8>>) -> Result<Options, Stop> {
        let mut items = LINE.items(arguments);
        while let Some(item) = items.next_item::<Stop>()? {
            match item {
                Item::Operand(operand) => self.options.files.push(operand),
                Item::Option(key, value) => {
                    if key == Flag::Digit {
                        // Digits of one argument form one number; another argument starts a new number.
                        let left = items.left();
                        if self.digits_at.replace(left) != Some(left) {
                            self.digits.clear();
                        }
                        self.digits.extend(items.letter());
                    }
                    self.option(key, value.unwrap_or_default())?;
                }
            }
        }
        if !self.digits.is_empty() {
            self.context = Some(context(self.digits.as_bytes())?);
        }
        self.options.before = self.options.before.or(self.context);
        self.options.after = self.options.after.or(self.context);
        if !self.patterns_given {
            if self.options.files.is_empty() {
                return Err(Stop::Usage(None));
            }
            let pattern = self.options.files.remove(0);
            self.add_patterns(&pattern);
        }
        Ok(self.options)
    }

    fn option(&mut self, key: Flag, value: Vec<u8>) -> Result<(), Stop> {
        let options = &mut self.options;
        match key {
            Flag::AfterContext => options.after = Some(context(&value)?),
            Flag::BeforeContext => options.before = Some(context(&value)?),
            Flag::Context => self.context = Some(context(&value)?),
            Flag::ExtendedRegexp => return self.dialect(Dialect::Extended),
            Flag::FixedStrings => return self.dialect(Dialect::Fixed),
            Flag::BasicRegexp => return self.dialect(Dialect::Basic),
            Flag::PerlRegexp => return self.dialect(Dialect::Perl),
            Flag::Matcher => return self.matcher(&value),
            Flag::WithFilename => options.with_names = Some(true),
            Flag::NoFilename => options.with_names = Some(false),
            Flag::SkipBinary => options.binary = Binary::Never,
            Flag::Text => options.binary = Binary::Text,
            Flag::FilesWithoutMatch => options.listing = Listing::NotMatching,
            Flag::FilesWithMatches => options.listing = Listing::Matching,
            Flag::Count if options.listing == Listing::Lines => options.listing = Listing::Count,
            Flag::InitialTab => options.initial_tab = true,
            Flag::ByteOffset => options.byte_offsets = true,
            Flag::LineNumber => options.line_numbers = true,
            Flag::Regexp => self.add_patterns(&value),
            Flag::File => return self.pattern_file(&value),
            Flag::IgnoreCase => options.regex.ignore_case = true,
            Flag::MaxCount => options.max_count = max_count(&value)?,
            Flag::OnlyMatching => options.only_matching = true,
            Flag::Quiet => options.quiet = true,
            Flag::DereferenceRecursive => (options.directories, options.follow_links) = (Directories::Recurse, true),
            Flag::Recursive => (options.directories, options.follow_links) = (Directories::Recurse, false),
            Flag::NoMessages => options.no_messages = true,
            Flag::InvertMatch => options.invert = true,
            Flag::WordRegexp => options.regex.whole_word = true,
            Flag::LineRegexp => options.regex.whole_line = true,
            Flag::Null => options.null_after_name = true,
            Flag::NullData => options.regex.terminator = 0,
            Flag::Directories => return self.directories(&value),
            Flag::Devices if value != b"read" && value != b"skip" => {
                return Err(Stop::Fail("unknown devices method".to_owned()));
            }
            // `-U` affects only line ends of other systems.
            Flag::Devices => options.skips_devices = value == b"skip",
            Flag::Count | Flag::Binary => {}
            Flag::UnixByteOffsets => print_error("grep", "warning: --unix-byte-offsets (-u) is obsolete"),
            _ => return self.long_option(key, value),
        }
        Ok(())
    }

    fn long_option(&mut self, key: Flag, value: Vec<u8>) -> Result<(), Stop> {
        let options = &mut self.options;
        match key {
            Flag::BinaryFiles => {
                options.binary = match value.as_slice() {
                    b"binary" => Binary::Report,
                    b"text" => Binary::Text,
                    b"without-match" => Binary::Never,
                    _ => return Err(Stop::Fail("unknown binary-files type".to_owned())),
                }
            }
            Flag::Color => {
                options.color = match value.as_slice() {
                    b"always" | b"yes" | b"force" => true,
                    b"never" | b"no" | b"none" => false,
                    b"" | b"auto" | b"tty" | b"if-tty" => color_terminal(),
                    _ => return Err(Stop::Print(LINE.help())),
                }
            }
            Flag::Exclude => options.filter.add_exclude(value),
            Flag::ExcludeDir => options.filter.add_exclude_dir(value),
            Flag::Include => options.filter.add_include(value),
            Flag::ExcludeFrom => {
                let text = read_file(&value)?;
                text.split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
                    .for_each(|line| options.filter.add_exclude(line.to_vec()));
            }
            Flag::GroupSeparator => options.separator = Some(value),
            Flag::NoGroupSeparator => options.separator = None,
            Flag::NoIgnoreCase => options.regex.ignore_case = false,
            Flag::Label => options.label = Some(value),
            Flag::LineBuffered => options.line_buffered = true,
            _ => {}
        }
        Ok(())
    }
}

fn color_terminal() -> bool {
    tidebox_rt::is_terminal(1) && std::env::var("TERM").is_ok_and(|term| term != "dumb")
}
