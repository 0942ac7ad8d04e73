//! Tests that need no index: verification, unpacking, storing.

use std::fs;
use std::path::Path;

use crate::pin::LockFile;
use crate::tree::TreeBuilder;
use crate::{GIT, PACKS, PYTHON, PYTHON_SLIM, PackStore, PinnedWheel, WheelSource, fetch, fetch_wheels, find};

/// Creates an archive of uncompressed files.
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
fn every_pack_is_found_by_name_and_pinned_by_hash() {
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
fn a_truncated_or_changed_file_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = PinnedWheel::from(&PYTHON.runtime);
    assert!(!fetch::is_verified(dir.path(), &runtime), "it is missing");
    fs::write(dir.path().join(PYTHON.runtime.file), b"half of it").unwrap();
    assert!(!fetch::is_verified(dir.path(), &runtime));
    let sha256 = fetch::hash(&dir.path().join(PYTHON.runtime.file)).unwrap();
    assert!(fetch::is_verified(dir.path(), &PinnedWheel { sha256, ..runtime }));
}

/// Creates a wheel that pip accepts, with this text in it.
fn small_wheel(text: &str) -> Vec<u8> {
    archive(&[
        ("small.py", text.as_bytes()),
        ("small-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: small\nVersion: 1.0\n"),
        ("small-1.0.dist-info/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        ("small-1.0.dist-info/RECORD", b""),
    ])
}

#[test]
fn only_missing_or_damaged_files_are_downloaded() {
    let (index, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = "small-1.0-py3-none-any.whl";
    let (offered, fetched) = (index.path().join(file), dir.path().join(file));
    fs::write(&offered, small_wheel("x = 1")).unwrap();
    let wheels = [PinnedWheel::from_file(&offered).unwrap()];
    assert_eq!((wheels[0].project.as_str(), wheels[0].version.as_str()), ("small", "1.0"));
    let fetch =
        || fetch::fetch(dir.path(), &wheels, &PYTHON, &WheelSource::Directory(index.path().into()), &mut |_| {});
    fetch().unwrap();
    assert!(fetch::is_verified(dir.path(), &wheels[0]));
    // A partial download, as after a kill.
    fs::write(&fetched, &small_wheel("x = 1")[..100]).unwrap();
    fetch().unwrap();
    assert!(fetch::is_verified(dir.path(), &wheels[0]), "it was downloaded again");
    // Complete files cause no request to an index.
    fs::remove_file(&offered).unwrap();
    fetch().unwrap();
    // A missing index, and one with a different file.
    fs::remove_file(&fetched).unwrap();
    let error = fetch().unwrap_err().to_string();
    assert!(error.contains("must reach it once") && error.contains("run the command again"), "{error}");
    fs::write(&offered, small_wheel("x = 2")).unwrap();
    fetch().unwrap_err();
    assert!(!fetched.exists(), "a file with another hash is not kept");
}

#[test]
fn packages_are_selected_only_by_name() {
    let (index, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = "small-1.0-py3-none-any.whl";
    fs::write(index.path().join(file), small_wheel("x = 1")).unwrap();
    let source = WheelSource::Directory(index.path().into());
    let fetched = |name: &str| fetch_wheels(dir.path(), &[name.to_owned()], &PYTHON, &source);
    assert_eq!(fetched("small>=1").unwrap(), [PinnedWheel::from_file(&index.path().join(file)).unwrap()]);
    let error = fetched("nosuch").unwrap_err().to_string();
    assert!(error.contains("nosuch") && !error.contains("://"), "{error}");
    for name in ["--index-url=x", "./small", "small @ file:///etc/passwd", "git+https://x", "", "-r", file] {
        let error = fetched(name).unwrap_err().to_string();
        assert!(error.contains("is not a package name"), "{name}: {error}");
    }
}

#[test]
fn a_lock_file_applies_only_to_the_same_request() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("python.lock");
    let lock = LockFile { extra_packages: vec!["small".to_owned()], wheels: vec![PinnedWheel::from(&PYTHON.runtime)] };
    lock.write(&path).unwrap();
    assert_eq!(LockFile::read(&path, &lock.extra_packages), Some(lock));
    assert_eq!(LockFile::read(&path, &["other".to_owned()]), None);
    fs::write(&path, b"{").unwrap();
    assert_eq!(LockFile::read(&path, &["small".to_owned()]), None);
    assert!(!PackStore::new(dir.path()).remove(&PYTHON).unwrap() && !path.exists());
}

#[test]
fn an_archive_is_unpacked_with_its_inner_archive() {
    let dir = tempfile::tempdir().unwrap();
    let inner = archive(&[("fonts/a.ttf", b"font")]);
    let outer = archive(&[("lib/a.pyc", b"code"), ("lib/data.zip", &inner), ("skipped/a.pyc", b"code")]);
    let mut tree = TreeBuilder::new(dir.path());
    tree.unpack(&outer, "/usr/lib", Some("lib/data.zip"), &|name| !name.starts_with("skipped/")).unwrap();
    tree.finish().unwrap();
    let files = crate::tree::files(dir.path()).unwrap();
    let reported: Vec<(&str, usize)> = files.iter().map(|file| (file.path.as_str(), file.len)).collect();
    assert_eq!(reported, [("/usr/lib/lib/a.pyc", 4), ("/usr/lib/lib/data/fonts/a.ttf", 4)]);
    assert_eq!(fs::read(&files[1].host).unwrap(), b"font");
}

#[test]
fn an_archive_cannot_write_outside_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["../escaped", "/etc/escaped", "a/../../escaped", "a\\..\\..\\escaped"] {
        let mut tree = TreeBuilder::new(dir.path());
        // Rejected, or written below the directory: never next to or above it.
        let _ = tree.unpack(&archive(&[(name, b"x")]), "/usr/lib", None, &|_| true);
    }
    let above: &Path = dir.path().parent().unwrap();
    assert!(!above.join("escaped").exists() && !Path::new("/etc/escaped").exists());
    let mut tree = TreeBuilder::new(dir.path());
    assert!(tree.put("/usr/../../escaped", &mut &b"x"[..]).is_err());
    assert!(tree.put("usr/relative", &mut &b"x"[..]).is_err());
}

#[test]
fn a_damaged_archive_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = archive(&[("a", b"some content that is long enough")]);
    let at = bytes.windows(7).position(|window| window == b"content").unwrap();
    bytes[at] ^= 1;
    assert!(TreeBuilder::new(dir.path()).unpack(&bytes, "/lib", None, &|_| true).is_err(), "the checksum is verified");
    assert!(TreeBuilder::new(dir.path()).unpack(&bytes[..20], "/lib", None, &|_| true).is_err());
}

