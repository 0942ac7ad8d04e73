//! Seed inputs for mutation: the files below `corpus/`, and files of the repository that are such inputs.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum length of a seed in bytes.
const MAX_SEED_BYTES: u64 = 32 << 10;

/// Maximum number of seeds of a target, so that each is used regularly.
const MAX_SEEDS: usize = 2000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Seeds of a target.
pub fn examples(target: &str) -> Vec<Vec<u8>> {
    let own = files(&root().join("fuzz/corpus").join(target), "");
    let more = match target {
        "shell_parser" => after(&[0], scripts()),
        "shell_expansion" => words(),
        "shell_matching" => {
            words().into_iter().zip(words().into_iter().skip(1)).map(|(one, two)| [one, two].join(&b'\n')).collect()
        }
        "provider_replies" => replies(),
        "module_rewriting" | "module_bounding" => modules(),
        "snapshots" => crate::snapshots::examples(),
        "tars" => crate::snapshots::tars(),
        "shell_session" => vec![session()],
        "urls_and_rules" => urls(),
        _ => Vec::new(),
    };
    own.into_iter().chain(more).take(MAX_SEEDS).collect()
}

/// Returns the files of a directory with this suffix, sorted by name.
fn files(dir: &Path, suffix: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(suffix) && path.is_file());
    paths.sort();
    let short = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() <= MAX_SEED_BYTES);
    paths.iter().filter(|path| short(path)).filter_map(|path| fs::read(path).ok()).collect()
}

fn after(start: &[u8], texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| [start, &text].concat()).collect()
}

/// Returns the scripts of the recorded shell cases and of the hostile guests.
fn scripts() -> Vec<Vec<u8>> {
    let mut scripts = files(&root().join("userland/hostile"), ".sh");
    for cases in files(&root().join("tests/spec/cases"), ".spec") {
        let text = String::from_utf8_lossy(&cases).into_owned();
        scripts.extend(text.split("\n--- ").filter(|part| part.len() < 600).map(|part| part.as_bytes().to_vec()));
    }
    // Spread over all files.
    let step = scripts.len().div_ceil(MAX_SEEDS).max(1);
    scripts.into_iter().step_by(step).collect()
}

/// Returns the shell words with expansions from those scripts.
fn words() -> Vec<Vec<u8>> {
    let scripts = scripts();
    let words = scripts.iter().flat_map(|script| script.split(|byte| b" \n;".contains(byte)));
    words
        .filter(|word| word.contains(&b'$') || word.contains(&b'{') || word.contains(&b'['))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Builds the state of a shell session without its header: lists with their lengths.
fn session() -> Vec<u8> {
    let parts: [&[u8]; 8] = [
        // Directory and unset variables.
        b"\x01\x04/tmp",
        b"\x01\x04HOME",
        // Variables with flags: unset, a text, an array, an associative array.
        b"\x04\x01u\x00\x00\x01t\x01\x01\x02x\xff\x01l\x00\x02\x02\x00\x01p\xff\x07\x01q\x01m\x02\x03\x01\x01k\x01v",
        // Functions: unset ones, and one with text, source, line and flags.
        b"\x01\x01g",
        b"\x01\x01f\x06{ :; }\x04bash\x01\x03",
        // Aliases, directory stack, jobs with their processes.
        b"\x01\x02ll\x05ls -l",
        b"\x01\x01/",
        b"\x01\x03\x02\x05\x06\x05sleep",
    ];
    let state = parts.concat();
    assert!(tidebox_fuzz_shell::session(&state), "the example is no state: the format of sessions has changed");
    state
}

/// A cassette with calls of a provider and of a sandbox, results and failures.
const CASSETTE: &str = r#"{"tidebox_cassette": 1, "interactions": [
{"call": {"get_or_create": {"labels": {"a": "b"}}}, "answer": {"get_or_create": {"id": "s"}}},
{"sandbox": "s", "call": {"execute_streaming": {"command": ["cd /tmp\n", "ls"], "timeout": "1.5s", "env": [["A", "1"]]}},
 "answer": {"execute": {"events": [{"stdout": "1 "}, {"stderr": ["a\n", "b"]}], "exit_code": 0, "duration": "0s"}}},
{"sandbox": "s", "call": {"write": {"path": "/a", "content": {"base64": "/w=="}}}, "answer": {"write": {"path": "/a", "created": true}}},
{"sandbox": "s", "call": {"edit": {"path": "/a", "old": "x", "new": "y"}}, "answer": {"edit": {"path": "/a", "occurrences": 1}}},
{"sandbox": "s", "call": {"read": {"path": "/a", "limit": 5}}, "answer": {"refused": {"code": "no_space", "message": ""}}},
{"sandbox": "s", "call": {"glob": {"pattern": "*", "path": "/"}}, "answer": {"glob": {"files": []}}},
{"sandbox": "s", "call": {"upload_files": {"files": [{"path": "b", "content": "1"}]}}, "answer": {"upload_files": {"files": [{"path": "b"}]}}},
{"call": {"list": {}}, "answer": {"list": {"sandboxes": [{"id": "s", "labels": {"a": "b"}}], "cursor": "c"}}},
{"call": {"delete_sandbox": {"id": "s"}}, "answer": {"delete_sandbox": {}}}
]}"#;

