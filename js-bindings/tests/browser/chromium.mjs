// Headless Chromium, and its errors.

import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

/** Where it is, or why the tests of browsers are skipped. */
const places = [process.env.TIDEBOX_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const executablePath = places.find((place) => place !== undefined && existsSync(place));
export const skip = executablePath === undefined
  ? "there is no Chromium; install Debian's package chromium, or name its program in TIDEBOX_CHROMIUM"
  : false;

// Disables requests that do not belong to the page.
const args = [
  "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--font-render-hinting=none", "--force-color-profile=srgb",
];

/** Starts it, with more arguments. As root it cannot use its own sandbox. */
export async function launch(more = []) {
  return chromium.launch({ executablePath, args: [...args, ...more], chromiumSandbox: process.getuid?.() !== 0 });
}

/**
 * A new page that `prepare` was given before it went to `url`, and a list of what nobody has caught in it or its Workers, what it complained of on its console, and what it could
 * not load.
 */
export async function open(browser, url, prepare = async () => {}) {
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`not caught: ${error.stack ?? error}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => complaints.push(`not loaded: ${request.url()} ${request.failure()?.errorText}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !/^(blob|data):/.test(request.url())) {
      complaints.push(`asked for ${request.url()}`);
    }
  });
  await prepare(page);
  await page.goto(url);
  return { page, complaints };
}