#[test]
fn a_pack_without_a_manifest_is_not_installed() {
    let dir = tempfile::tempdir().unwrap();
    let store = PackStore::new(dir.path());
    assert!(store.list().is_empty() && store.installed(&PYTHON).is_none());
    fs::create_dir(dir.path().join("python")).unwrap();
    assert!(store.installed(&PYTHON).is_none());
    fs::write(dir.path().join("python/pack.json"), b"{\"name\": \"python\"").unwrap();
    assert!(store.installed(&PYTHON).is_none(), "a truncated manifest is invalid");
    assert!(store.remove(&PYTHON).unwrap() && !store.remove(&PYTHON).unwrap());
}

#[test]
fn old_unfinished_packs_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let left = |name: &str| {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("module.wasm"), b"half").unwrap();
        dir.path().join(name)
    };
    let (old, fresh) = (left(".new-old"), left(".new-fresh"));
    let two_days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 3600);
    fs::File::open(&old).unwrap().set_modified(two_days_ago).unwrap();
    let store = PackStore::new(dir.path());
    // It fails, after removing unfinished builds.
    fs::write(dir.path().join("downloads"), b"not a directory").unwrap();
    store.stage(&PYTHON, &[], &[], &mut |_| {}).unwrap_err();
    assert!(!old.exists() && fresh.exists(), "another process may still build it");
    fs::remove_file(dir.path().join("downloads")).unwrap();
    store.remove(&PYTHON).unwrap();
    assert!(!fresh.exists());
}

#[test]
fn the_slim_pack_omits_packages_with_their_metadata() {
    for path in ["numpy/linalg/__init__.pyc", "numpy-2.5.2.dist-info/METADATA", "isympy.pyc", "PIL/Image.pyc"] {
        assert!(PYTHON.contains(path) && !PYTHON_SLIM.contains(path), "{path}");
    }
    for path in ["json/__init__.pyc", "lxml/etree.pyc", "pydoc.pyc", "beautifulsoup4-4.15.0.dist-info/METADATA"] {
        assert!(PYTHON_SLIM.contains(path), "{path}");
    }
    assert!(PYTHON.conflicts_with(&PYTHON_SLIM) && PYTHON_SLIM.runtime == PYTHON.runtime);
}

#[test]
fn removing_a_pack_keeps_what_another_one_uses() {
    let dir = tempfile::tempdir().unwrap();
    let store = PackStore::new(dir.path());
    let (downloads, native) = (dir.path().join("downloads"), store.native());
    for pack in [&PYTHON, &PYTHON_SLIM] {
        fs::create_dir_all(dir.path().join(pack.name)).unwrap();
        let manifest = format!(
            r#"{{"name": "{}", "version": "{}", "with": [], "made_by": "", "module": "", "image": ""}}"#,
            pack.name, pack.version
        );
        fs::write(dir.path().join(pack.name).join("pack.json"), manifest).unwrap();
    }
    fs::create_dir_all(&downloads).unwrap();
    fs::create_dir_all(&native).unwrap();
    for file in [PYTHON.runtime.file, "stale-1.0-py3-none-any.whl"] {
        fs::write(downloads.join(file), b"x").unwrap();
    }
    assert!(store.remove(&PYTHON).unwrap());
    assert!(downloads.join(PYTHON.runtime.file).exists() && native.exists());
    assert!(!downloads.join("stale-1.0-py3-none-any.whl").exists());
    assert!(store.remove(&PYTHON_SLIM).unwrap());
    assert!(!downloads.exists() && !native.exists());
}

