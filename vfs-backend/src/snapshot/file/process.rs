//! Saved processes as bytes.

use tidebox_core::{Error, ErrorKind, Limits, OutputStream, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Block};
use tidebox_kernel::{SavedFile, SavedMemory, SavedObject, SavedProcess, SavedState};

use super::container::{self, ContainerKind, Packing};
use super::corrupt_snapshot;
use super::wire::{Reader, Writer};

/// Encodes a saved process as one file with a digest, which [`process_from_bytes`] reads. The memory is compressed with LZ4.
///
/// The digest detects corruption, not forgery. Reading is safe in any case: a forged process is a program like any other.
pub fn process_to_bytes(saved: &SavedProcess) -> Vec<u8> {
    let SavedProcess { state, memory } = saved;
    let mut meta = Writer::default();
    meta.bytes(&memory.image);
    meta.number(memory.bytes);
    meta.number(memory.pages.len() as u64);
    let mut next = 0;
    for &page in &memory.pages {
        // Ascending numbers: most differences are 0.
        meta.number(u64::from(page.saturating_sub(next)));
        next = page.saturating_add(1);
    }
    write_state(&mut meta, state);
    let blocks: Vec<&[u8]> = memory.content.chunks(BLOCK_BYTES).collect();
    container::write(ContainerKind::Process, Packing::Compressed, &meta.into_bytes(), &blocks)
}

/// Reads the output of [`process_to_bytes`]. The memory is charged to [`Limits::process_memory_bytes`] before it is allocated.
///
/// # Errors
///
/// [`ErrorKind::InvalidRequest`] for bytes that are corrupt, truncated, not a saved process or of another version, or that
/// exceed the limits.
pub fn process_from_bytes(bytes: &[u8], limits: &Limits) -> Result<SavedProcess> {
    let mut room = limits.clone();
    room.file_bytes = limits.process_memory_bytes;
    let container = container::read(ContainerKind::Process, bytes, &room)?;
    let mut meta = Reader::new(&container.meta);
    let image = meta.bytes(32)?.try_into().map_err(|_| corrupt_snapshot("the digest has another length"))?;
    let bytes = meta.number()?;
    if bytes > limits.process_memory_bytes {
        let message = format!(
            "the process has {bytes} bytes of memory, and Limits::process_memory_bytes allows {}",
            limits.process_memory_bytes
        );
        return Err(Error::new(ErrorKind::InvalidRequest, "read saved process", message));
    }
    let count = meta.number()?;
    let content = container.blocks.iter().flat_map(Block::as_bytes).copied().collect::<Vec<u8>>();
    if count.checked_mul(SavedMemory::PAGE as u64) != Some(content.len() as u64) {
        return Err(corrupt_snapshot("the memory has another number of pages"));
    }
    let mut pages = Vec::with_capacity(content.len() / SavedMemory::PAGE);
    let mut next = 0u64;
    for _ in 0..count {
        let page = meta.number()?.checked_add(next).and_then(|page| u32::try_from(page).ok());
        let page = page.ok_or_else(|| corrupt_snapshot("a page number is too large"))?;
        next = u64::from(page) + 1;
        pages.push(page);
    }
    let state = read_state(&mut meta, limits)?;
    meta.end()?;
    Ok(SavedProcess { state, memory: SavedMemory { image, bytes, pages, content } })
}

fn write_state(meta: &mut Writer, state: &SavedState) {
    meta.bytes(&state.cwd);
    for number in [u64::from(state.umask), state.ignored_signals, state.caught_signals, state.files.len() as u64] {
        meta.number(number);
    }
    for file in &state.files {
        match &file.object {
            SavedObject::Stdin => meta.number(0),
            SavedObject::Output(OutputStream::Stdout) => meta.number(1),
            SavedObject::Output(OutputStream::Stderr) => meta.number(2),
            SavedObject::Path(path) => {
                meta.number(3);
                meta.bytes(path);
            }
        }
        let access = u64::from(file.read) | u64::from(file.write) << 1;
        for number in [file.offset, u64::from(file.flags), access, file.descriptors.len() as u64] {
            meta.number(number);
        }
        file.descriptors.iter().for_each(|fd| meta.number(u64::from(*fd)));
    }
}

