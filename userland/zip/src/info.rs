//! `zipinfo`, which is also `unzip -Z`.

use tidebox_gnu::mode::letters;
use tidebox_gnu::zone::Zone;

use crate::archive::has_owner;
use crate::entry::{DEFLATED, ENCRYPTED, Entry, STORED, STREAMED};
use crate::pattern::Wanted;
use crate::unzip::open;
use crate::words::{Out, shown, tell};

const USAGE: &str = "\
ZipInfo 3.00 of 20 April 2009, by Greg Roelofs and the Info-ZIP group.

List name, date/time, attribute, size, compression method, etc., about files
in list (excluding those in xlist) contained in the specified .zip archive(s).
\"file[.zip]\" may be a wildcard name containing *, ?, [] (e.g., \"[a-j]*.zip\").

   usage:  zipinfo [-12smlhtz] file[.zip] [list...] [-x xlist...]
      or:  unzip -Z [-12smlhtz] file[.zip] [list...] [-x xlist...]

main listing-format options:             -s  short Unix \"ls -l\" format (def.)
  -1  filenames ONLY, one per line       -m  medium Unix \"ls -l\" format
  -2  just filenames but allow -h/-t/-z  -l  long Unix \"ls -l\" format
miscellaneous options:
  -h  print header line       -t  print totals for listed files or for all
  -z  print zipfile comment
";

/// Listing format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Names,
    NamesWithMore,
    Short,
    Medium,
    Long,
}

/// Runs the tool.
pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut form = None;
    let (mut heading, mut totals, mut comment) = (false, false, false);
    let mut words = arguments.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.len() > 1 && word.starts_with(b"-")) {
        for letter in word.iter().skip(1) {
            match letter {
                b'1' => form = Some(Form::Names),
                b'2' => form = Some(Form::NamesWithMore),
                b's' => form = Some(Form::Short),
                b'm' => form = Some(Form::Medium),
                b'l' => form = Some(Form::Long),
                b'h' => heading = true,
                b't' => totals = true,
                b'z' => comment = true,
                b'M' | b'C' | b'U' | b'Z' => {}
                b'v' | b'T' => {
                    tell(&[b"zipinfo:  -v and -T are not supported by this zipinfo\n"]);
                    return 10;
                }
                _ => {
                    tell(&[USAGE.as_bytes()]);
                    return 10;
                }
            }
        }
    }
    let Some(file) = words.next() else {
        let mut out = Out::default();
        out.put(&[USAGE.as_bytes()]);
        return 0;
    };
    let (names, not) = split(words);
    let given = !names.is_empty() || !not.is_empty();
    let mut wanted = Wanted::new(names, not, false);
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
        tell(&[b"warning [", &named(&file), text.as_bytes()]);
    }
    let asked = form.is_some() || heading || totals || comment;
    let everything =
        !asked || (matches!(form, Some(Form::Short | Form::Medium | Form::Long)) && !heading && !totals && !comment);
    let form = form.or((!asked).then_some(Form::Short));
    let (heading, totals) = (heading || (everything && !given), totals || (everything && !given));
    if heading {
        out.put(&[b"Archive:  ", &named(&file), b"\n"]);
        let text = format!("Zip file size: {} bytes, number of entries: {}\n", archive.size, archive.entries.len());
        out.put(&[text.as_bytes()]);
    }
    if comment && !archive.end.comment.is_empty() {
        out.put(&[&archive.end.comment, b"\n"]);
    }
    let (mut count, mut size, mut packed) = (0, 0u64, 0u64);
    for entry in &archive.entries {
        if !wanted.takes(&entry.name) {
            continue;
        }
        count += 1;
        size = size.saturating_add(entry.size);
        // The twelve-byte encryption header does not count.
        let before = if entry.flags & ENCRYPTED != 0 { 12 } else { 0 };
        packed = packed.saturating_add(entry.packed.saturating_sub(before));
        match form {
            None => {}
            Some(Form::Names | Form::NamesWithMore) => out.put(&[&shown(&entry.name), b"\n"]),
            Some(form) => out.put(&[line(entry, form).as_bytes(), &shown(&entry.name), b"\n"]),
        }
    }
    if totals {
        let files = if count == 1 { "file" } else { "files" };
        let tenths = if size == 0 { 0.0 } else { 100.0 * (size as f64 - packed as f64) / size as f64 };
        let text = format!("{count} {files}, {size} bytes uncompressed, {packed} bytes compressed:  {tenths:.1}%\n");
        out.put(&[text.as_bytes()]);
    }
    let (unmet, _) = wanted.unmet();
    out.flush();
    for name in &unmet {
        tell(&[b"caution: filename not matched:  ", name, b"\n"]);
    }
    if unmet.is_empty() { i32::from(archive.extra > 0) } else { 11 }
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

fn line(entry: &Entry, form: Form) -> String {
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
    let middle = match form {
        Form::Long => format!("{:>8} ", entry.packed),
        Form::Medium => format!("{:>3}% ", crate::words::percent(entry.size, entry.packed)),
        _ => String::new(),
    };
    format!("{mode:<10}  {version} {system} {:>8} {kind}{more} {middle}{method} {date} ", entry.size)
}
