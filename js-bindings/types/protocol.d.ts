/**
 * Types of Deep Agents for JavaScript, version 2 of its protocol, declared here so that this package does not depend on it.
 * Additional fields are for direct callers: error codes, truncation reasons, raw bytes.
 */
import type { SandboxErrorCode } from "./error.js";
/** Error codes of file operations. */
export type FileErrorCode = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path" | "not_a_directory" | "not_a_regular_file" | "not_text" | "already_exists" | "too_large" | "no_space" | "past_end" | "string_not_found" | "string_not_unique" | "invalid_pattern";
/** Fields of every file tool result that failed. */
export interface ErrorFields {
    /** Error message. Absent on success. */
    error?: string;
    /** Error code: in lower case for an error of the file operation, in upper case if the sandbox itself failed. */
    code?: FileErrorCode | SandboxErrorCode;
}
/**
 * Reason for an incomplete list: the requested maximum was reached, the search exceeded its work limit, or files could not be
 * read.
 */
export type Truncation = "max_count" | "budget" | "unreadable";
/** A file or directory. */
export interface FileInfo {
    path: string;
    is_dir?: boolean;
    /** Symbolic links are not followed. */
    kind?: "file" | "directory" | "symlink" | "other";
    /** Bytes of a file. */
    size?: number;
    /** ISO 8601. */
    modified_at?: string;
}
/** Directory entries, or files that matched. */
export interface FilesResult extends ErrorFields {
    files?: FileInfo[];
    /** True if the list is incomplete. */
    truncated?: boolean;
    truncatedBy?: Truncation;
}
/** Lines of a text file, or a whole binary file. Lines are counted from 1. */
export interface ReadResult extends ErrorFields {
    content?: string | Uint8Array;
    mimeType?: string;
    totalLines?: number;
    startLine?: number;
    endLine?: number;
    /** Offset of the next page. Absent at the end of the file. */
    nextOffset?: number;
    /** True if the page is a single line that exceeds the page size and was truncated; `content` ends with a note. */
    lineCut?: boolean;
}
/** A whole file. */
export interface ReadRawResult extends ErrorFields {
    data?: {
        content: string | Uint8Array;
        mimeType: string;
        created_at: string;
        modified_at: string;
    };
}
export interface WriteResult extends ErrorFields {
    path?: string;
    /** True if `write` created the file. */
    created?: boolean;
    filesUpdate?: null;
}
export interface EditResult extends WriteResult {
    /** Number of replacements. */
    occurrences?: number;
}
export interface DeleteResult extends ErrorFields {
    path?: string;
}
export interface GrepMatch {
    path: string;
    /** Counted from 1. */
    line: number;
    text: string;
}
export interface GrepResult extends ErrorFields {
    matches?: GrepMatch[];
    truncated?: boolean;
    truncatedBy?: Truncation;
}
/** Error codes of transfers. */
export type FileOperationError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";
export interface FileUploadResponse {
    path: string;
    error: FileOperationError | null;
}
export interface FileDownloadResponse {
    path: string;
    content: Uint8Array | null;
    error: FileOperationError | null;
}
/** Reason why a command was stopped, or the limit that it reached before it failed. */
export type StopReason = "timeout" | "cpu_time" | "memory" | "output" | "files" | "inodes" | "descriptors" | "processes" | "nesting" | "cancelled";
/** Result of a command. */
export interface ExecuteResult {
    /** Standard output and standard error in the order of arrival. U+FFFD replaces invalid UTF-8. */
    output: string;
    /** From 0 to 255; 128 + n after signal n, 124 after a timeout; `null` if unknown. */
    exitCode: number | null;
    /** True if output beyond the limit was dropped. */
    truncated: boolean;
    stdout?: string;
    stderr?: string;
    stdoutBytes?: Uint8Array;
    stderrBytes?: Uint8Array;
    /** Both streams in the order of arrival. Absent if {@link output} is lossless, which it is for valid UTF-8. */
    outputBytes?: Uint8Array;
    /** Reason if it was stopped, or the first limit that it reached if it then failed. `docs/limits.md` lists messages and codes. */
    stoppedBy?: StopReason;
    /** Duration by the sandbox's clock. */
    durationMs?: number;
    /** Processor time of its processes. Absent at providers. */
    cpuTimeMs?: number;
    /** Maximum linear memory that its processes used together. */
    peakMemoryBytes?: number;
    /** Error code if the sandbox itself could not run it; `exitCode` is `null` then. */
    code?: SandboxErrorCode;
}
