import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { wranglerProgram } from '../wrangler-program.ts'

/** Deploys the Worker of this folder. @returns its address; `null` if it has none that is known */
export async function deployWorker(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-deploy-'))
  try {
    const file = join(folder, 'output.jsonl')
    await runWrangler(['deploy'], { env: { WRANGLER_OUTPUT_FILE_PATH: file } })
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { type: string; targets?: string[] })
    return addressOf(entries.find(({ type }) => type === 'deploy')?.targets ?? [])
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The public address among the targets of a deployment: a custom domain, or `https://NAME.ACCOUNT.workers.dev`. */
function addressOf(targets: readonly string[]): string | null {
  const domain = targets.flatMap((target) => /^(\S+) \(custom domain/.exec(target)?.[1] ?? [])[0]
  return domain === undefined ? (targets.find((target) => /^https?:/.test(target)) ?? null) : `https://${domain}`
}

export async function secretNames(): Promise<string[]> {
  const secrets = JSON.parse(await runWrangler(['secret', 'list'], { isRead: true })) as { name: string }[]
  return secrets.map(({ name }) => name)
}

/** Stores a secret. @param value default: wrangler asks for it, and hides what is typed */
export async function putSecret(name: string, value?: string): Promise<void> {
  await runWrangler(['secret', 'put', name], value === undefined ? {} : { input: value })
}

/**
 * Runs a command of wrangler's: only this needs an account.
 * @returns what it printed, if that is read
 * @throws {Error} if it fails, after it has said why
 */
async function runWrangler(
  args: readonly string[],
  { input, isRead = false, env }: { input?: string; isRead?: boolean; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(process.execPath, [wranglerProgram(), ...args], {
    stdio: [input === undefined ? 'inherit' : 'pipe', isRead ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  child.stdin?.end(input)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const printed = child.stdout === null ? '' : await text(child.stdout)
  if ((await ended) !== 0) throw new Error(`wrangler ${args.join(' ')} failed.`)
  return printed
}
