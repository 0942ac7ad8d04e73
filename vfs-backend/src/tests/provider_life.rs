//! Time to live, saving and coming back, by a clock and a store that the test holds.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use futures_util::future::join_all;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, ExecuteRequest, ListRequest, ReadRequest, Result, SandboxBackend, SandboxId,
    SandboxProvider, Selector, WriteRequest,
};
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, MountMode};
use tidebox_kernel::{Clock, Errno, FixedClock, SeededEntropy};

use super::engine::{Play, Stage};
use super::path;
use crate::{BaseImage, ProviderSettings, SandboxBuilder, SavedSandbox, Saving, Snapshot, SnapshotStore, VfsProvider};

const SECOND: u64 = 1_000_000_000;

/// A clock that the test moves.
#[derive(Clone, Debug, Default)]
struct Watch(Arc<AtomicU64>);

impl Watch {
    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * SECOND, Ordering::SeqCst);
    }
}

impl Clock for Watch {
    fn realtime(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> u64 {
        self.realtime()
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(self.clone())
    }
}

/// A store in memory that can fail, and that answers at the next poll.
#[derive(Debug, Default)]
struct Drawer {
    saved: Mutex<BTreeMap<SandboxId, (SavedSandbox, Vec<u8>)>>,
    puts: AtomicUsize,
    broken: AtomicBool,
}

impl Drawer {
    fn ids(&self) -> Vec<SandboxId> {
        self.saved.lock().unwrap().keys().cloned().collect()
    }

    fn puts(&self) -> usize {
        self.puts.load(Ordering::SeqCst)
    }

    async fn check(&self) -> Result<()> {
        crate::turn::yield_now().await;
        if self.broken.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Storage, "keep sandboxes", "the disk is full; free some space"));
        }
        Ok(())
    }
}

impl SnapshotStore for Drawer {
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check().await?;
            self.puts.fetch_add(1, Ordering::SeqCst);
            self.saved.lock().unwrap().insert(saved.id.clone(), (saved.clone(), snapshot.to_bytes()));
            Ok(())
        })
    }

    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().get(id).map(|(_, snapshot)| snapshot.clone()))
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().values().map(|(saved, _)| saved.clone()).collect())
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check().await?;
            self.saved.lock().unwrap().remove(id);
            Ok(())
        })
    }
}

/// A program that may be started again: what outlives it is the watch and the drawer.
#[derive(Clone, Default)]
struct World {
    watch: Watch,
    drawer: Arc<Drawer>,
    seeds: Arc<AtomicU64>,
}

impl World {
    fn start(&self, settings: ProviderSettings) -> VfsProvider {
        self.start_with(settings, [Play::Exit(0)])
    }

    fn start_with(&self, settings: ProviderSettings, play: impl IntoIterator<Item = Play>) -> VfsProvider {
        VfsProvider::with_settings(self.make(play), Box::new(self.watch.clone()), settings)
    }

