// A session with Git, for Node, Deno and pages. `assert` is that of Node or of the page.

/** Creates a repository and commits to it. With `jspi`, clones it and pushes to a bare one; without, these fail with the reason. */
export async function gitSession(sandbox, assert, jspi = true) {
  const run = async (command, expected) => {
    const { output, exitCode } = await sandbox.execute(command);
    assert.deepEqual([output, exitCode], [expected, 0], command);
  };
  await run("git --version", "git version 2.39.5\n");
  await run("git init -q one && cd one && echo first > a.txt && git add a.txt && git commit -qm 'first commit' && git log --format=%s", "first commit\n");
  await run("cd one && echo second >> a.txt && git diff --stat | tail -1", " 1 file changed, 1 insertion(+)\n");
  await run("cd one && git commit -qam second && git log --format='%an %s'", "Tidebox second\nTidebox first commit\n");
  if (!jspi) {
    const { output } = await sandbox.execute("git clone -q one two");
    assert.deepEqual(/git-upload-pack: cannot wait: .* \(JSPI\)/.test(output), true, output);
    return;
  }
  await run("git clone -q one two && cat two/a.txt && git -C two log --oneline | wc -l", "first\nsecond\n2\n");
  await run("git clone -q --bare one bare.git && cd two && git remote set-url origin ../bare.git && git checkout -qb topic && echo x > b.txt && git add . && git commit -qm third && git push -q origin topic && git -C ../bare.git branch --format='%(refname:short)'", "main\ntopic\n");
  await run("cd two && git status --short && git fsck 2>&1 | grep -v '^Checking' ; git stash list", "");
}
