//! Forks, snapshots, differences and exports of a sandbox of 10,000 files and 100 MB.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tidebox::{Sandbox, SandboxBackend, SandboxPath, Snapshot, Upload, WriteRequest};
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

fn comparing(c: &mut Criterion) {
    let runtime = runtime();
    let sandbox = full(&runtime);
    let before = sandbox.snapshot().expect("open");
    for number in (0..CHANGED).map(|at| at * FILES / CHANGED) {
        write(&runtime, &sandbox, number, "changed\n");
    }
    let after = sandbox.snapshot().expect("open");
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

criterion_group!(benches, keeping, comparing, exporting);
criterion_main!(benches);
