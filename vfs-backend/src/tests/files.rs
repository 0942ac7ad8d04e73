use futures_executor::block_on;
use tidebox_core::{
    Content, Dialect, EditRequest, FileErrorCode, FileKind, Limits, LineWindow, ReadRequest, SandboxBackend,
    SandboxPath, ToolContent,
};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, chmod, code, js, mode, path, read, sandbox, symlink, text, write};
use crate::VfsBackend;

fn page(sandbox: &VfsBackend, name: &str, offset: u64, limit: u64) -> (String, Option<LineWindow>) {
    let request = ReadRequest::new(path(name)).with_offset(offset).with_limit(limit);
    let response = block_on(sandbox.read(request)).unwrap().unwrap();
    match response.content {
        Content::Text(text) => (text, response.window),
        Content::Binary(_) => panic!("{name} is binary"),
    }
}

fn edit(sandbox: &VfsBackend, name: &str, old: &str, new: &str) -> Result<usize, FileErrorCode> {
    let edited = block_on(sandbox.edit(EditRequest::new(path(name), old, new))).unwrap();
    edited.map(|edited| edited.occurrences).map_err(|error| error.code)
}

fn delete(sandbox: &VfsBackend, name: &str) -> Result<(), FileErrorCode> {
    block_on(sandbox.delete(&path(name))).unwrap().map(drop).map_err(|error| error.code)
}

fn list_names(sandbox: &VfsBackend, name: &str) -> Vec<String> {
    let listed = block_on(sandbox.ls(&path(name))).unwrap().unwrap();
    listed.entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect()
}

const ALL: [Dialect; 3] = [Dialect::Js, Dialect::Python, Dialect::LangchainTests];

/// Names that break tools which pass them through a shell or parse its output.
const HARD_NAMES: &[&[u8]] = &[
    b"a b",
    b"'\"`$(x)",
    b"a:1:b",
    b"new\nline",
    b"-rf",
    b"*?[",
    "é👋".as_bytes(),
    b"\xff\xfe",
    b"\\",
    b"\x01\x7f",
    b"...",
];

#[test]
fn every_name_works_in_every_tool() {
    let sandbox = js();
    let workspace = path("/workspace/d");
    for name in HARD_NAMES {
        let path = SandboxPath::parse(workspace.join(name)).unwrap();
        let request = tidebox_core::WriteRequest::new(path.clone(), "needle\n");
        block_on(sandbox.write(request)).unwrap().unwrap();
        assert_eq!(
            block_on(sandbox.edit(EditRequest::new(path.clone(), "needle", "thread"))).unwrap().unwrap().occurrences,
            1
        );
        let content = block_on(sandbox.read(ReadRequest::new(path.clone()))).unwrap().unwrap().content;
        assert_eq!(content, Content::Text("thread\n".to_owned()));
        let got = block_on(sandbox.download_files(vec![path.as_bytes().to_vec()])).unwrap();
        assert_eq!(got[0].result.as_deref(), Ok(&b"thread\n"[..]));
        let found =
            block_on(sandbox.grep(tidebox_core::GrepRequest::new("thread", workspace.clone()))).unwrap().unwrap();
        assert_eq!(found.matches[0].path, path.as_bytes());
        let found = block_on(sandbox.glob(tidebox_core::GlobRequest::new("*", workspace.clone()))).unwrap().unwrap();
        assert_eq!(found.files[0].path, *name);
        assert_eq!(block_on(sandbox.ls(&workspace)).unwrap().unwrap().entries[0].path, path.as_bytes());
        block_on(sandbox.delete(&path)).unwrap().unwrap();
        assert!(block_on(sandbox.ls(&workspace)).unwrap().unwrap().entries.is_empty());
    }
}

#[test]
fn a_page_reports_its_window() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "1\n2\n3\n4\n5").unwrap();
    assert_eq!(
        page(&sandbox, "/workspace/a", 1, 2),
        ("2\n3\n".into(), Some(LineWindow { start: 2, end: 3, total: 5 }))
    );
    assert_eq!(page(&sandbox, "/workspace/a", 4, 9), ("5".into(), Some(LineWindow { start: 5, end: 5, total: 5 })));
    let past = ReadRequest::new(path("/workspace/a")).with_offset(5);
    assert_eq!(code(block_on(sandbox.read(past)).unwrap()), FileErrorCode::PastEnd);
}

