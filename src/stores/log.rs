//! The log of a sandbox's generations, and its implementation over objects.

use std::fmt;

use futures_util::future::try_join_all;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{Durability, SavedSandbox};

use crate::stores::generation::{self, Decoded, Entry, GenerationKind, HEAD_READ_BYTES, Head, PackRef, Writer};
use crate::stores::name;
use crate::stores::objects::{Creation, ObjectInfo, Objects};

/// Attempts to create one object. A failed attempt may have succeeded; the next one finds out.
const CREATE_ATTEMPTS: usize = 3;

/// Sandboxes per page of a list.
const PAGE: usize = 1000;

/// Heads that are read at the same time for a list.
const READS: usize = 32;

/// Result of [`SaveLog::append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The entry is durable. The new position.
    Appended(Head),
    /// Another entry has the number: another writer owns the sandbox, or it was deleted. Nothing was appended.
    Fenced(Option<Generation>),
}

/// A generation without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number.
    pub number: u64,
    /// Type of its content.
    pub kind: GenerationKind,
    /// Metadata of the sandbox.
    pub sandbox: SavedSandbox,
    /// Its writer.
    pub writer: Writer,
    /// Its nonce.
    pub nonce: [u8; 16],
}

/// A generation of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its number.
    pub number: u64,
    /// The entry.
    pub entry: Entry,
    /// Its length in bytes, without packs.
    pub len: u64,
}

/// The newest full generation and all later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Position after which a writer appends.
    pub head: Head,
    /// Generations, oldest first. Empty if the sandbox was deleted.
    pub generations: Vec<Saved>,
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    /// Newest generations of sandboxes that were not deleted.
    pub sandboxes: Vec<SavedSandbox>,
    /// Cursor of the next page; `None` on the last.
    pub cursor: Option<String>,
}

/// Durable logs of sandboxes, for several writers at a time.
///
/// A sandbox has one writer. Another one takes it over by appending a [claim](GenerationKind::Claim); the next append of the
/// previous one is then [`Appended::Fenced`]. No lease and no clock are needed for that.
pub trait SaveLog: Send + Sync + fmt::Debug {
    /// Returns what an appended entry survives.
    fn durability(&self) -> Durability;

    /// Appends an entry after a position; `None` starts a log. A lost response is resolved by the entry's nonce.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`]: the outcome is unknown. The caller must treat a later [`Appended::Fenced`] by the nonce of this
    /// entry as its own.
    fn append<'a>(
        &'a self,
        id: &'a SandboxId,
        after: Option<&'a Head>,
        entry: &'a Entry,
    ) -> BoxFuture<'a, Result<Appended>>;

    /// Returns the newest generation; `None` without one. One of kind [`GenerationKind::Deleted`] is returned, too.
    fn newest<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Generation>>>;

    /// Returns the position after the newest generation; `None` without one, or if the sandbox was deleted.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it is corrupt.
    fn position<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<(Head, Generation)>>>;

    /// Reads the newest full generation and what follows; `None` without one.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] for corrupt or missing generations, and for more than `max_bytes` bytes of them.
    fn load<'a>(&'a self, id: &'a SandboxId, max_bytes: u64) -> BoxFuture<'a, Result<Option<Chain>>>;

    /// Lists sandboxes whose id starts with `prefix`, after a cursor.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`], also if a head is corrupt.
    fn list<'a>(&'a self, prefix: &'a str, cursor: Option<&'a str>) -> BoxFuture<'a, Result<LogPage>>;

    /// Stores bytes under their SHA-256 digest, for the content of generations of this sandbox.
    fn put_pack<'a>(&'a self, id: &'a SandboxId, pack: &'a PackRef, bytes: Vec<u8>) -> BoxFuture<'a, Result<()>>;

    /// Reads a pack of this sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`], also if it is missing, or its length or digest is wrong.
    fn read_pack<'a>(&'a self, id: &'a SandboxId, pack: &'a PackRef) -> BoxFuture<'a, Result<Vec<u8>>>;

    /// Removes all objects of a sandbox. The caller must be sure that no other writer exists: one that still has its position
    /// could start the log again.
    fn forget<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;

    /// Removes the generations below a number and the packs other than these. The same condition as for [`forget`](Self::forget).
    fn trim<'a>(&'a self, id: &'a SandboxId, below: u64, packs: &'a [PackRef]) -> BoxFuture<'a, Result<()>>;

    /// Removes what no chain needs and is older than `before`, in nanoseconds since the Unix epoch. A removed generation is
    /// replaced by a tombstone, which is removed when it is as old itself, so that a writer that slept does not find its number
    /// free.
    fn collect_garbage(&self, before: u64) -> BoxFuture<'_, Result<()>>;
}

