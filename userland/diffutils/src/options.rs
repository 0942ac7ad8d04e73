//! The command line of `diff`.

mod reader;

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::regex::Regex;

use crate::Failure;
use crate::groups::Formats;
use crate::script::Rules;

pub(crate) const HELP: &str = "\
Usage: diff [OPTION]... FILES
Compares FILES line by line: 'FILE1 FILE2', 'DIR1 DIR2', or a folder and a file to be found in it.

      --normal                  print normal output (the default)
  -q, --brief                   say only that files differ
  -s, --report-identical-files  say when files are the same
  -c, -C NUM, --context[=NUM]   print NUM (3) lines of copied context
  -u, -U NUM, --unified[=NUM]   print NUM (3) lines of unified context
  -e, --ed                      print commands of ed
  -f, --forward-ed              print such commands in the order of the text
  -n, --rcs                     print what RCS reads
  -y, --side-by-side            print both files in two columns
  -W, --width=NUM               of both together (130)
      --left-column             print common lines on the left only
      --suppress-common-lines   do not print them
  -D, --ifdef=NAME              print both files in one with #ifdef NAME
      --GROUP-group-format=FORMAT, --LINE-line-format=FORMAT, --line-format=FORMAT
                                print both files in one by formats; GROUP is old, new, unchanged or
                                changed, LINE old, new or unchanged
  -p, --show-c-function         show which C function a change is in
  -F, --show-function-line=RE   show the last line before a change that matches RE
  -t, --expand-tabs             print tabs as spaces
  -T, --initial-tab             print a tab after each mark
      --tabsize=NUM             tab stops are at every NUM columns (8)
      --suppress-blank-empty    print no space before empty lines
      --color[=WHEN]            colours: never, always or auto
      --palette=PALETTE         which colours
  -L, --label=LABEL             use LABEL instead of file name and time
  -l, --paginate                pass the output to pr
  -r, --recursive               compare folders in folders
  -N, --new-file                treat missing files as empty
  -P, --unidirectional-new-file treat missing first files as empty
      --ignore-file-name-case   take names that differ in case for the same
      --no-dereference          compare links themselves
  -x, --exclude=PATTERN         leave out files that match PATTERN
  -X, --exclude-from=FILE       leave out files that match a pattern in FILE
  -S, --starting-file=FILE      begin with FILE
      --from-file=FILE          compare FILE with all operands
      --to-file=FILE            compare all operands with FILE
  -i, --ignore-case             ignore case
  -Z, --ignore-trailing-space   ignore white space at the ends of lines
  -b, --ignore-space-change     ignore the amount of white space
  -w, --ignore-all-space        ignore white space
  -E, --ignore-tab-expansion    ignore whether blanks are tabs
  -I, --ignore-matching-lines=RE  ignore changes where all lines match RE
  -B, --ignore-blank-lines      ignore changes that are all blank lines
  -a, --text                    take every file for text
      --strip-trailing-cr       ignore carriage returns before line ends
  -d, --minimal                 find the smallest set of changes

Exit code: 0 same, 1 different, 2 trouble.
";

/// What is printed of two files that differ.
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
    /// The same forwards.
    ForwardEd,
    /// What RCS reads.
    Rcs,
    /// Both texts in two columns.
    Columns,
    /// Both texts in one, by formats.
    Groups,
}

/// How lines are laid out.
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

/// Colours as terminals take them: of headers, line numbers, deleted and added lines.
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

/// What `diff` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) style: Style,
    pub(crate) rules: Rules,
    pub(crate) layout: Layout,
    pub(crate) formats: Formats,
    pub(crate) brief: bool,
    pub(crate) tells_same: bool,
    /// `pr` makes pages of what is printed.
    pub(crate) paginate: bool,
    pub(crate) recursive: bool,
    pub(crate) new_file: bool,
    /// Names of files are the same in small and capital letters.
    pub(crate) fold_names: bool,
    /// Files that only the second folder has count as empty in the first one.
    pub(crate) new_in_first: bool,
    pub(crate) text: bool,
    /// Links are compared themselves.
    pub(crate) links: bool,
    /// Headings show the last line before that matches.
    pub(crate) heading: Option<Heading>,
    pub(crate) labels: Vec<Vec<u8>>,
    pub(crate) excluded: Vec<Vec<u8>>,
    /// Names before this one are passed over.
    pub(crate) starting: Option<Vec<u8>>,
    /// The options as they were given, to be shown before each pair of files of folders.
    pub(crate) given: Vec<Vec<u8>>,
}

/// Which lines are headings.
#[derive(Debug)]
pub(crate) enum Heading {
    /// Heads of C functions.
    Function,
    /// Lines that match.
    Matching(Box<Regex>),
}

/// A command line.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print a text.
    Say(&'static str),
    /// Compare these pairs.
    Compare(Box<Options>, Vec<[Vec<u8>; 2]>),
}

const HELP_KEY: char = '\u{e001}';
const NORMAL: char = '\u{e002}';
const STRIP: char = '\u{e003}';
const COLOR: char = '\u{e004}';
const IGNORED: char = '\u{e005}';
const CONTEXT: char = '\u{e006}';
const UNIFIED: char = '\u{e007}';
const FROM_FILE: char = '\u{e008}';
const TO_FILE: char = '\u{e009}';
const PALETTE: char = '\u{e00a}';
const TAB_SIZE: char = '\u{e00b}';
const LEFT_COLUMN: char = '\u{e00c}';
const SUPPRESS_COMMON: char = '\u{e00d}';
const BARE_BLANKS: char = '\u{e00e}';
const NO_DEREFERENCE: char = '\u{e00f}';
const LINE_FORMAT: char = '\u{e010}';
const OLD_LINE: char = '\u{e011}';
const NEW_LINE: char = '\u{e012}';
const SAME_LINE: char = '\u{e013}';
const OLD_GROUP: char = '\u{e014}';
const NEW_GROUP: char = '\u{e015}';
const SAME_GROUP: char = '\u{e016}';
const CHANGED_GROUP: char = '\u{e017}';
const NAME_CASE: char = '\u{e018}';
const KEEP_NAME_CASE: char = '\u{e019}';
const TERMINAL: char = '\u{e01a}';
const VERSION_KEY: char = 'v';

