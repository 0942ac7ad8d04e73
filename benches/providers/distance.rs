//! A proxy to an emulator that delays every byte, like the distance to a service. The additional time of a call shows how often one
//! side waited for the other in any protocol: requests that wait for a response, and full windows. The proxy can record traffic.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tidebox_emulators::Serving;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::bare::RecordedTraffic;

/// Delay of a byte in one direction, far longer than the processing time of a request.
const ONE_WAY_DELAY: Duration = Duration::from_millis(25);

/// Returns the round trips of a call from its additional seconds.
pub(crate) fn round_trips(longer: f64) -> f64 {
    longer / (2.0 * ONE_WAY_DELAY.as_secs_f64())
}

/// An emulator that announces the address of the proxy to its clients, and the recorded traffic.
pub(crate) async fn serve_with_delay<F>(
    serve: impl FnOnce(SocketAddr, String) -> F,
) -> std::io::Result<(Serving, RecordedTraffic)>
where
    F: Future<Output = std::io::Result<Serving>>,
{
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let near = TcpListener::bind(any).await?;
    let serving = serve(any, format!("http://{}", near.local_addr()?)).await?;
    let (far, traffic) = (serving.address(), RecordedTraffic::default());
    let recorder = traffic.clone();
    // It runs until the runtime ends.
    tokio::spawn(async move {
        while let Ok((client, from)) = near.accept().await {
            if let Ok(server) = TcpStream::connect(far).await {
                // Send small writes immediately on both sides.
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                let recorder = recorder.clone();
                tokio::spawn(forward(from_client, to_server, move |bytes| recorder.add(from, bytes)));
                tokio::spawn(forward(from_server, to_client, |_| ()));
            }
        }
    });
    Ok((serving, traffic))
}

/// Forwards all bytes in order with the same delay.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, observe: impl Fn(&[u8])) {
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
        observe(&buffer[..length]);
        if send.send((Instant::now() + ONE_WAY_DELAY, buffer[..length].to_vec())).is_err() {
            return;
        }
    }
}
