/**
 * Types of Deep Agents for JavaScript, version 2 of its protocol, declared here so that this package does not depend on it.
 * Additional fields are for direct callers: error codes, truncation reasons, raw bytes.
 */

import type { SandboxErrorCode } from "./error.js";

/** Error codes of file operations. */
export type FileErrorCode =
  | "file_not_found" | "permission_denied" | "is_directory" | "invalid_path" | "not_a_directory" | "not_a_regular_file"
  | "not_text" | "already_exists" | "too_large" | "no_space" | "past_end" | "string_not_found" | "string_not_unique"
  | "invalid_pattern";

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
  /** Path: absolute in a directory listing, relative to the searched directory in the result of `glob`. */
  path: string;
  /** True for a directory, false for a link to one. */
  is_dir?: boolean;
  /** Type of the file. Symbolic links are not followed. */
  kind?: "file" | "directory" | "symlink" | "other";
  /** Size of a file in bytes. Absent for other types. */
  size?: number;
  /** Modification time in ISO 8601. */
  modified_at?: string;
}

/** Directory entries, or files that matched. */
export interface FilesResult extends ErrorFields {
  /** The files. Absent after an error. */
  files?: FileInfo[];
  /** True if the list is incomplete. */
  truncated?: boolean;
  /** Reason for an incomplete list. */
  truncatedBy?: Truncation;
}

/** Lines of a text file, or a whole binary file. Lines are counted from 1. */
export interface ReadResult extends ErrorFields {
  /** Lines of a text file, or the bytes of a binary one. Absent after an error. */
  content?: string | Uint8Array;
  /** Media type of the content. */
  mimeType?: string;
  /** Number of lines of the file. Absent, like the two below, for a binary or empty file. */
  totalLines?: number;
  /** First line of the page. */
  startLine?: number;
  /** Last line of the page. */
  endLine?: number;
  /** Offset of the next page. Absent at the end of the file. */
  nextOffset?: number;
  /** True if the page is a single line that exceeds the page size and was truncated; `content` ends with a note. */
  lineCut?: boolean;
}

/** A whole file. */
export interface ReadRawResult extends ErrorFields {
  /** The file. Absent after an error. */
  data?: {
    /** Text, or the bytes of a binary file. */
    content: string | Uint8Array;
    /** Media type of the content. */
    mimeType: string;
    /** Equal to {@link modified_at}: sandboxes do not record the time of creation. */
    created_at: string;
    /** Modification time in ISO 8601. */
    modified_at: string;
  };
}

/** Result of writing a file. */
export interface WriteResult extends ErrorFields {
  /** Absolute path of the file. Absent after an error. */
  path?: string;
  /** True if `write` created the file. */
  created?: boolean;
  /** Always `null`: the file is in the sandbox, not in the state of the agent. */
  filesUpdate?: null;
}

/** Result of replacing text in a file. */
export interface EditResult extends WriteResult {
  /** Number of replacements. */
  occurrences?: number;
}

/** Result of deleting a file or directory. */
export interface DeleteResult extends ErrorFields {
  /** Absolute path of the file. Absent after an error. */
  path?: string;
}

/** One matching line. */
export interface GrepMatch {
  /** Absolute path of the file. */
  path: string;
  /** Number of the line, counted from 1. */
  line: number;
  /** The line without its newline. */
  text: string;
}

/** Result of a search for text. */
export interface GrepResult extends ErrorFields {
  /** The matches, by file and line. Absent after an error. */
  matches?: GrepMatch[];
  /** True if the list is incomplete. */
  truncated?: boolean;
  /** Reason for an incomplete list. */
  truncatedBy?: Truncation;
}

/** Error codes of transfers. */
export type FileOperationError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";

/** Result of uploading one file. */
export interface FileUploadResponse {
  /** The path as requested. */
  path: string;
  /** Error code, or `null` if the file was written. */
  error: FileOperationError | null;
}

/** Result of downloading one file. */
export interface FileDownloadResponse {
  /** The path as requested. */
  path: string;
  /** Content of the file, or `null` after an error. */
  content: Uint8Array | null;
  /** Error code, or `null` if the file was read. */
  error: FileOperationError | null;
}

/** Reason why a command was stopped, or the limit that it reached before it failed. */
export type StopReason =
  | "timeout" | "cpu_time" | "memory" | "output" | "files" | "inodes" | "descriptors" | "processes" | "nesting" | "cancelled";

/** Result of a command. */
export interface ExecuteResult {
  /** Standard output and standard error in the order of arrival. U+FFFD replaces invalid UTF-8. */
  output: string;
  /** Exit code from 0 to 255; 128 + n after signal n, 124 after a timeout; `null` if unknown. */
  exitCode: number | null;
  /** True if output beyond the limit was dropped. */
  truncated: boolean;
  /** Standard output. U+FFFD replaces invalid UTF-8. */
  stdout?: string;
  /** Standard error. U+FFFD replaces invalid UTF-8. */
  stderr?: string;
  /** {@link stdout} as bytes. */
  stdoutBytes?: Uint8Array;
  /** {@link stderr} as bytes. */
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
  /**
   * Id of the process that runs on after the command, with `background: "keep"`: `sandbox.process(id)` reads its later output.
   * Absent if the command left none.
   */
  process?: string;
  /** Error code if the sandbox itself could not run it; `exitCode` is `null` then. */
  code?: SandboxErrorCode;
}
