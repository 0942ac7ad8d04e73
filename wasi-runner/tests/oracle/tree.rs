//! The tree that both sides begin with, and what is left of it afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Dir,
    File(Vec<u8>),
    Link(Vec<u8>),
}

/// Every path below the root, without a leading slash.
pub(crate) type Tree = BTreeMap<String, Node>;

/// The tree that the probe's scenarios know.
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

/// Lays `tree` out below a folder of the host.
pub(crate) fn lay_on_disk(tree: &Tree, root: &Path) {
    for (path, node) in tree {
        let path = root.join(path);
        match node {
            Node::Dir => fs::create_dir(path),
            Node::File(bytes) => fs::write(path, bytes),
            Node::Link(target) => symlink(String::from_utf8_lossy(target).as_ref(), path),
        }
        .expect("the tree is laid out in an empty folder");
    }
}

/// Reads what is below a folder of the host.
pub(crate) fn read_from_disk(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut todo = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = todo.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be listed") {
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
