/** The package in Node. */

import { node } from "./platform.node.js";
import { usePlatform } from "./sandbox.js";

usePlatform(node);

export * from "./public.js";
