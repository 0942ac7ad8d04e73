//! Owners as the command line names them.

use tidebox_gnu::user::{Kind, Names};

use crate::common::curly;

/// Who a file is to belong to. What is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: Option<u32>,
    pub(crate) group: Option<u32>,
}

fn id(kind: Kind, text: &str) -> Option<u32> {
    Names::load(kind).id(text.strip_prefix('+').unwrap_or(text))
}

/// Reads `[USER][:[GROUP]]`. An error is a message. A warning is told when a dot stands where a colon should.
pub(crate) fn parse(word: &[u8]) -> Result<(Owner, Option<String>), String> {
    let text = String::from_utf8_lossy(word).into_owned();
    let (user, group) = match text.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (text.as_str(), None),
    };
    match read(user, group, word) {
        Ok(owner) => Ok((owner, None)),
        Err(message) => {
            // The old separator is taken when the word makes no sense otherwise.
            let Some((user, group)) = text.split_once('.').filter(|_| group.is_none()) else {
                return Err(message);
            };
            let owner = read(user, Some(group), word).map_err(|_| message)?;
            Ok((owner, Some(format!("warning: '.' should be ':': {}", curly(word)))))
        }
    }
}

fn read(user: &str, group: Option<&str>, word: &[u8]) -> Result<Owner, String> {
    let mut owner = Owner::default();
    if !user.is_empty() {
        owner.user = Some(id(Kind::User, user).ok_or_else(|| format!("invalid user: {}", curly(word)))?);
    }
    match group {
        None => {}
        // A colon alone behind a user stands for the user's own group, which has the same number here. A number has none.
        Some("")
            if !user.is_empty() && user.strip_prefix('+').unwrap_or(user).bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            return Err(format!("invalid spec: {}", curly(word)));
        }
        Some("") => owner.group = owner.user,
        Some(group) => {
            owner.group = Some(id(Kind::Group, group).ok_or_else(|| format!("invalid group: {}", curly(word)))?);
        }
    }
    Ok(owner)
}

/// Reads a group alone.
pub(crate) fn group(word: &[u8]) -> Result<Owner, String> {
    if word.is_empty() {
        return Ok(Owner::default());
    }
    let text = String::from_utf8_lossy(word).into_owned();
    let group = id(Kind::Group, &text).ok_or_else(|| format!("invalid group: {}", curly(word)))?;
    Ok(Owner { user: None, group: Some(group) })
}

impl Owner {
    /// Whether the caller may do this to a file: nobody but root gives files away, and there is no root.
    pub(crate) fn is_allowed(&self, stat: &tidebox_rt::Stat) -> bool {
        let ids = tidebox_rt::getids().unwrap_or_default();
        let keeps = self.user.is_none_or(|user| user == stat.uid) && self.group.is_none_or(|group| group == stat.gid);
        if self.user.is_none() && self.group.is_none() {
            return true;
        }
        keeps && ids.uid == stat.uid
    }
}
