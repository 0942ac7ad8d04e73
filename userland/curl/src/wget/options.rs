//! wget's command line.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::{bytes_path, error_text};

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
    Say(String),
}

/// Keys of long options without a letter.
const POST_DATA: char = '\u{1}';
const POST_FILE: char = '\u{2}';
const METHOD: char = '\u{3}';
const BODY_DATA: char = '\u{4}';
const BODY_FILE: char = '\u{5}';
const HEADER: char = '\u{6}';
const SPIDER: char = '\u{7}';
const DISPOSITION: char = '\u{8}';
const REDIRECT: char = '\u{b}';
const USER: char = '\u{c}';
const PASSWORD: char = '\u{e}';
const LOAD_COOKIES: char = '\u{f}';
const SAVE_COOKIES: char = '\u{10}';
const SESSION_COOKIES: char = '\u{11}';
const INSECURE: char = '\u{12}';
const ON_ERROR: char = '\u{13}';
const REFERER: char = '\u{14}';
const NO_CLOBBER: char = '\u{15}';
const NO_VERBOSE: char = '\u{16}';
const CONNECT_TIMEOUT: char = '\u{17}';
const NO_EFFECT: char = '\u{18}';
const NO_EFFECT_VALUE: char = '\u{19}';

const LONG: &[Long] = &[
    long("append-output", Takes::Value, 'a'),
    long("auth-no-challenge", Takes::Nothing, NO_EFFECT),
    long("body-data", Takes::Value, BODY_DATA),
    long("body-file", Takes::Value, BODY_FILE),
    long("connect-timeout", Takes::Value, CONNECT_TIMEOUT),
    long("content-disposition", Takes::Nothing, DISPOSITION),
    long("content-on-error", Takes::Nothing, ON_ERROR),
    long("continue", Takes::Nothing, 'c'),
    long("directory-prefix", Takes::Value, 'P'),
    long("dns-timeout", Takes::Value, NO_EFFECT_VALUE),
    long("header", Takes::Value, HEADER),
    long("help", Takes::Nothing, 'h'),
    long("http-password", Takes::Value, PASSWORD),
    long("http-user", Takes::Value, USER),
    long("https-only", Takes::Nothing, NO_EFFECT),
    long("inet4-only", Takes::Nothing, '4'),
    long("inet6-only", Takes::Nothing, '6'),
    long("input-file", Takes::Value, 'i'),
    long("keep-session-cookies", Takes::Nothing, SESSION_COOKIES),
    long("load-cookies", Takes::Value, LOAD_COOKIES),
    long("max-redirect", Takes::Value, REDIRECT),
    long("method", Takes::Value, METHOD),
    long("no-cache", Takes::Nothing, NO_EFFECT),
    long("no-check-certificate", Takes::Nothing, INSECURE),
    long("no-clobber", Takes::Nothing, NO_CLOBBER),
    long("no-config", Takes::Nothing, NO_EFFECT),
    long("no-cookies", Takes::Nothing, NO_EFFECT),
    long("no-directories", Takes::Nothing, NO_EFFECT),
    long("no-hsts", Takes::Nothing, NO_EFFECT),
    long("no-proxy", Takes::Nothing, NO_EFFECT),
    long("no-verbose", Takes::Nothing, NO_VERBOSE),
    long("output-document", Takes::Value, 'O'),
    long("output-file", Takes::Value, 'o'),
    long("password", Takes::Value, PASSWORD),
    long("post-data", Takes::Value, POST_DATA),
    long("post-file", Takes::Value, POST_FILE),
    long("progress", Takes::Value, NO_EFFECT_VALUE),
    long("quiet", Takes::Nothing, 'q'),
    long("read-timeout", Takes::Value, 'T'),
    long("referer", Takes::Value, REFERER),
    long("save-cookies", Takes::Value, SAVE_COOKIES),
    long("secure-protocol", Takes::Value, NO_EFFECT_VALUE),
    long("server-response", Takes::Nothing, 'S'),
    long("show-progress", Takes::Nothing, NO_EFFECT),
    long("spider", Takes::Nothing, SPIDER),
    long("timeout", Takes::Value, 'T'),
    long("tries", Takes::Value, 't'),
    long("user", Takes::Value, USER),
    long("user-agent", Takes::Value, 'U'),
    long("verbose", Takes::Nothing, 'v'),
    long("version", Takes::Nothing, 'V'),
    long("wait", Takes::Value, 'w'),
];

