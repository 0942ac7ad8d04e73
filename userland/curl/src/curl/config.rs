//! Parsed command line of curl.

use std::io::{self, Read};

use tidebox_gnu::message::{bytes_path, error_text};

use super::data::{self, Data};
use super::form::{self, Field};
use super::options::{self, Item, WITHOUT_EFFECT};

/// Destination of a URL's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A file name, in which `#1` and so on are replaced by the URL's glob matches.
    File(Vec<u8>),
    /// Named after the URL.
    Remote,
}

/// All options.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) urls: Vec<String>,
    pub(super) targets: Vec<Target>,
    pub(super) uploads: Vec<Vec<u8>>,
    pub(super) data: Vec<Data>,
    pub(super) is_json: bool,
    pub(super) form: Vec<Field>,
    pub(super) headers: Vec<Vec<u8>>,
    pub(super) method: Option<String>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) bearer: Option<Vec<u8>>,
    pub(super) agent: Option<Vec<u8>>,
    pub(super) referer: Option<Vec<u8>>,
    /// Send the redirecting URL as the referer.
    pub(super) refers_itself: bool,
    pub(super) cookies: Vec<Vec<u8>>,
    pub(super) cookie_jar: Option<Vec<u8>>,
    pub(super) range: Option<String>,
    /// `Some(None)`: from the end of the file.
    pub(super) resume: Option<Option<u64>>,
    pub(super) dump_header: Option<Vec<u8>>,
    pub(super) output_dir: Option<Vec<u8>>,
    pub(super) stderr: Option<Vec<u8>>,
    pub(super) write_out: Option<Vec<u8>>,
    pub(super) connect_ms: Option<u64>,
    pub(super) total_ms: Option<u64>,
    pub(super) max_bytes: Option<u64>,
    /// `None`: unlimited.
    pub(super) redirects: Option<u64>,
    pub(super) retries: u64,
    pub(super) retry_delay: Option<u64>,
    pub(super) retry_max_time: Option<u64>,
    /// Warnings printed before the first transfer.
    pub(super) warnings: Vec<String>,
    switches: Vec<&'static str>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            targets: Vec::new(),
            uploads: Vec::new(),
            data: Vec::new(),
            is_json: false,
            form: Vec::new(),
            headers: Vec::new(),
            method: None,
            user: None,
            bearer: None,
            agent: None,
            referer: None,
            refers_itself: false,
            cookies: Vec::new(),
            cookie_jar: None,
            range: None,
            resume: None,
            dump_header: None,
            output_dir: None,
            stderr: None,
            write_out: None,
            connect_ms: None,
            total_ms: None,
            max_bytes: None,
            // curl's own default.
            redirects: Some(50),
            retries: 0,
            retry_delay: None,
            retry_max_time: None,
            warnings: Vec::new(),
            switches: Vec::new(),
        }
    }
}

/// Reason why a command line is rejected: exit code, and the text after `curl: `.
pub(super) type Mistake = (i32, String);

/// The exit code of an invalid command line.
const USAGE: i32 = 2;
/// The exit code of an unreadable local file.
const UNREADABLE: i32 = 26;

impl Config {
    /// Returns whether a switch is on.
    pub(super) fn is(&self, name: &str) -> bool {
        self.switches.contains(&name)
    }

    /// Parses a command line.
    pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Self, Mistake> {
        let mut config = Self::default();
        for item in options::parse(arguments).map_err(|message| (USAGE, message))? {
            match item {
                Item::Operand(url) => config.urls.push(text(&url)),
                Item::Switch(name, on) => config.switch(name, on),
                Item::Value(name, value) => config.value(name, value)?,
            }
        }
        config.check()?;
        Ok(config)
    }

    fn switch(&mut self, name: &'static str, on: bool) {
        self.switches.retain(|known| *known != name);
        if on && !WITHOUT_EFFECT.contains(&name) {
            self.switches.push(name);
        }
        match name {
            "remote-name" if on => self.targets.push(Target::Remote),
            // `--no-progress-meter` is defined as the negation of a switch that is on by default.
            "progress-meter" if !on => self.switches.push("no-progress-meter"),
            _ => {}
        }
    }

