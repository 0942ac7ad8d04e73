/**
 * Where the programs of the package are, by file. `cargo xtask npm` writes the module, with an address for each file that a
 * bundler can see: what it does not see it would not take along.
 */
declare const files: Readonly<Record<string, URL>>;

export default files;
