import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { FieldError } from '../../../src/schemas.ts'
import { readTokens } from '../../../src/tokens.ts'
import { PROJECT } from '../npm-script.ts'

const run = promisify(execFile)
const token = (...args: string[]) => run(process.execPath, [join(PROJECT, 'cli/token/token.ts'), ...args])
const failure = (...args: string[]) =>
  token(...args).then(
    () => '',
    ({ code, stderr, stdout }: { code: number; stderr: string; stdout: string }) => `${code} ${stdout}${stderr}`,
  )

describe('npm run token', () => {
  it('prints a new token, and the line by which the Worker recognizes it', async () => {
    const { stdout } = await token('web-site', 'count:page_view,download')
    const [value = ''] = /\bslotted_[\w-]{43}\b/.exec(stdout)!
    const [line = ''] = /web-site count.*$/m.exec(stdout)!
    const mistakes: FieldError[] = []
    const tokens = readTokens(line, () => true, mistakes)
    expect(mistakes).toEqual([])
    expect(tokens).toEqual([
      {
        name: 'web-site',
        scope: 'count',
        types: new Set(['page_view', 'download']),
        hash: createHash('sha256').update(value).digest('hex'),
      },
    ])
    expect(stdout).toContain('npx wrangler secret put API_TOKENS')
    expect((await token('web-site', 'count')).stdout).not.toContain(value)
  })

  it.each([
    [['ci'], /^1 error: missing required argument 'scope'/],
    [['ci', 'write'], /^1 scope must be count, read, manage/],
    [['c.i', 'read'], /^1 name must have up to 32/],
    [['owner', 'manage'], /^1 name must .*not be "owner"/],
    [['ci', 'read:'], /^1 types must be/],
    [['ci', 'count:page_view,pageview'], /^1 types must be configured .*\(wrangler\.toml has page_view, download\)/],
    [['ci\n', 'read'], /^1 Neither name nor scope/],
    [['#ci', 'read'], /^1 Neither name nor scope/],
  ])('refuses %j, and prints no token', async (args, message) => {
    const said = await failure(...args)
    expect(said).toMatch(message)
    expect(said).not.toContain('slotted_')
  })
})
