//! Tests of interrupted downloads against a local index that interrupts them.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};

use crate::{PYTHON, PackError, PinnedWheel, WheelSource, fetch};

const FILE: &str = "small-1.0-py3-none-any.whl";

/// Response to a request for the file.
#[derive(Clone, Copy, Debug)]
enum Reply {
    /// Correct, with support for ranges.
    Correct,
    /// Correct, but the connection ends after this many bytes.
    Cut(usize),
    /// The whole file, ignoring the requested range.
    Whole,
    /// Only this status.
    Status(u16),
}

/// An index with one file, which records its requests.
struct Index {
    address: String,
    requested: Arc<Mutex<Vec<String>>>,
    /// The events of downloads, as text.
    events: Mutex<Vec<String>>,
}

impl Index {
    /// Starts an index that responds to requests for the file in the given order, and correctly after those.
    fn start(content: &[u8], replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/simple", listener.local_addr().unwrap());
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (content, mut replies, recorded) =
            (content.to_vec(), VecDeque::from(replies.to_vec()), Arc::clone(&requested));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Ignores clients that closed the connection.
                let _ = serve(stream.unwrap(), &content, &mut replies, &recorded);
            }
        });
        Self { address, requested, events: Mutex::default() }
    }

    /// Returns the requested ranges of the file, one per request.
    fn ranges(&self) -> Vec<String> {
        std::mem::take(&mut *self.requested.lock().unwrap())
    }

    fn fetch(&self, dir: &Path, content: &[u8]) -> Result<(), PackError> {
        let sha256 = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let pin = PinnedWheel { project: "small".into(), version: "1.0".into(), file: FILE.into(), sha256 };
        fetch::fetch(dir, &[pin], &PYTHON, &WheelSource::IndexAt(self.address.clone()), &mut |event| {
            self.events.lock().unwrap().push(event.to_string());
        })
    }
}

fn serve(
    mut stream: TcpStream,
    content: &[u8],
    replies: &mut VecDeque<Reply>,
    requested: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut range = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("range")) {
            range = value.trim().to_owned();
        }
    }
    if !first.contains(".whl") {
        let page = format!("<html><body><a href=\"/files/{FILE}\">{FILE}</a></body></html>");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", page.len());
        return write!(stream, "{head}Connection: close\r\n\r\n{page}");
    }
    requested.lock().unwrap().push(range.clone());
    let reply = replies.pop_front().unwrap_or(Reply::Correct);
    let from = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-')).map(|from| from.parse().unwrap());
    let (status, from) = match (reply, from) {
        (Reply::Status(status), _) => (status, content.len()),
        (Reply::Correct | Reply::Cut(_), Some(from)) if from < content.len() => (206, from),
        (Reply::Correct | Reply::Cut(_), Some(_)) => (416, content.len()),
        _ => (200, 0),
    };
    let body = &content[from..];
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n", body.len())?;
    if status == 206 {
        write!(stream, "Content-Range: bytes {from}-{}/{}\r\n", content.len() - 1, content.len())?;
    }
    stream.write_all(b"\r\n")?;
    let sent = if let Reply::Cut(after) = reply { after.min(body.len()) } else { body.len() };
    stream.write_all(&body[..sent])
}

/// Returns non-repeating bytes.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect()
}

fn part(dir: &Path) -> std::path::PathBuf {
    dir.join(format!("{FILE}.part"))
}

#[test]
fn an_interrupted_download_is_resumed() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[Reply::Cut(200_000), Reply::Cut(150_000)]);
    index.fetch(dir.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["", "bytes=200000-", "bytes=350000-"]);
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
    assert!(!part(dir.path()).exists(), "no partial file remains");
    index.fetch(dir.path(), &content).unwrap();
    assert!(index.ranges().is_empty(), "a complete file is not requested");
}

#[test]
fn a_killed_download_is_resumed() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(dir.path()), &content[..123_456]).unwrap();
    let index = Index::start(&content, &[]);
    index.fetch(dir.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["bytes=123456-"]);
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_complete_partial_file_is_only_verified() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(dir.path()), &content).unwrap();
    let index = Index::start(&content, &[]);
    index.fetch(dir.path(), &content).unwrap();
    assert_eq!(index.ranges(), [format!("bytes={}-", content.len())], "responded with 416");
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_server_without_ranges_sends_the_whole_file() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(dir.path()), &content[..1000]).unwrap();
    let index = Index::start(&content, &[Reply::Whole]);
    index.fetch(dir.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["bytes=1000-"]);
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_partial_file_of_another_file_is_discarded() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    for left in [vec![7; 1000], vec![7; content.len()], vec![7; content.len() + 1]] {
        let _ = fs::remove_file(dir.path().join(FILE));
        fs::write(part(dir.path()), &left).unwrap();
        let index = Index::start(&content, &[]);
        index.fetch(dir.path(), &content).unwrap();
        assert_eq!(index.ranges(), [format!("bytes={}-", left.len()), String::new()]);
        assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
    }
}

#[test]
fn a_file_with_another_hash_is_deleted() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[]);
    let error = index.fetch(dir.path(), b"the pinned content").unwrap_err().to_string();
    assert!(error.contains("see the messages above"), "{error}");
    assert_eq!(index.ranges(), [""]);
    assert!(!part(dir.path()).exists() && !dir.path().join(FILE).exists());
}

#[test]
fn stalled_downloads_fail_and_keep_the_partial_file() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    let mut replies = vec![Reply::Cut(5000)];
    replies.extend([Reply::Cut(0); 5]);
    let index = Index::start(&content, &replies);
    let error = index.fetch(dir.path(), &content).unwrap_err().to_string();
    assert!(error.contains("The partial download is kept"), "{error}");
    assert_eq!(fs::read(part(dir.path())).unwrap(), content[..5000]);
    index.fetch(dir.path(), &content).unwrap();
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_file_denied_by_the_server_is_requested_once() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[Reply::Status(403)]);
    index.fetch(dir.path(), &content).unwrap_err();
    assert_eq!(index.ranges(), [""]);
}

#[test]
fn downloads_report_their_size_and_progress() {
    let (content, dir) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[Reply::Cut(600_000)]);
    index.fetch(dir.path(), &content).unwrap();
    let events = index.events.into_inner().unwrap();
    let text = |part: &str| format!("downloading {FILE} {part} of 1.2 MB");
    let at = |part: &str| events.iter().position(|event| *event == text(part));
    assert!(at("0.0") == Some(0) && at("0.6").is_some(), "{events:?}");
    assert_eq!(events.last(), Some(&text("1.2")));
}