/// Builds texts of each kind that the target reads: URLs with a redirect, patterns with a path, a cassette, paths.
fn urls() -> Vec<Vec<u8>> {
    let read = tidebox_core::layer::Cassette::parse(CASSETTE);
    assert!(read.is_ok(), "the example is no cassette: the format has changed: {read:?}");
    let kinds: [&[&str]; 4] = [
        &[
            "https://a.example.com:8443/a/../b%20c?q=1#f\n../d?e",
            "http://[::1]:80/\nhttps://b.example.com/",
            "http://192.168.0.1/a\n//*.example.com",
        ],
        &["src/**/*.{rs,toml}\nsrc/a/b.rs", "[!a-c]?[[:digit:]]\nd1", "{1..3}/*\n2/x", "\\*a\n*a"],
        &["{\"tidebox_cassette\": 1, \"interactions\": []}", CASSETTE],
        &["/a/../b/./c//d/", "~/x", "/\u{e9}/\u{1f44b}"],
    ];
    let of_kind =
        |(kind, texts): (u8, &[&str])| texts.iter().map(|text| [&[kind], text.as_bytes()].concat()).collect::<Vec<_>>();
    (0..).zip(kinds).flat_map(of_kind).collect()
}

/// Returns the modules of the hostile guests, and a component.
fn modules() -> Vec<Vec<u8>> {
    let texts = files(&root().join("userland/hostile"), ".wat");
    let mut modules: Vec<Vec<u8>> = texts
        .iter()
        .filter_map(|text| wat::parse_bytes(text).ok().map(std::borrow::Cow::into_owned))
        .filter(|module| module.len() <= 4096)
        .collect();
    modules.extend(wat::parse_str(
        "(component (core module (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0))) (memory 1)))",
    ));
    modules
}

/// Builds replies of every provider with every status from these bodies.
fn replies() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"sandboxID":"s1","envdAccessToken":"t","domain":"d","metadata":{"a":"b"}}"#,
        r#"[{"sandboxID":"s1","metadata":{"a":"b"}},{"id":"x","status":"running","labels":{"k":"v"}}]"#,
        r#"{"items":[{"id":"1","name":"n","state":"started","labels":{"k":"v"}}],"nextCursor":"c","total":3}"#,
        r#"{"devboxes":[{"id":"d","status":"running","metadata":{"k":"v"}}],"has_more":true}"#,
        r#"{"devbox_id":"d","execution_id":"e","status":"completed","stdout":"o","stderr":"e","exit_status":0}"#,
        r#"{"message":"path is a file","code":400,"errors":["/b: permission denied"],"files":[{"path":"/b"}]}"#,
        r#"{"event":{"start":{"pid":7}}}"#,
        r#"{"event":{"data":{"stdout":"aGk=","stderr":"aGk="}}}"#,
        r#"{"event":{"end":{"exitCode":1,"exited":true,"status":"exit status 1"}},"error":{"code":"c","message":"m"}}"#,
        r#"{"type":"stdout","offset":3,"data":"aGk="}"#,
        r#"{"type":"exit","exit_code":-1,"error":"e","error_type":"CommandTimeout"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"pid":3,"success":false,"code":1,"signal":"SIGKILL"}}"#,
        r#"{"error":{"code":"NOT_FOUND","message":"m","details":[]},"error_kind":"NotFound","detail":"d"}"#,
        "event: stdout\ndata: {\"data\":\"aGk=\",\"offset\":0}\n\nevent: exit\r\ndata: {\"exit_code\":0}\r\n\r\n: comment\n\n",
        "multipart/form-data; boundary=b\n\r\n--b\r\ncontent-disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n",
        "\0\0\0\0\u{b}{\"event\":{}}\u{2}\0\0\0\u{2}{}",
        "\n\u{5}hello\u{12}\u{2}hi\u{18}\u{1}",
    ];
    let each = |text: &str| (0..9).map(|provider| [&[provider, 2], text.as_bytes()].concat()).collect::<Vec<_>>();
    texts.iter().flat_map(|text| each(text)).collect()
}
