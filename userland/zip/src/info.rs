//! `zipinfo`, which is also `unzip -Z`.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::mode::letters;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::zone::Zone;

use crate::archive::{Archive, has_owner};
use crate::entry::{DEFLATED, ENCRYPTED, Entry, STORED, STREAMED};
use crate::pattern::Selection;
use crate::unzip::open;
use crate::words::{Out, display, print_parts};

const USAGE: &str = "\
ZipInfo 3.00 of 20 April 2009, by Greg Roelofs and the Info-ZIP group.

List name, date/time, attribute, size, compression method, etc., about files
in list (excluding those in xlist) contained in the specified .zip archive(s).
\"file[.zip]\" may be a wildcard name containing *, ?, [] (e.g., \"[a-j]*.zip\").

   usage:  zipinfo [-1shtz] file[.zip] [list...] [-x xlist...]
      or:  unzip -Z [-1shtz] file[.zip] [list...] [-x xlist...]

";

tidebox_gnu::options! {
    /// Options of `zipinfo`.
    enum Flag {
        Names = "-1", "filenames ONLY, one per line";
        Short = "-s", "short Unix \"ls -l\" format (def.)";
        Header = "-h", "print header line";
        Totals = "-t", "print totals for listed files or for all";
        Comment = "-z", "print zipfile comment";
        NoEffect = "-M, -C, -U, -Z", "";
        Unsupported = "-2, -l, -m, -T, -v", "", unsupported "-2, -l, -m, -T and -v are not supported by this zipinfo";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { permute: false, ..Syntax::new("zipinfo", USAGE, 6) };

/// Exit code of an invalid command line.
const INVALID_OPTION: i32 = 10;

/// Output sections that the options request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sections {
    header: bool,
    comment: bool,
    names: bool,
    lines: bool,
    totals: bool,
}

impl Sections {
    fn any(self) -> bool {
        self != Self::default()
    }
}

/// Parsed command line.
struct Request {
    sections: Sections,
    archive: Option<Vec<u8>>,
    /// Names, and exclusions after `-x`.
    names: Vec<Vec<u8>>,
}

/// Parses the arguments. An error is the exit code.
fn read(arguments: Vec<Vec<u8>>) -> Result<Request, i32> {
    let mut sections = Sections::default();
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item() {
            Ok(None) => return Ok(Request { sections, archive: None, names: Vec::new() }),
            Ok(Some(Item::Operand(file))) => {
                return Ok(Request { sections, archive: Some(file), names: items.remaining() });
            }
            Ok(Some(Item::Option(flag, _))) => match flag {
                Flag::Names => (sections.names, sections.lines) = (true, false),
                Flag::Short => (sections.names, sections.lines) = (false, true),
                Flag::Header => sections.header = true,
                Flag::Totals => sections.totals = true,
                Flag::Comment => sections.comment = true,
                Flag::NoEffect | Flag::Unsupported => {}
            },
            Err(ToolResult::Failure(message, _)) => {
                print_parts(&[b"zipinfo:  ", message.as_bytes(), b"\n"]);
                return Err(INVALID_OPTION);
            }
            Err(_) => {
                print_parts(&[LINE.help().as_bytes()]);
                return Err(INVALID_OPTION);
            }
        }
    }
}

/// Runs the tool.
pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let Request { mut sections, archive, names } = match read(arguments) {
        Ok(read) => read,
        Err(code) => return code,
    };
    let Some(file) = archive else {
        let mut out = Out::default();
        out.put(&[LINE.help().as_bytes()]);
        return 0;
    };
    let (names, not) = split(names.into_iter());
    let given = !names.is_empty() || !not.is_empty();
    let mut selection = Selection::new(names, not, false);
    let mut out = Out::default();
    let archive = match open(&file, b"zipinfo", &mut out, false) {
        Ok((_, archive)) => archive,
        Err(code) => return code,
    };
    if archive.extra > 0 {
        let text = format!(
            "]:  {} extra bytes at beginning or within zipfile\n  (attempting to process anyway)\n",
            archive.extra
        );
        print_parts(&[b"warning [", &named(&file), text.as_bytes()]);
    }
    if !sections.any() || (sections == Sections { lines: true, ..Sections::default() }) {
        sections = Sections { header: !given, lines: true, totals: !given, ..Sections::default() };
    }
    if sections.header {
        out.put(&[b"Archive:  ", &named(&file), b"\n"]);
        let text = format!("Zip file size: {} bytes, number of entries: {}\n", archive.size, archive.entries.len());
        out.put(&[text.as_bytes()]);
    }
    if sections.comment && !archive.end.comment.is_empty() {
        out.put(&[&archive.end.comment, b"\n"]);
    }
    entries(&archive, &mut selection, sections, &mut out);
    let (unmet, _) = selection.unmet();
    out.flush();
    for name in &unmet {
        print_parts(&[b"caution: filename not matched:  ", name, b"\n"]);
    }
    if unmet.is_empty() { i32::from(archive.extra > 0) } else { 11 }
}