    fn value(&mut self, name: &'static str, value: Vec<u8>) -> Result<(), Mistake> {
        match name {
            "url" => self.urls.push(text(&value)),
            "output" => self.targets.push(Target::File(value)),
            "upload-file" => self.uploads.push(value),
            "header" => self.header(value)?,
            "request" => self.method = Some(text(&value)),
            "user" => self.user = Some(value),
            "oauth2-bearer" => self.bearer = Some(value),
            "user-agent" => self.agent = Some(value),
            "cookie" => self.cookies.push(value),
            "cookie-jar" => self.cookie_jar = Some(value),
            "range" => self.range = Some(text(&value)),
            "continue-at" if value == b"-" => self.resume = Some(None),
            "continue-at" => self.resume = Some(Some(number(name, &value)?)),
            "dump-header" => self.dump_header = Some(value),
            "output-dir" => self.output_dir = Some(value),
            "stderr" => self.stderr = Some(value),
            "write-out" => self.write_out = Some(self.written(value)?),
            "connect-timeout" => self.connect_ms = Some(millis(name, &value)?),
            "max-time" => self.total_ms = Some(millis(name, &value)?),
            "max-filesize" => self.max_bytes = Some(bytes(name, &value)?),
            "max-redirs" if value == b"-1" => self.redirects = None,
            "max-redirs" => self.redirects = Some(number(name, &value)?),
            "retry" => self.retries = number(name, &value)?,
            "retry-delay" => self.retry_delay = Some(number(name, &value)?),
            "retry-max-time" => self.retry_max_time = Some(number(name, &value)?),
            "referer" => self.refer(value),
            "form" => self.form.push(form::parse(&value, true).map_err(|message| (USAGE, message))?),
            "form-string" => self.form.push(form::parse(&value, false).map_err(|message| (USAGE, message))?),
            "json" => {
                self.is_json = true;
                self.read_data("data-binary", &value);
            }
            name if name.starts_with("data") => self.read_data(name, &value),
            // The remaining options with a value have no effect.
            _ => {}
        }
        Ok(())
    }

    /// An unreadable file counts as empty, with a warning, as in curl.
    fn read_data(&mut self, option: &str, value: &[u8]) {
        let data = data::read(option, value).unwrap_or_else(|name| {
            let name = String::from_utf8_lossy(&name);
            let warning = format!("Couldn't read data from file \"{name}\", this makes an empty POST.");
            self.warnings.push(warning);
            Data(Vec::new())
        });
        self.data.push(data);
    }

    /// One header, or all headers of a file.
    fn header(&mut self, value: Vec<u8>) -> Result<(), Mistake> {
        let Some(name) = value.strip_prefix(b"@") else {
            self.headers.push(value);
            return Ok(());
        };
        let lines = slurp(name).map_err(|error| unreadable((name.to_vec(), error)))?;
        let lines = lines.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        self.headers.extend(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
        Ok(())
    }

    fn written(&self, value: Vec<u8>) -> Result<Vec<u8>, Mistake> {
        match value.strip_prefix(b"@") {
            Some(name) => slurp(name).map_err(|error| unreadable((name.to_vec(), error))),
            None => Ok(value),
        }
    }

    fn refer(&mut self, value: Vec<u8>) {
        let plain = value.strip_suffix(b";auto");
        self.refers_itself = plain.is_some();
        let plain = plain.unwrap_or(&value);
        self.referer = (!plain.is_empty()).then(|| plain.to_vec());
    }

    fn check(&self) -> Result<(), Mistake> {
        if self.is("help") || self.is("version") {
            return Ok(());
        }
        if self.urls.is_empty() {
            return Err((USAGE, String::new()));
        }
        let bodies = [!self.data.is_empty() && !self.is("get"), !self.form.is_empty(), self.is("head")];
        if bodies.iter().filter(|body| **body).count() > 1 {
            let message = "You can only select one HTTP request method! ";
            return Err((USAGE, message.trim_end().to_owned()));
        }
        Ok(())
    }
}

/// A whole file; `-` is standard input.
pub(crate) fn slurp(name: &[u8]) -> io::Result<Vec<u8>> {
    if name == b"-" {
        let mut all = Vec::new();
        io::stdin().read_to_end(&mut all)?;
        return Ok(all);
    }
    std::fs::read(bytes_path(name))
}

fn unreadable((name, error): (Vec<u8>, io::Error)) -> Mistake {
    let name = String::from_utf8_lossy(&name);
    (UNREADABLE, format!("Failed to open {name}: {}", error_text(&error)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn bad_number(name: &str) -> Mistake {
    (USAGE, format!("option --{name}: expected a proper numerical parameter"))
}

fn number(name: &str, value: &[u8]) -> Result<u64, Mistake> {
    text(value).parse().map_err(|_| bad_number(name))
}

/// Seconds, with an optional fraction.
fn millis(name: &str, value: &[u8]) -> Result<u64, Mistake> {
    let seconds: f64 = text(value).parse().map_err(|_| bad_number(name))?;
    if !(0.0..1e9).contains(&seconds) {
        return Err(bad_number(name));
    }
    // In this range only fractions of a millisecond are lost.
    Ok((seconds * 1000.0) as u64)
}

/// A size such as `10M`.
fn bytes(name: &str, value: &[u8]) -> Result<u64, Mistake> {
    let text = text(value);
    let (digits, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len()));
    let scale: u64 = match unit {
        "" | "B" | "b" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return Err(bad_number(name)),
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)).ok_or_else(|| bad_number(name))
}
