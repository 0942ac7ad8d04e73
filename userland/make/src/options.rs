//! Command line of make, and `MAKEFLAGS`.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

use crate::words::words;

/// Options of make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) always_make: bool,
    pub(crate) folders: Vec<Vec<u8>>,
    pub(crate) environment_overrides: bool,
    pub(crate) evaluated: Vec<Vec<u8>>,
    pub(crate) makefiles: Vec<Vec<u8>>,
    pub(crate) ignore_errors: bool,
    pub(crate) include_folders: Vec<Vec<u8>>,
    pub(crate) jobs: Option<Vec<u8>>,
    pub(crate) keep_going: bool,
    pub(crate) just_print: bool,
    pub(crate) old_files: Vec<Vec<u8>>,
    pub(crate) new_files: Vec<Vec<u8>>,
    pub(crate) question: bool,
    pub(crate) no_builtin_rules: bool,
    pub(crate) no_builtin_variables: bool,
    pub(crate) silent: bool,
    pub(crate) touch: bool,
    pub(crate) trace: bool,
    pub(crate) print_directory: bool,
    pub(crate) no_print_directory: bool,
    pub(crate) warn_undefined: bool,
    pub(crate) goals: Vec<Vec<u8>>,
    /// `NAME=value` operands, in order.
    pub(crate) variables: Vec<Vec<u8>>,
    /// Help or version text, if requested.
    pub(crate) say: Option<String>,
}

const SHORT: &str = "bBC:deE:f:hiI:j::kl::mno:O::pqrRsStvW:wL";

const LONG: &[Long] = &[
    long("always-make", Takes::Nothing, 'B'),
    long("directory", Takes::Value, 'C'),
    long("debug", Takes::Maybe, 'd'),
    long("environment-overrides", Takes::Nothing, 'e'),
    long("eval", Takes::Value, 'E'),
    long("file", Takes::Value, 'f'),
    long("makefile", Takes::Value, 'f'),
    long("help", Takes::Nothing, 'h'),
    long("ignore-errors", Takes::Nothing, 'i'),
    long("include-dir", Takes::Value, 'I'),
    long("jobs", Takes::Maybe, 'j'),
    long("keep-going", Takes::Nothing, 'k'),
    long("load-average", Takes::Maybe, 'l'),
    long("max-load", Takes::Maybe, 'l'),
    long("check-symlink-times", Takes::Nothing, 'L'),
    long("just-print", Takes::Nothing, 'n'),
    long("dry-run", Takes::Nothing, 'n'),
    long("recon", Takes::Nothing, 'n'),
    long("old-file", Takes::Value, 'o'),
    long("assume-old", Takes::Value, 'o'),
    long("output-sync", Takes::Maybe, 'O'),
    long("print-data-base", Takes::Nothing, 'p'),
    long("question", Takes::Nothing, 'q'),
    long("no-builtin-rules", Takes::Nothing, 'r'),
    long("no-builtin-variables", Takes::Nothing, 'R'),
    long("silent", Takes::Nothing, 's'),
    long("quiet", Takes::Nothing, 's'),
    long("no-silent", Takes::Nothing, '\u{5}'),
    long("no-keep-going", Takes::Nothing, 'S'),
    long("stop", Takes::Nothing, 'S'),
    long("touch", Takes::Nothing, 't'),
    long("trace", Takes::Nothing, '\u{1}'),
    long("version", Takes::Nothing, 'v'),
    long("print-directory", Takes::Nothing, 'w'),
    long("no-print-directory", Takes::Nothing, '\u{2}'),
    long("what-if", Takes::Value, 'W'),
    long("new-file", Takes::Value, 'W'),
    long("assume-new", Takes::Value, 'W'),
    long("warn-undefined-variables", Takes::Nothing, '\u{3}'),
];

