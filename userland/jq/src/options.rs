//! The command line.

use tidebox_gnu::message::{bytes_path, error_text};

use crate::input::Reading;
use crate::json::{Layout, parse_all, parse_one};
use crate::run::Form;
use crate::value::{Map, Val};

/// Parsed command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) program: String,
    pub(crate) from_file: bool,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) reading: Reading,
    pub(crate) null_input: bool,
    pub(crate) form: Form,
    pub(crate) exit_status: bool,
    pub(crate) named: Map,
    pub(crate) positional: Vec<Val>,
}

/// Action instead of running a program.
#[derive(Debug)]
pub(crate) enum Other {
    /// Print this to standard output and exit successfully.
    Print(String),
    /// Print these lines to standard error and exit with 2.
    Fail(String),
    /// Like [`Self::Fail`], but followed by a hint about the help.
    Misuse(String),
    /// No program was given.
    Usage,
}

/// The emulated release.
const VERSION: &str = "jq-1.7.1";

pub(crate) const HELP: &str = "Use jq --help for help with command-line options,
or see the jq manpage, or online docs  at https://stedolan.github.io/jq
";

/// Help text before the options.
pub(crate) const USAGE: &str = "Usage:\tjq [OPTIONS] FILTER [FILES...]
\tjq [OPTIONS] -n FILTER
\tjq [OPTIONS] --args FILTER [STRINGS...]
\tjq [OPTIONS] --jsonargs FILTER [JSON_VALUES...]
";

const OPTIONS: &str = "
Command options:
  -n, --null-input          run once with null as the only input;
  -R, --raw-input           take each line as a string;
  -s, --slurp               take all inputs together as one array;
  -c, --compact-output      write each output on one line;
  -r, --raw-output          write strings without escapes and quotes;
      --raw-output0         as -r, with NUL after each output;
  -j, --join-output         as -r, with nothing after each output;
  -a, --ascii-output        write only ASCII characters;
  -S, --sort-keys           sort the keys of objects;
  -C, --color-output        colour the output;
  -M, --monochrome-output   do not colour the output;
      --tab                 indent with tabs;
      --indent n            indent with n spaces (7 at most);
      --unbuffered          write each output at once;
      --stream              read inputs as streams of their parts;
      --stream-errors       as --stream, with errors as values;
  -f, --from-file file      read the filter from a file;
  -e, --exit-status         end with a code that tells of the last output;
      --arg name value      set $name to the string value;
      --argjson name value  set $name to the JSON value;
      --slurpfile name file set $name to an array of the JSON values in file;
      --rawfile name file   set $name to the text in file;
      --args                take further arguments as strings;
      --jsonargs            take further arguments as JSON values;
  -h, --help                show this help;
  -V, --version             show the version;
  --                        end of options;

Named arguments are also available as $ARGS.named[], while
positional arguments are available as $ARGS.positional[].
";

/// Meaning of further arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Further {
    Files,
    Strings,
    Json,
}

struct Parsing {
    options: Options,
    program: Option<String>,
    further: Further,
    indent: Option<String>,
    color: Option<bool>,
}

fn text(argument: &[u8]) -> String {
    String::from_utf8_lossy(argument).into_owned()
}

fn misuse(message: impl Into<String>) -> Other {
    Other::Misuse(message.into())
}

/// Reads the command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, Other> {
    let layout = Layout::default();
    let form = Form { layout, raw: false, end: "\n", unbuffered: false };
    let options = Options {
        program: String::new(),
        from_file: false,
        files: Vec::new(),
        reading: Reading::default(),
        null_input: false,
        form,
        exit_status: false,
        named: Map::new(),
        positional: Vec::new(),
    };
    let mut parsing =
        Parsing { options, program: None, further: Further::Files, indent: Some("  ".to_owned()), color: None };
    let mut arguments = arguments.into_iter();
    let mut only_operands = false;
    while let Some(argument) = arguments.next() {
        let is_option = argument.first() == Some(&b'-')
            && argument.get(1).is_some_and(|byte| *byte == b'-' || byte.is_ascii_alphabetic());
        if only_operands || !is_option {
            parsing.operand(argument)?;
        } else if argument == b"--" {
            only_operands = true;
        } else if argument.starts_with(b"--") {
            parsing.long(&text(&argument), &mut arguments)?;
        } else {
            parsing.short(&text(&argument), &mut arguments)?;
        }
    }
    parsing.finish()
}

impl Parsing {
    fn operand(&mut self, argument: Vec<u8>) -> Result<(), Other> {
        if self.program.is_none() {
            self.program = Some(text(&argument));
            return Ok(());
        }
        match self.further {
            Further::Files => self.options.files.push(argument),
            Further::Strings => self.options.positional.push(Val::from(text(&argument))),
            Further::Json => {
                let value = parse_one(&argument).map_err(|_| misuse("jq: invalid JSON text passed to --jsonargs"))?;
                self.options.positional.push(value);
            }
        }
        Ok(())
    }

    fn short(&mut self, argument: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), Other> {
        if argument.starts_with("-L") {
            return Err(Other::Fail("jq: modules (-L) are not supported".to_owned()));
        }
        for letter in argument.chars().skip(1) {
            let long = match letter {
                's' => "slurp",
                'r' => "raw-output",
                'c' => "compact-output",
                'C' => "color-output",
                'M' => "monochrome-output",
                'a' => "ascii-output",
                'S' => "sort-keys",
                'R' => "raw-input",
                'n' => "null-input",
                'f' => "from-file",
                'j' => "join-output",
                'e' => "exit-status",
                'h' => "help",
                'V' => "version",
                _ => return Err(misuse(format!("jq: Unknown option {argument}"))),
            };
            self.long(&format!("--{long}"), rest)?;
        }
        Ok(())
    }

