import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { alive, NpmScript, PROJECT, stateDirectory } from '../npm-script.ts'

/** The contents of all files that benchmarks write. */
async function outputFiles(): Promise<string[]> {
  const files = ['README.md', 'bench/README.md']
  for (const folder of ['bench/results', 'bench/charts']) {
    files.push(...(await readdir(join(PROJECT, folder))).sort().map((name) => `${folder}/${name}`))
  }
  return Promise.all(files.map(async (file) => `${file}\n${await readFile(join(PROJECT, file), 'utf8')}`))
}

// Each run builds Workers and, the first time, installs a program.
describe('npm run bench', { timeout: 300_000 }, () => {
  let folder: string
  let before: string[]
  beforeEach(async () => {
    folder = await stateDirectory()
    before = await outputFiles()
  })

  const bench = (args: string[]) =>
    new NpmScript(['run', '-s', 'bench', '--', ...args], { MYSQL_URL: inject('mysqlUrl'), TMPDIR: folder })

  /** The benchmark's temporary folders that still exist. npm's and Node.js's caches do not count. */
  const folders = async () => (await readdir(folder)).filter((name) => name.startsWith('slotted-counter-'))

  /** Databases of some processes that still exist on the server. Other tests may use the same server. */
  async function databasesOf(pids: readonly number[]): Promise<string[]> {
    const connection = await mysql.createConnection({ uri: inject('mysqlUrl') })
    onTestFinished(() => connection.end())
    const [rows] = await connection.query<RowDataPacket[]>("SHOW DATABASES LIKE 'slotted\\_bench\\_%'")
    return rows
      .map((row) => String(Object.values(row)[0]))
      .filter((name) => pids.some((pid) => name.startsWith(`slotted_bench_${pid}_`)))
  }

  it('Measuring one variant writes no files and leaves nothing behind', async () => {
    const script = bench(['many-keys', '--rounds', '1', '--seconds', '1', '--variant', 'one statement'])
    expect(await script.ended, script.output).toBe(0)
    expect(script.output).toMatch(/one statement per request: [1-9][\d,]* requests\/s, .*\[1 of 1/)
    expect(await outputFiles()).toEqual(before)
    expect(await folders()).toEqual([])
  })

  it('An interrupted run leaves no process, database, folder or half-written file', async () => {
    const script = bench(['many-keys', '--rounds', '1', '--seconds', '60', '--dry-run'])
    let pids: number[] = []
    await expect
      .poll(
        async () => {
          pids = await script.processes()
          return (await alive(pids)).join('\n')
        },
        { timeout: 240_000 },
      )
      .toMatch(/workerd serve/)
    expect(await databasesOf(pids)).toHaveLength(1)
    await script.pressCtrlC()
    expect(await script.ended, script.output).toBe(130)
    expect(script.output).toContain('no process is left running')
    expect(await alive(pids)).toEqual([])
    expect(await outputFiles()).toEqual(before)
    expect(await folders()).toEqual([])
    expect(await databasesOf(pids)).toEqual([])
  })
})
