//! `curl` with the command line, exit codes and messages of curl 7.88.

mod config;
mod cookie;
mod data;
mod fault;
mod form;
mod glob;
mod messages;
mod meter;
mod options;
mod output;
mod request;
mod transfer;
mod write_out;

use std::io::{self, Write};
use std::time::Duration;

pub(crate) use config::slurp;
use config::{Config, Target};
pub(crate) use cookie::Jar;
use fault::Fault;
use messages::Messages;
use output::Output;
use tidebox_gnu::message::bytes_path;
pub(crate) use transfer::disposition_name;
use transfer::{Job, Outcome, Shared};

const HELP: &str = "Usage: curl [options...] <url>\n \
    -d, --data <data>           HTTP POST data\n \
    -f, --fail                  Fail fast with no output on HTTP errors\n \
    -F, --form <name=content>   Specify multipart MIME data\n \
    -G, --get                   Put the post data in the URL and use GET\n \
    -H, --header <header/@file> Pass custom header(s) to server\n \
    -h, --help                  Get help for commands\n \
    -i, --include               Include protocol response headers in the output\n \
    -I, --head                  Show document info only\n \
    -L, --location              Follow redirects\n \
    -o, --output <file>         Write to file instead of stdout\n \
    -O, --remote-name           Write output to a file named as the remote file\n \
    -s, --silent                Silent mode\n \
    -T, --upload-file <file>    Transfer local FILE to destination\n \
    -u, --user <user:password>  Server user and password\n \
    -A, --user-agent <name>     Send User-Agent <name> to server\n \
    -v, --verbose               Make the operation more talkative\n \
    -V, --version               Show version number and quit\n \
    -w, --write-out <format>    What output FORMAT to use after transfer\n\n\
    Every request goes through the network policy of this sandbox.\n";

/// Maximum delay between two attempts, as in curl.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Runs curl and returns the exit code.
pub(crate) fn run(arguments: Vec<Vec<u8>>) -> i32 {
    let config = match Config::parse(arguments) {
        Ok(config) => config,
        Err((code, message)) => {
            if !message.is_empty() {
                tidebox_gnu::eprint_line!("curl: {message}");
            }
            if code == 2 {
                tidebox_gnu::eprint_line!("curl: try 'curl --help' or 'curl --manual' for more information");
            }
            return code;
        }
    };
    if config.is("help") || config.is("version") {
        let version = format!(
            "curl {v} (wasm32-tidebox) tidebox/{}\nRelease-Date: 2023-02-20\nProtocols: http https\n\
             Features: HTTPS-policy IPv6 libz SSL\n",
            env!("CARGO_PKG_VERSION"),
            v = request::VERSION
        );
        // Ignore the error: the reader does not want the text.
        let _ = io::stdout().write_all(if config.is("help") { HELP.as_bytes() } else { version.as_bytes() });
        return 0;
    }
    let mut shared = Shared {
        jar: Jar::default(),
        cookies: None,
        voice: Messages::new(&config),
        dump: config.dump_header.as_ref().map(|name| Output::to(name, None)),
        config: &config,
    };
    if !config.is("silent") {
        for warning in &config.warnings {
            shared.voice.write_line(&format!("Warning: {warning}\n"));
        }
    }
    load_cookies(&mut shared);
    let code = all(&mut shared);
    save_cookies(&mut shared);
    code
}

/// Processes each URL in order. The exit code is that of the last one.
fn all(shared: &mut Shared<'_>) -> i32 {
    let config = shared.config;
    let (mut code, mut number) = (0, 0);
    for (at, url) in config.urls.iter().enumerate() {
        let expanded = if config.is("globoff") { Ok(vec![(url.clone(), Vec::new())]) } else { glob::expand(url) };
        let expanded = match expanded {
            Ok(expanded) => expanded,
            Err(message) => {
                code = 3;
                report(shared, &Fault::new(3, message));
                continue;
            }
        };
        let by_default = config.is("remote-name-all").then_some(&Target::Remote);
        for (url, matched) in &expanded {
            let target = config.targets.get(at).or(by_default);
            let upload = config.uploads.get(at).map(Vec::as_slice);
            code = one(shared, &Job { url, matched, target, upload, number });
            number += 1;
            if code != 0 && config.is("fail-early") {
                return code;
            }
        }
    }
    code
}

