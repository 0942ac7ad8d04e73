use std::fs;
use std::path::PathBuf;

use tidebox_rt::Open;

use crate::bzip2::Bzip2;
use crate::gzip::Gzip;
use crate::job::{Input, Tool};
use crate::place::without_suffix;
use crate::stream::{Sink, Source};
use crate::xz::{Format, Xz};
use crate::zstd::Zstd;

/// Creates a temporary directory for one test.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tidebox-compress-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for tests");
        Self(path)
    }

    /// Passes bytes through a codec; returns the output and whether it succeeded.
    fn pass(&self, input: &[u8], codec: &dyn Fn(&mut Source, &mut Sink) -> bool) -> (Vec<u8>, bool) {
        let (from, to) = (self.0.join("from"), self.0.join("to"));
        fs::write(&from, input).expect("a file for tests");
        let open = |path: &PathBuf, how| tidebox_rt::open(path.as_os_str().as_encoded_bytes(), how).expect("it opens");
        let read = open(&from, Open { read: true, ..Open::default() });
        let write = open(&to, Open { write: true, create: true, truncate: true, ..Open::default() });
        let content = codec(&mut Source::new(read), &mut Sink::new(Some(write)));
        tidebox_rt::close(read).expect("it closes");
        tidebox_rt::close(write).expect("it closes");
        (fs::read(&to).expect("what came out"), content)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Codec = fn(&mut Source, &mut Sink) -> bool;

fn pack<T: Tool>(tool: &mut T, source: &mut Source, sink: &mut Sink) -> bool {
    let input = Input { name: None, stat: &tidebox_rt::Stat::default() };
    tool.pack(input, source, sink).is_ok() && sink.finish().is_ok()
}

fn unpack<T: Tool>(tool: &mut T, source: &mut Source, sink: &mut Sink) -> bool {
    let done = tool.unpack(source, sink).is_ok();
    sink.finish().is_ok() && done
}

fn xz() -> Xz {
    Xz { format: Format::Auto, how: lzma_rust2::XzOptions::with_preset(0) }
}

const CODECS: &[(&str, Codec, Codec)] = &[
    ("gzip", |from, to| pack(&mut Gzip::default(), from, to), |from, to| unpack(&mut Gzip::default(), from, to)),
    ("bzip2", |from, to| pack(&mut Bzip2 { level: 1 }, from, to), |from, to| unpack(&mut Bzip2 { level: 1 }, from, to)),
    ("xz", |from, to| pack(&mut xz(), from, to), |from, to| unpack(&mut xz(), from, to)),
    ("zstd", |from, to| pack(&mut Zstd::default(), from, to), |from, to| unpack(&mut Zstd::default(), from, to)),
];

fn samples() -> Vec<Vec<u8>> {
    let numbers: String = (0..40_000).map(|number| format!("{number}\n")).collect();
    vec![Vec::new(), b"hello\n".to_vec(), (0..=255).collect(), vec![0; 300_000], numbers.into_bytes()]
}

#[test]
fn every_codec_gives_back_what_it_was_given() {
    let place = TempDir::new("back");
    for (name, pack, unpack) in CODECS {
        for sample in samples() {
            let (packed, content) = place.pass(&sample, pack);
            assert!(content, "{name} does not pack {} bytes", sample.len());
            let (back, content) = place.pass(&packed, unpack);
            assert!(content && back == sample, "{name} does not give back {} bytes", sample.len());
        }
    }
}

#[test]
fn no_cut_of_a_compressed_file_passes_for_the_whole() {
    let place = TempDir::new("cut");
    for (name, pack, unpack) in CODECS {
        let (packed, _) = place.pass(b"hello, hello, hello\n", pack);
        for end in 1..packed.len() {
            let (_, content) = place.pass(&packed[..end], unpack);
            assert!(!content, "{name}: {end} of {} bytes", packed.len());
        }
    }
}

#[test]
fn a_changed_bit_is_an_error_or_has_no_effect() {
    let place = TempDir::new("bit");
    let text: Vec<u8> = (0..2000).map(|number| format!("{number} ")).collect::<String>().into_bytes();
    for (name, pack, unpack) in CODECS {
        let (packed, _) = place.pass(&text, pack);
        for at in 0..packed.len().min(600) {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            let (back, content) = place.pass(&damaged, unpack);
            // Some header bits have no effect; then the output equals the input.
            assert!(!content || back == text, "{name}: bit {} of byte {at}", at % 8);
        }
    }
}

#[test]
fn real_tools_read_what_is_packed_here_and_the_other_way() {
    let place = TempDir::new("real");
    for (name, pack, unpack) in CODECS {
        let real = |arguments: &[&str], input: &[u8]| {
            fs::write(place.0.join("in"), input).expect("a file for tests");
            let file = fs::File::open(place.0.join("in")).expect("it opens");
            std::process::Command::new(name)
                .args(arguments)
                .stdin(file)
                .stderr(std::process::Stdio::null())
                .output()
                .ok()
        };
        for sample in samples() {
            let (packed, _) = place.pass(&sample, pack);
            let Some(read) = real(&["-dc"], &packed) else {
                eprintln!("skipped: this machine has no {name}");
                break;
            };
            assert!(read.status.success() && read.stdout == sample, "{name} does not read {} bytes", sample.len());
            let written = real(&["-c"], &sample).expect("it ran before").stdout;
            let (back, content) = place.pass(&written, unpack);
            assert!(content && back == sample, "what {name} wrote of {} bytes is not read", sample.len());
        }
    }
}

#[test]
fn a_suffix_alone_is_no_name() {
    assert_eq!(without_suffix(b"a.gz", b".gz"), Some(b"a".as_slice()));
    assert_eq!(without_suffix(b".gz", b".gz"), None);
    assert_eq!(without_suffix(b"d/.gz", b".gz"), None);
    assert_eq!(without_suffix(b"a", b".gz"), None);
}
