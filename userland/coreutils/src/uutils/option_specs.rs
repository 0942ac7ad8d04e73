//! Command line syntax of the tools, as in GNU.
//!
//! uutils uses clap, whose messages differ. So every command line is checked here first, and errors have GNU's messages. Valid
//! command lines are passed to uutils.

use std::ffi::OsString;

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::getopt::{Item, Long, Parser, Short, Takes, short_options};
use tidebox_gnu::message::quote_value;

/// Command line syntax of a tool.
struct OptionSpec {
    name: &'static str,
    /// Short options as `getopt` writes them.
    short: &'static str,
    /// Long options. `=` follows one with a value, `?` one with an optional value. `|` separates the names of one option.
    long: &'static str,
    /// Minimum and maximum number of operands.
    operands: (usize, usize),
}

/// No maximum.
const MANY: usize = usize::MAX;

#[rustfmt::skip]
const OPTION_SPECS: &[OptionSpec] = &[
    OptionSpec { name: "arch", short: "", operands: (0, 0), long: "" },
    OptionSpec { name: "basename", short: "as:z", operands: (1, MANY), long: "multiple suffix= zero" },
    OptionSpec { name: "comm", short: "123z", operands: (2, 2), long: "check-order nocheck-order output-delimiter= total zero-terminated" },
    OptionSpec { name: "csplit", short: "b:f:kn:sqz", operands: (2, MANY), long: "digits= quiet|silent keep-files elide-empty-files prefix= suffix-format= suppress-matched" },
    OptionSpec { name: "cut", short: "b:c:d:f:nsz", operands: (0, MANY), long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated" },
    OptionSpec { name: "dircolors", short: "bcp", operands: (0, MANY), long: "sh|bourne-shell csh|c-shell print-database print-ls-colors" },
    OptionSpec { name: "dirname", short: "z", operands: (1, MANY), long: "zero" },
    OptionSpec { name: "expand", short: "it:0123456789,", operands: (0, MANY), long: "initial tabs=" },
    OptionSpec { name: "factor", short: "", operands: (0, MANY), long: "" },
    OptionSpec { name: "hostid", short: "", operands: (0, 0), long: "" },
    OptionSpec { name: "join", short: "a:e:ij:o:t:v:1:2:z", operands: (2, 2), long: "ignore-case check-order nocheck-order header zero-terminated" },
    OptionSpec { name: "link", short: "", operands: (2, 2), long: "" },
    OptionSpec { name: "mktemp", short: "dp:qtu", operands: (0, MANY), long: "directory dry-run quiet suffix= tmpdir?" },
    OptionSpec { name: "nproc", short: "", operands: (0, 0), long: "all ignore=" },
    OptionSpec { name: "od", short: "A:aBbcDdeFfHhIij:LlN:OoS:st:vw::Xx", operands: (0, MANY), long: "address-radix= endian= skip-bytes= read-bytes= strings? format= output-duplicates width? traditional" },
    OptionSpec { name: "paste", short: "d:sz", operands: (0, MANY), long: "delimiters= serial zero-terminated" },
    OptionSpec { name: "pathchk", short: "pP", operands: (1, MANY), long: "portability" },
    OptionSpec { name: "printenv", short: "0", operands: (0, MANY), long: "null" },
    OptionSpec { name: "ptx", short: "AGF:M:O:RS:T:W:b:fg:i:o:rtw:", operands: (0, MANY), long: "auto-reference traditional flag-truncation= macro-name= format= right-side-refs sentence-regexp= format= word-regexp= break-file= ignore-case gap-size= ignore-file= only-file= references typeset-mode width=" },
    OptionSpec { name: "pwd", short: "LP", operands: (0, MANY), long: "logical physical" },
    OptionSpec { name: "readlink", short: "femnqsvz", operands: (1, MANY), long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero" },
    OptionSpec { name: "realpath", short: "emLPqsz", operands: (1, MANY), long: "canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip|no-symlinks zero" },
    OptionSpec { name: "seq", short: "f:s:w", operands: (1, 3), long: "format= separator= equal-width" },
    OptionSpec { name: "shred", short: "fn:s:uvxz", operands: (1, MANY), long: "force iterations= random-source= size= remove? verbose exact zero" },
    OptionSpec { name: "shuf", short: "ei:n:o:rz", operands: (0, MANY), long: "echo input-range= head-count= output= random-source= repeat zero-terminated" },
    OptionSpec { name: "tee", short: "aip", operands: (0, MANY), long: "append ignore-interrupts output-error?" },
    OptionSpec { name: "tr", short: "cCdst", operands: (0, 2), long: "complement delete squeeze-repeats truncate-set1" },
    OptionSpec { name: "truncate", short: "cor:s:", operands: (0, MANY), long: "no-create io-blocks reference= size=" },
    OptionSpec { name: "tsort", short: "", operands: (0, 1), long: "" },
    OptionSpec { name: "tty", short: "s", operands: (0, 0), long: "silent|quiet" },
    OptionSpec { name: "unexpand", short: "at:0123456789,", operands: (0, MANY), long: "all first-only tabs=" },
    OptionSpec { name: "uniq", short: "cdDf:is:uzw:0123456789", operands: (0, 2), long: "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars=" },
    OptionSpec { name: "unlink", short: "", operands: (1, 1), long: "" },
    OptionSpec { name: "yes", short: "", operands: (0, MANY), long: "" },
];

/// Options with a fixed set of values: tool, option, values.
#[rustfmt::skip]
const CHOICES: &[(&str, &str, &[&[&str]])] = &[
    ("od", "endian", &[&["little"], &["big"]]),
    ("shred", "remove", &[&["unlink"], &["wipe"], &["wipesync"]]),
    ("tee", "output-error", &[&["warn"], &["warn-nopipe"], &["exit"], &["exit-nopipe"]]),
    ("uniq", "all-repeated", &[&["none"], &["prepend"], &["separate"]]),
    ("uniq", "group", &[&["prepend"], &["append"], &["separate"], &["both"]]),
];

/// Invalid command line: message and exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Checks a command line. Errors that only the tool can find are not reported.
pub(crate) fn check(tool: &str, arguments: &[OsString]) -> Result<(), UsageError> {
    let Some(spec) =
        OPTION_SPECS.binary_search_by(|known| known.name.cmp(tool)).ok().and_then(|at| OPTION_SPECS.get(at))
    else {
        return Ok(());
    };
    read(spec, arguments).map_err(|message| UsageError { message, code: usage_code(tool) })
}

/// Returns the exit code for an invalid command line.
fn usage_code(tool: &str) -> i32 {
    match tool {
        "printenv" | "tty" => 2,
        _ => 1,
    }
}

/// Returns the items of a command line, and the names of options that were given by their long name. Returns `None` if help is
/// requested, or for an error that [`check`] does not find.
pub(crate) fn items(tool: &str, arguments: &[OsString]) -> Option<Vec<(&'static str, Item)>> {
    let spec = OPTION_SPECS.iter().find(|known| known.name == tool)?;
    let (long, names) = long_options(spec.long);
    let words = arguments.iter().skip(1).map(|word| word.as_encoded_bytes().to_vec()).collect();
    let mut parser = parser(spec, &long, true, words);
    let mut items = Vec::new();
    while let Some(item) = parser.next_item().ok()? {
        match item {
            Item::Option(Key::Help, _) => return None,
            Item::Option(Key::Letter(letter), value) => items.push(("", Item::Option(letter, value))),
            // `-` is not the letter of any option.
            Item::Option(key, value) => items.push((full_name("", key, &names), Item::Option('-', value))),
            Item::Operand(operand) => items.push(("", Item::Operand(operand))),
        }
    }
    Some(items)
}

fn read(spec: &OptionSpec, arguments: &[OsString]) -> Result<(), String> {
    let (long, names) = long_options(spec.long);
    let words = arguments.iter().skip(1).map(|word| word.as_encoded_bytes().to_vec()).collect();
    let permute = !matches!(spec.name, "printenv" | "seq" | "tr");
    let mut parser = parser(spec, &long, permute, words);
    let mut operands = Vec::new();
    let mut several = false;
    while let Some(item) = next(&mut parser, spec.name)? {
        match item {
            Item::Operand(operand) => operands.push(operand),
            Item::Option(Key::Help, _) => return Ok(()),
            Item::Option(key, value) => {
                let name = full_name(spec.name, key, &names);
                several |= matches!(name, "multiple" | "suffix" | "echo");
                let choices = CHOICES.iter().find(|(tool, option, _)| (*tool, *option) == (spec.name, name));
                if let (Some((_, option, choices)), Some(value)) = (choices, value) {
                    parse_choice(&format!("--{option}"), &value, choices)?;
                }
            }
        }
    }
    if matches!(spec.name, "tr") {
        return Ok(());
    }
    let max = if spec.name == "basename" && !several { 2 } else { spec.operands.1 };
    count(spec.name, &operands, spec.operands.0, max)
}

/// Converts a command line for clap. clap skips the first `=` of `-d=`, so a value that starts with `=` gets a second one.
pub(crate) fn for_clap(tool: &str, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(spec) = OPTION_SPECS.iter().find(|known| known.name == tool) else {
        return arguments;
    };
    let mut is_value = false;
    for word in arguments.iter_mut().skip(1) {
        match word.to_str() {
            _ if is_value => is_value = false,
            Some("--") => break,
            Some(text) if text.starts_with('-') && !text.starts_with("--") => {
                let value = value_in(spec.short, text);
                is_value = value == Some("");
                if let Some(value) = value.filter(|value| value.starts_with('=')) {
                    let options = text.strip_suffix(value).unwrap_or_default();
                    *word = OsString::from(format!("{options}={value}"));
                }
            }
            _ => {}
        }
    }
    arguments
}

/// Returns the value after the first short option of an argument that takes one.
fn value_in<'w>(short: &str, word: &'w str) -> Option<&'w str> {
    word.char_indices().skip(1).find_map(|(at, letter)| {
        let after = short.split_once(letter).map(|(_, after)| after)?;
        (after.starts_with(':') && !after.starts_with("::")).then(|| word.get(at + letter.len_utf8()..)).flatten()
    })
}

