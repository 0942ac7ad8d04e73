//! One behavior of every storage.

use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, ListRequest, SandboxProvider};
use tidebox_vfs_backend::SnapshotStore;

use super::support::*;
use crate::stores::log::GenerationLog;
use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{Creation, Objects};
use crate::stores::{ChainStore, Folder, SaveLog};

/// Checks a storage that is empty.
fn check(objects: impl Objects + Clone + 'static) {
    check_objects(&objects);
    let open = || provider(ChainStore::new(Arc::new(GenerationLog::new(objects.clone()))).unwrap());
    let (one, two) = (open(), open());
    let first = get(&one);
    let large = noise(3, 700 << 10);
    write(&*first, "large", large.clone()).unwrap();
    write(&*first, "file", "one").unwrap();
    let second = get(&two);
    assert_eq!(second.id(), first.id());
    assert_eq!(read(&*second, "large").unwrap(), large);
    write(&*second, "file", "two").unwrap();
    assert_eq!(write(&*first, "file", "lost").unwrap_err().kind(), ErrorKind::Closed);
    let back = get(&one);
    assert_eq!(read(&*back, "file").unwrap(), b"two");
    for number in 0..34 {
        write(&*back, "file", format!("{number}")).unwrap();
    }
    let log = GenerationLog::new(objects.clone());
    for _ in 0..2 {
        block_on(log.collect_garbage(u64::MAX)).unwrap();
        assert_eq!(read(&*get(&open()), "file").unwrap(), b"33");
    }
    let id = first.id().clone();
    let last = open();
    block_on(last.list(ListRequest::default())).unwrap();
    block_on(last.delete(&id)).unwrap();
    assert_eq!(block_on(open().list(ListRequest::default())).unwrap().sandboxes, []);
    for _ in 0..3 {
        block_on(log.collect_garbage(u64::MAX)).unwrap();
    }
    assert_eq!(block_on(objects.list("", "")).unwrap().objects, []);
}

fn check_objects(objects: &(impl Objects + Clone)) {
    let name = "sb-1/0000000000000001";
    assert_eq!(block_on(objects.read(name, 10)).unwrap(), None);
    assert_eq!(block_on(objects.create(name, b"first".to_vec())).unwrap(), Creation::Created);
    assert_eq!(block_on(objects.create(name, b"second".to_vec())).unwrap(), Creation::Exists);
    assert_eq!(block_on(objects.read(name, 10)).unwrap().unwrap(), b"first");
    assert_eq!(block_on(objects.read(name, 2)).unwrap().unwrap(), b"fi");
    for other in ["sb-1/pack-00", "sb-2/0000000000000001", "sb%2f/0000000000000001", "t/0000000000000001"] {
        assert_eq!(block_on(objects.create(other, b"x".to_vec())).unwrap(), Creation::Created);
    }
    let names = |prefix: &str, after: &str| -> Vec<String> {
        block_on(objects.list(prefix, after)).unwrap().objects.into_iter().map(|object| object.name).collect()
    };
    assert_eq!(names("sb-1/", ""), [name, "sb-1/pack-00"]);
    assert_eq!(names("sb-1/", name), ["sb-1/pack-00"]);
    assert_eq!(names("sb-", "").len(), 3);
    assert_eq!(names("sb-", "sb-1/~"), ["sb-2/0000000000000001"]);
    assert_eq!(names("", "").len(), 5);
    block_on(objects.clear(name)).unwrap();
    assert_eq!(block_on(objects.read(name, 10)).unwrap().unwrap(), b"");
    assert_eq!(
        block_on(objects.create(name, b"third".to_vec())).unwrap(),
        Creation::Exists,
        "a tombstone keeps its name"
    );
    for object in names("", "") {
        for _ in 0..2 {
            block_on(objects.remove(&object)).unwrap();
        }
    }
    assert_eq!(names("", ""), [] as [&str; 0]);
}

#[test]
fn memory_is_a_storage() {
    check(MemoryObjects::default());
    let log: Arc<dyn SaveLog> = Arc::new(GenerationLog::in_memory());
    assert_eq!(ChainStore::new(log).unwrap().durability().as_str(), "memory");
}

#[test]
fn a_directory_is_a_storage() {
    let dir = tempfile::tempdir().unwrap();
    check(Folder::open(dir.path()).unwrap());
    assert_eq!(Folder::open(dir.path()).unwrap().shared().durability().as_str(), "shared");
}

#[test]
fn a_log_opens_by_its_url() {
    let dir = tempfile::tempdir().unwrap();
    let log = crate::stores::open_log(&format!("file://{}", dir.path().display())).unwrap();
    assert_eq!(log.durability().as_str(), "local");
    for url in ["", "sandboxes", "file://relative", "ftp://bucket"] {
        let error = crate::stores::open_log(url).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidRequest && error.message().contains("file:///mnt"), "{error}");
    }
    let opened = crate::stores::open_log("s3://bucket/path").map(|log| log.durability().as_str());
    match cfg!(feature = "object-store") {
        true => assert_eq!(opened.unwrap(), "shared"),
        false => assert!(opened.unwrap_err().message().contains("the feature object-store")),
    }
}

#[cfg(feature = "object-store")]
#[test]
fn the_memory_of_object_store_is_a_storage() {
    use tidebox_vfs_backend::Durability;
    let store: Arc<dyn object_store::ObjectStore> = Arc::new(object_store::memory::InMemory::new());
    check(crate::stores::ObjectStorage::new(Arc::clone(&store), "", Durability::Memory));
    check(crate::stores::ObjectStorage::new(store, "/some/path/", Durability::Memory));
}

#[cfg(feature = "object-store")]
mod s3 {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::process::Command;

    use super::check;
    use crate::stores::ObjectLog;
    use crate::test_server::{TestServer, eventually, free_port, install};

    /// The version of moto that the test was written with.
    const MOTO: &str = "moto[s3,server]==5.2.5";

    fn create_bucket(port: u16) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream
            .write_all(b"PUT /bucket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        if response.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(std::io::Error::other(response)) }
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "a skipped test says why")]
    fn s3_is_a_storage() {
        let program = match install("moto", MOTO, "moto_server") {
            Ok(program) => program,
            Err(why) => return println!("skipped: cannot install {MOTO}: {why}"),
        };
        let port = free_port();
        let _server = TestServer::start(Command::new(program).args(["-H", "127.0.0.1", "-p", &port.to_string()]));
        eventually(|| create_bucket(port).map_err(|error| error.to_string()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let _guard = runtime.enter();
        let endpoint = format!("http://127.0.0.1:{port}");
        let settings = [
            ("aws_endpoint", endpoint.as_str()),
            ("aws_access_key_id", "key"),
            ("aws_secret_access_key", "secret"),
            ("aws_region", "us-east-1"),
        ];
        let without_tls = ObjectLog::from_url_with("s3://bucket/path", settings).unwrap_err();
        assert!(without_tls.message().contains("AWS_ALLOW_HTTP"), "{without_tls}");
        let log =
            ObjectLog::from_url_with("s3://bucket/path", settings.into_iter().chain([("aws_allow_http", "true")]));
        check(log.unwrap().objects);
    }

    #[test]
    fn invalid_urls_are_errors() {
        for url in ["bucket", "ftp://bucket", "s3://", "s3:///path"] {
            let error = ObjectLog::from_url(url).unwrap_err();
            assert!(error.message().contains("give s3://"), "{error}");
        }
    }
}
