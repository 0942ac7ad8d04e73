//! The initial tree of both implementations, and the tree after a run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tidebox_kernel::fs::{Cred, Fs, Kind};

/// Owner of files created by a guest.
pub(crate) const USER: Cred = Cred { uid: 1000, gid: 1000 };

/// An entry of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Dir,
    File(Vec<u8>),
    Link(Vec<u8>),
}

/// Every path below the root, without a leading slash.
pub(crate) type Tree = BTreeMap<String, Node>;

/// The tree that the probe's scenarios expect.
pub(crate) fn initial() -> Tree {
    let big = (0..10_000_u32).map(|n| b'a' + (n % 23) as u8).collect();
    let nodes = [
        ("file", Node::File(b"hello, world\n".to_vec())),
        ("empty", Node::File(Vec::new())),
        ("big", Node::File(big)),
        ("dir", Node::Dir),
        ("dir/inner", Node::File(b"inner".to_vec())),
        ("dir/sub", Node::Dir),
        ("dir/sub/deep", Node::File(b"deep".to_vec())),
        ("hollow", Node::Dir),
        ("link", Node::Link(b"file".to_vec())),
        ("dirlink", Node::Link(b"dir".to_vec())),
        ("dangling", Node::Link(b"nowhere".to_vec())),
        ("loop", Node::Link(b"loop".to_vec())),
        ("chain", Node::Link(b"link".to_vec())),
    ];
    nodes.into_iter().map(|(path, node)| (path.to_owned(), node)).collect()
}

/// Writes `tree` to a directory of the host.
pub(crate) fn lay_on_disk(tree: &Tree, root: &Path) {
    for (path, node) in tree {
        let path = root.join(path);
        match node {
            Node::Dir => fs::create_dir(path),
            Node::File(bytes) => fs::write(path, bytes),
            Node::Link(target) => symlink(String::from_utf8_lossy(target).as_ref(), path),
        }
        .expect("the tree is written to an empty directory");
    }
}

/// Reads the tree below a directory of the host.
pub(crate) fn read_from_disk(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut todo = vec![(root.to_owned(), String::new())];
    while let Some((current, prefix)) = todo.pop() {
        for entry in fs::read_dir(current).expect("the directory can be listed") {
            let entry = entry.expect("the entry can be read");
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().expect("the entry has a type");
            let node = if kind.is_dir() {
                todo.push((entry.path(), format!("{path}/")));
                Node::Dir
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).expect("the link can be read");
                Node::Link(target.into_os_string().into_encoded_bytes())
            } else {
                Node::File(fs::read(entry.path()).expect("the file can be read"))
            };
            tree.insert(path, node);
        }
    }
    tree
}

/// Writes `tree` to Tidebox's file system at time `now`.
pub(crate) fn lay_in_kernel(tree: &Tree, fs: &mut Fs, now: u64) {
    let root = fs.root();
    for (path, node) in tree {
        let path = path.as_bytes();
        let done = match node {
            Node::Dir => fs.mkdir(&USER, root, path, 0o755, now).map(|_| ()),
            Node::File(bytes) => {
                fs.create(&USER, root, path, 0o644, true, now).and_then(|(ino, _)| fs.write_all(ino, bytes, now))
            }
            Node::Link(target) => fs.symlink(&USER, target, root, path, now).map(|_| ()),
        };
        done.expect("the tree is laid out in an empty file system");
    }
}

/// Reads the whole tree of Tidebox's file system.
pub(crate) fn read_from_kernel(fs: &Fs) -> Tree {
    let mut tree = Tree::new();
    let mut todo = vec![(fs.root(), String::new())];
    while let Some((current, prefix)) = todo.pop() {
        for (name, ino, kind) in fs.read_dir(current, None) {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&name));
            let node = match kind {
                Kind::Dir => {
                    todo.push((ino, format!("{path}/")));
                    Node::Dir
                }
                Kind::File => Node::File(fs.read_all(ino, u64::MAX).expect("the file can be read")),
                Kind::Symlink => Node::Link(fs.readlink(ino).expect("the link can be read")),
                Kind::Device(_) | Kind::Fifo => panic!("preview1 cannot create {path}"),
            };
            tree.insert(path, node);
        }
    }
    tree
}
