//! The command line of `diff`.

mod reader;

use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::Regex;

use crate::Failure;
use crate::groups::Formats;
use crate::script::Rules;

const USAGE: &str = "\
Usage: diff [OPTION]... FILES
Compares FILES line by line: 'FILE1 FILE2', 'DIR1 DIR2', or a directory and a file in it.

";

const NOTES: &str = "\n\
Exit code: 0 same, 1 different, 2 trouble.
";

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// `2c2`, `<`, `>`.
    #[default]
    Normal,
    /// Lines of context around both versions.
    Context(usize),
    /// Lines of context around merged versions.
    Unified(usize),
    /// Commands of `ed`.
    Ed,
    /// RCS format.
    Rcs,
    /// Side by side.
    Columns,
    /// Merged output with formats.
    Groups,
}

/// Output format from the options, without its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StyleOption {
    Normal,
    Context,
    Unified,
    Ed,
    Rcs,
    Columns,
    Groups,
}

/// Line layout.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) expand_tabs: bool,
    pub(crate) tab_size: usize,
    /// A tab follows each mark, so that tabs line up.
    pub(crate) initial_tab: bool,
    /// Empty lines of context have no blank before them.
    pub(crate) bare_blanks: bool,
    pub(crate) width: usize,
    pub(crate) left_column: bool,
    pub(crate) suppress_common: bool,
    pub(crate) palette: Option<Palette>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            expand_tabs: false,
            tab_size: 8,
            initial_tab: false,
            bare_blanks: false,
            width: 130,
            left_column: false,
            suppress_common: false,
            palette: None,
        }
    }
}

/// Terminal colours: of headers, line numbers, deleted and added lines.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    pub(crate) header: String,
    pub(crate) line: String,
    pub(crate) deleted: String,
    pub(crate) added: String,
}

impl Palette {
    fn new(words: &str) -> Self {
        let mut palette =
            Self { header: "1".to_owned(), line: "36".to_owned(), deleted: "31".to_owned(), added: "32".to_owned() };
        for word in words.split(':') {
            match word.split_once('=') {
                Some(("hd", value)) => palette.header = value.to_owned(),
                Some(("ln", value)) => palette.line = value.to_owned(),
                Some(("de", value)) => palette.deleted = value.to_owned(),
                Some(("ad", value)) => palette.added = value.to_owned(),
                _ => {}
            }
        }
        palette
    }
}

/// Options of `diff`.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) style: Style,
    pub(crate) rules: Rules,
    pub(crate) layout: Layout,
    pub(crate) formats: Formats,
    pub(crate) brief: bool,
    pub(crate) reports_same: bool,
    pub(crate) recursive: bool,
    pub(crate) new_file: bool,
    /// File names are case-insensitive.
    pub(crate) fold_names: bool,
    /// Files that exist only in the second directory count as empty in the first one.
    pub(crate) new_in_first: bool,
    pub(crate) text: bool,
    /// Links are not followed.
    pub(crate) links: bool,
    /// Hunk headings show the last line before the hunk that matches.
    pub(crate) heading: Option<Heading>,
    pub(crate) labels: Vec<Vec<u8>>,
    pub(crate) excluded: Vec<Vec<u8>>,
    /// Names before this one are skipped.
    pub(crate) starting: Option<Vec<u8>>,
    /// The options as given, printed before each pair of files in directories.
    pub(crate) given: Vec<Vec<u8>>,
}

/// Heading lines.
#[derive(Debug)]
pub(crate) enum Heading {
    /// Heads of C functions.
    Function,
    /// Lines that match.
    Matching(Box<Regex>),
}

/// Pairs of files to compare.
pub(crate) type Pairs = Vec<[Vec<u8>; 2]>;

/// Scripts check the first line for GNU.
const VERSION: &str =
    "diff (GNU diffutils) 3.8\nTidebox's diff does what that version does. It is free under MIT or Apache-2.0.\n";

