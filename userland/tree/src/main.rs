//! `tree`: lists directories as text, JSON or XML.
//!
//! The crates that draw trees have different options and layouts; scripts expect those of `tree` 2.1.

mod color;
mod draw;
mod entry;
mod from_file;
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

use tidebox_gnu::exit::IntoExitCode;
use tidebox_gnu::message::{arguments, print_error};
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::exit;
use tidebox_rt::Open;

use options::{Form, Options};
use walk::Walk;

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
    let form = options.form;
    let mut walk = Walk::new(options, out);
    match form {
        Form::Drawing => walk.list_all(&mut draw::Drawing),
        Form::Json => walk.list_all(&mut json::Json),
        Form::Xml => walk.list_all(&mut xml::Xml),
    }
    let code = if walk.errors > 0 { 2 } else { 0 };
    walk.out.finish("tree", code)
}
