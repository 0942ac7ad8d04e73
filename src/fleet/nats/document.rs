//! The value of the key: the table and all signs of life.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tidebox_core::{Error, ErrorKind, Result};

use crate::fleet::directory::{Beat, DirectoryView, Node, ShardTable, StoredTable};

/// Format of the document.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    format: u32,
    table: StoredTable,
    /// Random name of the write that set the table.
    #[serde(default)]
    writer: String,
    nodes: BTreeMap<String, StoredBeat>,
}

/// The newest sign of life of a node.
#[derive(Debug, Serialize, Deserialize)]
struct StoredBeat {
    count: u64,
    #[serde(default)]
    leaving: bool,
    addresses: BTreeMap<String, String>,
}

impl Default for Document {
    fn default() -> Self {
        Self { format: FORMAT, table: StoredTable::default(), writer: String::new(), nodes: BTreeMap::new() }
    }
}

impl Document {
    /// Decodes a document. `place` names it in errors. An empty value is that of a key that was removed.
    pub(super) fn decode(bytes: &[u8], place: &impl fmt::Display) -> Result<Self> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let document: Self = serde_json::from_slice(bytes).map_err(|error| corrupt(place, &error.to_string()))?;
        match document.format {
            FORMAT => Ok(document),
            other => Err(corrupt(place, &format!("its format {other} is that of another version of Tidebox"))),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        // Maps of texts and numbers can always be encoded.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn table_number(&self) -> u64 {
        self.table.number
    }

    pub(super) fn set_table(&mut self, table: &ShardTable, writer: &str) {
        self.table = table.to_stored();
        writer.clone_into(&mut self.writer);
    }

    /// Returns whether the table was set by a write.
    pub(super) fn is_written_by(&self, writer: &str) -> bool {
        self.writer == writer
    }

    /// Sets a sign of life, unless there is a newer one of the same node.
    pub(super) fn set_beat(&mut self, beat: &Beat) {
        if self.nodes.get(&beat.node.name).is_some_and(|stored| stored.count > beat.count) {
            return;
        }
        let stored = StoredBeat { count: beat.count, leaving: beat.is_leaving, addresses: beat.node.addresses.clone() };
        self.nodes.insert(beat.node.name.clone(), stored);
    }

    pub(super) fn forget(&mut self, node: &str) {
        self.nodes.remove(node);
    }

    pub(super) fn view(&self, place: &impl fmt::Display) -> Result<DirectoryView> {
        let table = ShardTable::from_stored(&self.table).ok_or_else(|| corrupt(place, "it has no table of shards"))?;
        let beats = self.nodes.iter().map(|(name, stored)| Beat {
            node: Node { name: name.clone(), addresses: stored.addresses.clone() },
            count: stored.count,
            is_leaving: stored.leaving,
        });
        Ok(DirectoryView { beats: beats.collect(), table })
    }
}

fn corrupt(place: &impl fmt::Display, why: &str) -> Error {
    let message = format!("cannot use the directory at {place}: {why}; remove its bucket while no node runs");
    Error::new(ErrorKind::Storage, "use directory", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrupt_documents_are_errors() {
        let place = "nats://host/nodes";
        let two_owners = format!(r#"{{"a":"{0}","b":"{0}"}}"#, "01".repeat(128));
        let table = |owners: &str| format!(r#"{{"format":1,"table":{{"number":1,"owners":{owners}}},"nodes":{{}}}}"#);
        for text in ["{}", "nodes", &table("{}").replace("\"format\":1", "\"format\":2"), &table("7")] {
            let error = Document::decode(text.as_bytes(), &place).unwrap_err();
            assert!(error.kind() == ErrorKind::Storage && error.message().contains(place), "{error}");
        }
        for owners in [r#"{"a":"0"}"#, r#"{"a":"zz"}"#, &two_owners] {
            let document = Document::decode(table(owners).as_bytes(), &place).unwrap();
            assert!(document.view(&place).unwrap_err().message().contains("no table of shards"), "{owners}");
        }
        assert_eq!(Document::decode(b"", &place).unwrap().view(&place).unwrap(), DirectoryView::default());
    }

    #[test]
    fn an_older_sign_of_life_does_not_replace_a_newer_one() {
        let node = Node { name: "aa".to_owned(), addresses: BTreeMap::new() };
        let beat = |count| Beat { node: node.clone(), count, is_leaving: false };
        let mut document = Document::default();
        for count in [3, 2] {
            document.set_beat(&beat(count));
        }
        let document = Document::decode(&document.encode(), &"here").unwrap();
        assert_eq!(document.view(&"here").unwrap().beats, [beat(3)]);
    }
}
