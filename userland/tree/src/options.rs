//! The command line.

use crate::color::Colors;
use crate::html::Page;

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Drawing,
    Json,
    Xml,
    Html,
}

/// Sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Nothing,
    Name,
    Version,
    Modified,
    Changed,
    Size,
}

/// Entries that sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    Neither,
    Folders,
    Files,
}

/// Size format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    Bytes,
    /// Powers of 1024.
    Human,
    /// Powers of 1000.
    Si,
}

/// Line drawing characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    None,
    Ascii,
    Unicode,
    /// VT100 line drawing escapes.
    Ansi,
    /// Code page 437.
    Ibm,
}

/// Handling of unprintable characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unprintable {
    Octal,
    Question,
    Raw,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) places: Vec<Vec<u8>>,
    pub(crate) form: Form,
    pub(crate) page: Page,
    /// Base URL of links in HTML output.
    pub(crate) links: bool,
    pub(crate) all: bool,
    pub(crate) folders_only: bool,
    pub(crate) follow: bool,
    pub(crate) full_path: bool,
    pub(crate) one_device: bool,
    pub(crate) levels: Option<usize>,
    pub(crate) include: Vec<Vec<u8>>,
    pub(crate) exclude: Vec<Vec<u8>>,
    pub(crate) gitignore: bool,
    pub(crate) git_files: Vec<Vec<u8>>,
    pub(crate) ignore_case: bool,
    pub(crate) match_folders: bool,
    pub(crate) meta_first: bool,
    pub(crate) prune: bool,
    pub(crate) report: bool,
    pub(crate) lines: Lines,
    pub(crate) limit: Option<usize>,
    pub(crate) time_format: Option<String>,
    pub(crate) output: Option<Vec<u8>>,
    pub(crate) unprintable: Unprintable,
    pub(crate) quotes: bool,
    pub(crate) shows: Shows,
    pub(crate) sizes: Sizes,
    pub(crate) du: bool,
    pub(crate) marks: bool,
    pub(crate) sort: Sort,
    pub(crate) reverse: bool,
    pub(crate) first: First,
    pub(crate) colors: Option<Colors>,
    pub(crate) from_file: bool,
    pub(crate) file_links: bool,
}

/// Attributes printed besides the name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shows {
    pub(crate) inode: bool,
    pub(crate) device: bool,
    pub(crate) mode: bool,
    pub(crate) user: bool,
    pub(crate) group: bool,
    pub(crate) size: bool,
    pub(crate) date: bool,
    /// Status change time instead of modification time.
    pub(crate) changed: bool,
}

