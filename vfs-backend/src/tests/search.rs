use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_executor::block_on;
use tidebox_core::{
    Dialect, FileErrorCode, GlobRequest, GlobResponse, GrepRequest, GrepResponse, SandboxBackend, Truncation,
};
use tidebox_kernel::{Clock, SeededEntropy};

use super::scripted_engine::ScriptedEngine;
use super::{chmod, code, js, path, sandbox, symlink, write};
use crate::{BaseImage, SandboxBuilder, VfsBackend};

fn glob(sandbox: &VfsBackend, pattern: &str, root: &str) -> (Vec<String>, Option<Truncation>) {
    let response: GlobResponse = block_on(sandbox.glob(GlobRequest::new(pattern, path(root)))).unwrap().unwrap();
    let paths = response.files.iter().map(|file| String::from_utf8_lossy(&file.path).into_owned());
    (paths.collect(), response.truncated)
}

fn grep(sandbox: &VfsBackend, request: GrepRequest) -> GrepResponse {
    block_on(sandbox.grep(request)).unwrap().unwrap()
}

fn lines(sandbox: &VfsBackend, request: GrepRequest) -> Vec<String> {
    let line = |found: tidebox_core::GrepMatch| {
        let (path, text) = (String::from_utf8_lossy(&found.path), String::from_utf8_lossy(&found.text));
        format!("{path}:{}:{text}", found.line)
    };
    grep(sandbox, request).matches.into_iter().map(line).collect()
}

fn tree(dialect: Dialect) -> VfsBackend {
    let sandbox = sandbox(dialect);
    for name in ["a.py", "b.txt", ".hidden.py", "src/c.py", "src/deep/d.py", ".git/e.py"] {
        write(&sandbox, &format!("/workspace/{name}"), format!("import {name}\n")).unwrap();
    }
    sandbox
}

#[test]
fn glob_in_js_is_relative_and_finds_directories() {
    let sandbox = tree(Dialect::Js);
    assert_eq!(glob(&sandbox, "*.py", "/workspace").0, [".hidden.py", "a.py"]);
    assert_eq!(glob(&sandbox, "*", "/workspace").0, [".git", ".hidden.py", "a.py", "b.txt", "src"]);
    assert_eq!(glob(&sandbox, "**/d.py", "/workspace").0, ["src/deep/d.py"]);
    assert_eq!(glob(&sandbox, "s*/", "/workspace").0, ["src"]);
    let found = block_on(sandbox.glob(GlobRequest::new("src", path("/workspace")))).unwrap().unwrap();
    assert!(found.files[0].is_dir());
}

#[test]
fn glob_of_the_whole_tree_is_absolute_in_every_dialect() {
    for dialect in [Dialect::Js, Dialect::Python, Dialect::LangchainTests] {
        let sandbox = tree(dialect);
        assert_eq!(glob(&sandbox, "**/d.py", "/").0, ["/workspace/src/deep/d.py"]);
        assert_eq!(glob(&sandbox, "/workspace/*.txt", "/").0, ["/workspace/b.txt"]);
    }
}

#[test]
fn glob_in_python_is_absolute_and_finds_only_files() {
    let sandbox = tree(Dialect::Python);
    let visible = ["/workspace/a.py", "/workspace/src/c.py", "/workspace/src/deep/d.py"];
    assert_eq!(glob(&sandbox, "**/*.py", "/workspace").0, visible);
    let all = [&["/workspace/.git/e.py"], &visible[..]].concat();
    assert_eq!(glob(&sandbox, "*.py", "/workspace").0, all, "a bare name is found in hidden directories, too");
    assert_eq!(glob(&sandbox, "src/*.py", "/workspace").0, ["/workspace/src/c.py"]);
    assert_eq!(glob(&sandbox, "src", "/workspace").0, [""; 0]);
    assert_eq!(glob(&sandbox, "{a,b}.*", "/workspace").0, ["/workspace/a.py", "/workspace/b.txt"]);
}

#[test]
fn glob_in_the_old_suites_dialect_is_relative_with_directories() {
    let sandbox = tree(Dialect::LangchainTests);
    assert_eq!(glob(&sandbox, "*", "/workspace").0, ["a.py", "b.txt", "src"]);
    assert_eq!(glob(&sandbox, ".*", "/workspace").0, [".git", ".hidden.py"]);
}

