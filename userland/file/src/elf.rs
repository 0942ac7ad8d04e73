//! ELF: programs and libraries of Linux.

use crate::bytes::Bytes;
use crate::data::Detected;

/// Word size and byte order of a file.
#[derive(Clone, Copy)]
struct Elf<'a> {
    bytes: Bytes<'a>,
    wide: bool,
    little: bool,
}

/// A section or a segment: type, offset, size.
struct Part {
    kind: u32,
    at: usize,
    size: usize,
}

const MACHINES: &[(u16, &str)] =
    &[(3, "Intel 80386"), (40, "ARM"), (62, "x86-64"), (183, "ARM aarch64"), (243, "UCB RISC-V")];

const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;
/// Tag of the flags in the dynamic segment, and the flag of a position-independent executable.
const FLAGS_1: u64 = 0x6fff_fffb;
const PIE: u64 = 0x0800_0000;

impl Elf<'_> {
    fn u16(self, at: usize) -> Option<u16> {
        if self.little { self.bytes.le16(at) } else { self.bytes.be16(at) }
    }

    fn u32(self, at: usize) -> Option<u32> {
        if self.little { self.bytes.le32(at) } else { self.bytes.be32(at) }
    }

    /// An address or a size.
    fn word(self, at: usize) -> Option<u64> {
        match (self.wide, self.little) {
            (true, true) => self.bytes.le64(at),
            (true, false) => self.bytes.be64(at),
            (false, _) => self.u32(at).map(u64::from),
        }
    }

    fn place(self, at: usize) -> Option<usize> {
        usize::try_from(self.word(at)?).ok()
    }

    fn segments(self) -> Vec<Part> {
        let (table, size, count) = if self.wide { (32, 54, 56) } else { (28, 42, 44) };
        let (place, length) = if self.wide { (8, 32) } else { (4, 16) };
        self.parts(table, size, count, 0, place, length)
    }

    fn sections(self) -> Vec<Part> {
        let (table, size, count) = if self.wide { (40, 58, 60) } else { (32, 46, 48) };
        let (place, length) = if self.wide { (24, 32) } else { (16, 20) };
        self.parts(table, size, count, 4, place, length)
    }

    fn parts(self, table: usize, size: usize, count: usize, kind: usize, place: usize, length: usize) -> Vec<Part> {
        let (Some(table), Some(size), Some(count)) = (self.place(table), self.u16(size), self.u16(count)) else {
            return Vec::new();
        };
        let part = |number: u16| {
            let at = table.checked_add(usize::from(number).checked_mul(usize::from(size))?)?;
            let field = |offset: usize| self.place(at.checked_add(offset)?);
            Some(Part { kind: self.u32(at.checked_add(kind)?)?, at: field(place)?, size: field(length)? })
        };
        (0..count).map_while(part).collect()
    }

    fn is_pie(self, dynamic: &Part) -> bool {
        let step = if self.wide { 16 } else { 8 };
        let entries = (0..dynamic.size / step).filter_map(|number| dynamic.at.checked_add(number * step));
        entries
            .take(4096)
            .any(|at| self.word(at) == Some(FLAGS_1) && self.word(at + step / 2).is_some_and(|flags| flags & PIE != 0))
    }

    /// Formats the start of the description: class, byte order, file type, architecture, version and system.
    fn head(self, name: &str) -> Option<String> {
        let class = if self.wide { "64-bit" } else { "32-bit" };
        let order = if self.little { "LSB" } else { "MSB" };
        let machine = self.u16(18)?;
        let machine = match MACHINES.iter().find(|(number, _)| *number == machine) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("*unknown arch {machine:#x}*"),
        };
        let version = self.bytes.byte(6).unwrap_or(1);
        let system = match self.bytes.byte(7)? {
            0 => " (SYSV)",
            3 => " (GNU/Linux)",
            9 => " (FreeBSD)",
            _ => "",
        };
        Some(format!("ELF {class} {order} {name}, {machine}, version {version}{system}"))
    }
}

/// Describes an ELF file.
pub(crate) fn find(bytes: Bytes<'_>) -> Detected {
    if !bytes.has(0, b"\x7fELF") || bytes.0.len() < 20 {
        return None;
    }
    let elf = Elf { bytes, wide: bytes.byte(4) == Some(2), little: bytes.byte(5) != Some(2) };
    let segments = elf.segments();
    let interpreter = segments.iter().find(|part| part.kind == INTERPRETER);
    let dynamic = segments.iter().find(|part| part.kind == DYNAMIC);
    let kind = elf.u16(16)?;
    let pie = kind == 3 && dynamic.is_some_and(|dynamic| elf.is_pie(dynamic));
    let (name, mime) = match kind {
        1 => ("relocatable", "application/x-object"),
        2 => ("executable", "application/x-executable"),
        3 if pie => ("pie executable", "application/x-pie-executable"),
        3 => ("shared object", "application/x-sharedlib"),
        4 => ("core file", "application/x-coredump"),
        _ => ("no file type", "application/octet-stream"),
    };
    let mut text = elf.head(name)?;
    match kind {
        2 | 3 if segments.is_empty() => text.push_str(", no program header"),
        2 | 3 if dynamic.is_some() => text.push_str(", dynamically linked"),
        2 | 3 if pie => text.push_str(", static-pie linked"),
        2 | 3 => text.push_str(", statically linked"),
        _ => {}
    }
    if let Some(part) = interpreter {
        text.push_str(&format!(", interpreter {}", bytes.text(part.at)));
    }
    let sections = elf.sections();
    let symbols = sections.iter().any(|part| part.kind == 2);
    if kind != 4 && sections.is_empty() {
        text.push_str(", no section header");
    } else if kind != 4 {
        text.push_str(if symbols { ", not stripped" } else { ", stripped" });
    }
    Some((text, mime))
}
