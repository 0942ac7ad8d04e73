//! Forks, snapshots, differences and exports of a sandbox of 10,000 files and 100 MB.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures_executor::block_on;
use tidebox::stores::MemoryLog;
use tidebox::{
    ChainStore, DirStore, Sandbox, SandboxBackend, SandboxId, SandboxPath, SandboxProvider, SaveRequest, SavedSandbox,
    Selector, Snapshot, SnapshotStore, Upload, WriteRequest,
};
use tokio::runtime::Runtime;

const FILES: u64 = 10_000;

const FILE_BYTES: u64 = 10_000;

/// Number of changed files in the small difference.
const CHANGED: u64 = 10;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts")
}

/// Returns text that compresses like source code and differs in every file.
fn content(number: u64) -> Vec<u8> {
    let line =
        |at: u64| format!("    let value_{at} = compute({});\n", number.wrapping_mul(31).wrapping_add(at) % 9973);
    let mut text: Vec<u8> = (0..).flat_map(|at| line(at).into_bytes()).take(FILE_BYTES as usize).collect();
    text[..8].copy_from_slice(&number.to_le_bytes().map(|byte| b'a' + byte % 16));
    text
}

fn full(runtime: &Runtime) -> Sandbox {
    let sandbox = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("the sandbox is built");
    let file = |number| Upload::new(format!("/workspace/{}/{number}.rs", number / 100), content(number));
    let uploads = runtime.block_on(sandbox.upload_files((0..FILES).map(file).collect())).expect("the sandbox is open");
    assert!(uploads.iter().all(|upload| upload.result.is_ok()));
    sandbox
}

fn write(runtime: &Runtime, sandbox: &Sandbox, number: u64, text: &str) {
    let path = SandboxPath::parse(format!("/workspace/{}/{number}.rs", number / 100)).expect("absolute");
    runtime.block_on(sandbox.write(WriteRequest::new(path, text))).expect("open").expect("written");
}

fn keeping(c: &mut Criterion) {
    let runtime = runtime();
    let sandbox = full(&runtime);
    let snapshot = sandbox.snapshot().expect("open");
    let mut group = c.benchmark_group("10,000 files, 100 MB");
    group.bench_function("fork", |b| b.iter(|| black_box(sandbox.fork().expect("open"))));
    group.bench_function("fork and write to one file", |b| {
        b.iter(|| {
            let fork = sandbox.fork().expect("open");
            write(&runtime, &fork, 77, "changed");
            fork
        });
    });
    group.bench_function("snapshot", |b| b.iter(|| black_box(sandbox.snapshot().expect("open"))));
    group.bench_function("restore", |b| {
        let change = || write(&runtime, &sandbox, 77, "changed");
        b.iter_batched(change, |()| sandbox.restore(&snapshot).expect("open"), BatchSize::PerIteration);
    });
    group.finish();
}

/// Returns snapshots of a full sandbox before and after [`CHANGED`] files have changed.
fn before_and_after() -> [Snapshot; 2] {
    let runtime = runtime();
    let sandbox = full(&runtime);
    let before = sandbox.snapshot().expect("open");
    for number in (0..CHANGED).map(|at| at * FILES / CHANGED) {
        write(&runtime, &sandbox, number, "changed\n");
    }
    [before, sandbox.snapshot().expect("open")]
}

fn comparing(c: &mut Criterion) {
    let [before, after] = before_and_after();
    assert_eq!(Snapshot::diff(&before, &after).changes.len() as u64, CHANGED);
    let mut group = c.benchmark_group("difference in 10,000 files");
    group.bench_function("of none", |b| b.iter(|| black_box(Snapshot::diff(&after, &after))));
    group.bench_function("of 10", |b| b.iter(|| black_box(Snapshot::diff(&before, &after))));
    group.finish();
}

fn exporting(c: &mut Criterion) {
    let runtime = runtime();
    let snapshot = full(&runtime).snapshot().expect("open");
    let (mut tar, file) = (Vec::new(), snapshot.to_bytes());
    snapshot.to_tar(&mut tar).expect("memory takes everything");
    let builder = || tidebox::sandbox().expect("the engine starts");
    let mut group = c.benchmark_group("export of 10,000 files, 100 MB");
    group.throughput(Throughput::Bytes(FILES * FILE_BYTES)).sample_size(10);
    group.bench_function("to a tar", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(tar.len());
            snapshot.to_tar(&mut out).expect("memory takes everything");
            out
        });
    });
    group.bench_function("from a tar", |b| {
        b.iter_batched(|| tar.clone(), |tar| builder().tar(tar).build().expect("our own"), BatchSize::PerIteration);
    });
    group.bench_function("to a snapshot file", |b| b.iter(|| snapshot.to_bytes()));
    group.bench_function("from a snapshot file", |b| {
        b.iter(|| builder().snapshot_bytes(&file).and_then(|builder| builder.build()).expect("our own"));
    });
    group.finish();
}

