//! Every interleaving of three writers, with lost and delayed responses.
//!
//! Writers are futures that stop before each operation on the objects. A search runs them again and again with another order and
//! other faults, until all have been tried. States that were seen before are not searched again: a state is what the objects
//! contain and what each writer has seen.

#![allow(clippy::print_stdout, reason = "the numbers show that the search is exhaustive")]

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_executor::block_on;
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{Durability, SavedSandbox};

use crate::choices::Choices;
use crate::stores::generation::{Entry, GenerationKind, Head, Writer};
use crate::stores::log::{Appended, GenerationLog, SaveLog};
use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{Creation, ObjectPage, Objects};

/// Fault of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It is done, and its response is lost.
    Lost,
    /// Its response is lost, and it is done later or never.
    Delayed,
}

/// State of a run that all writers share.
#[derive(Debug, Default)]
struct World {
    objects: MemoryObjects,
    /// Writer that may do its next operation, and what happens to it if it is a creation.
    turn: Mutex<Option<(usize, Fault)>>,
    delayed: Mutex<Vec<(String, Vec<u8>)>>,
    /// Hash of what each writer has seen.
    seen: Mutex<Vec<u64>>,
    /// True while the next operation of a writer is a creation.
    creates: Mutex<Vec<bool>>,
    faults: Mutex<usize>,
}

/// The objects as one writer sees them.
#[derive(Clone, Debug)]
struct View {
    world: Arc<World>,
    writer: usize,
}

impl View {
    /// Waits for the writer's turn.
    async fn turn(&self, is_creation: bool) -> Fault {
        poll_fn(|_| {
            let mut turn = self.world.turn.lock();
            match *turn {
                Some((writer, fault)) if writer == self.writer => {
                    *turn = None;
                    Poll::Ready(fault)
                }
                _ => {
                    self.world.creates.lock()[self.writer] = is_creation;
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn note(&self, what: impl Hash) {
        let seen = &mut self.world.seen.lock()[self.writer];
        let mut hasher = DefaultHasher::new();
        (*seen, what).hash(&mut hasher);
        *seen = hasher.finish();
    }
}

impl Objects for View {
    fn durability(&self) -> Durability {
        Durability::Memory
    }

    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>> {
        Box::pin(async move {
            let fault = self.turn(true).await;
            let created = match fault {
                Fault::Delayed => {
                    self.world.delayed.lock().push((name.to_owned(), bytes));
                    None
                }
                _ => Some(self.world.objects.create_now(name, bytes)).filter(|_| fault == Fault::None),
            };
            self.note(created.map(|created| created == Creation::Created));
            created.ok_or_else(|| Error::new(ErrorKind::Storage, "create object", "the response was lost"))
        })
    }

    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            let mut bytes = self.world.objects.read(name, max_bytes).await;
            // An object never changes, so it does not matter when it is read.
            if matches!(bytes, Ok(None)) {
                self.turn(false).await;
                bytes = self.world.objects.read(name, max_bytes).await;
            }
            self.note(bytes.as_ref().ok());
            bytes
        })
    }

    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>> {
        Box::pin(async move {
            self.turn(false).await;
            let page = self.world.objects.list(prefix, after).await?;
            self.note(page.objects.iter().map(|object| (&object.name, object.len)).collect::<Vec<_>>());
            Ok(page)
        })
    }

    fn clear<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        unreachable!("writers do not remove")
    }

    fn remove<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        unreachable!("writers do not remove")
    }

    fn remove_interrupted(&self, _: u64) -> BoxFuture<'_, Result<()>> {
        unreachable!("writers do not remove")
    }
}

fn id() -> SandboxId {
    SandboxId::parse("sb-model").unwrap()
}

fn entry(writer: usize, number: u8, kind: GenerationKind, base: u64) -> Entry {
    let sandbox = SavedSandbox { id: id(), labels: Default::default(), created: 0, last_used: 0 };
    let mut nonce = [0; 16];
    (nonce[0], nonce[1]) = (writer as u8 + 1, number);
    let writer = Writer { owner: format!("{writer}"), epoch: 0 };
    Entry { kind, sandbox, writer, base, packs: Vec::new(), nonce, content: vec![number] }
}

