import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** Generous: the slow ones work on a real server, on machines that are shared. */
const testTimeout = 120_000

/** Tests that run in workerd, with the configuration the Worker ships with. */
function inWorkerd(name: string) {
  return {
    plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
    test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout },
  }
}

/** Tests that run in Node. */
function inNode(name: string) {
  return { test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout } }
}

export default defineConfig({
  test: {
    // One database server for all of them; every test file takes databases of its own on it.
    globalSetup: './test/harness/setup.ts',
    projects: [inNode('unit'), inWorkerd('database'), inWorkerd('worker'), inNode('local')],
    // The machine is small and the server shared: more at once would only make the slow tests slower.
    maxWorkers: 2,
    fileParallelism: true,
  },
})
