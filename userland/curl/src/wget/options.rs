//! wget's command line.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{bytes_path, error_text};
use tidebox_gnu::options::Syntax;

/// Verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Talk {
    Nothing,
    Little,
    All,
}

/// All options.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) urls: Vec<String>,
    pub(super) talk: Talk,
    pub(super) document: Option<Vec<u8>>,
    pub(super) folder: Option<Vec<u8>>,
    pub(super) log: Option<(Vec<u8>, bool)>,
    pub(super) input: Option<Vec<u8>>,
    pub(super) keeps: bool,
    pub(super) continues: bool,
    pub(super) is_spider: bool,
    pub(super) shows_response: bool,
    pub(super) heeds_disposition: bool,
    pub(super) keeps_on_error: bool,
    pub(super) is_insecure: bool,
    pub(super) headers: Vec<Vec<u8>>,
    pub(super) method: Option<String>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) body_file: Option<Vec<u8>>,
    pub(super) is_post: bool,
    pub(super) agent: Vec<u8>,
    pub(super) referer: Option<Vec<u8>>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) password: Option<Vec<u8>>,
    pub(super) load_cookies: Option<Vec<u8>>,
    pub(super) save_cookies: Option<Vec<u8>>,
    pub(super) keeps_session_cookies: bool,
    pub(super) redirects: u64,
    /// 0 means unlimited.
    pub(super) tries: u64,
    pub(super) wait: u64,
    pub(super) timeout_ms: Option<u64>,
    pub(super) connect_ms: Option<u64>,
}

/// Action of a command line.
pub(super) enum Request {
    Run(Box<Options>),
    /// Text for standard output.
    Print(Vec<u8>),
}

const USAGE: &str = "GNU Wget 1.21.3, a non-interactive network retriever.\nUsage: wget [OPTION]... [URL]...\n\n";

const NOTES: &str = "\nEvery request goes through the network policy of this sandbox.\n";

const VERSION: &str = "GNU Wget 1.21.3 built on wasm32-tidebox.\n";

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("wget", USAGE, 33) };

tidebox_gnu::options! {
    /// Options of `wget`. `-nv` and `-nc` are `-n` with a value, as in getopt.
    enum Flag {
        OutputDocument = "-O, --output-document=FILE", "write documents to FILE";
        DirectoryPrefix = "-P, --directory-prefix=PREFIX", "save files to PREFIX/..";
        Quiet = "-q, --quiet", "quiet (no output)";
        NoVerbose = "--no-verbose", "(-nv) turn off verboseness, without being quiet";
        NoClobber = "--no-clobber", "(-nc) skip downloads that would download to existing files";
        Continue = "-c, --continue", "resume getting a partially-downloaded file";
        ServerResponse = "-S, --server-response", "print server response";
        InputFile = "-i, --input-file=FILE", "download URLs found in FILE";
        Tries = "-t, --tries=NUMBER", "set number of retries to NUMBER (0 unlimits)";
        Timeout = "-T, --timeout=SECONDS | --read-timeout=SECONDS", "set all timeout values to SECONDS";
        UserAgent = "-U, --user-agent=AGENT", "identify as AGENT";
        Header = "--header=STRING", "insert STRING among the headers";
        PostData = "--post-data=STRING", "use the POST method; send STRING as the data";
        Method = "--method=HTTPMethod", "use method \"HTTPMethod\" in the request";
        BodyData = "--body-data=STRING", "send STRING as data. --method MUST be set";
        Spider = "--spider", "don't download anything";
        AppendOutput = "-a, --append-output=FILE", "";
        OutputFile = "-o, --output-file=FILE", "";
        Negated = "-n LETTERS", "";
        Verbose = "-v, --verbose", "";
        Wait = "-w, --wait=SECONDS", "";
        BodyFile = "--body-file=FILE", "";
        ConnectTimeout = "--connect-timeout=SECONDS", "";
        ContentDisposition = "--content-disposition", "";
        ContentOnError = "--content-on-error", "";
        Help = "-h, --help", "";
        KeepSessionCookies = "--keep-session-cookies", "";
        LoadCookies = "--load-cookies=FILE", "";
        MaxRedirect = "--max-redirect=NUMBER", "";
        NoCheckCertificate = "--no-check-certificate", "";
        Password = "--password=TEXT, --http-password=TEXT", "";
        PostFile = "--post-file=FILE", "";
        Referer = "--referer=URL", "";
        SaveCookies = "--save-cookies=FILE", "";
        User = "--user=NAME, --http-user=NAME", "";
        Version = "-V, --version", "";
        NoEffect = "-4, --inet4-only, -6, --inet6-only, -d, --auth-no-challenge, --https-only, --no-cache, --no-config, \
            --no-cookies, --no-directories, --no-hsts, --no-proxy, --show-progress", "";
        NoEffectWithValue = "--dns-timeout=SECONDS, --progress=TYPE, --secure-protocol=NAME", "";
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            talk: Talk::All,
            document: None,
            folder: None,
            log: None,
            input: None,
            keeps: false,
            continues: false,
            is_spider: false,
            shows_response: false,
            heeds_disposition: false,
            keeps_on_error: false,
            is_insecure: false,
            headers: Vec::new(),
            method: None,
            body: None,
            body_file: None,
            is_post: false,
            agent: b"Wget/1.21.3".to_vec(),
            referer: None,
            user: None,
            password: None,
            load_cookies: None,
            save_cookies: None,
            keeps_session_cookies: false,
            redirects: 20,
            tries: 20,
            wait: 0,
            timeout_ms: None,
            connect_ms: None,
        }
    }
}

