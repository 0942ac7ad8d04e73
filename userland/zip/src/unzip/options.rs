//! The command line of `unzip`.

use crate::words::{Out, tell};

pub(super) const VERSION: &str = "UnZip 6.00 of 20 April 2009, by Debian. Original by Info-ZIP.\n";

const USAGE: &str = "
Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir;
  file[.zip] may be a wildcard.  -Z => ZipInfo mode (\"unzip -Z\" for usage).

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -z  display archive comment only
  -v  list verbosely/show version info       -T  timestamp archive to latest
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
modifiers:
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -a  auto-convert any text files
  -j  junk paths (do not make directories)   -aa treat ALL files as text
  -U  use escapes for all non-ASCII Unicode  -UU ignore any Unicode fields
  -C  match filenames case-insensitively     -L  make (some) names lowercase
  -X  restore UID/GID info                   -V  retain VMS version numbers
  -K  keep setuid/setgid/tacky permissions   -M  pipe through \"more\" pager
See \"unzip -hh\" or unzip.txt for more help.  Examples:
  unzip data1 -x joe   => extract all files except joe from zipfile data1.zip
  unzip -p foo | more  => send contents of foo.zip via pipe into program more
  unzip -fo foo ReadMe => quietly replace existing ReadMe if archive file newer
";

/// Operation on the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Extract,
    /// Prints the content on standard output, each file after its name.
    Show,
    /// Prints only the content on standard output.
    Pipe,
    Test,
    List,
    Comment,
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) long: bool,
    pub(super) quiet: u8,
    pub(super) overwrite: bool,
    pub(super) never: bool,
    pub(super) junk: bool,
    pub(super) update: bool,
    pub(super) freshen: bool,
    pub(super) ignore_case: bool,
    pub(super) lower: bool,
    pub(super) keep_special: bool,
    pub(super) keep_dots: bool,
    pub(super) no_times: u8,
    pub(super) text: u8,
    pub(super) folder: Option<Vec<u8>>,
}

pub(super) fn usage() -> i32 {
    tell(&[VERSION.as_bytes(), USAGE.as_bytes()]);
    10
}

pub(super) fn help() -> i32 {
    Out::default().put(&[VERSION.as_bytes(), USAGE.as_bytes()]);
    0
}

/// Parses the arguments: options and names. Options may follow names.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), i32> {
    let mut options = Options {
        mode: Mode::Extract,
        long: false,
        quiet: 0,
        overwrite: false,
        never: false,
        junk: false,
        update: false,
        freshen: false,
        ignore_case: false,
        lower: false,
        keep_special: false,
        keep_dots: false,
        no_times: 0,
        text: 0,
        folder: None,
    };
    let mut names = Vec::new();
    let mut words = arguments.into_iter();
    let mut excluding = false;
    while let Some(word) = words.next() {
        if word == b"-x" && !names.is_empty() {
            excluding = true;
            names.push(word);
            continue;
        }
        if word == b"--" {
            names.extend(words.by_ref());
            break;
        }
        if word.len() < 2 || word.first() != Some(&b'-') || (excluding && !word.starts_with(b"-d")) {
            names.push(word);
            continue;
        }
        let letters = word.get(1..).unwrap_or_default();
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'c' => options.mode = Mode::Show,
                b'p' => options.mode = Mode::Pipe,
                b't' => options.mode = Mode::Test,
                b'l' => options.mode = Mode::List,
                b'z' => options.mode = Mode::Comment,
                b'v' => options.long = true,
                b'q' => options.quiet = options.quiet.saturating_add(1),
                b'o' => options.overwrite = true,
                b'n' => options.never = true,
                b'j' => options.junk = true,
                b'u' => options.update = true,
                b'f' => (options.freshen, options.update) = (true, true),
                b'C' => options.ignore_case = true,
                b'L' => options.lower = true,
                b'K' => options.keep_special = true,
                b':' => options.keep_dots = true,
                b'D' => options.no_times = options.no_times.saturating_add(1),
                b'a' => options.text = options.text.saturating_add(1),
                // No effect: owners cannot be restored, names are printed unchanged, and neither a pager nor VMS is supported.
                b'X' | b'U' | b'M' | b'V' | b'b' | b's' | b'^' | b'W' => {}
                b'd' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    let folder = if attached.is_empty() { words.next() } else { Some(attached.to_vec()) };
                    let Some(folder) = folder else {
                        tell(&[b"error:  must specify directory to which to extract with -d option\n"]);
                        return Err(10);
                    };
                    options.folder = Some(folder);
                    break;
                }
                b'h' => return Err(help()),
                b'P' | b'T' | b'O' | b'I' => {
                    tell(&[b"unzip:  option -", &[*letter], b" is not supported by this unzip\n"]);
                    return Err(10);
                }
                b'-' => return Err(usage()),
                _ => return Err(usage()),
            }
        }
    }
    if options.long && options.mode == Mode::Extract {
        options.mode = if names.is_empty() { Mode::Extract } else { Mode::List };
    }
    if options.overwrite && options.never {
        tell(&[b"caution:  both -n and -o specified; ignoring -o\n"]);
        options.overwrite = false;
    }
    Ok((options, names))
}
