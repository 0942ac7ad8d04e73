//! Terminals over a WebSocket.

use futures_util::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::client::sandbox_shared;

type Socket = tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>;

async fn open(address: std::net::SocketAddr, path: &str, protocols: &str) -> Result<Socket, String> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let opened = tokio_tungstenite::client_async(request, stream).await;
    opened.map(|(socket, _)| socket).map_err(|error| error.to_string())
}

/// Reads output until it contains a text.
async fn read_until(socket: &mut Socket, expected: &str) -> String {
    let mut output = String::new();
    while !output.contains(expected) {
        match socket.next().await.expect("it is open").expect("a message") {
            Message::Binary(bytes) => output.push_str(&String::from_utf8_lossy(&bytes)),
            Message::Text(text) => output.push_str(&text),
            other => panic!("{other:?} after {output}"),
        }
    }
    output
}

#[test]
fn a_terminal_has_keys_a_size_and_an_end() {
    let fixture = sandbox_shared();
    let sandbox = fixture.client("token-a").create();
    let address = fixture.server.address();
    let path = format!("{sandbox}/terminal?rows=30&columns=90");
    fixture.runtime.block_on(async {
        // `token-a` in base64url.
        let protocols = "tidebox.terminal, tidebox.token.dG9rZW4tYQ";
        let mut socket = open(address, &path, protocols).await.unwrap();
        socket.send(Message::binary("stty size; tty\r")).await.unwrap();
        let output = read_until(&mut socket, "30 90").await;
        assert!(!output.contains("not a tty"), "{output}");
        socket.send(Message::text(r#"{"rows": 40, "columns": 100}"#)).await.unwrap();
        socket.send(Message::binary("stty size\r")).await.unwrap();
        read_until(&mut socket, "40 100").await;
        socket.send(Message::binary("exit 3\r")).await.unwrap();
        read_until(&mut socket, r#"{"exit_code":3}"#).await;
        let close = loop {
            match socket.next().await.unwrap().unwrap() {
                Message::Close(close) => break close.unwrap(),
                _ => continue,
            }
        };
        assert_eq!(u16::from(close.code), 1000);
        for (protocols, path) in [
            ("tidebox.terminal", path.as_str()),
            ("tidebox.terminal, tidebox.token.dG9rZW4tYg", path.as_str()),
            ("tidebox.terminal, tidebox.token.!!", path.as_str()),
        ] {
            let denied = open(address, path, protocols).await.unwrap_err();
            assert!(denied.contains("401") || denied.contains("404"), "{protocols}: {denied}");
        }
    });
}