/// The objects of a sandbox, by its part of their names.
type SandboxObjects = (String, Vec<ObjectInfo>);

/// A [`SaveLog`] over objects.
#[derive(Clone, Debug)]
pub struct GenerationLog<O> {
    pub(crate) objects: O,
}

impl<O: Objects> GenerationLog<O> {
    /// Creates a log over a storage.
    pub fn new(objects: O) -> Self {
        Self { objects }
    }

    async fn create(&self, object: &str, bytes: &[u8]) -> Result<Creation> {
        let mut last = None;
        for _ in 0..CREATE_ATTEMPTS {
            match self.objects.create(object, bytes.to_vec()).await {
                Ok(creation) => return Ok(creation),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| storage_error("create object", "no attempt was made".to_owned())))
    }

    /// Reads the head of a generation; `None` if it does not exist or is a tombstone.
    async fn read_head(&self, stem: &str, number: u64) -> Result<Option<Decoded>> {
        let object = name::generation(stem, number);
        let start = self.objects.read(&object, HEAD_READ_BYTES).await?;
        let Some(mut bytes) = start.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        if let Some(needed) = generation::missing_head_bytes(&bytes) {
            bytes = self.objects.read(&object, needed).await?.unwrap_or_default();
        }
        generation::decode_head(&bytes).map(Some).map_err(|why| corrupt(&object, &why))
    }

    /// Reads the newest head for a list. Labels never change, so those of the generation before replace the ones of a corrupt one;
    /// the error is reported when the sandbox is loaded.
    async fn read_listed(&self, stem: &str, number: u64) -> Result<Option<Decoded>> {
        match self.read_head(stem, number).await {
            Err(error) => match self.read_head(stem, number.saturating_sub(1)).await {
                Ok(Some(before)) => Ok(Some(before)),
                _ => Err(error),
            },
            head => head,
        }
    }

