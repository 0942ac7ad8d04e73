//! `man`, `apropos` and `whatis`: short manuals out of what the tools say of themselves.
//!
//! Manuals of GNU are under a licence that nobody may link into closed programs, and troff is no small thing; a tool's
//! own `--help` is true of the tool that is there.

mod page;
#[cfg(test)]
mod tests;

use regex_lite::Regex;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[("apropos", apropos), ("man", man), ("whatis", whatis)];

/// Names and what they are in a line, ordered by name.
const NAMES: &str = include_str!("names.txt");

/// The exit code when there is no such manual.
const NOTHING: i32 = 16;

const HELP: &str = "\
Usage: man [OPTION...] [SECTION] PAGE...
Shows the manual of each command PAGE: what it is for, and what it says of its options.

  -f, --whatis     print one-line descriptions
  -k, --apropos    search names and descriptions for words
  -K               search the texts of manuals (not supported)
  -w, --where      print where manuals are (not supported: they are made when asked for)
  -s, -S, --sections=LIST  only these sections; there is section 1
  -a, --all, -P, --pager, -l ...  as far as they mean anything without a terminal
  -V, --version    print the version
";

fn main() {
    run("man", TOOLS);
}

/// The description of a name.
pub(crate) fn description(name: &str) -> Option<&'static str> {
    NAMES.lines().find_map(|line| line.split_once('\t').filter(|(known, _)| *known == name)).map(|(_, text)| text)
}

const WHERE: char = '\u{e001}';
const HELP_KEY: char = '\u{e002}';

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("apropos", Takes::Nothing, 'k'),
    long("whatis", Takes::Nothing, 'f'),
    long("where", Takes::Nothing, WHERE),
    long("path", Takes::Nothing, WHERE),
    long("location", Takes::Nothing, WHERE),
    long("pager", Takes::Value, 'P'),
    long("sections", Takes::Value, 's'),
    long("locale", Takes::Value, 'L'),
    long("manpath", Takes::Value, 'M'),
    long("no-hyphenation", Takes::Nothing, 'a'),
    long("nh", Takes::Nothing, 'a'),
    long("nj", Takes::Nothing, 'a'),
    long("no-justification", Takes::Nothing, 'a'),
    long("help", Takes::Nothing, HELP_KEY),
    long("version", Takes::Nothing, 'V'),
];

fn is_section(word: &str) -> bool {
    matches!(word.as_bytes(), [b'1'..=b'9'] | [b'1'..=b'9', b'a'..=b'z', ..]) || word == "n" || word == "l"
}

fn man(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut search, mut describe, mut section) = (false, false, None);
    let line = CommandLine {
        version: "man 2.11.2 (as Tidebox speaks it)\n",
        ..CommandLine::new("man", "afkKwWP:s:S:L:M:lV", LONG, HELP)
    };
    let words = line.read(arguments, |key, value| {
        match key {
            'k' => search = true,
            'f' => describe = true,
            's' | 'S' => {
                section = String::from_utf8_lossy(&value).split([',', ':']).next().map(str::to_owned);
            }
            'K' | 'w' | 'W' | WHERE => {
                tidebox_gnu::tell!("man: there are no files of manuals here; they are made when they are asked for");
                return Err(1);
            }
            _ => {}
        }
        Ok(())
    });
    let words: Vec<String> = match words {
        Ok(words) => words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        Err(code) => return code,
    };
    if search {
        return if words.is_empty() { nothing_asked("apropos") } else { list(&words, true) };
    }
    if describe {
        return if words.is_empty() { nothing_asked("whatis") } else { list(&words, false) };
    }
    if words.is_empty() {
        tidebox_gnu::tell!("What manual page do you want?\nFor example, try 'man man'.");
        return 1;
    }
    show_pages(words, section)
}

/// Prints the page of each word. A section among the words holds for those that follow it.
fn show_pages(words: Vec<String>, mut section: Option<String>) -> i32 {
    let mut out = Output::standard();
    let mut code = 0;
    let last = words.len();
    for (at, word) in words.into_iter().enumerate() {
        if is_section(&word) && at + 1 < last {
            section = Some(word);
            continue;
        }
        if is_section(&word) && last == 1 {
            tidebox_gnu::tell!("No manual entry for {word}");
            return NOTHING;
        }
        // `ls.1` and `ls(1)` are ways to say the section, too.
        let (name, own) = match word.strip_suffix(')').and_then(|word| word.split_once('(')) {
            Some((name, section)) => (name.to_owned(), Some(section.to_owned())),
            None => (word.clone(), None),
        };
        let wanted = own.or_else(|| section.clone());
        let in_section = wanted.as_deref().is_none_or(|section| section == "1");
        match page::page(&name).filter(|_| in_section) {
            Some(text) => out.push(text.as_bytes()),
            None => {
                out.flush_now();
                match wanted {
                    Some(section) => tidebox_gnu::tell!("No manual entry for {name} in section {section}"),
                    None => tidebox_gnu::tell!("No manual entry for {name}"),
                }
                code = NOTHING;
            }
        }
    }
    out.finish("man", code)
}

fn print(tool: &str, text: &str) -> i32 {
    let mut out = Output::standard();
    out.push(text.as_bytes());
    out.finish(tool, 0)
}

fn nothing_asked(tool: &'static str) -> i32 {
    print(tool, &format!("{tool} what?\n")).max(1)
}

fn words(tool: &'static str, arguments: Vec<Vec<u8>>) -> Result<Vec<String>, i32> {
    let version = format!("{tool} 2.11.2 (as Tidebox speaks it)\n");
    let line = CommandLine { version: &version, ..CommandLine::new(tool, "erwals:L:M:V", LONG, HELP) };
    let words: Vec<String> = line
        .read::<i32>(arguments, |_, _| Ok(()))?
        .iter()
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    if words.is_empty() { Err(nothing_asked(tool)) } else { Ok(words) }
}

fn apropos(arguments: Vec<Vec<u8>>) -> i32 {
    match words("apropos", arguments) {
        Ok(words) => list(&words, true),
        Err(code) => code,
    }
}

fn whatis(arguments: Vec<Vec<u8>>) -> i32 {
    match words("whatis", arguments) {
        Ok(words) => list(&words, false),
        Err(code) => code,
    }
}

/// Lists the descriptions of names, or of everything that a pattern finds.
fn list(words: &[String], search: bool) -> i32 {
    let mut out = Output::standard();
    let mut code = 0;
    for word in words {
        let pattern = if search { Regex::new(&format!("(?i){word}")).ok() } else { None };
        let fits = |name: &str, text: &str| match (&pattern, search) {
            (Some(pattern), _) => pattern.is_match(name) || pattern.is_match(text),
            (None, true) => name.contains(word.as_str()) || text.contains(word.as_str()),
            (None, false) => name == word,
        };
        let entries = NAMES.lines().filter_map(|line| line.split_once('\t'));
        let found: Vec<(&str, &str)> =
            entries.filter(|(name, text)| fits(name, text) && page::is_there(name)).collect();
        if found.is_empty() {
            out.flush_now();
            tidebox_gnu::tell!("{word}: nothing appropriate.");
            code = NOTHING;
        }
        for (name, text) in found {
            out.push(format!("{:<20} - {text}\n", format!("{name} (1)")).as_bytes());
        }
    }
    out.finish("man", code)
}
