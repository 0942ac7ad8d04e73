//! JSON output.

use tidebox_gnu::escape::json as string;
use tidebox_gnu::mode::letters;
use tidebox_gnu::stream::Output;

use crate::entry::Entry;
use crate::meta::{Meta, size};
use crate::options::Options;

/// Formats all attributes of a file except its content.
fn head(entry: &Entry, name: &[u8], options: &Options, meta: &Meta) -> Vec<u8> {
    let mut out = format!("{{\"type\":\"{}\",\"name\":", entry.type_name()).into_bytes();
    out.extend(string(name));
    let mut push = |key: &str, value: &[u8]| {
        out.extend_from_slice(format!(",\"{key}\":").as_bytes());
        out.extend_from_slice(value);
    };
    let shows = options.shows;
    if let Some(target) = &entry.target {
        push("target", &string(target));
    }
    if shows.mode {
        push("mode", format!("\"{:04o}\"", entry.stat.mode & 0o7777).as_bytes());
        push("prot", &string(letters(entry.stat.mode).as_bytes()));
    }
    if shows.user {
        push("user", &string(meta.user(entry.stat.uid).as_bytes()));
    }
    if shows.group {
        push("group", &string(meta.group(entry.stat.gid).as_bytes()));
    }
    if shows.size && options.human {
        push("size", &string(size(entry.size, true).as_bytes()));
    } else if shows.size {
        push("size", entry.size.to_string().as_bytes());
    }
    if shows.date {
        push("time", &string(meta.date(entry, options).as_bytes()));
    }
    out
}

/// Prints an entry with its content.
pub(crate) fn print(out: &mut Output, entry: &Entry, depth: usize, options: &Options, meta: &Meta) {
    let indent = b"  ".repeat(depth + 1);
    out.push(&indent);
    let name = if options.full_path { &entry.path } else { &entry.name };
    out.push(&head(entry, name, options, meta));
    if let Some(problem) = &entry.problem {
        out.push(format!(",\"contents\":[{{\"error\": \"{problem}\"}}]").as_bytes());
    } else if !entry.children.is_empty() {
        out.push(b",\"contents\":[\n");
        for (at, child) in entry.children.iter().enumerate() {
            print(out, child, depth + 1, options, meta);
            out.push(if at + 1 < entry.children.len() { b",\n" } else { b"\n" });
        }
        out.push(&indent);
        out.push(b"]");
    }
    out.push(b"}");
}

/// Prints the numbers of directories and files, and the sum of sizes.
pub(crate) fn report(out: &mut Output, (folders, files): (u64, u64), bytes: u64, options: &Options) {
    out.push(b",\n  {\"type\":\"report\"");
    if options.du {
        out.push(format!(",\"size\":{bytes}").as_bytes());
    }
    out.push(format!(",\"directories\":{folders}").as_bytes());
    if !options.folders_only {
        out.push(format!(",\"files\":{files}").as_bytes());
    }
    out.push(b"}");
}