#[test]
fn a_link_to_a_directory_is_found_but_not_entered() {
    for dialect in [Dialect::Js, Dialect::Python] {
        let sandbox = sandbox(dialect);
        write(&sandbox, "/workspace/d/x", "needle\n").unwrap();
        symlink(&sandbox, "..", "/workspace/d/up");
        symlink(&sandbox, "x", "/workspace/d/file");
        let found = glob(&sandbox, "**/*", "/workspace/d").0;
        match dialect {
            Dialect::Js => assert_eq!(found, ["file", "up", "x"]),
            _ => assert_eq!(found, ["/workspace/d/file", "/workspace/d/x"]),
        }
        assert_eq!(lines(&sandbox, GrepRequest::new("needle", path("/workspace"))), ["/workspace/d/x:1:needle"]);
    }
}

#[test]
fn an_incomplete_search_reports_the_reason() {
    let sandbox = tree(Dialect::Js);
    chmod(&sandbox, "/workspace/src/deep", 0);
    assert_eq!(glob(&sandbox, "**/*.py", "/workspace/src"), (vec!["c.py".to_owned()], Some(Truncation::Unreadable)));
    let found = grep(&sandbox, GrepRequest::new("import", path("/workspace/src")));
    assert_eq!((found.matches.len(), found.truncated), (1, Some(Truncation::Unreadable)));
    assert_eq!(glob(&sandbox, "*.py", "/workspace/src").1, None, "files that cannot match are not read");
    chmod(&sandbox, "/workspace/src/deep", 0o755);
    chmod(&sandbox, "/workspace/src/c.py", 0);
    let found = grep(&sandbox, GrepRequest::new("import", path("/workspace/src")));
    assert_eq!((found.matches.len(), found.truncated), (1, Some(Truncation::Unreadable)));
    let alone = GrepRequest::new("import", path("/workspace/src/c.py"));
    assert_eq!(code(block_on(sandbox.grep(alone)).unwrap()), FileErrorCode::PermissionDenied);
}

#[test]
fn a_search_is_truncated_at_ten_thousand_files() {
    let sandbox = js();
    for at in 0..10_001 {
        write(&sandbox, &format!("/workspace/{at:05}"), "").unwrap();
    }
    let (found, truncated) = glob(&sandbox, "*", "/workspace");
    assert_eq!((found.len(), truncated), (10_000, Some(Truncation::Budget)));
    let (found, truncated) = glob(&sandbox, "0*", "/workspace");
    assert_eq!((found.len(), truncated), (10_000, None));
}

/// A clock that advances by a second on every read.
#[derive(Debug, Default)]
struct AdvancingClock(AtomicU64);

impl Clock for AdvancingClock {
    fn realtime(&self) -> u64 {
        self.monotonic()
    }

    fn monotonic(&self) -> u64 {
        self.0.fetch_add(1_000_000_000, Ordering::Relaxed)
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self(AtomicU64::new(self.0.load(Ordering::Relaxed))))
    }
}

#[test]
fn a_search_returns_partial_results_on_timeout() {
    let base = BaseImage::new(&[]).unwrap();
    let entropy = Box::new(SeededEntropy::new(1));
    let engine = Arc::new(ScriptedEngine::new([]));
    let sandbox = SandboxBuilder::new(engine, &base, Box::new(AdvancingClock::default()), entropy).build().unwrap();
    for at in 0..30_000 {
        write(&sandbox, &format!("/workspace/{at:05}"), if at % 100 == 0 { "needle" } else { "" }).unwrap();
    }
    let (found, truncated) = glob(&sandbox, "*00", "/workspace");
    assert_eq!(truncated, Some(Truncation::Budget));
    assert!(!found.is_empty() && found.len() < 300, "{}", found.len());
    let found = grep(&sandbox, GrepRequest::new("needle", path("/workspace")));
    assert_eq!(found.truncated, Some(Truncation::Budget));
    assert!(!found.matches.is_empty() && found.matches.len() < 300, "{}", found.matches.len());
    write(&sandbox, "/large", "needle\n".repeat(10) + &"x\n".repeat(60 << 20)).unwrap();
    let found = grep(&sandbox, GrepRequest::new("needle", path("/large")));
    assert_eq!((found.matches.len(), found.truncated), (10, Some(Truncation::Budget)), "within one file, too");
}

