// A terminal of lines: text, colours, and the cursor within the last lines. No alternate screen.

const MAX_LINES = 2000;

// Lines of cells {text, style} from a stream of output.
export class Screen {
  lines = [[]];
  row = 0;
  column = 0;
  style = "";
  #rest = "";

  write(text) {
    const all = this.#rest + text;
    this.#rest = "";
    let at = 0;
    while (at < all.length) {
      if (all[at] !== "\x1b") {
        this.#put(all[at++]);
        continue;
      }
      const sequence = /^\x1b(?:\[([0-9;?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78cDEHMNOZ])/.exec(all.slice(at));
      if (sequence === null) {
        // The rest of the sequence may be in the next message; anything longer is none.
        if (all.length - at < 256) this.#rest = all.slice(at);
        else at++;
        if (this.#rest !== "") break;
        continue;
      }
      if (sequence[2] !== undefined) this.#control(sequence[1], sequence[2]);
      at += sequence[0].length;
    }
    if (this.lines.length > MAX_LINES) {
      const removed = this.lines.length - MAX_LINES;
      this.lines.splice(0, removed);
      this.row = Math.max(0, this.row - removed);
    }
  }

  #put(letter) {
    switch (letter) {
      case "\n":
        this.row++;
        if (this.row === this.lines.length) this.lines.push([]);
        return;
      case "\r":
        this.column = 0;
        return;
      case "\b":
        this.column = Math.max(0, this.column - 1);
        return;
      case "\t":
        do this.#put(" "); while (this.column % 8 !== 0);
        return;
      case "\x07":
        return;
    }
    const line = this.lines[this.row];
    while (line.length < this.column) line.push({ text: " ", style: "" });
    line[this.column++] = { text: letter, style: this.style };
  }

  #control(parameters, final) {
    const numbers = parameters.split(";").map(Number);
    const count = Math.max(1, numbers[0] || 1);
    const line = this.lines[this.row];
    switch (final) {
      case "m":
        this.#setStyle(numbers);
        break;
      case "A":
        this.row = Math.max(0, this.row - count);
        break;
      case "C":
        this.column = Math.min(1000, this.column + count);
        break;
      case "D":
        this.column = Math.max(0, this.column - count);
        break;
      case "G":
        this.column = Math.min(1000, count - 1);
        break;
      case "K":
        if (parameters === "2") line.length = 0;
        else if (parameters === "1") line.fill({ text: " ", style: "" }, 0, this.column);
        else line.length = Math.min(line.length, this.column);
        break;
      case "P":
        line.splice(this.column, count);
        break;
      case "@":
        line.splice(this.column, 0, ...Array.from({ length: Math.min(count, 1000) }, () => ({ text: " ", style: "" })));
        break;
      case "J":
        if (numbers[0] === 2 || numbers[0] === 3) {
          this.lines = [[]];
          this.row = this.column = 0;
        } else {
          line.length = Math.min(line.length, this.column);
          this.lines.length = this.row + 1;
        }
        break;
      case "H":
        if (numbers.length < 2) this.column = 0;
        break;
    }
  }

  #setStyle(numbers) {
    let [color, bold] = [/c\d/.exec(this.style)?.[0] ?? "", this.style.includes("bold")];
    for (const number of numbers) {
      if (number === 0) [color, bold] = ["", false];
      else if (number === 1) bold = true;
      else if (number === 22) bold = false;
      else if (number === 39) color = "";
      else if (number >= 30 && number <= 37) color = `c${number - 30}`;
      else if (number >= 90 && number <= 97) color = `c${number - 90}`;
      else if (number === 38 || number === 48) break;
    }
    this.style = [color, bold ? "bold" : ""].filter((name) => name !== "").join(" ");
  }

  // Replaces the content of an element. Text is never read as HTML.
  draw(element) {
    const fragment = document.createDocumentFragment();
    this.lines.forEach((line, row) => {
      const cells = line.slice();
      if (row === this.row) {
        while (cells.length <= this.column) cells.push({ text: " ", style: "" });
        cells[this.column] = { ...cells[this.column], style: "cursor" };
      }
      for (let start = 0; start < cells.length; ) {
        let end = start + 1;
        while (end < cells.length && cells[end].style === cells[start].style) end++;
        const span = document.createElement("span");
        span.className = cells[start].style;
        span.textContent = cells.slice(start, end).map((cell) => cell.text).join("");
        fragment.append(span);
        start = end;
      }
      fragment.append("\n");
    });
    element.replaceChildren(fragment);
    element.scrollTop = element.scrollHeight;
  }
}

const KEYS = {
  Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", Delete: "\x1b[3~", Home: "\x1b[H", End: "\x1b[F",
  ArrowUp: "\x1b[A", ArrowDown: "\x1b[B", ArrowRight: "\x1b[C", ArrowLeft: "\x1b[D",
};

// Returns the bytes of a key as text, or undefined for keys without any.
export function keyText(event) {
  if (event.ctrlKey && !event.altKey && event.key.length === 1) {
    const code = event.key.toUpperCase().charCodeAt(0);
    return code >= 64 && code < 96 ? String.fromCharCode(code - 64) : undefined;
  }
  if (event.metaKey) return undefined;
  if (event.key in KEYS) return KEYS[event.key];
  return event.key.length === 1 ? (event.altKey ? "\x1b" : "") + event.key : undefined;
}

// Connects an element to a terminal of a sandbox. Returns a function that disconnects it.
export function connect(element, url, token, onEnd) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const bytes = Array.from(encoder.encode(token), (byte) => String.fromCharCode(byte)).join("");
  const encoded = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const protocols = ["tidebox.terminal", ...(token === "" ? [] : [`tidebox.token.${encoded}`])];
  const socket = new WebSocket(url, protocols);
  socket.binaryType = "arraybuffer";
  const screen = new Screen();
  let isDrawn = true;
  const draw = () => {
    if (!isDrawn) return;
    isDrawn = false;
    requestAnimationFrame(() => {
      isDrawn = true;
      screen.draw(element);
    });
  };
  const send = (text) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(encoder.encode(text));
  };
  const onKey = (event) => {
    const text = keyText(event);
    if (text === undefined) return;
    event.preventDefault();
    send(text);
  };
  const onPaste = (event) => {
    event.preventDefault();
    send(event.clipboardData.getData("text").replaceAll("\n", "\r"));
  };
  element.addEventListener("keydown", onKey);
  element.addEventListener("paste", onPaste);
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") screen.write(`\r\n[ended: ${data}]\r\n`);
    else screen.write(decoder.decode(data, { stream: true }));
    draw();
  });
  const stop = () => {
    element.removeEventListener("keydown", onKey);
    element.removeEventListener("paste", onPaste);
  };
  socket.addEventListener("close", ({ reason }) => {
    stop();
    onEnd(reason);
  });
  return () => {
    stop();
    socket.close();
  };
}
