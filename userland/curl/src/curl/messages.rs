//! Messages of curl on standard error, or the destination of `--stderr`.

use std::fs::File;
use std::io::{self, Write};

use tidebox_gnu::message::bytes_path;

use super::config::Config;
use tidebox_host_http::address::Address;
use tidebox_host_http::{Head, Request};

/// Destination of the messages.
pub(super) struct Messages {
    to: Box<dyn Write>,
    is_verbose: bool,
}

impl Messages {
    pub(super) fn new(config: &Config) -> Self {
        let to: Box<dyn Write> = match config.stderr.as_deref() {
            None => Box::new(io::stderr()),
            Some(b"-") => Box::new(io::stdout()),
            Some(name) => match File::create(bytes_path(name)) {
                Ok(file) => Box::new(file),
                Err(_) => Box::new(io::stderr()),
            },
        };
        Self { to, is_verbose: config.is("verbose") }
    }

    /// Writes text unchanged.
    pub(super) fn write_line(&mut self, text: &str) {
        // Ignore the error: it cannot be reported elsewhere.
        let _ = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
    }

    /// With `-v`: the connection and the request, from the data available to a guest.
    pub(super) fn sent(&mut self, request: &Request, to: &Address, head: &Head) {
        if !self.is_verbose {
            return;
        }
        let place = if head.ip.contains(':') { format!("[{}]", head.ip) } else { head.ip.clone() };
        let mut text = format!("*   Trying {place}:{}...\n", head.port);
        text.push_str(&format!("* Connected to {} ({}) port {} (#0)\n", to.host, head.ip, head.port));
        let path = if to.path.is_empty() { "/" } else { &to.path };
        let query = to.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        text.push_str(&format!("> {} {path}{query} HTTP/1.1\n> Host: {}\n", request.method, to.authority()));
        for (name, value) in &request.headers {
            text.push_str(&format!("> {name}: {}\n", String::from_utf8_lossy(value)));
        }
        match request.body {
            Some(Some(length)) => text.push_str(&format!("> Content-Length: {length}\n")),
            Some(None) => text.push_str("> Transfer-Encoding: chunked\n"),
            None => {}
        }
        text.push_str("> \n");
        self.write_line(&text);
    }

    /// With `-v`: the response headers.
    pub(super) fn received(&mut self, head: &Head) {
        if !self.is_verbose {
            return;
        }
        let mut text = format!("< {}\n", head.status_line());
        for (name, value) in &head.headers {
            text.push_str(&format!("< {name}: {}\n", String::from_utf8_lossy(value)));
        }
        text.push_str("< \n");
        self.write_line(&text);
    }

    /// With `-v`: the final lines.
    pub(super) fn left(&mut self, host: &str) {
        if self.is_verbose {
            self.write_line(&format!("* Connection #0 to host {host} left intact\n"));
        }
    }
}
