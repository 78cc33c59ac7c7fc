import { copyFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'
import type { Finally } from './npm-script.ts'

/** What takes the place of wrangler's program: asks the account what to print. The real one lies beside it. */
const program = (account: string) => `
const { appendFileSync } = require('node:fs')
const { text } = require('node:stream/consumers')
const args = process.argv.slice(2)
void (async () => {
  const input = args[1] === 'put' ? await text(process.stdin) : ''
  const response = await fetch(${JSON.stringify(account)}, { method: 'POST', body: JSON.stringify({ args, input }) })
  const { code = 0, printed = '', output } = await response.json()
  if (output) appendFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify(output) + '\\n')
  console.log(printed)
  process.exitCode = code
})()`

/**
 * A Cloudflare account that wrangler's commands talk to, in the folder of an application. What they deploy runs on this machine,
 * with the secrets that they store.
 */
export class StandInAccount {
  /** The Worker's address. */
  readonly url: string
  readonly secrets = new Map<string, string>()
  deployments = 0
  readonly #folder: string
  #worker: ServerProcess | undefined

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.url = `http://127.0.0.1:${port}`
  }

  static async start(folder: string, atEnd: Finally): Promise<StandInAccount> {
    const account = new StandInAccount(folder, await freePort())
    const server = createServer(async (request, response) => {
      const { args, input } = JSON.parse(await text(request)) as { args: string[]; input: string }
      response.end(JSON.stringify(await account.#answer(args.join(' '), input)))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const wrangler = join(folder, 'node_modules/wrangler/bin/wrangler.js')
    await copyFile(wrangler, join(folder, 'node_modules/wrangler/bin/real.js'))
    await writeFile(wrangler, program(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    atEnd(async () => {
      await account.#worker?.stop()
      server.close()
    })
    return account
  }

  async #answer(command: string, input: string): Promise<object> {
    const [, secret] = /^secret put (\w+)$/.exec(command) ?? []
    if (command === 'deploy') {
      this.deployments++
      await this.#restart()
      const targets = ['schedule: * * * * *', this.url, 'Producer for my-counter-batches']
      return { printed: 'Deployed', output: { type: 'deploy', version: 1, targets } }
    }
    if (this.deployments > 0 && command === 'secret list') {
      return { printed: JSON.stringify([...this.secrets.keys()].map((name) => ({ name, type: 'secret_text' }))) }
    }
    if (this.deployments > 0 && secret !== undefined) {
      this.secrets.set(secret, input)
      await this.#restart()
      return { printed: `Success! Uploaded secret ${secret}` }
    }
    return { code: 1, printed: `The account does not know: ${command}` }
  }

  /** Every change is a new version. Without its secrets, the Worker would only say so. */
  async #restart(): Promise<void> {
    await this.#worker?.stop()
    if (this.secrets.size < 2) return
    const secrets = join(this.#folder, '.production')
    await writeFile(secrets, [...this.secrets].map(([name, value]) => `${name}=${JSON.stringify(value)}\n`).join(''))
    this.#worker = await ServerProcess.start({
      name: 'production',
      command: process.execPath,
      args: [
        join(this.#folder, 'node_modules/wrangler/bin/real.js'),
        'dev',
        `--config=${join(this.#folder, 'wrangler.toml')}`,
        `--env-file=${secrets}`,
        '--ip=127.0.0.1',
        `--port=${new URL(this.url).port}`,
        '--inspector-port=0',
      ],
      records: this.#folder,
      marker: this.#folder,
      output: 'pipe',
      graceMs: 10_000,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    })
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) stream?.resume()
  }
}
