//! `sdiff`: side-by-side output of `diff`.

use tidebox_gnu::exit::IntoExitCode;
use tidebox_gnu::options::Syntax;

use crate::Failure;
use crate::diff;
use crate::diff3::only_diff;

const USAGE: &str = "\
Usage: sdiff [OPTION]... FILE1 FILE2
Prints FILE1 and FILE2 side by side.

";

const NOTES: &str = "\n\
A FILE that is - is standard input. Exit code: 0 same, 1 different, 2 trouble.
";

const VERSION: &str =
    "sdiff (GNU diffutils) 3.8\nTidebox's sdiff does what that version does. It is free under MIT or Apache-2.0.\n";

tidebox_gnu::options! {
    /// Options of `sdiff`.
    enum Flag {
        IgnoreCase = "-i, --ignore-case", "ignore case";
        IgnoreTabExpansion = "-E, --ignore-tab-expansion", "ignore whether blanks are tabs";
        IgnoreTrailingSpace = "-Z, --ignore-trailing-space", "ignore white space at the ends of lines";
        IgnoreSpaceChange = "-b, --ignore-space-change", "ignore the amount of white space";
        IgnoreAllSpace = "-W, --ignore-all-space", "ignore white space";
        IgnoreBlankLines = "-B, --ignore-blank-lines", "ignore changes that are all blank lines";
        IgnoreMatchingLines = "-I, --ignore-matching-lines=RE", "ignore changes where all lines match RE";
        StripTrailingCr = "--strip-trailing-cr", "ignore carriage returns before line ends";
        Text = "-a, --text", "treat all files as text";
        Width = "-w, --width=NUM", "print at most NUM (130) columns";
        LeftColumn = "-l, --left-column", "print common lines on the left only";
        SuppressCommonLines = "-s, --suppress-common-lines", "do not print common lines";
        ExpandTabs = "-t, --expand-tabs", "print tabs as spaces";
        Tabsize = "--tabsize=NUM", "tab stops are at every NUM columns (8)";
        Minimal = "-d, --minimal", "find the smallest set of changes";
        SpeedLargeFiles = "-H, --speed-large-files", "accepted";
        Help = "--help", "print this help";
        Version = "-v, --version", "print the version";
        DiffProgram = "--diff-program=X", "";
        Output = "-o, --output=FILE", "", unsupported "interactive merging (-o) is not supported; use diff3 -m or patch";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("sdiff", USAGE, 31) };

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let last = arguments.last().cloned().unwrap_or_else(|| b"sdiff".to_vec());
    // Options for `diff`.
    let mut line = vec![b"-y".to_vec()];
    let mut names = LINE.parse(arguments, |key, value| {
        match key {
            Flag::DiffProgram => only_diff(&value)?,
            key => line.push(option_of_diff(key, &value)),
        }
        Ok(())
    })?;
    let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match names.as_slice() {
        [_, _] => {}
        [_, _, extra, ..] => return Err(Failure::Usage(format!("extra operand '{}'", shown(extra)))),
        _ => return Err(Failure::Usage(format!("missing operand after '{}'", shown(&last)))),
    }
    line.push(b"--".to_vec());
    line.append(&mut names);
    // `sdiff` runs `diff`, so that error messages have the name of `diff`.
    Ok(diff::main(line).unwrap_or_else(|failure| failure.into_exit_code("diff")))
}

/// The equivalent option of `diff`.
fn option_of_diff(key: Flag, value: &[u8]) -> Vec<u8> {
    let (name, takes): (&[u8], bool) = match key {
        Flag::LeftColumn => (b"--left-column", false),
        Flag::SuppressCommonLines => (b"--suppress-common-lines", false),
        Flag::IgnoreAllSpace => (b"-w", false),
        Flag::Width => (b"--width=", true),
        Flag::IgnoreMatchingLines => (b"-I", true),
        Flag::StripTrailingCr => (b"--strip-trailing-cr", false),
        Flag::Tabsize => (b"--tabsize=", true),
        Flag::IgnoreCase => (b"-i", false),
        Flag::IgnoreTabExpansion => (b"-E", false),
        Flag::IgnoreTrailingSpace => (b"-Z", false),
        Flag::IgnoreSpaceChange => (b"-b", false),
        Flag::IgnoreBlankLines => (b"-B", false),
        Flag::Text => (b"-a", false),
        Flag::ExpandTabs => (b"-t", false),
        Flag::Minimal => (b"-d", false),
        Flag::SpeedLargeFiles => (b"-H", false),
        Flag::Output | Flag::DiffProgram | Flag::Help | Flag::Version => (b"", false),
    };
    if takes { [name, value].concat() } else { name.to_vec() }
}
