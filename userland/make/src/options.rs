//! Command line of make, and `MAKEFLAGS`.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use crate::words::words;

/// Options of make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) always_make: bool,
    pub(crate) folders: Vec<Vec<u8>>,
    pub(crate) environment_overrides: bool,
    pub(crate) makefiles: Vec<Vec<u8>>,
    pub(crate) ignore_errors: bool,
    pub(crate) include_folders: Vec<Vec<u8>>,
    pub(crate) jobs: Option<Vec<u8>>,
    pub(crate) keep_going: bool,
    pub(crate) just_print: bool,
    pub(crate) question: bool,
    pub(crate) no_builtin_rules: bool,
    pub(crate) no_builtin_variables: bool,
    pub(crate) silent: bool,
    pub(crate) print_directory: bool,
    pub(crate) no_print_directory: bool,
    pub(crate) warn_undefined: bool,
    pub(crate) goals: Vec<Vec<u8>>,
    /// `NAME=value` operands, in order.
    pub(crate) variables: Vec<Vec<u8>>,
    /// Help or version text, if requested.
    pub(crate) text: Option<String>,
}

const USAGE: &str = "\
Usage: make [options] [target] ...
Options:
";

const NOTES: &str = "\nThis program is that of Tidebox.\n";

/// Text of `--version`.
const VERSION: &str = "\
GNU Make 4.3
This is make of Tidebox, with the language of GNU Make 4.3.
";

pub(crate) const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("make", USAGE, 31) };

tidebox_gnu::options! {
    /// Options of `make`.
    pub(crate) enum Flag {
        Ignored = "-b, -m", "Ignored for compatibility.";
        AlwaysMake = "-B, --always-make", "Unconditionally make all targets.";
        Directory = "-C, --directory=DIRECTORY", "Change to DIRECTORY before doing anything.";
        EnvironmentOverrides = "-e, --environment-overrides", "Environment variables override makefiles.";
        File = "-f, --file=FILE, --makefile=FILE", "Read FILE as a makefile.";
        Help = "-h, --help", "Print this message and exit.";
        IgnoreErrors = "-i, --ignore-errors", "Ignore errors from recipes.";
        IncludeDir = "-I, --include-dir=DIRECTORY", "Search DIRECTORY for included makefiles.";
        Jobs = "-j[N], --jobs[=N]", "Accepted; one job runs at a time.";
        KeepGoing = "-k, --keep-going", "Keep going when some targets can't be made.";
        JustPrint = "-n, --just-print, --dry-run, --recon", "Don't actually run any recipe; just print them.";
        Question = "-q, --question", "Run no recipe; exit status says if up to date.";
        NoBuiltinRules = "-r, --no-builtin-rules", "Disable the built-in implicit rules.";
        NoBuiltinVariables = "-R, --no-builtin-variables", "Disable the built-in variable settings.";
        Silent = "-s, --silent, --quiet", "Don't echo recipes.";
        NoSilent = "--no-silent", "Echo recipes (disable --silent mode).";
        Stop = "-S, --no-keep-going, --stop", "Turns off -k.";
        Version = "-v, --version", "Print the version number of make and exit.";
        PrintDirectory = "-w, --print-directory", "Print the current directory.";
        NoPrintDirectory = "--no-print-directory", "Turn off -w, even if it was turned on implicitly.";
        WarnUndefined = "--warn-undefined-variables", "Warn when an undefined variable is referenced.";
        LoadAverage = "-l[N], --load-average[=N], --max-load[=N]", "";
        OutputSync = "-O[TYPE], --output-sync[=TYPE]", "";
        Debug = "-d, --debug[=FLAGS]", "", unsupported "the '-d' option is not supported here";
        PrintDataBase = "-p, --print-data-base", "", unsupported "the '-p' option is not supported here";
        CheckSymlinkTimes = "-L, --check-symlink-times", "", unsupported "the '-L' option is not supported here";
        Eval = "-E, --eval=STRING", "", unsupported "the '--eval' option is not supported here";
        OldFile = "-o, --old-file=FILE, --assume-old=FILE", "", unsupported "the '-o' option is not supported here";
        NewFile = "-W, --what-if=FILE, --new-file=FILE, --assume-new=FILE", "", unsupported "the '-W' option is not supported here";
        Touch = "-t, --touch", "", unsupported "the '-t' option is not supported here";
        Trace = "--trace", "", unsupported "the '--trace' option is not supported here";
    }
}

impl Options {
    /// Parses arguments. The error is a message.
    pub(crate) fn read(&mut self, arguments: Vec<Vec<u8>>) -> Result<(), String> {
        let mut items = LINE.items(arguments);
        loop {
            match items.next_item() {
                Ok(None) => return Ok(()),
                Ok(Some(Item::Operand(operand))) => self.operand(operand),
                Ok(Some(Item::Option(flag, value))) => {
                    // The number of -j and -l may be a separate argument.
                    let number = |next: &[u8]| !next.is_empty() && next.iter().all(u8::is_ascii_digit);
                    let value = match (flag, value) {
                        (Flag::Jobs | Flag::LoadAverage, None) if items.peek().is_some_and(number) => {
                            items.take_operand()
                        }
                        (_, value) => value,
                    };
                    self.set(flag, value)?;
                }
                Err(ToolResult::Print(text)) => {
                    self.text = Some(String::from_utf8_lossy(&text).into_owned());
                    return Ok(());
                }
                Err(ToolResult::Usage(message, _) | ToolResult::Failure(message, _)) => return Err(message),
                Err(ToolResult::Code(_) | ToolResult::PrintAndCode(..)) => return Ok(()),
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

    fn set(&mut self, flag: Flag, value: Option<Vec<u8>>) -> Result<(), String> {
        let given = value.clone().unwrap_or_default();
        match flag {
            Flag::AlwaysMake => self.always_make = true,
            Flag::Directory => self.folders.push(given),
            Flag::EnvironmentOverrides => self.environment_overrides = true,
            Flag::File => self.makefiles.push(given),
            Flag::IgnoreErrors => self.ignore_errors = true,
            Flag::IncludeDir => self.include_folders.push(given),
            Flag::Jobs => {
                let zero = given.iter().all(|byte| *byte == b'0');
                if value.is_some() && (zero || !given.iter().all(u8::is_ascii_digit)) {
                    return Err("the '-j' option requires a positive integer argument".to_owned());
                }
                self.jobs = Some(given);
            }
            Flag::KeepGoing => self.keep_going = true,
            Flag::JustPrint => self.just_print = true,
            Flag::Question => self.question = true,
            Flag::NoBuiltinRules => self.no_builtin_rules = true,
            Flag::NoBuiltinVariables => (self.no_builtin_rules, self.no_builtin_variables) = (true, true),
            Flag::Silent => self.silent = true,
            Flag::NoSilent => self.silent = false,
            Flag::Stop => self.keep_going = false,
            Flag::PrintDirectory => self.print_directory = true,
            Flag::NoPrintDirectory => self.no_print_directory = true,
            Flag::WarnUndefined => self.warn_undefined = true,
            _ => {}
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
        let long = [("no-print-directory", self.no_print_directory), ("warn-undefined-variables", self.warn_undefined)];
        for (name, on) in long {
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
