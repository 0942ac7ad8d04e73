//! The command line of `unzip`.

use crate::words::{Out, print_parts};

pub(super) const VERSION: &str = "UnZip 6.00 of 20 April 2009, by Debian. Original by Info-ZIP.\n";

const USAGE: &str = "
Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir;
  file[.zip] may be a wildcard.  -Z => ZipInfo mode (\"unzip -Z\" for usage).

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -v  list verbosely/show version info
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
modifiers:
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -C  match filenames case-insensitively
  -j  junk paths (do not make directories)
Examples:
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
    pub(super) no_times: u8,
    pub(super) folder: Option<Vec<u8>>,
}

pub(super) fn usage() -> i32 {
    print_parts(&[VERSION.as_bytes(), USAGE.as_bytes()]);
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
        no_times: 0,
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
        options.letters(word.get(1..).unwrap_or_default(), &mut words)?;
    }
    if options.long && options.mode == Mode::Extract {
        options.mode = if names.is_empty() { Mode::Extract } else { Mode::List };
    }
    if options.overwrite && options.never {
        print_parts(&[b"caution:  both -n and -o specified; ignoring -o\n"]);
        options.overwrite = false;
    }
    Ok((options, names))
}

impl Options {
    /// Applies the letters of one argument. The value of `-d` may be the next argument.
    fn letters(&mut self, letters: &[u8], words: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), i32> {
        for (at, letter) in letters.iter().enumerate() {
            match letter {
                b'c' => self.mode = Mode::Show,
                b'p' => self.mode = Mode::Pipe,
                b't' => self.mode = Mode::Test,
                b'l' => self.mode = Mode::List,
                b'v' => self.long = true,
                b'q' => self.quiet = self.quiet.saturating_add(1),
                b'o' => self.overwrite = true,
                b'n' => self.never = true,
                b'j' => self.junk = true,
                b'u' => self.update = true,
                b'f' => (self.freshen, self.update) = (true, true),
                b'C' => self.ignore_case = true,
                b'D' => self.no_times = self.no_times.saturating_add(1),
                // No effect: owners cannot be restored, names are printed unchanged, and a pager does not exist.
                b'X' | b'U' | b'M' | b'b' => {}
                b'd' => {
                    let attached = letters.get(at + 1..).unwrap_or_default();
                    self.folder = if attached.is_empty() { words.next() } else { Some(attached.to_vec()) };
                    if self.folder.is_none() {
                        print_parts(&[b"error:  must specify directory to which to extract with -d option\n"]);
                        return Err(10);
                    }
                    break;
                }
                b'h' => return Err(help()),
                b'a' | b'I' | b'K' | b'L' | b'O' | b'P' | b'T' | b'z' | b':' => {
                    print_parts(&[b"unzip:  option -", &[*letter], b" is not supported by this unzip\n"]);
                    return Err(10);
                }
                _ => return Err(usage()),
            }
        }
        Ok(())
    }
}
