//! What must hold without any index: verification, unpacking, keeping.

use std::fs;
use std::path::Path;

use crate::pin::Lock;
use crate::tree::Tree;
use crate::{PACKS, PYTHON, Pin, Store, WheelSource, fetch, fetch_wheels, find};

/// An archive of files that are stored as they are.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut output);
    for (name, content) in files {
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        std::io::copy(&mut &content[..], &mut writer).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    output
}

#[test]
fn every_pack_is_found_by_its_name_and_pinned_by_a_hash() {
    for pack in PACKS {
        assert_eq!(find(pack.name).map(|found| found.version), Some(pack.version));
        for wheel in pack.wheels.iter().chain([&pack.runtime]) {
            assert!(wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()), "{wheel:?}");
            assert!(wheel.file.contains(wheel.version), "{wheel:?}");
        }
    }
    assert!(find("nosuch").is_none());
}

#[test]
fn a_file_that_is_cut_or_changed_is_not_taken_for_the_pinned_one() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Pin::from(&PYTHON.runtime);
    assert!(!fetch::is_good(folder.path(), &runtime), "it is not there");
    fs::write(folder.path().join(PYTHON.runtime.file), b"half of it").unwrap();
    assert!(!fetch::is_good(folder.path(), &runtime));
    let sha256 = fetch::hash(&folder.path().join(PYTHON.runtime.file)).unwrap();
    assert!(fetch::is_good(folder.path(), &Pin { sha256, ..runtime }));
}

/// A wheel that pip takes for one, with this text in it.
fn small_wheel(text: &str) -> Vec<u8> {
    archive(&[
        ("small.py", text.as_bytes()),
        ("small-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: small\nVersion: 1.0\n"),
        ("small-1.0.dist-info/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        ("small-1.0.dist-info/RECORD", b""),
    ])
}

#[test]
fn what_is_broken_or_absent_is_fetched_and_what_is_whole_is_left_alone() {
    let (index, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = "small-1.0-py3-none-any.whl";
    let (offered, fetched) = (index.path().join(file), folder.path().join(file));
    fs::write(&offered, small_wheel("x = 1")).unwrap();
    let wheels = [Pin::of(&offered).unwrap()];
    assert_eq!((wheels[0].project.as_str(), wheels[0].version.as_str()), ("small", "1.0"));
    let fetch = || fetch::fetch(folder.path(), &wheels, &PYTHON, &WheelSource::Folder(index.path().into()));
    fetch().unwrap();
    assert!(fetch::is_good(folder.path(), &wheels[0]));
    // A download that was cut, as after a kill.
    fs::write(&fetched, &small_wheel("x = 1")[..100]).unwrap();
    fetch().unwrap();
    assert!(fetch::is_good(folder.path(), &wheels[0]), "it was fetched anew");
    // Nothing is asked of an index for what is there.
    fs::remove_file(&offered).unwrap();
    fetch().unwrap();
    // An index that is not there, and one that offers something else.
    fs::remove_file(&fetched).unwrap();
    let error = fetch().unwrap_err().to_string();
    assert!(error.contains("has to reach it this once") && error.contains("run the command again"), "{error}");
    fs::write(&offered, small_wheel("x = 2")).unwrap();
    fetch().unwrap_err();
    assert!(!fetched.exists(), "what is not the pinned file is not kept");
}

#[test]
fn packages_are_fetched_by_their_names_and_by_nothing_else() {
    let (index, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = "small-1.0-py3-none-any.whl";
    fs::write(index.path().join(file), small_wheel("x = 1")).unwrap();
    let source = WheelSource::Folder(index.path().into());
    let fetched = |name: &str| fetch_wheels(folder.path(), &[name.to_owned()], &PYTHON, &source);
    assert_eq!(fetched("small>=1").unwrap(), [Pin::of(&index.path().join(file)).unwrap()]);
    let error = fetched("nosuch").unwrap_err().to_string();
    assert!(error.contains("nosuch") && !error.contains("://"), "{error}");
    for name in ["--index-url=x", "./small", "small @ file:///etc/passwd", "git+https://x", "", "-r", file] {
        let error = fetched(name).unwrap_err().to_string();
        assert!(error.contains("is no name of a package"), "{name}: {error}");
    }
}

#[test]
fn what_packages_came_to_is_kept_for_the_same_wish_only() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("python.lock");
    let lock = Lock { with: vec!["small".to_owned()], wheels: vec![Pin::from(&PYTHON.runtime)] };
    lock.write(&place).unwrap();
    assert_eq!(Lock::read(&place, &lock.with), Some(lock));
    assert_eq!(Lock::read(&place, &["other".to_owned()]), None);
    fs::write(&place, b"{").unwrap();
    assert_eq!(Lock::read(&place, &["small".to_owned()]), None);
    assert!(!Store::new(folder.path()).remove(&PYTHON).unwrap() && !place.exists());
}

#[test]
fn an_archive_becomes_files_and_an_archive_within_becomes_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let inner = archive(&[("fonts/a.ttf", b"font")]);
    let outer = archive(&[("lib/a.pyc", b"code"), ("lib/data.zip", &inner)]);
    let mut tree = Tree::new(folder.path());
    tree.unpack(&outer, "/usr/lib", Some("lib/data.zip")).unwrap();
    tree.finish().unwrap();
    let files = crate::tree::files(folder.path()).unwrap();
    let told: Vec<(&str, usize)> = files.iter().map(|file| (file.path.as_str(), file.len)).collect();
    assert_eq!(told, [("/usr/lib/lib/a.pyc", 4), ("/usr/lib/lib/data/fonts/a.ttf", 4)]);
    assert_eq!(fs::read(&files[1].host).unwrap(), b"font");
}

#[test]
fn an_archive_cannot_write_outside_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["../escaped", "/etc/escaped", "a/../../escaped", "a\\..\\..\\escaped"] {
        let mut tree = Tree::new(folder.path());
        // Refused, or put somewhere below: never beside or above.
        let _ = tree.unpack(&archive(&[(name, b"x")]), "/usr/lib", None);
    }
    let above: &Path = folder.path().parent().unwrap();
    assert!(!above.join("escaped").exists() && !Path::new("/etc/escaped").exists());
    let mut tree = Tree::new(folder.path());
    assert!(tree.put("/usr/../../escaped", &mut &b"x"[..]).is_err());
    assert!(tree.put("usr/relative", &mut &b"x"[..]).is_err());
}

