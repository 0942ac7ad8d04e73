//! `df`: how full file systems are.
//!
//! The kernel keeps one file system of the sandbox's own, whose size is what the limits allow; what is used of it is the sum of
//! its files. Of what is mounted from outside nobody knows the size.

mod table;
use tidebox_gnu::disk_usage::DiskUsage;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Output, read_all};
use tidebox_gnu::tool::usage;

use crate::common::curly;
use table::table;

const USAGE: &str = "\
Usage: df [OPTION]... [FILE]...
Shows how full the file system of each FILE is, or all of them.

";

tidebox_gnu::options! {
    /// Options of `df`.
    enum Flag {
        All = "-a, --all", "file systems without a size too";
        BlockSize = "-B, --block-size=SIZE", "scale sizes by SIZE before printing them";
        HumanReadable = "-h, --human-readable", "print sizes in powers of 1024";
        Si = "-H, --si", "print sizes in powers of 1000";
        Inodes = "-i, --inodes", "list inode information instead of block usage";
        Kibibytes = "-k", "like --block-size=1K";
        Local = "-l, --local", "local file systems only (they all are)";
        Mebibytes = "-m", "like --block-size=1M";
        Sync = "--no-sync, --sync", "(have no effect)";
        Output = "--output[=FIELDS]",
            "print these fields: source fstype itotal iused iavail ipcent size used avail pcent file target";
        Portability = "-P, --portability", "use the POSIX output format";
        Total = "--total", "print a grand total";
        Type = "-t, --type=TYPE", "file systems of this type only";
        PrintType = "-T, --print-type", "print the type of each file system";
        ExcludeType = "-x, --exclude-type=TYPE", "no file systems of this type";
        FileSystemType = "-F X", "";
        Ignored = "-v", "";
    }
}

/// The name of a column, in the order of the manual.
const FIELDS: &[&str] =
    &["source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file", "target"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes(u64),
    Human(u64),
}

struct Options {
    all: bool,
    unit: Unit,
    /// How the size of blocks is called at the top.
    unit_name: String,
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
    /// Inodes: used. There is no bound on their number but that of bytes.
    inodes: Option<(u64, u64)>,
}

/// Runs `df`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options {
        all: false,
        unit: Unit::Bytes(1024),
        unit_name: "1K-blocks".to_owned(),
        inodes: false,
        posix: false,
        types: false,
        total: false,
        fields: None,
        only: Vec::new(),
        except: Vec::new(),
    };
    if std::env::var_os("POSIXLY_CORRECT").is_some() {
        (options.unit, options.unit_name) = (Unit::Bytes(512), "512B-blocks".to_owned());
    }
    let line = Syntax::core("df", USAGE, 24);
    let files = match line.parse(arguments, |key, value| set(&mut options, key, value)) {
        Ok(files) => files,
        Err(code) => return code,
    };
    if let Some(other) = exclusive(&options) {
        return line.usage_error(format!("options {other} and --output are mutually exclusive"));
    }
    let mut failed = false;
    let mounts = chosen(&options, &files, &mut failed);
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
        Flag::BlockSize => match block_size(&String::from_utf8_lossy(&text)) {
            Some((unit, name)) => (options.unit, options.unit_name) = (unit, name),
            None => {
                print_error("df", &format!("invalid -B argument '{}'", String::from_utf8_lossy(&text)));
                return Err(1);
            }
        },
        Flag::HumanReadable => options.unit = Unit::Human(1024),
        Flag::Si => options.unit = Unit::Human(1000),
        Flag::Inodes => options.inodes = true,
        Flag::Kibibytes => (options.unit, options.unit_name) = (Unit::Bytes(1024), "1K-blocks".to_owned()),
        Flag::Mebibytes => (options.unit, options.unit_name) = (Unit::Bytes(1 << 20), "1M-blocks".to_owned()),
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
                        return Err(usage(
                            "df",
                            &format!("option --output: field {} used more than once", curly(name)),
                            1,
                        ));
                    }
                    Some(known) => fields.push(known),
                    None => return Err(usage("df", &format!("option --output: field {} unknown", curly(name)), 1)),
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Reads `1K`, `M`, `512`, `1MB`, `human-readable`, and says what blocks of that size are called.
fn block_size(text: &str) -> Option<(Unit, String)> {
    match text {
        "human-readable" => return Some((Unit::Human(1024), String::new())),
        "si" => return Some((Unit::Human(1000), String::new())),
        _ => {}
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at_checked(digits)?;
    let number: u64 = if number.is_empty() { 1 } else { number.parse().ok().filter(|number| *number > 0)? };
    let mut letters = suffix.chars();
    let (scale, name) = match letters.next() {
        None => (1, format!("{number}B")),
        Some(letter) => {
            let power = u32::try_from("KMGTPE".find(letter.to_ascii_uppercase())? + 1).ok()?;
            let base: u64 = match letters.as_str() {
                "" | "iB" => 1024,
                "B" => 1000,
                _ => return None,
            };
            let unit = if base == 1000 { "B" } else { "" };
            let letter = if base == 1000 && power == 1 { 'k' } else { letter.to_ascii_uppercase() };
            (base.checked_pow(power)?, format!("{number}{letter}{unit}"))
        }
    };
    let size = number.checked_mul(scale)?;
    let name =
        if size.is_multiple_of(1024) && suffix.is_empty() && size >= 1024 { format!("{}K", size / 1024) } else { name };
    Some((Unit::Bytes(size), format!("{name}-blocks")))
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

/// Blanks in paths are written as octal numbers there.
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

/// The file systems to show, with their sizes.
fn chosen(options: &Options, files: &[Vec<u8>], failed: &mut bool) -> Vec<Mount> {
    let all = mounted();
    let mut found = Vec::new();
    if files.is_empty() {
        found = all.into_iter().filter(|mount| options.all || mount.kind != "proc").collect();
    }
    for file in files {
        let path = std::fs::canonicalize(tidebox_gnu::message::bytes_path(file));
        let shown = String::from_utf8_lossy(file).into_owned();
        let path = match (tidebox_rt::stat(file, true), path) {
            (Err(errno), _) => {
                print_error("df", &format!("{}: {}", tidebox_gnu::message::display_name(file), errno.text()));
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
    let mut room: Option<DiskUsage> = None;
    for mount in found.iter_mut().filter(|mount| mount.target == "/") {
        let room = *room.get_or_insert_with(DiskUsage::measure);
        mount.bytes = Some((room.total, room.used));
        mount.inodes = Some((0, room.files));
    }
    found
}
