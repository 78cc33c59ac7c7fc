import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/*
 * Each folder of test/ is a project. Below it, paths mirror src/, cli/, local/ and scripts/.
 *
 *   npm test            every file except *.slow.test.ts: about 2.5 minutes on 2 cores
 *   npm run test:all    every file
 *   npm run test:vitess on the vtgate that VITESS_URL names: database, worker and faults, except NOT_ON_VITESS, and of local the
 *                       endpoint in front of a vtgate and the way out of `serve`
 *
 * A file is slow if it takes more than 5 seconds by itself on an idle machine and need not run on MariaDB, or more than 10.
 * Everything in faults/ is slow. In browser/, ten files are quick, also longer ones.
 *
 *   npx vitest run --project worker                  one project
 *   npx vitest run test/unit/config/config.test.ts   one file, a slow one too
 */

/** Milliseconds. Generous, because the tests use a real database server on machines that they share. */
const TIMEOUT_MS = 120_000
/** Milliseconds after which `expect.poll` gives up: not the default of one second, for the same reason. */
const expectations = { poll: { timeout: 30_000 } }

/** Local queues, the Worker that keeps what comes out of them (test/harness/queue-sink.js), and a rate limit. */
const BINDINGS = {
  ratelimits: { LIMIT_OF_FIVE: { namespace_id: '1', simple: { limit: 5, period: 60 } } },
  queueProducers: { QUEUE_OF_BATCHES: { queueName: 'batches' }, QUEUE_OF_DEAD_BATCHES: { queueName: 'dead-batches' } },
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

/**
 * Tests whose outcome cannot depend on vtgate, tablets or shards: of HTTP, settings, sessions and caches, of statements that other
 * tests send to Vitess too, and of what only the size of the data decides.
 */
const NOT_ON_VITESS = [
  'database/counters/changes/{import-counts,set-counter}',
  'database/counters/read/{shared-reads,totals-cache}',
  'database/counters/rollup/{roll-up-scale,steady-load}',
  'database/counters/write/{group-commit,group-commit-leaders,group-commit-queue,queue-consumer}',
  'database/counters/{budgets,ranges}',
  'faults/{all-faults-at-once,client-disconnects,invented-keys,killed-database,outage,shared-reads,site-visitors}',
  'worker/{base-path,slotted-counter}',
  'worker/{config,openapi}/*',
  'worker/counters/read/totals-cache',
  'worker/http/{authorization,bad-input,cross-site,database-problem,hostile-requests,plain-http}',
  'worker/http/{reading-limit,request-id,session}',
  'worker/routes/{badge,counting-badge,dashboard,download}',
  'worker/routes/{numbers-of-both-types,reference,stats}',
  'worker/visits/{exclusions,new-key-limit,own-visits}',
].map((file) => `test/${file}{,.slow}.test.ts`)

/** A project whose tests run in Node. Its files share a process, because each process loads all modules again. */
function inNode(name: string, more: { globalSetup?: string; include?: string[] } = {}) {
  const include = [`test/${name}/**/*.test.ts`]
  const setupFiles = './test/harness/each-file.ts'
  return {
    test: {
      name,
      include,
      // A list, even an empty one, would take the place of those of the command line.
      ...(process.env.VITESS_URL !== undefined && { exclude: NOT_ON_VITESS }),
      setupFiles,
      isolate: false,
      testTimeout: TIMEOUT_MS,
      hookTimeout: TIMEOUT_MS,
      expect: expectations,
      ...more,
    },
  }
}

/** A project whose tests run in workerd, with the configuration that the Worker ships with. */
function inWorkerd(name: string, miniflare = {}) {
  const { test } = inNode(name)
  // Not verbose: workerd would print every connection that a test cuts.
  const plugin = cloudflareTest({ wrangler: { configPath: './wrangler.toml' }, miniflare, verbose: false })
  // Vite would warn about the source map of a package.
  return { logLevel: 'error' as const, plugins: [plugin], test }
}

export default defineConfig({
  test: {
    projects: [
      inNode('unit'),
      inWorkerd('database'),
      inWorkerd('worker', BINDINGS),
      inNode('local', {
        globalSetup: './test/local/setup.ts',
        ...(process.env.VITESS_URL !== undefined && {
          include: ['test/local/{planetscale/endpoint-vtgate,serve/way-out.slow}.test.ts'],
        }),
      }),
      inNode('browser', { globalSetup: './test/browser/setup.ts' }),
      inNode('faults', { globalSetup: './test/faults/built-worker.ts' }),
    ],
    // Starts one database server for all projects. Each test file takes its databases from there.
    globalSetup: './test/harness/setup.ts',
    // More workers would only slow down the tests that wait for the database.
    maxWorkers: 2,
    // One line per file. What a test and its Worker log is shown if the test fails.
    silent: 'passed-only',
    slowTestThreshold: TIMEOUT_MS,
  },
})
