//! `man`, `apropos` and `whatis`: short manuals derived from the help of the tools.
//!
//! GNU manuals have a licence that does not allow linking into closed programs, and troff is large. The `--help` of a tool
//! always matches the installed tool.

mod page;
#[cfg(test)]
mod tests;

use regex_lite::Regex;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::{ToolMain, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[("apropos", apropos), ("man", man), ("whatis", whatis)];

/// Names with one-line descriptions, sorted by name.
const NAMES: &str = include_str!("names.txt");

/// Exit code of a missing manual.
const NOTHING: i32 = 16;

const USAGE: &str = "\
Usage: man [OPTION...] [SECTION] PAGE...
Shows the manual of each command PAGE: its purpose and its options.

";

fn main() {
    run("man", TOOLS);
}

/// Returns the description of a name.
pub(crate) fn description(name: &str) -> Option<&'static str> {
    NAMES.lines().find_map(|line| line.split_once('\t').filter(|(known, _)| *known == name)).map(|(_, text)| text)
}

tidebox_gnu::options! {
    /// Options of `man`.
    enum Flag {
        Whatis = "-f, --whatis", "print one-line descriptions";
        Apropos = "-k, --apropos", "search names and descriptions for words";
        GlobalApropos = "-K", "search the texts of manuals (not supported)",
            unsupported "manuals are not files: man generates them from --help";
        Where = "-w, --where | -W, --path, --location",
            "print the paths of manuals (not supported)",
            unsupported "manuals are not files: man generates them from --help";
        Sections = "-s, -S, --sections=LIST", "only these sections; there is section 1";
        All = "-a, --all | -l, --no-hyphenation, --nh, --nj, --no-justification", "has no effect";
        Pager = "-P, --pager=PAGER | -L, --locale=LOCALE, -M, --manpath=PATH", "has no effect";
        Help = "--help", "";
        Version = "-V, --version", "print the version";
    }
}

tidebox_gnu::options! {
    /// Options of `apropos` and `whatis`, which have no effect.
    enum SearchFlag {
        Matching = "-e, --exact, -r, --regex, -w, --wildcard, -a, --and, -l, --long", "has no effect";
        Sections = "-s, --sections=LIST | -L, --locale=LOCALE, -M, --manpath=PATH", "has no effect";
        Help = "--help", "";
        Version = "-V, --version", "print the version";
    }
}

fn is_section(word: &str) -> bool {
    matches!(word.as_bytes(), [b'1'..=b'9'] | [b'1'..=b'9', b'a'..=b'z', ..]) || word == "n" || word == "l"
}

fn man(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut search, mut describe, mut section) = (false, false, None);
    let line = Syntax { version: "man 2.11.2 (Tidebox)\n", ..Syntax::new("man", USAGE, 19) };
    let words = line.parse(arguments, |key, value| {
        match key {
            Flag::Apropos => search = true,
            Flag::Whatis => describe = true,
            Flag::Sections => {
                section = String::from_utf8_lossy(&value).split([',', ':']).next().map(str::to_owned);
            }
            _ => {}
        }
        Ok::<_, i32>(())
    });
    let words: Vec<String> = match words {
        Ok(words) => words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        Err(code) => return code,
    };
    if search {
        return if words.is_empty() { print_missing_operand("apropos") } else { list(&words, true) };
    }
    if describe {
        return if words.is_empty() { print_missing_operand("whatis") } else { list(&words, false) };
    }
    if words.is_empty() {
        tidebox_gnu::eprint_line!("What manual page do you want?\nFor example, try 'man man'.");
        return 1;
    }
    show_pages(words, section)
}

/// Prints the page of each operand. A section operand applies to the following ones.
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
            tidebox_gnu::eprint_line!("No manual entry for {word}");
            return NOTHING;
        }
        // `ls.1` and `ls(1)` also specify the section.
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
                    Some(section) => tidebox_gnu::eprint_line!("No manual entry for {name} in section {section}"),
                    None => tidebox_gnu::eprint_line!("No manual entry for {name}"),
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

fn print_missing_operand(tool: &'static str) -> i32 {
    print(tool, &format!("{tool} what?\n")).max(1)
}

fn words(tool: &'static str, arguments: Vec<Vec<u8>>) -> Result<Vec<String>, i32> {
    let version = format!("{tool} 2.11.2 (Tidebox)\n");
    let line = Syntax { version: &version, ..Syntax::new(tool, USAGE, 19) };
    let words: Vec<String> = line
        .parse::<i32>(arguments, |_: SearchFlag, _| Ok(()))?
        .iter()
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    if words.is_empty() { Err(print_missing_operand(tool)) } else { Ok(words) }
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

/// Lists the descriptions of names, or of all matches of a pattern.
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
            tidebox_gnu::eprint_line!("{word}: nothing appropriate.");
            code = NOTHING;
        }
        for (name, text) in found {
            out.push(format!("{:<20} - {text}\n", format!("{name} (1)")).as_bytes());
        }
    }
    out.finish("man", code)
}
