//! XML output.

use crate::entry::Entry;
use crate::list::{List, Position, Totals};
use crate::options::Lines;
use crate::walk::Walk;

pub(crate) struct Xml;

fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            byte => out.push(*byte),
        }
    }
    out
}

fn indent(walk: &mut Walk, depth: usize) {
    if walk.options.lines != Lines::None {
        walk.out.push(&b"  ".repeat(depth));
    }
}

fn line_end(walk: &mut Walk) {
    if walk.options.lines != Lines::None {
        walk.out.push(b"\n");
    }
}

fn attribute(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(format!(" {name}=\"").as_bytes());
    out.extend(escaped(value));
    out.push(b'"');
}

fn head(walk: &mut Walk, entry: &Entry, name: &[u8]) {
    let mut out = format!("<{}", entry.type_name()).into_bytes();
    walk.attributes(entry, name).iter().for_each(|(key, value)| attribute(&mut out, key, value));
    out.push(b'>');
    walk.out.push(&out);
}

fn problem(walk: &mut Walk, entry: &Entry) {
    if let Some(problem) = &entry.problem {
        walk.out.push(&[b"<error>".as_slice(), &escaped(problem.as_bytes()), b"</error>"].concat());
    }
}

impl List for Xml {
    fn begin(&mut self, walk: &mut Walk) {
        walk.out.push(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        line_end(walk);
        walk.out.push(b"<tree>");
        line_end(walk);
    }

    fn operand(&mut self, walk: &mut Walk, name: &[u8], entry: Option<&Entry>, opens: bool) {
        match entry {
            Some(entry) => {
                indent(walk, 1);
                head(walk, entry, name);
                problem(walk, entry);
                if opens || entry.problem.is_some() {
                    walk.out.push(b"\n");
                }
            }
            None => {
                let mut out = Vec::new();
                attribute(&mut out, "name", name);
                out.extend_from_slice(b"><error>error opening dir</error>");
                walk.out.push(&out);
                line_end(walk);
            }
        }
    }

    fn entry(&mut self, walk: &mut Walk, entry: &Entry, position: &Position) {
        indent(walk, position.depth() + 2);
        let name = if walk.options.full_path { &entry.path } else { &entry.name };
        head(walk, entry, name);
        problem(walk, entry);
        if position.opens {
            walk.out.push(b"\n");
            return;
        }
        walk.out.push(format!("</{}>", entry.type_name()).as_bytes());
        line_end(walk);
    }

    fn close(&mut self, walk: &mut Walk, entry: &Entry, position: &Position) {
        indent(walk, position.depth() + 2);
        walk.out.push(format!("</{}>", entry.type_name()).as_bytes());
        line_end(walk);
    }

    fn close_operand(&mut self, walk: &mut Walk, entry: Option<&Entry>, _opened: bool, _last: bool) {
        indent(walk, 1);
        walk.out.push(format!("</{}>", entry.map_or("unknown", Entry::type_name)).as_bytes());
        line_end(walk);
    }

    fn end(&mut self, walk: &mut Walk, totals: &Totals) {
        if !walk.options.no_report {
            let mut rows = Vec::new();
            if walk.options.du {
                rows.push(("size", totals.size));
            }
            rows.push(("directories", totals.folders));
            if !walk.options.folders_only {
                rows.push(("files", totals.files));
            }
            indent(walk, 1);
            walk.out.push(b"<report>");
            line_end(walk);
            for (name, count) in rows {
                indent(walk, 2);
                walk.out.push(format!("<{name}>{count}</{name}>").as_bytes());
                line_end(walk);
            }
            indent(walk, 1);
            walk.out.push(b"</report>");
            line_end(walk);
        }
        walk.out.push(b"</tree>\n");
    }
}