tidebox_gnu::options! {
    /// Options of `diff`.
    enum Flag {
        Normal = "--normal", "print normal output (the default)";
        Brief = "-q, --brief", "report only that files differ";
        ReportIdenticalFiles = "-s, --report-identical-files", "report when files are the same";
        Context = "-c, -C NUM, --context[=NUM]", "print NUM (3) lines of copied context";
        Unified = "-u, -U NUM, --unified[=NUM]", "print NUM (3) lines of unified context";
        Ed = "-e, --ed", "print commands of ed";
        Rcs = "-n, --rcs", "print an RCS format diff";
        SideBySide = "-y, --side-by-side", "print both files in two columns";
        Width = "-W, --width=NUM", "width of the output (130)";
        LeftColumn = "--left-column", "print common lines on the left only";
        SuppressCommonLines = "--suppress-common-lines", "do not print common lines";
        Ifdef = "-D, --ifdef=NAME", "print both files in one with #ifdef NAME";
        LineFormat = "--line-format=FORMAT", "print both files in one; format of all lines";
        OldLineFormat = "--old-line-format=FORMAT", "format of lines of the first file";
        NewLineFormat = "--new-line-format=FORMAT", "format of lines of the second file";
        UnchangedLineFormat = "--unchanged-line-format=FORMAT", "format of common lines";
        OldGroupFormat = "--old-group-format=FORMAT", "format of groups of lines of the first file";
        NewGroupFormat = "--new-group-format=FORMAT", "format of groups of lines of the second file";
        UnchangedGroupFormat = "--unchanged-group-format=FORMAT", "format of groups of common lines";
        ChangedGroupFormat = "--changed-group-format=FORMAT", "format of groups of changed lines";
        ShowCFunction = "-p, --show-c-function", "show which C function a change is in";
        ShowFunctionLine = "-F, --show-function-line=RE", "show the last line before a change that matches RE";
        ExpandTabs = "-t, --expand-tabs", "print tabs as spaces";
        InitialTab = "-T, --initial-tab", "print a tab after each mark";
        Tabsize = "--tabsize=NUM", "tab stops are at every NUM columns (8)";
        SuppressBlankEmpty = "--suppress-blank-empty", "print no space before empty lines";
        Color = "--color[=WHEN] | --colour[=X]", "color the output: never, always or auto";
        Palette = "--palette=PALETTE", "colors of the output";
        Label = "-L, --label=LABEL", "use LABEL instead of file name and time";
        Recursive = "-r, --recursive", "compare subdirectories recursively";
        NewFile = "-N, --new-file", "treat missing files as empty";
        UnidirectionalNewFile = "-P, --unidirectional-new-file", "treat missing first files as empty";
        IgnoreFileNameCase = "--ignore-file-name-case", "ignore case in file names";
        NoDereference = "--no-dereference", "compare links themselves";
        Exclude = "-x, --exclude=PATTERN", "exclude files that match PATTERN";
        ExcludeFrom = "-X, --exclude-from=FILE", "exclude files that match a pattern in FILE";
        StartingFile = "-S, --starting-file=FILE", "begin with FILE";
        FromFile = "--from-file=FILE", "compare FILE with all operands";
        ToFile = "--to-file=FILE", "compare all operands with FILE";
        IgnoreCase = "-i, --ignore-case", "ignore case";
        IgnoreTrailingSpace = "-Z, --ignore-trailing-space", "ignore white space at the ends of lines";
        IgnoreSpaceChange = "-b, --ignore-space-change", "ignore the amount of white space";
        IgnoreAllSpace = "-w, --ignore-all-space", "ignore white space";
        IgnoreTabExpansion = "-E, --ignore-tab-expansion", "ignore whether blanks are tabs";
        IgnoreMatchingLines = "-I, --ignore-matching-lines=RE", "ignore changes where all lines match RE";
        IgnoreBlankLines = "-B, --ignore-blank-lines", "ignore changes that are all blank lines";
        Text = "-a, --text", "treat all files as text";
        StripTrailingCr = "--strip-trailing-cr", "ignore carriage returns before line ends";
        Minimal = "-d, --minimal", "find the smallest set of changes";
        SpeedLargeFiles = "-H, --speed-large-files", "";
        Ignored = "-h", "";
        Help = "--help", "";
        Version = "-v, --version", "";
        PresumeOutputTty = "---presume-output-tty", "";
        HorizonLines = "--horizon-lines=X", "";
        NoIgnoreFileNameCase = "--no-ignore-file-name-case", "";
        Digit = "-0 ... -9", "";
        Paginate = "-l, --paginate", "", unsupported "pages (-l) are not supported; pipe the output to pr";
        ForwardEd = "-f, --forward-ed", "", unsupported "the option -f is not supported; use -e or -n";
    }
}

const LINE: Syntax<'_, Flag> =
    Syntax { notes: NOTES, version: VERSION, usage_exit_code: crate::TROUBLE, ..Syntax::new("diff", USAGE, 32) };

/// Parses a command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<(Box<Options>, Pairs), Failure> {
    let given = arguments.clone();
    let mut reader = Reader::default();
    let operands = LINE.parse_given(arguments, |option| reader.option(option))?;
    let given = without(given, &operands);
    let last = given.last().map_or(&b"diff"[..], Vec::as_slice);
    let pairs = match (&reader.from, &reader.to) {
        (Some(_), Some(_)) => {
            return Err(Failure::Other("--from-file and --to-file both specified".to_owned()));
        }
        (Some(from), None) => operands.into_iter().map(|to| [from.clone(), to]).collect(),
        (None, Some(to)) => operands.into_iter().map(|from| [from, to.clone()]).collect(),
        (None, None) => vec![pair(operands, last)?],
    };
    let mut options = reader.finish()?;
    options.given = given;
    Ok((Box::new(options), pairs))
}

/// Returns exactly two operands.
fn pair(operands: Vec<Vec<u8>>, last: &[u8]) -> Result<[Vec<u8>; 2], Failure> {
    let mut operands = operands.into_iter();
    let pair = match (operands.next(), operands.next()) {
        (Some(first), Some(second)) => [first, second],
        (first, _) => {
            let after = first.as_deref().unwrap_or(last);
            return Err(Failure::Usage(format!("missing operand after '{}'", String::from_utf8_lossy(after))));
        }
    };
    match operands.next() {
        Some(extra) => Err(Failure::Usage(format!("extra operand '{}'", String::from_utf8_lossy(&extra)))),
        None => Ok(pair),
    }
}

/// Returns the arguments that are not operands.
fn without(arguments: Vec<Vec<u8>>, operands: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut operands = operands.iter().peekable();
    arguments.into_iter().filter(|argument| operands.next_if_eq(&argument).is_none()).collect()
}

#[derive(Default)]
struct Reader {
    options: Options,
    /// The selected output format, without its context.
    style: Option<StyleOption>,
    context: usize,
    /// True if the number was given explicitly.
    explicit: bool,
    /// Digits given as options: `-u5` is an old way to write `-U5`.
    digits: String,
    /// Standard output counts as a terminal.
    terminal: bool,
    patterns: Vec<Vec<u8>>,
    function: bool,
    color: bool,
    palette: String,
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
}
