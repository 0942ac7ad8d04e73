//! `run-parts`: runs the programs of a directory.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::{Options, Regex, Subject};
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, ExitStatus, Fd, FileKind, Open};

const USAGE: &str = "\
Usage: run-parts [OPTION]... DIRECTORY
";

const VERSION: &str = "Debian run-parts program, version 5.7\n";

/// Default name pattern.
const USUAL: &str = "^[a-zA-Z0-9_-]+$";
/// Name pattern of the Linux Standard Base.
const STANDARD_BASE: &str = "^([a-z0-9]+|_?([a-z0-9_.]+-)+[a-z0-9]+|[a-z0-9][a-z0-9-]*)$";

tidebox_gnu::options! {
    /// Options of `run_parts`.
    enum Flag {
        Test = "--test", "print script names which would run, but don't run them.";
        List = "--list", "print names of all valid files (can not be used with\n--test)";
        Verbose = "-v, --verbose", "print script names before running them.";
        Debug = "-d, --debug", "print script names while checking them.",
            unsupported "--debug is not supported here";
        Report = "--report", "print script names if they produce output.";
        Reverse = "--reverse", "reverse execution order of scripts.";
        ExitOnError = "--exit-on-error", "exit as soon as a script returns with a non-zero exit\ncode.";
        Stdin = "--stdin", "multiplex stdin to scripts being run, using temporary file";
        Lsbsysinit = "--lsbsysinit", "validate filenames based on LSB sysinit specs.";
        NewSession = "--new-session", "run each script in a separate process session";
        Regex = "--regex=PATTERN", "validate filenames based on POSIX ERE pattern PATTERN.";
        Umask = "-u, --umask=UMASK", "sets umask to UMASK (octal), default is 022.";
        Arg = "-a, --arg=ARGUMENT", "pass ARGUMENT to scripts, use once for each argument.";
        Version = "-V, --version", "output version information and exit.";
        Help = "-h, --help", "display this help and exit.";
    }
}

#[derive(Default)]
struct RunParts {
    test: bool,
    list: bool,
    verbose: bool,
    report: bool,
    reverse: bool,
    exits: bool,
    shares_input: bool,
    session: bool,
    pattern: Option<Vec<u8>>,
    umask: Option<u32>,
    arguments: Vec<Vec<u8>>,
}

/// Runs `run-parts`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = Syntax { version: VERSION, ..Syntax::new("run-parts", USAGE, 22) };
    let mut options = RunParts::default();
    let folders = line.parse::<ToolResult>(arguments, |key, value| {
        match key {
            Flag::Test => options.test = true,
            Flag::List => options.list = true,
            Flag::Verbose => options.verbose = true,
            Flag::Report => options.report = true,
            Flag::Reverse => options.reverse = true,
            Flag::ExitOnError => options.exits = true,
            Flag::Stdin => options.shares_input = true,
            Flag::Lsbsysinit => options.pattern = Some(STANDARD_BASE.as_bytes().to_vec()),
            Flag::NewSession => options.session = true,
            Flag::Regex => options.pattern = Some(value),
            Flag::Umask => {
                let bits = std::str::from_utf8(&value).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
                options.umask = Some(
                    bits.filter(|bits| *bits <= 0o777)
                        .ok_or_else(|| ToolResult::Failure("bad umask value".to_owned(), 1))?,
                );
            }
            _ => options.arguments.push(value),
        }
        Ok(())
    });
    let folders = match folders {
        Ok(folders) => folders,
        Err(ToolResult::Usage(message, _)) => return wrong(&message),
        // The help goes to standard error, as in Debian's tool.
        Err(ToolResult::Print(text)) if text != VERSION.as_bytes() => {
            tidebox_gnu::eprint_part!("{}", String::from_utf8_lossy(&text));
            return 0;
        }
        Err(answer) => return answer.into_exit_code("run-parts"),
    };
    if options.list && options.test {
        return wrong("--list and --test can not be used together");
    }
    let [folder] = folders.as_slice() else {
        return wrong("missing operand");
    };
    if let Err(errno) = tidebox_rt::umask(Some(options.umask.unwrap_or(0o022))) {
        print_error("run-parts", &format!("umask: {}", errno.text()));
        return 1;
    }
    options.folder(folder)
}

/// Reports a usage error with Debian's quotes.
fn wrong(message: &str) -> i32 {
    print_error("run-parts", message);
    tidebox_gnu::eprint_line!("Try `run-parts --help' for more information.");
    1
}

impl RunParts {
    /// Name filter.
    fn names(&self) -> Result<Regex, String> {
        let pattern = self.pattern.clone().unwrap_or_else(|| USUAL.as_bytes().to_vec());
        let options = Options { subject: Subject::Text, ..Options::extended() };
        Regex::new(&[pattern], &options).map_err(|error| error.to_string())
    }

