//! JSON output.

use tidebox_gnu::escape::json as string;

use crate::entry::Entry;
use crate::list::{List, Position, Totals};
use crate::options::{Lines, Sizes};
use crate::walk::Walk;

pub(crate) struct Json;

fn is_tight(walk: &Walk) -> bool {
    walk.options.lines == Lines::None
}

fn indent(walk: &mut Walk, depth: usize) {
    if !is_tight(walk) {
        walk.out.push(&b"  ".repeat(depth + 1));
    }
}

fn line_end(walk: &mut Walk) {
    if !is_tight(walk) {
        walk.out.push(b"\n");
    }
}

/// Formats all attributes of a file except its content.
fn head(walk: &mut Walk, entry: &Entry, name: &[u8]) {
    let mut out = format!("{{\"type\":\"{}\"", entry.type_name()).into_bytes();
    for (key, value) in walk.attributes(entry, name) {
        out.extend_from_slice(format!(",\"{key}\":").as_bytes());
        let is_number = key == "size" && walk.options.sizes == Sizes::Bytes;
        out.extend(if is_number { value } else { string(&value) });
    }
    walk.out.push(&out);
}

impl List for Json {
    fn begin(&mut self, walk: &mut Walk) {
        walk.out.push(b"[");
        line_end(walk);
    }

    fn operand(&mut self, walk: &mut Walk, name: &[u8], entry: Option<&Entry>, opens: bool) {
        match entry {
            Some(entry) => {
                indent(walk, 0);
                head(walk, entry, name);
                if !opens && entry.problem.is_none() {
                    return;
                }
                walk.out.push(b",\"contents\":[");
                match &entry.problem {
                    Some(problem) => {
                        walk.out.push(format!("{{\"error\": \"{problem}\"}}").as_bytes());
                        line_end(walk);
                        line_end(walk);
                    }
                    None if opens => line_end(walk),
                    None => {}
                }
            }
            None => {
                walk.out.push(&[b",\"name\":".as_slice(), &string(name), b",\"contents\":["].concat());
                walk.out.push(b"{\"error\": \"error opening dir\"}");
                line_end(walk);
                line_end(walk);
            }
        }
    }

    fn entry(&mut self, walk: &mut Walk, entry: &Entry, position: &Position) {
        indent(walk, position.depth() + 1);
        let name = if walk.options.full_path { &entry.path } else { &entry.name };
        head(walk, entry, name);
        if position.opens {
            walk.out.push(b",\"contents\":[");
            line_end(walk);
            return;
        }
        if let Some(problem) = &entry.problem {
            walk.out.push(format!(",\"contents\":[{{\"error\": \"{problem}\"}}").as_bytes());
            line_end(walk);
            indent(walk, 0);
            walk.out.push(b"]");
        }
        end_entry(walk, position);
    }

    fn close(&mut self, walk: &mut Walk, _entry: &Entry, position: &Position) {
        indent(walk, position.depth() + 1);
        walk.out.push(b"]");
        end_entry(walk, position);
    }

    fn close_operand(&mut self, walk: &mut Walk, entry: Option<&Entry>, opened: bool, last: bool) {
        if opened || entry.is_none_or(|entry| entry.problem.is_some()) {
            indent(walk, 0);
            walk.out.push(b"]");
        }
        walk.out.push(b"}");
        if !last {
            walk.out.push(b",");
        }
        line_end(walk);
    }

    fn end(&mut self, walk: &mut Walk, totals: &Totals) {
        if walk.options.no_report {
            line_end(walk);
        }
        if !walk.options.no_report {
            walk.out.push(b",");
            line_end(walk);
            indent(walk, 0);
            walk.out.push(b"{\"type\":\"report\"");
            if walk.options.du {
                walk.out.push(format!(",\"size\":{}", totals.size).as_bytes());
            }
            walk.out.push(format!(",\"directories\":{}", totals.folders).as_bytes());
            if !walk.options.folders_only {
                walk.out.push(format!(",\"files\":{}", totals.files).as_bytes());
            }
            walk.out.push(b"}");
            line_end(walk);
        }
        walk.out.push(b"]\n");
    }
}

fn end_entry(walk: &mut Walk, position: &Position) {
    walk.out.push(if position.last { b"}" } else { b"}," });
    line_end(walk);
}
