//! The sandboxes behind one emulator, by the names that its clients know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidebox_core::{BoxFuture, Result, SandboxBackend};

/// Makes a sandbox with these variables in the environment of its commands.
pub type MakeSandbox =
    Arc<dyn Fn(Vec<(String, String)>) -> BoxFuture<'static, Result<Arc<dyn SandboxBackend>>> + Send + Sync>;

/// One sandbox and what its client said of it.
#[derive(Clone, Debug)]
pub struct Room {
    /// The sandbox.
    pub sandbox: Arc<dyn SandboxBackend>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The credential of its data plane.
    pub token: String,
    /// When it was made.
    pub made: Instant,
    /// When it ends, if it does.
    pub ends: Option<Instant>,
    /// It sleeps until somebody connects.
    pub paused: bool,
    /// What only one provider has, such as the name of a template.
    pub notes: BTreeMap<String, String>,
}

impl Room {
    /// Lives this long from now.
    pub fn live(&mut self, time: Duration) {
        self.ends = Instant::now().checked_add(time);
    }
}

/// All sandboxes of one emulator.
#[derive(Clone)]
pub struct House {
    make: MakeSandbox,
    rooms: Arc<Mutex<BTreeMap<String, Room>>>,
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("House").field("rooms", &self.lock().len()).finish_non_exhaustive()
    }
}

impl House {
    /// An empty house whose sandboxes are made by `make`.
    pub fn new(make: MakeSandbox) -> Self {
        Self { make, rooms: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a sandbox under this name.
    ///
    /// # Errors
    /// Those of making it.
    pub async fn open(&self, id: String, labels: BTreeMap<String, String>, env: Vec<(String, String)>) -> Result<Room> {
        let sandbox = (self.make)(env).await?;
        let room = Room {
            sandbox,
            labels,
            token: credential(),
            made: Instant::now(),
            ends: None,
            paused: false,
            notes: BTreeMap::new(),
        };
        self.lock().insert(id, room.clone());
        Ok(room)
    }

    /// Closes what has reached its end.
    async fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<String> = {
            let rooms = self.lock();
            rooms.iter().filter(|(_, room)| room.ends.is_some_and(|end| end <= now)).map(|(id, _)| id.clone()).collect()
        };
        for id in over {
            self.close(&id).await;
        }
    }

    /// The sandbox of this name, `None` when there is none any more.
    pub async fn find(&self, id: &str) -> Option<Room> {
        self.sweep().await;
        self.lock().get(id).cloned()
    }

    /// All sandboxes that bear these labels, in the order of their names.
    pub async fn list(&self, labels: &BTreeMap<String, String>) -> Vec<(String, Room)> {
        self.sweep().await;
        let bears = |room: &Room| labels.iter().all(|(name, value)| room.labels.get(name) == Some(value));
        self.lock().iter().filter(|(_, room)| bears(room)).map(|(id, room)| (id.clone(), room.clone())).collect()
    }

    /// Changes what is known of a sandbox; false when there is none of this name.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Room)) -> bool {
        self.lock().get_mut(id).map(change).is_some()
    }

    /// Ends a sandbox; false when there was none of this name.
    pub async fn close(&self, id: &str) -> bool {
        let room = self.lock().remove(id);
        match room {
            Some(room) => {
                // Whoever ends an emulated sandbox has no use for the reason why it could not be tidied up.
                let _ = room.sandbox.close().await;
                true
            }
            None => false,
        }
    }
}

impl House {
    /// Ends all sandboxes.
    pub async fn close_all(&self) {
        let names: Vec<String> = self.lock().keys().cloned().collect();
        for id in names {
            self.close(&id).await;
        }
    }
}

/// A credential that nobody guesses by accident.
fn credential() -> String {
    (0..40).map(|_| fastrand::alphanumeric()).collect()
}
