//! Which files a search for lines looks into.

use super::super::capabilities::Need::{self, Execute, Symlinks};
use super::super::case::{Case, cases};
use super::super::fault::{Verdict, same, text};
use super::super::ground::{Ground, refused};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::search::GrepRequest;

const SKIPS_GIT: Need = Need::Dialect(Dialect::grep_skips_git, "looks into .git");
const TAKES_GIT: Need = Need::Dialect(|dialect| !dialect.grep_skips_git(), "passes over .git");

pub(in super::super) const CASES: &[Case] = cases![
    "grep: directories are searched at any depth" [] nested;
    "grep: a single file is searched" [] one_file;
    "grep: a filter without a slash is for names at any depth" [] filter_by_name;
    "grep: a filter with a slash is for paths below the directory" [] filter_by_path;
    "grep: a filter may have braces and classes" [] filter_shapes;
    "grep: files with a leading dot are searched" [] hidden;
    "grep: .git is passed over" [SKIPS_GIT] git_skipped;
    "grep: .git is searched" [TAKES_GIT] git_searched;
    "grep: .gitignore is not heeded" [] gitignore;
    "grep: binary files are passed over" [] binary;
    "grep: links are not followed while searching" [Symlinks, Execute] links;
    "grep: a place that is not there is an error and not an empty list" [] missing;
];

/// The names of the files in which `needle` is found.
async fn files(ground: &Ground<'_>, below: &str, filter: Option<&str>) -> Verdict<Vec<String>> {
    let path = if below.is_empty() { ground.dir.clone() } else { ground.path(below)? };
    let mut request = GrepRequest::new("needle", path);
    request.glob = filter.map(|filter| filter.as_bytes().to_vec());
    let response = ground.backend.grep(request).await??;
    same("truncated", &response.truncated, &None)?;
    let base = ground.full("");
    let name = |path: &[u8]| path.strip_prefix(base.as_slice()).map_or_else(|| text(path), text);
    Ok(response.matches.iter().map(|found| name(&found.path)).collect())
}

async fn finds(ground: &Ground<'_>, filter: Option<&str>, expected: &[&str]) -> Verdict {
    same(&format!("files with {filter:?}"), &files(ground, "", filter).await?, &expected)
}

async fn nested(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "d/b", "d/e/c"], "needle\n").await?;
    finds(ground, None, &["a", "d/b", "d/e/c"]).await?;
    same("files below d", &files(ground, "d", None).await?, &["d/b", "d/e/c"])
}

async fn one_file(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "b"], "needle\n").await?;
    same("files", &files(ground, "b", None).await?, &["b"])
}

async fn filter_by_name(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "a.txt", "d/b.py", "d/e/c.py", "py"], "needle\n").await?;
    finds(ground, Some("*.py"), &["a.py", "d/b.py", "d/e/c.py"]).await?;
    finds(ground, Some("b.*"), &["d/b.py"]).await
}

async fn filter_by_path(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "src/b.py", "src/d/c.py", "lib/src/d.py"], "needle\n").await?;
    finds(ground, Some("src/**/*.py"), &["src/b.py", "src/d/c.py"]).await?;
    finds(ground, Some("src/*.py"), &["src/b.py"]).await?;
    finds(ground, Some("/*.py"), &["a.py"]).await
}

async fn filter_shapes(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a1.ts", "a2.tsx", "a3.js", "b1.ts"], "needle\n").await?;
    finds(ground, Some("*.{ts,tsx}"), &["a1.ts", "a2.tsx", "b1.ts"]).await?;
    finds(ground, Some("a[1-2].*"), &["a1.ts", "a2.tsx"]).await?;
    finds(ground, Some("a?.js"), &["a3.js"]).await
}

async fn hidden(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".env", ".config/a"], "needle\n").await?;
    finds(ground, None, &[".config/a", ".env"]).await
}

async fn git_skipped(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".git/config", "d/.git/config", "a", ".github/b"], "needle\n").await?;
    finds(ground, None, &[".github/b", "a"]).await?;
    same("files of .git itself", &files(ground, ".git", None).await?, &[".git/config"])
}

async fn git_searched(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".git/config", "a"], "needle\n").await?;
    finds(ground, None, &[".git/config", "a"]).await
}

async fn gitignore(ground: &Ground<'_>) -> Verdict {
    ground.put(".gitignore", "*.log\nbuild/\n").await?;
    ground.put_names(&["a.log", "build/b"], "needle\n").await?;
    finds(ground, None, &["a.log", "build/b"]).await
}

async fn binary(ground: &Ground<'_>) -> Verdict {
    ground.put("a.bin", b"needle\0\x01\x02\n".as_slice()).await?;
    ground.put("a.txt", "needle\n").await?;
    finds(ground, None, &["a.txt"]).await
}

async fn links(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "needle\n").await?;
    ground.output("ln -s .. d/up; ln -s a d/b").await?;
    finds(ground, None, &["d/a"]).await
}

async fn missing(ground: &Ground<'_>) -> Verdict {
    let error = refused("grep", ground.backend.grep(GrepRequest::new("x", ground.path("nowhere")?)).await)?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)
}
