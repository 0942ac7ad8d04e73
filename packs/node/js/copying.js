'use strict';
// The parts of `fs.cpSync` that Node has in C++.
const errors = () => state.require('internal/errors').codes;
function fail(name, errno, code, path, message) {
  throw new (errors()[name])({ message, path, syscall: 'cp', errno, code });
}
const isInside = (folder, path) => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
const isSame = (one, other) => one.ino === other.ino && one.dev === other.dev;
/** Throws if a copy would destroy its source, or if the kinds of source and destination differ. Creates the directory of the destination. */
function checkPaths(src, dest, dereference, recursive) {
  const fs = state.require('fs');
  const path = state.require('path');
  const { EINVAL, EISDIR, ENOTDIR } = state.bindingOf('constants').os.errno;
  const stat = dereference ? fs.statSync : fs.lstatSync;
  const from = stat(src, { bigint: true });
  const to = stat(dest, { bigint: true, throwIfNoEntry: false });
  if (to) {
    if (isSame(from, to)) fail('ERR_FS_CP_EINVAL', EINVAL, 'EINVAL', dest, 'src and dest cannot be the same');
    if (from.isDirectory() && !to.isDirectory()) fail('ERR_FS_CP_DIR_TO_NON_DIR', EISDIR, 'EISDIR', dest, `cannot overwrite non-directory ${dest} with directory ${src}`);
    if (!from.isDirectory() && to.isDirectory()) fail('ERR_FS_CP_NON_DIR_TO_DIR', ENOTDIR, 'ENOTDIR', dest, `cannot overwrite directory ${dest} with non-directory ${src}`);
  }
  if (from.isDirectory() && !recursive) fail('ERR_FS_EISDIR', EISDIR, 'EISDIR', src, `Recursive option not enabled, cannot copy a directory: ${src}`);
  const within = () => fail('ERR_FS_CP_EINVAL', EINVAL, 'EINVAL', dest, `cannot copy ${src} to a subdirectory of self ${dest}`);
  if (from.isDirectory() && isInside(path.resolve(src), path.resolve(dest))) within();
  for (let parent = path.dirname(path.resolve(dest)); from.isDirectory() && parent !== path.dirname(parent); parent = path.dirname(parent)) {
    const found = fs.statSync(parent, { bigint: true, throwIfNoEntry: false });
    if (found && isSame(from, found)) within();
  }
  if (from.isSocket()) fail('ERR_FS_CP_SOCKET', EINVAL, 'EINVAL', dest, `cannot copy a socket file: ${dest}`);
  if (from.isFIFO()) fail('ERR_FS_CP_FIFO_PIPE', EINVAL, 'EINVAL', dest, `cannot copy a FIFO pipe: ${dest}`);
  fs.mkdirSync(path.dirname(path.resolve(dest)), { recursive: true });
}
function override(src, dest, mode, preserveTimestamps) {
  const fs = state.require('fs');
  fs.unlinkSync(dest);
  fs.copyFileSync(src, dest, mode);
  if (!preserveTimestamps) return;
  const { atime, mtime } = fs.statSync(src);
  fs.utimesSync(dest, atime, mtime);
}
/** Copies a link. One that exists is replaced, unless that would destroy what it leads to. */
function copyLink(src, dest) {
  const fs = state.require('fs');
  const path = state.require('path');
  const target = path.resolve(path.dirname(src), fs.readlinkSync(src));
  const isFolder = (name) => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
  const old = fs.lstatSync(dest, { throwIfNoEntry: false });
  if (old?.isSymbolicLink()) {
    const { EINVAL } = state.bindingOf('constants').os.errno;
    const current = path.resolve(path.dirname(dest), fs.readlinkSync(dest));
    if (isFolder(target) && isInside(target, current)) fail('ERR_FS_CP_EINVAL', EINVAL, 'EINVAL', dest, `cannot copy ${target} to a subdirectory of self ${current}`);
    if (isFolder(dest) && isInside(current, target)) fail('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', EINVAL, 'EINVAL', dest, `cannot overwrite ${current} with ${target}`);
    fs.unlinkSync(dest);
  }
  fs.symlinkSync(target, dest);
}
function copyFile(src, dest, { force, errorOnExist, preserveTimestamps }) {
  const fs = state.require('fs');
  if (fs.existsSync(dest)) {
    const { EEXIST } = state.bindingOf('constants').os.errno;
    if (!force && errorOnExist) fail('ERR_FS_CP_EEXIST', EEXIST, 'EEXIST', dest, `${dest} already exists`);
    if (!force) return;
    override(src, dest, 0, preserveTimestamps);
    return;
  }
  fs.copyFileSync(src, dest);
  if (preserveTimestamps) { const { atime, mtime } = fs.statSync(src); fs.utimesSync(dest, atime, mtime); }
}
function copyTree(src, dest, options) {
  const fs = state.require('fs');
  const path = state.require('path');
  fs.mkdirSync(dest, { recursive: true });
  const names = fs.readdirSync(src);
  for (let at = 0; at < names.length; at++) {
    const [from, to] = [path.join(src, names[at]), path.join(dest, names[at])];
    const stat = options.dereference ? fs.statSync(from) : fs.lstatSync(from);
    if (stat.isDirectory()) copyTree(from, to, options);
    else if (!stat.isSymbolicLink()) copyFile(from, to, options);
    else if (options.verbatimSymlinks) fs.symlinkSync(fs.readlinkSync(from), to);
    else copyLink(from, to);
  }
}
function copyDir(src, dest, force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps) {
  copyTree(src, dest, { force, dereference, errorOnExist, verbatimSymlinks, preserveTimestamps });
}
state.copying = { cpSyncCheckPaths: checkPaths, cpSyncOverrideFile: override, cpSyncCopyDir: copyDir };
