//! A link between a node and a server that can be cut, silent or slow.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

/// Time for a connection to the server.
const CONNECT_TIME: Duration = Duration::from_millis(500);

/// Pause between two checks of the state.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// State of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Whole,
    /// Connections end, in the middle of what they transfer, and others are refused.
    Cut,
    /// Connections stay, and transfer nothing.
    Silent,
    /// Every part of a transfer takes this time.
    Slow(Duration),
}

/// A link until the end of the program.
#[derive(Clone, Debug)]
pub(super) struct Link {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Number of cuts until now. A connection ends after one.
    cuts: AtomicU64,
}

impl Link {
    pub(super) fn start(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let link = Self { address: listener.local_addr()?, shared: Arc::default() };
        let shared = Arc::clone(&link.shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || pass(client, server, &shared));
            }
        });
        Ok(link)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn set(&self, state: State) {
        *self.shared.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        if state == State::Cut {
            self.shared.cuts.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Shared {
    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pass(client: TcpStream, server: SocketAddr, shared: &Arc<Shared>) {
    while shared.state() == State::Silent {
        thread::sleep(CHECK_INTERVAL);
    }
    if shared.state() == State::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect_timeout(&server, CONNECT_TIME) else { return };
    let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
    let (cuts, sent) = (shared.cuts.load(Ordering::Acquire), Arc::clone(shared));
    let requests = thread::spawn(move || copy(from, to, &sent, cuts));
    copy(server, client, shared, cuts);
    let _ = requests.join();
}

/// Copies until one side or the link ends, and ends both sides.
fn copy(mut from: TcpStream, mut to: TcpStream, shared: &Shared, cuts: u64) {
    // Either side may end at any time.
    let _ = from.set_nodelay(true);
    let _ = to.set_nodelay(true);
    let _ = from.set_read_timeout(Some(CHECK_INTERVAL));
    let mut buffer = vec![0; 64 << 10];
    while shared.cuts.load(Ordering::Acquire) == cuts {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => break,
        };
        if let State::Slow(time) = shared.state() {
            thread::sleep(time);
        }
        while shared.state() == State::Silent {
            thread::sleep(CHECK_INTERVAL);
        }
        let is_cut = shared.cuts.load(Ordering::Acquire) != cuts;
        let length = if is_cut { read / 2 } else { read };
        if to.write_all(&buffer[..length]).is_err() || is_cut {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
