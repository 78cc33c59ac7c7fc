import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** Generous: the slow ones work on a real server, on machines that are shared. */
const testTimeout = 120_000

/** Real queues for tests that want them (test/harness/queue.ts), a Worker that takes what comes out of them, and a rate limit. */
const BINDINGS = {
  ratelimits: { LIMIT_OF_FIVE: { namespace_id: '1', simple: { limit: 5, period: 60 } } },
  queueProducers: { QUEUE_OF_BATCHES: 'batches', QUEUE_OF_DEAD_BATCHES: 'dead-batches' },
  serviceBindings: { QUEUE_SINK: 'queue-sink' },
  workers: [
    {
      name: 'queue-sink',
      modules: true,
      scriptPath: './test/harness/queue-sink.js',
      compatibilityDate: '2026-09-18',
      queueConsumers: { batches: { maxBatchTimeout: 0 }, 'dead-batches': { maxBatchTimeout: 0 } },
    },
  ],
}

/** Tests that run in workerd, with the configuration the Worker ships with. */
function inWorkerd(name: string, miniflare = {}) {
  return {
    plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' }, miniflare })],
    test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout },
  }
}

/** Tests that run in Node. */
function inNode(name: string, more: { globalSetup?: string } = {}) {
  return { test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout, ...more } }
}

export default defineConfig({
  test: {
    // One database server for all of them; every test file takes databases of its own on it.
    globalSetup: './test/harness/setup.ts',
    projects: [
      inNode('unit'),
      inWorkerd('database'),
      inWorkerd('worker', BINDINGS),
      inNode('local'),
      inNode('outage'),
      inNode('browser', { globalSetup: './test/browser/setup.ts' }),
      inNode('faults', { globalSetup: './test/faults/built-worker.ts' }),
    ],
    // The machine is small and the server shared: more at once would only make the slow tests slower.
    maxWorkers: 2,
    fileParallelism: true,
  },
})
