//! System calls with arbitrary numbers, addresses, memory and paths, over a tree with links.

use arbitrary::Unstructured;
use tidebox_core::Limits;
use tidebox_kernel::fs::{Device, Fs};
use tidebox_kernel::wasi::{preview1, tidebox};
use tidebox_kernel::{
    ExecutionId, ExecutionSpec, GuestMemory, Kernel, KernelConfig, MemoryFault, Pid, SeededEntropy, SyscallOutcome,
    VirtualClock,
};

const MEMORY_BYTES: usize = 128 << 10;

/// Boundary values.
const ODD: [u32; 14] =
    [0, 1, 2, 3, 4, 5, 67, 68, 4096, MEMORY_BYTES as u32 - 1, MEMORY_BYTES as u32, 0x7fff_ffff, u32::MAX - 1, u32::MAX];

struct Memory(Vec<u8>);

impl Memory {
    fn range(&self, at: u32, len: usize) -> Result<std::ops::Range<usize>, MemoryFault> {
        let start = at as usize;
        let end = start.checked_add(len).filter(|end| *end <= self.0.len()).ok_or(MemoryFault)?;
        Ok(start..end)
    }
}

impl GuestMemory for Memory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        dst.copy_from_slice(&self.0[self.range(at, dst.len())?]);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
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

/// An integer argument, generated from the input.
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