/// Text of `--help`.
pub(crate) const HELP: &str = "\
Usage: make [options] [target] ...
Options:
  -b, -m                      Ignored for compatibility.
  -B, --always-make           Unconditionally make all targets.
  -C DIRECTORY, --directory=DIRECTORY
                              Change to DIRECTORY before doing anything.
  -e, --environment-overrides
                              Environment variables override makefiles.
  -E STRING, --eval=STRING    Evaluate STRING as a makefile statement.
  -f FILE, --file=FILE, --makefile=FILE
                              Read FILE as a makefile.
  -h, --help                  Print this message and exit.
  -i, --ignore-errors         Ignore errors from recipes.
  -I DIRECTORY, --include-dir=DIRECTORY
                              Search DIRECTORY for included makefiles.
  -j [N], --jobs[=N]          Accepted; one job runs at a time.
  -k, --keep-going            Keep going when some targets can't be made.
  -n, --just-print, --dry-run, --recon
                              Don't actually run any recipe; just print them.
  -o FILE, --old-file=FILE, --assume-old=FILE
                              Consider FILE to be very old and don't remake it.
  -q, --question              Run no recipe; exit status says if up to date.
  -r, --no-builtin-rules      Disable the built-in implicit rules.
  -R, --no-builtin-variables  Disable the built-in variable settings.
  -s, --silent, --quiet       Don't echo recipes.
  --no-silent                 Echo recipes (disable --silent mode).
  -S, --no-keep-going, --stop
                              Turns off -k.
  -t, --touch                 Touch targets instead of remaking them.
  --trace                     Print tracing information.
  -v, --version               Print the version number of make and exit.
  -w, --print-directory       Print the current directory.
  --no-print-directory        Turn off -w, even if it was turned on implicitly.
  -W FILE, --what-if=FILE, --new-file=FILE, --assume-new=FILE
                              Consider FILE to be infinitely new.
  --warn-undefined-variables  Warn when an undefined variable is referenced.

This program is that of Tidebox.
";

impl Options {
    /// Parses arguments. The error is a message and whether the usage follows.
    pub(crate) fn read(&mut self, arguments: Vec<Vec<u8>>) -> Result<(), String> {
        let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
        loop {
            // The number of -j and -l may be a separate argument.
            match parser.next_item()? {
                None => return Ok(()),
                Some(Item::Operand(operand)) => self.operand(operand),
                Some(Item::Option(key, value)) => {
                    let number = |next: &[u8]| !next.is_empty() && next.iter().all(u8::is_ascii_digit);
                    let value = match (key, value) {
                        ('j' | 'l', None) if parser.peek().is_some_and(number) => parser.take_operand(),
                        (_, value) => value,
                    };
                    self.option(key, value)?;
                }
            }
        }
    }

    /// A target or a variable assignment.
    fn operand(&mut self, operand: Vec<u8>) {
        match crate::assign::assignment(&operand) {
            Some(_) => self.variables.push(operand),
            None if operand.is_empty() => {}
            None => self.goals.push(operand),
        }
    }

    fn option(&mut self, key: char, value: Option<Vec<u8>>) -> Result<(), String> {
        let given = value.clone().unwrap_or_default();
        match key {
            'b' | 'm' | 'l' | 'O' => {}
            'B' => self.always_make = true,
            'C' => self.folders.push(given),
            'e' => self.environment_overrides = true,
            'E' => self.evaluated.push(given),
            'f' => self.makefiles.push(given),
            'h' => self.say = Some(HELP.to_owned()),
            'i' => self.ignore_errors = true,
            'I' => self.include_folders.push(given),
            'j' => {
                let zero = given.iter().all(|byte| *byte == b'0');
                if value.is_some() && (zero || !given.iter().all(u8::is_ascii_digit)) {
                    return Err("the '-j' option requires a positive integer argument".to_owned());
                }
                self.jobs = Some(given);
            }
            'k' => self.keep_going = true,
            'n' => self.just_print = true,
            'o' => self.old_files.push(given),
            'q' => self.question = true,
            'r' => self.no_builtin_rules = true,
            'R' => (self.no_builtin_rules, self.no_builtin_variables) = (true, true),
            's' => self.silent = true,
            '\u{5}' => self.silent = false,
            'S' => self.keep_going = false,
            't' => self.touch = true,
            '\u{1}' => self.trace = true,
            'v' => self.say = Some(VERSION.to_owned()),
            'w' => self.print_directory = true,
            '\u{2}' => self.no_print_directory = true,
            'W' => self.new_files.push(given),
            '\u{3}' => self.warn_undefined = true,
            'd' => return Err("the '-d' option is not supported here".to_owned()),
            'p' => return Err("the '-p' option is not supported here".to_owned()),
            'L' => return Err("the '-L' option is not supported here".to_owned()),
            other => return Err(format!("invalid option -- '{other}'")),
        }
        Ok(())
    }

