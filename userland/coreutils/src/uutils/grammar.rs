//! The command lines of the tools, as the GNU tools read them.
//!
//! uutils reads its own with clap, whose messages nobody expects. So every command line is read here first, and what GNU
//! would refuse is refused in its words; what is left over is right, and clap has nothing to say.

use std::borrow::Cow;
use std::ffi::OsString;

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::getopt::{Item, Long, Parser, Short, Takes, short_options};
use tidebox_gnu::message::quote_value;

/// Command line syntax of a tool.
struct Grammar {
    name: &'static str,
    /// Short options as `getopt` writes them.
    short: &'static str,
    /// Long options with `=` behind those that take a value and `?` behind those that may; `|` between two names of one.
    long: &'static str,
    /// How many operands there are at least and at most.
    operands: (usize, usize),
}

/// No tool counts so far.
const MANY: usize = usize::MAX;

#[rustfmt::skip]
const GRAMMARS: &[Grammar] = &[
    Grammar { name: "arch", short: "", operands: (0, 0), long: "" },
    Grammar { name: "basename", short: "as:z", operands: (1, MANY), long: "multiple suffix= zero" },
    Grammar { name: "comm", short: "123z", operands: (2, 2), long: "check-order nocheck-order output-delimiter= total zero-terminated" },
    Grammar { name: "csplit", short: "b:f:kn:sqz", operands: (2, MANY), long: "digits= quiet|silent keep-files elide-empty-files prefix= suffix-format= suppress-matched" },
    Grammar { name: "cut", short: "b:c:d:f:nsz", operands: (0, MANY), long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated" },
    Grammar { name: "dircolors", short: "bcp", operands: (0, MANY), long: "sh|bourne-shell csh|c-shell print-database print-ls-colors" },
    Grammar { name: "dirname", short: "z", operands: (1, MANY), long: "zero" },
    Grammar { name: "expand", short: "it:0123456789,", operands: (0, MANY), long: "initial tabs=" },
    Grammar { name: "factor", short: "", operands: (0, MANY), long: "" },
    Grammar { name: "hostid", short: "", operands: (0, 0), long: "" },
    Grammar { name: "join", short: "a:e:ij:o:t:v:1:2:z", operands: (2, 2), long: "ignore-case check-order nocheck-order header zero-terminated" },
    Grammar { name: "link", short: "", operands: (2, 2), long: "" },
    Grammar { name: "mktemp", short: "dp:qtu", operands: (0, MANY), long: "directory dry-run quiet suffix= tmpdir?" },
    Grammar { name: "nproc", short: "", operands: (0, 0), long: "all ignore=" },
    Grammar { name: "od", short: "A:aBbcDdeFfHhIij:LlN:OoS:st:vw::Xx", operands: (0, MANY), long: "address-radix= endian= skip-bytes= read-bytes= strings? format= output-duplicates width? traditional" },
    Grammar { name: "paste", short: "d:sz", operands: (0, MANY), long: "delimiters= serial zero-terminated" },
    Grammar { name: "pathchk", short: "pP", operands: (1, MANY), long: "portability" },
    Grammar { name: "printenv", short: "0", operands: (0, MANY), long: "null" },
    Grammar { name: "ptx", short: "AGF:M:O:RS:T:W:b:fg:i:o:rtw:", operands: (0, MANY), long: "auto-reference traditional flag-truncation= macro-name= format= right-side-refs sentence-regexp= format= word-regexp= break-file= ignore-case gap-size= ignore-file= only-file= references typeset-mode width=" },
    Grammar { name: "pwd", short: "LP", operands: (0, MANY), long: "logical physical" },
    Grammar { name: "readlink", short: "femnqsvz", operands: (1, MANY), long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero" },
    Grammar { name: "realpath", short: "emLPqsz", operands: (1, MANY), long: "canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip|no-symlinks zero" },
    Grammar { name: "seq", short: "f:s:w", operands: (1, 3), long: "format= separator= equal-width" },
    Grammar { name: "shred", short: "fn:s:uvxz", operands: (1, MANY), long: "force iterations= random-source= size= remove? verbose exact zero" },
    Grammar { name: "shuf", short: "ei:n:o:rz", operands: (0, MANY), long: "echo input-range= head-count= output= random-source= repeat zero-terminated" },
    Grammar { name: "tee", short: "aip", operands: (0, MANY), long: "append ignore-interrupts output-error?" },
    Grammar { name: "tr", short: "cCdst", operands: (0, 2), long: "complement delete squeeze-repeats truncate-set1" },
    Grammar { name: "truncate", short: "cor:s:", operands: (0, MANY), long: "no-create io-blocks reference= size=" },
    Grammar { name: "tsort", short: "", operands: (0, 1), long: "" },
    Grammar { name: "tty", short: "s", operands: (0, 0), long: "silent|quiet" },
    Grammar { name: "unexpand", short: "at:0123456789,", operands: (0, MANY), long: "all first-only tabs=" },
    Grammar { name: "uniq", short: "cdDf:is:uzw:0123456789", operands: (0, 2), long: "count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars=" },
    Grammar { name: "unlink", short: "", operands: (1, 1), long: "" },
    Grammar { name: "yes", short: "", operands: (0, MANY), long: "" },
];

/// Options that take one of some words: tool, option, words.
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
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Reads a command line as GNU does. `Ok` says that there is nothing wrong that can be seen without running the tool.
pub(crate) fn check(tool: &str, arguments: &[OsString]) -> Result<(), Mistake> {
    let Some(grammar) = GRAMMARS.binary_search_by(|known| known.name.cmp(tool)).ok().and_then(|at| GRAMMARS.get(at))
    else {
        return Ok(());
    };
    read(grammar, arguments).map_err(|message| Mistake { message, code: usage_code(tool) })
}

/// The exit code of a wrong command line.
fn usage_code(tool: &str) -> i32 {
    match tool {
        "printenv" | "tty" => 2,
        _ => 1,
    }
}

/// A command line item by item, each with the long name of its option where it was written so. `None` when help is asked
/// for, or something is wrong that [`check`] has not seen.
pub(crate) fn items(tool: &str, arguments: &[OsString]) -> Option<Vec<(&'static str, Item)>> {
    let grammar = GRAMMARS.iter().find(|known| known.name == tool)?;
    let (long, names) = long_options(grammar.long);
    let words = arguments.iter().skip(1).map(|word| word.as_encoded_bytes().to_vec()).collect();
    let mut parser = parser(grammar, &long, true, words);
    let mut items = Vec::new();
    while let Some(item) = parser.next_item().ok()? {
        match item {
            Item::Option(Key::Help, _) => return None,
            Item::Option(Key::Letter(letter), value) => items.push(("", Item::Option(letter, value))),
            // No option has this letter.
            Item::Option(key, value) => items.push((full_name("", key, &names), Item::Option('-', value))),
            Item::Operand(operand) => items.push(("", Item::Operand(operand))),
        }
    }
    Some(items)
}

fn read(grammar: &Grammar, arguments: &[OsString]) -> Result<(), String> {
    let (long, names) = long_options(grammar.long);
    let words = arguments.iter().skip(1).map(|word| word.as_encoded_bytes().to_vec()).collect();
    let permute = !matches!(grammar.name, "printenv" | "seq" | "tr");
    let mut parser = parser(grammar, &long, permute, words);
    let mut operands = Vec::new();
    let mut several = false;
    while let Some(item) = next(&mut parser, grammar.name)? {
        match item {
            Item::Operand(operand) => operands.push(operand),
            Item::Option(Key::Help, _) => return Ok(()),
            Item::Option(key, value) => {
                let name = full_name(grammar.name, key, &names);
                several |= matches!(name, "multiple" | "suffix" | "echo");
                let choices = CHOICES.iter().find(|(tool, option, _)| (*tool, *option) == (grammar.name, name));
                if let (Some((_, option, choices)), Some(value)) = (choices, value) {
                    parse_choice(&format!("--{option}"), &value, choices)?;
                }
            }
        }
    }
    if matches!(grammar.name, "tr") {
        return Ok(());
    }
    let most = if grammar.name == "basename" && !several { 2 } else { grammar.operands.1 };
    count(grammar.name, &operands, grammar.operands.0, most)
}

/// The command line for clap, which takes the first `=` of `-d=` for a separator: a value that begins so gets a second one.
pub(crate) fn for_clap(tool: &str, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(grammar) = GRAMMARS.iter().find(|known| known.name == tool) else {
        return arguments;
    };
    let mut is_value = false;
    for word in arguments.iter_mut().skip(1) {
        match word.to_str() {
            _ if is_value => is_value = false,
            Some("--") => break,
            Some(text) if text.starts_with('-') && !text.starts_with("--") => {
                let value = value_in(grammar.short, text);
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

/// What stands behind the first letter of a word of short options that takes a value.
fn value_in<'w>(short: &str, word: &'w str) -> Option<&'w str> {
    word.char_indices().skip(1).find_map(|(at, letter)| {
        let behind = short.split_once(letter).map(|(_, behind)| behind)?;
        (behind.starts_with(':') && !behind.starts_with("::")).then(|| word.get(at + letter.len_utf8()..)).flatten()
    })
}

/// Key of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    /// `--help` or `--version`, which are answered whatever else is invalid.
    Help,
    Letter(char),
    /// Long option, by its position in the list of the grammar.
    Long(usize),
}

/// The options of a [`Grammar`], and the first name of each.
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

fn parser<'a>(grammar: &Grammar, long: &'a [Long<Key>], permute: bool, words: Vec<Vec<u8>>) -> Parser<'a, Key> {
    let short = short_options(grammar.short).into_iter();
    let short = short.map(|Short { letter, takes, key }| Short { letter, takes, key: Key::Letter(key) }).collect();
    Parser::with_options(short, Cow::Borrowed(long), permute, words)
}

/// The long name of an option where that matters here.
fn full_name(tool: &str, key: Key, names: &[&'static str]) -> &'static str {
    match (tool, key) {
        ("basename", Key::Letter('a')) => "multiple",
        ("basename", Key::Letter('s')) => "suffix",
        (_, Key::Long(at)) => names.get(at).copied().unwrap_or_default(),
        _ => "",
    }
}

/// The next item; the operands of `seq` may be negative numbers.
fn next(parser: &mut Parser<'_, Key>, tool: &str) -> Result<Option<Item<Key>>, String> {
    let number = |word: &[u8]| matches!(word, [b'-', b'0'..=b'9' | b'.', ..] | [b'-', b'i' | b'n', _, ..]);
    if tool == "seq" && parser.peek().is_some_and(number) {
        return Ok(parser.take_operand().map(Item::Operand));
    }
    parser.next_item()
}

/// Whether there are as many operands as there should be.
fn count(tool: &str, operands: &[Vec<u8>], least: usize, most: usize) -> Result<(), String> {
    let what = if tool == "shred" { "file operand" } else { "operand" };
    match operands {
        [] if least > 0 => Err(format!("missing {what}")),
        [.., last] if operands.len() < least => Err(format!("missing {what} after {}", quote_value(last))),
        _ => match operands.get(most) {
            // The message of `join` has other quotes than all others.
            Some(extra) if tool == "join" => Err(format!("extra operand {}", tidebox_gnu::message::quote_path(extra))),
            Some(extra) => Err(format!("extra operand {}", quote_value(extra))),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{GRAMMARS, check, for_clap};
    use crate::table;

    fn answer(line: &str) -> Option<(String, i32)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let tool = line.split(' ').next().unwrap_or_default();
        check(tool, &words).err().map(|mistake| (mistake.message, mistake.code))
    }

    #[test]
    fn the_grammars_are_in_order_and_belong_to_tools() {
        assert!(GRAMMARS.is_sorted_by(|a, b| a.name < b.name));
        for grammar in GRAMMARS {
            assert!(table::find(grammar.name).is_some(), "{}", grammar.name);
        }
    }

    #[test]
    fn what_gnu_takes_passes() {
        for line in [
            "seq -5 5",
            "seq -s , -1 -.5 3",
            "uniq --group f g",
            "basename a b",
            "basename -a a b c",
            "cut --help --nope",
        ] {
            assert_eq!(answer(line), None, "{line}");
        }
    }

    #[test]
    fn a_value_that_is_an_equals_sign_reaches_the_tool() {
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
    fn what_gnu_refuses_is_refused_in_its_words() {
        for (line, message, code) in [
            ("comm", "missing operand", 1),
            ("tty --nope", "unrecognized option '--nope'", 2),
            ("paste -d", "option requires an argument -- 'd'", 1),
            ("join a b c", "extra operand 'c'", 1),
            ("tee -Q", "invalid option -- 'Q'", 1),
        ] {
            assert_eq!(answer(line), Some((message.to_owned(), code)), "{line}");
        }
        for (line, beginning) in [
            ("comm a", "missing operand after "),
            ("uniq a b c", "extra operand "),
            ("basename a b c", "extra operand "),
            ("uniq --group=x", "invalid argument "),
        ] {
            let (message, _) = answer(line).unwrap_or_default();
            assert!(message.starts_with(beginning), "{line}: {message}");
        }
    }
}