type Call = fn(&mut Kernel, Pid, &mut Memory, &mut Unstructured<'_>) -> SyscallOutcome;

/// Builds a call table from a table of the kernel.
macro_rules! calls {
    ($source:ident: $($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        &[$(|k, pid, m, input| {
            // A call without arguments takes no input.
            let _ = &input;
            $source::$name(k, pid, m, $(<$ty>::of(input)),*)
        }),*]
    };
}

const TABLES: [&[Call]; 6] = [
    tidebox_kernel::preview1_nonblocking!(calls!()),
    tidebox_kernel::preview1_yielding!(calls!()),
    tidebox_kernel::tidebox_v1_nonblocking!(calls!()),
    tidebox_kernel::tidebox_v1_yielding!(calls!()),
    calls! { tidebox: fork(token: i32, out: u32); listen(request: u32, len: u32, out: u32); reply(from: u32, len: u32); },
    calls! { preview1: proc_exit(code: u32); },
];

struct Fixture {
    kernel: Kernel,
    execution: ExecutionId,
    pid: Pid,
}

impl Fixture {
    fn new(tidebox_guest: bool) -> Self {
        let mut limits = Limits::default();
        (limits.inodes, limits.file_bytes, limits.single_file_bytes) = (300, 1 << 20, 1 << 19);
        (limits.descriptors, limits.processes) = (40, 12);
        let mut fs = Fs::new(&limits);
        let installed = [
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
        assert!(installed.iter().all(Result::is_ok), "{installed:?}");
        let mut kernel = Kernel::new(KernelConfig {
            files: fs.snapshot(),
            limits,
            clock: Box::new(VirtualClock::new(1_000_000_000_000)),
            entropy: Box::new(SeededEntropy::new(1)),
            hostname: "tidebox".to_owned(),
        });
        let spec = ExecutionSpec {
            argv: ["prog", "one"].into_iter().collect(),
            env: ["HOME=/workspace"].into_iter().collect(),
            cwd: b"/workspace".to_vec(),
            program: b"/bin/prog".to_vec(),
            stdin: b"some input".to_vec(),
            output_bytes: 1 << 16,
            shell_state: Some(b"state".as_slice().into()),
            ..ExecutionSpec::default()
        };
        let (execution, pid) = kernel.start_execution(spec).expect("the program exists");
        kernel.set_tidebox_guest(pid, tidebox_guest);
        Self { kernel, execution, pid }
    }

    /// Ends the execution. Checks that files are within their limits and that all other resources are released.
    fn end(mut self) {
        let usage = self.kernel.resource_usage().files;
        let limits = self.kernel.limits();
        assert!(usage.file_bytes <= limits.file_bytes && usage.inodes <= limits.inodes, "{usage:?}");
        self.kernel.finish_execution(self.execution);
        let left = self.kernel.resource_usage();
        let counts = [left.commands, left.processes, left.open_files, left.pipes];
        assert_eq!((counts, left.memory_bytes, left.pipe_bytes, left.argument_bytes), ([0; 4], 0, 0, 0), "{left:?}");
    }
}

/// Calls the functions of preview1 and `tidebox_v1` in any order with any arguments over memory filled by the input.
pub(crate) fn calls(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut fixture = Fixture::new(input.arbitrary().unwrap_or(false));
    let filling = input.arbitrary_len::<u8>().unwrap_or(0).min(input.len() / 2);
    let filling = input.bytes(filling).unwrap_or(b"/a").to_vec();
    let mut memory = Memory(filling.iter().copied().cycle().take(MEMORY_BYTES).collect());
    memory.0.resize(MEMORY_BYTES, 0);
    for _ in 0..200 {
        let Ok(choice) = input.arbitrary::<u8>() else { break };
        let count: usize = TABLES.iter().map(|table| table.len()).sum();
        let Some(call) = TABLES.iter().flat_map(|table| table.iter()).nth(choice as usize % count) else { break };
        match call(&mut fixture.kernel, fixture.pid, &mut memory, &mut input) {
            SyscallOutcome::Done(_) | SyscallOutcome::Block(_) => {}
            SyscallOutcome::Exit(_) | SyscallOutcome::Kill(_) => break,
        }
        if input.is_empty() {
            break;
        }
    }
    fixture.end();
}

/// Components of paths.
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

/// Builds a path of those components and of bytes of the input.
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

/// Calls that resolve paths: create, link, rename, open and remove. Every call must return a result.
pub(crate) fn paths(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut fixture = Fixture::new(true);
    let mut memory = Memory(vec![0; MEMORY_BYTES]);
    while !input.is_empty() {
        let (one, two) = (path(&mut input), path(&mut input));
        let (at, at_two, out, buffer) = (1024_u32, 8192_u32, 16_u32, 65_536_u32);
        memory.write(at, &one).and_then(|()| memory.write(at_two, &two)).expect("paths are short");
        let (len, len_two) = (one.len() as u32, two.len() as u32);
        let (k, m, pid) = (&mut fixture.kernel, &mut memory, fixture.pid);
        let flags = input.arbitrary::<u8>().unwrap_or(0);
        let (follow, bits) = (u32::from(flags & 1), u32::from(flags >> 1));
        let dir = if flags & 0x80 == 0 { 3 } else { 4 + u32::from(flags & 3) };
        let sys = match input.arbitrary::<u8>().unwrap_or(0) % 14 {
            0 => preview1::path_create_directory(k, pid, m, dir, at, len),
            1 => preview1::path_remove_directory(k, pid, m, dir, at, len),
            2 => preview1::path_unlink_file(k, pid, m, dir, at, len),
            3 => preview1::path_symlink(k, pid, m, at, len, dir, at_two, len_two),
            4 => preview1::path_link(k, pid, m, dir, follow, at, len, 3, at_two, len_two),
            5 => preview1::path_rename(k, pid, m, dir, at, len, 3, at_two, len_two),
            6 => preview1::path_filestat_get(k, pid, m, dir, follow, at, len, out),
            7 => preview1::path_readlink(k, pid, m, dir, at, len, buffer, 4096, out),
            8 => tidebox::chdir(k, pid, m, at, len),
            9 => tidebox::chmod(k, pid, m, at, len, bits << 3),
            10 => tidebox::stat(k, pid, m, at, len, follow, out),
            11 => tidebox::access(k, pid, m, at, len, bits & 7),
            12 => preview1::fd_readdir(k, pid, m, dir, buffer, 4096, 0, out),
            _ => preview1::path_open(k, pid, m, dir, follow, at, len, bits & 15, u64::MAX, u64::MAX, bits >> 4, out),
        };
        match sys {
            SyscallOutcome::Done(_) | SyscallOutcome::Block(_) => {}
            SyscallOutcome::Exit(_) | SyscallOutcome::Kill(_) => break,
        }
        let (k, m) = (&mut fixture.kernel, &mut memory);
        let _ = tidebox::getcwd(k, pid, m, buffer, 8192, out);
    }
    fixture.end();
}
