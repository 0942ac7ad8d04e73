//! WebSockets (RFC 6455): connections on which both sides send text.

use std::fmt;

use tidebox_core::{BoxFuture, Result};

use super::Reply;

/// A message of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text.
    Text(String),
    /// The end, with its code.
    Closed(u16, String),
}

/// The half that sends.
pub trait Sender: Send {
    /// Sends text.
    fn send(&mut self, text: String) -> BoxFuture<'_, Result<()>>;

    /// Says that nothing more comes.
    fn close(&mut self) -> BoxFuture<'_, Result<()>>;
}

/// The half that receives.
pub trait Receiver: Send {
    /// The next message, `None` after the end.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Message>>>;
}

/// An open connection.
pub struct Socket {
    /// The headers of the answer that opened it, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What sends.
    pub sender: Box<dyn Sender>,
    /// What receives.
    pub receiver: Box<dyn Receiver>,
}

impl Socket {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}

/// What came of asking for a connection.
#[derive(Debug)]
pub enum Opening {
    /// It is open.
    Open(Socket),
    /// The server answered something else.
    Refused(Reply),
}

/// Sockets over a connection of hyper, so that they share proxy and TLS with all other requests.
#[cfg(not(target_family = "wasm"))]
pub(super) mod native {
    use futures_util::stream::{SplitSink, SplitStream};
    use futures_util::{SinkExt as _, StreamExt as _};
    use tidebox_core::{BoxFuture, Error, ErrorKind, Result};
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
    use tokio_tungstenite::tungstenite::{Error as WireError, Message as Wire};

    use super::{Message, Receiver, Sender, Socket};

    type Stream = WebSocketStream<reqwest::Upgraded>;

    /// The longest message that is taken.
    const MESSAGE_BYTES: usize = 64 << 20;

    pub(in super::super) async fn socket(upgraded: reqwest::Upgraded, headers: Vec<(String, String)>) -> Socket {
        let config =
            WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES)).max_frame_size(Some(MESSAGE_BYTES));
        let (sender, receiver) = Stream::from_raw_socket(upgraded, Role::Client, Some(config)).await.split();
        Socket { headers, sender: Box::new(Outgoing(sender)), receiver: Box::new(Incoming(receiver)) }
    }

    struct Outgoing(SplitSink<Stream, Wire>);

    impl Sender for Outgoing {
        fn send(&mut self, text: String) -> BoxFuture<'_, Result<()>> {
            Box::pin(async move { self.0.send(Wire::text(text)).await.map_err(broken) })
        }

        fn close(&mut self) -> BoxFuture<'_, Result<()>> {
            Box::pin(async move { self.0.close().await.map_err(broken) })
        }
    }

    struct Incoming(SplitStream<Stream>);

    impl Receiver for Incoming {
        fn next(&mut self) -> BoxFuture<'_, Result<Option<Message>>> {
            Box::pin(async move {
                loop {
                    match self.0.next().await {
                        None => return Ok(None),
                        Some(Ok(Wire::Text(text))) => return Ok(Some(Message::Text(text.as_str().to_owned()))),
                        Some(Ok(Wire::Close(close))) => {
                            let (code, reason) = close
                                .map_or((1005, String::new()), |close| (close.code.into(), close.reason.to_string()));
                            return Ok(Some(Message::Closed(code, reason)));
                        }
                        Some(Ok(Wire::Binary(_))) => {
                            let message = "the provider sent bytes where its protocol has text";
                            return Err(Error::new(ErrorKind::Protocol, "receive a message", message));
                        }
                        // Pings are answered below us.
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return Err(broken(error)),
                    }
                }
            })
        }
    }

    fn broken(error: WireError) -> Error {
        let (kind, message) = match &error {
            WireError::Capacity(_) => (ErrorKind::Protocol, "the provider sent a message of more than 64 MiB"),
            WireError::Protocol(_) | WireError::Utf8(_) => (ErrorKind::Unavailable, "the connection broke"),
            _ => (ErrorKind::Unavailable, "the connection is gone"),
        };
        Error::new(kind, "exchange messages", message).with_source(error)
    }
}
