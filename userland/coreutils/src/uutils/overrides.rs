//! Corrections of command lines before a tool of uutils runs, for differences from GNU and features that WASI lacks.

use std::ffi::OsString;

use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_rt::FileKind;

use crate::{csplit, option_specs};

/// Umask of `mktemp`: its files are accessible only to their owner.
const PRIVATE: u32 = 0o077;

/// Action for a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Run the tool with these arguments.
    Run(Vec<OsString>),
    /// Run the tool with these arguments, and exit with 1.
    RunAndFail(Vec<OsString>),
    /// Exit; all messages are printed.
    Exit(i32),
    /// Exit with this message.
    Fail(String, i32),
    /// Exit with this message and a hint at `--help`.
    Usage(String, i32),
}

/// Selects the action for a command line, whose first argument is the name of the tool.
pub(crate) fn prepare(tool: &str, arguments: Vec<OsString>) -> Action {
    match tool {
        "mktemp" => {
            // std creates files with the default mode, so the umask has to restrict it.
            let _ = tidebox_rt::umask(Some(PRIVATE));
            Action::Run(arguments)
        }
        "csplit" => csplit::prepare(arguments),
        "cut" => Action::Run(cut(arguments)),
        "link" => link(arguments),
        "join" => join(arguments),
        "od" => od(arguments),
        "paste" => paste(arguments),
        "realpath" => realpath(arguments),
        "shred" => shred(arguments),
        "seq" => seq(arguments),
        "shuf" => shuf(arguments),
        "tr" => Action::Run(tr(arguments)),
        "truncate" => truncate(arguments),
        "uniq" => uniq(arguments),
        _ => Action::Run(arguments),
    }
}

pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    tidebox_rt::path_of_bytes(bytes).as_os_str().to_owned()
}

/// Returns the position of `--`, or the number of arguments.
pub(crate) fn options_end(arguments: &[OsString]) -> usize {
    arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len())
}

/// Converts character lists to byte lists, because GNU `cut` treats characters as bytes.
fn cut(arguments: Vec<OsString>) -> Vec<OsString> {
    let end = options_end(&arguments);
    let other = |(at, argument): (usize, OsString)| {
        let bytes = argument.as_encoded_bytes();
        if at == 0 || at >= end {
            return argument;
        }
        match (bytes.strip_prefix(b"-c"), bytes.strip_prefix(b"--characters")) {
            (Some(list), _) => os_string(&[b"-b", list].concat()),
            (_, Some(list)) => os_string(&[b"--bytes", list].concat()),
            _ => argument,
        }
    };
    arguments.into_iter().enumerate().map(other).collect()
}

/// Inserts `--` before the first operand of `tr`, which ends the options. No option takes a value.
fn tr(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_operand = |word: &OsString| word == "--" || word == "-" || !word.as_encoded_bytes().starts_with(b"-");
    if let Some(at) = arguments.iter().skip(1).position(is_operand)
        && arguments.get(at + 1).is_some_and(|word| word != "--")
    {
        arguments.insert(at + 1, OsString::from("--"));
    }
    arguments
}

/// Converts the obsolete `uniq +N`, which skips characters, and checks numbers.
fn uniq(mut arguments: Vec<OsString>) -> Action {
    let end = options_end(&arguments);
    for argument in arguments.iter_mut().take(end).skip(1) {
        let digits = argument.as_encoded_bytes().strip_prefix(b"+").filter(|digits| !digits.is_empty());
        if let Some(digits) = digits.filter(|digits| digits.iter().all(u8::is_ascii_digit)) {
            *argument = os_string(&[b"-s", digits].concat());
        }
    }
    let (mut group, mut other, mut first) = (false, false, None);
    for (name, item) in option_specs::items("uniq", &arguments).unwrap_or_default() {
        let (letter, value) = match item {
            Item::Option(letter, value) => (letter, value),
            Item::Operand(file) => {
                first.get_or_insert(file);
                continue;
            }
        };
        group |= name == "group";
        other |=
            matches!(letter, 'c' | 'd' | 'D' | 'u') || matches!(name, "count" | "repeated" | "all-repeated" | "unique");
        let what = match (letter, name) {
            ('f', _) | (_, "skip-fields") => "fields to skip",
            ('s', _) | (_, "skip-chars") => "bytes to skip",
            ('w', _) | (_, "check-chars") => "bytes to compare",
            _ => continue,
        };
        let value = value.unwrap_or_default();
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Action::Fail(format!("{}: invalid number of {what}", String::from_utf8_lossy(&value)), 1);
        }
    }
    // GNU's message does not contain the cause.
    if let Some(dir) = first.filter(|name| tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Dir))
    {
        return Action::Fail(format!("error reading {}", quote_path(&dir)), 1);
    }
    match group && other {
        true => Action::Usage("--group is mutually exclusive with -c/-d/-D/-u".to_owned(), 1),
        false => Action::Run(arguments),
    }
}

