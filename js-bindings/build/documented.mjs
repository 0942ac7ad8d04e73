// Checks that every public member of the package's types has a sentence of documentation: `node documented.mjs`.
//
// The entries are the types that package.json exports. Checked are their exports, the types of this package that these mention,
// and all methods, properties and fields of both. Private members and what `stripInternal` removes are not public.
//
// The interface of the compiler is called unstable; package.json pins its version.

import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, SymbolFlags } from "typescript/unstable/sync";

const root = join(import.meta.dirname, "..");
const types = join(root, "types");
const entries = Object.values(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports)
  .filter((entry) => entry.types !== undefined)
  .map((entry) => join(types, basename(entry.types)));

/** There are more; fewer mean that the walk no longer finds the declarations. */
const AT_LEAST = 300;

const MEMBERS = new Set([
  SyntaxKind.CallSignature,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.IndexSignature,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.PropertySignature,
  SyntaxKind.SetAccessor,
]);

const api = new API({ cwd: root });
const [project] = api.updateSnapshot({ openProjects: [join(root, "build/documented.json")] }).getProjects();
const { checker, program } = project;

const undocumented = [];
const seen = new Set();
let checked = 0;

/** The declaration behind an import or export of another file. */
const target = (symbol) => (symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

/** True for a comment that has at least one sentence before its tags. */
function hasSentence(node) {
  const text = node.jsDoc?.at(-1)?.comment?.map((part) => part.text ?? "link").join("") ?? "";
  return /[.:]$/m.test(text.trim());
}

function isPrivate(node) {
  const isPrivateName = node.name?.kind === SyntaxKind.PrivateIdentifier;
  return isPrivateName || (node.modifiers ?? []).some((modifier) => modifier.kind === SyntaxKind.PrivateKeyword);
}

function check(node, path) {
  checked += 1;
  if (!hasSentence(node)) {
    const file = node.getSourceFile();
    const line = file.text.slice(0, node.getStart(file)).split("\n").length;
    undocumented.push(`${relative(root, file.fileName)}:${line}: ${path}`);
  }
}

/** Checks a declaration, and the types of this package that it mentions. */
function visit(symbol) {
  const found = target(symbol);
  if (seen.has(found.id)) return;
  seen.add(found.id);
  for (const handle of found.declarations ?? []) {
    const node = handle.resolve();
    if (node === undefined || !node.getSourceFile().fileName.startsWith(types)) continue;
    if (node.kind === SyntaxKind.TypeParameter) continue;
    // The comment of a variable belongs to its statement.
    const documented = node.kind === SyntaxKind.VariableDeclaration ? node.parent.parent : node;
    check(documented, found.name);
    walk(node, found.name);
  }
}

function walk(node, path) {
  node.forEachChild((child) => {
    let name = path;
    if (MEMBERS.has(child.kind)) {
      if (isPrivate(child)) return;
      name = `${path}.${child.name?.text ?? SyntaxKind[child.kind]}`;
      check(child, name);
    }
    if (child.kind === SyntaxKind.Identifier) {
      const mentioned = checker.getSymbolAtLocation(child);
      if (mentioned !== undefined && target(mentioned).flags & (SymbolFlags.Type | SymbolFlags.Value)) visitMentioned(mentioned);
    }
    walk(child, name);
  });
}

/** A mentioned type counts, not the names of members and parameters. */
function visitMentioned(symbol) {
  const { flags } = target(symbol);
  const isType = SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias | SymbolFlags.Enum;
  if (flags & isType) visit(symbol);
}

for (const entry of entries) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry));
  for (const symbol of checker.getExportsOfModule(module)) visit(symbol);
}
api.close();

if (checked < AT_LEAST) {
  console.error(`only ${checked} declarations and members were found; check the entries in package.json`);
  process.exit(1);
}
if (undocumented.length > 0) {
  console.error(`without a sentence of documentation:\n${undocumented.join("\n")}`);
  process.exit(1);
}
console.log(`${checked} public declarations and members have documentation`);