#[test]
fn the_default_page_size_follows_the_dialect() {
    for (dialect, lines) in [(Dialect::Js, 500), (Dialect::Python, 2000)] {
        let sandbox = sandbox(dialect);
        write(&sandbox, "/workspace/a", "x\n".repeat(3000)).unwrap();
        assert_eq!(read(&sandbox, "/workspace/a").unwrap().window.unwrap().end, lines);
    }
}

#[test]
fn an_empty_file_and_no_lines_have_no_window() {
    let sandbox = js();
    write(&sandbox, "/workspace/empty", "").unwrap();
    write(&sandbox, "/workspace/a", "1\n").unwrap();
    let empty = read(&sandbox, "/workspace/empty").unwrap();
    assert_eq!((empty.content, empty.window, empty.no_lines_requested), (Content::Text(String::new()), None, false));
    let none = block_on(sandbox.read(ReadRequest::new(path("/workspace/a")).with_limit(0))).unwrap().unwrap();
    assert_eq!((none.content, none.window, none.no_lines_requested), (Content::Text(String::new()), None, true));
}

#[test]
fn an_empty_file_returns_the_reminder() {
    for dialect in ALL {
        let sandbox = sandbox(dialect);
        for name in ["/workspace/empty", "/workspace/empty.png"] {
            write(&sandbox, name, "").unwrap();
            for limit in [0, 100] {
                let empty = block_on(sandbox.read(ReadRequest::new(path(name)).with_limit(limit))).unwrap().unwrap();
                let reminder = "System reminder: File exists but has empty contents";
                assert_eq!(empty.tool_content(Dialect::Js), ToolContent::Text(reminder.into()), "{name}");
                assert!(empty.is_empty_file(), "{name}");
                assert_eq!((&*empty.mime, empty.no_lines_requested), ("text/plain", false));
            }
        }
    }
}

#[test]
fn pages_concatenate_in_js_and_join_by_lf_in_python() {
    for (dialect, joint) in [(Dialect::Js, ""), (Dialect::Python, "\n"), (Dialect::LangchainTests, "\n")] {
        let sandbox = sandbox(dialect);
        for content in ["1\n\n3\n4\n5", "1\n\n3\n4\n", "\n\n", "x"] {
            write(&sandbox, &format!("/workspace/{}", content.len()), content).unwrap();
            let (mut pages, mut offset) = (Vec::new(), Some(0));
            while let Some(from) = offset {
                let (text, window) = page(&sandbox, &format!("/workspace/{}", content.len()), from, 2);
                pages.push(text);
                offset = window.unwrap().next_offset();
            }
            assert_eq!(pages.join(joint), content, "{dialect:?}");
        }
    }
}

#[test]
fn read_errors_have_the_dialects_message() {
    for (dialect, missing, directory) in [
        (Dialect::Js, "File '/workspace/x' not found", "'/workspace' is not a regular file but a directory"),
        (Dialect::Python, "File '/workspace/x': file_not_found", "File '/workspace': not_a_file"),
    ] {
        let sandbox = sandbox(dialect);
        assert_eq!(read(&sandbox, "/workspace/x").unwrap_err().message, missing);
        assert_eq!(read(&sandbox, "/workspace").unwrap_err().message, directory);
        let edited = block_on(sandbox.edit(EditRequest::new(path("/workspace/x"), "a", "b"))).unwrap().unwrap_err();
        assert_eq!(edited.message, "File '/workspace/x' not found", "of edit in every dialect");
    }
    let sandbox = sandbox(Dialect::Python);
    write(&sandbox, "/workspace/secret", "x").unwrap();
    chmod(&sandbox, "/workspace/secret", 0);
    assert_eq!(read(&sandbox, "/workspace/secret").unwrap_err().message, "File '/workspace/secret': permission_denied");
}

#[test]
fn line_ends_are_kept_in_js_and_become_lf_in_python() {
    for (dialect, shown) in [(Dialect::Js, "a\r\nb\r\n"), (Dialect::Python, "a\nb\n")] {
        let sandbox = sandbox(dialect);
        write(&sandbox, "/workspace/a", "a\r\nb\r\n").unwrap();
        assert_eq!(text(&sandbox, "/workspace/a"), shown);
        assert_eq!(edit(&sandbox, "/workspace/a", "a\nb", "c\nd"), Ok(1));
        let bytes = block_on(sandbox.download_files(vec![b"/workspace/a".to_vec()])).unwrap();
        assert_eq!(bytes[0].result.as_deref(), Ok(&b"c\r\nd\r\n"[..]), "the file keeps its line ends");
    }
}