/// Parses a command line. The error is the text after `wget: `.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, String> {
    let mut options = Options::default();
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(url))) => options.urls.push(text(&url)),
            Ok(Some(Item::Option(flag, value))) => options.set(flag, value.unwrap_or_default())?,
            Err(ToolResult::Print(text)) => return Ok(Request::Print(text)),
            Err(ToolResult::Usage(message, _) | ToolResult::Failure(message, _)) => return Err(message),
            Err(ToolResult::Code(_) | ToolResult::PrintAndCode(..)) => return Ok(Request::Print(Vec::new())),
        }
    }
    if let Some(name) = &options.input {
        let file = crate::curl::slurp(name)
            .map_err(|error| format!("{}: {}", bytes_path(name).display(), error_text(&error)))?;
        options.urls.extend(text(&file).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    if options.urls.is_empty() {
        return Err("missing URL".to_owned());
    }
    Ok(Request::Run(Box::new(options)))
}

impl Options {
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), String> {
        match flag {
            Flag::AppendOutput => self.log = Some((value, true)),
            Flag::OutputFile => self.log = Some((value, false)),
            Flag::Continue => self.continues = true,
            Flag::InputFile => self.input = Some(value),
            Flag::OutputDocument => self.document = Some(value),
            Flag::DirectoryPrefix => self.folder = Some(value),
            Flag::Quiet => self.talk = Talk::Nothing,
            Flag::Verbose => self.talk = Talk::All,
            Flag::NoVerbose => self.talk = Talk::Little,
            Flag::NoClobber => self.keeps = true,
            Flag::Negated => self.negated(&value)?,
            Flag::ServerResponse => self.shows_response = true,
            Flag::Tries if value == b"inf" => self.tries = 0,
            Flag::Tries => self.tries = number(&value)?,
            Flag::Timeout => self.timeout_ms = millis(&value)?,
            Flag::ConnectTimeout => self.connect_ms = millis(&value)?,
            Flag::UserAgent => self.agent = value,
            Flag::Wait => self.wait = number(&value)?,
            Flag::PostData => (self.body, self.is_post) = (Some(value), true),
            Flag::PostFile => (self.body_file, self.is_post) = (Some(value), true),
            Flag::Method => self.method = Some(text(&value).to_ascii_uppercase()),
            Flag::BodyData => self.body = Some(value),
            Flag::BodyFile => self.body_file = Some(value),
            Flag::Header => self.headers.push(value),
            Flag::Spider => self.is_spider = true,
            Flag::ContentDisposition => self.heeds_disposition = true,
            Flag::ContentOnError => self.keeps_on_error = true,
            Flag::MaxRedirect => self.redirects = number(&value)?,
            Flag::User => self.user = Some(value),
            Flag::Password => self.password = Some(value),
            Flag::LoadCookies => self.load_cookies = Some(value),
            Flag::SaveCookies => self.save_cookies = Some(value),
            Flag::KeepSessionCookies => self.keeps_session_cookies = true,
            Flag::NoCheckCertificate => self.is_insecure = true,
            Flag::Referer => self.referer = Some(value),
            Flag::Help | Flag::Version | Flag::NoEffect | Flag::NoEffectWithValue => {}
        }
        Ok(())
    }

    /// `-nc`, `-nv`; `-nd` and `-nH` request the default behaviour without `-r`.
    fn negated(&mut self, letters: &[u8]) -> Result<(), String> {
        for letter in letters {
            match letter {
                b'c' => self.keeps = true,
                b'v' => self.talk = Talk::Little,
                b'd' | b'H' | b'p' => {}
                other => return Err(format!("invalid option -- 'n{}'", char::from(*other))),
            }
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn number(value: &[u8]) -> Result<u64, String> {
    let value = text(value);
    value.parse().map_err(|_| format!("Invalid number '{value}'."))
}

/// Seconds; 0 disables the timeout.
fn millis(value: &[u8]) -> Result<Option<u64>, String> {
    let value = text(value);
    let seconds = value.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("Invalid time period '{value}'."))?;
    Ok((seconds > 0.0).then_some((seconds * 1000.0) as u64))
}
