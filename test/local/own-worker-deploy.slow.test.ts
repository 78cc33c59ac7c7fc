import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { takeDatabase } from '../harness/taken-databases.ts'
import { count, hit } from './newcomer.ts'
import { saying } from './npm-script.ts'
import { ownWorkerOfFile } from './own-worker.ts'
import { packNextVersion } from './packed-package.ts'
import { StandInAccount } from './stand-in-account.ts'

const worker = ownWorkerOfFile('own-worker-deploy')

it('deploy stores secrets, makes tables and waits for the first hit; the next version keeps all', async () => {
  const account = await StandInAccount.start(worker.folder, onTestFinished)
  const { url } = account
  const missing = await worker.script('deploy', { DATABASE_URL: '' }).outcome()
  expect(missing).toEqual(saying(1, 'DATABASE_URL is missing: https://USER:PASSWORD@HOST'))

  const { databaseUrl } = await takeDatabase({ empty: true })
  const first = worker.script('deploy', { DATABASE_URL: databaseUrl, CI: '' })
  await first.printed(/Waiting for the first hit[\s\S]*\/check\?type=page_view/)
  expect(first.output).toContain('Applied the migrations 0001_')
  expect(first.output).toContain(`<script defer src="${url}/slotted.js"></script>`)
  const token = account.secrets.get('API_TOKEN')!
  expect(first.output).toContain(token)
  expect(account.secrets.get('DATABASE_URL')).toBe(databaseUrl)
  expect((await hit(url)).headers.get('X-Hit')).toBe('ignored; reason=origin')
  // A stranger chose it: it would clear the terminal, and turn the writing around.
  const key = '/blog/\u001b[2J\u202ehello'
  expect((await hit(url, { Origin: 'https://blog.example' }, key)).headers.get('X-Hit')).toBe('counted')
  expect(await first.outcome()).toEqual(saying(0, 'It counts: /blog/\\u{1B}[2J\\u{202E}hello'))

  const secrets = new Map(account.secrets)
  const again = await worker.script('deploy').outcome()
  expect(again).toEqual(saying(1, `${url} is up, but its tables were not migrated`))

  await writeFile(join(worker.folder, 'vendor/of-the-user.tgz'), '')
  expect((await worker.init(await packNextVersion(worker.packed))).stdout).toContain('The package is now version')
  expect((await readdir(join(worker.folder, 'vendor'))).sort()).toEqual([
    'of-the-user.tgz',
    expect.stringMatching(/^slotted-counter-99\.0\.0-/),
  ])
  await worker.install()
  const upgrade = await worker.script('deploy', { API_TOKEN: token }).outcome()
  expect(upgrade).toEqual(saying(0, /Applied the migrations 9999_next_version[\s\S]*It counts: \/blog\//))
  expect(account.secrets).toEqual(secrets)
  expect(account.deployments).toBe(4)
  expect(await count(url, key)).toMatchObject({ count: 1 })
}, 300_000)
