//! Clone and fetch.

use crate::Test;
use crate::site::Site;

pub(crate) const TESTS: &[Test] = &[
    ("clone_works_with_each_protocol", clone_works_with_each_protocol),
    ("ls_remote_is_that_of_the_repository", ls_remote_is_that_of_the_repository),
    ("an_empty_repository_is_cloned", an_empty_repository_is_cloned),
    ("shallow_clones_deepen", shallow_clones_deepen),
    ("partial_clones_fetch_what_is_missing", partial_clones_fetch_what_is_missing),
    ("fetch_prunes_and_follows_tags", fetch_prunes_and_follows_tags),
    ("a_large_repository_is_streamed", a_large_repository_is_streamed),
    ("a_large_negotiation_is_streamed", a_large_negotiation_is_streamed),
    ("repositories_with_sha256_work", repositories_with_sha256_work),
];

/// Options of Git for protocol 2 and 0, and a mode of the server that has only protocol 0.
const PROTOCOLS: [(&str, &str); 3] = [("2", "git"), ("0", "git"), ("2", "v0")];

fn clone_works_with_each_protocol() {
    let site = Site::new("clone");
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "a.git"), format!("clone-{version}-{mode}"));
        site.server.take_requests();
        let ran = site.git(".", &format!("-c protocol.version={version} clone {url} {to}")).ok();
        assert_eq!(ran.stderr, format!("Cloning into '{to}'...\n"));
        for revision in ["HEAD", "origin/side", "v1"] {
            assert_eq!(site.id(&to, revision), site.id("work", &revision.replace("origin/", "")), "{revision}");
        }
        site.git(&to, "fsck --strict --full").ok();
        assert_eq!(site.git(&to, "status --porcelain").ok().stdout, "");
        let requests = site.server.take_requests();
        let methods: Vec<&str> = requests.iter().map(|request| request.method.as_str()).collect();
        let expected: &[&str] =
            if (version, mode) == ("2", "git") { &["GET", "POST", "POST"] } else { &["GET", "POST"] };
        assert_eq!(methods, expected, "{version} {mode}");
        for request in requests {
            assert_eq!(
                request.headers.contains_key("git-protocol"),
                version == "2" && (mode == "git" || request.method == "GET")
            );
            assert!(request.headers["user-agent"].starts_with("git/"));
            assert!(!request.headers.contains_key("accept-encoding"));
        }
        assert!(
            !std::fs::read_dir(site.dir.join(&to).join(".git"))
                .expect("a list")
                .any(|entry| { entry.expect("an entry").file_name().to_string_lossy().ends_with(".lock") })
        );
    }
}

fn ls_remote_is_that_of_the_repository() {
    let site = Site::new("ls-remote");
    let expected = site.git(".", "ls-remote --symref root/a.git").ok().stdout;
    assert!(expected.contains("ref: refs/heads/main\tHEAD") && expected.contains("refs/tags/v1^{}"));
    for (version, mode) in PROTOCOLS {
        let url = site.url(mode, "a.git");
        let ran = site.git(".", &format!("-c protocol.version={version} ls-remote --symref {url}/")).ok();
        assert_eq!(ran.stdout, expected, "{version} {mode}");
        let ran = site.git(".", &format!("-c protocol.version={version} ls-remote --heads {url} side")).ok();
        assert_eq!(ran.stdout, format!("{}\trefs/heads/side", site.id("work", "side")));
    }
}

fn an_empty_repository_is_cloned() {
    let site = Site::new("empty");
    site.repository("empty.git", &[]);
    for (version, mode) in PROTOCOLS {
        let url = site.url(mode, "empty.git");
        site.git(".", &format!("-c protocol.version={version} clone {url} empty-{version}-{mode}"))
            .ok()
            .prints(&["You appear to have cloned an empty repository."]);
    }
}

fn shallow_clones_deepen() {
    let site = Site::new("shallow");
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "a.git"), format!("shallow-{version}-{mode}"));
        let git = |cwd: &str, words: &str| site.git(cwd, &format!("-c protocol.version={version} {words}")).ok();
        let count = || git(&to, "rev-list --count HEAD").stdout;
        git(".", &format!("clone -q --depth 1 {url} {to}"));
        assert_eq!(count(), "1", "{version} {mode}");
        git(&to, "fetch -q --deepen 1");
        assert_eq!(count(), "2");
        git(&to, "fetch -q --unshallow");
        assert_eq!(count(), "3");
        assert!(!site.dir.join(&to).join(".git/shallow").exists());
        git(&to, "fsck --strict");
        git(&to, "fetch -q --depth 2");
        assert_eq!(count(), "2");
        let excluding = format!("clone -q --shallow-exclude=side --branch main {url} {to}-not");
        git(".", &excluding);
        assert_eq!(git(&format!("{to}-not"), "rev-list --count HEAD").stdout, "1");
        git(".", &format!("clone -q --shallow-since=2001-01-01 {url} {to}-since"));
    }
}

