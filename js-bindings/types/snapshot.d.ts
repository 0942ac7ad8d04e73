/** Snapshots: the state of a sandbox at one moment. */
/**
 * The files of a sandbox and the state of its shell session at one moment, as the bytes of one snapshot file.
 *
 * Immutable, and independent of its sandbox: store the bytes, send them to another program, start any number of sandboxes from
 * them. Programs, tools, mounts and processes are not included.
 */
export declare class Snapshot {
    /** The snapshot file. Its digest detects damage, not forgery; reading a forged file is safe. */
    readonly bytes: Uint8Array;
    /** Total size of the files that the sandbox wrote, as counted by {@link Limits.fileBytes}. Absent after {@link fromBytes}. */
    readonly fileBytes?: number;
    /** Files, directories and links, as counted by {@link Limits.inodes}. Absent after {@link fromBytes}. */
    readonly inodes?: number;
    /** Creates a snapshot from {@link bytes}. They are validated when they are used. */
    static fromBytes(bytes: Uint8Array): Snapshot;
}
/** A file on one side of a comparison. */
export interface SnapshotEntry {
    /** Type of the file. */
    readonly kind: "file" | "directory" | "symlink" | "other";
    /** The twelve mode bits. */
    readonly mode: number;
    /** Size of a file or of a link's target in bytes; 0 for a directory. */
    readonly size: number;
}
/** A change at one path. A moved file is removed at one path and added at another. */
export interface SnapshotChange {
    /** Absolute path. U+FFFD replaces invalid UTF-8. */
    readonly path: string;
    /** Kind of the change, from the first snapshot to the second. */
    readonly change: "added" | "changed" | "removed";
    /** The old file. Absent if it was added. */
    readonly before?: SnapshotEntry;
    /** The new file. Absent if it was removed. */
    readonly after?: SnapshotEntry;
    /**
     * Difference of the content: `same` (only the mode changed, or it is a directory), `text` (see {@link hunks}), `binary` (one
     * side contains a NUL byte), `too_large` (one side exceeds 1 MiB, or more than 32 MiB of text were compared already).
     */
    readonly content: "same" | "text" | "binary" | "too_large";
    /** Hunks of the unified format, for `text`. */
    readonly hunks?: string;
}
/** Changes between two snapshots, in the order of the paths. */
export interface SnapshotDiff {
    /** The changes, ordered by path. */
    readonly changes: readonly SnapshotChange[];
    /** True if there were more changes than the maximum: 200,000, or 64 MiB of paths. */
    readonly truncated: boolean;
    /** All changes as one patch in git's format, with paths relative to `/`. U+FFFD replaces invalid UTF-8. */
    readonly patch: string;
    /** {@link patch} as bytes, for `git apply` and `patch -p1`. */
    readonly patchBytes: Uint8Array;
}