/// Parsed options.
pub(crate) enum Request {
    Run(Box<Options>),
    Print(&'static str),
    Refuse(String),
    /// The value of `--sort` is invalid.
    UnknownSort(String),
}

const USAGE: &str = "usage: tree [-acdfghilnpqrstuvxACDFJQNSUX] [-L level [-R]] [-H  baseHREF]
	[-T title] [-o filename] [-P pattern] [-I pattern] [--gitignore]
	[--gitfile[=]file] [--matchdirs] [--metafirst] [--ignore-case]
	[--nolinks] [--hintro[=]file] [--houtro[=]file] [--inodes] [--device]
	[--sort[=]<name>] [--dirsfirst] [--filesfirst] [--filelimit #] [--si]
	[--du] [--prune] [--charset[=]X] [--timefmt[=]format] [--fromfile]
	[--fflinks] [--info] [--infofile[=]file] [--noreport] [--version]
	[--help] [--] [directory ...]";

const VERSION: &str = "tree v2.1.0 (as Tidebox speaks it)\n";

fn refuse(message: impl Into<String>) -> Request {
    Request::Refuse(message.into())
}

impl Options {
    fn new() -> Self {
        Self {
            places: Vec::new(),
            form: Form::Drawing,
            page: Page::default(),
            links: true,
            all: false,
            folders_only: false,
            follow: false,
            full_path: false,
            one_device: false,
            levels: None,
            include: Vec::new(),
            exclude: Vec::new(),
            gitignore: false,
            git_files: Vec::new(),
            ignore_case: false,
            match_folders: false,
            meta_first: false,
            prune: false,
            report: true,
            lines: if tidebox_gnu::message::unicode_locale() { Lines::Unicode } else { Lines::Ascii },
            limit: None,
            time_format: None,
            output: None,
            unprintable: Unprintable::Octal,
            quotes: false,
            shows: Shows::default(),
            sizes: Sizes::Bytes,
            du: false,
            marks: false,
            sort: Sort::Name,
            reverse: false,
            first: First::Neither,
            colors: None,
            from_file: false,
            file_links: false,
        }
    }
}

/// Colours are enabled by an option or by the environment.
#[derive(Default)]
struct Wishes {
    color: bool,
    no_color: bool,
}

pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let mut options = Options::new();
    let mut wishes = Wishes::default();
    let mut rest = arguments.into_iter();
    let mut ended = false;
    while let Some(argument) = rest.next() {
        if ended || argument.first() != Some(&b'-') || argument.len() < 2 {
            options.places.push(argument);
            continue;
        }
        if argument == b"--" {
            ended = true;
            continue;
        }
        let result = match argument.strip_prefix(b"--") {
            Some(long) => set_long(&mut options, &String::from_utf8_lossy(long), &mut rest),
            None => set_cluster(&mut options, &mut wishes, argument.get(1..).unwrap_or_default(), &mut rest),
        };
        if let Err(request) = result {
            return request;
        }
    }
    if options.places.is_empty() {
        options.places.push(b".".to_vec());
    }
    let set = |name: &str| std::env::var_os(name).is_some();
    let forced = set("CLICOLOR_FORCE") && !wishes.no_color && !set("NO_COLOR");
    if wishes.color || forced {
        options.colors = Some(Colors::load());
    }
    if options.du {
        options.shows.size = true;
    }
    Request::Run(Box::new(options))
}

fn set_cluster(
    options: &mut Options,
    wishes: &mut Wishes,
    letters: &[u8],
    rest: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<(), Request> {
    for letter in letters {
        let mut value = |missing: &str| rest.next().ok_or_else(|| refuse(missing));
        match letter {
            b'N' => options.unprintable = Unprintable::Raw,
            b'q' => options.unprintable = Unprintable::Question,
            b'Q' => options.quotes = true,
            b'd' => options.folders_only = true,
            b'l' => options.follow = true,
            b's' => options.shows.size = true,
            b'h' => (options.shows.size, options.sizes) = (true, Sizes::Human),
            b'u' => options.shows.user = true,
            b'g' => options.shows.group = true,
            b'f' => options.full_path = true,
            b'F' => options.marks = true,
            b'a' => options.all = true,
            b'p' => options.shows.mode = true,
            b'i' => options.lines = Lines::None,
            b'C' => wishes.color = true,
            b'n' => wishes.no_color = true,
            b'x' => options.one_device = true,
            b'P' => options.include.push(value("tree: Missing argument to -P option.")?),
            b'I' => options.exclude.push(value("tree: Missing argument to -I option.")?),
            b'A' => options.lines = Lines::Ansi,
            b'S' => options.lines = Lines::Ibm,
            b'D' => options.shows.date = true,
            b't' => options.sort = Sort::Modified,
            b'c' => (options.sort, options.shows.changed) = (Sort::Changed, true),
            b'r' => options.reverse = true,
            b'v' => options.sort = Sort::Version,
            b'U' => options.sort = Sort::Nothing,
            b'X' => options.form = Form::Xml,
            b'J' => options.form = Form::Json,
            b'L' => {
                let digits = value("tree: Missing argument to -L option.")?;
                options.levels = Some(level(&digits)?);
            }
            b'o' => options.output = Some(value("tree: Missing argument to -o option.")?),
            b'H' => {
                options.form = Form::Html;
                options.page.base = value("tree: Missing argument to -H option.")?;
            }
            b'T' => options.page.title = Some(value("tree: Missing argument to -T option.")?),
            b'R' => return Err(refuse("tree: a page for every folder (-R) is not supported.")),
            other => return Err(refuse(format!("tree: Invalid argument -`{}'.\n{USAGE}", char::from(*other)))),
        }
    }
    Ok(())
}

fn level(digits: &[u8]) -> Result<usize, Request> {
    let digits: Vec<u8> = digits.iter().copied().take_while(u8::is_ascii_digit).collect();
    let number = String::from_utf8_lossy(&digits).parse::<usize>().unwrap_or(0);
    if number == 0 {
        return Err(refuse("tree: Invalid level, must be greater than 0."));
    }
    Ok(number)
}

fn set_long(options: &mut Options, text: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), Request> {
    let (name, given) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.as_bytes().to_vec())),
        None => (text, None),
    };
    let mut value = || {
        let missing = || refuse(format!("tree: Missing argument to --{name}"));
        given.clone().filter(|value| !value.is_empty()).or_else(|| rest.next()).ok_or_else(missing)
    };
    match name {
        "help" => return Err(Request::Print(include_str!("help.txt"))),
        "version" => return Err(Request::Print(VERSION)),
        "inodes" => options.shows.inode = true,
        "device" => options.shows.device = true,
        "noreport" => options.report = false,
        "nolinks" => options.links = false,
        "dirsfirst" => options.first = First::Folders,
        "filesfirst" => options.first = First::Files,
        "filelimit" => {
            let digits = String::from_utf8_lossy(&value()?).into_owned();
            options.limit = digits.parse().ok().filter(|limit| *limit > 0);
        }
        "charset" => {
            let charset = value()?;
            options.page.charset = Some(charset.clone());
            let charset = String::from_utf8_lossy(&charset).to_ascii_lowercase();
            options.lines = match charset.as_str() {
                "utf-8" | "utf8" => Lines::Unicode,
                "ibm437" | "cp437" | "ibm850" | "cp850" => Lines::Ibm,
                _ => Lines::Ascii,
            };
        }
        "si" => (options.shows.size, options.sizes) = (true, Sizes::Si),
        "du" => options.du = true,
        "prune" => options.prune = true,
        "timefmt" => {
            options.time_format = Some(String::from_utf8_lossy(&value()?).into_owned());
            options.shows.date = true;
        }
        "ignore-case" => options.ignore_case = true,
        "matchdirs" => options.match_folders = true,
        "metafirst" => options.meta_first = true,
        "gitignore" => options.gitignore = true,
        "gitfile" => {
            options.gitignore = true;
            options.git_files.push(value()?);
        }
        "fromfile" => options.from_file = true,
        "fflinks" => options.file_links = true,
        "sort" => {
            options.sort = match value()?.as_slice() {
                b"name" => Sort::Name,
                b"version" => Sort::Version,
                b"size" => Sort::Size,
                b"mtime" => Sort::Modified,
                b"ctime" => Sort::Changed,
                other => return Err(Request::UnknownSort(String::from_utf8_lossy(other).into_owned())),
            };
        }
        "hintro" => options.page.intro = Some(value()?),
        "houtro" => options.page.outro = Some(value()?),
        "info" | "infofile" => {
            return Err(refuse(format!("tree: --{name} is not supported.")));
        }
        _ => return Err(refuse(format!("tree: Invalid argument `--{text}'.\n{USAGE}"))),
    }
    Ok(())
}