fn read_state(meta: &mut Reader<'_>, limits: &Limits) -> Result<SavedState> {
    let path_bytes = limits.path_bytes as usize;
    let cwd = meta.bytes(path_bytes)?.to_vec();
    let (umask, ignored_signals, caught_signals) = (meta.small()?, meta.number()?, meta.number()?);
    let mut files = Vec::new();
    for _ in 0..read_count(meta, limits)? {
        let object = match meta.number()? {
            0 => SavedObject::Stdin,
            1 => SavedObject::Output(OutputStream::Stdout),
            2 => SavedObject::Output(OutputStream::Stderr),
            3 => SavedObject::Path(meta.bytes(path_bytes)?.to_vec()),
            _ => return Err(corrupt_snapshot("an open file has an unknown kind")),
        };
        let (offset, flags, access) = (meta.number()?, meta.small()?, meta.number()?);
        let flags = u16::try_from(flags).map_err(|_| corrupt_snapshot("an open file has unknown flags"))?;
        let mut descriptors = Vec::new();
        for _ in 0..read_count(meta, limits)? {
            descriptors.push(meta.small()?);
        }
        files.push(SavedFile { object, offset, flags, read: access & 1 != 0, write: access & 2 != 0, descriptors });
    }
    Ok(SavedState { cwd, umask, ignored_signals, caught_signals, files })
}

/// Reads a number of descriptors or of open files.
fn read_count(meta: &mut Reader<'_>, limits: &Limits) -> Result<u32> {
    let count = meta.small()?;
    if count > limits.descriptors {
        return Err(corrupt_snapshot("the process has more open files than the limits allow"));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> SavedProcess {
        let file = |object, descriptors: &[u32]| SavedFile {
            object,
            offset: 7,
            flags: 1,
            read: true,
            write: false,
            descriptors: descriptors.to_vec(),
        };
        let files = vec![
            file(SavedObject::Stdin, &[0]),
            file(SavedObject::Output(OutputStream::Stderr), &[1, 2, 70]),
            file(SavedObject::Path(b"/workspace/a".to_vec()), &[67]),
        ];
        let pages = vec![0, 1, 5, 200];
        let content = (0..pages.len() * SavedMemory::PAGE).map(|at| (at / 1000) as u8).collect();
        let memory = SavedMemory { image: [7; 32], bytes: 1 << 20, pages, content };
        let state =
            SavedState { cwd: b"/workspace".to_vec(), umask: 0o22, ignored_signals: 1 << 13, caught_signals: 4, files };
        SavedProcess { state, memory }
    }

    #[test]
    fn a_saved_process_round_trips() {
        let saved = saved();
        assert_eq!(process_from_bytes(&process_to_bytes(&saved), &Limits::default()).expect("it is valid"), saved);
    }

    #[test]
    fn a_saved_process_beyond_the_limits_is_refused() {
        let mut limits = Limits::default();
        limits.process_memory_bytes = 1 << 16;
        let error = process_from_bytes(&process_to_bytes(&saved()), &limits).expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        assert!(error.message().contains("process_memory_bytes"), "{error}");
    }

    #[test]
    fn truncated_and_foreign_bytes_are_rejected() {
        let bytes = process_to_bytes(&saved());
        for end in [0, 7, 8, 40, bytes.len() - 1] {
            assert!(process_from_bytes(&bytes[..end], &Limits::default()).is_err(), "{end}");
        }
        let snapshot = [b"TIDESNAP", &bytes[8..]].concat();
        assert!(process_from_bytes(&snapshot, &Limits::default()).is_err());
    }
}
