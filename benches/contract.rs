//! Every method of the contract in sandboxes of 10, 1,000 and 100,000 files.
//!
//! The cost of an operation should depend on what it touches, not on the size of the sandbox: the rows of one method for the
//! three sizes are similar unless the method visits all files.

use std::cell::Cell;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tidebox::{
    EditRequest, ExecuteRequest, GlobRequest, GrepRequest, ReadRequest, Sandbox, SandboxBackend, SandboxPath, Upload,
    WriteRequest,
};
use tokio::runtime::Runtime;

const SIZES: [u64; 3] = [10, 1000, 100_000];

/// Files of one directory. The smallest sandbox has one such directory.
const TO_A_DIRECTORY: u64 = 10;

/// Content of every file, about a kilobyte.
fn text(number: u64) -> String {
    (0..20).map(|line| format!("file {number}, line {line}: some words of a source file here\n")).collect()
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).expect("the path is valid")
}

/// A sandbox with a given number of files, and its runtime. Created once for all methods.
struct Filled {
    runtime: Runtime,
    sandbox: Sandbox,
    files: u64,
}

impl Filled {
    fn new(files: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
        let sandbox = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("the sandbox is built");
        let name = |number| format!("/workspace/d{}/d{}/f{number}.txt", number / 1000, number / TO_A_DIRECTORY);
        let uploads = (0..files).map(|number| Upload::new(name(number), text(number))).collect();
        let results = runtime.block_on(sandbox.upload_files(uploads)).expect("upload responds");
        assert!(results.iter().all(|result| result.result.is_ok()), "every file is put in");
        Self { runtime, sandbox, files }
    }

    fn id(&self) -> BenchmarkId {
        BenchmarkId::from_parameter(self.files)
    }
}

/// Measures one method in every sandbox.
fn measure<T>(c: &mut Criterion, all: &[Filled], name: &str, mut run: impl FnMut(&Filled) -> T) {
    let mut group = c.benchmark_group(name);
    for filled in all {
        group.bench_function(filled.id(), |b| b.iter(|| black_box(run(filled))));
    }
    group.finish();
}

/// Measures one method that visits all files.
fn measure_all<T>(c: &mut Criterion, all: &[Filled], name: &str, mut run: impl FnMut(&Filled) -> T) {
    let mut group: BenchmarkGroup<'_, WallTime> = c.benchmark_group(name);
    group.sample_size(10);
    for filled in all {
        group.throughput(Throughput::Elements(filled.files));
        group.bench_function(filled.id(), |b| b.iter(|| black_box(run(filled))));
    }
    group.finish();
}

fn reading(c: &mut Criterion, all: &[Filled]) {
    let directory = path("/workspace/d0/d0");
    measure(c, all, "ls of ten files", |filled| {
        let listed = filled.runtime.block_on(filled.sandbox.ls(&directory)).expect("ls responds").expect("it lists");
        assert_eq!(listed.entries.len(), 10);
    });
    let file = path("/workspace/d0/d0/f3.txt");
    measure(c, all, "read of a kilobyte", |filled| {
        let request = ReadRequest::new(file.clone());
        filled.runtime.block_on(filled.sandbox.read(request)).expect("read responds").expect("it reads")
    });
    measure(c, all, "download of ten files", |filled| {
        let paths = (0..10).map(|number| format!("/workspace/d0/d0/f{number}.txt").into_bytes()).collect();
        filled.runtime.block_on(filled.sandbox.download_files(paths)).expect("download responds")
    });
}

