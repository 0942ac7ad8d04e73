//! `wget` with the command line, exit codes and messages of GNU Wget 1.21, for single files.

mod fetch;
mod log;
mod options;

use std::io::{self, Write};

use fetch::{FILE, Session};
use log::Log;
use options::{Options, Request};
use tidebox_gnu::message::{bytes_path, error_text, print_error};

use crate::curl::Jar;

/// Runs wget and returns the exit code.
pub(crate) fn run(arguments: Vec<Vec<u8>>) -> i32 {
    let options = match options::parse(arguments) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            // Ignore the error: the reader does not want the text.
            let _ = io::stdout().write_all(&text);
            return 0;
        }
        Err(message) => {
            print_error("wget", &message);
            tidebox_gnu::eprint_line!("Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.");
            return if message == "missing URL" { 1 } else { 2 };
        }
    };
    match session(&options) {
        Ok(session) => all(session),
        Err(error) => {
            print_error("wget", &error_text(&error));
            FILE
        }
    }
}

fn session(options: &Options) -> io::Result<Session<'_>> {
    let mut jar = Jar::default();
    if let Some(name) = &options.load_cookies {
        jar.load(&String::from_utf8_lossy(&std::fs::read(bytes_path(name))?), true);
    }
    Ok(Session { options, log: Log::new(options)?, jar, document: fetch::document(options)? })
}

/// Processes each URL in order. Returns the most important exit code; for wget, smaller numbers are more important.
fn all(mut session: Session<'_>) -> i32 {
    let options = session.options;
    let mut code = 0;
    for (at, url) in options.urls.iter().enumerate() {
        if session.is_there(url) {
            continue;
        }
        if at > 0 && options.wait > 0 {
            std::thread::sleep(std::time::Duration::from_secs(options.wait));
        }
        let ended = session.fetch(url);
        if ended != 0 && (code == 0 || ended < code) {
            code = ended;
        }
    }
    let saved = options.save_cookies.as_ref().map(|name| (name, std::fs::write(bytes_path(name), session.jar.text())));
    if let Some((name, Err(error))) = saved {
        print_error("wget", &format!("{}: {}", bytes_path(name).display(), error_text(&error)));
        return FILE;
    }
    code
}
