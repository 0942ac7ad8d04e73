//! Directory over a storage of objects, without any other service.
//!
//! ```text
//! node-NAME/info      addresses of a node, in JSON
//! node-NAME/NUMBER    a sign of life, without content; a node removes its older ones
//! node-NAME/leaving   the node takes no further shards
//! table/NUMBER        the nodes of all shards; the newest counts
//! ```
//!
//! Numbers have 16 hexadecimal digits. All objects are created only if their names are free, so the table with a number is the first
//! that was proposed with it.

use std::collections::BTreeMap;

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

use crate::fleet::directory::{Beat, Directory, DirectoryView, Node, ShardTable};
use crate::stores::name;
use crate::stores::{Creation, Objects};

const NODE: &str = "node-";
const INFO: &str = "info";
const LEAVING: &str = "leaving";
const TABLE: &str = "table";

/// Maximum length of an object in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Older tables that stay, for nodes that are reading one.
const KEPT_TABLES: u64 = 8;

/// Attempts to read a table that another node replaces and removes at the same time.
const READS: usize = 8;

/// A directory over a storage of objects, such as [`Folder`](crate::stores::Folder). A sign of life costs a creation, a removal and
/// a list; each new table one further read of every node.
#[derive(Debug)]
pub struct ObjectDirectory<O> {
    objects: O,
    /// Immutable objects: the nodes that were read, and the newest table.
    nodes: Mutex<BTreeMap<String, Node>>,
    table: Mutex<ShardTable>,
    written: Mutex<Written>,
}

/// Objects that this node has written.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    info: bool,
    leaving: bool,
    before: Option<u64>,
}

/// The objects of one node in a list.
#[derive(Debug, Default)]
struct Listed {
    count: Option<u64>,
    has_info: bool,
    is_leaving: bool,
}

impl<O: Objects> ObjectDirectory<O> {
    /// Creates a directory over a storage, which must not be used for anything else.
    pub fn new(objects: O) -> Self {
        Self { objects, nodes: Mutex::default(), table: Mutex::default(), written: Mutex::default() }
    }

    async fn list(&self) -> Result<(BTreeMap<String, Listed>, u64)> {
        let (mut nodes, mut table, mut after) = (BTreeMap::<String, Listed>::new(), 0, String::new());
        loop {
            let page = self.objects.list("", &after).await?;
            let is_last = !page.has_more || page.objects.is_empty();
            for object in page.objects {
                after.clone_from(&object.name);
                let Some((dir, part)) = name::split(&object.name) else { continue };
                if dir == TABLE {
                    table = table.max(name::number(part).unwrap_or_default());
                } else if let Some(node) = dir.strip_prefix(NODE) {
                    let listed = nodes.entry(node.to_owned()).or_default();
                    match part {
                        INFO => listed.has_info = true,
                        LEAVING => listed.is_leaving = true,
                        part => listed.count = listed.count.max(name::number(part)),
                    }
                }
            }
            if is_last {
                return Ok((nodes, table));
            }
        }
    }

    async fn node(&self, name: &str) -> Result<Option<Node>> {
        if let Some(node) = self.nodes.lock().get(name) {
            return Ok(Some(node.clone()));
        }
        let object = format!("{NODE}{name}/{INFO}");
        let Some(bytes) = self.objects.read(&object, MAX_BYTES).await? else { return Ok(None) };
        let node: Node = serde_json::from_slice(&bytes).map_err(|error| corrupt(&object, &error.to_string()))?;
        if node.name != name {
            return Err(corrupt(&object, "it belongs to another node"));
        }
        self.nodes.lock().insert(name.to_owned(), node.clone());
        Ok(Some(node))
    }

    /// Reads the table with a number. `None` if it was removed, because there are newer ones.
    async fn table(&self, number: u64) -> Result<Option<ShardTable>> {
        let known = self.table.lock().clone();
        if known.number == number {
            return Ok(Some(known));
        }
        let object = table_name(number);
        let Some(bytes) = self.objects.read(&object, MAX_BYTES).await? else { return Ok(None) };
        let table = ShardTable::from_bytes(&bytes).filter(|table| table.number == number);
        let table = table.ok_or_else(|| corrupt(&object, "it is not a table of shards"))?;
        *self.table.lock() = table.clone();
        Ok(Some(table))
    }

    async fn write(&self, object: &str, bytes: Vec<u8>) -> Result<Creation> {
        self.objects.create(object, bytes).await
    }

    async fn beat_of(&self, beat: &Beat) -> Result<()> {
        let (name, written) = (&beat.node.name, *self.written.lock());
        if !written.info {
            let json = serde_json::to_vec(&beat.node).unwrap_or_default();
            self.write(&format!("{NODE}{name}/{INFO}"), json).await?;
            self.written.lock().info = true;
        }
        if beat.is_leaving && !written.leaving {
            self.write(&format!("{NODE}{name}/{LEAVING}"), Vec::new()).await?;
            self.written.lock().leaving = true;
        }
        self.write(&name::generation(&format!("{NODE}{name}"), beat.count), Vec::new()).await?;
        let before = self.written.lock().before.replace(beat.count);
        if let Some(before) = before.filter(|before| *before < beat.count) {
            // An older sign that stays has no effect.
            let _ = self.objects.remove(&name::generation(&format!("{NODE}{name}"), before)).await;
        }
        Ok(())
    }

    async fn view_of(&self) -> Result<DirectoryView> {
        for _ in 0..READS {
            let (nodes, number) = self.list().await?;
            let table = match number {
                0 => Some(ShardTable::default()),
                number => self.table(number).await?,
            };
            let Some(table) = table else { continue };
            self.nodes.lock().retain(|name, _| nodes.contains_key(name));
            let mut beats = Vec::new();
            for (name, listed) in nodes {
                let (Some(count), true) = (listed.count, listed.has_info) else { continue };
                if let Some(node) = self.node(&name).await? {
                    beats.push(Beat { node, count, is_leaving: listed.is_leaving });
                }
            }
            return Ok(DirectoryView { beats, table });
        }
        Err(Error::new(ErrorKind::Storage, "read directory", "the table of shards changes too fast; try again"))
    }
}

fn table_name(number: u64) -> String {
    name::generation(TABLE, number)
}

fn corrupt(object: &str, why: &str) -> Error {
    let message = format!("cannot use {object}: {why}; remove the directory of nodes while no node runs");
    Error::new(ErrorKind::Storage, "read directory", message)
}

impl<O: Objects> Directory for ObjectDirectory<O> {
    fn beat<'a>(&'a self, beat: &'a Beat) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.beat_of(beat))
    }

    fn view(&self) -> BoxFuture<'_, Result<DirectoryView>> {
        Box::pin(self.view_of())
    }

    fn propose<'a>(&'a self, table: &'a ShardTable) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            if self.write(&table_name(table.number), table.to_bytes()).await? == Creation::Exists {
                return Ok(false);
            }
            if let Some(old) = table.number.checked_sub(KEPT_TABLES) {
                // An older table that stays has no effect.
                let _ = self.objects.remove(&table_name(old)).await;
            }
            Ok(true)
        })
    }

    fn forget<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (prefix, mut after) = (format!("{NODE}{node}/"), String::new());
            loop {
                let page = self.objects.list(&prefix, &after).await?;
                let is_last = !page.has_more || page.objects.is_empty();
                for object in page.objects {
                    self.objects.remove(&object.name).await?;
                    after = object.name;
                }
                if is_last {
                    return Ok(());
                }
            }
        })
    }
}
