import { defineConfig } from "vite";

export default defineConfig({
  // The package finds its own files beside itself, so the server for development must leave it where it is.
  optimizeDeps: { exclude: ["tidebox"] },
});