/// Nonces of the entries of a writer by the results that it got.
#[derive(Debug, Default)]
struct Outcome {
    durable: Vec<[u8; 16]>,
    absent: Vec<[u8; 16]>,
    unknown: Vec<[u8; 16]>,
}

/// Appends and notes the outcome. `None` unless the entry is durable.
async fn append(log: &GenerationLog<View>, head: &Head, entry: Entry, outcome: &mut Outcome) -> Option<Head> {
    match log.append(&id(), Some(head), &entry).await {
        Ok(Appended::Appended(head)) => {
            outcome.durable.push(entry.nonce);
            Some(head)
        }
        Ok(Appended::Fenced(_)) => {
            outcome.absent.push(entry.nonce);
            None
        }
        Err(_) => {
            outcome.unknown.push(entry.nonce);
            None
        }
    }
}

/// Two saves after a known position.
async fn save_twice(log: GenerationLog<View>, writer: usize, head: Head) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(head) = append(&log, &head, entry(writer, 1, GenerationKind::Changes, 1), &mut outcome).await {
        append(&log, &head, entry(writer, 2, GenerationKind::Changes, 1), &mut outcome).await;
    }
    outcome
}

/// Takes the sandbox over, again if another writer comes first, and saves once.
async fn take_over(log: GenerationLog<View>, writer: usize, attempts: u8) -> Outcome {
    let mut outcome = Outcome::default();
    for attempt in 0..attempts {
        let chain = log.load(&id(), u64::MAX).await.expect("the chain is whole at any time").expect("it exists");
        let claim = entry(writer, attempt * 2, GenerationKind::Claim, 1);
        let Some(head) = append(&log, &chain.head, claim, &mut outcome).await else { continue };
        append(&log, &head, entry(writer, attempt * 2 + 1, GenerationKind::Changes, 1), &mut outcome).await;
        break;
    }
    outcome
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Go(usize, Fault),
    Deliver(usize),
}

fn steps(world: &World, running: &[bool]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (writer, _) in running.iter().enumerate().filter(|(_, is_running)| **is_running) {
        steps.push(Step::Go(writer, Fault::None));
        if world.creates.lock()[writer] && *world.faults.lock() > 0 {
            steps.extend([Step::Go(writer, Fault::Lost), Step::Go(writer, Fault::Delayed)]);
        }
    }
    let delayed = world.delayed.lock().len();
    steps.extend((0..delayed).map(Step::Deliver));
    steps
}

fn state(world: &World, running: &[bool]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for object in block_on(world.objects.list("", "")).unwrap().objects {
        (&object.name, block_on(world.objects.read(&object.name, u64::MAX)).unwrap()).hash(&mut hasher);
    }
    let delayed = world.delayed.lock();
    (&*world.seen.lock(), &*delayed, running, *world.faults.lock()).hash(&mut hasher);
    hasher.finish()
}

type Running = Pin<Box<dyn Future<Output = Outcome>>>;

type Program = fn(GenerationLog<View>, usize, Head) -> Running;

/// Searches all runs of three writers and checks each. Returns the numbers of runs and of states.
fn search(program: Program, faults: usize) -> (usize, usize) {
    let (mut choices, mut known, mut runs) = (Choices::default(), HashSet::new(), 0);
    loop {
        run(program, faults, &mut choices, &mut known);
        runs += 1;
        if !choices.advance() {
            return (runs, known.len());
        }
    }
}