/// Reports an existing target with the message of GNU.
fn link(arguments: Vec<OsString>) -> Action {
    let names: Vec<&[u8]> = arguments.iter().skip(1).map(|name| name.as_encoded_bytes()).collect();
    match names.as_slice() {
        [from, to] if tidebox_rt::stat(to, false).is_ok() && tidebox_rt::stat(from, false).is_ok() => {
            Action::Fail(format!("cannot create link {} to {}: File exists", quote_path(to), quote_path(from)), 1)
        }
        _ => Action::Run(arguments),
    }
}

/// Reports a missing file with the message of GNU.
fn shred(arguments: Vec<OsString>) -> Action {
    let missing = |(_, item): &(&str, Item)| match item {
        Item::Operand(file) => {
            let error = tidebox_rt::stat(file, true).err().filter(|_| file != b"-")?;
            Some(format!("{}: failed to open for writing: {}", path_label(file), error.text()))
        }
        Item::Option(..) => None,
    };
    match option_specs::items("shred", &arguments).unwrap_or_default().iter().find_map(missing) {
        Some(message) => Action::Fail(message, 1),
        None => Action::Run(arguments),
    }
}

/// Rejects an empty path.
fn realpath(arguments: Vec<OsString>) -> Action {
    let empty = |argument: &&OsString| argument.is_empty();
    match arguments.iter().find(empty) {
        Some(_) => Action::Fail("'': No such file or directory".to_owned(), 1),
        None => Action::Run(arguments),
    }
}

/// Rejects invalid numbers of `shuf`.
fn shuf(arguments: Vec<OsString>) -> Action {
    let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
    for (name, item) in option_specs::items("shuf", &arguments).unwrap_or_default() {
        let Item::Option(letter, Some(value)) = item else {
            continue;
        };
        let shown = tidebox_gnu::message::quote_value(&value);
        match (letter, name) {
            ('n', _) | (_, "head-count") if value.is_empty() || !value.iter().all(u8::is_ascii_digit) => {
                return Action::Fail(format!("invalid line count: {shown}"), 1);
            }
            ('i', _) | (_, "input-range") => {
                let dash = value.iter().position(|byte| *byte == b'-').unwrap_or(value.len());
                let (low, high) = (value.get(..dash).and_then(number), value.get(dash + 1..).and_then(number));
                // The range may be empty, as in 2-1.
                if !matches!((low, high), (Some(low), Some(high)) if low <= high.saturating_add(1)) {
                    return Action::Fail(format!("invalid input range: {shown}"), 1);
                }
            }
            _ => {}
        }
    }
    Action::Run(arguments)
}