fn partial_clones_fetch_what_is_missing() {
    let site = Site::new("partial");
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "a.git"), format!("partial-{version}-{mode}"));
        let git = |cwd: &str, words: &str| site.git(cwd, &format!("-c protocol.version={version} {words}")).ok();
        git(".", &format!("clone -q --no-checkout --filter=blob:none {url} {to}"));
        let missing = || git(&to, "rev-list --objects --all --missing=print").stdout.matches("\n?").count();
        assert_eq!(missing(), 3, "{version} {mode}");
        git(&to, "checkout -q main");
        assert_eq!(std::fs::read_to_string(site.dir.join(&to).join("two")).expect("a file"), "2\n");
        assert_eq!(missing(), 0);
    }
}

fn fetch_prunes_and_follows_tags() {
    let site = Site::new("fetch");
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "a.git"), format!("fetch-{version}-{mode}"));
        let git = |cwd: &str, words: &str| site.git(cwd, &format!("-c protocol.version={version} {words}")).ok();
        git(".", &format!("clone -q {url} {to}"));
        let branch = format!("new-{version}-{mode}");
        git("work", &format!("checkout -q -b {branch}"));
        site.commit("work", &branch, b"new\n");
        git("work", &format!("tag -a t-{branch} -m t"));
        git("work", &format!("push -q ../root/a.git {branch} t-{branch}"));
        git(&to, "fetch").prints(&[&format!("[new branch]      {branch}"), &format!("[new tag]         t-{branch}")]);
        assert_eq!(site.id(&to, &format!("origin/{branch}")), site.id("work", &branch));
        assert_eq!(git(&to, "fetch").stderr, "");
        git("work", &format!("push -q ../root/a.git :{branch}"));
        git(&to, "fetch --prune").prints(&["[deleted]"]);
        assert!(!site.has(&to, &format!("origin/{branch}")));
        git("work", "checkout -q main");
        site.commit("work", &format!("more-{branch}"), b"more\n");
        git("work", "push -q ../root/a.git main");
        git(&to, "pull -q --ff-only");
        assert_eq!(site.id(&to, "HEAD"), site.id("work", "main"));
        assert!(git(&to, "fetch -v").stderr.contains("= [up to date]"));
    }
}

/// Bytes that cannot be compressed.
pub(crate) fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes
}

fn a_large_repository_is_streamed() {
    let site = Site::new("large");
    site.commit("work", "large", &noise(8 << 20));
    site.git("work", "push -q ../root/a.git main").ok();
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "a.git"), format!("large-{version}-{mode}"));
        site.git(".", &format!("-c protocol.version={version} clone -q {url} {to}")).ok();
        assert_eq!(site.id(&to, "HEAD:large"), site.id("work", "HEAD:large"));
        site.git(&to, "fsck").ok();
    }
}

/// A request for thousands of objects is larger than what is kept in memory.
fn a_large_negotiation_is_streamed() {
    const COUNT: usize = 22_000;
    let site = Site::new("negotiation");
    site.repository("b.git", &[]);
    let mut stream = String::new();
    for n in 1..=COUNT {
        stream.push_str(&format!(
            "commit refs/heads/x\nmark :{n}\ncommitter A <a@b> {n} +0000\ndata 0\nfrom {}\n",
            "0".repeat(40)
        ));
    }
    std::fs::write(site.dir.join("stream"), stream).expect("a file is written");
    let import = format!(
        "git -C {0}/root/b.git fast-import --force --quiet --export-marks=marks < {0}/stream",
        site.dir.display()
    );
    assert!(std::process::Command::new("sh").args(["-c", &import]).status().expect("a shell").success());
    let marks = std::fs::read_to_string(site.dir.join("root/b.git/marks")).expect("marks");
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for (n, line) in marks.lines().enumerate() {
        packed.push_str(&format!("{} refs/heads/b{n:05}\n", line.split(' ').nth(1).expect("an object id")));
    }
    std::fs::write(site.dir.join("root/b.git/packed-refs"), packed).expect("a file is written");
    for (version, mode) in PROTOCOLS {
        let (url, to) = (site.url(mode, "b.git"), format!("many-{version}-{mode}"));
        site.server.take_requests();
        site.git(".", &format!("-c protocol.version={version} clone -q --bare {url} {to}")).ok();
        assert_eq!(site.git(&to, "for-each-ref --format=%(objectname)").stdout.lines().count(), COUNT + 1);
        let requests = site.server.take_requests();
        assert!(requests.iter().any(|request| request.headers.contains_key("transfer-encoding")), "{requests:?}");
    }
}

fn repositories_with_sha256_work() {
    let site = Site::new("sha256");
    site.repository("c.git", &["--object-format=sha256"]);
    site.git(".", "init -q -b main --object-format=sha256 other").ok();
    site.commit("other", "f", b"f\n");
    for (version, mode) in PROTOCOLS {
        let url = site.url(mode, "c.git");
        site.git("other", &format!("-c protocol.version={version} push -q {url} main")).ok();
        site.git(".", &format!("-c protocol.version={version} clone -q {url} sha256-{version}-{mode}")).ok();
        assert_eq!(site.id(&format!("sha256-{version}-{mode}"), "HEAD").len(), 64);
    }
}
