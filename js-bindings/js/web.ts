/** Entry point for browsers. */

import { web } from "./platform.web.js";
import { usePlatform } from "./platform.js";

usePlatform(web);

export * from "./public.js";
