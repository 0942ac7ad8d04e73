//! `less` and `more` without a terminal: they copy their input, like the originals if the output is not a terminal.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::{Errno, FileKind};

/// Short options of `less` with a value.
const LESS_VALUES: &[u8] = b"bhjkoOpPtTxyzD#";
/// Short options without a value.
const LESS_FLAGS: &[u8] = b"?aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~";
/// Long options of `less`, and whether they take a value.
const LESS_LONG: &[(&str, bool)] = &[
    ("auto-buffers", false),
    ("buffers", true),
    ("chop-long-lines", false),
    ("clear-screen", false),
    ("color", true),
    ("dumb", false),
    ("file-size", false),
    ("follow-name", false),
    ("force", false),
    ("header", true),
    ("help", false),
    ("hilite-search", false),
    ("HILITE-SEARCH", false),
    ("IGNORE-CASE", false),
    ("ignore-case", false),
    ("incsearch", false),
    ("jump-target", true),
    ("LINE-NUMBERS", false),
    ("line-numbers", false),
    ("line-num-width", true),
    ("log-file", true),
    ("LOG-FILE", true),
    ("long-prompt", false),
    ("LONG-PROMPT", false),
    ("max-back-scroll", true),
    ("max-forw-scroll", true),
    ("mouse", false),
    ("no-histdups", false),
    ("no-init", false),
    ("no-keypad", false),
    ("no-lessopen", false),
    ("pattern", true),
    ("prompt", true),
    ("quiet", false),
    ("QUIET", false),
    ("quit-at-eof", false),
    ("QUIT-AT-EOF", false),
    ("quit-if-one-screen", false),
    ("quit-on-intr", false),
    ("raw-control-chars", false),
    ("RAW-CONTROL-CHARS", false),
    ("rscroll", true),
    ("save-marks", false),
    ("search-skip-screen", false),
    ("shift", true),
    ("silent", false),
    ("SILENT", false),
    ("squeeze-blank-lines", false),
    ("status-column", false),
    ("status-line", false),
    ("tabs", true),
    ("tag", true),
    ("tag-file", true),
    ("tilde", false),
    ("underline-special", false),
    ("UNDERLINE-SPECIAL", false),
    ("use-backslash", false),
    ("use-color", false),
    ("version", false),
    ("wheel-lines", true),
    ("window", true),
    ("wordwrap", false),
];

/// The long name of an option with a value, as shown in messages.
fn long_name(letter: u8) -> &'static str {
    match letter {
        b'b' => " (--buffers)",
        b'D' => " (--color)",
        b'h' => " (--max-back-scroll)",
        b'j' => " (--jump-target)",
        b'o' => " (--log-file)",
        b'O' => " (--LOG-FILE)",
        b'p' => " (--pattern)",
        b'P' => " (--prompt)",
        b't' => " (--tag)",
        b'T' => " (--tag-file)",
        b'x' => " (--tabs)",
        b'y' => " (--max-forw-scroll)",
        b'z' => " (--window)",
        b'#' => " (--shift)",
        _ => "",
    }
}

/// Parsed command line of `less`.
#[derive(Default)]
struct Less {
    files: Vec<Vec<u8>>,
    help: bool,
    version: bool,
}

fn no_option(text: &str) -> String {
    format!("There is no {text} option (\"less --help\" for help)")
}

/// Parses the command line of `less`, which is not getopt: `+` starts a command, and letters may be long names.
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
            let name = String::from_utf8_lossy(name).into_owned();
            let (word, value) = name.split_once('=').map_or((name.as_str(), None), |(word, value)| (word, Some(value)));
            let fitting: Vec<_> = LESS_LONG.iter().filter(|(known, _)| known.starts_with(word)).collect();
            let exact = fitting.iter().find(|(known, _)| *known == word).or(fitting.first());
            let Some((known, takes)) = exact.filter(|_| !word.is_empty()) else {
                tidebox_gnu::eprint_line!("{}", no_option(word));
                continue;
            };
            if *takes && value.is_none() && rest.next().is_none() {
                tidebox_gnu::eprint_line!("Value is required after --{known}");
            }
            match *known {
                "help" => less.help = true,
                "version" => less.version = true,
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
                b'0'..=b'9' | b'-' | b'+' | b'$' => {}
                letter if LESS_VALUES.contains(letter) => {
                    if after.is_empty() && rest.next().is_none() {
                        tidebox_gnu::eprint_line!(
                            "Value is required after -{}{}",
                            char::from(*letter),
                            long_name(*letter)
                        );
                    }
                    return;
                }
                letter if LESS_FLAGS.contains(letter) => {}
                letter => tidebox_gnu::eprint_line!("{}", no_option(&format!("-{}", char::from(*letter)))),
            }
        }
    }
}

const LESS_HELP: &str = "\
Usage: less [OPTION]... [+COMMAND] [FILE]...
Shows files screen by screen. There is no terminal here, so that it copies them to standard output;
options that change the screen have no effect.

  -N, --LINE-NUMBERS         (for screens)
  -s, --squeeze-blank-lines  (for screens)
  -V, --version              say the version
";

/// `less`.
pub fn less(arguments: Vec<Vec<u8>>) -> i32 {
    let asked = parse_less(arguments);
    let mut out = Output::standard();
    if asked.help || asked.version {
        out.push(if asked.help { LESS_HELP.as_bytes() } else { b"less 590 (as Tidebox speaks it)\n" });
        return out.finish("less", 0);
    }
    let mut files = asked.files;
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
        let piece = input.chunk()?;
        if piece.is_empty() || out.failure().is_some() {
            return Ok(());
        }
        out.push(piece);
        let count = piece.len();
        input.consume(count);
        // Data from a pipe is shown as it arrives.
        out.flush_now();
    }
}

const MORE_HELP: &str = "\
Usage: more [OPTION]... FILE...
Shows files page by page. There is no terminal here, so that it copies them to standard output;
options for pages are taken and have no effect: -c -d -e -f -l -p -s -u -n NUMBER -NUMBER +NUMBER +/PATTERN.

  -h, --help, -V, --version
";

/// `more`.
pub fn more(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("silent", Takes::Nothing, 'd'),
        long("logical", Takes::Nothing, 'f'),
        long("no-pause", Takes::Nothing, 'l'),
        long("print-over", Takes::Nothing, 'c'),
        long("clean-print", Takes::Nothing, 'p'),
        long("exit-on-eof", Takes::Nothing, 'e'),
        long("squeeze", Takes::Nothing, 's'),
        long("plain", Takes::Nothing, 'u'),
        long("lines", Takes::Value, 'n'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    // `+NUMBER` and `-NUMBER` are not getopt options; without a screen they have no effect.
    let is_number = |argument: &Vec<u8>| {
        argument.len() > 1
            && matches!(argument.first(), Some(b'+' | b'-'))
            && argument.get(1..).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    let is_pattern = |argument: &Vec<u8>| argument.starts_with(b"+/");
    let arguments = arguments.into_iter().filter(|argument| !is_number(argument) && !is_pattern(argument)).collect();
    let line = CommandLine {
        version: "more from util-linux 2.38.1\n",
        ..CommandLine::new("more", "dflcpesun:hV", &long, MORE_HELP)
    };
    let mut files = match line.parse(arguments, |_, _| Ok(())) {
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
