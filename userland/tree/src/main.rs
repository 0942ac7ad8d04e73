//! `tree`: lists directories as text, JSON, XML or HTML.
//!
//! The crates that draw trees have different options and layouts; scripts expect those of `tree` 2.1.

mod color;
mod draw;
mod entry;
mod from_file;
mod html;
mod ignore;
mod json;
mod list;
mod meta;
mod options;
mod pattern;
#[cfg(test)]
mod tests;
mod walk;
mod xml;

use std::process::exit;

use tidebox_gnu::message::{arguments, print_error};
use tidebox_gnu::stream::Output;
use tidebox_rt::Open;

use options::{Form, Options, Request};
use walk::Walk;

fn main() {
    tidebox_rt::init();
    let code = match options::parse(arguments()) {
        Request::Run(options) => run(*options),
        Request::Print(text) => {
            let mut out = Output::standard();
            out.push(text.as_bytes());
            out.finish("tree", 0)
        }
        Request::UnknownSort(name) => {
            // `tree` prints half of this on standard output, which scripts that compare the streams depend on.
            tidebox_gnu::eprint_part!("tree: Sort type '{name}' not valid, should be one of: ");
            let mut out = Output::standard();
            out.push(b"name,version,size,mtime,ctime\n");
            out.finish("tree", 1)
        }
        Request::Refuse(message) => {
            tidebox_gnu::eprint_line!("{message}");
            1
        }
    };
    if code != 0 {
        exit(code);
    }
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
    let form = options.form;
    let mut walk = Walk::new(options, out);
    match form {
        Form::Drawing => walk.list_all(&mut draw::Drawing),
        Form::Json => walk.list_all(&mut json::Json),
        Form::Html => {
            let mut html = html::Html::new(walk.options.page.clone());
            walk.list_all(&mut html);
        }
        Form::Xml => walk.list_all(&mut xml::Xml),
    }
    let code = if walk.errors > 0 { 2 } else { 0 };
    walk.out.finish("tree", code)
}
