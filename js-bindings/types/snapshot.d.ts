/** Snapshots: what a sandbox is at one moment. */
/**
 * The files of a sandbox and the state of its shell session at one moment, as the bytes of one compact file.
 *
 * Immutable, and independent of the sandbox that it came from: keep the bytes anywhere, send them to another program, begin
 * any number of sandboxes with them. Programs, tools and what lies in mounts are not in it; processes are not either.
 */
export declare class Snapshot {
    /** The compact file. Its digest finds damage, not forgery; reading forged ones is safe all the same. */
    readonly bytes: Uint8Array;
    /** Bytes of all files that the sandbox wrote, as {@link Limits.fileBytes} counts them; absent for one from bytes. */
    readonly fileBytes?: number;
    /** Files, folders and links, as {@link Limits.inodes} counts them; absent for one from bytes. */
    readonly inodes?: number;
    /**
     * A snapshot from the {@link bytes} of another. They are read when a sandbox begins with them, and refused then when they
     * are damaged.
     */
    static fromBytes(bytes: Uint8Array): Snapshot;
}
/** What one side of a comparison has at a path. */
export interface SnapshotEntry {
    readonly kind: "file" | "directory" | "symlink" | "other";
    /** The twelve mode bits. */
    readonly mode: number;
    /** Bytes of a file or of a link's target; 0 for a directory. */
    readonly size: number;
}
/** What changed at one path. A moved file is removed in one place and added in another. */
export interface SnapshotChange {
    /** Absolute path; U+FFFD for what is not UTF-8. */
    readonly path: string;
    readonly change: "added" | "changed" | "removed";
    /** What was there; absent when it was added. */
    readonly before?: SnapshotEntry;
    /** What is there now; absent when it was removed. */
    readonly after?: SnapshotEntry;
    /**
     * How what it holds differs: `same` (the mode changed, or it is a directory), `text` (see {@link hunks}), `binary` (one side
     * has a NUL byte), `too_large` (one side has more than 1 MiB, or more than 32 MiB of text were compared already).
     */
    readonly content: "same" | "text" | "binary" | "too_large";
    /** Hunks of the unified format, for `text`. */
    readonly hunks?: string;
}
/** What changed between two snapshots, in the order of the paths. */
export interface SnapshotDiff {
    readonly changes: readonly SnapshotChange[];
    /** There were more changes than are told: 200,000, or 64 MiB of paths. */
    readonly truncated: boolean;
    /** All changes as one patch in git's format, with paths relative to `/`; U+FFFD for what is not UTF-8. */
    readonly patch: string;
    /** The same patch, byte for byte: what `git apply` and `patch -p1` take. */
    readonly patchBytes: Uint8Array;
}
