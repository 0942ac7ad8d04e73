//! HTTPS.

use std::net::SocketAddr;
use std::sync::Arc;

use tidebox::service::{Server, ServerConfig, TlsFiles};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::{Fixture, parse};

/// A self-signed certificate of `localhost` and its key.
fn files(dir: &std::path::Path) -> TlsFiles {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificate: dir.join("cert.pem"), key: dir.join("key.pem") };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    files
}

#[test]
fn a_client_that_trusts_the_certificate_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let files = files(dir.path());
    let fixture = Fixture::start(&[("a", "t", "")]);
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let config = ServerConfig { listen, tls: Some(files.read().unwrap()), metrics: None };
    fixture.runtime.block_on(async {
        let server = Server::start(fixture.service.clone(), config).await.unwrap();
        assert!(server.url().starts_with("https://127.0.0.1:"), "{}", server.url());
        // A client that never completes its handshake delays no other.
        let _silent = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&files.certificate).unwrap()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let connector = TlsConnector::from(Arc::new(client.with_root_certificates(roots).with_no_client_auth()));
        let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = connector.connect(name, stream).await.expect("the handshake");
        let request = b"GET /v1/usage HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer t\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut reply = Vec::new();
        // The server may close the connection without the alert of its end.
        let _ = stream.read_to_end(&mut reply).await;
        let reply = parse(&reply);
        assert_eq!((reply.status, reply.json()["tenant"].clone()), (200, serde_json::json!("a")));
        server.end().await;
    });
}

#[test]
fn files_that_do_not_match_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let good = files(dir.path());
    let other = tempfile::tempdir().unwrap();
    let foreign = files(other.path());
    let read = |certificate: &std::path::Path, key: &std::path::Path| {
        TlsFiles { certificate: certificate.to_owned(), key: key.to_owned() }
            .read()
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert!(read(&good.certificate, &foreign.key).unwrap_err().contains("with its key"));
    assert!(read(&good.key, &good.key).unwrap_err().contains("no certificate in PEM"));
    assert!(read(&good.certificate, &good.certificate).unwrap_err().contains("cannot read the key"));
    assert!(read(&dir.path().join("none"), &good.key).unwrap_err().contains("cannot read the certificate"));
}
