//! `tree`: lists directories as text or JSON.
//!
//! The crates that draw trees have different options and layouts; scripts expect those of `tree` 2.1.

mod color;
mod draw;
mod entry;
mod from_file;
mod ignore;
mod json;
mod meta;
mod options;
mod pattern;
mod read;
#[cfg(test)]
mod tests;

use tidebox_gnu::exit::IntoExitCode;
use tidebox_gnu::message::{arguments, print_error};
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::exit;
use tidebox_rt::Open;

use meta::Meta;
use options::Options;
use read::Reader;

fn main() {
    tidebox_rt::init();
    exit(options::parse(arguments()).map(run).into_exit_code("tree"));
}

fn run(options: Options) -> i32 {
    let mut out = Output::standard();
    if let Some(file) = &options.output {
        let how = Open { write: true, create: true, truncate: true, ..Open::default() };
        match tidebox_rt::open(file, how) {
            Ok(fd) => out = Output::to(fd),
            Err(_) => {
                print_error("tree", &format!("invalid filename '{}'", String::from_utf8_lossy(file)));
                return 1;
            }
        }
    }
    let meta = Meta::new(&options);
    let mut reader = Reader::new(&options);
    let (mut folders, mut files, mut bytes) = (0, 0, 0);
    if options.json {
        out.push(b"[\n");
    }
    for (at, name) in options.operands.iter().enumerate() {
        let read = if options.from_file { from_file::read(name, &options) } else { Some(reader.operand(name)) };
        let Some(operand) = read else {
            print_error("tree", &format!("cannot read '{}'", String::from_utf8_lossy(name)));
            return 2;
        };
        let inside = operand.totals();
        folders += inside.0 + u64::from(operand.is_full);
        files += inside.1 + u64::from(!operand.is_folder() && operand.stat.mode != 0);
        bytes += operand.size;
        if options.json {
            json::print(&mut out, &operand, 0, &options, &meta);
            out.push(if at + 1 < options.operands.len() { b",\n" } else { b"\n" });
        } else {
            draw::print(&mut out, &operand, &options, &meta);
        }
    }
    if !options.no_report {
        let report = if options.json { json::report } else { draw::report };
        report(&mut out, (folders, files), bytes, &options);
    }
    if options.json {
        out.push(b"\n]\n");
    }
    out.finish("tree", if reader.errors > 0 { 2 } else { 0 })
}
