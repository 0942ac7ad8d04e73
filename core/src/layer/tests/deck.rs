use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_executor::block_on;
use futures_util::future::join_all;

use super::{Counting, Sandboxes, output};
use crate::backend::SandboxBackend;
use crate::error::{Error, ErrorKind, Result};
use crate::layer::{Cassette, Deck, RecordMode, Redaction};
use crate::provider::{SandboxProvider, Selector};

/// A deck whose live backend counts how often it is made.
struct Bench {
    deck: Deck,
    made: Arc<AtomicUsize>,
}

impl Bench {
    fn new(mode: RecordMode, cassette: Option<Cassette>) -> Self {
        Self { deck: Deck::new(mode, cassette), made: Arc::default() }
    }

    fn backend(&self) -> Result<Arc<dyn SandboxBackend>> {
        let made = Arc::clone(&self.made);
        block_on(self.deck.backend(move || {
            let number = made.fetch_add(1, Ordering::SeqCst) + 1;
            async move { Ok(Counting::backend(&format!("sb-live-{number}"))) }
        }))
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

fn run(backend: &dyn SandboxBackend, commands: &[&str]) -> Vec<String> {
    commands.iter().map(|command| block_on(output(backend, command)).unwrap()).collect()
}

fn recorded(commands: &[&str]) -> Cassette {
    let bench = Bench::new(RecordMode::Always, None);
    run(&*bench.backend().unwrap(), commands);
    assert_eq!(bench.deck.cassette().len(), commands.len());
    bench.deck.cassette()
}

#[test]
fn never_replays_and_makes_no_live_backend() {
    let bench = Bench::new(RecordMode::Never, Some(recorded(&["a", "b"])));
    let backend = bench.backend().unwrap();
    assert_eq!(run(&*backend, &["a"]), ["1 a"]);
    assert_eq!(block_on(output(&*backend, "c")).unwrap_err().kind(), ErrorKind::NotRecorded);
    assert_eq!((bench.made(), bench.deck.is_changed(), bench.deck.unused().len()), (0, false, 1));
    assert_eq!(Bench::new(RecordMode::Never, None).backend().unwrap_err().kind(), ErrorKind::NotRecorded);
}

#[test]
fn always_records_anew() {
    let bench = Bench::new(RecordMode::Always, Some(recorded(&["a", "b"])));
    assert_eq!(run(&*bench.backend().unwrap(), &["c"]), ["1 c"]);
    assert_eq!((bench.made(), bench.deck.is_changed(), bench.deck.cassette().len()), (1, true, 1));
}

#[test]
fn missing_records_when_there_is_nothing_and_replays_when_there_is_all() {
    for empty in [None, Some(Cassette::new())] {
        let bench = Bench::new(RecordMode::Missing, empty);
        assert_eq!(run(&*bench.backend().unwrap(), &["a"]), ["1 a"]);
        assert_eq!((bench.made(), bench.deck.is_changed()), (1, true));
        let again = Bench::new(RecordMode::Missing, Some(bench.deck.cassette()));
        assert_eq!(run(&*again.backend().unwrap(), &["a"]), ["1 a"]);
        assert_eq!((again.made(), again.deck.is_changed()), (0, false));
    }
}

#[test]
fn a_missing_request_finds_a_live_sandbox_in_the_state_that_was_replayed() {
    let bench = Bench::new(RecordMode::Missing, Some(recorded(&["a", "b", "c"])));
    let backend = bench.backend().unwrap();
    let id = backend.id().clone();
    assert_eq!(run(&*backend, &["a", "b", "new", "c"]), ["1 a", "2 b", "3 new", "4 c"]);
    assert_eq!((bench.made(), bench.deck.is_changed()), (1, true));
    assert_eq!(*backend.id(), id, "the sandbox keeps the name that the caller has seen");
    let again = Bench::new(RecordMode::Never, Some(bench.deck.cassette()));
    assert_eq!(run(&*again.backend().unwrap(), &["a", "b", "new", "c"]), ["1 a", "2 b", "3 new", "4 c"]);
    assert!(again.deck.unused().is_empty());
}

#[test]
fn requests_that_miss_at_the_same_time_share_one_live_backend() {
    let bench = Bench::new(RecordMode::Missing, Some(recorded(&["a", "b"])));
    let backend = bench.backend().unwrap();
    run(&*backend, &["a"]);
    let commands = ["x", "b", "y", "z"];
    let told = block_on(join_all(commands.map(|command| output(&*backend, command))));
    let mut told: Vec<String> = told.into_iter().map(Result::unwrap).collect();
    told.sort();
    assert_eq!(told.iter().map(|line| &line[..1]).collect::<Vec<_>>(), ["2", "3", "4", "5"]);
    assert_eq!((bench.made(), bench.deck.cassette().len()), (1, 5));
}

#[test]
fn a_live_backend_that_cannot_be_made_is_that_errors_and_the_next_request_tries_again() {
    let deck = Deck::new(RecordMode::Missing, Some(recorded(&["a"])));
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let backend = block_on(deck.backend(move || {
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
    assert!(!deck.is_changed());
    assert_eq!(run(&*backend, &["b"]), ["2 b"]);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

#[test]
fn going_live_sends_the_secrets_that_the_cassette_does_not_hold() {
    let redaction = Redaction::new().secret("KEY", crate::Secret::new("k3y"));
    let record = |mode, cassette, commands: &[&str]| {
        let deck = Deck::new(mode, cassette).redaction(redaction.clone());
        let backend = block_on(deck.backend(|| async { Ok(Counting::backend("sb-1")) })).unwrap();
        let told = run(&*backend, commands);
        assert!(
            !format!("{deck:?} {backend:?}").contains("k3y"),
            "what is printed for a developer holds no secret either"
        );
        (told, deck.cassette())
    };
    let (_, cassette) = record(RecordMode::Always, None, &["login k3y"]);
    let (told, cassette) = record(RecordMode::Missing, Some(cassette), &["login k3y", "use k3y"]);
    assert_eq!(told, ["1 login [redacted:KEY]", "2 use k3y"]);
    assert!(!cassette.to_text().unwrap().contains("k3y"));
}

#[test]
fn a_provider_is_recorded_when_nothing_is_and_replayed_strictly_when_something_is() {
    let live = || async { Ok(Arc::new(Sandboxes::default()) as Arc<dyn SandboxProvider>) };
    let deck = Deck::new(RecordMode::Missing, None);
    let provider = block_on(deck.provider(live)).unwrap();
    let any = || Selector::Labels([].into());
    let sandbox = block_on(provider.get_or_create(any())).unwrap();
    assert_eq!(run(&*sandbox, &["a"]), ["1 a"]);
    let again = Deck::new(RecordMode::Missing, Some(deck.cassette()));
    let never = || async { Err(Error::new(ErrorKind::Unavailable, "connect", "no network here")) };
    let provider = block_on(again.provider(never)).unwrap();
    let sandbox = block_on(provider.get_or_create(any())).unwrap();
    assert_eq!(run(&*sandbox, &["a"]), ["1 a"]);
    assert_eq!(block_on(provider.get_or_create(any())).unwrap_err().kind(), ErrorKind::NotRecorded);
}
