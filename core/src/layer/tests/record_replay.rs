use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_executor::block_on;
use futures_util::future::join_all;

use super::{Counting, Sandboxes, output};
use crate::backend::SandboxBackend;
use crate::error::{Error, ErrorKind, Result};
use crate::layer::{Cassette, RecordMode, RecordReplay, Redaction};
use crate::provider::{SandboxProvider, Selector};

/// A `RecordReplay` whose live backend counts how often it is created.
struct Fixture {
    record_replay: RecordReplay,
    created: Arc<AtomicUsize>,
}

impl Fixture {
    fn new(mode: RecordMode, cassette: Option<Cassette>) -> Self {
        Self { record_replay: RecordReplay::new(mode, cassette), created: Arc::default() }
    }

    fn backend(&self) -> Result<Arc<dyn SandboxBackend>> {
        let created = Arc::clone(&self.created);
        block_on(self.record_replay.backend(move || {
            let number = created.fetch_add(1, Ordering::SeqCst) + 1;
            async move { Ok(Counting::backend(&format!("sb-live-{number}"))) }
        }))
    }

    fn created(&self) -> usize {
        self.created.load(Ordering::SeqCst)
    }
}

fn run(backend: &dyn SandboxBackend, commands: &[&str]) -> Vec<String> {
    commands.iter().map(|command| block_on(output(backend, command)).unwrap()).collect()
}

fn recorded(commands: &[&str]) -> Cassette {
    let fixture = Fixture::new(RecordMode::Always, None);
    run(&*fixture.backend().unwrap(), commands);
    assert_eq!(fixture.record_replay.cassette().len(), commands.len());
    fixture.record_replay.cassette()
}

#[test]
fn mode_never_replays_without_a_live_backend() {
    let fixture = Fixture::new(RecordMode::Never, Some(recorded(&["a", "b"])));
    let backend = fixture.backend().unwrap();
    assert_eq!(run(&*backend, &["a"]), ["1 a"]);
    assert_eq!(block_on(output(&*backend, "c")).unwrap_err().kind(), ErrorKind::NotRecorded);
    assert_eq!(
        (fixture.created(), fixture.record_replay.is_changed(), fixture.record_replay.unused().len()),
        (0, false, 1)
    );
    assert_eq!(Fixture::new(RecordMode::Never, None).backend().unwrap_err().kind(), ErrorKind::NotRecorded);
}

#[test]
fn mode_always_records_again() {
    let fixture = Fixture::new(RecordMode::Always, Some(recorded(&["a", "b"])));
    assert_eq!(run(&*fixture.backend().unwrap(), &["c"]), ["1 c"]);
    assert_eq!(
        (fixture.created(), fixture.record_replay.is_changed(), fixture.record_replay.cassette().len()),
        (1, true, 1)
    );
}

#[test]
fn mode_missing_records_once_and_then_replays() {
    for empty in [None, Some(Cassette::new())] {
        let fixture = Fixture::new(RecordMode::Missing, empty);
        assert_eq!(run(&*fixture.backend().unwrap(), &["a"]), ["1 a"]);
        assert_eq!((fixture.created(), fixture.record_replay.is_changed()), (1, true));
        let again = Fixture::new(RecordMode::Missing, Some(fixture.record_replay.cassette()));
        assert_eq!(run(&*again.backend().unwrap(), &["a"]), ["1 a"]);
        assert_eq!((again.created(), again.record_replay.is_changed()), (0, false));
    }
}

#[test]
fn an_unrecorded_request_runs_after_the_replayed_state() {
    let fixture = Fixture::new(RecordMode::Missing, Some(recorded(&["a", "b", "c"])));
    let backend = fixture.backend().unwrap();
    let id = backend.id().clone();
    assert_eq!(run(&*backend, &["a", "b", "new", "c"]), ["1 a", "2 b", "3 new", "4 c"]);
    assert_eq!((fixture.created(), fixture.record_replay.is_changed()), (1, true));
    assert_eq!(*backend.id(), id, "the sandbox keeps the id that the caller has received");
    let again = Fixture::new(RecordMode::Never, Some(fixture.record_replay.cassette()));
    assert_eq!(run(&*again.backend().unwrap(), &["a", "b", "new", "c"]), ["1 a", "2 b", "3 new", "4 c"]);
    assert!(again.record_replay.unused().is_empty());
}

