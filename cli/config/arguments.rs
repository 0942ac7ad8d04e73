//! Converts the tables of a configuration file to arguments.

use std::ops::Range;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{HARMLESS, LOCAL_FILE, SHARED};
use crate::cli::args;

/// Similarity from which a name is suggested, as in clap.
const SIMILAR: f64 = 0.7;

/// An error at a byte of the file.
#[derive(Debug, PartialEq)]
pub(super) struct FileError {
    pub(super) at: usize,
    pub(super) message: String,
}

impl FileError {
    fn new(at: &Range<usize>, message: String) -> Self {
        Self { at: at.start, message }
    }
}

/// Returns the arguments of the shared options and of those of `command`. Checks the tables of all commands.
pub(super) fn of_file(text: &str, command: &clap::Command, trusted: bool) -> Result<Vec<String>, FileError> {
    let file = DeTable::parse(text).map_err(|error| FileError {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })?;
    let root = args::command();
    let mut words = Vec::new();
    for (name, table) in file.get_ref() {
        let target = match name.get_ref().as_ref() {
            SHARED => root.find_subcommand("exec"),
            other => root.get_subcommands().find(|known| known.get_name() == other && has_tables(known)),
        };
        let Some(target) = target else {
            let known = root.get_subcommands().filter(|known| has_tables(known)).map(clap::Command::get_name);
            let known: Vec<&str> = [SHARED].into_iter().chain(known).collect();
            let message = format!("unknown table `{}`{}", name.get_ref(), suggest(name.get_ref(), &known));
            return Err(FileError::new(&name.span(), message));
        };
        let DeValue::Table(options) = table.get_ref() else {
            let message = format!("`{0}` is not a table; write [{0}] before its options", name.get_ref());
            return Err(FileError::new(&name.span(), message));
        };
        let is_shared = name.get_ref() == SHARED;
        let keys = keys(target, is_shared);
        let found = of_table(options, name.get_ref(), &keys, target, trusted)?;
        let applies = if is_shared { has_tables(command) } else { target.get_name() == command.get_name() };
        // The options of a command follow the shared ones, so that they take precedence.
        match (applies, is_shared) {
            (true, true) => drop(words.splice(..0, found)),
            (true, false) => words.extend(found),
            (false, _) => {}
        }
    }
    Ok(words)
}

/// Returns whether a command has options of a sandbox.
pub(super) fn has_tables(command: &clap::Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some("config"))
}

/// Returns the options that a table may contain.
fn keys(command: &clap::Command, is_shared: bool) -> Vec<&Arg> {
    let shared = args::shared_options();
    let is_key = |arg: &&Arg| {
        let long = arg.get_long().unwrap_or_default();
        let excluded = ["", "argv", "config", "help", "no-config", "version"].contains(&long) || arg.is_hide_set();
        !excluded && (!is_shared || shared.iter().any(|name| name == long))
    };
    command.get_arguments().filter(is_key).collect()
}

fn of_table(
    options: &DeTable<'_>,
    table: &str,
    keys: &[&Arg],
    command: &clap::Command,
    trusted: bool,
) -> Result<Vec<String>, FileError> {
    let mut words = Vec::new();
    for (key, value) in options {
        let name = key.get_ref().as_ref();
        let Some(arg) = keys.iter().find(|arg| arg.get_long() == Some(name)) else {
            let known: Vec<&str> = keys.iter().filter_map(|arg| arg.get_long()).collect();
            let message = format!("unknown key `{name}` in [{table}]{}", suggest(name, &known));
            return Err(FileError::new(&key.span(), message));
        };
        if !trusted && !HARMLESS.contains(&name) {
            let message = format!(
                "`{name}` gives access to this host, its network or other hosts, and the file may be \
                 part of a cloned repository; run with --config {LOCAL_FILE} to allow it, or with --no-config to ignore the file"
            );
            return Err(FileError::new(&key.span(), message));
        }
        for word in of_value(name, value, arg).map_err(|message| FileError::new(&value.span(), message))? {
            check(command, &word, name).map_err(|message| FileError::new(&value.span(), message))?;
            words.push(word);
        }
    }
    Ok(words)
}

/// Returns the arguments of one key.
fn of_value(name: &str, value: &Spanned<DeValue<'_>>, arg: &Arg) -> Result<Vec<String>, String> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value.get_ref() {
            DeValue::Boolean(true) => Ok(vec![format!("--{name}")]),
            DeValue::Boolean(false) => Ok(Vec::new()),
            _ => Err(format!("`{name}` must be true or false")),
        };
    }
    let word = |text: String| format!("--{name}={text}");
    match value.get_ref() {
        DeValue::Array(values) if matches!(arg.get_action(), ArgAction::Append) => {
            values.iter().map(|value| scalar(name, value.get_ref()).map(word)).collect()
        }
        DeValue::Table(pairs) if ["env", "limits"].contains(&name) => {
            let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                Ok(word(format!("{key}={}", scalar(key, value.get_ref())?)))
            };
            pairs.iter().map(pair).collect()
        }
        value => Ok(vec![word(scalar(name, value)?)]),
    }
}

fn scalar(name: &str, value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.clone().into_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        other => Err(format!("`{name}` cannot be a value of the type {}", other.type_str())),
    }
}

