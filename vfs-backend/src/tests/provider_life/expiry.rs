//! When a sandbox is deleted by itself.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, ListRequest, SandboxProvider, Selector};

use super::super::engine::Play;
use super::world::*;
use crate::ProviderSettings;

#[test]
fn a_sandbox_is_deleted_when_nobody_has_used_it_for_the_idle_time() {
    let world = World::default();
    let provider = world.start(idle(10, ProviderSettings::default()));
    let sandbox = get(&provider, thread(1));
    for _ in 0..5 {
        world.watch.pass(9);
        write(&*sandbox, "/workspace/a", "x").unwrap();
        assert_eq!(block_on(provider.sweep()).unwrap(), []);
    }
    world.watch.pass(9);
    assert_eq!(get(&provider, thread(1)).id(), sandbox.id(), "being asked for is a use");
    world.watch.pass(10);
    let expired = block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap_err();
    assert_eq!(expired.kind(), ErrorKind::Closed);
    assert!(expired.message().contains("nobody had used it"), "{expired}");
    assert!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.is_empty());
    let anew = get(&provider, thread(1));
    assert_ne!(anew.id(), sandbox.id());
    assert_eq!(read(&*anew, "/workspace/a").unwrap(), None);
}

#[test]
fn a_sandbox_is_deleted_when_its_lifetime_is_over_however_it_is_used() {
    let world = World::default();
    let lifetime = Some(Duration::from_secs(10));
    let provider = world.start(ProviderSettings { lifetime, ..ProviderSettings::default() });
    let (one, two) = (get(&provider, thread(1)), get(&provider, thread(2)));
    world.watch.pass(9);
    write(&*one, "/workspace/a", "x").unwrap();
    world.watch.pass(1);
    let expired = block_on(provider.sweep()).unwrap();
    assert_eq!(expired.len(), 2);
    for sandbox in [one, two] {
        let error = write(&*sandbox, "/workspace/a", "x").unwrap_err();
        assert!(error.message().contains("its lifetime"), "{error}");
    }
}

#[test]
fn a_running_command_keeps_its_sandbox_from_being_idle_until_it_is_dropped() {
    let world = World::default();
    let provider = world.start_with(idle(10, ProviderSettings::default()), [Play::Hang]);
    let sandbox = get(&provider, thread(1));
    let mut running = sandbox.execute(ExecuteRequest::new("sleep 999"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(running.as_mut().poll(&mut context).is_pending());
    world.watch.pass(100);
    assert_eq!(block_on(provider.sweep()).unwrap(), []);
    drop(running);
    world.watch.pass(9);
    assert_eq!(block_on(provider.sweep()).unwrap(), [], "the idle time begins at the end of the command");
    world.watch.pass(1);
    assert_eq!(block_on(provider.sweep()).unwrap(), [sandbox.id().clone()]);
}

#[test]
fn a_clock_that_goes_back_deletes_nothing() {
    let world = World::default();
    world.watch.pass(1000);
    let provider = world.start(idle(10, ProviderSettings::default()));
    get(&provider, thread(1));
    world.watch.0.store(0, Ordering::SeqCst);
    assert_eq!(block_on(provider.sweep()).unwrap(), []);
}

#[test]
fn deleting_and_expiring_remove_what_was_saved() {
    let world = World::default();
    let provider = world.start(idle(10, world.stored()));
    let (one, two) = (get(&provider, thread(1)), get(&provider, thread(2)));
    block_on(provider.delete(one.id())).unwrap();
    block_on(provider.delete(one.id())).unwrap();
    assert_eq!(world.drawer.ids(), [two.id().clone()]);
    assert!(write(&*one, "/workspace/a", "x").unwrap_err().message().contains("was deleted"));
    world.watch.pass(10);
    assert_eq!(block_on(provider.sweep()).unwrap(), [two.id().clone()]);
    assert_eq!(world.drawer.ids(), []);
    assert_eq!(kind(block_on(provider.get_or_create(Selector::Id(two.id().clone())))), ErrorKind::SandboxNotFound);
}

#[test]
fn time_goes_on_while_the_program_does_not_run() {
    let world = World::default();
    let sandbox = get(&world.start(idle(10, world.stored())), thread(1));
    world.watch.pass(9);
    let again = world.start(idle(10, world.stored()));
    assert_eq!(get(&again, thread(1)).id(), sandbox.id());
    world.watch.pass(10);
    let late = world.start(idle(10, world.stored()));
    assert_eq!(block_on(late.sweep()).unwrap(), [sandbox.id().clone()]);
    assert_eq!(world.drawer.ids(), []);
}

#[test]
fn reading_counts_as_use_over_a_restart_too() {
    let world = World::default();
    let provider = world.start(idle(100, world.stored()));
    let sandbox = get(&provider, thread(1));
    for _ in 0..10 {
        world.watch.pass(60);
        read(&*sandbox, "/workspace/seed").unwrap();
    }
    world.watch.pass(60);
    assert_eq!(get(&world.start(idle(100, world.stored())), thread(1)).id(), sandbox.id());
    assert!(world.drawer.puts() < 15, "not every use is worth a save: {}", world.drawer.puts());
}
