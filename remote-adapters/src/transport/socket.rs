//! WebSockets (RFC 6455).

use std::fmt;

use async_trait::async_trait;
use tidebox_core::{Error, ErrorKind, Result};

use super::Response;

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Closed, with code and reason.
    Closed(u16, String),
}

/// Sending half.
#[async_trait]
pub trait Sender: Send {
    /// Sends text.
    async fn send(&mut self, text: String) -> Result<()>;

    /// Sends bytes.
    async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<()>;

    /// Closes the sending direction.
    async fn close(&mut self) -> Result<()>;
}

/// Receiving half.
#[async_trait]
pub trait Receiver: Send {
    /// Returns the next message, `None` after the end.
    async fn next(&mut self) -> Result<Option<Message>>;
}

/// An open connection.
pub struct Socket {
    /// Headers of the handshake response, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Sending half.
    pub sender: Box<dyn Sender>,
    /// Receiving half.
    pub receiver: Box<dyn Receiver>,
}

impl Socket {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}

/// Result of a WebSocket handshake.
#[derive(Debug)]
pub enum UpgradeResult {
    /// The connection is open.
    Open(Socket),
    /// The server sent another response.
    Rejected(Response),
}

/// Returns the error for a binary message where the protocol has text.
pub(crate) fn unexpected_bytes() -> Error {
    let message = "the provider sent a binary message instead of text";
    Error::new(ErrorKind::Protocol, "receive a message", message)
}

/// WebSockets over hyper connections, which share proxy and TLS with all other requests.
#[cfg(not(target_family = "wasm"))]
pub(super) mod native {
    use async_trait::async_trait;
    use futures_util::stream::{SplitSink, SplitStream};
    use futures_util::{SinkExt as _, StreamExt as _};
    use tidebox_core::{Error, ErrorKind, Result};
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
    use tokio_tungstenite::tungstenite::{Error as WireError, Message as Wire};

    use super::{Message, Receiver, Sender, Socket};

    type Stream = WebSocketStream<reqwest::Upgraded>;

    /// Maximum message length.
    const MESSAGE_BYTES: usize = 64 << 20;

    pub(in super::super) async fn socket(upgraded: reqwest::Upgraded, headers: Vec<(String, String)>) -> Socket {
        let config =
            WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES)).max_frame_size(Some(MESSAGE_BYTES));
        let (sender, receiver) = Stream::from_raw_socket(upgraded, Role::Client, Some(config)).await.split();
        Socket { headers, sender: Box::new(Outgoing(sender)), receiver: Box::new(Incoming(receiver)) }
    }

    struct Outgoing(SplitSink<Stream, Wire>);

    #[async_trait]
    impl Sender for Outgoing {
        async fn send(&mut self, text: String) -> Result<()> {
            self.0.send(Wire::text(text)).await.map_err(broken)
        }

        async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<()> {
            self.0.send(Wire::binary(bytes)).await.map_err(broken)
        }

        async fn close(&mut self) -> Result<()> {
            self.0.close().await.map_err(broken)
        }
    }

    struct Incoming(SplitStream<Stream>);

    #[async_trait]
    impl Receiver for Incoming {
        async fn next(&mut self) -> Result<Option<Message>> {
            loop {
                match self.0.next().await {
                    None => return Ok(None),
                    Some(Ok(Wire::Text(text))) => return Ok(Some(Message::Text(text.as_str().to_owned()))),
                    Some(Ok(Wire::Close(close))) => {
                        let (code, reason) =
                            close.map_or((1005, String::new()), |close| (close.code.into(), close.reason.to_string()));
                        return Ok(Some(Message::Closed(code, reason)));
                    }
                    Some(Ok(Wire::Binary(bytes))) => return Ok(Some(Message::Binary(bytes.to_vec()))),
                    // tungstenite responds to pings.
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(broken(error)),
                }
            }
        }
    }

    fn broken(error: WireError) -> Error {
        let (kind, message) = match &error {
            WireError::Capacity(_) => (ErrorKind::Protocol, "the provider sent a message of more than 64 MiB"),
            WireError::Protocol(_) | WireError::Utf8(_) => (ErrorKind::Unavailable, "the connection was lost"),
            _ => (ErrorKind::Unavailable, "the connection is closed"),
        };
        Error::new(kind, "exchange messages", message).with_source(error)
    }
}