/// Checks one argument with the parser of the command line.
fn check(command: &clap::Command, word: &str, name: &str) -> Result<(), String> {
    let parsed = command.clone().no_binary_name(true).try_get_matches_from([word]);
    match parsed {
        Err(error) if matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {
            let text = error.render().to_string();
            let end = text.find("\n\nUsage").or_else(|| text.find("\n\nFor more")).unwrap_or(text.len());
            let message = text.get(..end).unwrap_or(&text).trim_start_matches("error: ");
            Err(format!("`{name}`: {message}"))
        }
        // Options that need others are checked with the command line.
        _ => Ok(()),
    }
}

/// Returns the most similar name, or all names.
fn suggest(name: &str, known: &[&str]) -> String {
    let similar = known.iter().map(|known| (strsim::jaro_winkler(name, known), known));
    match similar.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((similarity, known)) if similarity > SIMILAR => format!("; did you mean `{known}`?"),
        _ => format!("; expected one of: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str, command: &str, trusted: bool) -> Result<Vec<String>, (usize, String)> {
        let root = args::command();
        let words = of_file(text, root.find_subcommand(command).unwrap(), trusted);
        words.map_err(|error| (1 + text[..error.at].matches('\n').count(), error.message))
    }

    const FILE: &str = "\
[exec]
json = true
timeout = 2.5
[mcp]
sandbox = \"notes\"
[sandbox]
pip = false
mount = [\".:/workspace/repo:cow\", \"/data:/data\"]
env = { A = \"1=2\", B = 3 }
limits = { memory = \"64M\", processes = 7 }
timeout = 9
";

    #[test]
    fn a_command_gets_the_shared_options_before_its_own() {
        let shared = [
            "--env=A=1=2",
            "--env=B=3",
            "--limits=memory=64M",
            "--limits=processes=7",
            "--mount=.:/workspace/repo:cow",
            "--mount=/data:/data",
            "--timeout=9",
        ];
        let with = |own: &[&'static str]| [&shared[..], own].concat();
        assert_eq!(words_of(FILE, "exec", true).unwrap(), with(&["--json", "--timeout=2.5"]));
        assert_eq!(words_of(FILE, "shell", true).unwrap(), with(&[]));
        assert_eq!(words_of("", "exec", true).unwrap(), [""; 0]);
        #[cfg(feature = "mcp")]
        assert_eq!(words_of(FILE, "mcp", true).unwrap(), with(&["--sandbox=notes"]));
    }

    #[test]
    fn a_file_of_the_current_directory_gives_no_access() {
        for line in [
            "mount = [\".:/x\"]",
            "file = [\"a:b\"]",
            "allow = \"a.example\"",
            "allow-git = \"a.example\"",
            "allow-git-push = \"a.example\"",
            "pip = true",
        ] {
            let text = format!("[sandbox]\ncwd = \"/tmp\"\n{line}\n");
            let (at, message) = words_of(&text, "exec", false).unwrap_err();
            assert!(at == 3 && message.contains("--config tidebox.toml"), "{line}: {at} {message}");
            assert!(words_of(&text, "exec", true).is_ok(), "{line}");
        }
        assert!(words_of("[exec]\npublish = \"80\"\n", "exec", false).is_err());
        assert!(words_of("[serve]\nlisten = \"0.0.0.0:1\"\nkey = \"k\"\n", "exec", false).is_err());
        let harmless = "[sandbox]\ntimeout = 1\nenv = {A = \"1\"}\nlimits = \"memory=1M\"\n[exec]\njson = true\n";
        assert_eq!(words_of(harmless, "exec", false).unwrap().len(), 4);
    }

    #[test]
    fn errors_name_the_line_and_suggest_a_key() {
        for (text, line, expected) in [
            ("[sandbox]\n\nmout = \"a:b\"\n", 3, "unknown key `mout` in [sandbox]; did you mean `mount`?"),
            ("[sandbox]\njson = true\n", 2, "unknown key `json` in [sandbox]"),
            ("[exce]\n", 1, "unknown table `exce`; did you mean `exec`?"),
            ("[zzz]\n", 1, "unknown table `zzz`; expected one of: sandbox, exec, shell"),
            ("timeout = 1\n", 1, "unknown table `timeout`"),
            ("exec = 1\n", 1, "`exec` is not a table"),
            ("[sandbox]\ntimeout = -1\n", 2, "expected seconds greater than 0"),
            ("[sandbox]\ntimeout = [1]\n", 2, "`timeout` cannot be a value of the type array"),
            ("[sandbox]\nlimits = { speed = 1 }\n", 2, "unknown limit \"speed\""),
            ("[sandbox]\noutput-overflow = \"tial\"\n", 2, "possible values: head, tail, stop"),
            ("[shell]\ntimeout = 0\n", 2, "expected seconds greater than 0"),
            ("[sandbox]\npip = 1\n", 2, "`pip` must be true or false"),
            ("[sandbox]\nenv = { A = true }\n", 2, "`A` cannot be a value of the type boolean"),
            ("[sandbox]\nx\n", 2, ""),
        ] {
            let (at, message) = words_of(text, "exec", true).unwrap_err();
            assert!(at == line && message.contains(expected), "{text:?}: {at}: {message}");
        }
    }
}