/// Key of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    /// `--help` or `--version`. Arguments after it are not checked.
    Help,
    Letter(char),
    /// Long option, by its index in the list.
    Long(usize),
}

/// Returns the long options of an [`OptionSpec`], and the first name of each.
fn long_options(text: &'static str) -> (Vec<Long<Key>>, Vec<&'static str>) {
    let mut options = ["help", "version"].map(|name| Long { name, takes: Takes::Nothing, key: Key::Help }).to_vec();
    let mut names = Vec::new();
    for (at, entry) in text.split_ascii_whitespace().enumerate() {
        let (entry, takes) = match (entry.strip_suffix('='), entry.strip_suffix('?')) {
            (Some(entry), _) => (entry, Takes::Value),
            (_, Some(entry)) => (entry, Takes::Maybe),
            _ => (entry, Takes::Nothing),
        };
        options.extend(entry.split('|').map(|name| Long { name, takes, key: Key::Long(at) }));
        names.push(entry.split('|').next().unwrap_or(entry));
    }
    (options, names)
}

type OptionParser<'a> = Parser<Key, (Vec<Short<Key>>, &'a [Long<Key>])>;

fn parser<'a>(spec: &OptionSpec, long: &'a [Long<Key>], permute: bool, words: Vec<Vec<u8>>) -> OptionParser<'a> {
    let short = short_options(spec.short).into_iter();
    let short = short.map(|Short { letter, takes, key }| Short { letter, takes, key: Key::Letter(key) }).collect();
    Parser::new((short, long), permute, words)
}