fn run(program: Program, faults: usize, choices: &mut Choices, known: &mut HashSet<u64>) {
    const WRITERS: usize = 3;
    let world = Arc::new(World::default());
    *world.faults.lock() = faults;
    (*world.seen.lock(), *world.creates.lock()) = (vec![0; WRITERS], vec![false; WRITERS]);
    let first = entry(9, 0, GenerationKind::Full, 1);
    let created = block_on(GenerationLog::new(world.objects.clone()).append(&id(), None, &first)).unwrap();
    let Appended::Appended(head) = created else { panic!("the log is empty") };
    let view = |writer| GenerationLog::new(View { world: Arc::clone(&world), writer });
    let mut writers: Vec<_> = (0..WRITERS).map(|writer| Some(program(view(writer), writer, head))).collect();
    let mut outcome: Vec<Outcome> = (0..WRITERS).map(|_| Outcome::default()).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = |writers: &mut Vec<Option<Running>>, writer: usize| {
        let future = writers[writer].as_mut().expect("it runs");
        if let Poll::Ready(end) = future.as_mut().poll(&mut context) {
            (outcome[writer], writers[writer]) = (end, None);
        }
    };
    (0..WRITERS).for_each(|writer| poll(&mut writers, writer));
    loop {
        let running: Vec<bool> = writers.iter().map(Option::is_some).collect();
        if !running.contains(&true) {
            break;
        }
        let steps = steps(&world, &running);
        if choices.is_new() && !known.insert(state(&world, &running)) {
            return;
        }
        match steps[choices.choose(steps.len())] {
            Step::Go(writer, fault) => {
                *world.faults.lock() -= usize::from(fault != Fault::None);
                *world.turn.lock() = Some((writer, fault));
                poll(&mut writers, writer);
            }
            Step::Deliver(index) => {
                let (name, bytes) = world.delayed.lock().remove(index);
                world.objects.create_now(&name, bytes);
            }
        }
    }
    for (name, bytes) in world.delayed.lock().drain(..) {
        world.objects.create_now(&name, bytes);
    }
    check(&world.objects, &outcome);
}

/// Checks the log against the results of the writers.
fn check(objects: &MemoryObjects, outcome: &[Outcome]) {
    let chain = block_on(GenerationLog::new(objects.clone()).load(&id(), u64::MAX)).unwrap().unwrap();
    let nonces: Vec<[u8; 16]> = chain.generations.iter().map(|saved| saved.entry.nonce).collect();
    for (writer, outcome) in outcome.iter().enumerate() {
        for nonce in &outcome.durable {
            assert_eq!(
                nonces.iter().filter(|other| *other == nonce).count(),
                1,
                "writer {writer}: {outcome:?}, {nonces:?}"
            );
        }
        assert!(!nonces.iter().any(|nonce| outcome.absent.contains(nonce)), "writer {writer}: {outcome:?}, {nonces:?}");
    }
    let mut owner = None;
    for saved in &chain.generations {
        let writer = &saved.entry.writer.owner;
        match saved.entry.kind {
            GenerationKind::Claim => owner = Some(writer.clone()),
            GenerationKind::Changes if owner.is_some() => assert_eq!(owner.as_ref(), Some(writer), "{nonces:?}"),
            _ => {}
        }
    }
    let first = &chain.generations[1].entry.writer.owner;
    let all_one = chain.generations[1..].iter().all(|saved| saved.entry.writer.owner == *first);
    assert!(owner.is_some() || all_one, "two owners without a claim: {nonces:?}");
}

#[test]
fn every_order_of_three_writers_has_one_owner() {
    for faults in 0..=2 {
        let (runs, states) = search(|log, writer, head| Box::pin(save_twice(log, writer, head)), faults);
        println!("three writers that append, {faults} faults: {runs} runs, {states} states");
        assert!(runs >= 18 && states > 20);
    }
}

#[test]
fn every_order_of_three_claims_has_one_owner_at_a_time() {
    let (runs, states) = search(|log, writer, _| Box::pin(take_over(log, writer, 3)), 0);
    println!("three writers that take over: {runs} runs, {states} states");
    assert!(runs > 1000);
}

#[test]
fn every_order_of_an_owner_and_two_claims_has_one_owner() {
    let program: Program = |log, writer, head| match writer {
        0 => Box::pin(save_twice(log, writer, head)),
        // One of them gives up after the first attempt, which bounds the search to some seconds.
        _ => Box::pin(take_over(log, writer, writer as u8)),
    };
    for faults in 0..=1 {
        let (runs, states) = search(program, faults);
        println!("an owner that appends and two writers that take over, {faults} faults: {runs} runs, {states} states");
        assert!(runs > 100);
    }
}