fn changing(c: &mut Criterion, all: &[Filled]) {
    let file = path("/workspace/d0/d0/f3.txt");
    measure(c, all, "write of a kilobyte", |filled| {
        let request = WriteRequest::new(file.clone(), text(3));
        filled.runtime.block_on(filled.sandbox.write(request)).expect("write responds").expect("it writes")
    });
    let forth = Cell::new(false);
    measure(c, all, "edit of a kilobyte", |filled| {
        let (old, new) = if forth.replace(!forth.get()) { ("line 11:", "line 7:") } else { ("line 7:", "line 11:") };
        let request = EditRequest::new(file.clone(), old, new).all();
        // A new file contains both strings, so the order of the edits does not matter.
        filled.runtime.block_on(filled.sandbox.edit(request)).expect("edit responds").expect("it edits")
    });
    measure(c, all, "upload of ten files", |filled| {
        let files = (0..10).map(|number| Upload::new(format!("/workspace/d0/d0/f{number}.txt"), text(number)));
        filled.runtime.block_on(filled.sandbox.upload_files(files.collect())).expect("upload responds")
    });
    delete(c, all);
}

fn delete(c: &mut Criterion, all: &[Filled]) {
    let directory = path("/workspace/gone");
    let mut group = c.benchmark_group("delete of ten files");
    for filled in all {
        group.bench_function(filled.id(), |b| {
            b.iter_batched(
                || {
                    let files = (0..10).map(|number| Upload::new(format!("/workspace/gone/f{number}"), text(number)));
                    filled.runtime.block_on(filled.sandbox.upload_files(files.collect())).expect("upload responds")
                },
                |_| {
                    filled
                        .runtime
                        .block_on(filled.sandbox.delete(&directory))
                        .expect("delete responds")
                        .expect("deleted")
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn searching(c: &mut Criterion, all: &[Filled]) {
    let grep = |filled: &Filled, request| {
        filled
            .runtime
            .block_on(filled.sandbox.grep(request))
            .expect("grep responds")
            .expect("it searches")
            .matches
            .len()
    };
    measure_all(c, all, "grep through all files", |filled| {
        assert_eq!(grep(filled, GrepRequest::new("file 7, line 3", path("/workspace"))), 1);
    });
    measure(c, all, "grep through ten files", |filled| {
        assert_eq!(grep(filled, GrepRequest::new("file 7, line 3", path("/workspace/d0/d0"))), 1);
    });
    let glob = |filled: &Filled, pattern: &str| {
        let request = GlobRequest::new(pattern, path("/workspace"));
        filled.runtime.block_on(filled.sandbox.glob(request)).expect("glob responds").expect("it searches").files.len()
    };
    measure_all(c, all, "glob through all names", |filled| assert_eq!(glob(filled, "**/f7.txt"), 1));
    measure(c, all, "glob of one directory", |filled| assert_eq!(glob(filled, "d0/d0/*.txt"), 10));
    measure_all(c, all, "glob of up to 10,000", |filled| {
        assert_eq!(glob(filled, "**/*.txt") as u64, filled.files.min(10_000));
    });
}

fn executing(c: &mut Criterion, all: &[Filled]) {
    measure(c, all, "execute of true", |filled| {
        filled.runtime.block_on(filled.sandbox.execute(ExecuteRequest::new("true"))).expect("the command runs")
    });
    measure(c, all, "execute of cat of a kilobyte", |filled| {
        let request = ExecuteRequest::new("cat d0/d0/f3.txt");
        let response = filled.runtime.block_on(filled.sandbox.execute(request)).expect("the command runs");
        assert_eq!(response.exit_code, Some(0));
    });
    measure_all(c, all, "execute of find through all names", |filled| {
        let request = ExecuteRequest::new("find . -name f7.txt");
        let response = filled.runtime.block_on(filled.sandbox.execute(request)).expect("the command runs");
        assert_eq!(response.output_text(), "./d0/d0/f7.txt\n");
    });
}

fn contract(c: &mut Criterion) {
    let all: Vec<Filled> = SIZES.into_iter().map(Filled::new).collect();
    reading(c, &all);
    changing(c, &all);
    searching(c, &all);
    executing(c, &all);
}

criterion_group!(benches, contract);
criterion_main!(benches);
