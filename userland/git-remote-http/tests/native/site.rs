//! Repositories, a server for them, and the real Git with this helper.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::gateway;
use crate::git_server::GitServer;

/// A directory with the repositories of one test.
pub(crate) struct Site {
    pub(crate) dir: PathBuf,
    pub(crate) server: GitServer,
    exec_path: PathBuf,
    /// Further variables of Git.
    env: Vec<(String, String)>,
}

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// Checks the exit code and that standard error contains these texts.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, texts: &[&str]) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self.prints(texts)
    }

    #[track_caller]
    pub(crate) fn prints(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is missing in {self:#?}");
        }
        self
    }
}

/// The Git of the tests: the one of Debian rather than another that comes first in `PATH`.
fn program() -> &'static str {
    if Path::new("/usr/bin/git").exists() { "/usr/bin/git" } else { "git" }
}

impl Site {
    /// Creates `root/a.git` with three commits, a tag and a branch, on a server.
    pub(crate) fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("root")).expect("a directory is created");
        let exec_path = exec_path(&dir);
        let server = GitServer::start(&dir.join("root"));
        let site = Self { dir, server, exec_path, env: Vec::new() };
        site.repository("a.git", &[]);
        site.git(".", "init -q -b main work").ok();
        for (file, text) in [("one", "1\n"), ("two", "2\n"), ("three", "3\n")] {
            site.commit("work", file, text.as_bytes());
        }
        site.git("work", "tag -a v1 -m v1 HEAD~1").ok();
        site.git("work", "branch side HEAD~1").ok();
        site.git("work", "push -q ../root/a.git main side v1").ok();
        site
    }

    /// Creates an empty repository on the server.
    pub(crate) fn repository(&self, name: &str, options: &[&str]) {
        let path = format!("root/{name}");
        let init = [&["init", "-q", "--bare", "-b", "main"], options, &[&path]].concat();
        self.run(".", &init).ok();
        for setting in [
            "http.receivepack=true",
            "uploadpack.allowFilter=true",
            "uploadpack.allowAnySHA1InWant=true",
            "receive.advertisePushOptions=true",
            "receive.denyDeleteCurrent=ignore",
        ] {
            let (key, value) = setting.split_once('=').expect("a setting");
            self.run(&path, &["config", key, value]).ok();
        }
    }

    pub(crate) fn commit(&self, work: &str, file: &str, content: &[u8]) {
        std::fs::write(self.dir.join(work).join(file), content).expect("a file is written");
        self.run(work, &["add", file]).ok();
        self.run(work, &["commit", "-q", "-m", file]).ok();
    }

    /// URL of a repository with this behavior of the server.
    pub(crate) fn url(&self, mode: &str, repository: &str) -> String {
        format!("http://127.0.0.1:{}/{mode}/{repository}", self.server.port)
    }

    pub(crate) fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs Git with arguments that contain no blanks.
    pub(crate) fn git(&self, cwd: &str, words: &str) -> Ran {
        self.run(cwd, &words.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run(&self, cwd: &str, words: &[&str]) -> Ran {
        let helper = std::env::current_exe().expect("this program has a path");
        let output = Command::new(program())
            .args(words)
            .current_dir(self.dir.join(cwd))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.dir)
            .env("GIT_EXEC_PATH", &self.exec_path)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .env("TIDEBOX_HTTP_COMMAND", helper)
            .env(gateway::MODE, "open")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .expect("Git runs");
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).trim_end().to_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Object id of a revision.
    #[track_caller]
    pub(crate) fn id(&self, repository: &str, revision: &str) -> String {
        self.run(repository, &["rev-parse", "--verify", revision]).ok().stdout
    }

    /// Returns whether a revision exists.
    pub(crate) fn has(&self, repository: &str, revision: &str) -> bool {
        self.run(repository, &["rev-parse", "-q", "--verify", revision]).code == 0
    }
}

/// Creates a directory with the programs of Git, with this program as the remote helpers.
fn exec_path(dir: &Path) -> PathBuf {
    let from =
        Command::new(program()).arg("--exec-path").output().expect("the tests need Git with git-http-backend").stdout;
    let from = PathBuf::from(String::from_utf8(from).expect("a path").trim_end());
    let to = dir.join("exec");
    std::fs::create_dir(&to).expect("a directory is created");
    for entry in std::fs::read_dir(&from).expect("Git has programs") {
        let name = entry.expect("an entry").file_name();
        if !name.to_string_lossy().starts_with("git-remote-") {
            std::os::unix::fs::symlink(from.join(&name), to.join(&name)).expect("a link is created");
        }
    }
    for name in ["git-remote-http", "git-remote-https"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-remote-http"), to.join(name)).expect("a link is created");
    }
    to
}
