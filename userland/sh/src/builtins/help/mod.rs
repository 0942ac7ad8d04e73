//! `help`.

use crate::builtins::option_letters::Letters;
use crate::expand::lossy;
use crate::ir::Bytes;
use crate::pattern::{Pattern, Style};
use crate::state::{EvalResult, Shell};

/// Topics in the order in which `help` lists them: name, usage and description, separated by tabs.
const TOPICS: &str = include_str!("topics.txt");

/// The name, usage and description of a topic.
type Topic = (&'static str, &'static str, &'static str);

fn topics() -> impl Iterator<Item = Topic> {
    TOPICS.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    })
}

pub(super) fn help(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut short, mut usage, mut manual) = (false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'd' => short = true,
            b's' => usage = true,
            b'm' => manual = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if words.is_empty() {
        return Ok(overview(shell));
    }
    let mut text = String::new();
    for word in words {
        let found = matching(word);
        if word.iter().any(|b| b"*?[".contains(b)) && !found.is_empty() {
            text.push_str(&format!("Shell commands matching keyword `{}'\n\n", lossy(word)));
        }
        for (name, synopsis, about) in found {
            text.push_str(&match (short, usage, manual) {
                (true, ..) => format!("{name} - {about}\n"),
                (_, true, _) => format!("{name}: {synopsis}\n"),
                (_, _, true) => page(name, synopsis, about),
                _ => long(name, synopsis, about),
            });
        }
    }
    if let (true, Some(last)) = (text.is_empty(), words.last()) {
        let name = lossy(last).into_owned();
        shell.report_builtin_error(format!(
            "no help topics match `{name}'.  Try `help help' or `man -k {name}' or `info {name}'."
        ));
        return Ok(1);
    }
    Ok(shell.print(text))
}

/// The usage of a builtin.
pub(super) fn usage_of(builtin: &str) -> &'static str {
    topics().find(|(name, ..)| *name == builtin).map_or("", |(_, usage, _)| usage)
}

/// `--help`: prints the help of the current builtin. Returns the status.
pub(crate) fn of_builtin(shell: &mut Shell) -> u8 {
    let about = topics().find(|(name, ..)| *name == shell.builtin.name);
    let text = about.map(|(name, synopsis, about)| long(name, synopsis, about));
    shell.print(text.unwrap_or_default());
    2
}

fn long(name: &str, synopsis: &str, about: &str) -> String {
    format!("{name}: {synopsis}\n    {about}\n")
}

/// The topics that a pattern matches: by the whole name, or else by a prefix.
fn matching(word: &[u8]) -> Vec<Topic> {
    let style = Style { extended: true, fold: false };
    let whole = Pattern::new(word, style);
    let exact: Vec<_> = topics().filter(|(name, ..)| whole.matches(name.as_bytes())).collect();
    if !exact.is_empty() {
        return exact;
    }
    let start = Pattern::new(&[word, b"*"].concat(), style);
    topics().filter(|(name, ..)| start.matches(name.as_bytes())).collect()
}

fn page(name: &str, synopsis: &str, about: &str) -> String {
    format!("NAME\n    {name} - {about}\n\nSYNOPSIS\n    {synopsis}\n\nDESCRIPTION\n    {about}\n\n")
}

/// `help` alone: the usage of all topics.
fn overview(shell: &mut Shell) -> u8 {
    let version = crate::expand::BASH_VERSION;
    let mut text = format!(
        "The shell of Tidebox, compatible with GNU bash {version}.\n\
         `help NAME' describes a builtin, `help -s NAME' prints its usage.\n\
         A star (*) marks disabled builtins.\n\n"
    );
    for (name, synopsis, _) in topics() {
        let mark = if shell.builtin.disabled.contains(name) { '*' } else { ' ' };
        text.push_str(&format!("{mark}{synopsis}\n"));
    }
    shell.print(text)
}
