//! A consistency check between inodes, names and charges.

use std::collections::BTreeMap;

use super::super::node::Body;
use super::super::{FileUsage, Fs, Ino};

impl Fs {
    /// Panics if counts, pointers or charges do not match the reachable inodes.
    pub(super) fn check(&self) {
        let mut names: BTreeMap<Ino, u32> = BTreeMap::new();
        let mut pending = vec![self.root];
        while let Some(above) = pending.pop() {
            let dir = self.node(above).and_then(|node| node.dir()).expect("a directory");
            let mut subdirs = 0;
            for (name, ino) in dir.entries.iter() {
                *names.entry(ino).or_default() += 1;
                let below = self.node(ino).expect("an entry leads to an inode");
                if below.is_dir() {
                    assert_eq!((below.parent, &below.name), (above, name), "a directory stores its name");
                    subdirs += 1;
                    pending.push(ino);
                }
            }
            assert_eq!(self.node(above).map(|node| node.nlink), Ok(2 + subdirs), "links of a directory");
        }
        let mut used = FileUsage::default();
        for (ino, node) in self.table.live_inodes() {
            let count = names.get(&ino).copied().unwrap_or_default();
            if !node.is_dir() {
                assert_eq!(node.nlink, count, "links of {ino:?}");
            }
            assert!(count > 0 || ino == self.root || self.hold_counts.contains_key(&ino), "{ino:?} is lost");
            if let Body::File(content) = &node.body {
                assert_eq!(content.charged(), content.compute_charge(), "charge of {ino:?}");
            }
            used.file_bytes += node.charged_bytes();
            used.inodes += u64::from(count.max(1)) - u64::from(node.installed) + node.hidden();
        }
        assert!(
            self.hold_counts.keys().all(|&ino| self.node(ino).is_ok() || self.is_known_object(ino)),
            "a held inode exists"
        );
        assert_eq!(self.usage(), used, "the usage is the sum of the charges");
    }

    /// Everything a guest could see, as text.
    pub(super) fn dump(&self) -> String {
        let mut text = format!("{:?}\n", self.usage());
        let mut pending = vec![(self.root, String::new())];
        while let Some((ino, path)) = pending.pop() {
            let bytes = self.read_all(ino, u64::MAX).or_else(|_| self.readlink(ino));
            text += &format!("{path} {:?} {} {bytes:?}\n", self.stat(ino), self.version(ino));
            for (name, below, _) in self.read_dir(ino, None) {
                pending.push((below, format!("{path}/{}", name.escape_ascii())));
            }
        }
        text
    }
}
