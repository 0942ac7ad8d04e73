//! The command line.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::options::Syntax;

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Text,
    Mime,
    MimeType,
    MimeEncoding,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) files: Vec<Vec<u8>>,
    /// Files with lists of names.
    pub(crate) lists: Vec<Vec<u8>>,
    pub(crate) brief: bool,
    pub(crate) style: Style,
    pub(crate) follow: bool,
    pub(crate) separator: Vec<u8>,
    pub(crate) pads: bool,
    /// A file that cannot be opened sets the exit code to 1.
    pub(crate) errors_count: bool,
}

pub(crate) enum Request {
    Run(Options),
    Print(String),
    Refuse(String),
}

tidebox_gnu::options! {
    /// Options of `file`.
    enum Flag {
        Help = "--help", "display this help and exit";
        Version = "-v, --version", "output version information and exit";
        Brief = "-b, --brief", "do not prepend names to descriptions";
        Exclude = "-e, --exclude TEST | --exclude-quiet=VALUE", "(has no effect)";
        FilesFrom = "-f, --files-from FILE", "read names from FILE";
        Separator = "-F, --separator STRING", "print STRING behind names instead of :";
        Mime = "-i, --mime", "print media type and character set";
        MimeType = "--mime-type", "print the media type";
        MimeEncoding = "--mime-encoding", "print the character set";
        Dereference = "-L, --dereference", "follow links";
        NoDereference = "-h, --no-dereference", "do not follow links (default)";
        NoBuffer = "-n, --no-buffer", "(has no effect)";
        NoPad = "-N, --no-pad", "do not align";
        PreserveDate = "-p, --preserve-date", "(reading does not change the time of access)";
        Raw = "-r, --raw", "(names are printed as they are)";
        OpenErrorsCount = "-E", "let files that cannot be opened count in the exit code";
        Print0 = "-0, --print0", "", unsupported "the option -0 is not supported";
        SpecialFiles = "-s, --special-files", "", unsupported "the option -s is not supported";
        CheckingPrintout = "-c, --checking-printout", "", unsupported "the option -c is not supported";
        Compile = "-C, --compile", "", unsupported "the option -C is not supported";
        Debug = "-d, --debug", "", unsupported "the option -d is not supported";
        KeepGoing = "-k, --keep-going", "", unsupported "the option -k is not supported";
        List = "-l, --list", "", unsupported "the option -l is not supported";
        MagicFile = "-m, --magic-file=FILES", "", unsupported "the option -m is not supported";
        Parameter = "-P, --parameter=VALUE", "";
        NoSandbox = "-S, --no-sandbox", "";
        Uncompress = "-z, --uncompress", "", unsupported "the option -z is not supported";
        UncompressNoreport = "-Z, --uncompress-noreport", "", unsupported "the option -Z is not supported";
        Apple = "--apple", "", unsupported "the option --apple is not supported";
        Extension = "--extension", "", unsupported "the option --extension is not supported";
    }
}

const USAGE: &str = "Usage: file [-bEFfhiLNnpr] [--mime-type] [--mime-encoding] <file> ...";

const VERSION: &str = "file-5.44\nformats are detected by Tidebox\n";

const HELP: &str = "\
Usage: file [OPTION...] [FILE...]
Tells what is in files.

";

const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, ..Syntax::new("file", HELP, 29) };

pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let mut options = Options {
        files: Vec::new(),
        lists: Vec::new(),
        brief: false,
        style: Style::Text,
        follow: std::env::var_os("POSIXLY_CORRECT").is_some(),
        separator: b":".to_vec(),
        pads: true,
        errors_count: false,
    };
    let files = LINE.parse::<ToolResult>(arguments, |key, value| {
        match key {
            Flag::Brief => options.brief = true,
            Flag::OpenErrorsCount => options.errors_count = true,
            Flag::FilesFrom => options.lists.push(value),
            Flag::Separator => options.separator = value,
            Flag::NoDereference => options.follow = false,
            Flag::Dereference => options.follow = true,
            Flag::Mime => options.style = Style::Mime,
            Flag::MimeType => options.style = Style::MimeType,
            Flag::MimeEncoding => options.style = Style::MimeEncoding,
            Flag::NoPad => options.pads = false,
            _ => {}
        }
        Ok(())
    });
    options.files = match files {
        Ok(files) => files,
        Err(ToolResult::Print(text)) => return Request::Print(String::from_utf8_lossy(&text).into_owned()),
        Err(ToolResult::Failure(message, _)) => return Request::Refuse(format!("file: {message}")),
        Err(ToolResult::Usage(message, _)) => return Request::Refuse(format!("file: {message}\n{USAGE}")),
        Err(ToolResult::Code(_) | ToolResult::PrintAndCode(..)) => return Request::Refuse(USAGE.to_owned()),
    };
    if options.files.is_empty() && options.lists.is_empty() {
        return Request::Refuse(USAGE.to_owned());
    }
    Request::Run(options)
}
