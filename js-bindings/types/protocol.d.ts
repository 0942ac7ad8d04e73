/** The shapes of Deep Agents for JavaScript, version 2 of its protocol, so that this package needs none of its. */
/** A file or directory. */
export interface FileInfo {
    path: string;
    is_dir?: boolean;
    /** Bytes of a file. */
    size?: number;
    /** ISO 8601. */
    modified_at?: string;
}
/** What a directory holds, or which files were found. */
export interface FilesResult {
    /** Why there is no answer; absent when there is one. */
    error?: string;
    files?: FileInfo[];
    /** There are more than are told. */
    truncated?: boolean;
}
/** Lines of a text file, or a whole binary file. Lines are counted from 1. */
export interface ReadResult {
    error?: string;
    content?: string | Uint8Array;
    mimeType?: string;
    totalLines?: number;
    startLine?: number;
    endLine?: number;
    /** Where the next page begins; absent at the end. */
    nextOffset?: number;
}
/** A whole file. */
export interface ReadRawResult {
    error?: string;
    data?: {
        content: string | Uint8Array;
        mimeType: string;
        created_at: string;
        modified_at: string;
    };
}
export interface WriteResult {
    error?: string;
    path?: string;
    filesUpdate?: null;
}
export interface EditResult extends WriteResult {
    /** How many were replaced. */
    occurrences?: number;
}
export interface DeleteResult {
    error?: string;
    path?: string;
}
export interface GrepMatch {
    path: string;
    /** From 1. */
    line: number;
    text: string;
}
export interface GrepResult {
    error?: string;
    matches?: GrepMatch[];
    truncated?: boolean;
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
    /** Why it was stopped before its own end. */
    stoppedBy?: "timeout" | "memory" | "output" | "cancelled";
    /** By the sandbox's clock. */
    durationMs?: number;
    /** The most linear memory that its processes held together. */
    peakMemoryBytes?: number;
}