#[test]
fn shipped_files_are_listed_only_for_the_same_program() {
    let (dir, wheels) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = PackStore::new(dir.path()).with_wheels(Some(wheels.path().into()));
    assert!(store.list_shipped(&PYTHON, "1 abc").is_none(), "the list is missing");
    fs::write(wheels.path().join("python.files"), "1 abc\n4 /usr/lib/a.py\n").unwrap();
    let files = store.list_shipped(&PYTHON, "1 abc").unwrap();
    assert_eq!((files[0].path.as_str(), files[0].len), ("/usr/lib/a.py", 4));
    assert_eq!(files[0].host, dir.path().join("python/tree/usr/lib/a.py"));
    assert!(store.list_shipped(&PYTHON, "2 abc").is_none() && store.list_shipped(&PYTHON_SLIM, "1 abc").is_none());
    fs::write(wheels.path().join("python.files"), "1 abc\nfour /usr/lib/a.py\n").unwrap();
    assert!(store.list_shipped(&PYTHON, "1 abc").is_none(), "the list is damaged");
    assert!(PackStore::new(dir.path()).list_shipped(&PYTHON, "1 abc").is_none());
}

#[test]
fn a_shipped_wheel_is_used_only_with_its_hash() {
    let (dir, wheels) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = PackStore::new(dir.path()).with_wheels(Some(wheels.path().into()));
    let path = wheels.path().join("small-1.0-py3-none-any.whl");
    fs::write(&path, small_wheel("x = 1")).unwrap();
    let wheel = PinnedWheel::from_file(&path).unwrap();
    assert_eq!(store.find_wheel(&wheel), path);
    fs::write(&path, small_wheel("x = 2")).unwrap();
    assert_eq!(store.find_wheel(&wheel), dir.path().join("downloads").join(&wheel.file));
}

#[test]
fn a_program_pack_is_installed_from_its_wheel() {
    let dir = tempfile::tempdir().unwrap();
    let (store, wheel) = (PackStore::new(dir.path().join("packs")), dir.path().join(GIT.wheel));
    fs::write(&wheel, archive(&[("tidebox_git/git.wasm", b"\0asm"), ("tidebox_git/files/etc/gitconfig", b"[x]\n")]))
        .unwrap();
    assert!(store.installed_program(&GIT).is_none());
    let installed = store.add_program(&GIT, &wheel).unwrap();
    assert_eq!((installed.len, fs::read(&installed.module).unwrap()), (4, b"\0asm".to_vec()));
    let files = installed.files().unwrap();
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/etc/gitconfig"]);
    assert_eq!(store.installed_program(&GIT).unwrap().sha256, installed.sha256);
    assert!(store.remove_program(&GIT).unwrap());
    assert!(!store.remove_program(&GIT).unwrap());
}

#[test]
fn a_wheel_of_another_project_is_no_program_pack() {
    let dir = tempfile::tempdir().unwrap();
    let (store, wheel) = (PackStore::new(dir.path().join("packs")), dir.path().join("x.whl"));
    fs::write(&wheel, small_wheel("x = 1")).unwrap();
    let error = store.add_program(&GIT, &wheel).unwrap_err().to_string();
    assert!(error.contains("is not a wheel of the pack git"), "{error}");
    assert!(store.installed_program(&GIT).is_none());
}

#[test]
fn names_in_a_program_pack_cannot_leave_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let (store, wheel) = (PackStore::new(dir.path().join("packs")), dir.path().join(GIT.wheel));
    let names = ["tidebox_git/files//../x", "tidebox_git/files/../../../../x", "tidebox_git/files/a/../../x"];
    let files = names.map(|name| (name, &b""[..])).into_iter().chain([("tidebox_git/git.wasm", &b"\0asm"[..])]);
    fs::write(&wheel, archive(&files.collect::<Vec<_>>())).unwrap();
    if let Ok(installed) = store.add_program(&GIT, &wheel) {
        assert_eq!(installed.files().unwrap().len(), 0, "a name was normalized to a file of the sandbox");
    }
    let outside = [dir.path().join("x"), dir.path().join("packs/x"), dir.path().join("packs/git/x")];
    assert!(outside.iter().all(|path| !path.exists()));
}
