/** Entry point for Node and Deno. */

import { node } from "./platform.node.js";
import { usePlatform } from "./platform.js";

usePlatform(node);

export * from "./public.js";
