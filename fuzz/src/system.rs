//! Calls of guests: numbers, addresses and memory of any kind, and paths of any kind over a tree with links.

use arbitrary::Unstructured;
use tidebox_core::Limits;
use tidebox_kernel::fs::{Device, Fs};
use tidebox_kernel::wasi::{Fault, GuestMem, Sys, ext, p1};
use tidebox_kernel::{FixedClock, Kernel, KernelConfig, Pid, SeededEntropy, SessionId, SessionSpec};

const MEMORY_BYTES: usize = 128 << 10;

/// Numbers at the edges of everything.
const ODD: [u32; 14] =
    [0, 1, 2, 3, 4, 5, 67, 68, 4096, MEMORY_BYTES as u32 - 1, MEMORY_BYTES as u32, 0x7fff_ffff, u32::MAX - 1, u32::MAX];

struct Memory(Vec<u8>);

impl Memory {
    fn range(&self, at: u32, len: usize) -> Result<std::ops::Range<usize>, Fault> {
        let start = at as usize;
        let end = start.checked_add(len).filter(|end| *end <= self.0.len()).ok_or(Fault)?;
        Ok(start..end)
    }
}

impl GuestMem for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        dst.copy_from_slice(&self.0[self.range(at, dst.len())?]);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        let range = self.range(at, src.len())?;
        self.0[range].copy_from_slice(src);
        Ok(())
    }

    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        self.0.get(self.range(at, len as usize).ok()?)
    }

    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        let range = self.range(at, len as usize).ok()?;
        self.0.get_mut(range)
    }
}

