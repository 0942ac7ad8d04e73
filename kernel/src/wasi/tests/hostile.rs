//! Every function with invalid arguments: no panic, and a result.

use crate::Signal;
use crate::syscall::SyscallOutcome;
use crate::testing::{Guest, MEMORY_BYTES};
use crate::wasi::{preview1, tidebox};

/// Boundary values.
const ODD: [u32; 14] =
    [0, 1, 2, 3, 4, 5, 67, 68, 4096, MEMORY_BYTES as u32 - 1, MEMORY_BYTES as u32, 0x7fff_ffff, u32::MAX - 1, u32::MAX];

/// A small deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn odd(&mut self) -> u32 {
        ODD[self.roll() % ODD.len()]
    }

    fn wide(&mut self) -> u64 {
        match self.roll() % 4 {
            0 => u64::from(self.odd()),
            1 => u64::MAX - u64::from(self.odd()),
            2 => u64::from(self.odd()) << 31,
            _ => i64::MAX.unsigned_abs(),
        }
    }
}

/// One call of `function` with invalid arguments.
fn absurd(g: &mut Guest, d: &mut Dice, function: usize) -> SyscallOutcome {
    let (k, m, pid) = (&mut g.k, &mut g.m, g.pid);
    match function {
        0 => preview1::args_get(k, pid, m, d.odd(), d.odd()),
        1 => preview1::args_sizes_get(k, pid, m, d.odd(), d.odd()),
        2 => preview1::environ_get(k, pid, m, d.odd(), d.odd()),
        3 => preview1::environ_sizes_get(k, pid, m, d.odd(), d.odd()),
        4 => preview1::clock_res_get(k, pid, m, d.odd(), d.odd()),
        5 => preview1::clock_time_get(k, pid, m, d.odd(), d.wide(), d.odd()),
        6 => preview1::fd_advise(k, pid, m, d.odd(), d.wide(), d.wide(), d.odd()),
        7 => preview1::fd_allocate(k, pid, m, d.odd(), d.wide(), d.wide()),
        8 => preview1::fd_close(k, pid, m, d.odd()),
        9 => preview1::fd_datasync(k, pid, m, d.odd()),
        10 => preview1::fd_fdstat_get(k, pid, m, d.odd(), d.odd()),
        11 => preview1::fd_fdstat_set_flags(k, pid, m, d.odd(), d.odd()),
        12 => preview1::fd_fdstat_set_rights(k, pid, m, d.odd(), d.wide(), d.wide()),
        13 => preview1::fd_filestat_get(k, pid, m, d.odd(), d.odd()),
        14 => preview1::fd_filestat_set_size(k, pid, m, d.odd(), d.wide()),
        15 => preview1::fd_filestat_set_times(k, pid, m, d.odd(), d.wide(), d.wide(), d.odd()),
        16 => preview1::fd_pread(k, pid, m, d.odd(), d.odd(), d.odd(), d.wide(), d.odd()),
        17 => preview1::fd_prestat_get(k, pid, m, d.odd(), d.odd()),
        18 => preview1::fd_prestat_dir_name(k, pid, m, d.odd(), d.odd(), d.odd()),
        19 => preview1::fd_pwrite(k, pid, m, d.odd(), d.odd(), d.odd(), d.wide(), d.odd()),
        20 => preview1::fd_read(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd()),
        21 => preview1::fd_readdir(k, pid, m, d.odd(), d.odd(), d.odd(), d.wide(), d.odd()),
        22 => preview1::fd_renumber(k, pid, m, d.odd(), d.odd()),
        23 => preview1::fd_seek(k, pid, m, d.odd(), d.wide().cast_signed(), d.odd(), d.odd()),
        24 => preview1::fd_sync(k, pid, m, d.odd()),
        25 => preview1::fd_tell(k, pid, m, d.odd(), d.odd()),
        26 => preview1::fd_write(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd()),
        27 => preview1::path_create_directory(k, pid, m, d.odd(), d.odd(), d.odd()),
        28 => preview1::path_filestat_get(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        29 => preview1::path_filestat_set_times(
            k,
            pid,
            m,
            d.odd(),
            d.odd(),
            d.odd(),
            d.odd(),
            d.wide(),
            d.wide(),
            d.odd(),
        ),
        30 => preview1::path_link(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        31 => {
            let (dir, flags, path, len, oflags) = (d.odd(), d.odd(), d.odd(), d.odd(), d.odd());
            preview1::path_open(k, pid, m, dir, flags, path, len, oflags, d.wide(), d.wide(), d.odd(), d.odd())
        }
        32 => preview1::path_readlink(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        33 => preview1::path_remove_directory(k, pid, m, d.odd(), d.odd(), d.odd()),
        34 => preview1::path_rename(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        35 => preview1::path_symlink(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        36 => preview1::path_unlink_file(k, pid, m, d.odd(), d.odd(), d.odd()),
        37 => preview1::poll_oneoff(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd()),
        38 => preview1::random_get(k, pid, m, d.odd(), d.odd()),
        39 => preview1::sched_yield(k, pid, m),
        40 => preview1::sock_accept(k, pid, m, d.odd(), d.odd(), d.odd()),
        41 => preview1::sock_recv(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        42 => preview1::sock_send(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), d.odd()),
        43 => preview1::sock_shutdown(k, pid, m, d.odd(), d.odd()),
        44 => preview1::proc_exit(k, pid, m, d.odd()),
        45 => preview1::proc_raise(k, pid, m, d.odd() | 1 << 16),
        46 => tidebox::spawn(k, pid, m, d.odd(), d.odd(), d.odd()),
        47 => tidebox::fork(k, pid, m, d.odd().cast_signed(), d.odd()),
        48 => tidebox::wait(k, pid, m, d.odd().cast_signed(), d.odd(), d.odd()),
        49 => tidebox::pipe(k, pid, m, d.odd()),
        50 => tidebox::dup(k, pid, m, d.odd(), d.odd(), d.odd()),
        51 => tidebox::dup_to(k, pid, m, d.odd(), d.odd()),
        52 => tidebox::chdir(k, pid, m, d.odd(), d.odd()),
        53 => tidebox::getcwd(k, pid, m, d.odd(), d.odd(), d.odd()),
        54 => tidebox::getids(k, pid, m, d.odd()),
        55 => tidebox::setpgid(k, pid, m, d.odd().cast_signed(), d.odd().cast_signed()),
        56 => tidebox::kill(k, pid, m, d.odd().cast_signed(), 0),
        57 => tidebox::sig_set(k, pid, m, d.odd(), d.odd()),
        58 => tidebox::sig_take(k, pid, m, d.odd()),
        59 => tidebox::umask(k, pid, m, d.odd(), d.odd()),
        60 => tidebox::chmod(k, pid, m, d.odd(), d.odd(), d.odd()),
        61 => tidebox::stat(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd()),
        62 => tidebox::fstat(k, pid, m, d.odd(), d.odd()),
        63 => tidebox::access(k, pid, m, d.odd(), d.odd(), d.odd()),
        64 => tidebox::shell_state_read(k, pid, m, d.odd(), d.odd(), d.odd()),
        65 => tidebox::shell_state_write(k, pid, m, d.odd(), d.odd()),
        66 => tidebox::listen(k, pid, m, d.odd(), d.odd(), d.odd()),
        67 => tidebox::reply(k, pid, m, d.odd(), d.odd()),
        68 => {
            preview1::fd_read_chunk(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), &mut preview1::Progress::default())
        }
        69 => {
            preview1::fd_write_chunk(k, pid, m, d.odd(), d.odd(), d.odd(), d.odd(), &mut preview1::Progress::default())
        }
        70 => tidebox::startup_info(k, pid, m, d.odd(), d.odd(), d.odd()),
        71 => tidebox::sock_open(k, pid, m, d.odd() % 4, d.odd()),
        72 => tidebox::sock_pair(k, pid, m, d.odd()),
        73 => tidebox::sock_bind(k, pid, m, d.odd(), d.odd()),
        74 => tidebox::sock_listen(k, pid, m, d.odd(), d.odd()),
        75 => tidebox::sock_connect(k, pid, m, d.odd(), d.odd()),
        76 => tidebox::sock_name(k, pid, m, d.odd(), d.odd() % 3, d.odd()),
        77 => tidebox::tty_get(k, pid, m, d.odd() % 4, d.odd()),
        78 => tidebox::tty_set(k, pid, m, d.odd() % 4, d.odd(), d.odd()),
        79 => tidebox::tty_group(k, pid, m, d.odd() % 4, d.odd(), d.odd()),
        _ => tidebox::limits(k, pid, m, d.odd()),
    }
}

const FUNCTIONS: usize = 81;

#[test]
fn absurd_arguments_return_and_never_panic() {
    // `TIDEBOX_FUZZ=100000 cargo test -p tidebox-kernel absurd` runs more seeds.
    let seeds = std::env::var("TIDEBOX_FUZZ").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(40);
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let mut g = match seed % 3 {
            0 => Guest::new(),
            1 => Guest::with_terminal(24, 80),
            _ => Guest::plain(),
        };
        g.m.supports_slices = seed % 4 < 2;
        // Memory full of plausible small numbers, so that lists and paths read from it are partly valid.
        for byte in &mut g.m.bytes {
            let letters = b"\0\0\0\x01\x02\x03/.a.bc\xff";
            *byte = letters[dice.roll() % letters.len()];
        }
        for round in 0..400 {
            let function = if round < FUNCTIONS { round } else { dice.roll() % FUNCTIONS };
            let sys = absurd(&mut g, &mut dice, function);
            match sys {
                // It closed the read end of its pipe and kept writing.
                SyscallOutcome::Kill(Signal::Pipe) => break,
                SyscallOutcome::Kill(signal) => {
                    panic!("function {function} of seed {seed} ended the guest by {signal}")
                }
                SyscallOutcome::Done(_) | SyscallOutcome::Block(_) | SyscallOutcome::Exit(_) => {}
            }
        }
        g.k.finish_execution(g.execution);
        let left = (g.k.process_count(), g.k.files.count(), g.k.pipes.count(), g.k.resource_usage().terminals);
        assert_eq!(left, (0, 0, 0, 0), "seed {seed}");
    }
}
