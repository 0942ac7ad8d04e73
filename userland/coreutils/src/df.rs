//! `df`: usage of file systems.
//!
//! The size of the sandbox's own file system is its limit, and the sum of its files is used. Sizes of mounted host directories
//! are unknown.

mod table;

use tidebox_gnu::disk_usage::DiskUsage;
use tidebox_gnu::message::{bytes_path, display_name, print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Output, read_all};

use crate::common::block_size::{Unit, block_size, of_environment, wrong_size};
use table::table;

const USAGE: &str = "\
Usage: df [OPTION]... [FILE]...
Prints the usage of the file system of each FILE, or of all file systems.

";

tidebox_gnu::options! {
    /// Options of `df`.
    enum Flag {
        All = "-a, --all", "include file systems without a size";
        BlockSize = "-B, --block-size=SIZE", "scale sizes by SIZE before printing them";
        HumanReadable = "-h, --human-readable", "print sizes in powers of 1024";
        Si = "-H, --si", "print sizes in powers of 1000";
        Inodes = "-i, --inodes", "list inode information instead of block usage";
        Kibibytes = "-k", "like --block-size=1K";
        Local = "-l, --local", "has no effect: all file systems are local";
        Mebibytes = "-m", "like --block-size=1M";
        Sync = "--no-sync, --sync", "has no effect";
        Output = "--output[=FIELDS]",
            "print these fields: source fstype itotal iused iavail ipcent size used avail pcent file target";
        Portability = "-P, --portability", "use the POSIX output format";
        Total = "--total", "print a grand total";
        Type = "-t, --type=TYPE", "print only file systems of this type";
        PrintType = "-T, --print-type", "print the type of each file system";
        ExcludeType = "-x, --exclude-type=TYPE", "skip file systems of this type";
        FileSystemType = "-F X", "";
        Ignored = "-v", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("df", USAGE, 24);

/// Columns of `--output`, in the order of the manual.
const FIELDS: &[&str] =
    &["source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file", "target"];

struct Options {
    all: bool,
    unit: Unit,
    inodes: bool,
    posix: bool,
    types: bool,
    total: bool,
    fields: Option<Vec<&'static str>>,
    only: Vec<Vec<u8>>,
    except: Vec<Vec<u8>>,
}

/// A file system, or the sum of some.
#[derive(Clone, Debug, Default)]
struct Mount {
    source: String,
    kind: String,
    target: String,
    /// The operand that selected this file system.
    file: String,
    /// Total and used bytes; `None` if unknown.
    bytes: Option<(u64, u64)>,
    /// Total and used inodes. The total is 0: only bytes limit the number of files.
    inodes: Option<(u64, u64)>,
}

/// Runs `df`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options {
        all: false,
        unit: of_environment(&["DF_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]),
        inodes: false,
        posix: false,
        types: false,
        total: false,
        fields: None,
        only: Vec::new(),
        except: Vec::new(),
    };
    let files = match LINE.parse(arguments, |key, value| set(&mut options, key, value)) {
        Ok(files) => files,
        Err(code) => return code,
    };
    if let Some(other) = exclusive(&options) {
        return LINE.usage_error(format!("options {other} and --output are mutually exclusive"));
    }
    let mut failed = false;
    let mounts = select(&options, &files, &mut failed);
    if mounts.is_empty() {
        if !failed {
            print_error("df", "no file systems processed");
        }
        return 1;
    }
    let mut out = Output::standard();
    out.push(table(&options, mounts).as_bytes());
    out.finish("df", i32::from(failed))
}

fn invalid_field(name: &[u8], reason: &str) -> i32 {
    LINE.usage_error(format!("option --output: field {} {reason}", quote_value(name)))
}

/// Returns the option that cannot be combined with `--output`.
fn exclusive(options: &Options) -> Option<&'static str> {
    options.fields.as_ref()?;
    match (options.inodes, options.posix, options.types) {
        (true, ..) => Some("-i"),
        (_, true, _) => Some("-P"),
        (_, _, true) => Some("-T"),
        _ => None,
    }
}

fn set(options: &mut Options, key: Flag, text: Vec<u8>) -> Result<(), i32> {
    match key {
        Flag::All => options.all = true,
        Flag::BlockSize => {
            options.unit = block_size(&String::from_utf8_lossy(&text)).ok_or_else(|| {
                print_error("df", &wrong_size("-B", &text));
                1
            })?;
        }
        Flag::HumanReadable => options.unit = Unit::Human(1024),
        Flag::Si => options.unit = Unit::Human(1000),
        Flag::Inodes => options.inodes = true,
        Flag::Kibibytes => options.unit = Unit::Bytes(1024),
        Flag::Mebibytes => options.unit = Unit::Bytes(1 << 20),
        Flag::Portability => options.posix = true,
        Flag::PrintType => options.types = true,
        Flag::Type => options.only.push(text),
        Flag::ExcludeType => options.except.push(text),
        Flag::Total => options.total = true,
        Flag::Output => {
            let fields = options.fields.get_or_insert_default();
            if text.is_empty() {
                fields.extend(FIELDS);
            }
            for name in text.split(|byte| *byte == b',').filter(|name| !name.is_empty()) {
                match FIELDS.iter().find(|known| known.as_bytes() == name) {
                    Some(known) if fields.contains(known) => {
                        return Err(invalid_field(name, "used more than once"));
                    }
                    Some(known) => fields.push(known),
                    None => return Err(invalid_field(name, "unknown")),
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Mounts listed by the kernel.
fn mounted() -> Vec<Mount> {
    let text = read_all(b"/proc/mounts").unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mount = |line: &str| {
        let mut words = line.split(' ').map(unescaped);
        let (source, target, kind) = (words.next()?, words.next()?, words.next()?);
        Some(Mount { source, kind, target, file: "-".to_owned(), ..Mount::default() })
    };
    text.lines().filter_map(mount).collect()
}

/// Decodes the octal escapes of blanks in paths.
fn unescaped(word: &str) -> String {
    let mut out = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                out.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the file systems to print, with their sizes.
fn select(options: &Options, files: &[Vec<u8>], failed: &mut bool) -> Vec<Mount> {
    let all = mounted();
    let mut found = Vec::new();
    if files.is_empty() {
        found = all.into_iter().filter(|mount| options.all || mount.kind != "proc").collect();
    }
    for file in files {
        let path = std::fs::canonicalize(bytes_path(file));
        let shown = String::from_utf8_lossy(file).into_owned();
        let path = match (tidebox_rt::stat(file, true), path) {
            (Err(errno), _) => {
                print_error("df", &format!("{}: {}", display_name(file), errno.text()));
                *failed = true;
                continue;
            }
            (Ok(_), path) => path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_else(|_| shown.clone()),
        };
        let holds = |mount: &&Mount| {
            let below = path.strip_prefix(&mount.target);
            mount.target == "/" || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let best = mounted().iter().filter(holds).max_by_key(|mount| mount.target.len()).cloned();
        found.extend(best.map(|mount| Mount { file: shown, ..mount }));
    }
    found.retain(|mount| {
        let is = |kinds: &[Vec<u8>]| kinds.iter().any(|kind| kind == mount.kind.as_bytes());
        (options.only.is_empty() || is(&options.only)) && !is(&options.except)
    });
    let mut usage: Option<DiskUsage> = None;
    for mount in found.iter_mut().filter(|mount| mount.target == "/") {
        let usage = *usage.get_or_insert_with(DiskUsage::measure);
        mount.bytes = Some((usage.total, usage.used));
        mount.inodes = Some((0, usage.files));
    }
    found
}