/// Processes one URL with retries.
fn one(shared: &mut Shared<'_>, job: &Job<'_>) -> i32 {
    let config = shared.config;
    let mut output = match place(config, job) {
        Ok(output) => output,
        Err(fault) => {
            report(shared, &fault);
            return fault.code;
        }
    };
    let (mut left, mut wait, began) = (config.retries, Duration::from_secs(1), tidebox_rt::monotonic_ns());
    loop {
        let Outcome { result, facts, output: mut used } = transfer::run(shared, job, output);
        let code = result.as_ref().err().map_or(0, |fault| fault.code);
        let refused = config.is("retry-connrefused") && code == 7 || config.is("retry-all-errors") && code != 0;
        let passed = Duration::from_nanos(tidebox_rt::monotonic_ns().saturating_sub(began));
        let in_time = config.retry_max_time.is_none_or(|most| passed < Duration::from_secs(most));
        if left > 0 && in_time && (refused || fault::is_transient(code, facts.head.status)) {
            let asked = facts.head.header("retry-after").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
            let pause = config.retry_delay.or(asked).map_or(wait, Duration::from_secs).min(MAX_WAIT);
            if !config.is("silent") {
                let why = if code == 0 { "HTTP error".to_owned() } else { "transient problem".to_owned() };
                let text = format!(
                    "Warning: Problem: {why}. Will retry in {} seconds. {left} retries left.\n",
                    pause.as_secs()
                );
                shared.voice.write_line(&text);
            }
            std::thread::sleep(pause);
            (left, wait) = (left - 1, (wait * 2).min(MAX_WAIT));
            used.rewind();
            output = used;
            continue;
        }
        match &result {
            Ok(()) => shared.voice.left(&tidebox_host_http::address::Address::parse(&facts.effective).host),
            Err(fault) => {
                if config.is("remove-on-error") {
                    used.remove();
                }
                report(shared, fault);
            }
        }
        if let Some(format) = &config.write_out {
            let written = write_out::render(format, &facts);
            shared.voice.write_line(&String::from_utf8_lossy(&written.err));
            // A closed reader is not a transfer error.
            let _ = io::stdout().write_all(&written.out).and_then(|()| io::stdout().flush());
        }
        return code;
    }
}

/// Destination of a job's body.
fn place(config: &Config, job: &Job<'_>) -> Result<Output, Fault> {
    let Some(name) = transfer::file_name(config, job) else {
        return Ok(Output::stdout());
    };
    if name.is_empty() {
        return Err(Fault::new(23, "Remote file name has no length!"));
    }
    let mut output = Output::to(&name, config.output_dir.as_deref());
    output.makes_folders = config.is("create-dirs");
    output.appends = config.resume.is_some();
    Ok(output)
}

fn report(shared: &mut Shared<'_>, fault: &Fault) {
    if shared.config.is("silent") && !shared.config.is("show-error") {
        return;
    }
    if let Some(warning) = &fault.warning {
        shared.voice.write_line(&format!("Warning: {warning}\n"));
    }
    let insecure = if fault.code == 60 && shared.config.is("insecure") {
        "curl: -k has no effect: the host of this sandbox always checks certificates\n"
    } else {
        ""
    };
    shared.voice.write_line(&format!("curl: ({}) {}\n{insecure}", fault.code, fault.message));
}

/// Cookies of `-b`: literal pairs, or files to read.
fn load_cookies(shared: &mut Shared<'_>) {
    let mut pairs = Vec::new();
    for value in &shared.config.cookies {
        if value.contains(&b'=') {
            pairs.push(String::from_utf8_lossy(value).into_owned());
        } else if let Ok(file) = config::slurp(value) {
            // A missing file also enables cookies.
            shared.jar.load(&String::from_utf8_lossy(&file), !shared.config.is("junk-session-cookies"));
        }
    }
    shared.cookies = (!pairs.is_empty()).then(|| pairs.join("; "));
}

fn save_cookies(shared: &mut Shared<'_>) {
    let Some(name) = &shared.config.cookie_jar else { return };
    let text = shared.jar.text();
    let saved =
        if name == b"-" { io::stdout().write_all(text.as_bytes()) } else { std::fs::write(bytes_path(name), text) };
    if saved.is_err() {
        let name = String::from_utf8_lossy(name);
        shared.voice.write_line(&format!("Warning: failed to save cookies in {name}\n"));
    }
}
