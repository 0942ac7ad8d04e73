//! The command line.

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::Syntax;

use crate::compile::Source;
use crate::machine::assignment;
use crate::stream::read_whole;
use crate::usage;

/// Parsed command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) sources: Vec<Source>,
    /// `-v` and `-F`, in their order.
    pub(crate) assignments: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) operands: Vec<Vec<u8>>,
    /// Characters are bytes.
    pub(crate) bytes: bool,
    pub(crate) sandbox: bool,
    /// Names to extract from the program text.
    pub(crate) mentions_environ: bool,
    pub(crate) mentions_procinfo: bool,
}

/// Action instead of running a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// Text for standard output.
    Print(String),
    /// The usage, as an error.
    Usage,
    /// A message, and the usage.
    InvalidOption(String),
    Fatal(String),
}

tidebox_gnu::options! {
    /// Options of `awk`. [`usage`] lists them.
    enum Flag {
        Assign = "-v, --assign=ASSIGNMENT", "";
        FieldSeparator = "-F, --field-separator=FS", "";
        File = "-f, --file=FILE", "";
        Bytes = "-b, --characters-as-bytes", "";
        Copyright = "-C, --copyright", "";
        Source = "-e, --source=TEXT", "";
        Exec = "-E, --exec=FILE", "";
        Help = "-h, --help", "";
        Include = "-i, --include=FILE", "";
        NonDecimal = "-n, --non-decimal-data", "";
        Sandbox = "-S, --sandbox", "";
        Version = "-V, --version", "";
        LongOption = "-W OPTION", "";
        // Intervals are always supported, and programs are always optimised.
        NoEffect = "-N, --use-lc-numeric, -O, --optimize, -r, --re-interval, -s, --no-optimize", "";
        Bignum = "-M, --bignum", "", unsupported "option `--bignum' is not supported here";
        Debug = "-D[FILE], --debug[=FILE]", "", unsupported "option `--debug' is not supported here";
        Dump = "-d[FILE], --dump-variables[=FILE]", "", unsupported "option `--dump-variables' is not supported here";
        GenPot = "-g, --gen-pot", "", unsupported "option `--gen-pot' is not supported here";
        Info = "-I", "", unsupported "option `-I' is not supported here";
        Lint = "-L[VALUE], --lint[=VALUE]", "", unsupported "option `--lint' is not supported here";
        LintOld = "-t, --lint-old", "", unsupported "option `--lint-old' is not supported here";
        Load = "-l, --load=LIBRARY", "", unsupported "option `--load' is not supported here";
        Posix = "-P, --posix", "", unsupported "option `--posix' is not supported here";
        PrettyPrint = "-o[FILE], --pretty-print[=FILE]", "", unsupported "option `--pretty-print' is not supported here";
        Profile = "-p[FILE], --profile[=FILE]", "", unsupported "option `--profile' is not supported here";
        Traditional = "-c, --traditional", "", unsupported "option `--traditional' is not supported here";
    }
}

/// Reads a command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, Other> {
    let (usage, version) = (usage::usage(), usage::version());
    let line = Syntax { version: &version, permute: false, ..Syntax::new("awk", &usage, 0) };
    let mut options = Options::default();
    let mut items = line.items(arguments);
    let mut first = None;
    while let Some(item) = items.next_item()? {
        match item {
            Item::Operand(operand) => {
                first = Some(operand);
                break;
            }
            Item::Option(Flag::LongOption, value) => long_option(&line, &mut options, value.unwrap_or_default())?,
            Item::Option(flag, value) => {
                options.set(flag, value.unwrap_or_default())?;
                if flag == Flag::Exec {
                    break;
                }
            }
        }
    }
    let mut operands = first.into_iter().chain(items.remaining());
    if options.sources.is_empty() {
        let Some(text) = operands.next() else {
            return Err(Other::Usage);
        };
        options.sources.push(Source { name: b"cmd. line".to_vec(), text });
    }
    options.operands = operands.collect();
    let mentions = |word: &[u8]| {
        let within = |source: &Source| {
            memchr::memmem::find(&source.text, word).is_some()
                || memchr::memmem::find(&source.text, b"@include").is_some()
        };
        options.sources.iter().any(within)
    };
    options.mentions_environ = mentions(b"ENVIRON");
    options.mentions_procinfo = mentions(b"PROCINFO");
    Ok(options)
}

/// Applies `-W name`, which is the same as `--name`.
fn long_option(line: &Syntax<'_, Flag>, options: &mut Options, value: Vec<u8>) -> Result<(), Other> {
    match line.items(vec![[&b"--"[..], &value].concat()]).next_item()? {
        Some(Item::Option(flag, value)) => options.set(flag, value.unwrap_or_default()),
        _ => {
            let name = String::from_utf8_lossy(&value).into_owned();
            Err(Other::InvalidOption(format!("option `-W {name}' unrecognized, ignored")))
        }
    }
}

impl FromEarlyExit for Other {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        match answer {
            ToolResult::Print(text) | ToolResult::PrintAndCode(text, _) => {
                Self::Print(String::from_utf8_lossy(&text).into_owned())
            }
            ToolResult::Usage(message, _) => reworded(message),
            ToolResult::Failure(message, _) => Self::Fatal(message),
            ToolResult::Code(_) => Self::Usage,
        }
    }
}

/// GNU awk has its own `getopt`, which ignores unknown options here and prints letters without quotes.
fn reworded(message: String) -> Other {
    if message.starts_with("invalid option") || message.starts_with("unrecognized option") {
        return Other::Usage;
    }
    let plain = message.replace(" -- '", " -- ");
    Other::InvalidOption(if plain == message { message } else { plain.trim_end_matches('\'').to_owned() })
}

impl Options {
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), Other> {
        match flag {
            Flag::FieldSeparator => self.assignments.push((b"FS".to_vec(), value)),
            Flag::Assign => match assignment(&value) {
                Some((name, text)) => self.assignments.push((name.to_vec(), text.to_vec())),
                None => {
                    let text = String::from_utf8_lossy(&value).into_owned();
                    return Err(Other::InvalidOption(format!("`{text}' argument to `-v' not in `var=value' form\n")));
                }
            },
            Flag::File | Flag::Exec => self.add_file(&value)?,
            Flag::Include => {
                let text = [&b"@include \""[..], &value, b"\"\n"].concat();
                self.sources.push(Source { name: b"cmd. line".to_vec(), text });
            }
            Flag::Source => self.sources.push(Source { name: b"cmd. line".to_vec(), text: value }),
            Flag::Bytes => self.bytes = true,
            Flag::Sandbox => self.sandbox = true,
            Flag::Copyright => return Err(Other::Print(usage::COPYRIGHT.to_owned())),
            Flag::NonDecimal => crate::number::read_other_bases(),
            _ => {}
        }
        Ok(())
    }

    fn add_file(&mut self, name: &[u8]) -> Result<(), Other> {
        match read_whole(name) {
            Ok(text) => {
                self.sources.push(Source { name: name.to_vec(), text });
                Ok(())
            }
            Err(reason) => {
                let name = String::from_utf8_lossy(name).into_owned();
                Err(Other::Fatal(format!("cannot open source file `{name}' for reading: {reason}")))
            }
        }
    }
}
