//! The command line.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};

use crate::compile::Source;
use crate::machine::assignment;
use crate::stream::read_whole;

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
    /// Output file of `--dump-variables`.
    pub(crate) dump: Option<Vec<u8>>,
    /// Names to extract from the program text.
    pub(crate) mentions_environ: bool,
    pub(crate) mentions_procinfo: bool,
    pub(crate) mentions_symtab: bool,
}

/// Action instead of running a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Other {
    Version,
    Copyright,
    /// The usage, on standard output or, as an error, on standard error.
    Usage(bool),
    /// A message, and the usage.
    WrongOption(String),
    Fatal(String),
}

const LONG: &[Long] = &[
    long("assign", Takes::Value, 'v'),
    long("bignum", Takes::Nothing, 'M'),
    long("characters-as-bytes", Takes::Nothing, 'b'),
    long("copyright", Takes::Nothing, 'C'),
    long("debug", Takes::Maybe, 'D'),
    long("dump-variables", Takes::Maybe, 'd'),
    long("exec", Takes::Value, 'E'),
    long("field-separator", Takes::Value, 'F'),
    long("file", Takes::Value, 'f'),
    long("gen-pot", Takes::Nothing, 'g'),
    long("help", Takes::Nothing, 'h'),
    long("include", Takes::Value, 'i'),
    long("lint", Takes::Maybe, 'L'),
    long("lint-old", Takes::Nothing, 't'),
    long("load", Takes::Value, 'l'),
    long("no-optimize", Takes::Nothing, 's'),
    long("non-decimal-data", Takes::Nothing, 'n'),
    long("optimize", Takes::Nothing, 'O'),
    long("posix", Takes::Nothing, 'P'),
    long("pretty-print", Takes::Maybe, 'o'),
    long("profile", Takes::Maybe, 'p'),
    long("re-interval", Takes::Nothing, 'r'),
    long("sandbox", Takes::Nothing, 'S'),
    long("source", Takes::Value, 'e'),
    long("traditional", Takes::Nothing, 'c'),
    long("use-lc-numeric", Takes::Nothing, 'N'),
    long("version", Takes::Nothing, 'V'),
];

const SPEC: Spec<'_> = Spec { short: "F:f:v:W:bcCd::D::e:E:ghi:Il:L::MnNo::Op::PrsStV", long: LONG, permute: false };

/// Reads a command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, Other> {
    let mut options = Options::default();
    let mut parser = Parser::new(SPEC, arguments);
    let mut first = None;
    loop {
        match parser.next_item().map_err(reworded)? {
            None => break,
            Some(Item::Operand(operand)) => {
                first = Some(operand);
                break;
            }
            Some(Item::Option('W', Some(value))) => long_by_short(&mut options, value)?,
            Some(Item::Option('E', Some(value))) => {
                options.take('E', Some(value))?;
                break;
            }
            Some(Item::Option(letter, value)) => options.take(letter, value)?,
        }
    }
    let rest = parser.remaining();
    let mut operands = first.into_iter().chain(rest);
    if options.sources.is_empty() {
        let Some(text) = operands.next() else {
            return Err(Other::Usage(false));
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
    options.mentions_symtab = options.dump.is_some() || mentions(b"SYMTAB");
    options.mentions_environ = options.mentions_symtab || mentions(b"ENVIRON");
    options.mentions_procinfo = options.mentions_symtab || mentions(b"PROCINFO");
    Ok(options)
}

/// `-W name` is `--name`.
fn long_by_short(options: &mut Options, value: Vec<u8>) -> Result<(), Other> {
    let mut parser = Parser::new(SPEC, vec![[&b"--"[..], &value].concat()]);
    match parser.next_item() {
        Ok(Some(Item::Option(letter, value))) => options.take(letter, value),
        _ => {
            let shown = String::from_utf8_lossy(&value).into_owned();
            Err(Other::WrongOption(format!("option `-W {shown}' unrecognized, ignored")))
        }
    }
}

/// GNU awk has its own `getopt`, which ignores unknown options here and prints letters without quotes.
fn reworded(message: String) -> Other {
    if message.starts_with("invalid option") || message.starts_with("unrecognized option") {
        return Other::Usage(false);
    }
    let plain = message.replace(" -- '", " -- ");
    Other::WrongOption(if plain == message { message } else { plain.trim_end_matches('\'').to_owned() })
}

impl Options {
    fn take(&mut self, letter: char, value: Option<Vec<u8>>) -> Result<(), Other> {
        let value = value.unwrap_or_default();
        match letter {
            'F' => self.assignments.push((b"FS".to_vec(), value)),
            'v' => match assignment(&value) {
                Some((name, text)) => self.assignments.push((name.to_vec(), text.to_vec())),
                None => {
                    let shown = String::from_utf8_lossy(&value).into_owned();
                    return Err(Other::WrongOption(format!("`{shown}' argument to `-v' not in `var=value' form\n")));
                }
            },
            'f' | 'E' => self.add_file(&value)?,
            'i' => {
                let text = [&b"@include \""[..], &value, b"\"\n"].concat();
                self.sources.push(Source { name: b"cmd. line".to_vec(), text });
            }
            'e' => self.sources.push(Source { name: b"cmd. line".to_vec(), text: value }),
            'b' => self.bytes = true,
            'S' => self.sandbox = true,
            'V' => return Err(Other::Version),
            'C' => return Err(Other::Copyright),
            'h' => return Err(Other::Usage(true)),
            // No effect: intervals are always supported, and programs are always optimised.
            'O' | 's' | 'r' | 'N' => {}
            'n' => crate::number::read_other_bases(),
            'd' => self.dump = Some(if value.is_empty() { b"awkvars.out".to_vec() } else { value }),
            other => {
                let name = LONG.iter().find(|long| long.key == other).map(|long| format!("--{}", long.name));
                let name = name.unwrap_or_else(|| format!("-{other}"));
                return Err(Other::Fatal(format!("option `{name}' is not supported here")));
            }
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
                let shown = String::from_utf8_lossy(name).into_owned();
                Err(Other::Fatal(format!("cannot open source file `{shown}' for reading: {reason}")))
            }
        }
    }
}
