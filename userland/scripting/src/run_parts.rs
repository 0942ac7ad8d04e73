//! `run-parts`: runs the programs of a folder.

use tidebox_gnu::answer::{Answer, Ending};
use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::regex::{Options, Regex, Subject};
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Fd, FileKind, Open, Status};

const HELP: &str = "\
Usage: run-parts [OPTION]... DIRECTORY
      --test          print script names which would run, but don't run them.
      --list          print names of all valid files (can not be used with
                      --test)
  -v, --verbose       print script names before running them.
  -d, --debug         print script names while checking them.
      --report        print script names if they produce output.
      --reverse       reverse execution order of scripts.
      --exit-on-error exit as soon as a script returns with a non-zero exit
                      code.
      --stdin         multiplex stdin to scripts being run, using temporary file
      --lsbsysinit    validate filenames based on LSB sysinit specs.
      --new-session   run each script in a separate process session
      --regex=PATTERN validate filenames based on POSIX ERE pattern PATTERN.
  -u, --umask=UMASK   sets umask to UMASK (octal), default is 022.
  -a, --arg=ARGUMENT  pass ARGUMENT to scripts, use once for each argument.
  -V, --version       output version information and exit.
  -h, --help          display this help and exit.
";

const VERSION: &str = "Debian run-parts program, version 5.7\n";

/// Names that run without an option.
const USUAL: &str = "^[a-zA-Z0-9_-]+$";
/// Those of the Linux Standard Base.
const STANDARD_BASE: &str = "^([a-z0-9]+|_?([a-z0-9_.]+-)+[a-z0-9]+|[a-z0-9][a-z0-9-]*)$";

const TEST: char = '\u{e001}';
const LIST: char = '\u{e002}';
const REPORT: char = '\u{e003}';
const REVERSE: char = '\u{e004}';
const EXIT: char = '\u{e005}';
const STDIN: char = '\u{e006}';
const LSB: char = '\u{e007}';
const SESSION: char = '\u{e008}';
const REGEX: char = '\u{e009}';

const LONG: &[Long] = &[
    long("test", Takes::Nothing, TEST),
    long("list", Takes::Nothing, LIST),
    long("verbose", Takes::Nothing, 'v'),
    long("debug", Takes::Nothing, 'd'),
    long("report", Takes::Nothing, REPORT),
    long("reverse", Takes::Nothing, REVERSE),
    long("exit-on-error", Takes::Nothing, EXIT),
    long("stdin", Takes::Nothing, STDIN),
    long("lsbsysinit", Takes::Nothing, LSB),
    long("new-session", Takes::Nothing, SESSION),
    long("regex", Takes::Value, REGEX),
    long("umask", Takes::Value, 'u'),
    long("arg", Takes::Value, 'a'),
    long("version", Takes::Nothing, 'V'),
    long("help", Takes::Nothing, 'h'),
];

#[derive(Default)]
struct Asked {
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

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = CommandLine { version: VERSION, ..CommandLine::new("run-parts", "vu:a:Vh", LONG, HELP) };
    let mut asked = Asked::default();
    let folders = line.read::<Answer>(arguments, |key, value| {
        match key {
            TEST => asked.test = true,
            LIST => asked.list = true,
            'v' => asked.verbose = true,
            'd' => return Err(Answer::Failure("--debug is not supported here".to_owned(), 1)),
            REPORT => asked.report = true,
            REVERSE => asked.reverse = true,
            EXIT => asked.exits = true,
            STDIN => asked.shares_input = true,
            LSB => asked.pattern = Some(STANDARD_BASE.as_bytes().to_vec()),
            SESSION => asked.session = true,
            REGEX => asked.pattern = Some(value),
            'u' => {
                let bits = std::str::from_utf8(&value).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
                asked.umask = Some(
                    bits.filter(|bits| *bits <= 0o777)
                        .ok_or_else(|| Answer::Failure("bad umask value".to_owned(), 1))?,
                );
            }
            _ => asked.arguments.push(value),
        }
        Ok(())
    });
    let folders = match folders {
        Ok(folders) => folders,
        Err(Answer::Usage(message, _)) => return wrong(&message),
        // Whoever asks for help gets it where messages go, as from Debian's.
        Err(Answer::Print(text)) if text == HELP.as_bytes() => {
            tidebox_gnu::tell_part!("{HELP}");
            return 0;
        }
        Err(answer) => return answer.end("run-parts"),
    };
    if asked.list && asked.test {
        return wrong("--list and --test can not be used together");
    }
    let [folder] = folders.as_slice() else {
        return wrong("missing operand");
    };
    if let Err(errno) = tidebox_rt::umask(Some(asked.umask.unwrap_or(0o022))) {
        complain("run-parts", &format!("umask: {}", errno.text()));
        return 1;
    }
    asked.folder(folder)
}

