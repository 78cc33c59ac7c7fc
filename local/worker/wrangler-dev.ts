import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { experimental_readRawConfig } from 'wrangler'
import { wranglerProgram } from '../../cli/wrangler-program.ts'
import { freePort } from '../processes/free-port.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { localCounters } from './local-counters.ts'
import { workerHealth } from './worker-health.ts'

/** The folder of wrangler.toml: this repository, or an application that uses the package. */
const PROJECT = process.cwd()

/** How to start the Worker. */
export interface WorkerOptions {
  port: number
  stateDirectory: string
  databaseUrl: string
  apiToken: string
  /** The other tokens: `API_TOKENS`. */
  apiTokens: string
  /** A file with other secrets of the application, which wrangler does not look for beside its own settings; `null`: none. */
  secretsFile: string | null
  /** The address of the demo site's files, with a slash at its end; `null`: there is no demo site. */
  files: string | null
  /** Called for every line of wrangler's and the Worker's log. */
  log: (line: string) => void
}

/**
 * Starts the Worker under `wrangler dev` and waits until it answers.
 *
 * @throws {Error} if it does not start. Nothing is left running then.
 */
export async function startWorker(options: WorkerOptions): Promise<ServerProcess> {
  const { port, stateDirectory, databaseUrl, apiToken, apiTokens, secretsFile, files, log } = options
  await mkdir(stateDirectory, { recursive: true })
  const secrets = join(stateDirectory, 'worker.env')
  const values = { DATABASE_URL: databaseUrl, API_TOKEN: apiToken, API_TOKENS: apiTokens }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
  await writeFile(secrets, lines.join(''), { mode: 0o600 })
  const config = join(stateDirectory, 'wrangler.json')
  await writeFile(config, JSON.stringify(localConfig(stateDirectory, files)))
  const worker = await ServerProcess.start({
    name: 'worker',
    command: process.execPath,
    args: [
      wranglerProgram(),
      'dev',
      `--config=${config}`,
      '--ip=127.0.0.1',
      `--port=${port}`,
      `--inspector-port=${await freePort()}`,
      // The later file wins.
      ...(secretsFile === null ? [] : [`--env-file=${resolve(PROJECT, secretsFile)}`]),
      `--env-file=${secrets}`,
      `--persist-to=${join(stateDirectory, 'wrangler')}`,
      '--show-interactive-dev-session=false',
    ],
    records: stateDirectory,
    marker: PROJECT,
    output: 'pipe',
    graceMs: 10_000,
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: 'false',
      // Looking up Request.cf needs a network, and nothing here uses it.
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      NO_COLOR: '1',
      FORCE_COLOR: '0',
    },
  })
  let isAboutCrons = false
  for (const input of [worker.stdout!, worker.stderr!]) {
    createInterface({ input }).on('line', (line) => {
      // Leaves out wrangler's warning that crons do not run: cron.ts runs them.
      isAboutCrons ||= line.includes('Scheduled Workers are not automatically triggered')
      if (!isAboutCrons) log(line)
      if (line.includes('For more details')) isAboutCrons = false
    })
  }
  try {
    await workerHealth(`http://127.0.0.1:${port}`, worker)
    return worker
  } catch (error) {
    await worker.stop()
    throw error
  }
}

interface Queue {
  queue: string
  binding?: string
}

/**
 * wrangler.toml for this machine. Without the counter's queues: local ones are in memory, so what they hold would be lost when
 * wrangler stops.
 *
 * @param directory the folder that it will be in
 * @param files the address of the demo site's files; `null`: there is no demo site
 */
function localConfig(directory: string, files: string | null): object {
  const { rawConfig } = experimental_readRawConfig({ config: join(PROJECT, 'wrangler.toml') })
  const { queues = {}, build, assets, vars, ...config } = rawConfig
  const { producers = [], consumers = [] } = queues as { producers?: Queue[]; consumers?: Queue[] }
  const isOwn = ({ binding }: Queue) => binding === 'BATCHES' || binding === 'DEAD_BATCHES'
  const own = producers.filter(isOwn).map(({ queue }) => queue)
  return {
    ...config,
    queues: {
      producers: producers.filter((producer) => !isOwn(producer)),
      consumers: consumers.filter(({ queue }) => !own.includes(queue)),
    },
    // Paths are relative to the file. wrangler does not accept an absolute one in watch_dir.
    main: resolve(PROJECT, rawConfig.main!),
    ...(build !== undefined && {
      build: {
        ...build,
        cwd: PROJECT,
        watch_dir: [build.watch_dir ?? 'src'].flat().map((path) => relative(directory, join(PROJECT, path))),
      },
    }),
    ...(assets?.directory !== undefined && { assets: { ...assets, directory: resolve(PROJECT, assets.directory) } }),
    vars: { ...vars, COUNTERS: localCounters(vars?.COUNTERS, files) },
  }
}
