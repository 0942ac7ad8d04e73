/** The head of an HTTP request, for exposed ports. */

/** Maximum size of a head that is examined. */
const MAX_HEAD_BYTES = 64 << 10;
/** Maximum length of a method. */
const METHOD_CHARS = 20;

/** True if the bytes contain the whole head of an HTTP request, or cannot be one. */
export function isHeadComplete(text: string): boolean {
  const [method = ""] = text.slice(0, METHOD_CHARS).split(" ", 1);
  return !/^[A-Z]*$/u.test(method) || text.includes("\r\n\r\n") || text.length >= MAX_HEAD_BYTES;
}

/** True if the text is an HTTP request with the name of another host than this computer. */
export function isForOtherHost(text: string, port: number): boolean {
  const [request = "", ...lines] = text.split("\r\n");
  if (!request.includes(" HTTP/1.")) return false;
  const end = lines.indexOf("");
  const allowed = [`127.0.0.1:${port}`, `localhost:${port}`];
  return lines.slice(0, end < 0 ? lines.length : end).some((line) => {
    const at = line.indexOf(":");
    return at >= 0 && line.slice(0, at).trim().toLowerCase() === "host" && !allowed.includes(line.slice(at + 1).trim().toLowerCase());
  });
}