/// Says what is wrong with the command line; the quotes are Debian's.
fn wrong(message: &str) -> i32 {
    complain("run-parts", message);
    tidebox_gnu::tell!("Try `run-parts --help' for more information.");
    1
}

impl Asked {
    /// What names are held against.
    fn names(&self) -> Result<Regex, String> {
        let pattern = self.pattern.clone().unwrap_or_else(|| USUAL.as_bytes().to_vec());
        let options = Options { subject: Subject::Text, ..Options::extended() };
        Regex::new(&[pattern], &options).map_err(|error| error.to_string())
    }

    fn folder(&self, folder: &[u8]) -> i32 {
        let names = match self.names() {
            Ok(names) => names,
            Err(error) => {
                tidebox_gnu::tell!("Unable to build regexp: {error}");
                return 1;
            }
        };
        let mut entries = match tidebox_rt::read_dir(folder) {
            Ok(entries) => entries,
            Err(errno) => {
                let shown = String::from_utf8_lossy(folder);
                complain("run-parts", &format!("failed to open directory {shown}: {}", errno.text()));
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
                complain("run-parts", &format!("could not keep standard input: {}", errno.text()));
                return 1;
            }
        };
        let mut code = 0;
        for entry in &entries {
            let path = [folder, b"/", &entry.name].concat();
            let shown = String::from_utf8_lossy(&path).into_owned();
            match tidebox_rt::stat(&path, true) {
                Err(errno) => {
                    complain("run-parts", &format!("failed to stat component {shown}: {}", errno.text()));
                }
                Ok(stat) if stat.kind() != FileKind::File => {}
                Ok(_) if self.list => code |= crate::print("run-parts", format!("{shown}\n").as_bytes()),
                Ok(_) if tidebox_rt::access(&path, 1).is_err() => {}
                Ok(_) if self.test => code |= crate::print("run-parts", format!("{shown}\n").as_bytes()),
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
            // It is of no use any more, and a folder for temporary files may forget it as well.
            let _ = tidebox_rt::unlink(&input);
        }
        code
    }

    /// A file with all of standard input, where every program is to read it.
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
            let piece = input.piece()?;
            if piece.is_empty() {
                break;
            }
            tidebox_rt::write_all(fd, piece)?;
            let count = piece.len();
            input.take(count);
        }
        tidebox_rt::close(fd)?;
        Ok(Some(name))
    }

    /// Runs one program; whether it ended well.
    fn run(&self, path: &[u8], shown: &str, input: Option<&[u8]>) -> bool {
        if self.verbose {
            let arguments: String =
                self.arguments.iter().map(|word| format!(" {}", String::from_utf8_lossy(word))).collect();
            complain("run-parts", &format!("executing {shown}{arguments}"));
        }
        match self.start(path, shown, input) {
            Err(errno) => {
                complain("run-parts", &format!("failed to exec {shown}: {}", errno.text()));
                false
            }
            Ok(Status::Exited(0)) => true,
            Ok(Status::Exited(code)) => {
                complain("run-parts", &format!("{shown} exited with return code {code}"));
                false
            }
            Ok(Status::Killed(signal)) => {
                complain("run-parts", &format!("{shown} exited because of uncaught signal {signal}"));
                false
            }
        }
    }

    fn start(&self, path: &[u8], shown: &str, input: Option<&[u8]>) -> Result<Status, Errno> {
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

/// Passes on what a program says, under its name.
fn report(from: Fd, shown: &str) -> Result<(), Errno> {
    let mut input = Input::of(from);
    let mut named = false;
    loop {
        let piece = input.piece()?;
        if piece.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut named, true) {
            tidebox_rt::write_all(1, format!("{shown}:\n").as_bytes())?;
        }
        tidebox_rt::write_all(1, piece)?;
        let count = piece.len();
        input.take(count);
    }
}
