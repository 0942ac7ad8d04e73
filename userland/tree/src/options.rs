//! The command line.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::options::Syntax;

use crate::color::Colors;

/// Sort key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    Nothing,
    #[default]
    Name,
    Version,
    Modified,
    Size,
}

/// Line drawing characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lines {
    None,
    #[default]
    Ascii,
    Unicode,
}

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) operands: Vec<Vec<u8>>,
    pub(crate) json: bool,
    pub(crate) all: bool,
    pub(crate) folders_only: bool,
    pub(crate) follow: bool,
    pub(crate) full_path: bool,
    pub(crate) levels: Option<usize>,
    pub(crate) include: Vec<Vec<u8>>,
    pub(crate) exclude: Vec<Vec<u8>>,
    pub(crate) gitignore: bool,
    pub(crate) ignore_case: bool,
    pub(crate) prune: bool,
    pub(crate) no_report: bool,
    pub(crate) lines: Lines,
    pub(crate) limit: Option<usize>,
    pub(crate) time_format: Option<String>,
    pub(crate) output: Option<Vec<u8>>,
    pub(crate) raw: bool,
    pub(crate) shows: Shows,
    pub(crate) human: bool,
    pub(crate) du: bool,
    pub(crate) marks: bool,
    pub(crate) sort: Sort,
    pub(crate) reverse: bool,
    pub(crate) folders_first: bool,
    pub(crate) colors: Option<Colors>,
    pub(crate) from_file: bool,
    color: bool,
    no_color: bool,
}

/// Attributes printed besides the name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shows {
    pub(crate) mode: bool,
    pub(crate) user: bool,
    pub(crate) group: bool,
    pub(crate) size: bool,
    pub(crate) date: bool,
}