    fn folder(&self, folder: &[u8]) -> i32 {
        let names = match self.names() {
            Ok(names) => names,
            Err(error) => {
                tidebox_gnu::eprint_line!("Unable to build regexp: {error}");
                return 1;
            }
        };
        let mut entries = match tidebox_rt::read_dir(folder) {
            Ok(entries) => entries,
            Err(errno) => {
                let shown = String::from_utf8_lossy(folder);
                print_error("run-parts", &format!("failed to open directory {shown}: {}", errno.text()));
                return 1;
            }
        };
        entries.retain(|entry| names.is_match(&entry.name).unwrap_or(false));
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        if self.reverse {
            entries.reverse();
        }
        let input = match self.input() {
            Ok(input) => input,
            Err(errno) => {
                print_error("run-parts", &format!("could not keep standard input: {}", errno.text()));
                return 1;
            }
        };
        let mut code = 0;
        for entry in &entries {
            let path = [folder, b"/", &entry.name].concat();
            let shown = String::from_utf8_lossy(&path).into_owned();
            match tidebox_rt::stat(&path, true) {
                Err(errno) => {
                    print_error("run-parts", &format!("failed to stat component {shown}: {}", errno.text()));
                }
                Ok(stat) if stat.kind() != FileKind::File => {}
                Ok(_) if self.list => code |= tidebox_gnu::tool::print("run-parts", format!("{shown}\n").as_bytes()),
                Ok(_) if tidebox_rt::access(&path, 1).is_err() => {}
                Ok(_) if self.test => code |= tidebox_gnu::tool::print("run-parts", format!("{shown}\n").as_bytes()),
                Ok(_) => {
                    if !self.run(&path, &shown, input.as_deref()) {
                        code = 1;
                        if self.exits {
                            break;
                        }
                    }
                }
            }
        }
        if let Some(input) = input {
            // The file is no longer needed; errors are ignored because it is temporary.
            let _ = tidebox_rt::unlink(&input);
        }
        code
    }

    /// A file with all of standard input, for every program to read.
    fn input(&self) -> Result<Option<Vec<u8>>, Errno> {
        if !self.shares_input || self.test || self.list {
            return Ok(None);
        }
        let mut random = [0; 8];
        tidebox_rt::random(&mut random)?;
        let name = format!("/tmp/run-parts.stdin.{:016x}", u64::from_le_bytes(random)).into_bytes();
        let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
        let fd = tidebox_rt::open(&name, how)?;
        let mut input = Input::standard();
        loop {
            let piece = input.chunk()?;
            if piece.is_empty() {
                break;
            }
            tidebox_rt::write_all(fd, piece)?;
            let count = piece.len();
            input.consume(count);
        }
        tidebox_rt::close(fd)?;
        Ok(Some(name))
    }

    /// Runs one program. Returns whether it succeeded.
    fn run(&self, path: &[u8], shown: &str, input: Option<&[u8]>) -> bool {
        if self.verbose {
            let arguments: String =
                self.arguments.iter().map(|word| format!(" {}", String::from_utf8_lossy(word))).collect();
            print_error("run-parts", &format!("executing {shown}{arguments}"));
        }
        match self.start(path, shown, input) {
            Err(errno) => {
                print_error("run-parts", &format!("failed to exec {shown}: {}", errno.text()));
                false
            }
            Ok(ExitStatus::Exited(0)) => true,
            Ok(ExitStatus::Exited(code)) => {
                print_error("run-parts", &format!("{shown} exited with return code {code}"));
                false
            }
            Ok(ExitStatus::Killed(signal)) => {
                print_error("run-parts", &format!("{shown} exited because of uncaught signal {signal}"));
                false
            }
        }
    }

    fn start(&self, path: &[u8], shown: &str, input: Option<&[u8]>) -> Result<ExitStatus, Errno> {
        let arguments: Vec<&[u8]> = std::iter::once(path).chain(self.arguments.iter().map(Vec::as_slice)).collect();
        let stdin = match input {
            Some(name) => tidebox_rt::open(name, Open { read: true, ..Open::default() })?,
            None => 0,
        };
        let pipe = if self.report { Some(tidebox_rt::pipe()?) } else { None };
        let out: Fd = pipe.map_or(1, |(_, write)| write);
        let descriptors = [(0, stdin), (1, out), (2, if self.report { out } else { 2 })];
        let command = Command { descriptors: &descriptors, group: u32::from(self.session), ..Command::new(&arguments) };
        let child = command.spawn();
        if stdin > 2 {
            tidebox_rt::close(stdin)?;
        }
        if let Some((read, write)) = pipe {
            tidebox_rt::close(write)?;
            report(read, shown)?;
        }
        wait(child?)
    }
}

/// Prints the output of a program, after its name.
fn report(from: Fd, shown: &str) -> Result<(), Errno> {
    let mut input = Input::of(from);
    let mut named = false;
    loop {
        let piece = input.chunk()?;
        if piece.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut named, true) {
            tidebox_rt::write_all(1, format!("{shown}:\n").as_bytes())?;
        }
        tidebox_rt::write_all(1, piece)?;
        let count = piece.len();
        input.consume(count);
    }
}
