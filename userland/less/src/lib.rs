//! `less` and `more` without a terminal: they copy their input, like the originals if the output is not a terminal.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::{Errno, FileKind};

/// Short options of `less` with a value.
const LETTERS_WITH_VALUE: &[u8] = b"bhjkoOpPtTxyzD#";
/// Long options of `less` with a value.
#[rustfmt::skip]
const NAMES_WITH_VALUE: &[&str] = &[
    "buffers", "color", "header", "jump-target", "line-num-width", "log-file", "LOG-FILE", "max-back-scroll",
    "max-forw-scroll", "pattern", "prompt", "rscroll", "shift", "tabs", "tag", "tag-file", "wheel-lines", "window",
];

/// Parsed command line of `less`.
#[derive(Default)]
struct Less {
    files: Vec<Vec<u8>>,
    help: bool,
    version: bool,
}

/// Parses the command line of `less`, which is not getopt: `+` starts a command. Options of the screen have no effect.
fn parse_less(arguments: Vec<Vec<u8>>) -> Less {
    let mut less = Less::default();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        if argument.starts_with(b"+") && argument.len() > 1 {
            // A command for the first screen, which does not exist here.
            continue;
        }
        if argument == b"--" {
            less.files.extend(rest);
            break;
        }
        if let Some(name) = argument.strip_prefix(b"--") {
            match name {
                b"help" => less.help = true,
                b"version" => less.version = true,
                // Takes its value from the next argument. Like all others, it has no effect.
                name if NAMES_WITH_VALUE.iter().any(|known| known.as_bytes() == name) => drop(rest.next()),
                _ => {}
            }
        } else if argument.starts_with(b"-") && argument.len() > 1 {
            less.cluster(argument.get(1..).unwrap_or_default(), &mut rest);
        } else {
            less.files.push(argument);
        }
    }
    less
}

impl Less {
    fn cluster(&mut self, letters: &[u8], rest: &mut impl Iterator<Item = Vec<u8>>) {
        let mut letters = letters;
        while let Some((letter, after)) = letters.split_first() {
            letters = after;
            match letter {
                b'V' => self.version = true,
                b'?' => self.help = true,
                letter if LETTERS_WITH_VALUE.contains(letter) => {
                    if after.is_empty() {
                        rest.next();
                    }
                    return;
                }
                _ => {}
            }
        }
    }
}

const LESS_HELP: &str = "\
Usage: less [OPTION]... [+COMMAND] [FILE]...
Copies files to standard output, because there is no terminal. Options of the screen have no effect.

  -N, --LINE-NUMBERS         (for screens)
  -s, --squeeze-blank-lines  (for screens)
  -V, --version              show the version
";

/// Runs `less`.
pub fn less(arguments: Vec<Vec<u8>>) -> i32 {
    let options = parse_less(arguments);
    let mut out = Output::standard();
    if options.help || options.version {
        out.push(if options.help { LESS_HELP.as_bytes() } else { b"less 590 (Tidebox)\n" });
        return out.finish("less", 0);
    }
    let mut files = options.files;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for name in &files {
        let shown = String::from_utf8_lossy(name);
        let is_folder = name != b"-" && tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        let result = if is_folder { Err(Errno::ISDIR) } else { copy(name, &mut out) };
        if let Err(errno) = result {
            // Without a screen, the original writes its messages to the output and exits successfully.
            let message = match errno {
                Errno::ISDIR => format!("{shown} is a directory\n"),
                errno => format!("{shown}: {}\n", errno.text()),
            };
            out.push(message.as_bytes());
        }
    }
    out.finish("less", 0)
}

fn copy(name: &[u8], out: &mut Output) -> Result<(), Errno> {
    let mut input = Input::open(name)?;
    loop {
        let chunk = input.chunk()?;
        if chunk.is_empty() || out.failure().is_some() {
            return Ok(());
        }
        out.push(chunk);
        let count = chunk.len();
        input.consume(count);
        // Data from a pipe is shown as it arrives.
        out.flush_now();
    }
}

const MORE_USAGE: &str = "\
Usage: more [OPTION]... FILE...
Copies files to standard output, because there is no terminal. These options have no effect: -c -d -e -f -l -p -s -u -n NUMBER -NUMBER +NUMBER +/PATTERN.

";

tidebox_gnu::options! {
    /// Options of `more`.
    enum MoreFlag {
        Silent = "-d, --silent", "";
        Logical = "-f, --logical", "";
        NoPause = "-l, --no-pause", "";
        PrintOver = "-c, --print-over", "";
        CleanPrint = "-p, --clean-print", "";
        ExitOnEof = "-e, --exit-on-eof", "";
        Squeeze = "-s, --squeeze", "";
        Plain = "-u, --plain", "";
        Lines = "-n, --lines=NUMBER", "";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

const MORE_SYNTAX: Syntax<'_, MoreFlag> =
    Syntax { version: "more from util-linux 2.38.1\n", ..Syntax::new("more", MORE_USAGE, 17) };

/// Runs `more`.
pub fn more(arguments: Vec<Vec<u8>>) -> i32 {
    // `+NUMBER` and `-NUMBER` are not getopt options; without a screen they have no effect.
    let is_number = |argument: &Vec<u8>| {
        argument.len() > 1
            && matches!(argument.first(), Some(b'+' | b'-'))
            && argument.get(1..).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    let is_pattern = |argument: &Vec<u8>| argument.starts_with(b"+/");
    let arguments = arguments.into_iter().filter(|argument| !is_number(argument) && !is_pattern(argument)).collect();
    let mut files = match MORE_SYNTAX.parse(arguments, |_, _| Ok(())) {
        Ok(files) => files,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    for name in &files {
        show(name, &mut out);
    }
    out.finish("more", 0)
}

fn show(name: &[u8], out: &mut Output) {
    let shown = String::from_utf8_lossy(name).into_owned();
    if name != b"-" && tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
        out.push(format!("\n*** {shown}: directory ***\n\n").as_bytes());
        return;
    }
    if name != b"-" && tidebox_rt::stat(name, true).is_ok() {
        out.push(format!("::::::::::::::\n{shown}\n::::::::::::::\n").as_bytes());
    }
    if let Err(errno) = copy(name, out) {
        out.flush_now();
        tidebox_gnu::eprint_line!("more: cannot open {shown}: {}", errno.text());
    }
}
