//! `getopt` of util-linux: parses the command line of a script.

use std::collections::VecDeque;

use tidebox_gnu::getopt::{Item, Takes};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::{print, usage};

const USAGE: &str = "\
Usage: getopt SHORT PARAMETER...
  or:  getopt [OPTION]... [--] SHORT PARAMETER...
  or:  getopt [OPTION]... -o SHORT [OPTION]... [--] PARAMETER...
Parses the parameters of a script and prints them in a canonical order.

";

tidebox_gnu::options! {
    /// Options of `getopt`.
    enum Flag {
        Options = "-o, --options=SHORT", "short options, such as ab:c::";
        LongOptions = "-l, --longoptions=NAMES", "long options, such as all,file:,color::";
        Alternative = "-a, --alternative", "long options may begin with one dash";
        Name = "-n, --name=NAME", "name of the script in messages";
        Quiet = "-q, --quiet", "no messages";
        QuietOutput = "-Q, --quiet-output", "no output";
        Shell = "-s, --shell=SHELL", "quotes for sh, bash, csh or tcsh";
        Unquoted = "-u, --unquoted", "no quotes";
        Test = "-T, --test", "exit with code 4, which identifies this version of getopt";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    permute: false,
    version: "getopt from util-linux 2.38.1\n",
    usage_exit_code: WRONG_USE,
    ..Syntax::new("getopt", USAGE, 29)
};

/// Exit code of an invalid option among the parameters.
const WRONG_PARAMETERS: i32 = 1;
/// Exit code of an invalid command line of `getopt`.
const WRONG_USE: i32 = 2;
/// Exit code of `-T`.
const ENHANCED: i32 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Bash,
    Csh,
}

/// Placement of operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// After the options.
    Permute,
    /// The first one ends the options.
    Stop,
    /// Operands keep their positions.
    InPlace,
}

struct Reader {
    short: Vec<u8>,
    long: Vec<(String, Takes)>,
    alternative: bool,
    quiet: bool,
    name: String,
    quoting: Quoting,
    order: Order,
    out: Vec<u8>,
    failed: bool,
}

/// Runs `getopt`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let compatible = std::env::var_os("GETOPT_COMPATIBLE").is_some();
    let mut reader = Reader {
        short: Vec::new(),
        long: Vec::new(),
        alternative: false,
        quiet: false,
        name: "getopt".to_owned(),
        quoting: Quoting::Bash,
        order: Order::Permute,
        out: Vec::new(),
        failed: false,
    };
    let Some(first) = arguments.first() else {
        if compatible {
            return print("getopt", b" --\n");
        }
        return usage("getopt", "missing optstring argument", WRONG_USE);
    };
    // In the compatible form the first argument is the short options, and values are not quoted.
    if compatible || !first.starts_with(b"-") {
        reader.quoting = Quoting::None;
        reader.set_short(first.iter().copied().skip_while(|byte| matches!(byte, b'-' | b'+')).collect());
        return reader.read(arguments.into_iter().skip(1).collect(), false);
    }
    reader.read_own(arguments)
}

impl Reader {
    /// Parses the options of `getopt` itself, then the parameters.
    fn read_own(mut self, arguments: Vec<Vec<u8>>) -> i32 {
        let (mut given, mut silent) = (false, false);
        let mut items = SYNTAX.items(arguments);
        let first = loop {
            match items.next_item() {
                Err(code) => return code,
                Ok(None) => break None,
                Ok(Some(Item::Operand(operand))) => break Some(operand),
                Ok(Some(Item::Option(flag, value))) => {
                    given |= flag == Flag::Options;
                    silent |= flag == Flag::QuietOutput;
                    if let Err(code) = self.set(flag, value.unwrap_or_default()) {
                        return code;
                    }
                }
            }
        };
        let mut parameters: Vec<Vec<u8>> = first.into_iter().chain(items.remaining()).collect();
        if !given && parameters.is_empty() && self.long.is_empty() {
            return usage("getopt", "missing optstring argument", WRONG_USE);
        }
        // Without -o the first parameter is the short options, even with -l.
        if !given && !parameters.is_empty() {
            let short = parameters.remove(0);
            self.set_short(short);
        }
        self.read(parameters, silent)
    }

