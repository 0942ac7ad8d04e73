//! Colours from `LS_COLORS`.

use tidebox_rt::{FileKind, Stat};

/// Default colours of `tree`.
const DEFAULT: &str = "fi=00:di=01;34:ln=01;36:pi=40;33:so=01;35:bd=40;33;01:cd=40;33;01:or=40;31;01:ex=01;32:\
    *.bat=01;32:*.btm=01;32:*.cmd=01;32:*.com=01;32:*.dll=01;32:*.exe=01;32:\
    *.arj=01;31:*.bz2=01;31:*.deb=01;31:*.gz=01;31:*.lzh=01;31:*.rpm=01;31:*.tar=01;31:*.taz=01;31:*.tb2=01;31:\
    *.tbz2=01;31:*.tbz=01;31:*.tgz=01;31:*.tz2=01;31:*.z=01;31:*.Z=01;31:*.zip=01;31:*.ZIP=01;31:*.zoo=01;31:\
    *.asf=01;35:*.ASF=01;35:*.avi=01;35:*.AVI=01;35:*.bmp=01;35:*.BMP=01;35:*.flac=01;35:*.FLAC=01;35:*.gif=01;35:\
    *.GIF=01;35:*.jpg=01;35:*.JPG=01;35:*.jpeg=01;35:*.JPEG=01;35:*.m2a=01;35:*.M2a=01;35:*.m2v=01;35:*.M2V=01;35:\
    *.mov=01;35:*.MOV=01;35:*.mp3=01;35:*.MP3=01;35:*.mpeg=01;35:*.MPEG=01;35:*.mpg=01;35:*.MPG=01;35:*.ogg=01;35:\
    *.OGG=01;35:*.ppm=01;35:*.rm=01;35:*.RM=01;35:*.tga=01;35:*.TGA=01;35:*.tif=01;35:*.TIF=01;35:*.wav=01;35:\
    *.WAV=01;35:*.wmv=01;35:*.WMV=01;35:*.xbm=01;35:*.xpm=01;35";

/// Colour of each file type.
#[derive(Debug)]
pub(crate) struct Colors {
    entries: Vec<(String, String)>,
}

impl Colors {
    /// Reads the environment.
    pub(crate) fn load() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let text = variable("TREE_COLORS").or_else(|| variable("LS_COLORS")).unwrap_or_else(|| DEFAULT.to_owned());
        let pair = |entry: &str| entry.split_once('=').map(|(key, color)| (key.to_owned(), color.to_owned()));
        Self { entries: text.split(':').filter_map(pair).collect() }
    }

    fn find(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, color)| color.as_str())
    }

    /// Returns the colour of a file; stat `None` is a dangling link.
    pub(crate) fn of(&self, name: &[u8], stat: Option<&Stat>, orphan: bool) -> Option<&str> {
        let Some(stat) = stat else {
            return self.find("mi").or_else(|| self.find("fi"));
        };
        match stat.kind() {
            FileKind::Dir => self.find("di"),
            FileKind::Symlink if orphan => self.find("or").or_else(|| self.find("ln")),
            FileKind::Symlink => self.find("ln"),
            FileKind::Pipe => self.find("pi"),
            FileKind::Socket => self.find("so"),
            FileKind::CharDevice => self.find("cd"),
            FileKind::BlockDevice => self.find("bd"),
            FileKind::File if stat.mode & 0o111 != 0 && self.find("ex").is_some() => self.find("ex"),
            FileKind::File | FileKind::Unknown => self.of_name(name).or_else(|| self.find("fi")),
        }
    }

    fn of_name(&self, name: &[u8]) -> Option<&str> {
        let fits = |key: &str| key.strip_prefix('*').is_some_and(|end| name.ends_with(end.as_bytes()));
        self.entries.iter().find(|(key, _)| fits(key)).map(|(_, color)| color.as_str())
    }
}
