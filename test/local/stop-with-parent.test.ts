import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT } from './npm-script.ts'

it.each([
  ['exit 0', 0],
  ['exit 3', 3],
  ['kill -INT $$', 130],
  ['kill -KILL $$', 137],
])('A command that ends with `%s` is reported with %d, as a shell does it', async (command, expected) => {
  const script = join(PROJECT, 'local/processes/stop-with-parent.ts')
  const [code] = await once(spawn(process.execPath, [script, '1000', 'sh', '-c', command]), 'exit')
  expect(code).toBe(expected)
})