#[test]
fn content_and_name_decide_whether_a_file_is_binary() {
    for dialect in ALL {
        let sandbox = sandbox(dialect);
        write(&sandbox, "/workspace/a.png", "text").unwrap();
        write(&sandbox, "/workspace/a.txt", b"\xff\x00".to_vec()).unwrap();
        let named = read(&sandbox, "/workspace/a.png").unwrap();
        assert_eq!((named.content, &*named.mime), (Content::Binary(b"text".to_vec()), "image/png"));
        let bytes = read(&sandbox, "/workspace/a.txt").unwrap();
        assert_eq!(bytes.content, Content::Binary(b"\xff\x00".to_vec()));
        assert_eq!(bytes.mime, "application/octet-stream");
    }
}

#[test]
fn a_large_binary_file_fails_with_the_reference_message() {
    let sandbox = sandbox(Dialect::Python);
    write(&sandbox, "/workspace/a.bin", vec![0xff; 512_000]).unwrap();
    assert!(read(&sandbox, "/workspace/a.bin").is_ok());
    write(&sandbox, "/workspace/a.bin", vec![0xff; 512_001]).unwrap();
    let error = read(&sandbox, "/workspace/a.bin").unwrap_err();
    assert_eq!(error.message, "File '/workspace/a.bin': Binary file exceeds maximum preview size of 512000 bytes");
}

#[test]
fn a_file_of_many_blocks_is_read_as_one() {
    let sandbox = js();
    let line = "0123456789abcde\n";
    write(&sandbox, "/workspace/big", line.repeat(1 << 20)).unwrap();
    let (text, window) = page(&sandbox, "/workspace/big", (1 << 20) - 2, 10);
    assert_eq!(text, line.repeat(2));
    assert_eq!(window.unwrap().total, 1 << 20);
}

#[test]
fn reading_a_non_file_reports_its_kind() {
    let sandbox = js();
    symlink(&sandbox, "loop", "/workspace/loop");
    for (name, expected) in [
        ("/workspace/nothing", FileErrorCode::FileNotFound),
        ("/workspace", FileErrorCode::IsDirectory),
        ("/etc/passwd/x", FileErrorCode::NotADirectory),
        ("/dev/null", FileErrorCode::NotARegularFile),
        ("/proc/self/status", FileErrorCode::NotARegularFile),
        ("/workspace/loop", FileErrorCode::InvalidPath),
    ] {
        assert_eq!(code(read(&sandbox, name)), expected, "{name}");
    }
    let long = format!("/{}", "x".repeat(5000));
    assert_eq!(code(read(&sandbox, &long)), FileErrorCode::InvalidPath);
    assert_eq!(read(&sandbox, "/workspace/nothing").unwrap_err().message, "File '/workspace/nothing' not found");
}

#[test]
fn write_creates_parents_and_replaces_files() {
    let sandbox = js();
    assert_eq!(write(&sandbox, "/workspace/a/b/c.txt", "1"), Ok(true));
    assert_eq!(mode(&sandbox, "/workspace/a/b"), 0o755);
    chmod(&sandbox, "/workspace/a/b/c.txt", 0o600);
    assert_eq!(write(&sandbox, "/workspace/a/b/c.txt", "2"), Ok(false));
    assert_eq!((text(&sandbox, "/workspace/a/b/c.txt").as_str(), mode(&sandbox, "/workspace/a/b/c.txt")), ("2", 0o600));
}

#[test]
fn the_old_suites_dialect_does_not_replace() {
    let sandbox = sandbox(Dialect::LangchainTests);
    write(&sandbox, "/workspace/a", "1").unwrap();
    let error = write(&sandbox, "/workspace/a", "2").unwrap_err();
    assert_eq!(error.code, FileErrorCode::AlreadyExists);
    assert!(error.message.contains("already exists"));
    assert_eq!(text(&sandbox, "/workspace/a"), "1");
}

