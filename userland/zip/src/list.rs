//! Output of `unzip -l` and `unzip -v`.

use tidebox_gnu::zone::Zone;

use crate::archive::Archive;
use crate::entry::{DEFLATED, Entry, STORED};
use crate::pattern::Selection;
use crate::words::{Out, display, percent};

/// Lists the selected entries; returns their number.
pub(crate) fn list(archive: &Archive, selection: &mut Selection, long: bool, quiet: u8, out: &mut Out) -> u64 {
    if quiet < 2 {
        out.put(&[if long {
            b" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n\
              --------  ------  ------- ---- ---------- ----- --------  ----\n"
                .as_slice()
        } else {
            b"  Length      Date    Time    Name\n---------  ---------- -----   ----\n"
        }]);
    }
    let (mut count, mut size, mut packed) = (0, 0u64, 0u64);
    for entry in &archive.entries {
        if !selection.takes(&entry.name) {
            continue;
        }
        count += 1;
        size = size.saturating_add(entry.size);
        packed = packed.saturating_add(entry.packed);
        let line = if long { long_line(entry) } else { format!("{:>9}  {}   ", entry.size, date(entry)) };
        out.put(&[line.as_bytes(), &display(&entry.name), b"\n"]);
        if quiet == 0 && !entry.comment.is_empty() {
            out.put(&[&display(&entry.comment), b"\n"]);
        }
    }
    if quiet < 2 {
        let files = if count == 1 { "file" } else { "files" };
        let text = if long {
            let share = percent(size, packed);
            format!(
                "--------          -------  ---                            -------\n\
                     {size:>8}         {packed:>8} {share:>3}%                            {count} {files}\n"
            )
        } else {
            format!("---------                     -------\n{size:>9}                     {count} {files}\n")
        };
        out.put(&[text.as_bytes()]);
    }
    count
}

fn long_line(entry: &Entry) -> String {
    let method = match (entry.method, entry.flags >> 1 & 3) {
        (STORED, _) => "Stored".to_owned(),
        (DEFLATED, 0) => "Defl:N".to_owned(),
        (DEFLATED, 1) => "Defl:X".to_owned(),
        (DEFLATED, 2) => "Defl:F".to_owned(),
        (DEFLATED, _) => "Defl:S".to_owned(),
        (12, _) => "BZip2".to_owned(),
        (14, _) => "LZMA".to_owned(),
        (other, _) => format!("Unk:{other:03}"),
    };
    let share = percent(entry.size, entry.packed);
    format!("{:>8}  {method:<6} {:>8} {share:>3}% {} {:08x}  ", entry.size, entry.packed, date(entry), entry.sum)
}

fn date(entry: &Entry) -> String {
    let at = Zone::local().moment(entry.seconds(), 0);
    format!("{:04}-{:02}-{:02} {:02}:{:02}", at.year, at.month, at.day, at.hour, at.minute)
}
