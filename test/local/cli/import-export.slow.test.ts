import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { TOKEN } from '../built-worker.ts'
import { atEndOfSuite, NpmScript, PROJECT, stateDirectory } from '../npm-script.ts'
import { WithholdingProxy } from '../withholding-proxy.ts'
import { type Service, transferCommands } from './transfer-commands.ts'

/** Keys that strangers may choose. */
const HOSTILE = [
  '=HYPERLINK("https://evil.example","x")',
  '+1+1',
  '-2+3',
  '@SUM(A1:A9)',
  '\t=1',
  '\r=1',
  '\n=1',
  "'=1",
  "''=1",
  "it's",
  'a,b;c',
  'a;=1;b\t@c|+d',
  '"quoted" ""twice""',
  'line\nbreak\r\nand\rmore',
  ' blanks at both ends ',
  '\u202eright to left\u202c',
  '😀\u200d🌈 é e\u0301',
  '\ufeffmark',
  '\u2028\u0085\u0001',
  '{"type":"page_view"}',
  '%2F..%2f?a=b#c',
  'type',
  'x'.repeat(512),
  '😀'.repeat(128),
]

describe('npm run import and npm run export', () => {
  let folder: string
  const atEnd = atEndOfSuite()
  beforeAll(async () => {
    folder = await stateDirectory(atEnd)
  })

  const { startService, start, run, interrupt } = transferCommands(() => folder, atEnd)

  const allCounts = async ({ counts }: Service) => [await counts('page_view'), await counts('download')]

  const CSV_HEADER = '"type","key","count","day"\r\n'
  const rowsOf = (csv: string) => (parse(csv) as string[][]).slice(1)

  it('An export that is imported elsewhere gives the same counts and days', async () => {
    const source = await startService()
    const counters = HOSTILE.flatMap((key, i) => [
      { type: 'page_view', key, count: i + 1, day: '2026-10-31' },
      { type: 'page_view', key, count: 2, day: '2026-11-01' },
      { type: 'download', key, count: i % 2 ? `${2n ** 60n + BigInt(i)}` : -i },
    ])
    await source.call('POST', '/v1/imports', { counters }, { 'Idempotency-Key': 'source' })
    const increments = HOSTILE.map((key) => ({ type: 'page_view', key, by: 3 }))
    await source.call('POST', '/v1/increments', { increments })
    await source.call('POST', '/v1/rollup')
    await source.call('POST', '/v1/increments', { increments: increments.slice(0, 10) })
    await source.call('PUT', '/v1/counters/page_view/it%27s', { count: 1_000 })
    const expected = await allCounts(source)
    expect([...expected[0]!.keys()].sort()).toEqual([...HOSTILE].sort())

    const byDay = await run('export', source, ['--by', 'day'])
    expect(byDay).toMatchObject({ code: 0, said: expect.stringMatching(/^\d+ rows exported/) })
    expect(byDay.out.startsWith(CSV_HEADER)).toBe(true)
    // Apart from numbers, no cell is a formula to a spreadsheet.
    const cells = (parse(byDay.out) as string[][]).map(([, key]) => key!)
    expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([])
    const file = join(folder, 'by-day.csv')
    await writeFile(file, byDay.out)
    const elsewhere = await startService()
    expect(await run('import', elsewhere, [file])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/rows imported\./),
    })
    expect(await allCounts(elsewhere)).toEqual(expected)
    expect((await run('export', elsewhere, ['--by', 'day'])).out).toBe(byDay.out)

    const json = await run('export', source, ['--format', 'json', '--type', 'page_view', 'download'])
    expect(json.code).toBe(0)
    const lines = json.out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toHaveLength(2 * HOSTILE.length)
    const third = await startService()
    const first = await run('import', third, ['-'], gzipSync(json.out))
    expect(first).toMatchObject({ code: 0 })
    expect(await allCounts(third)).toEqual(expected)
    // The same rows from a plain file are the same import. Under another name, they are another one.
    await writeFile(join(folder, 'lines.json'), json.out)
    const again = await run('import', third, [join(folder, 'lines.json')])
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('had been imported before') })
    expect(await allCounts(third)).toEqual(expected)
    expect((await run('import', third, ['-', '--name', 'more'], 'type,key,count\npage_view,/more,1')).code).toBe(0)
    expect((await run('import', third, ['-', '--name', 'even more'], 'type,key,count\npage_view,/more,1')).code).toBe(0)
    expect((await third.counts('page_view')).get('/more')).toBe(2n)
  })

  it('An export that is interrupted or fails writes no file, and the next one is complete', async () => {
    const service = await startService()
    const counters = (from: number) =>
      Array.from({ length: 1_000 }, (_, i) => ({
        type: i % 2 ? 'page_view' : 'download',
        key: `/k/${from + i}`,
        count: from + i,
      }))
    for (let from = 0; from < 4_000; from += 1_000) {
      await service.call('POST', '/v1/imports', { counters: counters(from) }, { 'Idempotency-Key': `${from}` })
    }
    const proxy = await WithholdingProxy.start(service.url, atEnd)
    for (const [format, lines] of [
      ['csv', 4_001],
      ['json', 4_000],
    ] as const) {
      const output = join(folder, `interrupted-export.${format}`)
      const args = ['-o', output, '--format', format]
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
        const { code, said } = await interrupt(
          'export',
          proxy,
          args,
          { path: '/v1/export/', nth: 3, signal },
          // The pages before are in it.
          async () => expect((await stat(`${output}.partial`)).size).toBeGreaterThan(0),
        )
        await expect(stat(output)).rejects.toThrow('ENOENT')
        if (signal === 'SIGKILL') continue
        expect({ code, said }).toEqual({ code: 130, said: `Interrupted. Nothing was written to ${output}.\n` })
        await expect(stat(`${output}.partial`)).rejects.toThrow('ENOENT')
      }
      const failed = await run('export', service, [...args, '--type', 'page_view', 'nope'])
      expect(failed).toMatchObject({ code: 1, said: expect.stringMatching(/404.*Nothing was written/) })
      await expect(stat(output)).rejects.toThrow('ENOENT')
      // kill -9 left a partial file, which the next export replaces.
      await writeFile(`${output}.partial`, 'x'.repeat(10_000_000))
      expect(await run('export', service, args)).toMatchObject({
        code: 0,
        said: expect.stringContaining('4000 rows exported'),
      })
      const text = await readFile(output, 'utf8')
      expect(text).toBe((await run('export', service, ['--format', format])).out)
      expect(text.trimEnd().split('\n')).toHaveLength(lines)
      await expect(stat(`${output}.partial`)).rejects.toThrow('ENOENT')
    }
  })

  it('An import that is interrupted with Ctrl-C stops cleanly, and the same command continues it', async () => {
    const service = await startService()
    const file = join(folder, 'interrupted.csv')
    await writeFile(
      file,
      `type,key,count\n${Array.from({ length: 5_000 }, (_, i) => `page_view,/i/${i},1`).join('\n')}`,
    )
    const proxy = await WithholdingProxy.start(service.url, atEnd)
    const third = proxy.withhold('/v1/imports', 3)
    const env = { STATE_DIR: folder, API_TOKEN: TOKEN }
    const npm = new NpmScript(['run', '-s', 'import', '--', '--url', proxy.url, file], env)
    await Promise.race([third, npm.ended])
    await npm.pressCtrlC()
    expect(await npm.ended).toBe(130)
    expect(npm.output).toMatch(
      /Interrupted\.\nSo far: 2000 rows imported.*\nAll lines up to 2001 are imported\. Of lines 2002 to 3001, 1000 are not \(unless by the last request\): 2002, 2003, .*\nRun the same command again/,
    )
    expect((await run('import', service, [file])).code).toBe(0)
    const waiting = start('import', service, ['-'])
    // More than a pipe holds: once all of it is written, the program is reading.
    const blanks = `type,key,count\n${'\n'.repeat(1_000_000)}`
    await new Promise((taken) => waiting.child.stdin!.write(blanks, taken))
    waiting.child.kill('SIGINT')
    expect((await waiting.ended).code).toBe(130)
    const counts = await service.counts('page_view')
    expect([counts.size, new Set(counts.values())]).toEqual([5_000, new Set([1n])])
  })

  it.each<[string, string | Buffer, string[], RegExp]>([
    ['a binary file', Buffer.from([0, 255, 3, 7, 0]), [], /line 1: /],
    [
      'a compressed file that ends early',
      gzipSync('type,key,count\npage_view,/g,1\n'.repeat(50)).subarray(0, 40),
      [],
      /unexpected end of file/,
    ],
    ['a wrong token', 'type,key,count\npage_view,/g,1\n', ['--token', 'wrong'], /401/],
  ])('An import imports nothing and names the mistake in case of %s', async (what, content, args, message) => {
    refusing ??= await startService()
    const file = join(folder, `garbage-${what.replaceAll(' ', '-')}`)
    await writeFile(file, content)
    const { code, said } = await run('import', refusing, [file, ...args])
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(message) })
    expect(await refusing.counts('page_view')).toEqual(new Map())
  })
  let refusing: Service | undefined

  it('Exports of other counters are imported once, with their days, and the output lists what was skipped', async () => {
    const service = await startService()
    const samples = join(PROJECT, 'test/unit/cli/import/samples')
    const zipped = join(folder, 'goatcounter.csv.gz')
    await writeFile(zipped, gzipSync(await readFile(join(samples, 'goatcounter-2.csv'))))
    const imports: [string[], Buffer | undefined, string][] = [
      [[zipped], undefined, 'Left out: events (2), bots (1).\nNever imported: titles, referrers,'],
      [
        ['-', '--from', 'goatcounter', '--prefix', 'other.example', '--before', '2026-10-31'],
        await readFile(join(samples, 'goatcounter.jsonl')),
        'Left out: 2026-10-31 and later (9), events (5).\nNever imported: titles',
      ],
      [[join(samples, 'plausible-pages.csv')], undefined, 'of plausible in 3 rows'],
      [[join(samples, 'goatcounter-1.csv'), '--type', 'download'], undefined, 'Left out: bots (1).'],
      [
        ['-', '--prefix', 'umami.example', '--no-query'],
        await readFile(join(samples, 'umami.csv')),
        'Left out: events (2), without a path (1).\nNever imported: sessions,',
      ],
    ]
    const expected = [
      'download,/,1,2021-03-01',
      'download,/about,1,2021-03-01',
      'page_view,/,16,2026-10-30',
      'page_view,/,5,2026-10-31',
      'page_view,/a "quoted", page,1,2026-10-31',
      'page_view,/a "quoted", page,2,2026-10-30',
      'page_view,/a b?q=1,1,2026-10-31',
      'page_view,other.example/,7,2026-10-30',
      'page_view,umami.example/,1,2026-10-30',
      'page_view,umami.example/a "quoted", page,1,2026-10-31',
      'page_view,umami.example/café,1,2026-10-30',
      'page_view,umami.example/café,1,2026-10-31',
    ]
    for (const added of ['rows imported.', 'of them had been imported before and were not added again.']) {
      for (const [args, input, said] of imports) {
        const { code, out, said: mistakes } = await run('import', service, args, input)
        expect({ code, out, mistakes }).toEqual({ code: 0, out: expect.stringContaining(said), mistakes: '' })
        expect(out).toContain(added)
      }
      const { out } = await run('export', service, ['--by', 'day'])
      expect(rowsOf(out).map(String).sort()).toEqual(expected)
    }
  })

  const GOATCOUNTER = [
    '2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date',
    ...['/gc/post', '/gc/post', '/gc/caf%C3%A9', '/gc/q?x=1', '/GC/About', '/gc/alone'].map(
      (path) => `${path},T,0,,Chrome 86,Windows 7,s,0,,,"1280,768,1",AR,1,2026-11-01T12:00:00Z`,
    ),
  ].join('\n')
  const countPages = (service: Service, keys: string[]) =>
    service.call('POST', '/v1/increments', { increments: keys.map((key) => ({ type: 'page_view', key, by: 1 })) })

  it('Imported paths join the counters of their pages', async () => {
    const service = await startService()
    await countPages(service, ['/gc/post/', '/gc/café', '/gc/q', '/gc/about', '/gc/other'])
    const imported = await run('import', service, ['-'], GOATCOUNTER)
    expect(imported).toMatchObject({ code: 0, said: '' })
    expect(await service.counts('page_view')).toEqual(
      new Map([
        ['/gc/post/', 1n],
        ['/gc/café', 2n],
        ['/gc/q', 1n],
        ['/gc/about', 1n],
        ['/gc/other', 1n],
        ['/gc/post', 2n],
        ['/gc/q?x=1', 1n],
        ['/GC/About', 1n],
        ['/gc/alone', 1n],
      ]),
    )
  })

  it('A dry run of rows checks them, from standard input too, and imports nothing', async () => {
    refusing ??= await startService()
    const rows = 'type,key,count\npage_view, /x , 5\n'
    expect(await run('import', refusing, ['-', '--dry-run'], rows)).toMatchObject({
      code: 0,
      out: 'Rows that would be imported: 1. Nothing was changed.\n',
    })
    expect(await run('import', refusing, ['-', '--dry-run'], `${rows}nope,/x,1\n`)).toMatchObject({
      code: 1,
      said: expect.stringContaining('line 3: type is not'),
    })
    expect(await refusing.counts('page_view')).toEqual(new Map())
  })

  it('An import names every line that is wrong, from standard input too, and imports nothing', async () => {
    refusing ??= await startService()
    const rows = `type,key,count,day\n${'page_view,/g,1,\n'.repeat(2_000)}`
    const wrong = 'page_view,/g,x,\nnope,/g,1,\npage_view,/g,1,\npage_view,\u0000,1,\npage_view,/g,1,2999-01-01\n'
    const file = join(folder, 'wrong.csv')
    await writeFile(file, rows + wrong)
    const lines =
      /Stopped: 4 lines are wrong:\nline 2002: count.*\nline 2003: type.*\nline 2005: key.*\nline 2006: day.*\nSo far: 0 rows/
    for (const [args, input] of [[[file]], [['-'], gzipSync(rows + wrong)]] as [string[], Buffer?][]) {
      expect(await run('import', refusing, args, input)).toMatchObject({
        code: 1,
        said: expect.stringMatching(lines),
      })
    }
    const exported = '"date","page","pageviews"\n"2026-11-01","/g",x\n"2026-11-01","/g",1\n"yesterday","/g",1\n'
    const { code, said } = await run('import', refusing, ['-'], exported)
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(/Stopped: 2 .*\nline 2: .*\nline 4: date/) })
    expect(await refusing.counts('page_view')).toEqual(new Map())
  })

  it('An import names the lines with which a total would leave 64 bits, and imports nothing', async () => {
    const page_view = { record_type: 1, same_key: ['letter_case'] }
    const service = await startService({ COUNTERS: { page_view } })
    await service.call('PUT', '/v1/counters/page_view/%2Ffull', { count: 1_000 })
    const most = 2n ** 63n - 1n
    const said = (message: RegExp) => ({ code: 1, out: '', said: expect.stringMatching(message) })
    const rows = (...rows: string[]) => `type,key,count\n${rows.map((row) => `page_view,${row}\n`).join('')}`
    const other = rows('/a,1', `/b,${most}`, '/a,2', '/B,1', `/c,${-most}`, '/c,-1', `/d,${most}`)
    expect(await run('import', service, ['-'], other)).toEqual(
      said(/Stopped: 2 lines are wrong:\nline 5: .*64 bits\nline 7: .*64 bits\.\n/),
    )
    const full = rows(`/x,${most}`, `/Full,${most - 1_000n}`, '/full,1')
    expect(await run('import', service, ['-'], full)).toEqual(said(/Stopped: line 4: .*64 bits\.\n/))
    expect(await service.counts('page_view')).toEqual(new Map([['/full', 1_000n]]))
    const fits = rows(`/x,${most}`, `/Full,${most - 1_000n}`)
    expect((await run('import', service, ['-'], fits)).code).toBe(0)
    expect((await service.counts('page_view')).get('/full')).toBe(most)
  })

  it.each<[string, string, string[], RegExp]>([
    [
      'a type that is not configured',
      '"date","page","pageviews"\n"2026-11-01","/g",1\n',
      ['--type', 'nope'],
      /no counter type "nope"; choose one with --type: .*page_view/,
    ],
    ['a day that is none', '', ['--before', 'yesterday'], /--before.*must be a day/],
    ['rows', 'type,key,count\npage_view,/g,1\n', [], /line 1: the header must have each of the columns date,/],
  ])('An import of another counter imports nothing in case of %s', async (_, content, args, message) => {
    refusing ??= await startService()
    const { code, said } = await run('import', refusing, ['-', '--from', 'plausible', ...args], content)
    expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(message) })
    expect(await refusing.counts('page_view')).toEqual(new Map())
  })

  it('An import of rows refuses the options for exports', async () => {
    refusing ??= await startService()
    for (const options of [['--type', 'x'], ['--prefix', 'x'], ['--before', '2026-11-01'], ['--no-query']]) {
      const { code, said } = await run('import', refusing, ['-', ...options], 'type,key,count\npage_view,/g,1\n')
      expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('are for exports of other counters') })
    }
    expect(await refusing.counts('page_view')).toEqual(new Map())
  })

  it('An export ends when its reader closes the pipe, and explains what cannot be exported', async () => {
    refusing ??= await startService()
    const { child, ended } = start('export', refusing, [])
    child.stdout!.destroy()
    expect([0, 141]).toContain((await ended).code)
    expect(await run('export', refusing, ['--type', 'nope'])).toMatchObject({
      code: 1,
      said: expect.stringContaining('404'),
    })
    expect(await run('export', refusing, ['--format', 'xml'])).toMatchObject({ code: 1 })
    expect(await run('export', refusing, ['-o', '/nonexistent/folder/file'])).toMatchObject({
      code: 1,
      said: expect.stringContaining('ENOENT'),
    })
  })

  it('A replay with --dated counts every request once, on its day', async () => {
    const service = await startService()
    const lines: string[] = []
    const expected = new Map<string, bigint>()
    for (let i = 0; i < 6_000; i++) {
      const day = 1 + (i % 19)
      const path = i % 5 ? `/dated/${i % 700}` : `/files/${i % 7}.zip`
      // Before one o’clock in Berlin, it is still the previous day in UTC.
      const early = i % 4 === 0
      lines.push(
        `192.0.2.1 - - [${String(day).padStart(2, '0')}/Nov/2026:${early ? '00:30' : '12:00'}:00 +0100] "GET ${path}?q=${i} HTTP/1.1" 200 5 "-" "-"`,
      )
      const utc = new Date(Date.UTC(2026, 10, early ? day - 1 : day)).toISOString().slice(0, 10)
      // A download has the key of /d.
      const id = `${path.replace(/^\/(?=files)/, '')} ${utc}`
      expected.set(id, (expected.get(id) ?? 0n) + 1n)
    }
    lines.push(
      '192.0.2.1 - - [01/Nov/2999:12:00:00 +0100] "GET /future HTTP/1.1" 200 5 "-" "-"',
      '{"request":"GET /timeless HTTP/1.1","status":200}',
    )
    const file = join(folder, 'dated.log')
    await writeFile(file, `${lines.join('\n')}\n`)
    const proxy = await WithholdingProxy.start(service.url, atEnd)
    const second = { path: '/v1/imports', nth: 2, signal: 'SIGKILL' } as const
    expect((await interrupt('replay', proxy, ['--dated', file], second)).code).toBeNull()
    const again = await run('replay', service, ['--dated', file])
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/1 in the future.*1 without a time/) })
    expect((await run('replay', service, ['--dated', file])).code).toBe(0)
    const { out } = await run('export', service, ['--by', 'day'])
    expect(new Map(rowsOf(out).map(([, key, count, day]) => [`${key} ${day}`, BigInt(count!)]))).toEqual(expected)
  })
})
