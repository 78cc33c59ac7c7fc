import { type ChildProcess, spawn } from 'node:child_process'
import { startBuiltWorker, TOKEN } from '../built-worker.ts'
import { type Finally, PROJECT } from '../npm-script.ts'
import type { WithholdingProxy } from '../withholding-proxy.ts'

/** A Worker on bare workerd, with a database. */
export interface Service {
  url: string
  database: Awaited<ReturnType<typeof startBuiltWorker>>['database']
  /** Calls its API and returns the response. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<unknown>
  /** The counts of a type by key, with all digits, read page by page. */
  counts(type: string): Promise<Map<string, bigint>>
}

type Command = 'import' | 'export' | 'replay' | 'sync' | 'verify' | 'delete'

/** Runs commands on Workers. @param folder where they keep their state */
export function transferCommands(folder: () => string, atEnd: Finally) {
  /** @param other a service that has the same database */
  async function startService(settings: Record<string, unknown> = {}, other?: Service): Promise<Service> {
    const options = { settings, ...(other && { database: other.database }) }
    const { workerd, database } = await startBuiltWorker(options, atEnd)
    const call: Service['call'] = async (method, path, body, headers = {}) => {
      const answer = await fetch(workerd.url + path, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return JSON.parse(text.replaceAll(/(?<="count":)(-?\d{16,})/g, '"$1"'))
    }
    return {
      url: workerd.url,
      database,
      call,
      async counts(type) {
        const counts = new Map<string, bigint>()
        let after = ''
        do {
          const page = (await call('GET', `/v1/export/${type}?limit=1000${after}`)) as {
            rows: { key: string; count: number | string }[]
            next: string | null
          }
          for (const { key, count } of page.rows) counts.set(key, (counts.get(key) ?? 0n) + BigInt(count))
          after = page.next === null ? '' : `&after=${page.next}`
        } while (after !== '')
        return counts
      },
    }
  }

  /** Runs a command as its npm script does, but without npm. */
  function start(name: Command, service: Pick<Service, 'url'>, args: readonly string[]) {
    const program = `cli/${name === 'delete' ? 'move' : name}/${name}.ts`
    const child: ChildProcess = spawn(process.execPath, [program, '--url', service.url, ...args], {
      cwd: PROJECT,
      env: { ...process.env, API_TOKEN: TOKEN, STATE_DIR: folder() },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let out = ''
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ended = new Promise<{ code: number | null; out: string; said: string }>((resolve) => {
      child.once('close', (code) => resolve({ code, out, said }))
    })
    atEnd(async () => void child.kill('SIGKILL'))
    return { child, ended }
  }
  async function run(name: Command, service: Pick<Service, 'url'>, args: readonly string[], input?: Buffer | string) {
    const { child, ended } = start(name, service, args)
    child.stdin!.end(input)
    return ended
  }

  /** Runs a command until it has sent a request whose answer is withheld, and something more is done. Then sends it a signal. */
  async function interrupt(
    name: Command,
    proxy: WithholdingProxy,
    args: readonly string[],
    { path, nth, signal }: { path: string; nth: number; signal: NodeJS.Signals },
    before: () => Promise<unknown> = async () => {},
  ) {
    const sent = proxy.withhold(path, nth)
    const { child, ended } = start(name, proxy, args)
    const early = ended.then((outcome) => Promise.reject(new Error(`it ended early: ${JSON.stringify(outcome)}`)))
    await Promise.race([sent, early])
    await before()
    child.kill(signal)
    return ended
  }

  return { startService, start, run, interrupt }
}