    /// Applies one option of `getopt` itself. The error is the exit code.
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), i32> {
        match flag {
            Flag::Options => self.set_short(value),
            Flag::Alternative => self.alternative = true,
            Flag::LongOptions => self.add_long(&value).map_err(|message| usage("getopt", &message, WRONG_USE))?,
            Flag::Name => self.name = String::from_utf8_lossy(&value).into_owned(),
            Flag::Quiet => self.quiet = true,
            Flag::Shell => match value.as_slice() {
                b"sh" | b"bash" => self.quoting = Quoting::Bash,
                b"csh" | b"tcsh" => self.quoting = Quoting::Csh,
                _ => return Err(usage("getopt", "unknown shell after -s or --shell argument", WRONG_USE)),
            },
            Flag::Test => return Err(ENHANCED),
            Flag::Unquoted => self.quoting = Quoting::None,
            Flag::QuietOutput | Flag::Help | Flag::Version => {}
        }
        Ok(())
    }

    fn set_short(&mut self, text: Vec<u8>) {
        let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
        let (order, text) = match text.split_first() {
            Some((b'+', rest)) => (Order::Stop, rest.to_vec()),
            Some((b'-', rest)) => (Order::InPlace, rest.to_vec()),
            _ => (if posix { Order::Stop } else { Order::Permute }, text),
        };
        (self.order, self.short) = (order, text);
    }

    fn add_long(&mut self, text: &[u8]) -> Result<(), String> {
        for name in String::from_utf8_lossy(text).split([',', ' ', '\t', '\n']).filter(|name| !name.is_empty()) {
            let (name, takes) = match name.strip_suffix("::").map(|name| (name, Takes::Maybe)) {
                Some(pair) => pair,
                None => name.strip_suffix(':').map_or((name, Takes::Nothing), |name| (name, Takes::Value)),
            };
            if name.is_empty() {
                return Err("empty long option after -l or --long argument".to_owned());
            }
            self.long.push((name.to_owned(), takes));
        }
        Ok(())
    }

    fn report(&mut self, message: &str) {
        self.failed = true;
        if !self.quiet {
            print_error(&self.name, message);
        }
    }

    fn push(&mut self, text: &[u8]) {
        self.out.push(b' ');
        self.out.extend_from_slice(text);
    }

    fn push_value(&mut self, text: &[u8]) {
        let quoted = quoted(text, self.quoting);
        self.push(&quoted);
    }

    fn read(mut self, parameters: Vec<Vec<u8>>, silent: bool) -> i32 {
        let mut rest: VecDeque<Vec<u8>> = parameters.into();
        let mut operands = Vec::new();
        while let Some(argument) = rest.pop_front() {
            if argument == b"--" {
                operands.extend(rest.drain(..));
            } else if let Some(name) = argument.strip_prefix(b"--") {
                let name = name.to_vec();
                self.read_long(&name, "--", &mut rest);
            } else if argument.starts_with(b"-") && argument.len() > 1 {
                self.read_cluster(argument.get(1..).unwrap_or_default().to_vec(), &mut rest);
            } else {
                match self.order {
                    Order::InPlace => self.push_value(&argument),
                    Order::Permute => operands.push(argument),
                    Order::Stop => {
                        operands.push(argument);
                        operands.extend(rest.drain(..));
                    }
                }
            }
        }
        self.push(b"--");
        for operand in operands {
            self.push_value(&operand);
        }
        self.out.push(b'\n');
        let code = if self.failed { WRONG_PARAMETERS } else { 0 };
        if silent { code } else { code.max(print("getopt", &self.out)) }
    }

    fn read_cluster(&mut self, cluster: Vec<u8>, rest: &mut VecDeque<Vec<u8>>) {
        if self.alternative {
            // With -a, match the argument against the long options first.
            let name = cluster.split(|byte| *byte == b'=').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let is_long = self.long.iter().any(|(known, _)| known.starts_with(&name));
            let is_short = cluster.first().is_some_and(|letter| self.short.contains(letter));
            if !is_short || is_long && name.chars().count() > 1 {
                self.read_long(&cluster, "-", rest);
                return;
            }
        }
        let mut letters = cluster.as_slice();
        while let Some((letter, after)) = letters.split_first() {
            letters = after;
            let at = self.short.iter().position(|known| known == letter && *letter != b':');
            let Some(at) = at else {
                self.report(&format!("invalid option -- '{}'", char::from(*letter)));
                continue;
            };
            let behind = self.short.get(at + 1..).unwrap_or_default();
            let colons = behind.iter().take_while(|byte| **byte == b':').count();
            let option = [b'-', *letter];
            match colons {
                0 => self.push(&option),
                1 if after.is_empty() => match rest.pop_front() {
                    Some(value) => {
                        self.push(&option);
                        self.push_value(&value);
                    }
                    None => self.report(&format!("option requires an argument -- '{}'", char::from(*letter))),
                },
                _ => {
                    self.push(&option);
                    self.push_value(after);
                    return;
                }
            }
        }
    }

    fn read_long(&mut self, text: &[u8], dashes: &str, rest: &mut VecDeque<Vec<u8>>) {
        let (name, value) = match text.iter().position(|byte| *byte == b'=') {
            Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..).map(<[u8]>::to_vec)),
            None => (text, None),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let fitting: Vec<&(String, Takes)> = self.long.iter().filter(|(known, _)| known.starts_with(&name)).collect();
        let exact = fitting.iter().find(|(known, _)| *known == name);
        let found = match (exact, fitting.as_slice()) {
            (Some((known, takes)), _) | (None, [(known, takes)]) => (known.clone(), *takes),
            (None, []) => return self.report(&format!("unrecognized option '{dashes}{name}'")),
            (None, several) => {
                let names: String = several.iter().map(|(known, _)| format!(" '{dashes}{known}'")).collect();
                return self.report(&format!("option '{dashes}{name}' is ambiguous; possibilities:{names}"));
            }
        };
        let (known, takes) = found;
        let value = match (takes, value) {
            (Takes::Nothing, Some(_)) => {
                return self.report(&format!("option '{dashes}{known}' doesn't allow an argument"));
            }
            (Takes::Value, None) => match rest.pop_front() {
                Some(value) => Some(value),
                None => return self.report(&format!("option '{dashes}{known}' requires an argument")),
            },
            (Takes::Maybe, None) => Some(Vec::new()),
            (_, value) => value,
        };
        self.push(format!("--{known}").as_bytes());
        if let Some(value) = value {
            self.push_value(&value);
        }
    }
}

/// Quotes a value for a shell.
fn quoted(text: &[u8], quoting: Quoting) -> Vec<u8> {
    if quoting == Quoting::None {
        return text.to_vec();
    }
    let mut out = vec![b'\''];
    for byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            b'\\' if quoting == Quoting::Csh => out.extend_from_slice(b"\\\\"),
            b'!' if quoting == Quoting::Csh => out.extend_from_slice(b"'\\!'"),
            b'\n' if quoting == Quoting::Csh => out.extend_from_slice(b"\\n"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}