#[test]
fn write_rejects_system_paths_and_stays_in_the_sandbox() {
    let sandbox = js();
    for name in ["/bin/bash", "/bin/new", "/etc/passwd", "/workspace/../../../etc/passwd", "/usr/x/y", "/dev/x"] {
        assert_eq!(code(write(&sandbox, name, "x")), FileErrorCode::PermissionDenied, "{name}");
    }
    assert_eq!(code(write(&sandbox, "/workspace", "x")), FileErrorCode::IsDirectory);
    assert_eq!(code(write(&sandbox, "/etc/passwd/x", "x")), FileErrorCode::NotADirectory);
    assert_eq!(write(&sandbox, "/workspace/../../new", "x"), Ok(true));
    assert_eq!(text(&sandbox, "/new"), "x");
}

#[test]
fn write_follows_links_and_creates_a_missing_target() {
    let sandbox = js();
    symlink(&sandbox, "target", "/workspace/link");
    assert_eq!(write(&sandbox, "/workspace/link", "1"), Ok(true));
    assert_eq!(text(&sandbox, "/workspace/target"), "1");
}

#[test]
fn a_file_that_does_not_fit_keeps_the_old_content() {
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    limits.single_file_bytes = 900;
    let sandbox = builder(ScriptedEngine::new([Step::Exit(0)])).limits(limits).build().unwrap();
    write(&sandbox, "/workspace/a", vec![b'1'; 600]).unwrap();
    assert_eq!(code(write(&sandbox, "/workspace/b", vec![b'2'; 500])), FileErrorCode::NoSpace);
    assert_eq!(code(read(&sandbox, "/workspace/b")), FileErrorCode::FileNotFound, "no empty file is left");
    write(&sandbox, "/workspace/b", vec![b'2'; 300]).unwrap();
    assert_eq!(code(write(&sandbox, "/workspace/a", vec![b'3'; 800])), FileErrorCode::NoSpace);
    assert_eq!(text(&sandbox, "/workspace/a"), "1".repeat(600));
    assert_eq!(code(write(&sandbox, "/workspace/c", vec![b'4'; 901])), FileErrorCode::TooLarge);
    let all = EditRequest::new(path("/workspace/a"), "1", "22").all();
    assert_eq!(code(block_on(sandbox.edit(all)).unwrap()), FileErrorCode::TooLarge);
    assert_eq!(edit(&sandbox, "/workspace/a", &"1".repeat(600), &"2".repeat(800)), Err(FileErrorCode::NoSpace));
    assert_eq!(text(&sandbox, "/workspace/a"), "1".repeat(600));
}

#[test]
fn file_tools_respect_mode_bits() {
    let sandbox = js();
    write(&sandbox, "/workspace/d/a", "x").unwrap();
    chmod(&sandbox, "/workspace/d/a", 0o400);
    assert_eq!(code(write(&sandbox, "/workspace/d/a", "y")), FileErrorCode::PermissionDenied);
    assert_eq!(edit(&sandbox, "/workspace/d/a", "x", "y"), Err(FileErrorCode::PermissionDenied));
    chmod(&sandbox, "/workspace/d/a", 0o200);
    assert_eq!(edit(&sandbox, "/workspace/d/a", "x", "y"), Err(FileErrorCode::PermissionDenied));
    chmod(&sandbox, "/workspace/d/a", 0);
    assert_eq!(code(read(&sandbox, "/workspace/d/a")), FileErrorCode::PermissionDenied);
    chmod(&sandbox, "/workspace/d", 0o555);
    assert_eq!(code(write(&sandbox, "/workspace/d/b", "y")), FileErrorCode::PermissionDenied);
    assert_eq!(delete(&sandbox, "/workspace/d/a"), Err(FileErrorCode::PermissionDenied));
    chmod(&sandbox, "/workspace/d", 0o300);
    assert_eq!(code(block_on(sandbox.ls(&path("/workspace/d"))).unwrap()), FileErrorCode::PermissionDenied);
}

