//! The command line.

mod lists;
mod matching;
mod owners;
mod reading;
mod settle;
mod values;

use tidebox_gnu::backup::Backup;
use tidebox_gnu::getopt::{Item, Parser, Spec};
use tidebox_rt::Errno;

use crate::checkpoint::Checkpoints;
use crate::exclude::{Excludes, IgnoreFile};
use crate::flags::{LONG, SHORT};
use crate::header::{BLOCK, Format};
use crate::transform::Transform;
pub(crate) use matching::How;
use owners::OwnerMap;
use reading::Reading;
pub(crate) use values::by_suffix;

/// What the run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Create,
    Extract,
    List,
    Append,
    Update,
    Concatenate,
    Delete,
    Compare,
    TestLabel,
}

/// What happens to files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Replace,
    Overwrite,
    Keep,
    Skip,
    KeepNewer,
    UnlinkFirst,
}

/// One thing to put in, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A name, and how it is to be read where it stood.
    Name(Vec<u8>, How),
    /// Names that follow are below this folder.
    Folder(Vec<u8>),
}

/// An owner to write in place of the real one: a name, an id or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) id: Option<u64>,
}

/// Everything that one run was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) archive: Vec<u8>,
    pub(crate) words: Vec<Word>,
    pub(crate) verbose: u8,
    /// What compresses: a program and its arguments.
    pub(crate) compressor: Option<Vec<Vec<u8>>>,
    /// The suffix of the archive names it.
    pub(crate) auto_compress: bool,
    pub(crate) format: Format,
    pub(crate) record: usize,
    pub(crate) absolute: bool,
    pub(crate) follow: bool,
    pub(crate) hard_follow: bool,
    pub(crate) sorted: bool,
    pub(crate) owner: Option<Owner>,
    pub(crate) group: Option<Owner>,
    /// What is written in place of owners and groups of some ids.
    pub(crate) owner_map: OwnerMap,
    pub(crate) group_map: OwnerMap,
    pub(crate) numeric: bool,
    /// Seconds and nanoseconds to write in place of the real time, and whether only where that is later.
    pub(crate) mtime: Option<((i64, u32), bool)>,
    /// Only what was changed since; with `true` also what only its state was changed of.
    pub(crate) newer: Option<((i64, u32), bool)>,
    pub(crate) file_mode: Option<tidebox_gnu::mode::Change>,
    pub(crate) excludes: Excludes,
    pub(crate) tags: Vec<(Vec<u8>, TagRule)>,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) show_transformed: bool,
    pub(crate) strip: usize,
    pub(crate) old: Old,
    pub(crate) touch: bool,
    pub(crate) keep_modes: Option<bool>,
    pub(crate) keep_owner: Option<bool>,
    pub(crate) to_stdout: bool,
    pub(crate) remove_files: bool,
    pub(crate) totals: bool,
    pub(crate) ignore_zeros: bool,
    pub(crate) ignore_failed_read: bool,
    pub(crate) full_time: bool,
    pub(crate) block_numbers: bool,
    pub(crate) check_links: bool,
    /// Folders that are there keep their modes and times.
    pub(crate) keep_dirs: bool,
    /// What is mounted below a folder is left out.
    pub(crate) one_file_system: bool,
    pub(crate) keep_dir_symlink: bool,
    pub(crate) one_top_level: Option<Vec<u8>>,
    pub(crate) occurrence: Option<u64>,
    /// Nothing is taken before a member of this name.
    pub(crate) start: Option<Vec<u8>>,
    pub(crate) warnings: bool,
    /// Somebody is asked about each file.
    pub(crate) asks: bool,
    /// What was written is read again and compared with the files.
    pub(crate) verify: bool,
    /// Lines about members go to this file.
    pub(crate) index_file: Option<Vec<u8>>,
    /// A command of the shell that gets the bytes of each file, and whether its failures count for nothing.
    pub(crate) command: Option<Vec<u8>>,
    pub(crate) ignore_command: bool,
    /// After so many records something is said or done.
    pub(crate) checkpoints: Option<Checkpoints>,
    /// What is in the way is renamed.
    pub(crate) backup: Backup,
    /// The label of the archive; one that is read must match it.
    pub(crate) label: Option<Vec<u8>>,
    /// Files of folders that list what is left out.
    pub(crate) ignore_files: Vec<IgnoreFile>,
    /// When the run began, by a clock that never goes back.
    pub(crate) began: u64,
    /// What was said of records of POSIX.
    pub(crate) pax: PaxOptions,
    /// Times that were given in words: the option, the words, and what was read.
    pub(crate) dates: Vec<(&'static str, Vec<u8>, (i64, u32))>,
    /// An option that only counts for names after it, of which there are none.
    pub(crate) idle_excludes: Vec<(&'static str, Option<Vec<u8>>)>,
}

impl Options {
    /// What a run does that nothing was asked of.
    fn new() -> Self {
        let archive = tidebox_rt::environ().iter().find_map(|variable| Some(variable.strip_prefix(b"TAPE=")?.to_vec()));
        Self {
            mode: Mode::List,
            archive: archive.unwrap_or_else(|| b"-".to_vec()),
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
            owner_map: OwnerMap::new(),
            group_map: OwnerMap::new(),
            numeric: false,
            mtime: None,
            newer: None,
            file_mode: None,
            excludes: Excludes::default(),
            tags: Vec::new(),
            transforms: Vec::new(),
            show_transformed: false,
            strip: 0,
            old: Old::Replace,
            touch: false,
            keep_modes: None,
            keep_owner: None,
            to_stdout: false,
            remove_files: false,
            totals: false,
            ignore_zeros: false,
            ignore_failed_read: false,
            full_time: false,
            block_numbers: false,
            check_links: false,
            keep_dirs: false,
            one_file_system: false,
            keep_dir_symlink: false,
            one_top_level: None,
            occurrence: None,
            start: None,
            warnings: true,
            asks: false,
            verify: false,
            index_file: None,
            command: None,
            ignore_command: false,
            checkpoints: None,
            backup: Backup::called("--backup"),
            label: None,
            ignore_files: Vec::new(),
            began: tidebox_rt::monotonic_ns(),
            pax: PaxOptions::default(),
            dates: Vec::new(),
            idle_excludes: Vec::new(),
        }
    }
}

/// What was said of records of POSIX.
#[derive(Clone, Debug)]
pub(crate) struct PaxOptions {
    /// Keys that are left out.
    pub(crate) deletes: Vec<String>,
    /// The name that records stand under.
    pub(crate) name: String,
    /// Records for the whole archive, and for every member.
    pub(crate) global: Vec<(String, Vec<u8>)>,
    pub(crate) each: Vec<(String, Vec<u8>)>,
}

impl Default for PaxOptions {
    fn default() -> Self {
        let name = "%d/PaxHeaders/%f".to_owned();
        Self { deletes: Vec::new(), name, global: Vec::new(), each: Vec::new() }
    }
}

/// What of a folder that holds a certain file is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagRule {
    /// The folder and that file.
    KeepTag,
    /// The folder.
    KeepFolder,
    Nothing,
}

