//! Downloads that break off, against an index on this machine that does it.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};

use crate::{PYTHON, PackError, Pin, WheelSource, fetch};

const FILE: &str = "small-1.0-py3-none-any.whl";

/// How a request for the file is answered.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// As a server that knows parts does.
    Right,
    /// The same, but the connection ends after so many bytes.
    Cut(usize),
    /// All of it, whatever part was asked for.
    Whole,
    /// This status and nothing else.
    Status(u16),
}

/// An index with one file, and what it was asked.
struct Index {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Index {
    /// Answers requests for the file as the list says, and rightly when it is used up.
    fn start(content: &[u8], answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/simple", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (content, mut answers, noted) = (content.to_vec(), VecDeque::from(answers.to_vec()), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that is gone is not our business.
                let _ = answer(stream.unwrap(), &content, &mut answers, &noted);
            }
        });
        Self { address, asked }
    }

    /// The ranges that were asked for, one request a piece; of the file only.
    fn ranges(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn fetch(&self, folder: &Path, content: &[u8]) -> Result<(), PackError> {
        let sha256 = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let pin = Pin { project: "small".into(), version: "1.0".into(), file: FILE.into(), sha256 };
        fetch::fetch(folder, &[pin], &PYTHON, &WheelSource::IndexAt(self.address.clone()))
    }
}

fn answer(
    mut stream: TcpStream,
    content: &[u8],
    answers: &mut VecDeque<Answer>,
    asked: &Mutex<Vec<String>>,
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
    asked.lock().unwrap().push(range.clone());
    let how = answers.pop_front().unwrap_or(Answer::Right);
    let from = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-')).map(|from| from.parse().unwrap());
    let (status, from) = match (how, from) {
        (Answer::Status(status), _) => (status, content.len()),
        (Answer::Right | Answer::Cut(_), Some(from)) if from < content.len() => (206, from),
        (Answer::Right | Answer::Cut(_), Some(_)) => (416, content.len()),
        _ => (200, 0),
    };
    let body = &content[from..];
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n", body.len())?;
    if status == 206 {
        write!(stream, "Content-Range: bytes {from}-{}/{}\r\n", content.len() - 1, content.len())?;
    }
    stream.write_all(b"\r\n")?;
    let sent = if let Answer::Cut(after) = how { after.min(body.len()) } else { body.len() };
    stream.write_all(&body[..sent])
}

/// Some bytes that are not the same everywhere.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect()
}

fn part(folder: &Path) -> std::path::PathBuf {
    folder.join(format!("{FILE}.part"))
}

#[test]
fn a_download_that_breaks_off_goes_on_where_it_was() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[Answer::Cut(200_000), Answer::Cut(150_000)]);
    index.fetch(folder.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["", "bytes=200000-", "bytes=350000-"]);
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
    assert!(!part(folder.path()).exists(), "nothing is left of the attempts");
    index.fetch(folder.path(), &content).unwrap();
    assert!(index.ranges().is_empty(), "what is there is not asked for");
}

#[test]
fn what_a_killed_download_left_is_gone_on_with() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(folder.path()), &content[..123_456]).unwrap();
    let index = Index::start(&content, &[]);
    index.fetch(folder.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["bytes=123456-"]);
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
}

#[test]
fn what_was_whole_when_the_kill_came_is_only_looked_at() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(folder.path()), &content).unwrap();
    let index = Index::start(&content, &[]);
    index.fetch(folder.path(), &content).unwrap();
    assert_eq!(index.ranges(), [format!("bytes={}-", content.len())], "answered with 416");
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_server_without_parts_delivers_all_of_it() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    fs::write(part(folder.path()), &content[..1000]).unwrap();
    let index = Index::start(&content, &[Answer::Whole]);
    index.fetch(folder.path(), &content).unwrap();
    assert_eq!(index.ranges(), ["bytes=1000-"]);
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_beginning_of_another_file_is_dropped_and_all_is_fetched() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    for left in [vec![7; 1000], vec![7; content.len()], vec![7; content.len() + 1]] {
        let _ = fs::remove_file(folder.path().join(FILE));
        fs::write(part(folder.path()), &left).unwrap();
        let index = Index::start(&content, &[]);
        index.fetch(folder.path(), &content).unwrap();
        assert_eq!(index.ranges(), [format!("bytes={}-", left.len()), String::new()]);
        assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
    }
}

#[test]
fn a_file_that_is_not_the_pinned_one_is_fetched_once_and_not_kept() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[]);
    let error = index.fetch(folder.path(), b"what was pinned").unwrap_err().to_string();
    assert!(error.contains("for the reason above"), "{error}");
    assert_eq!(index.ranges(), [""]);
    assert!(!part(folder.path()).exists() && !folder.path().join(FILE).exists());
}

#[test]
fn a_server_that_never_gets_further_is_given_up_and_what_came_is_kept() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let mut answers = vec![Answer::Cut(5000)];
    answers.extend([Answer::Cut(0); 5]);
    let index = Index::start(&content, &answers);
    let error = index.fetch(folder.path(), &content).unwrap_err().to_string();
    assert!(error.contains("What was fetched is kept"), "{error}");
    assert_eq!(fs::read(part(folder.path())).unwrap(), content[..5000]);
    index.fetch(folder.path(), &content).unwrap();
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), content);
}

#[test]
fn a_file_that_the_server_refuses_is_asked_for_once() {
    let (content, folder) = (content(), tempfile::tempdir().unwrap());
    let index = Index::start(&content, &[Answer::Status(403)]);
    index.fetch(folder.path(), &content).unwrap_err();
    assert_eq!(index.ranges(), [""]);
}
