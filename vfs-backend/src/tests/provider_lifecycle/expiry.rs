//! Expiry of sandboxes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ExecuteRequest, ListRequest, SandboxProvider, Selector};

use super::super::scripted_engine::Step;
use super::environment::*;
use crate::ProviderSettings;

#[test]
fn a_sandbox_is_deleted_after_the_idle_timeout() {
    let environment = TestEnvironment::default();
    let provider = environment.start(with_idle_timeout(10, ProviderSettings::default()));
    let sandbox = get(&provider, thread_selector(1));
    for _ in 0..5 {
        environment.clock.advance(9);
        write(&*sandbox, "/workspace/a", "x").unwrap();
        assert_eq!(block_on(provider.delete_expired()).unwrap(), []);
    }
    environment.clock.advance(9);
    assert_eq!(get(&provider, thread_selector(1)).id(), sandbox.id(), "a request is a use");
    environment.clock.advance(10);
    let expired = block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap_err();
    assert_eq!(expired.kind(), ErrorKind::Closed);
    assert!(expired.message().contains("reaching its idle timeout"), "{expired}");
    assert!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.is_empty());
    let second = get(&provider, thread_selector(1));
    assert_ne!(second.id(), sandbox.id());
    assert_eq!(read(&*second, "/workspace/a").unwrap(), None);
}

#[test]
fn a_sandbox_in_use_is_deleted_after_its_lifetime() {
    let environment = TestEnvironment::default();
    let lifetime = Some(Duration::from_secs(10));
    let provider = environment.start(ProviderSettings { lifetime, ..ProviderSettings::default() });
    let (one, two) = (get(&provider, thread_selector(1)), get(&provider, thread_selector(2)));
    environment.clock.advance(9);
    write(&*one, "/workspace/a", "x").unwrap();
    environment.clock.advance(1);
    let expired = block_on(provider.delete_expired()).unwrap();
    assert_eq!(expired.len(), 2);
    for sandbox in [one, two] {
        let error = write(&*sandbox, "/workspace/a", "x").unwrap_err();
        assert!(error.message().contains("maximum lifetime"), "{error}");
    }
}

#[test]
fn a_running_command_prevents_the_idle_timeout() {
    let environment = TestEnvironment::default();
    let provider = environment.start_with(with_idle_timeout(10, ProviderSettings::default()), [Step::Hang]);
    let sandbox = get(&provider, thread_selector(1));
    let mut running = sandbox.execute(ExecuteRequest::new("sleep 999"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(running.as_mut().poll(&mut context).is_pending());
    environment.clock.advance(100);
    assert_eq!(block_on(provider.delete_expired()).unwrap(), []);
    drop(running);
    environment.clock.advance(9);
    assert_eq!(block_on(provider.delete_expired()).unwrap(), [], "the idle time starts at the end of the command");
    environment.clock.advance(1);
    assert_eq!(block_on(provider.delete_expired()).unwrap(), [sandbox.id().clone()]);
}

#[test]
fn a_clock_set_back_deletes_no_sandbox() {
    let environment = TestEnvironment::default();
    environment.clock.advance(1000);
    let provider = environment.start(with_idle_timeout(10, ProviderSettings::default()));
    get(&provider, thread_selector(1));
    environment.clock.0.store(0, Ordering::SeqCst);
    assert_eq!(block_on(provider.delete_expired()).unwrap(), []);
}

#[test]
fn deletion_and_expiry_remove_the_saved_snapshot() {
    let environment = TestEnvironment::default();
    let provider = environment.start(with_idle_timeout(10, environment.stored()));
    let (one, two) = (get(&provider, thread_selector(1)), get(&provider, thread_selector(2)));
    block_on(provider.delete(one.id())).unwrap();
    block_on(provider.delete(one.id())).unwrap();
    assert_eq!(environment.store.ids(), [two.id().clone()]);
    assert!(write(&*one, "/workspace/a", "x").unwrap_err().message().contains("was deleted"));
    environment.clock.advance(10);
    assert_eq!(block_on(provider.delete_expired()).unwrap(), [two.id().clone()]);
    assert_eq!(environment.store.ids(), []);
    assert_eq!(kind(block_on(provider.get_or_create(Selector::Id(two.id().clone())))), ErrorKind::SandboxNotFound);
}

#[test]
fn expiry_includes_time_without_a_running_application() {
    let environment = TestEnvironment::default();
    let sandbox = get(&environment.start(with_idle_timeout(10, environment.stored())), thread_selector(1));
    environment.clock.advance(9);
    let again = environment.start(with_idle_timeout(10, environment.stored()));
    assert_eq!(get(&again, thread_selector(1)).id(), sandbox.id());
    environment.clock.advance(10);
    let late = environment.start(with_idle_timeout(10, environment.stored()));
    assert_eq!(block_on(late.delete_expired()).unwrap(), [sandbox.id().clone()]);
    assert_eq!(environment.store.ids(), []);
}

#[test]
fn reads_count_as_use_across_a_restart() {
    let environment = TestEnvironment::default();
    let provider = environment.start(with_idle_timeout(100, environment.stored()));
    let sandbox = get(&provider, thread_selector(1));
    for _ in 0..10 {
        environment.clock.advance(60);
        read(&*sandbox, "/workspace/seed").unwrap();
    }
    environment.clock.advance(60);
    assert_eq!(
        get(&environment.start(with_idle_timeout(100, environment.stored())), thread_selector(1)).id(),
        sandbox.id()
    );
    assert!(environment.store.put_count() < 15, "not every use is worth a save: {}", environment.store.put_count());
}