/// Prints the selected entries and their totals.
fn entries(archive: &Archive, selection: &mut Selection, sections: Sections, out: &mut Out) {
    let (mut count, mut size, mut packed) = (0, 0u64, 0u64);
    for entry in &archive.entries {
        if !selection.takes(&entry.name) {
            continue;
        }
        count += 1;
        size = size.saturating_add(entry.size);
        // The twelve-byte encryption header does not count.
        let before = if entry.flags & ENCRYPTED != 0 { 12 } else { 0 };
        packed = packed.saturating_add(entry.packed.saturating_sub(before));
        if sections.names {
            out.put(&[&display(&entry.name), b"\n"]);
        } else if sections.lines {
            out.put(&[line(entry).as_bytes(), &display(&entry.name), b"\n"]);
        }
    }
    if sections.totals {
        let files = if count == 1 { "file" } else { "files" };
        let tenths = if size == 0 { 0.0 } else { 100.0 * (size as f64 - packed as f64) / size as f64 };
        let text = format!("{count} {files}, {size} bytes uncompressed, {packed} bytes compressed:  {tenths:.1}%\n");
        out.put(&[text.as_bytes()]);
    }
}

fn named(file: &[u8]) -> Vec<u8> {
    if tidebox_rt::stat(file, true).is_ok() { file.to_vec() } else { [file, b".zip"].concat() }
}

/// Collects names, and exclusions after `-x`.
pub(crate) fn split(words: impl Iterator<Item = Vec<u8>>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut names, mut not, mut out) = (Vec::new(), Vec::new(), false);
    for word in words {
        match word.as_slice() {
            b"-x" => out = true,
            _ if out => not.push(word),
            _ => names.push(word),
        }
    }
    (names, not)
}

fn line(entry: &Entry) -> String {
    let system = match entry.made_by >> 8 {
        0 => "fat",
        3 => "unx",
        11 => "ntf",
        19 => "osx",
        _ => "???",
    };
    let mode = match entry.mode() {
        Some(mode) => letters(mode),
        None => {
            let flag = |bit: u32, letter: char| if entry.external & bit != 0 { letter } else { '-' };
            let writes = if entry.external & 1 == 0 { 'w' } else { '-' };
            let text: String = [flag(0x10, 'd'), 'r', writes, if entry.is_dir() { 'x' } else { '-' }].iter().collect();
            format!("{text}{}{}{}   ", flag(0x20, 'a'), flag(2, 'h'), flag(4, 's'))
        }
    };
    let version = format!("{}.{}", (entry.made_by & 255) / 10, (entry.made_by & 255) % 10);
    let kind = match (entry.internal & 1, entry.flags & ENCRYPTED) {
        (1, 0) => 't',
        (1, _) => 'T',
        (_, 0) => 'b',
        _ => 'B',
    };
    let more = match (entry.flags & STREAMED != 0, !entry.extra.is_empty() || has_owner(&entry.extra)) {
        (false, false) => '-',
        (false, true) => 'x',
        (true, false) => 'l',
        (true, true) => 'X',
    };
    let method = match (entry.method, entry.flags >> 1 & 3) {
        (STORED, _) => "stor".to_owned(),
        (DEFLATED, 0) => "defN".to_owned(),
        (DEFLATED, 1) => "defX".to_owned(),
        (DEFLATED, 2) => "defF".to_owned(),
        (DEFLATED, _) => "defS".to_owned(),
        (12, _) => "bzp2".to_owned(),
        (14, _) => "lzma".to_owned(),
        (other, _) => format!("u{other:03}"),
    };
    let at = Zone::local().moment(entry.seconds(), 0);
    let month = at.field('b').unwrap_or_default();
    let date = format!("{:02}-{month}-{:02} {:02}:{:02}", at.year.rem_euclid(100), at.day, at.hour, at.minute);
    format!("{mode:<10}  {version} {system} {:>8} {kind}{more} {method} {date} ", entry.size)
}
