//! Files that the Deep Agents harness stores for the model: results that are too large for the conversation, and the
//! conversation itself. A failing `write` would lose them.

use futures_executor::block_on;
use tidebox_core::{
    Content, Dialect, EditRequest, GrepRequest, LineWindow, ReadRequest, SandboxBackend, SandboxPath, Upload,
};

use super::{path, sandbox, text, write};

/// Identifiers of providers after the harness has replaced `.`, `/` and `\\` with `_`; the last one is a long one,
/// shortened.
const CALLS: [&str; 5] = [
    "call_Zm9vYmFy",
    "toolu_01A09q90qw90lq917835lq9",
    "functions_execute:0",
    "chatcmpl-tool-9f86d081884c7d659a2feaa0c55ad015",
    "call-6ba7b810-9dad-11d1-80b4-00c04fd430c8",
];

const LINES: u64 = 100_000;

/// Slightly more than five megabytes.
fn result() -> String {
    (0..LINES).map(|line| format!("{line:06} a line of a large result that a tool gave back\n")).collect()
}

/// Paths at which JavaScript (`.txt`) and Python store a result.
fn result_path(dialect: Dialect, call: &str) -> SandboxPath {
    let end = if dialect == Dialect::Js { ".txt" } else { "" };
    path(&format!("/large_tool_results/{call}{end}"))
}

#[test]
fn a_large_result_is_written_and_read_in_pages() {
    let result = result();
    assert!(result.len() > 5_000_000);
    for dialect in [Dialect::Js, Dialect::Python, Dialect::LangchainTests] {
        let sandbox = sandbox(dialect);
        for call in CALLS {
            let location = result_path(dialect, call);
            assert_eq!(write(&sandbox, &location.to_text(), result.clone()), Ok(true), "{location}");
            let page = ReadRequest::new(location.clone()).with_offset(LINES - 150).with_limit(100);
            let page = block_on(sandbox.read(page)).unwrap().unwrap();
            let window = page.window.unwrap();
            assert_eq!(window, LineWindow { start: LINES - 149, end: LINES - 50, total: LINES });
            let Content::Text(shown) = page.content else { panic!("the result is text") };
            assert!(shown.starts_with("099850 a line"), "{}", &shown[..20]);
        }
        let found = GrepRequest::new("077777 ", path("/large_tool_results"));
        let found = block_on(sandbox.grep(found)).unwrap().unwrap();
        assert_eq!((found.matches.len(), found.truncated), (CALLS.len(), None));
        assert!(found.matches.iter().all(|found| found.line == 77_778));
    }
}

#[test]
fn a_long_message_is_written_whole_and_found() {
    for dialect in [Dialect::Js, Dialect::Python] {
        let sandbox = sandbox(dialect);
        let message = "word ".repeat(1_000_000);
        assert_eq!(write(&sandbox, "/conversation_history/4f2a9c1e", message.clone()), Ok(true));
        let got = block_on(sandbox.download_files(vec![b"/conversation_history/4f2a9c1e".to_vec()])).unwrap();
        assert_eq!(got[0].result.as_ref().map(Vec::len), Ok(message.len()));
    }
}

#[test]
fn a_summary_survives_download_upload_and_edit() {
    for dialect in [Dialect::Js, Dialect::Python] {
        let sandbox = sandbox(dialect);
        let name = "/conversation_history/thread-1.md";
        let missing = block_on(sandbox.download_files(vec![name.into()])).unwrap();
        assert!(missing[0].result.is_err(), "a fresh sandbox has no history");
        let upload = vec![Upload::new(name, "## Summary\nfirst\n")];
        assert_eq!(block_on(sandbox.upload_files(upload)).unwrap()[0].result, Ok(()));
        let edit = EditRequest::new(path(name), "first\n", "first\n## Summary\nsecond\n");
        assert_eq!(block_on(sandbox.edit(edit)).unwrap().unwrap().occurrences, 1);
        assert_eq!(text(&sandbox, name), "## Summary\nfirst\n## Summary\nsecond\n");
    }
}
