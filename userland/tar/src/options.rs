//! The command line.

mod apply;
mod flags;
mod lists;
mod matching;
mod settle;
mod values;

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::options::ParsedOption;

use crate::exclude::Excludes;
use crate::header::{BLOCK, Format};
use crate::transform::Transform;
use apply::Reading;
use flags::LINE;
pub(crate) use matching::How;

/// Operation of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Create,
    Extract,
    List,
    Append,
    Update,
    Delete,
    Compare,
    TestLabel,
}

/// Handling of existing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Replace,
    Overwrite,
    Keep,
    Skip,
    KeepNewer,
    UnlinkFirst,
}

/// One item to add, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A name, with the matching options at its position.
    Name(Vec<u8>, How),
    /// Directory of the names that follow.
    Folder(Vec<u8>),
}

/// An owner that replaces the real one: a name, an id or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) id: Option<u64>,
}

/// All options of one run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) archive: Vec<u8>,
    pub(crate) words: Vec<Word>,
    pub(crate) verbose: u8,
    /// The compressor: a program and its arguments.
    pub(crate) compressor: Option<Vec<Vec<u8>>>,
    /// The suffix of the archive selects it.
    pub(crate) auto_compress: bool,
    pub(crate) format: Format,
    pub(crate) record: usize,
    pub(crate) absolute: bool,
    pub(crate) follow: bool,
    pub(crate) hard_follow: bool,
    pub(crate) sorted: bool,
    pub(crate) owner: Option<Owner>,
    pub(crate) group: Option<Owner>,
    pub(crate) numeric: bool,
    /// Seconds and nanoseconds that replace the real time, and whether only if the real time is later.
    pub(crate) mtime: Option<((i64, u32), bool)>,
    /// Add only files changed since this time; with `true` status changes count too.
    pub(crate) newer: Option<((i64, u32), bool)>,
    pub(crate) file_mode: Option<tidebox_gnu::mode::Change>,
    pub(crate) excludes: Excludes,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) show_transformed: bool,
    pub(crate) strip: usize,
    pub(crate) old: Old,
    pub(crate) touch: bool,
    pub(crate) keep_modes: Option<bool>,
    pub(crate) to_stdout: bool,
    pub(crate) remove_files: bool,
    pub(crate) totals: bool,
    pub(crate) ignore_zeros: bool,
    pub(crate) ignore_failed_read: bool,
    pub(crate) full_time: bool,
    /// Existing directories keep their modes and times.
    pub(crate) keep_dirs: bool,
    /// Mount points below a directory are skipped.
    pub(crate) one_file_system: bool,
    pub(crate) keep_dir_symlink: bool,
    pub(crate) one_top_level: Option<Vec<u8>>,
    pub(crate) warnings: bool,
    /// A shell command that gets the content of each file, and whether its failures are ignored.
    pub(crate) command: Option<Vec<u8>>,
    pub(crate) ignore_command: bool,
    /// Label of the archive; when reading, the pattern that it must match.
    pub(crate) label: Option<Vec<u8>>,
    /// Start time of the run, on a monotonic clock.
    pub(crate) began: u64,
    /// Options of pax records.
    pub(crate) pax: PaxOptions,
    /// Times given as date strings: the option, the string, and the result.
    pub(crate) dates: Vec<(&'static str, Vec<u8>, (i64, u32))>,
    /// A positional option that no name follows.
    pub(crate) idle_excludes: Vec<(&'static str, Option<Vec<u8>>)>,
}

impl Options {
    /// Defaults.
    fn new() -> Self {
        Self {
            mode: Mode::List,
            archive: b"-".to_vec(),
            words: Vec::new(),
            verbose: 0,
            compressor: None,
            auto_compress: false,
            format: Format::Gnu,
            record: 20 * BLOCK,
            absolute: false,
            follow: false,
            hard_follow: false,
            sorted: false,
            owner: None,
            group: None,
            numeric: false,
            mtime: None,
            newer: None,
            file_mode: None,
            excludes: Excludes::default(),
            transforms: Vec::new(),
            show_transformed: false,
            strip: 0,
            old: Old::Replace,
            touch: false,
            keep_modes: None,
            to_stdout: false,
            remove_files: false,
            totals: false,
            ignore_zeros: false,
            ignore_failed_read: false,
            full_time: false,
            keep_dirs: false,
            one_file_system: false,
            keep_dir_symlink: false,
            one_top_level: None,
            warnings: true,
            command: None,
            ignore_command: false,
            label: None,
            began: tidebox_rt::monotonic_ns(),
            pax: PaxOptions::default(),
            dates: Vec::new(),
            idle_excludes: Vec::new(),
        }
    }
}

/// Options of pax records.
#[derive(Clone, Debug)]
pub(crate) struct PaxOptions {
    /// Excluded keys.
    pub(crate) deletes: Vec<String>,
    /// Name of the record headers.
    pub(crate) name: String,
}

impl Default for PaxOptions {
    fn default() -> Self {
        Self { deletes: Vec::new(), name: "%d/PaxHeaders/%f".to_owned() }
    }
}

/// Error of the command line.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A text for standard output.
    Print(String),
    /// Invalid usage, with exit code and hint.
    Usage(i32, String),
    /// An operation that is not possible.
    Fatal(Vec<u8>),
    /// A value that is not in a list.
    Invalid(Vec<u8>),
}

impl FromEarlyExit for Stop {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        match answer {
            ToolResult::Print(text) | ToolResult::PrintAndCode(text, _) => {
                Self::Print(String::from_utf8_lossy(&text).into_owned())
            }
            ToolResult::Usage(message, code) => Self::Usage(code, message),
            ToolResult::Failure(message, _) => Self::Fatal(message.into_bytes()),
            ToolResult::Code(_) => Self::Print(String::new()),
        }
    }
}

/// Parses the command line.
pub(crate) fn read(arguments: Vec<Vec<u8>>) -> Result<Options, Stop> {
    let mut reading = Reading::new();
    let mut all = Vec::new();
    if let Some(preset) = tidebox_rt::environ().iter().find_map(|variable| variable.strip_prefix(b"TAR_OPTIONS=")) {
        all.extend(preset.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
    }
    all.extend(without_dash(arguments)?);
    let mut items = LINE.items(all);
    while let Some(item) = items.next_item::<Stop>()? {
        match item {
            Item::Operand(name) => reading.name(name),
            Item::Option(id, value) => {
                reading.set(ParsedOption { id, letter: None, value: value.unwrap_or_default() })?;
            }
        }
    }
    reading.finish()
}

/// Adds the dashes if the first argument is a group of options without one. Their values follow in order.
fn without_dash(arguments: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Stop> {
    let mut rest = arguments.into_iter();
    let Some(first) = rest.next() else {
        return Ok(Vec::new());
    };
    if first.first() == Some(&b'-') || first.is_empty() {
        return Ok(std::iter::once(first).chain(rest).collect());
    }
    let mut words = Vec::new();
    for letter in &first {
        let letter = char::from(*letter);
        words.push(format!("-{letter}").into_bytes());
        if LINE.takes_value(letter) {
            let value = rest.next();
            words.push(value.ok_or_else(|| Stop::Usage(2, format!("Old option '{letter}' requires an argument.")))?);
        }
    }
    Ok(words.into_iter().chain(rest).collect())
}
