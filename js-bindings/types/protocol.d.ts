/**
 * The shapes of Deep Agents for JavaScript, version 2 of its protocol, so that this package needs none of its. What callers of
 * our own can use is there beside: which refusal it was, why a list is cut, bytes that no text tells.
 */
import type { SandboxErrorCode } from "./error.js";
/** Why the sandbox refused a file operation. */
export type FileErrorCode = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path" | "not_a_directory" | "not_a_regular_file" | "not_text" | "already_exists" | "too_large" | "no_space" | "past_end" | "string_not_found" | "string_not_unique" | "invalid_pattern";
/** What every answer of a file tool has when there is no other. */
export interface Refusal {
    /** Why there is no answer, as a sentence; absent when there is one. */
    error?: string;
    /** The same for programs: a refusal of the sandbox in lower case; in upper case that the sandbox itself could not answer. */
    code?: FileErrorCode | SandboxErrorCode;
}
/** Why a list leaves something out: as many as were asked for, the work of one search, what may not be read. */
export type Truncation = "max_count" | "budget" | "unreadable";
/** A file or directory. */
export interface FileInfo {
    path: string;
    is_dir?: boolean;
    /** A link is not followed. */
    kind?: "file" | "directory" | "symlink" | "other";
    /** Bytes of a file. */
    size?: number;
    /** ISO 8601. */
    modified_at?: string;
}
/** What a directory holds, or which files were found. */
export interface FilesResult extends Refusal {
    files?: FileInfo[];
    /** There are more than are told. */
    truncated?: boolean;
    truncatedBy?: Truncation;
}
/** Lines of a text file, or a whole binary file. Lines are counted from 1. */
export interface ReadResult extends Refusal {
    content?: string | Uint8Array;
    mimeType?: string;
    totalLines?: number;
    startLine?: number;
    endLine?: number;
    /** Where the next page begins; absent at the end. */
    nextOffset?: number;
    /** The page is one line that is longer than a page may be; a note behind it says that it was cut. */
    lineCut?: boolean;
}
/** A whole file. */
export interface ReadRawResult extends Refusal {
    data?: {
        content: string | Uint8Array;
        mimeType: string;
        created_at: string;
        modified_at: string;
    };
}
export interface WriteResult extends Refusal {
    path?: string;
    /** Whether `write` has made the file. */
    created?: boolean;
    filesUpdate?: null;
}
export interface EditResult extends WriteResult {
    /** How many were replaced. */
    occurrences?: number;
}
export interface DeleteResult extends Refusal {
    path?: string;
}
export interface GrepMatch {
    path: string;
    /** From 1. */
    line: number;
    text: string;
}
export interface GrepResult extends Refusal {
    matches?: GrepMatch[];
    truncated?: boolean;
    truncatedBy?: Truncation;
}
/** Why a file could not be exchanged. */
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
/** How a command went. */
export interface ExecuteResult {
    /** Both streams in the order of arrival; U+FFFD for what is not UTF-8. */
    output: string;
    /** 0 to 255, 128 + n after signal n, 124 when its time was up; `null` when nobody knows. */
    exitCode: number | null;
    /** Output beyond the limit was dropped. */
    truncated: boolean;
    stdout?: string;
    stderr?: string;
    stdoutBytes?: Uint8Array;
    stderrBytes?: Uint8Array;
    /** Both streams in the order of arrival; absent when {@link output} tells it, which it does of UTF-8. */
    outputBytes?: Uint8Array;
    /** Why it was stopped before its own end. */
    stoppedBy?: "timeout" | "memory" | "output" | "cancelled";
    /** By the sandbox's clock. */
    durationMs?: number;
    /** The most linear memory that its processes held together. */
    peakMemoryBytes?: number;
    /** Why the sandbox itself could not run it; `exitCode` is `null` then. */
    code?: SandboxErrorCode;
}
