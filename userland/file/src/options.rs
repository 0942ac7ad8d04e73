//! The command line.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

/// What is printed of each file.
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
    /// Files that hold names.
    pub(crate) lists: Vec<Vec<u8>>,
    pub(crate) brief: bool,
    pub(crate) style: Style,
    pub(crate) follow: bool,
    /// Devices are read.
    pub(crate) special: bool,
    pub(crate) separator: Vec<u8>,
    pub(crate) pads: bool,
    pub(crate) zeros: u32,
    /// A file that cannot be opened makes the exit code 1.
    pub(crate) errors_count: bool,
}

pub(crate) enum Request {
    Run(Options),
    Print(&'static str),
    Refuse(String),
}

const MIME_TYPE: char = '\u{e001}';
const MIME_ENCODING: char = '\u{e002}';
const HELP: char = '\u{e003}';
const EXTENSION: char = '\u{e004}';
const APPLE: char = '\u{e005}';

const LONG: &[Long] = &[
    long("help", Takes::Nothing, HELP),
    long("version", Takes::Nothing, 'v'),
    long("magic-file", Takes::Value, 'm'),
    long("uncompress", Takes::Nothing, 'z'),
    long("uncompress-noreport", Takes::Nothing, 'Z'),
    long("brief", Takes::Nothing, 'b'),
    long("checking-printout", Takes::Nothing, 'c'),
    long("exclude", Takes::Value, 'e'),
    long("exclude-quiet", Takes::Value, 'e'),
    long("files-from", Takes::Value, 'f'),
    long("separator", Takes::Value, 'F'),
    long("mime", Takes::Nothing, 'i'),
    long("apple", Takes::Nothing, APPLE),
    long("extension", Takes::Nothing, EXTENSION),
    long("mime-type", Takes::Nothing, MIME_TYPE),
    long("mime-encoding", Takes::Nothing, MIME_ENCODING),
    long("keep-going", Takes::Nothing, 'k'),
    long("list", Takes::Nothing, 'l'),
    long("dereference", Takes::Nothing, 'L'),
    long("no-dereference", Takes::Nothing, 'h'),
    long("no-buffer", Takes::Nothing, 'n'),
    long("no-pad", Takes::Nothing, 'N'),
    long("print0", Takes::Nothing, '0'),
    long("parameter", Takes::Value, 'P'),
    long("preserve-date", Takes::Nothing, 'p'),
    long("raw", Takes::Nothing, 'r'),
    long("special-files", Takes::Nothing, 's'),
    long("compile", Takes::Nothing, 'C'),
    long("debug", Takes::Nothing, 'd'),
    long("no-sandbox", Takes::Nothing, 'S'),
];

const USAGE: &str = "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]
            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]
            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]
            <file> ...
       file -C [-m <magicfiles>]
       file [--help]";

const VERSION: &str = "file-5.44\nformats are told apart by Tidebox\n";

const HELP_TEXT: &str = "\
Usage: file [OPTION...] [FILE...]
Tells what is in files.

      --help                 display this help and exit
  -v, --version              output version information and exit
  -b, --brief                do not prepend names to what is told
  -e, --exclude TEST         (has no effect)
  -f, --files-from FILE      read names from FILE
  -F, --separator STRING     print STRING behind names instead of :
  -i, --mime                 print media type and character set
      --mime-type            print the media type
      --mime-encoding        print the character set
  -L, --dereference          follow links
  -h, --no-dereference       do not follow links (default)
  -n, --no-buffer            (has no effect)
  -N, --no-pad               do not align
  -0, --print0               end names with a zero byte
  -p, --preserve-date        (reading does not change the time of access)
  -r, --raw                  (names are printed as they are)
  -s, --special-files        read devices as if they were files
  -E                         let files that cannot be opened count in the exit code
";

pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Request {
    let mut options = Options {
        files: Vec::new(),
        lists: Vec::new(),
        brief: false,
        style: Style::Text,
        follow: std::env::var_os("POSIXLY_CORRECT").is_some(),
        special: false,
        separator: b":".to_vec(),
        pads: true,
        zeros: 0,
        errors_count: false,
    };
    let spec = Spec { short: "bcCde:Ef:F:hiklLm:nNpP:rsSvzZ0", long: LONG, permute: true };
    let mut parser = Parser::new(spec, arguments);
    loop {
        let (key, value) = match parser.next_item() {
            Err(message) => return Request::Refuse(format!("file: {message}\n{USAGE}")),
            Ok(None) => break,
            Ok(Some(Item::Operand(file))) => {
                options.files.push(file);
                continue;
            }
            Ok(Some(Item::Option(key, value))) => (key, value.unwrap_or_default()),
        };
        match key {
            'b' => options.brief = true,
            'E' => options.errors_count = true,
            'f' => options.lists.push(value),
            'F' => options.separator = value,
            'h' => options.follow = false,
            'L' => options.follow = true,
            'i' => options.style = Style::Mime,
            MIME_TYPE => options.style = Style::MimeType,
            MIME_ENCODING => options.style = Style::MimeEncoding,
            'N' => options.pads = false,
            '0' => options.zeros += 1,
            's' => options.special = true,
            'v' => return Request::Print(VERSION),
            HELP => return Request::Print(HELP_TEXT),
            // How it reads, not what it tells.
            'e' | 'n' | 'p' | 'P' | 'r' | 'S' => {}
            EXTENSION => return unsupported("--extension"),
            APPLE => return unsupported("--apple"),
            letter => return unsupported(&format!("-{letter}")),
        }
    }
    if options.files.is_empty() && options.lists.is_empty() {
        return Request::Refuse(USAGE.to_owned());
    }
    Request::Run(options)
}

fn unsupported(option: &str) -> Request {
    Request::Refuse(format!("file: the option {option} is not supported"))
}