/// Saves between two whole snapshots.
const SAVES: u64 = 30;

/// A sandbox of this id, saved at time 0.
fn saved() -> SavedSandbox {
    let id = SandboxId::parse("sb-bench").expect("a valid id");
    SavedSandbox { id, labels: BTreeMap::new(), created: 0, last_used: 0 }
}

/// Returns the time of saves of ten changes each; whole snapshots between them are not included.
fn time_saves(open: &dyn Fn() -> Box<dyn SnapshotStore>, states: &[Snapshot; 2], saves: u64) -> Duration {
    let put = |store: &dyn SnapshotStore, snapshot: &Snapshot, before: Option<&Snapshot>| {
        let save = SaveRequest { sandbox: saved(), snapshot: snapshot.clone(), before: before.cloned() };
        block_on(store.put(save)).expect("the store is writable");
    };
    let (mut time, mut done) = (Duration::ZERO, 0);
    while done < saves {
        let store = open();
        put(&*store, &states[0], None);
        let started = Instant::now();
        for number in 0..SAVES.min(saves - done) {
            let (now, before) = if number % 2 == 0 { (1, 0) } else { (0, 1) };
            put(&*store, &states[now], Some(&states[before]));
            done += 1;
        }
        time += started.elapsed();
    }
    time
}

fn saving(c: &mut Criterion) {
    let states = before_and_after();
    let mut group = c.benchmark_group("save of 10 changes in 10,000 files");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    group.bench_function("find and encode", |b| b.iter(|| states[1].changes_for_store(&states[0]).expect("changes")));
    let memory = || -> Box<dyn SnapshotStore> {
        Box::new(ChainStore::new(Arc::new(MemoryLog::in_memory())).expect("random bytes"))
    };
    group.bench_function("into memory", |b| b.iter_custom(|saves| time_saves(&memory, &states, saves)));
    let dir = tempfile::tempdir().expect("a directory");
    let directory = || -> Box<dyn SnapshotStore> {
        let dir = tempfile::tempdir_in(dir.path()).expect("a directory").keep();
        Box::new(DirStore::open(dir).expect("writable"))
    };
    group.bench_function("into a directory", |b| b.iter_custom(|saves| time_saves(&directory, &states, saves)));
    group.bench_function("whole, encoded only", |b| b.iter(|| states[1].to_bytes()));
    group.bench_function("whole, into a directory", |b| {
        let store = directory();
        b.iter(|| {
            let save = SaveRequest { sandbox: saved(), snapshot: states[1].clone(), before: None };
            block_on(store.put(save)).expect("the store is writable");
        });
    });
    group.finish();
}

/// Restores a sandbox of 100 files and 1 MiB that was saved with ten later changes.
fn restoring(c: &mut Criterion) {
    let runtime = runtime();
    let dir = tempfile::tempdir().expect("a directory");
    let open = || tidebox::provider().expect("the engine starts").save_in(dir.path()).build().expect("writable");
    let thread = || Selector::labels([("thread", "1")]);
    let path = |number: u64| format!("/workspace/{number}.rs");
    let (provider, file) = (open(), (1 << 20) / 100);
    let sandbox = runtime.block_on(provider.get_or_create(thread())).expect("created");
    let text = |number| content(number).into_iter().cycle().take(file).collect::<Vec<u8>>();
    let files = (0..100).map(|number| Upload::new(path(number), text(number))).collect();
    runtime.block_on(sandbox.upload_files(files)).expect("open");
    for number in 0..CHANGED {
        let path = SandboxPath::parse(path(number)).expect("absolute");
        runtime.block_on(sandbox.write(WriteRequest::new(path, "changed\n"))).expect("open").expect("written");
    }
    drop((provider, sandbox));
    let mut group = c.benchmark_group("restore of 100 files, 1 MiB");
    group.bench_function("from a directory", |b| {
        b.iter(|| runtime.block_on(open().get_or_create(thread())).expect("restored"));
    });
    group.finish();
}

criterion_group!(benches, keeping, comparing, exporting, saving, restoring);
criterion_main!(benches);
