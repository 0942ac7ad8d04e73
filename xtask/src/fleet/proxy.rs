//! A proxy that gives each connection to the next node that accepts it.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;

/// Time for a connection to a node. A stopped node accepts connections as well; its clients wait.
const CONNECT_TIME: Duration = Duration::from_millis(500);

/// A proxy until the end of the program.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
}

impl Proxy {
    pub(super) fn start(nodes: Vec<SocketAddr>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (nodes, next) = (Arc::new(nodes), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (nodes, number) = (Arc::clone(&nodes), next.fetch_add(1, Ordering::Relaxed));
                thread::spawn(move || pass(client, &nodes, number));
            }
        });
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn pass(client: TcpStream, nodes: &[SocketAddr], number: usize) {
    let order = (0..nodes.len()).filter_map(|step| nodes.get((number + step) % nodes.len()));
    let connected = order.into_iter().find_map(|node| TcpStream::connect_timeout(node, CONNECT_TIME).ok());
    let Some(node) = connected else { return };
    let (Ok(from), Ok(to)) = (client.try_clone(), node.try_clone()) else { return };
    let requests = thread::spawn(move || copy(from, to));
    copy(node, client);
    let _ = requests.join();
}

/// Copies until one side ends, and ends the other.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    // Either side may end at any time.
    let _ = from.set_nodelay(true);
    let _ = to.set_nodelay(true);
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