tidebox_gnu::options! {
    /// Options of `tree`.
    enum Flag {
        All = "-a", "hidden files, too";
        Folders = "-d", "directories only";
        Follow = "-l", "follow links to directories";
        FullPath = "-f", "print the whole path of each file";
        Level = "-L LEVEL", "descend at most LEVEL directories";
        Include = "-P PATTERN", "only files that match PATTERN";
        Exclude = "-I PATTERN", "no files that match PATTERN";
        GitIgnore = "--gitignore", "omit files that match .gitignore files";
        IgnoreCase = "--ignore-case", "ignore case in patterns";
        Prune = "--prune", "omit empty directories";
        NoReport = "--noreport", "do not print the number of files";
        FileLimit = "--filelimit=N", "do not list directories with more than N entries";
        Output = "-o FILE", "print to FILE\n\nAttributes:";
        Raw = "-N", "print unprintable characters as they are";
        Mode = "-p", "print permissions";
        User = "-u", "print the user";
        Group = "-g", "print the group";
        Size = "-s", "print the size in bytes";
        Human = "-h", "print the size in units of 1024";
        Du = "--du", "print sizes of directories with their content";
        Date = "-D", "print the date of the last modification";
        TimeFormat = "--timefmt=FORMAT", "format of the date";
        Marks = "-F", "mark file types like ls -F\n\nOrder:";
        SortVersion = "-v", "sort by version";
        SortModified = "-t", "sort by last modification";
        Unsorted = "-U", "do not sort";
        Reverse = "-r", "reverse the order";
        DirsFirst = "--dirsfirst", "directories first";
        SortKey = "--sort=NAME", "sort by name, version, size or mtime\n\nFormat:";
        NoLines = "-i", "no lines";
        Charset = "--charset=NAME", "draw lines in this character set";
        NoColor = "-n", "no colors";
        Color = "-C", "colors";
        Json = "-J", "JSON\n\nInput:";
        FromFile = "--fromfile", "read paths from files; . is standard input";
        Help = "--help", "";
        Version = "--version", "";
        Xml = "-X", "", unsupported "XML output (-X) is not supported; use -J";
        Html = "-H BASE", "", unsupported "HTML output (-H) is not supported; use -J";
        Inodes = "--inodes", "", unsupported "inode numbers (--inodes) are not supported; use ls -i";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { version: VERSION, ..Syntax::new("tree", "usage: tree [OPTION]... [--] [DIRECTORY]...\n\nFiles:\n", 22) };

const VERSION: &str = "tree v2.1.0 (Tidebox)\n";

/// Parses the command line. The error is the early exit.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, ToolResult> {
    let lines = if tidebox_gnu::message::unicode_locale() { Lines::Unicode } else { Lines::Ascii };
    let mut options = Options { lines, ..Options::default() };
    options.operands = SYNTAX.parse(arguments, |flag, value| options.set(flag, value))?;
    if options.operands.is_empty() {
        options.operands.push(b".".to_vec());
    }
    let set = |name: &str| std::env::var_os(name).is_some();
    let forced = set("CLICOLOR_FORCE") && !options.no_color && !set("NO_COLOR");
    if options.color || forced {
        options.colors = Some(Colors::load());
    }
    options.shows.size |= options.du;
    Ok(options)
}

impl Options {
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        let text = || String::from_utf8_lossy(&value).into_owned();
        match flag {
            Flag::All => self.all = true,
            Flag::Folders => self.folders_only = true,
            Flag::Follow => self.follow = true,
            Flag::FullPath => self.full_path = true,
            Flag::Level => self.levels = Some(level(&value)?),
            Flag::Include => self.include.push(value),
            Flag::Exclude => self.exclude.push(value),
            Flag::GitIgnore => self.gitignore = true,
            Flag::IgnoreCase => self.ignore_case = true,
            Flag::Prune => self.prune = true,
            Flag::NoReport => self.no_report = true,
            Flag::FileLimit => self.limit = text().parse().ok().filter(|limit| *limit > 0),
            Flag::Output => self.output = Some(value),
            Flag::Raw => self.raw = true,
            Flag::Mode => self.shows.mode = true,
            Flag::User => self.shows.user = true,
            Flag::Group => self.shows.group = true,
            Flag::Size => self.shows.size = true,
            Flag::Human => (self.shows.size, self.human) = (true, true),
            Flag::Du => self.du = true,
            Flag::Date => self.shows.date = true,
            Flag::TimeFormat => (self.shows.date, self.time_format) = (true, Some(text())),
            Flag::Marks => self.marks = true,
            Flag::NoLines => self.lines = Lines::None,
            Flag::Charset => {
                let is_unicode = matches!(text().to_ascii_lowercase().as_str(), "utf-8" | "utf8");
                self.lines = if is_unicode { Lines::Unicode } else { Lines::Ascii };
            }
            Flag::NoColor => self.no_color = true,
            Flag::Color => self.color = true,
            Flag::Json => self.json = true,
            Flag::FromFile => self.from_file = true,
            _ => self.set_order(flag, &value)?,
        }
        Ok(())
    }

    fn set_order(&mut self, flag: Flag, value: &[u8]) -> Result<(), ToolResult> {
        match flag {
            Flag::SortVersion => self.sort = Sort::Version,
            Flag::SortModified => self.sort = Sort::Modified,
            Flag::Unsorted => self.sort = Sort::Nothing,
            Flag::Reverse => self.reverse = true,
            Flag::DirsFirst => self.folders_first = true,
            Flag::SortKey => {
                self.sort = match value {
                    b"name" => Sort::Name,
                    b"version" => Sort::Version,
                    b"size" => Sort::Size,
                    b"mtime" => Sort::Modified,
                    other => {
                        let name = String::from_utf8_lossy(other);
                        let text = format!("Sort type '{name}' not valid, should be one of: name,version,size,mtime");
                        return Err(ToolResult::Failure(text, 1));
                    }
                };
            }
            _ => {}
        }
        Ok(())
    }
}

fn level(digits: &[u8]) -> Result<usize, ToolResult> {
    let digits: Vec<u8> = digits.iter().copied().take_while(u8::is_ascii_digit).collect();
    let number = String::from_utf8_lossy(&digits).parse::<usize>().unwrap_or(0);
    if number == 0 {
        return Err(ToolResult::Failure("Invalid level, must be greater than 0.".to_owned(), 1));
    }
    Ok(number)
}
