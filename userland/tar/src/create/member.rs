//! Member metadata.

use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{FileKind, Stat};

use super::{Dump, DumpResult};
use crate::header::{Format, Member};
use crate::message::{Fatal, error};
use crate::names::{self, time};
use crate::pax;
use crate::quote::escaped;
use crate::transform::Of;

impl<'a> Dump<'a> {
    /// Creates the header of a file; `None` if its name becomes empty.
    pub(super) fn member(&mut self, name: &[u8], stat: &Stat) -> Option<Member> {
        let safe = self.naming.safe_name(name, self.options, false);
        let mut stored = safe.to_vec();
        if stat.kind() == FileKind::Dir && !stored.ends_with(b"/") {
            stored.push(b'/');
        }
        let stored = names::transformed(&stored, Of::Member, self.options)?;
        let options = self.options;
        let mut uid = u64::from(stat.uid);
        let mut gid = u64::from(stat.gid);
        let mut uname = None;
        let mut gname = None;
        if let Some(owner) = &options.owner {
            let known = owner.name.as_ref().and_then(|name| self.users().id_of(name));
            uid = owner.id.or(known).unwrap_or(uid);
            uname.clone_from(&owner.name);
        }
        if let Some(group) = &options.group {
            let known = group.name.as_ref().and_then(|name| self.groups().id_of(name));
            gid = group.id.or(known).unwrap_or(gid);
            gname.clone_from(&group.name);
        }
        let numeric = options.numeric;
        let uname =
            uname.filter(|_| !numeric).unwrap_or_else(|| if numeric { Vec::new() } else { self.users().name_of(uid) });
        let gname =
            gname.filter(|_| !numeric).unwrap_or_else(|| if numeric { Vec::new() } else { self.groups().name_of(gid) });
        let mut mode = stat.mode & 0o7777;
        if let Some(change) = &options.file_mode {
            mode = change.apply(mode, stat.kind() == FileKind::Dir, tidebox_rt::umask(None).unwrap_or(0o022));
        }
        let real = time(stat.mtime_ns);
        let mtime = match options.mtime {
            Some((asked, clamps)) if !clamps || real > asked => asked,
            _ => real,
        };
        Some(Member {
            name: stored,
            kind: if stat.kind() == FileKind::Dir { b'5' } else { b'0' },
            mode,
            uid,
            gid,
            uname,
            gname,
            stored: if stat.kind() == FileKind::File { stat.size } else { 0 },
            size: if stat.kind() == FileKind::File { stat.size } else { 0 },
            mtime,
            ..Member::default()
        })
    }

    /// Returns whether the archive has the current version of a file.
    pub(super) fn is_present(&self, member: &Member, stat: &Stat) -> bool {
        self.present.get(&member.name).is_some_and(|there| !names::is_newer(time(stat.mtime_ns), *there))
    }

    pub(super) fn users(&mut self) -> &Names {
        self.users.get_or_insert_with(|| Names::load(Kind::User))
    }

    pub(super) fn groups(&mut self) -> &Names {
        self.groups.get_or_insert_with(|| Names::load(Kind::Group))
    }

    /// Adds a further hard link of a file as a link to the first one.
    pub(super) fn is_link(&mut self, name: &[u8], member: &mut Member, stat: &Stat) -> Result<bool, Fatal> {
        let key = (stat.dev, stat.ino);
        if let Some(first) = self.links.get(&key).cloned() {
            member.kind = b'1';
            member.link = names::transformed(&first, Of::HardLink, self.options).unwrap_or(first);
            (member.stored, member.size) = (0, 0);
            self.header(name, member, stat)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes a header and its verbose line; `false` if the format cannot store its names.
    pub(super) fn header(&mut self, name: &[u8], member: &Member, stat: &Stat) -> Result<bool, Fatal> {
        if let Some(unfit) = self.writer.unfit(member) {
            let unfit = unfit.to_vec();
            let of_link = unfit == member.link && unfit != member.name;
            let reason: &[u8] = if of_link {
                b": link name is too long; not dumped"
            } else if unfit.len() > 256 {
                b": file name is too long (max 256); not dumped"
            } else {
                b": file name is too long (cannot be split); not dumped"
            };
            error(&[&escaped(&unfit, true), reason]);
            // As in GNU tar, a link is added anyway, with its target truncated.
            if !of_link {
                return Ok(false);
            }
        }
        let mut extra = Vec::new();
        if self.writer.format == Format::Pax {
            let keeps = |key: &str| {
                !self.options.pax.deletes.iter().any(|pattern| {
                    tidebox_gnu::glob::matches(pattern.as_bytes(), key.as_bytes(), tidebox_gnu::glob::Flags::default())
                })
            };
            if member.mtime.1 != 0 && keeps("mtime") {
                extra.push(("mtime", pax::write_time(member.mtime).into_bytes()));
            }
            if keeps("atime") {
                extra.push(("atime", pax::write_time(time(stat.atime_ns)).into_bytes()));
            }
            if keeps("ctime") {
                extra.push(("ctime", pax::write_time(time(stat.ctime_ns)).into_bytes()));
            }
        }
        self.put_in(|writer| writer.header(member, &extra))?;
        if self.options.verbose > 0 {
            self.list(name, member)?;
        }
        Ok(true)
    }

    fn list(&mut self, name: &[u8], member: &Member) -> DumpResult {
        let long = self.options.verbose > 1;
        let mut shown = member.clone();
        if !self.options.show_transformed {
            shown.name = name.to_vec();
            if member.is_dir() && !shown.name.ends_with(b"/") {
                shown.name.push(b'/');
            }
        }
        self.lines.member(&shown, long, self.options)
    }
}

/// Names of users and groups as bytes.
trait Ids {
    fn name_of(&self, id: u64) -> Vec<u8>;
    fn id_of(&self, name: &[u8]) -> Option<u64>;
}

impl Ids for Names {
    fn name_of(&self, id: u64) -> Vec<u8> {
        u32::try_from(id).ok().and_then(|id| self.name(id)).map(|name| name.as_bytes().to_vec()).unwrap_or_default()
    }

    fn id_of(&self, name: &[u8]) -> Option<u64> {
        let name = std::str::from_utf8(name).ok()?;
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.id(name).map(u64::from)
    }
}