    fn long(&mut self, option: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), Other> {
        let form = &mut self.options.form;
        match option.get(2..).unwrap_or_default() {
            "slurp" => self.options.reading.slurp = true,
            "raw-output" => form.raw = true,
            "raw-output0" => {
                form.raw = true;
                form.end = "\0";
            }
            "join-output" => {
                form.raw = true;
                form.end = "";
            }
            "compact-output" => self.indent = None,
            "color-output" => self.color = Some(true),
            "monochrome-output" => self.color = Some(false),
            "ascii-output" => form.layout.ascii = true,
            "unbuffered" => form.unbuffered = true,
            "sort-keys" => form.layout.sort_keys = true,
            "raw-input" => self.options.reading.raw = true,
            "null-input" => self.options.null_input = true,
            "from-file" => self.options.from_file = true,
            "tab" => self.indent = Some("\t".to_owned()),
            "indent" => self.indent_by(rest.next())?,
            "stream" => self.options.reading.stream = true,
            "seq" | "stream-errors" => return Err(Other::Fail(format!("jq: {option} is not supported"))),
            "exit-status" => self.options.exit_status = true,
            "args" => self.further = Further::Strings,
            "jsonargs" => self.further = Further::Json,
            name @ ("arg" | "argjson" | "slurpfile" | "rawfile" | "argfile") => self.variable(name, rest)?,
            "help" => return Err(Other::Print(help())),
            "version" => return Err(Other::Print(format!("{VERSION}\n"))),
            "build-configuration" => return Err(Other::Print("jaq\n".to_owned())),
            "library-path" => return Err(Other::Fail("jq: modules (--library-path) are not supported".to_owned())),
            name if name.starts_with("debug-") || name == "run-tests" => {
                return Err(Other::Fail(format!("jq: {option} is not supported")));
            }
            _ => return Err(misuse(format!("jq: Unknown option {option}"))),
        }
        Ok(())
    }

    fn indent_by(&mut self, count: Option<Vec<u8>>) -> Result<(), Other> {
        let count = count.ok_or_else(|| misuse("jq: --indent takes one parameter"))?;
        // Like `atoi`: an invalid number is 0.
        let count = text(&count);
        let digits = count.strip_prefix('-').unwrap_or(&count);
        let digits = digits.split(|char: char| !char.is_ascii_digit()).next().unwrap_or_default();
        let size: usize = digits.parse().unwrap_or(0);
        if size > 7 || (count.starts_with('-') && size > 1) {
            return Err(misuse("jq: --indent takes a number between -1 and 7"));
        }
        self.indent = match (count.starts_with('-'), size) {
            (true, 1) => Some("\t".to_owned()),
            (_, 0) => None,
            (_, size) => Some(" ".repeat(size)),
        };
        Ok(())
    }

    fn variable(&mut self, option: &str, rest: &mut impl Iterator<Item = Vec<u8>>) -> Result<(), Other> {
        let (Some(name), Some(value)) = (rest.next(), rest.next()) else {
            let what = match option {
                "arg" => "varname value",
                "argjson" => "varname text",
                _ => "varname filename",
            };
            return Err(misuse(format!("jq: --{option} takes two parameters (e.g. --{option} {what})")));
        };
        let name = text(&name);
        if self.options.named.contains_key(name.as_str()) {
            return Ok(());
        }
        let value = match option {
            "arg" => Val::from(text(&value)),
            "argjson" => parse_one(&value).map_err(|_| misuse("jq: invalid JSON text passed to --argjson"))?,
            option => from_file(option, &name, &value)?,
        };
        self.options.named.insert(name.as_str().into(), value);
        Ok(())
    }

    fn finish(mut self) -> Result<Options, Other> {
        let mut options = self.options;
        match self.program.take() {
            Some(program) => options.program = program,
            // In a pipe, the default program prints the values themselves.
            None if !tidebox_rt::is_terminal(0) || !tidebox_rt::is_terminal(1) => options.program = ".".to_owned(),
            None => return Err(Other::Usage),
        }
        if options.from_file && options.program.is_empty() {
            return Err(Other::Usage);
        }
        options.form.layout.indent = self.indent;
        let colored = self.color.unwrap_or_else(|| {
            tidebox_rt::is_terminal(1) && std::env::var_os("NO_COLOR").is_none_or(|setting| setting.is_empty())
        });
        options.form.layout.colored = colored;
        Ok(options)
    }
}

fn help() -> String {
    let about = "jq - commandline JSON processor [version 1.7.1]

jq is a tool for processing JSON inputs, applying the given filter to
its JSON text inputs and producing the filter's results as JSON on
standard output.
";
    let (first, rest) = about.split_once("\n\n").unwrap_or((about, ""));
    format!("{first}\n\n{USAGE}\n{rest}{OPTIONS}")
}

fn from_file(option: &str, name: &str, file: &[u8]) -> Result<Val, Other> {
    let shown = text(file);
    let bad = |why: String| Other::Fail(format!("jq: Bad JSON in --{option} {name} {shown}: {why}"));
    let content = std::fs::read(bytes_path(file))
        .map_err(|error| bad(format!("Could not open {shown}: {}", error_text(&error))))?;
    if option == "rawfile" {
        return Ok(Val::from(text(&content)));
    }
    let mut values = parse_all(&content).map_err(bad)?;
    if option == "argfile" && values.len() == 1 {
        return Ok(values.pop().unwrap_or(Val::Null));
    }
    Ok(Val::array(values))
}