/// Checks the options of `truncate` before it opens any file.
fn truncate(arguments: Vec<OsString>) -> Action {
    let Some(items) = option_specs::items("truncate", &arguments) else {
        return Action::Run(arguments);
    };
    let (mut size, mut reference, mut blocks, mut files) = (None, false, false, 0);
    for (name, item) in items {
        match (item, name) {
            (Item::Operand(_), _) => files += 1,
            (Item::Option('s', value), _) | (Item::Option(_, value), "size") => size = value,
            (Item::Option('r', _), _) | (_, "reference") => reference = true,
            (Item::Option('o', _), _) | (_, "io-blocks") => blocks = true,
            _ => {}
        }
    }
    let option = |name: &str| tidebox_gnu::message::quote_value(name.as_bytes());
    let (by_size, by_reference) = (option("--size"), option("--reference"));
    match size {
        None if !reference => Action::Usage(format!("you must specify either {by_size} or {by_reference}"), 1),
        Some(size) if reference && !size.trim_ascii_start().first().is_some_and(|first| b"+-<>/%".contains(first)) => {
            Action::Usage(format!("you must specify a relative {by_size} with {by_reference}"), 1)
        }
        None if blocks => Action::Usage(format!("{} was specified but {by_size} was not", option("--io-blocks")), 1),
        _ if files == 0 => Action::Usage("missing file operand".to_owned(), 1),
        _ => without_pipes(arguments),
    }
}

/// Removes FIFOs from the operands. GNU opens files without blocking, which fails for a FIFO without a reader.
fn without_pipes(arguments: Vec<OsString>) -> Action {
    let is_pipe = |name: &[u8]| tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Pipe);
    let items = option_specs::items("truncate", &arguments).unwrap_or_default();
    let files: Vec<Vec<u8>> = items
        .into_iter()
        .filter_map(|(_, item)| match item {
            Item::Operand(file) => Some(file),
            Item::Option(..) => None,
        })
        .collect();
    let (pipes, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_pipe(file));
    for pipe in &pipes {
        print_error("truncate", &format!("cannot open {} for writing: No such device or address", quote_path(pipe)));
    }
    if pipes.is_empty() {
        return Action::Run(arguments);
    }
    if others.is_empty() {
        return Action::Exit(1);
    }
    let stays = |word: &OsString| !pipes.iter().any(|pipe| pipe == word.as_encoded_bytes());
    Action::RunAndFail(arguments.into_iter().filter(stays).collect())
}

/// Checks the file numbers of `join -a` and `-v`.
fn join(arguments: Vec<OsString>) -> Action {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let bytes = word.as_encoded_bytes();
        let Some(value) = bytes.strip_prefix(b"-a").or_else(|| bytes.strip_prefix(b"-v")) else {
            continue;
        };
        let value = if value.is_empty() { words.next().map(|word| word.as_encoded_bytes()) } else { Some(value) };
        if let Some(value) = value.filter(|value| !matches!(*value, b"1" | b"2")) {
            return Action::Fail(format!("invalid field number: {}", tidebox_gnu::message::quote_value(value)), 1);
        }
    }
    Action::Run(arguments)
}

/// Checks the format of `seq` before its numbers, with GNU's messages.
fn seq(arguments: Vec<OsString>) -> Action {
    for (name, item) in option_specs::items("seq", &arguments).unwrap_or_default() {
        let Item::Option(letter, Some(format)) = item else {
            continue;
        };
        if (letter == 'f' || name == "format")
            && let Some(error) = format_error(&String::from_utf8_lossy(&format))
        {
            return Action::Fail(format!("format {} {error}", tidebox_gnu::message::quote_value(&format)), 1);
        }
    }
    Action::Run(arguments)
}

/// Returns the error of a format for one number.
fn format_error(format: &str) -> Option<String> {
    let text = format.replace("%%", "");
    let Some((_, directive)) = text.split_once('%') else {
        return Some("has no % directive".to_owned());
    };
    let directive = directive.trim_start_matches(['-', '+', '#', '0', ' ', '\'']);
    let directive = directive.trim_start_matches(|char: char| char.is_ascii_digit());
    let directive = directive
        .strip_prefix('.')
        .map_or(directive, |rest| rest.trim_start_matches(|char: char| char.is_ascii_digit()));
    let mut rest = directive.strip_prefix('L').unwrap_or(directive).chars();
    match rest.next() {
        None => Some("ends in %".to_owned()),
        Some('e' | 'f' | 'g' | 'a' | 'E' | 'F' | 'G' | 'A') => {
            rest.as_str().contains('%').then(|| "has too many % directives".to_owned())
        }
        Some(other) => Some(format!("has unknown %{other} directive")),
    }
}

