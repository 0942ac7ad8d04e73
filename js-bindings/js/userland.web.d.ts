/**
 * URLs of the programs of the package by file name. `cargo xtask npm` writes the module, with one URL per file that bundlers can
 * detect: bundlers omit files that they do not detect.
 */
declare const files: Readonly<Record<string, URL>>;

export default files;