#[test]
fn edit_rejects_binary_files_without_changes() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", b"x\xff".to_vec()).unwrap();
    assert_eq!(edit(&sandbox, "/workspace/a", "x", "y"), Err(FileErrorCode::NotText));
    assert_eq!(edit(&sandbox, "/workspace/nothing", "x", "y"), Err(FileErrorCode::FileNotFound));
    assert_eq!(edit(&sandbox, "/workspace", "x", "y"), Err(FileErrorCode::IsDirectory));
    write(&sandbox, "/workspace/b", "one two one").unwrap();
    assert_eq!(edit(&sandbox, "/workspace/b", "one", "1"), Err(FileErrorCode::StringNotUnique));
    assert_eq!(text(&sandbox, "/workspace/b"), "one two one");
    let all = EditRequest::new(path("/workspace/b"), "one", "1").all();
    assert_eq!(block_on(sandbox.edit(all)).unwrap().unwrap().occurrences, 2);
    assert_eq!(text(&sandbox, "/workspace/b"), "1 two 1");
}

#[test]
fn ls_sorts_by_name_and_reports_kinds() {
    let sandbox = js();
    write(&sandbox, "/workspace/b", "12345").unwrap();
    write(&sandbox, "/workspace/a/x", "1").unwrap();
    symlink(&sandbox, "a", "/workspace/c");
    assert_eq!(list_names(&sandbox, "/workspace"), ["/workspace/a", "/workspace/b", "/workspace/c"]);
    assert_eq!(list_names(&sandbox, "/workspace/c"), ["/workspace/c/x"], "a link to a directory is followed");
    let entries = block_on(sandbox.ls(&path("/workspace"))).unwrap().unwrap().entries;
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.size)).collect();
    assert_eq!(kinds, [(FileKind::Directory, None), (FileKind::File, Some(5)), (FileKind::Symlink, None)]);
    let modified = entries[1].modified.unwrap().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(modified.as_nanos(), u128::from(super::TODAY));
}

#[test]
fn ls_of_a_missing_path_follows_the_dialect() {
    for (dialect, empty) in [(Dialect::Js, true), (Dialect::Python, false)] {
        let sandbox = sandbox(dialect);
        let missing = block_on(sandbox.ls(&path("/workspace/nothing"))).unwrap();
        match missing {
            Ok(listed) => assert!(empty && listed.entries.is_empty()),
            Err(error) => {
                assert!(!empty);
                assert_eq!(error.message, "Path '/workspace/nothing': path_not_found");
            }
        }
        let file = block_on(sandbox.ls(&path("/etc/passwd"))).unwrap().unwrap_err();
        assert_eq!(file.message, "Path '/etc/passwd': not_a_directory");
    }
}

#[test]
fn delete_removes_trees_and_does_not_follow_links() {
    let sandbox = js();
    write(&sandbox, "/workspace/t/a/b/c", "1").unwrap();
    write(&sandbox, "/workspace/t/d", "1").unwrap();
    write(&sandbox, "/workspace/kept/x", "1").unwrap();
    symlink(&sandbox, "/workspace/kept", "/workspace/t/link");
    assert_eq!(delete(&sandbox, "/workspace/t"), Ok(()));
    assert_eq!(list_names(&sandbox, "/workspace"), ["/workspace/kept"]);
    assert_eq!(list_names(&sandbox, "/workspace/kept"), ["/workspace/kept/x"]);
    assert_eq!(delete(&sandbox, "/workspace/t"), Err(FileErrorCode::FileNotFound));
}

#[test]
fn delete_rejects_the_root_and_system_paths() {
    let sandbox = js();
    for name in ["/", "/bin", "/bin/bash", "/etc/passwd", "/dev/null"] {
        assert_eq!(delete(&sandbox, name), Err(FileErrorCode::PermissionDenied), "{name}");
    }
    assert_eq!(delete(&sandbox, "/workspace/.."), Err(FileErrorCode::InvalidPath));
    assert!(list_names(&sandbox, "/bin").contains(&"/bin/bash".to_owned()));
}

#[test]
fn deeply_nested_directories_are_created_searched_and_deleted() {
    let sandbox = js();
    let deep = format!("/workspace/{}x", "d/".repeat(2000));
    write(&sandbox, &deep, "needle").unwrap();
    let found = block_on(sandbox.grep(tidebox_core::GrepRequest::new("needle", path("/")))).unwrap().unwrap();
    assert_eq!(found.matches.len(), 1);
    assert_eq!(delete(&sandbox, "/workspace/d"), Ok(()));
    assert!(list_names(&sandbox, "/workspace").is_empty());
}