    /// Lists all objects of a sandbox.
    async fn objects_of(&self, stem: &str) -> Result<Vec<ObjectInfo>> {
        let (prefix, mut found) = (name::dir(stem), Vec::<ObjectInfo>::new());
        loop {
            let after = found.last().map(|object| object.name.clone()).unwrap_or_default();
            let page = self.objects.list(&prefix, &after).await?;
            let is_last = !page.has_more || page.objects.is_empty();
            found.extend(page.objects);
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Reads a whole generation of a chain.
    async fn read_generation(&self, stem: &str, number: u64, max_bytes: u64) -> Result<(Saved, Decoded, Head)> {
        let object = name::generation(stem, number);
        let bytes = self.objects.read(&object, max_bytes.saturating_add(1)).await?;
        let bytes = bytes.ok_or_else(|| corrupt(&object, "is missing"))?;
        if bytes.len() as u64 > max_bytes {
            return Err(too_large(&object, max_bytes));
        }
        let (decoded, head) = generation::decode(&bytes).map_err(|why| corrupt(&object, &why))?;
        if decoded.number != number || name::stem(&decoded.entry.sandbox.id) != stem {
            return Err(corrupt(&object, "belongs to another place: it was renamed"));
        }
        Ok((Saved { number, entry: decoded.entry.clone(), len: bytes.len() as u64 }, decoded, head))
    }

    async fn load_stem(&self, stem: &str, max_bytes: u64) -> Result<Option<Chain>> {
        let mut objects = self.objects_of(stem).await?;
        loop {
            let error = match self.load_listed(stem, &objects, max_bytes).await {
                Err(error) => error,
                loaded => return loaded,
            };
            // The owner may have written a whole snapshot since the list, and garbage collection removed what came before.
            let later = self.objects_of(stem).await?;
            if newest_of(&later) == newest_of(&objects) {
                return Err(error);
            }
            objects = later;
        }
    }

    /// Loads a chain whose objects have been listed.
    async fn load_listed(&self, stem: &str, objects: &[ObjectInfo], max_bytes: u64) -> Result<Option<Chain>> {
        let Some(newest) = newest_of(objects) else { return Ok(None) };
        let (saved, decoded, head) = self.read_generation(stem, newest, max_bytes).await?;
        if saved.entry.kind == GenerationKind::Deleted {
            return Ok(Some(Chain { head, generations: Vec::new() }));
        }
        let base = saved.entry.base;
        if base == 0 || base > newest {
            return Err(corrupt(&name::generation(stem, newest), "is corrupt: it has no base"));
        }
        let numbers: Vec<u64> = generations_of(objects).filter(|number| (base..newest).contains(number)).collect();
        if numbers.len() as u64 != newest - base {
            return Err(corrupt(&name::generation(stem, newest), "is incomplete: a generation before it is missing"));
        }
        let in_chain = |object: &&ObjectInfo| {
            name::split(&object.name).and_then(|(_, part)| name::number(part)).is_some_and(|number| number >= base)
        };
        let len = objects.iter().filter(in_chain).fold(0_u64, |len, object| len.saturating_add(object.len));
        if len > max_bytes {
            return Err(too_large(&name::generation(stem, newest), max_bytes));
        }
        let earlier = numbers.iter().map(|&number| self.read_generation(stem, number, max_bytes));
        let (mut expected, mut generations) = (None, Vec::new());
        for (saved, decoded, head) in try_join_all(earlier).await?.into_iter().chain([(saved, decoded, head)]) {
            let object = || name::generation(stem, saved.number);
            if expected.is_some_and(|expected| expected != decoded.before) {
                return Err(corrupt(&object(), "does not continue the generation before it"));
            }
            let kind = saved.entry.kind;
            if (kind == GenerationKind::Full) != (saved.number == base) || kind == GenerationKind::Deleted {
                return Err(corrupt(&object(), "is corrupt: its kind does not fit its place"));
            }
            expected = Some(head.digest);
            generations.push(saved);
        }
        Ok(Some(Chain { head, generations }))
    }

    /// Collects the garbage of one sandbox. A corrupt sandbox is left as it is, and does not prevent the collection of others.
    async fn collect_of(&self, stem: &str, objects: &[ObjectInfo], before: u64) -> Result<()> {
        let Some(newest) = newest_of(objects) else {
            return self.remove_old(objects.iter(), before).await;
        };
        let Ok(Some(decoded)) = self.read_head(stem, newest).await else { return Ok(()) };
        let is_deleted = decoded.entry.kind == GenerationKind::Deleted;
        // The newest one of a deleted sandbox stays until it is the only one, so that no writer starts the log again.
        let (base, mut packs) =
            if is_deleted { (newest, Vec::new()) } else { (decoded.entry.base, decoded.entry.packs) };
        let is_pack =
            |object: &ObjectInfo| name::split(&object.name).is_some_and(|(_, part)| name::pack_digest(part).is_some());
        if !is_deleted && objects.iter().any(is_pack) {
            for number in generations_of(objects).filter(|number| (base..newest).contains(number)) {
                // Missing if another program collects garbage, too: a later chain, which may use the same packs, exists since the
                // list.
                let Ok(Some(head)) = self.read_head(stem, number).await else { return Ok(()) };
                packs.extend(head.entry.packs);
            }
        }
        for object in objects {
            let Some((_, part)) = name::split(&object.name) else { continue };
            match (name::number(part), name::pack_digest(part)) {
                _ if object.modified >= before => {}
                (Some(number), _) if number < base && object.len > 0 => self.objects.clear(&object.name).await?,
                (Some(number), _) if number < base => self.objects.remove(&object.name).await?,
                (Some(number), _) if is_deleted && number == newest && objects.len() == 1 => {
                    self.objects.remove(&object.name).await?;
                }
                (_, Some(digest)) if !packs.iter().any(|pack| pack.digest == digest) => {
                    self.objects.remove(&object.name).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn remove_old(&self, objects: impl Iterator<Item = &ObjectInfo>, before: u64) -> Result<()> {
        for object in objects.filter(|object| object.modified < before) {
            self.objects.remove(&object.name).await?;
        }
        Ok(())
    }

    /// Lists the objects of up to [`PAGE`] sandboxes by the first part of their names, in the order of names. Returns whether there
    /// are more.
    async fn group(&self, prefix: &str, after: &str) -> Result<(Vec<SandboxObjects>, bool)> {
        let (mut groups, mut after) = (Vec::<SandboxObjects>::new(), after.to_owned());
        loop {
            let page = self.objects.list(prefix, &after).await?;
            let is_last = !page.has_more || page.objects.is_empty();
            for object in page.objects {
                after.clone_from(&object.name);
                let Some((stem, _)) = name::split(&object.name) else { continue };
                match groups.last_mut() {
                    Some((last, objects)) if last == stem => objects.push(object),
                    _ => groups.push((stem.to_owned(), vec![object])),
                }
            }
            if is_last {
                return Ok((groups, false));
            }
            if groups.len() > PAGE {
                // Objects of the last sandbox may be missing.
                groups.pop();
                return Ok((groups, true));
            }
        }
    }
}

impl<O: Objects> SaveLog for GenerationLog<O> {
    fn durability(&self) -> Durability {
        self.objects.durability()
    }

    fn append<'a>(
        &'a self,
        id: &'a SandboxId,
        after: Option<&'a Head>,
        entry: &'a Entry,
    ) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(async move {
            let (bytes, head) = generation::encode(after, entry)?;
            let stem = name::stem(id);
            match self.create(&name::generation(&stem, head.number), &bytes).await? {
                Creation::Created => Ok(Appended::Appended(head)),
                Creation::Exists => {
                    let existing = self.read_head(&stem, head.number).await?;
                    Ok(match existing {
                        Some(existing) if existing.entry.nonce == entry.nonce => Appended::Appended(head),
                        existing => Appended::Fenced(existing.map(Generation::from)),
                    })
                }
            }
        })
    }

    fn newest<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Generation>>> {
        Box::pin(async move {
            let stem = name::stem(id);
            match newest_of(&self.objects_of(&stem).await?) {
                Some(number) => Ok(self.read_head(&stem, number).await?.map(Generation::from)),
                None => Ok(None),
            }
        })
    }

    fn position<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<(Head, Generation)>>> {
        Box::pin(async move {
            let stem = name::stem(id);
            let Some(number) = newest_of(&self.objects_of(&stem).await?) else { return Ok(None) };
            let (_, decoded, head) = self.read_generation(&stem, number, u64::MAX).await?;
            let is_deleted = decoded.entry.kind == GenerationKind::Deleted;
            Ok((!is_deleted).then(|| (head, Generation::from(decoded))))
        })
    }

    fn load<'a>(&'a self, id: &'a SandboxId, max_bytes: u64) -> BoxFuture<'a, Result<Option<Chain>>> {
        Box::pin(async move { self.load_stem(&name::stem(id), max_bytes).await })
    }

    fn list<'a>(&'a self, prefix: &'a str, cursor: Option<&'a str>) -> BoxFuture<'a, Result<LogPage>> {
        Box::pin(async move {
            let after = cursor.map(name::after_all).unwrap_or_default();
            let (groups, has_more) = self.group(&name::escape(prefix), &after).await?;
            let cursor = groups.last().map(|(stem, _)| stem.clone()).filter(|_| has_more);
            let newest: Vec<(String, u64)> =
                groups.into_iter().filter_map(|(stem, objects)| Some((stem, newest_of(&objects)?))).collect();
            let mut sandboxes = Vec::with_capacity(newest.len());
            for some in newest.chunks(READS) {
                let heads = some.iter().map(|(stem, number)| self.read_listed(stem, *number));
                let heads = try_join_all(heads).await?.into_iter().flatten();
                let live = heads.filter(|head| head.entry.kind != GenerationKind::Deleted);
                sandboxes.extend(live.map(|head| head.entry.sandbox));
            }
            Ok(LogPage { sandboxes, cursor })
        })
    }

    fn put_pack<'a>(&'a self, id: &'a SandboxId, pack: &'a PackRef, bytes: Vec<u8>) -> BoxFuture<'a, Result<()>> {
        // One that exists has the same content, because its name is the digest.
        Box::pin(async move { self.create(&name::pack(&name::stem(id), &pack.digest), &bytes).await.map(|_| ()) })
    }

