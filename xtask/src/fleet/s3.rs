//! A server that speaks S3: moto, from PyPI, in memory.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::http;
use super::node::free_ports;

/// The version of the server, as in the tests of `stores`.
pub(super) const PACKAGE: &str = "moto[s3,server]==5.2.5";

pub(super) const BUCKET: &str = "sandboxes";

/// Time for the server to start.
const START_TIME: Duration = Duration::from_secs(60);

/// Runs the server with one request at a time: its own check whether an object exists and the creation are two steps. A list of one
/// directory uses an index, because the server's own list reads all objects.
const SCRIPT: &str = r#"
import io, sys, threading
from types import SimpleNamespace
from moto.s3.models import S3Backend
from moto.s3.utils import _VersionedKeyStore as Store
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple
def indexed(method, adds):
    def change(self, key, *values):
        method(self, key, *values)
        names = self.__dict__.setdefault("dirs", {}).setdefault(key.rpartition("/")[0] + "/", set())
        names.add(key) if adds else names.discard(key)
    return change
Store.__setitem__, Store.setlist = indexed(Store.__setitem__, True), indexed(Store.setlist, True)
Store.pop = indexed(Store.pop, False)
list_all = S3Backend.list_objects
def list_objects(self, bucket, prefix, *rest, **named):
    dirs = bucket.keys.__dict__.get("dirs", {})
    if prefix in dirs and not any(name.startswith(prefix) and name != prefix for name in dirs):
        bucket = SimpleNamespace(keys={name: bucket.keys[name] for name in dirs[prefix]})
    return list_all(self, bucket, prefix, *rest, **named)
S3Backend.list_objects = list_objects
served, lock = DomainDispatcherApplication(create_backend_app), threading.Lock()
def one_by_one(environ, start_response):
    # A slow client must not delay the others.
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    with lock:
        return [b"".join(served(environ, start_response))]
class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    def log(self, *_):
        pass
run_simple("127.0.0.1", int(sys.argv[1]), one_by_one, threaded=True, request_handler=Quiet)
"#;

#[derive(Debug)]
pub(super) struct S3 {
    child: Child,
    address: SocketAddr,
}

impl S3 {
    pub(super) fn start(python: &Path, dir: &Path) -> Result<Self> {
        let port = free_ports(1)?;
        let log = File::create(dir.join("s3.log"))?;
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT, &port.to_string()]).stdin(Stdio::null());
        let child = command.stdout(log.try_clone()?).stderr(log).spawn().context("cannot start Python")?;
        let server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        http::eventually(START_TIME, || {
            let reply = http::send(server.address, "PUT", &format!("/{BUCKET}"), "", "")?;
            ensure!(reply.status == 200, "status {}: {}", reply.status, reply.body);
            Ok(())
        })
        .context("the server of S3 does not start")?;
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // A server that has ended needs no signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