/// Values of `od -w` and `od --strings` without an argument: bytes of a line, and minimum length of a string.
const OD_WIDTH: &str = "32";
const OD_STRINGS: &str = "3";

/// Adds the default values of options of `od`, because clap would use the next argument.
fn od(mut arguments: Vec<OsString>) -> Action {
    let end = options_end(&arguments);
    for argument in arguments.iter_mut().take(end).skip(1) {
        let Some(word) = argument.to_str().and_then(|word| word.strip_prefix('-')) else {
            continue;
        };
        let full = match word.strip_prefix('-') {
            Some(name) if name.len() > 2 && "strings".starts_with(name) => format!("--strings={OD_STRINGS}"),
            Some(name) if !name.is_empty() && "width".starts_with(name) => format!("--width={OD_WIDTH}"),
            Some(_) => format!("-{word}"),
            None => od_letters(word),
        };
        *argument = OsString::from(match full.as_str() {
            "-w0" | "--width=0" => {
                print_error("od", "warning: invalid width 0; using 2 instead");
                "-w2"
            }
            full => full,
        });
    }
    let mut files = Vec::new();
    for (name, item) in option_specs::items("od", &arguments).unwrap_or_default() {
        let (letter, radix) = match item {
            Item::Option(letter, Some(radix)) => (letter, radix),
            Item::Option(..) => continue,
            Item::Operand(file) => {
                files.push(file);
                continue;
            }
        };
        // GNU checks only the first letter.
        let radix = radix.first().map_or('\0', |first| char::from(*first));
        if (letter == 'A' || name == "address-radix") && !"doxn".contains(radix) {
            let message = format!("invalid output address radix '{radix}'; it must be one character from [doxn]");
            return Action::Fail(message, 1);
        }
    }
    // uutils omits the final offset if a file is missing. A number may be an offset instead of a file.
    let is_missing = |file: &Vec<u8>| {
        !file.first().is_none_or(|first| b"+-0123456789".contains(first)) && tidebox_rt::stat(file, true).is_err()
    };
    let missing: Vec<Vec<u8>> = files.iter().filter(|file| is_missing(file)).cloned().collect();
    if missing.is_empty() || missing.len() == files.len() {
        return Action::Run(arguments);
    }
    for file in &missing {
        let reason = tidebox_rt::stat(file, true).err().map_or("", tidebox_rt::Errno::text);
        print_error("od", &format!("{}: {reason}", path_label(file)));
    }
    Action::RunAndFail(
        arguments.into_iter().filter(|word| !missing.iter().any(|file| file == word.as_encoded_bytes())).collect(),
    )
}

/// Converts an argument of short options, without its dash, for clap. The text after an option with a value is the value.
fn od_letters(word: &str) -> String {
    let mut out = String::from("-");
    for (at, letter) in word.char_indices() {
        let rest = word.get(at..).unwrap_or_default();
        match letter {
            // The obsolete name of -o.
            'B' => out.push('o'),
            'w' if rest.len() == 1 => {
                out.push('w');
                out.push_str(OD_WIDTH);
            }
            'A' | 'j' | 'N' | 'S' | 't' | 'w' => {
                out.push_str(rest);
                break;
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Reports missing files. The tool then prints nothing.
fn paste(arguments: Vec<OsString>) -> Action {
    let mut missing = false;
    for (_, item) in option_specs::items("paste", &arguments).unwrap_or_default() {
        let Item::Operand(file) = item else {
            continue;
        };
        if let Some(error) = tidebox_rt::stat(&file, true).err().filter(|_| file != b"-") {
            print_error("paste", &format!("{}: {}", path_label(&file), error.text()));
            missing = true;
        }
    }
    if missing { Action::Exit(1) } else { Action::Run(arguments) }
}

#[cfg(test)]
mod tests;
