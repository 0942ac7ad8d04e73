//! Owners on the command line.

use tidebox_gnu::message::quote_value;
use tidebox_gnu::user::{Kind, Names};

/// Requested owner. `None` keeps the current user or group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: Option<u32>,
    pub(crate) group: Option<u32>,
}

fn id(kind: Kind, text: &str) -> Option<u32> {
    Names::load(kind).id(text.strip_prefix('+').unwrap_or(text))
}

/// Parses `[USER][:[GROUP]]`. An error is a message. Returns a warning if the separator is a dot.
pub(crate) fn parse(spec: &[u8]) -> Result<(Owner, Option<String>), String> {
    let text = String::from_utf8_lossy(spec).into_owned();
    let (user, group) = match text.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (text.as_str(), None),
    };
    match parse_parts(user, group, spec) {
        Ok(owner) => Ok((owner, None)),
        Err(message) => {
            // The dot is a separator only if the text is not a user name.
            let Some((user, group)) = text.split_once('.').filter(|_| group.is_none()) else {
                return Err(message);
            };
            let owner = parse_parts(user, Some(group), spec).map_err(|_| message)?;
            Ok((owner, Some(format!("warning: '.' should be ':': {}", quote_value(spec)))))
        }
    }
}

fn parse_parts(user: &str, group: Option<&str>, spec: &[u8]) -> Result<Owner, String> {
    let mut owner = Owner::default();
    if !user.is_empty() {
        owner.user = Some(id(Kind::User, user).ok_or_else(|| format!("invalid user: {}", quote_value(spec)))?);
    }
    match group {
        None => {}
        // `USER:` selects the user's own group, which has the same number here. It requires a name.
        Some("")
            if !user.is_empty() && user.strip_prefix('+').unwrap_or(user).bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            return Err(format!("invalid spec: {}", quote_value(spec)));
        }
        Some("") => owner.group = owner.user,
        Some(group) => {
            owner.group = Some(id(Kind::Group, group).ok_or_else(|| format!("invalid group: {}", quote_value(spec)))?);
        }
    }
    Ok(owner)
}

/// Parses a group.
pub(crate) fn group(spec: &[u8]) -> Result<Owner, String> {
    if spec.is_empty() {
        return Ok(Owner::default());
    }
    let text = String::from_utf8_lossy(spec).into_owned();
    let group = id(Kind::Group, &text).ok_or_else(|| format!("invalid group: {}", quote_value(spec)))?;
    Ok(Owner { user: None, group: Some(group) })
}

impl Owner {
    /// Returns whether the caller may set this owner. Only root may give files away, and no process runs as root.
    pub(crate) fn is_allowed(&self, stat: &tidebox_rt::Stat) -> bool {
        let ids = tidebox_rt::getids().unwrap_or_default();
        let keeps = self.user.is_none_or(|user| user == stat.uid) && self.group.is_none_or(|group| group == stat.gid);
        if self.user.is_none() && self.group.is_none() {
            return true;
        }
        keeps && ids.uid == stat.uid
    }
}