#[test]
fn concurrent_unrecorded_requests_share_one_live_backend() {
    let fixture = Fixture::new(RecordMode::Missing, Some(recorded(&["a", "b"])));
    let backend = fixture.backend().unwrap();
    run(&*backend, &["a"]);
    let commands = ["x", "b", "y", "z"];
    let output = block_on(join_all(commands.map(|command| output(&*backend, command))));
    let mut output: Vec<String> = output.into_iter().map(Result::unwrap).collect();
    output.sort();
    assert_eq!(output.iter().map(|line| &line[..1]).collect::<Vec<_>>(), ["2", "3", "4", "5"]);
    assert_eq!((fixture.created(), fixture.record_replay.cassette().len()), (1, 5));
}

#[test]
fn a_failed_live_backend_is_an_error_and_is_retried() {
    let record_replay = RecordReplay::new(RecordMode::Missing, Some(recorded(&["a"])));
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let backend = block_on(record_replay.backend(move || {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                return Err(Error::new(ErrorKind::Unauthenticated, "connect", "no key; set one"));
            }
            Ok(Counting::backend("sb-live"))
        }
    }))
    .unwrap();
    assert_eq!(run(&*backend, &["a"]), ["1 a"]);
    assert_eq!(block_on(output(&*backend, "b")).unwrap_err().kind(), ErrorKind::Unauthenticated);
    assert!(!record_replay.is_changed());
    assert_eq!(run(&*backend, &["b"]), ["2 b"]);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

#[test]
fn switching_to_live_sends_unredacted_secrets() {
    let redaction = Redaction::new().secret("KEY", crate::Secret::new("k3y"));
    let record = |mode, cassette, commands: &[&str]| {
        let record_replay = RecordReplay::new(mode, cassette).redaction(redaction.clone());
        let backend = block_on(record_replay.backend(|| async { Ok(Counting::backend("sb-1")) })).unwrap();
        let output = run(&*backend, commands);
        assert!(!format!("{record_replay:?} {backend:?}").contains("k3y"), "debug output contains no secret");
        (output, record_replay.cassette())
    };
    let (_, cassette) = record(RecordMode::Always, None, &["login k3y"]);
    let (output, cassette) = record(RecordMode::Missing, Some(cassette), &["login k3y", "use k3y"]);
    assert_eq!(output, ["1 login [redacted:KEY]", "2 use k3y"]);
    assert!(!cassette.to_text().unwrap().contains("k3y"));
}

#[test]
fn a_provider_is_recorded_if_empty_and_else_replayed_strictly() {
    let live = || async { Ok(Arc::new(Sandboxes::default()) as Arc<dyn SandboxProvider>) };
    let record_replay = RecordReplay::new(RecordMode::Missing, None);
    let provider = block_on(record_replay.provider(live)).unwrap();
    let any = || Selector::Labels([].into());
    let sandbox = block_on(provider.get_or_create(any())).unwrap();
    assert_eq!(run(&*sandbox, &["a"]), ["1 a"]);
    let again = RecordReplay::new(RecordMode::Missing, Some(record_replay.cassette()));
    let never = || async { Err(Error::new(ErrorKind::Unavailable, "connect", "no network here")) };
    let provider = block_on(again.provider(never)).unwrap();
    let sandbox = block_on(provider.get_or_create(any())).unwrap();
    assert_eq!(run(&*sandbox, &["a"]), ["1 a"]);
    assert_eq!(block_on(provider.get_or_create(any())).unwrap_err().kind(), ErrorKind::NotRecorded);
}
