//! `run-parts`: runs the programs of a directory.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::regex::{Options, Regex, Subject};
use tidebox_rt::{Errno, ExitStatus, FileKind};

const USAGE: &str = "\
Usage: run-parts [OPTION]... DIRECTORY
";

const VERSION: &str = "Debian run-parts program, version 5.7\n";

/// Default name pattern.
const USUAL: &str = "^[a-zA-Z0-9_-]+$";

tidebox_gnu::options! {
    /// Options of `run-parts`.
    enum Flag {
        Test = "--test", "print script names which would run, but don't run them.";
        List = "--list", "print names of all valid files (can not be used with\n--test)";
        Verbose = "-v, --verbose", "print script names before running them.";
        Reverse = "--reverse", "reverse execution order of scripts.";
        ExitOnError = "--exit-on-error", "exit as soon as a script returns with a non-zero exit\ncode.";
        Regex = "--regex=PATTERN", "validate filenames based on POSIX ERE pattern PATTERN.";
        Umask = "-u, --umask=UMASK", "sets umask to UMASK (octal), default is 022.";
        Arg = "-a, --arg=ARGUMENT", "pass ARGUMENT to scripts, use once for each argument.";
        Version = "-V, --version", "output version information and exit.";
        Help = "-h, --help", "display this help and exit.";
        Debug = "-d, --debug", "", unsupported "--debug is not supported here";
        Report = "--report", "", unsupported "--report is not supported here";
        Stdin = "--stdin", "", unsupported "--stdin is not supported here";
        Lsbsysinit = "--lsbsysinit", "", unsupported "--lsbsysinit is not supported here; use --regex";
        NewSession = "--new-session", "", unsupported "--new-session is not supported here";
    }
}

#[derive(Default)]
struct RunParts {
    test: bool,
    list: bool,
    verbose: bool,
    reverse: bool,
    exits: bool,
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
            Flag::Reverse => options.reverse = true,
            Flag::ExitOnError => options.exits = true,
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
                    if !self.run(&path, &shown) {
                        code = 1;
                        if self.exits {
                            break;
                        }
                    }
                }
            }
        }
        code
    }

    /// Runs one program. Returns whether it succeeded.
    fn run(&self, path: &[u8], shown: &str) -> bool {
        if self.verbose {
            let arguments: String =
                self.arguments.iter().map(|word| format!(" {}", String::from_utf8_lossy(word))).collect();
            print_error("run-parts", &format!("executing {shown}{arguments}"));
        }
        match self.start(path) {
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

    fn start(&self, path: &[u8]) -> Result<ExitStatus, Errno> {
        let arguments: Vec<&[u8]> = std::iter::once(path).chain(self.arguments.iter().map(Vec::as_slice)).collect();
        Command::new(&arguments).run()
    }
}
