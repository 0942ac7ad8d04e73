//! A way to an emulator on which every byte is under way for a while, as it is to a service. What a call takes longer over it
//! says how often one side waited for the other, whatever the protocol: requests that wait for an answer, and windows that are full.
//! What goes over it can be heard.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tidebox_emulators::Serving;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::bare::Heard;

/// How long a byte is under way, in one direction. Far more than what a machine takes to answer.
const WAY: Duration = Duration::from_millis(25);

/// How often one side waited for the other in a call that took this many seconds longer than without a distance.
pub(crate) fn round_trips(longer: f64) -> f64 {
    longer / (2.0 * WAY.as_secs_f64())
}

/// An emulator that tells its clients the near end of such a way, and everything that they send to it.
pub(crate) async fn behind<F>(serve: impl FnOnce(SocketAddr, String) -> F) -> std::io::Result<(Serving, Heard)>
where
    F: Future<Output = std::io::Result<Serving>>,
{
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let near = TcpListener::bind(any).await?;
    let serving = serve(any, format!("http://{}", near.local_addr()?)).await?;
    let (far, heard) = (serving.address(), Heard::default());
    let hears = heard.clone();
    // It goes on until the runtime ends.
    tokio::spawn(async move {
        while let Ok((client, from)) = near.accept().await {
            if let Ok(server) = TcpStream::connect(far).await {
                // Neither end holds back what is small.
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                let hears = hears.clone();
                tokio::spawn(carry(from_client, to_server, move |bytes| hears.add(from, bytes)));
                tokio::spawn(carry(from_server, to_client, |_| ()));
            }
        }
    });
    Ok((serving, heard))
}

/// Everything that comes, in its order, each piece as late as the others.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, hear: impl Fn(&[u8])) {
    let (send, mut receive) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((due, bytes)) = receive.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    });
    let mut buffer = vec![0; 256 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        hear(&buffer[..length]);
        if send.send((Instant::now() + WAY, buffer[..length].to_vec())).is_err() {
            return;
        }
    }
}