/// `n` precedes a letter (`-nc`), which getopt parses as its value.
const SHORT: &str = "a:cdhi:n:o:P:qO:St:T:U:vVw:46";

const HELP: &str = "GNU Wget 1.21.3, a non-interactive network retriever.\nUsage: wget [OPTION]... [URL]...\n\n\
    -O,  --output-document=FILE      write documents to FILE\n\
    -P,  --directory-prefix=PREFIX   save files to PREFIX/..\n\
    -q,  --quiet                     quiet (no output)\n\
    -nv, --no-verbose                turn off verboseness, without being quiet\n\
    -nc, --no-clobber                skip downloads that would download to existing files\n\
    -c,  --continue                  resume getting a partially-downloaded file\n\
    -S,  --server-response           print server response\n\
    -i,  --input-file=FILE           download URLs found in FILE\n\
    -t,  --tries=NUMBER              set number of retries to NUMBER (0 unlimits)\n\
    -T,  --timeout=SECONDS           set all timeout values to SECONDS\n\
    -U,  --user-agent=AGENT          identify as AGENT\n\
         --header=STRING             insert STRING among the headers\n\
         --post-data=STRING          use the POST method; send STRING as the data\n\
         --method=HTTPMethod         use method \"HTTPMethod\" in the request\n\
         --body-data=STRING          send STRING as data. --method MUST be set\n\
         --spider                    don't download anything\n\n\
    Every request goes through the network policy of this sandbox.\n";

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
    let mut parser = Parser::new(Spec { short: SHORT, long: LONG, permute: true }, arguments);
    while let Some(item) = parser.next_item()? {
        match item {
            Item::Operand(url) => options.urls.push(text(&url)),
            Item::Option('h', _) => return Ok(Request::Say(HELP.to_owned())),
            Item::Option('V', _) => return Ok(Request::Say("GNU Wget 1.21.3 built on wasm32-tidebox.\n".to_owned())),
            Item::Option(key, value) => options.set(key, value.unwrap_or_default())?,
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
    fn set(&mut self, key: char, value: Vec<u8>) -> Result<(), String> {
        match key {
            'a' => self.log = Some((value, true)),
            'o' => self.log = Some((value, false)),
            'c' => self.continues = true,
            'i' => self.input = Some(value),
            'O' => self.document = Some(value),
            'P' => self.folder = Some(value),
            'q' => self.talk = Talk::Nothing,
            'v' => self.talk = Talk::All,
            NO_VERBOSE => self.talk = Talk::Little,
            NO_CLOBBER => self.keeps = true,
            'n' => self.negated(&value)?,
            'S' => self.shows_response = true,
            't' if value == b"inf" => self.tries = 0,
            't' => self.tries = number(&value)?,
            'T' => self.timeout_ms = millis(&value)?,
            CONNECT_TIMEOUT => self.connect_ms = millis(&value)?,
            'U' => self.agent = value,
            'w' => self.wait = number(&value)?,
            POST_DATA => (self.body, self.is_post) = (Some(value), true),
            POST_FILE => (self.body_file, self.is_post) = (Some(value), true),
            METHOD => self.method = Some(text(&value).to_ascii_uppercase()),
            BODY_DATA => self.body = Some(value),
            BODY_FILE => self.body_file = Some(value),
            HEADER => self.headers.push(value),
            SPIDER => self.is_spider = true,
            DISPOSITION => self.heeds_disposition = true,
            ON_ERROR => self.keeps_on_error = true,
            REDIRECT => self.redirects = number(&value)?,
            USER => self.user = Some(value),
            PASSWORD => self.password = Some(value),
            LOAD_COOKIES => self.load_cookies = Some(value),
            SAVE_COOKIES => self.save_cookies = Some(value),
            SESSION_COOKIES => self.keeps_session_cookies = true,
            INSECURE => self.is_insecure = true,
            REFERER => self.referer = Some(value),
            // All others have no effect here.
            _ => {}
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