    /// Parses flags of an outer make or of `MAKEFLAGS` in a makefile. Goals are not accepted.
    pub(crate) fn read_flags(&mut self, flags: &[u8]) {
        let mut arguments: Vec<Vec<u8>> = words_with_quotes(flags);
        let Some(first) = arguments.first_mut() else { return };
        if !first.starts_with(b"-") && !first.contains(&b'=') {
            first.insert(0, b'-');
        }
        let mut read = Self { goals: Vec::new(), ..self.clone() };
        // Unknown flags are ignored, as in GNU make.
        if read.read(arguments).is_ok() {
            read.goals.clone_from(&self.goals);
            *self = read;
        }
    }

    /// The letters of the flags passed to submakes.
    pub(crate) fn letters(&self) -> String {
        let flags = [
            ('B', self.always_make),
            ('e', self.environment_overrides),
            ('i', self.ignore_errors),
            ('k', self.keep_going),
            ('n', self.just_print),
            ('q', self.question),
            ('r', self.no_builtin_rules),
            ('R', self.no_builtin_variables),
            ('s', self.silent),
            ('t', self.touch),
            ('w', self.print_directory && !self.no_print_directory),
        ];
        flags.iter().filter(|(_, on)| *on).map(|(letter, _)| *letter).collect()
    }

    /// The value of `MAKEFLAGS`.
    pub(crate) fn flags(&self) -> Vec<u8> {
        let mut text = self.letters().into_bytes();
        for folder in &self.include_folders {
            text.extend_from_slice(b" -I");
            text.extend_from_slice(folder);
        }
        for (name, on) in [
            ("no-print-directory", self.no_print_directory),
            ("trace", self.trace),
            ("warn-undefined-variables", self.warn_undefined),
        ] {
            if on {
                text.extend_from_slice(format!(" --{name}").as_bytes());
            }
        }
        if !self.variables.is_empty() {
            text.extend_from_slice(b" --");
            for variable in &self.variables {
                text.push(b' ');
                for byte in variable {
                    match byte {
                        b'$' => text.extend_from_slice(b"$$"),
                        b' ' | b'\t' | b'\n' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
                        byte => text.push(*byte),
                    }
                }
            }
        }
        text
    }
}

/// Text of `--version`.
const VERSION: &str = "\
GNU Make 4.3
This is make of Tidebox, with the language of GNU Make 4.3.
";

/// Words in which a backslash quotes a blank.
fn words_with_quotes(text: &[u8]) -> Vec<Vec<u8>> {
    if !text.contains(&b'\\') {
        return words(text).map(<[u8]>::to_vec).collect();
    }
    let mut all = vec![Vec::new()];
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (byte, all.last_mut()) {
            (b'\\', Some(last)) => last.extend(bytes.next()),
            (byte, _) if crate::words::is_space(*byte) => all.push(Vec::new()),
            (byte, Some(last)) => last.push(*byte),
            (_, None) => {}
        }
    }
    all.retain(|word: &Vec<u8>| !word.is_empty());
    all
}