/// Scripts look at the first line, and whether it says GNU.
pub(crate) const VERSION: &str =
    "diff (GNU diffutils) 3.8\nTidebox's diff does what that version does. It is free under MIT or Apache-2.0.\n";

const LONG: &[Long] = &[
    long("-presume-output-tty", Takes::Nothing, TERMINAL),
    long("brief", Takes::Nothing, 'q'),
    long("changed-group-format", Takes::Value, CHANGED_GROUP),
    long("color", Takes::Maybe, COLOR),
    long("colour", Takes::Maybe, COLOR),
    long("context", Takes::Maybe, CONTEXT),
    long("ed", Takes::Nothing, 'e'),
    long("exclude", Takes::Value, 'x'),
    long("exclude-from", Takes::Value, 'X'),
    long("expand-tabs", Takes::Nothing, 't'),
    long("forward-ed", Takes::Nothing, 'f'),
    long("from-file", Takes::Value, FROM_FILE),
    long("help", Takes::Nothing, HELP_KEY),
    long("horizon-lines", Takes::Value, IGNORED),
    long("ifdef", Takes::Value, 'D'),
    long("ignore-all-space", Takes::Nothing, 'w'),
    long("ignore-blank-lines", Takes::Nothing, 'B'),
    long("ignore-case", Takes::Nothing, 'i'),
    long("ignore-file-name-case", Takes::Nothing, NAME_CASE),
    long("ignore-matching-lines", Takes::Value, 'I'),
    long("ignore-space-change", Takes::Nothing, 'b'),
    long("ignore-tab-expansion", Takes::Nothing, 'E'),
    long("ignore-trailing-space", Takes::Nothing, 'Z'),
    long("initial-tab", Takes::Nothing, 'T'),
    long("label", Takes::Value, 'L'),
    long("left-column", Takes::Nothing, LEFT_COLUMN),
    long("line-format", Takes::Value, LINE_FORMAT),
    long("minimal", Takes::Nothing, 'd'),
    long("new-file", Takes::Nothing, 'N'),
    long("new-group-format", Takes::Value, NEW_GROUP),
    long("new-line-format", Takes::Value, NEW_LINE),
    long("no-dereference", Takes::Nothing, NO_DEREFERENCE),
    long("no-ignore-file-name-case", Takes::Nothing, KEEP_NAME_CASE),
    long("normal", Takes::Nothing, NORMAL),
    long("old-group-format", Takes::Value, OLD_GROUP),
    long("old-line-format", Takes::Value, OLD_LINE),
    long("paginate", Takes::Nothing, 'l'),
    long("palette", Takes::Value, PALETTE),
    long("rcs", Takes::Nothing, 'n'),
    long("recursive", Takes::Nothing, 'r'),
    long("report-identical-files", Takes::Nothing, 's'),
    long("show-c-function", Takes::Nothing, 'p'),
    long("show-function-line", Takes::Value, 'F'),
    long("side-by-side", Takes::Nothing, 'y'),
    long("speed-large-files", Takes::Nothing, 'H'),
    long("starting-file", Takes::Value, 'S'),
    long("strip-trailing-cr", Takes::Nothing, STRIP),
    long("suppress-blank-empty", Takes::Nothing, BARE_BLANKS),
    long("suppress-common-lines", Takes::Nothing, SUPPRESS_COMMON),
    long("tabsize", Takes::Value, TAB_SIZE),
    long("text", Takes::Nothing, 'a'),
    long("to-file", Takes::Value, TO_FILE),
    long("unchanged-group-format", Takes::Value, SAME_GROUP),
    long("unchanged-line-format", Takes::Value, SAME_LINE),
    long("unidirectional-new-file", Takes::Nothing, 'P'),
    long("unified", Takes::Maybe, UNIFIED),
    long("version", Takes::Nothing, VERSION_KEY),
    long("width", Takes::Value, 'W'),
];

/// Reads a command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Failure> {
    let short = "0123456789aBbcC:D:dEefF:HhI:iL:lNnPpqrS:sTtuU:vW:wX:x:yZ";
    let given = arguments.clone();
    let mut reader = Reader::default();
    let mut operands = Vec::new();
    let mut parser = Parser::new(Spec { short, long: LONG, permute: true }, arguments);
    while let Some(item) = parser.next_item().map_err(Failure::Usage)? {
        match item {
            Item::Operand(operand) => operands.push(operand),
            Item::Option(HELP_KEY, _) => return Ok(Request::Say(HELP)),
            Item::Option(VERSION_KEY, _) => return Ok(Request::Say(VERSION)),
            Item::Option(key, value) => reader.option(key, value.unwrap_or_default())?,
        }
    }
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
    Ok(Request::Compare(Box::new(options), pairs))
}

/// Just two operands.
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

/// The arguments that are no operands.
fn without(arguments: Vec<Vec<u8>>, operands: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut operands = operands.iter().peekable();
    arguments.into_iter().filter(|argument| operands.next_if_eq(&argument).is_none()).collect()
}

#[derive(Default)]
struct Reader {
    options: Options,
    /// The style asked for, its context aside.
    style: Option<char>,
    context: usize,
    /// Whether that number was given as such.
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