/// Why the run ends before it begins.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A text for standard output.
    Print(String),
    /// A wrong use, which ends with this code and a hint.
    Usage(i32, String),
    /// What cannot be done.
    Fatal(Vec<u8>),
    /// A value that is none of a list.
    NoSuch(Vec<u8>),
}

const VERSION_TEXT: &str = "tar (GNU tar) 1.34\nThis is the tar of Tidebox, which does what GNU tar does.\n";

/// Reads the command line.
pub(crate) fn read(arguments: Vec<Vec<u8>>) -> Result<Options, Stop> {
    let mut reading = Reading::new();
    let mut all = Vec::new();
    if let Some(preset) = tidebox_rt::environ().iter().find_map(|variable| variable.strip_prefix(b"TAR_OPTIONS=")) {
        all.extend(preset.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
    }
    all.extend(without_dash(arguments)?);
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, all);
    loop {
        match parser.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(name))) => reading.name(name),
            Ok(Some(Item::Option(key, value))) => reading.set(key, value)?,
            Err(message) => return Err(Stop::Usage(64, message)),
        }
    }
    reading.finish()
}

/// The first word may be options without a dash, whose values follow it one after the other.
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
        let valued = SHORT.split_once(letter).is_some_and(|(_, after)| after.starts_with(':'));
        if valued {
            let value = rest.next();
            words.push(value.ok_or_else(|| Stop::Usage(2, format!("Old option '{letter}' requires an argument.")))?);
        }
    }
    Ok(words.into_iter().chain(rest).collect())
}

/// The whole of a file; `-` is standard input.
pub(crate) fn whole(name: &[u8]) -> Result<Vec<u8>, Errno> {
    let fd = match name {
        b"-" => 0,
        _ => tidebox_rt::open(name, tidebox_rt::Open { read: true, ..tidebox_rt::Open::default() })?,
    };
    let mut text = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match tidebox_rt::read(fd, &mut chunk) {
            Ok(0) => break,
            Ok(got) => text.extend_from_slice(chunk.get(..got).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    if fd != 0 {
        tidebox_rt::close(fd)?;
    }
    Ok(text)
}