    fn read_pack<'a>(&'a self, id: &'a SandboxId, pack: &'a PackRef) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(async move {
            let object = name::pack(&name::stem(id), &pack.digest);
            let bytes = self.objects.read(&object, pack.len.saturating_add(1)).await?;
            let bytes = bytes.ok_or_else(|| corrupt(&object, "is missing"))?;
            let digest: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(&bytes).into();
            if digest != pack.digest {
                return Err(corrupt(&object, "is corrupt: checksum mismatch"));
            }
            Ok(bytes)
        })
    }

    fn forget<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let objects = self.objects_of(&name::stem(id)).await?;
            // The newest generation goes last: it records the deletion if this is interrupted.
            let newest = newest_of(&objects);
            let is_newest = |object: &&ObjectInfo| {
                name::split(&object.name).is_some_and(|(_, part)| newest.is_some() && name::number(part) == newest)
            };
            let (last, first): (Vec<&ObjectInfo>, Vec<&ObjectInfo>) = objects.iter().partition(is_newest);
            for object in first.into_iter().chain(last) {
                self.objects.remove(&object.name).await?;
            }
            Ok(())
        })
    }

    fn trim<'a>(&'a self, id: &'a SandboxId, below: u64, packs: &'a [PackRef]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for object in self.objects_of(&name::stem(id)).await? {
                let Some((_, part)) = name::split(&object.name) else { continue };
                let is_old = name::number(part).is_some_and(|number| number < below);
                let is_unused = name::pack_digest(part).is_some_and(|digest| packs.iter().all(|p| p.digest != digest));
                if is_old || is_unused {
                    self.objects.remove(&object.name).await?;
                }
            }
            Ok(())
        })
    }

    fn collect_garbage(&self, before: u64) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.objects.remove_interrupted(before).await?;
            let mut after = String::new();
            loop {
                let (groups, has_more) = self.group("", &after).await?;
                after = groups.last().map(|(stem, _)| name::after_all(stem)).unwrap_or_default();
                for (stem, objects) in groups {
                    self.collect_of(&stem, &objects, before).await?;
                }
                if !has_more {
                    return Ok(());
                }
            }
        })
    }
}

impl From<Decoded> for Generation {
    fn from(decoded: Decoded) -> Self {
        let Entry { kind, sandbox, writer, nonce, .. } = decoded.entry;
        Self { number: decoded.number, kind, sandbox, writer, nonce }
    }
}

/// Returns the numbers of the generations among these objects, without tombstones.
fn generations_of(objects: &[ObjectInfo]) -> impl Iterator<Item = u64> {
    let live = objects.iter().filter(|object| object.len > 0);
    live.filter_map(|object| name::number(name::split(&object.name)?.1))
}

fn newest_of(objects: &[ObjectInfo]) -> Option<u64> {
    generations_of(objects).max()
}

fn storage_error(operation: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Storage, operation, message)
}

fn corrupt(object: &str, why: &str) -> Error {
    let message = format!(
        "{object} {why}; restore it from a backup, or remove it and what follows to go back to the save before, \
         or remove all of its directory to discard the sandbox"
    );
    storage_error("read saved sandbox", message)
}

fn too_large(object: &str, max_bytes: u64) -> Error {
    let message =
        format!("{object} has more than the {max_bytes} bytes that the limits allow; raise Limits::file_bytes");
    storage_error("read saved sandbox", message)
}