#[test]
fn searching_a_missing_path_is_an_error() {
    let sandbox = js();
    let missing = block_on(sandbox.grep(GrepRequest::new("x", path("/nowhere")))).unwrap().unwrap_err();
    assert_eq!(missing.message, "Path '/nowhere': path_not_found");
    assert_eq!(
        code(block_on(sandbox.glob(GlobRequest::new("*", path("/nowhere")))).unwrap()),
        FileErrorCode::FileNotFound
    );
    assert_eq!(
        code(block_on(sandbox.glob(GlobRequest::new("*", path("/etc/passwd")))).unwrap()),
        FileErrorCode::NotADirectory
    );
    let bad = block_on(sandbox.glob(GlobRequest::new("../*", path("/workspace")))).unwrap();
    assert_eq!(code(bad), FileErrorCode::InvalidPattern);
}

#[test]
fn grep_is_literal_and_counts_lines_from_one() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "Hello\nhello\n\nPrice: $100 [a-z]* Hello Hello").unwrap();
    let found = |pattern: &str| lines(&sandbox, GrepRequest::new(pattern, path("/workspace")));
    assert_eq!(found("Hello"), ["/workspace/a:1:Hello", "/workspace/a:4:Price: $100 [a-z]* Hello Hello"]);
    assert_eq!(found("$100 [a-z]*").len(), 1);
    assert_eq!(found("H.llo").len(), 0);
    assert_eq!(found("").len(), 4);
    let many = block_on(sandbox.grep(GrepRequest::new("a\nb", path("/workspace")))).unwrap();
    assert_eq!(code(many), FileErrorCode::InvalidPattern);
}

#[test]
fn grep_finds_lines_across_blocks_of_large_files() {
    let sandbox = js();
    let mut content = "x".repeat(64 * 1024 - 3);
    content.push_str("needle here\n");
    content.push_str(&"line\n".repeat(100_000));
    content.push_str("last needle");
    write(&sandbox, "/workspace/big", content).unwrap();
    let found = grep(&sandbox, GrepRequest::new("needle", path("/workspace")));
    let places: Vec<_> = found.matches.iter().map(|found| (found.line, found.text.len())).collect();
    assert_eq!(places, [(1, 64 * 1024 - 3 + 11), (100_002, 11)]);
    assert_eq!(found.truncated, None);
}

#[test]
fn one_match_over_the_limit_marks_truncation() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "x\nx\nx\n").unwrap();
    let at_most = |count| grep(&sandbox, GrepRequest::new("x", path("/workspace")).with_max_count(count));
    assert_eq!((at_most(3).matches.len(), at_most(3).truncated), (3, None));
    assert_eq!((at_most(2).matches.len(), at_most(2).truncated), (2, Some(Truncation::MaxCount)));
    assert_eq!((at_most(0).matches.len(), at_most(0).truncated), (0, Some(Truncation::MaxCount)));
}

#[test]
fn matches_over_the_memory_limit_are_truncated_and_reported() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", format!("{}\n", "x".repeat(900_000)).repeat(20)).unwrap();
    let found = grep(&sandbox, GrepRequest::new("x", path("/workspace")));
    assert_eq!((found.matches.len(), found.truncated), (9, Some(Truncation::Budget)));
}

#[test]
fn the_filter_of_grep_is_by_name_or_by_path() {
    let sandbox = tree(Dialect::Js);
    let found = |glob: &str| lines(&sandbox, GrepRequest::new("import", path("/workspace")).with_glob(glob)).len();
    assert_eq!((found("*.txt"), found("*.py"), found("src/**/*.py"), found("*.rs")), (1, 5, 2, 0));
    let one = GrepRequest::new("import", path("/workspace/a.py"));
    assert_eq!(lines(&sandbox, one.clone()), ["/workspace/a.py:1:import a.py"]);
    assert_eq!(lines(&sandbox, one.with_glob("*.txt")).len(), 0);
}

#[test]
fn grep_skips_binary_files_devices_and_in_python_git() {
    for (dialect, expected) in [(Dialect::Js, 6), (Dialect::Python, 5)] {
        let sandbox = tree(dialect);
        write(&sandbox, "/workspace/binary", b"import\0".to_vec()).unwrap();
        assert_eq!(lines(&sandbox, GrepRequest::new("import", path("/"))).len(), expected);
    }
}
