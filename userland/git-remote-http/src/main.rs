//! `git-remote-http` and `git-remote-https`: Git's remote helper for HTTP, as `gitremote-helpers(7)` specifies it, with the smart
//! protocol of `gitprotocol-http(5)`. It opens no connection: the host sends each request if the sandbox's network policy allows
//! it, and adds credentials that this program never sees.
//!
//! A fetch by protocol 2 passes Git's own requests to the server. A fetch by protocol 0 and a push run `git fetch-pack` and
//! `git send-pack`, which make the requests.

mod advertisement;
mod descriptor;
mod fault;
mod helper;
mod options;
mod pkt_line;
mod remote;
mod service;

use std::io::BufReader;
use std::process::exit;

use descriptor::{FdReader, FdWriter};
use fault::Fault;
use helper::Helper;
use tidebox_gnu::eprint_line;
use tidebox_gnu::message::arguments;

/// Git's exit code of a fatal error.
const EXIT_FATAL: i32 = 128;

fn main() {
    tidebox_rt::init_for_std_output();
    match run() {
        Ok(()) => {}
        Err(Fault::Reported) => exit(EXIT_FATAL),
        Err(Fault::Message(message)) => {
            eprint_line!("fatal: {message}");
            exit(EXIT_FATAL)
        }
    }
}

fn run() -> Result<(), Fault> {
    // A write to a closed pipe must return an error: the peer has printed the reason.
    tidebox_rt::sig_set(13, tidebox_rt::Disposition::Ignore).map_err(|error| Fault::new(error.text()))?;
    let arguments: Vec<String> = arguments().iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let url = match arguments.as_slice() {
        [_, url] | [url] => url,
        _ => {
            return Err(Fault::new(
                "usage: git remote-http REMOTE URL; Git runs this program, see gitremote-helpers(7)",
            ));
        }
    };
    Helper::new(url)?.run(BufReader::new(FdReader(0)), FdWriter(1))
}