#[test]
fn a_damaged_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = archive(&[("a", b"some content that is long enough")]);
    let at = bytes.windows(7).position(|window| window == b"content").unwrap();
    bytes[at] ^= 1;
    assert!(Tree::new(folder.path()).unpack(&bytes, "/lib", None).is_err(), "the checksum is looked at");
    assert!(Tree::new(folder.path()).unpack(&bytes[..20], "/lib", None).is_err());
}

#[test]
fn a_pack_without_its_record_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    assert!(store.list().is_empty() && store.installed(&PYTHON).is_none());
    fs::create_dir(folder.path().join("python")).unwrap();
    assert!(store.installed(&PYTHON).is_none());
    fs::write(folder.path().join("python/pack.json"), b"{\"name\": \"python\"").unwrap();
    assert!(store.installed(&PYTHON).is_none(), "half a record is none");
    assert!(store.remove(&PYTHON).unwrap() && !store.remove(&PYTHON).unwrap());
}

#[test]
fn what_a_stop_left_of_a_pack_goes_when_it_is_old_or_the_pack_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let left = |name: &str| {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("module.wasm"), b"half").unwrap();
        folder.path().join(name)
    };
    let (old, fresh) = (left(".new-old"), left(".new-fresh"));
    let two_days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 3600);
    fs::File::open(&old).unwrap().set_modified(two_days_ago).unwrap();
    let store = Store::new(folder.path());
    // It fails, after it has looked round.
    fs::write(folder.path().join("downloads"), b"no folder").unwrap();
    store.stage(&PYTHON, &[], &[], &mut |_| {}).unwrap_err();
    assert!(!old.exists() && fresh.exists(), "somebody may be making it still");
    fs::remove_file(folder.path().join("downloads")).unwrap();
    store.remove(&PYTHON).unwrap();
    assert!(!fresh.exists());
}