/// Returns the long name of an option if it affects the operands.
fn full_name(tool: &str, key: Key, names: &[&'static str]) -> &'static str {
    match (tool, key) {
        ("basename", Key::Letter('a')) => "multiple",
        ("basename", Key::Letter('s')) => "suffix",
        (_, Key::Long(at)) => names.get(at).copied().unwrap_or_default(),
        _ => "",
    }
}

/// Returns the next item. The operands of `seq` may be negative numbers.
fn next(parser: &mut OptionParser<'_>, tool: &str) -> Result<Option<Item<Key>>, String> {
    let number = |word: &[u8]| matches!(word, [b'-', b'0'..=b'9' | b'.', ..] | [b'-', b'i' | b'n', _, ..]);
    if tool == "seq" && parser.peek().is_some_and(number) {
        return Ok(parser.take_operand().map(Item::Operand));
    }
    parser.next_item()
}

/// Checks the number of operands.
fn count(tool: &str, operands: &[Vec<u8>], min: usize, max: usize) -> Result<(), String> {
    let what = if tool == "shred" { "file operand" } else { "operand" };
    match operands {
        [] if min > 0 => Err(format!("missing {what}")),
        [.., last] if operands.len() < min => Err(format!("missing {what} after {}", quote_value(last))),
        _ => match operands.get(max) {
            // The message of `join` has different quotes.
            Some(extra) if tool == "join" => Err(format!("extra operand {}", tidebox_gnu::message::quote_path(extra))),
            Some(extra) => Err(format!("extra operand {}", quote_value(extra))),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{OPTION_SPECS, check, for_clap};
    use crate::table;

    fn error(line: &str) -> Option<(String, i32)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let tool = line.split(' ').next().unwrap_or_default();
        check(tool, &words).err().map(|error| (error.message, error.code))
    }

    #[test]
    fn specs_are_sorted_and_belong_to_tools() {
        assert!(OPTION_SPECS.is_sorted_by(|a, b| a.name < b.name));
        for spec in OPTION_SPECS {
            assert!(table::find(spec.name).is_some(), "{}", spec.name);
        }
    }

    #[test]
    fn valid_command_lines_pass() {
        for line in [
            "seq -5 5",
            "seq -s , -1 -.5 3",
            "uniq --group f g",
            "basename a b",
            "basename -a a b c",
            "cut --help --nope",
        ] {
            assert_eq!(error(line), None, "{line}");
        }
    }

    #[test]
    fn a_value_that_is_an_equals_sign_is_kept() {
        for (line, kept) in [
            ("paste -d= a -", "paste -d== a -"),
            ("paste -- -d=", "paste -- -d="),
            ("numfmt --to=iec", "numfmt --to=iec"),
        ] {
            let words = line.split(' ').map(OsString::from).collect();
            let expected: Vec<OsString> = kept.split(' ').map(OsString::from).collect();
            assert_eq!(for_clap(kept.split(' ').next().unwrap_or_default(), words), expected, "{line}");
        }
    }

    #[test]
    fn invalid_command_lines_have_gnu_messages() {
        for (line, message, code) in [
            ("comm", "missing operand", 1),
            ("tty --nope", "unrecognized option '--nope'", 2),
            ("paste -d", "option requires an argument -- 'd'", 1),
            ("join a b c", "extra operand 'c'", 1),
            ("tee -Q", "invalid option -- 'Q'", 1),
        ] {
            assert_eq!(error(line), Some((message.to_owned(), code)), "{line}");
        }
        for (line, beginning) in [
            ("comm a", "missing operand after "),
            ("uniq a b c", "extra operand "),
            ("basename a b c", "extra operand "),
            ("uniq --group=x", "invalid argument "),
        ] {
            let (message, _) = error(line).unwrap_or_default();
            assert!(message.starts_with(beginning), "{line}: {message}");
        }
    }
}