    fn make(
        &self,
        play: impl IntoIterator<Item = Play>,
    ) -> impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static {
        let (seeds, play) = (Arc::clone(&self.seeds), play.into_iter().collect::<Vec<_>>());
        let base = BaseImage::new(&[crate::Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
        move || {
            let entropy = Box::new(SeededEntropy::new(seeds.fetch_add(1, Ordering::Relaxed)));
            let stage = Arc::new(Stage::new(play.clone()));
            Ok(SandboxBuilder::new(stage, &base, Box::new(FixedClock::new(0)), entropy).file("seed", "planted"))
        }
    }

    fn stored(&self) -> ProviderSettings {
        ProviderSettings {
            store: Some(Arc::clone(&self.drawer) as Arc<dyn SnapshotStore>),
            ..ProviderSettings::default()
        }
    }
}

fn idle(seconds: u64, settings: ProviderSettings) -> ProviderSettings {
    ProviderSettings { idle: Some(Duration::from_secs(seconds)), ..settings }
}

fn thread(number: u32) -> Selector {
    Selector::labels([("thread", number.to_string())])
}

fn get(provider: &VfsProvider, selector: Selector) -> Arc<dyn SandboxBackend> {
    block_on(provider.get_or_create(selector)).unwrap()
}

fn write(sandbox: &dyn SandboxBackend, name: &str, text: &str) -> Result<()> {
    block_on(sandbox.write(WriteRequest::new(path(name), text)))?.unwrap();
    Ok(())
}

fn read(sandbox: &dyn SandboxBackend, name: &str) -> Result<Option<Vec<u8>>> {
    let mut downloads = block_on(sandbox.download_files(vec![name.into()]))?;
    Ok(downloads.remove(0).result.ok())
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

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
fn what_every_call_left_is_there_after_a_restart_under_the_same_id() {
    let world = World::default();
    let first = world.start(world.stored());
    let sandbox = get(&first, thread(1));
    write(&*sandbox, "/workspace/notes", "kept").unwrap();
    block_on(sandbox.delete(&path("/workspace/seed"))).unwrap().unwrap();
    get(&first, thread(2));
    // No close, no drop in order: the program just ends.
    std::mem::forget(first);

    let again = world.start(world.stored());
    let listed = block_on(again.list(ListRequest::default())).unwrap();
    assert_eq!(listed.sandboxes.len(), 2);
    let found = get(&again, thread(1));
    assert_eq!(found.id(), sandbox.id());
    assert_eq!(read(&*found, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*found, "/workspace/seed").unwrap(), None, "what was deleted is not planted again");
    let by_id = get(&again, Selector::Id(sandbox.id().clone()));
    assert_eq!(read(&*by_id, "/workspace/notes").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(read(&*get(&again, thread(2)), "/workspace/seed").unwrap().as_deref(), Some(&b"planted"[..]));
}

#[test]
fn the_shell_session_is_saved_with_the_files() {
    let world = World::default();
    let provider = world.start(world.stored());
    let id = get(&provider, thread(1)).id().clone();
    provider.sandbox(&id).unwrap().set_shell_state(b"cwd and variables".as_slice().into()).unwrap();
    block_on(provider.save()).unwrap();
    let again = world.start(world.stored());
    get(&again, thread(1));
    assert_eq!(&*again.sandbox(&id).unwrap().shell_state(), b"cwd and variables");
}

#[test]
fn a_call_that_changes_nothing_saves_nothing() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    let puts = world.drawer.puts();
    block_on(sandbox.execute(ExecuteRequest::new("true"))).unwrap();
    block_on(sandbox.read(ReadRequest::new(path("/workspace/a")))).unwrap().unwrap();
    block_on(sandbox.ls(&path("/"))).unwrap().unwrap();
    block_on(sandbox.delete(&path("/none"))).unwrap().unwrap_err();
    block_on(provider.save()).unwrap();
    assert_eq!(world.drawer.puts(), puts);
    write(&*sandbox, "/workspace/a", "y").unwrap();
    assert_eq!(world.drawer.puts(), puts + 1);
}

#[test]
fn when_asked_it_is_saved_by_save_and_by_close_only() {
    let world = World::default();
    let provider = world.start(ProviderSettings { saving: Saving::WhenAsked, ..world.stored() });
    let sandbox = get(&provider, thread(1));
    let puts = world.drawer.puts();
    write(&*sandbox, "/workspace/a", "1").unwrap();
    assert_eq!(world.drawer.puts(), puts);
    block_on(provider.save()).unwrap();
    assert_eq!(world.drawer.puts(), puts + 1);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(sandbox.close()).unwrap();
    assert_eq!(
        read(&*get(&world.start(world.stored()), thread(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"2"[..])
    );
}

#[test]
fn at_most_every_so_often_it_is_saved_by_the_next_call_by_sweep_and_by_close() {
    let world = World::default();
    let saving = Saving::AtMostEvery(Duration::from_secs(10));
    let provider = world.start(ProviderSettings { saving, ..world.stored() });
    let sandbox = get(&provider, thread(1));
    let mut puts = world.drawer.puts();
    let mut saved = |saves: usize| {
        assert_eq!(world.drawer.puts() - puts, saves);
        puts = world.drawer.puts();
    };
    write(&*sandbox, "/workspace/a", "1").unwrap();
    world.watch.pass(9);
    write(&*sandbox, "/workspace/a", "2").unwrap();
    block_on(provider.sweep()).unwrap();
    saved(0);
    world.watch.pass(1);
    read(&*sandbox, "/workspace/a").unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "3").unwrap();
    saved(0);
    world.watch.pass(10);
    block_on(provider.sweep()).unwrap();
    block_on(provider.sweep()).unwrap();
    saved(1);
    write(&*sandbox, "/workspace/a", "4").unwrap();
    block_on(sandbox.close()).unwrap();
    saved(1);
    assert_eq!(
        read(&*get(&world.start(world.stored()), thread(1)), "/workspace/a").unwrap().as_deref(),
        Some(&b"4"[..])
    );
}

#[test]
fn closing_gives_the_memory_back_and_asking_again_brings_the_sandbox_back() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    write(&*sandbox, "/workspace/a", "x").unwrap();
    block_on(sandbox.close()).unwrap();
    block_on(sandbox.close()).unwrap();
    assert!(provider.sandbox(sandbox.id()).is_none());
    assert_eq!(kind(write(&*sandbox, "/workspace/a", "y")), ErrorKind::Closed);
    assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    let back = get(&provider, thread(1));
    assert_eq!(back.id(), sandbox.id());
    assert_eq!(read(&*back, "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
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

#[test]
fn a_store_that_fails_fails_the_call_and_the_next_one_saves() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    world.drawer.broken.store(true, Ordering::SeqCst);
    let failed = write(&*sandbox, "/workspace/a", "x").unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Storage);
    assert!(failed.message().contains("could not be saved: the disk is full"), "{failed}");
    assert_eq!(kind(block_on(sandbox.close())), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.get_or_create(thread(2)))), ErrorKind::Storage);
    assert_eq!(kind(block_on(provider.delete(sandbox.id()))), ErrorKind::Storage);
    world.drawer.broken.store(false, Ordering::SeqCst);
    write(&*sandbox, "/workspace/b", "y").unwrap();
    let again = world.start(world.stored());
    assert_eq!(block_on(again.list(ListRequest::default())).unwrap().sandboxes.len(), 1);
    assert_eq!(read(&*get(&again, thread(1)), "/workspace/a").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_damaged_snapshot_is_an_error_and_no_empty_sandbox() {
    let world = World::default();
    let sandbox = get(&world.start(world.stored()), thread(1));
    world.drawer.saved.lock().unwrap().get_mut(sandbox.id()).unwrap().1.truncate(9);
    let again = world.start(world.stored());
    let error = block_on(again.get_or_create(thread(1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains(sandbox.id().as_str()), "{error}");
    assert_eq!(world.drawer.ids().len(), 1);
}

/// A file system with one file in it.
#[derive(Debug)]
struct OneFile;

impl Mount for OneFile {
    fn metadata(&self, path: &[u8]) -> std::result::Result<Metadata, Errno> {
        let kind = match path {
            b"" => EntryKind::Dir,
            b"shared" => EntryKind::File,
            _ => return Err(Errno::Noent),
        };
        Ok(Metadata { kind, mode: 0o755, nlink: 1, size: 4, atime: 0, mtime: 0, ctime: 0 })
    }

    fn read_dir(&self, _: &[u8]) -> std::result::Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        Ok(vec![(b"shared".to_vec(), EntryKind::File)])
    }

    fn open(&self, _: &[u8], _: Access) -> std::result::Result<Arc<dyn MountFile>, Errno> {
        Ok(Arc::new(Self))
    }
}

impl MountFile for OneFile {
    fn metadata(&self) -> std::result::Result<Metadata, Errno> {
        Mount::metadata(self, b"shared")
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> std::result::Result<usize, Errno> {
        let rest = b"host".get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let n = rest.len().min(dst.len());
        dst[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// A provider that saves sandboxes with a mount.
fn mounting(world: &World, mode: MountMode) -> VfsProvider {
    let make = world.make([Play::Exit(0)]);
    let make = move || Ok(make()?.mount("/mnt/host", Arc::new(OneFile), mode));
    VfsProvider::with_settings(make, Box::new(world.watch.clone()), world.stored())
}

#[test]
fn a_sandbox_with_a_mount_comes_back_with_the_mount_and_nothing_of_it_is_saved() {
    let world = World::default();
    for _ in 0..3 {
        let sandbox = get(&mounting(&world, MountMode::ReadOnly), thread(1));
        assert_eq!(read(&*sandbox, "/mnt/host/shared").unwrap().as_deref(), Some(&b"host"[..]));
        write(&*sandbox, "/workspace/own", "x").unwrap();
    }
    let unmounted = get(&world.start(world.stored()), thread(1));
    assert_eq!(read(&*unmounted, "/mnt/host/shared").unwrap(), None);
    assert_eq!(read(&*unmounted, "/workspace/own").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn what_could_not_be_saved_is_refused_when_the_sandbox_is_made() {
    let provider = mounting(&World::default(), MountMode::CopyOnWrite);
    assert_eq!(kind(block_on(provider.get_or_create(thread(1)))), ErrorKind::Unsupported);
}

#[test]
fn labels_of_the_provider_are_added_and_those_asked_for_win() {
    let world = World::default();
    let labels: BTreeMap<String, String> = [("app".into(), "a".into()), ("tier".into(), "low".into())].into();
    let provider = world.start(ProviderSettings { labels, ..ProviderSettings::default() });
    let sandbox = get(&provider, Selector::labels([("thread", "1"), ("tier", "high")]));
    let listed = block_on(provider.list(ListRequest::default())).unwrap();
    let told: Vec<_> = listed.sandboxes[0].labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(told, ["app=a", "thread=1", "tier=high"]);
    assert_eq!(get(&provider, Selector::labels([("app", "a")])).id(), sandbox.id());
}

#[test]
fn callers_that_ask_for_the_same_labels_at_the_same_time_get_one_sandbox() {
    for settings in [ProviderSettings::default(), World::default().stored()] {
        let provider = World::default().start(settings);
        let made = std::thread::scope(|scope| {
            let ask = || block_on(join_all((0..32).map(|number| provider.get_or_create(thread(number % 8)))));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            let made: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            made.into_iter().map(|sandbox| sandbox.unwrap().id().clone()).collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(made.len(), 8);
        assert_eq!(block_on(provider.list(ListRequest::default())).unwrap().sandboxes.len(), 8);
    }
}

#[test]
fn a_saved_sandbox_is_loaded_once_for_all_who_ask() {
    let world = World::default();
    get(&world.start(world.stored()), thread(1));
    let again = world.start(world.stored());
    let found = block_on(join_all((0..8).map(|_| again.get_or_create(thread(1)))));
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    write(&*found[0], "/workspace/shared", "x").unwrap();
    for sandbox in &found {
        assert_eq!(read(&**sandbox, "/workspace/shared").unwrap().as_deref(), Some(&b"x"[..]));
    }
}

#[test]
fn calls_that_end_while_it_is_being_saved_are_saved_together() {
    let world = World::default();
    let provider = world.start(world.stored());
    let sandbox = get(&provider, thread(1));
    let puts = world.drawer.puts();
    let writes = (0..16).map(|at| sandbox.write(WriteRequest::new(path(&format!("/workspace/{at}")), "x")));
    for written in block_on(join_all(writes)) {
        written.unwrap().unwrap();
    }
    assert!(world.drawer.puts() - puts < 4, "{} saves", world.drawer.puts() - puts);
    let back = get(&world.start(world.stored()), thread(1));
    assert!((0..16).all(|at| read(&*back, &format!("/workspace/{at}")).unwrap().is_some()));
}

#[test]
fn deleting_while_it_is_being_saved_leaves_nothing_behind() {
    let world = World::default();
    let provider = world.start(world.stored());
    for number in 0..20 {
        let sandbox = get(&provider, thread(number));
        let write = sandbox.write(WriteRequest::new(path("/workspace/a"), "x"));
        let (written, deleted) = block_on(futures_util::future::join(write, provider.delete(sandbox.id())));
        deleted.unwrap();
        assert!(written.is_ok() || kind(written) == ErrorKind::Closed);
        assert_eq!(world.drawer.ids(), []);
    }
}
