import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { alive, NpmScript, PROJECT, stateDirectory } from './npm-script.ts'

/** Everything that benchmarks write. */
async function written(): Promise<string[]> {
  const files = ['README.md', 'bench/README.md']
  for (const folder of ['bench/results', 'bench/charts']) {
    files.push(...(await readdir(join(PROJECT, folder))).sort().map((name) => `${folder}/${name}`))
  }
  return Promise.all(files.map(async (file) => `${file}\n${await readFile(join(PROJECT, file), 'utf8')}`))
}

describe('npm run bench', () => {
  let folder: string
  let before: string[]
  beforeEach(async () => {
    folder = await stateDirectory()
    before = await written()
  })

  const bench = (args: string[]) =>
    new NpmScript(['run', '-s', 'bench', '--', ...args], { MYSQL_URL: inject('mysqlUrl'), TMPDIR: folder })

  /** Folders that it has left; what npm and Node.js keep for later is not its own. */
  const folders = async () => (await readdir(folder)).filter((name) => name.startsWith('slotted-counter-'))

  /** Databases that one of some processes has left on the server, which others may be using too. */
  async function databasesOf(pids: readonly number[]): Promise<string[]> {
    const connection = await mysql.createConnection({ uri: inject('mysqlUrl') })
    onTestFinished(() => connection.end())
    const [rows] = await connection.query<RowDataPacket[]>("SHOW DATABASES LIKE 'slotted\\_bench\\_%'")
    return rows
      .map((row) => String(Object.values(row)[0]))
      .filter((name) => pids.some((pid) => name.startsWith(`slotted_bench_${pid}_`)))
  }

  it('measures one variant, writes nothing of it, and leaves nothing behind', async () => {
    const script = bench(['faults', '--rounds', '1', '--seconds', '1', '--variant', 'one row: Worker killed'])
    expect(await script.ended, script.output).toBe(0)
    expect(script.output).toMatch(/one row: Worker killed: [1-9][\d,]* acknowledged, .* 0 lost, .*\[1 of 1/)
    expect(await written()).toEqual(before)
    expect(await folders()).toEqual([])
  })

  it('interrupted in the middle of a run, leaves nothing running and nothing half-written', async () => {
    const script = bench(['faults', '--rounds', '1', '--seconds', '60', '--dry-run'])
    let pids: number[] = []
    await expect
      .poll(
        async () => {
          pids = await script.processes()
          return (await alive(pids)).join('\n')
        },
        { timeout: 60_000 },
      )
      .toMatch(/workerd serve/)
    expect(await databasesOf(pids)).toHaveLength(1)
    await script.pressCtrlC()
    expect(await script.ended, script.output).toBe(130)
    expect(script.output).toContain('nothing is left running')
    expect(await alive(pids)).toEqual([])
    expect(await written()).toEqual(before)
    expect(await folders()).toEqual([])
    expect(await databasesOf(pids)).toEqual([])
  })
})