/// What an argument is made of.
trait Number {
    fn of(input: &mut Unstructured<'_>) -> Self;
}

impl Number for u32 {
    fn of(input: &mut Unstructured<'_>) -> Self {
        match input.arbitrary::<u8>().unwrap_or(0) {
            choice @ 0..=127 => ODD[choice as usize % ODD.len()],
            choice @ 128..=191 => Self::from(choice & 15),
            192..=239 => Self::from(input.arbitrary::<u16>().unwrap_or(0)),
            _ => input.arbitrary().unwrap_or(0),
        }
    }
}

impl Number for u64 {
    fn of(input: &mut Unstructured<'_>) -> Self {
        match input.arbitrary::<u8>().unwrap_or(0) {
            0..=99 => Self::from(u32::of(input)),
            100..=149 => Self::MAX - Self::from(u32::of(input)),
            150..=199 => Self::from(u32::of(input)) << 31,
            _ => input.arbitrary().unwrap_or(0),
        }
    }
}

impl Number for i64 {
    fn of(input: &mut Unstructured<'_>) -> Self {
        u64::of(input).cast_signed()
    }
}

impl Number for i32 {
    fn of(input: &mut Unstructured<'_>) -> Self {
        u32::of(input).cast_signed()
    }
}

type Call = fn(&mut Kernel, Pid, &mut Memory, &mut Unstructured<'_>) -> Sys;

/// A table of calls of what the kernel's own tables list.
macro_rules! calls {
    ($source:ident: $($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        &[$(|k, pid, m, input| $source::$name(k, pid, m, $(<$ty>::of(input)),*)),*]
    };
}

const TABLES: [&[Call]; 6] = [
    tidebox_kernel::preview1_at_once!(calls!()),
    tidebox_kernel::preview1_in_turn!(calls!()),
    tidebox_kernel::tidebox_v1_at_once!(calls!()),
    tidebox_kernel::tidebox_v1_in_turn!(calls!()),
    calls! { ext: fork(token: i32, out: u32); listen(request: u32, len: u32, out: u32); reply(from: u32, len: u32); },
    calls! { p1: proc_exit(code: u32); },
];

struct World {
    kernel: Kernel,
    session: SessionId,
    pid: Pid,
}

impl World {
    fn new(aware: bool) -> Self {
        let mut limits = Limits::default();
        (limits.inodes, limits.file_bytes, limits.single_file_bytes) = (300, 1 << 20, 1 << 19);
        (limits.descriptors, limits.processes) = (40, 12);
        let mut fs = Fs::new(&limits);
        let made = [
            fs.install_dir(b"/", 0o755, 1000),
            fs.install_dir(b"/workspace", 0o755, 1000),
            fs.install_dir(b"/workspace/a/b", 0o755, 1000),
            fs.install_dir(b"/tmp", 0o1777, 0),
            fs.install_dir(b"/shut", 0o700, 0),
            fs.install(b"/bin/prog", b"\0asm\x01\0\0\0".as_slice().into(), 0o755, 0),
            fs.install(b"/workspace/file", b"hello\n".as_slice().into(), 0o644, 1000),
            fs.install_symlink(b"/workspace/up", b"../.."),
            fs.install_symlink(b"/workspace/circle", b"circle"),
            fs.install_symlink(b"/workspace/there", b"/workspace/a/./b/../b/"),
            fs.install_symlink(b"/workspace/gone", b"nowhere/at/all"),
            fs.install_device(b"/dev/null", Device::Null, 0o666),
            fs.install_device(b"/dev/full", Device::Full, 0o666),
            fs.install_device(b"/dev/zero", Device::Zero, 0o666),
            fs.install_proc(b"/proc"),
            fs.install_symlink(b"/dev/fd", b"/proc/self/fd"),
        ];
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        let mut kernel = Kernel::new(KernelConfig {
            files: fs.snapshot(),
            limits,
            clock: Box::new(FixedClock::new(1_000_000_000_000)),
            entropy: Box::new(SeededEntropy::new(1)),
            hostname: "tidebox".to_owned(),
        });
        let spec = SessionSpec {
            argv: vec![b"prog".to_vec(), b"one".to_vec()],
            env: vec![b"HOME=/workspace".to_vec()],
            cwd: b"/workspace".to_vec(),
            program: b"/bin/prog".to_vec(),
            stdin: b"some input".to_vec(),
            output_bytes: 1 << 16,
            shell_state: Some(b"state".as_slice().into()),
            conversation: false,
        };
        let (session, pid) = kernel.begin(spec).expect("the program is there");
        kernel.set_aware(pid, aware);
        Self { kernel, session, pid }
    }

    /// Whatever was done, nothing of it stays, and files are within their limits.
    fn end(mut self) {
        let usage = self.kernel.holdings().files;
        let limits = self.kernel.limits();
        assert!(usage.file_bytes <= limits.file_bytes && usage.inodes <= limits.inodes, "{usage:?}");
        self.kernel.end(self.session);
        let left = self.kernel.holdings();
        let counts = [left.commands, left.processes, left.open_files, left.pipes];
        assert_eq!((counts, left.memory_bytes, left.pipe_bytes, left.argument_bytes), ([0; 4], 0, 0, 0), "{left:?}");
    }
}

/// Every function of preview1 and of `tidebox_v1`, in any order, with any arguments, over memory that the input fills.
pub(crate) fn calls(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut world = World::new(input.arbitrary().unwrap_or(false));
    let filling = input.arbitrary_len::<u8>().unwrap_or(0).min(input.len() / 2);
    let filling = input.bytes(filling).unwrap_or(b"/a").to_vec();
    let mut memory = Memory(filling.iter().copied().cycle().take(MEMORY_BYTES).collect());
    memory.0.resize(MEMORY_BYTES, 0);
    for _ in 0..200 {
        let Ok(choice) = input.arbitrary::<u8>() else { break };
        let count: usize = TABLES.iter().map(|table| table.len()).sum();
        let Some(call) = TABLES.iter().flat_map(|table| table.iter()).nth(choice as usize % count) else { break };
        match call(&mut world.kernel, world.pid, &mut memory, &mut input) {
            Sys::Done(_) | Sys::Block(_) => {}
            Sys::Exit(_) | Sys::Kill(_) => break,
        }
        if input.is_empty() {
            break;
        }
    }
    world.end();
}

/// Pieces of paths.
const NAMES: [&[u8]; 24] = [
    b"/",
    b"//",
    b".",
    b"..",
    b"a",
    b"b",
    b"file",
    b"up",
    b"circle",
    b"there",
    b"gone",
    b"workspace",
    b"tmp",
    b"shut",
    b"proc",
    b"self",
    b"fd",
    b"cwd",
    b"dev",
    b"null",
    b"\0",
    b"\xff",
    b"new",
    b"1",
];

/// A path of those pieces and of bytes of the input.
fn path(input: &mut Unstructured<'_>) -> Vec<u8> {
    let mut path = Vec::new();
    for _ in 0..input.int_in_range(0..=9).unwrap_or(0) {
        let choice: u8 = input.arbitrary().unwrap_or(0);
        match choice {
            250.. => path.extend(std::iter::repeat_n(b'n', 100)),
            240.. => path.push(input.arbitrary().unwrap_or(b'x')),
            _ => path.extend_from_slice(NAMES[choice as usize % NAMES.len()]),
        }
        if choice & 1 == 0 {
            path.push(b'/');
        }
    }
    path
}

/// Calls that walk paths: they make, link, move, open and remove what the input says, and every answer is one.
pub(crate) fn paths(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut world = World::new(true);
    let mut memory = Memory(vec![0; MEMORY_BYTES]);
    while !input.is_empty() {
        let (one, two) = (path(&mut input), path(&mut input));
        let (at, at_two, out, buffer) = (1024_u32, 8192_u32, 16_u32, 65_536_u32);
        memory.write(at, &one).and_then(|()| memory.write(at_two, &two)).expect("paths are short");
        let (len, len_two) = (one.len() as u32, two.len() as u32);
        let (k, m, pid) = (&mut world.kernel, &mut memory, world.pid);
        let flags = input.arbitrary::<u8>().unwrap_or(0);
        let (follow, bits) = (u32::from(flags & 1), u32::from(flags >> 1));
        let dir = if flags & 0x80 == 0 { 3 } else { 4 + u32::from(flags & 3) };
        let sys = match input.arbitrary::<u8>().unwrap_or(0) % 14 {
            0 => p1::path_create_directory(k, pid, m, dir, at, len),
            1 => p1::path_remove_directory(k, pid, m, dir, at, len),
            2 => p1::path_unlink_file(k, pid, m, dir, at, len),
            3 => p1::path_symlink(k, pid, m, at, len, dir, at_two, len_two),
            4 => p1::path_link(k, pid, m, dir, follow, at, len, 3, at_two, len_two),
            5 => p1::path_rename(k, pid, m, dir, at, len, 3, at_two, len_two),
            6 => p1::path_filestat_get(k, pid, m, dir, follow, at, len, out),
            7 => p1::path_readlink(k, pid, m, dir, at, len, buffer, 4096, out),
            8 => ext::chdir(k, pid, m, at, len),
            9 => ext::chmod(k, pid, m, at, len, bits << 3),
            10 => ext::stat(k, pid, m, at, len, follow, out),
            11 => ext::access(k, pid, m, at, len, bits & 7),
            12 => p1::fd_readdir(k, pid, m, dir, buffer, 4096, 0, out),
            _ => p1::path_open(k, pid, m, dir, follow, at, len, bits & 15, u64::MAX, u64::MAX, bits >> 4, out),
        };
        match sys {
            Sys::Done(_) | Sys::Block(_) => {}
            Sys::Exit(_) | Sys::Kill(_) => break,
        }
        let (k, m) = (&mut world.kernel, &mut memory);
        let _ = ext::getcwd(k, pid, m, buffer, 8192, out);
    }
    world.end();
}
