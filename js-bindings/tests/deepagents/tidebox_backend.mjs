// The package in the place of `tidebox backend`, for the tests that ask the tools of Deep Agents what a model sees.

import { Sandbox } from "tidebox";

export const TideboxSandbox = {
  open({ options = [] } = {}) {
    const at = options.indexOf("--timeout");
    return Sandbox.create(at < 0 ? {} : { limits: { wallTimeMs: Number(options[at + 1]) * 1000 } });
  },
};
