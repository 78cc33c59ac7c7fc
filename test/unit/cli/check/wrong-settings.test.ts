import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { OWN_PATHS } from '../../../../cli/check/wrong-bindings.ts'
import { wrongSettings } from '../../../../cli/check/wrong-settings.ts'
import { PROJECT } from '../../../../local/project-root.ts'
import { areApart, RIGHT, WRONG_SETTINGS, withWrong } from '../../../harness/wrong-settings.ts'

// Where wrangler is found.
const folder = mkdtempSync(join(PROJECT, 'node_modules/.settings ünï-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = join(folder, 'wrangler.toml')
writeFileSync(join(folder, 'index.ts'), '')
const HEAD = 'name = "counter"\nmain = "index.ts"\ncompatibility_date = "2026-09-18"\n'
const TRIGGERS = '[triggers]\ncrons = ["* * * * *", "*/2 * * * *"]\n'
mkdirSync(join(folder, 'public/counter'), { recursive: true })
for (const path of ['slotted.js', 'counter/slotted.js']) writeFileSync(join(folder, 'public', path), '')
const filesOf = (base: string) => `
[assets]
directory = "public"
binding = "ASSETS"
run_worker_first = ${JSON.stringify(OWN_PATHS.map((path) => base + path))}
`

const LIMIT = (name: string, more = '', id = '1') =>
  `[[ratelimits]]\nname = "${name}"\nnamespace_id = "${id}"\nsimple = { limit = 600, period = 60 }\n${more}\n`

/** What is wrong in a file, without the folder. Lines are counted from the end of `head`. */
function check(text: string, isMounted = false, base = '', head = HEAD): string[] {
  const files = /^\[assets\]|^# no files|= \[1/m.test(text) || isMounted ? '' : filesOf(base)
  writeFileSync(file, `${head}${text}${files && `\n${files}`}`)
  const [before, headLines] = [`${relative(process.cwd(), file)}:`, head.split('\n').length - 1]
  return wrongSettings(file, isMounted).map((line) => {
    expect(line.startsWith(before)).toBe(true)
    const [, number, said] = /^(\d+)(:.*)$/.exec(line.slice(before.length))!
    return `wrangler.toml:${Math.max(1, Number(number) - headLines)}${said}`
  })
}

/** Writes variables as TOML, with the line of each: JSON's scalars and lists are TOML's too. */
function written(vars: object): { text: string; lineOf: (field: string) => number } {
  const lines = TRIGGERS.trimEnd().split('\n')
  const places = new Map<string, number>()
  const write = (table: object, path: string[]) => {
    places.set(path.join('.'), lines.push(`[${['vars', ...path].join('.')}]`))
    const isTable = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
    const entries = Object.entries(table)
    for (const [name, value] of entries.filter(([, value]) => !isTable(value))) {
      places.set([...path, name].join('.'), lines.push(`${name} = ${JSON.stringify(value)}`))
    }
    for (const [name, value] of entries.filter(([, value]) => isTable(value))) write(value, [...path, name])
  }
  write(vars, [])
  const lineOf = (field: string): number =>
    places.get(field) ?? lineOf(field.slice(0, Math.max(0, field.lastIndexOf('.'))))
  return { text: lines.join('\n'), lineOf }
}

describe('check', () => {
  it('names every wrong setting with its line, alone and beside another', () => {
    expect(check(written(RIGHT).text)).toEqual([])
    for (const [i, wrong] of WRONG_SETTINGS.entries()) {
      const other = WRONG_SETTINGS[(i + 11) % WRONG_SETTINGS.length]!
      const named = ({ field }: typeof wrong) => field !== 'COUNTERS.page_view.also' && !field.endsWith('.bots')
      for (const pair of [[wrong], ...(areApart(wrong, other) ? [[wrong, other].filter(named)] : [])]) {
        const { text, lineOf } = written(withWrong(RIGHT, pair))
        const expected = pair.map(({ field }) => expect.stringMatching(`^wrangler.toml:${lineOf(field)}: ${field} `))
        expect(check(text)).toEqual(expect.arrayContaining(expected))
      }
    }
  })

  it('names what wrangler would ignore', () => {
    const text = `foo_bar = 3\n[observability]\nenable = true\n${LIMIT('VISITOR_LIMIT', 'limits = 5')}`
    expect(check(`${text}${written(RIGHT).text}`)).toEqual([
      expect.stringMatching(/:1: foo_bar is not known to wrangler/),
      expect.stringMatching(/:3: observability\.enable is not known/),
      expect.stringMatching(/:8: ratelimits\.0\.limits is not known/),
    ])
  })

  it.each([
    ['[[ratelimits]]\nbinding = "VISITOR_LIMIT"', 1, 'ratelimits.0 lacks name'],
    ['[[ratelimits]]\nname = "VISITOR_LIMIT"\nnamespace_id = "1"', 1, 'ratelimits.0 lacks simple'],
    ['[ratelimits]\nname = "VISITOR_LIMIT"', 1, 'ratelimits must be of type array'],
    [LIMIT('VISITOR_LIMIT').replace('"1"', '1'), 3, 'ratelimits.0.namespace_id must be of type string'],
    [LIMIT('VISITOR_LIMIT').replace('600', '"600"'), 4, 'ratelimits.0.simple.limit must be of type number'],
    [LIMIT('VISITOR_LIMIT').replace('60 ', '30 '), 4, 'ratelimits.0.simple.period must be 10 or 60'],
    ['[assets]\nrun_worker_first = "/hit"', 2, 'assets.run_worker_first must be of type array or boolean'],
    ['[[queues.consumers]]\nquene = "b"', 1, 'queues.consumers.0 lacks queue'],
    ['minify = 1', 1, 'minify must be of type boolean'],
    ['[vars]\nSITES = ""\n[env.a]\nmain = 5', 4, 'env.a.main must be of type string'],
  ])('names what wrangler refuses: %j', (text, line, said) => {
    expect(check(text)).toContain(`wrangler.toml:${line}: ${said}`)
  })

  it('names what is missing at the top, and a module that does not exist', () => {
    expect(check(written(RIGHT).text, true, '', '')).toEqual([
      'wrangler.toml:1: name is missing',
      'wrangler.toml:1: main is missing',
      'wrangler.toml:1: compatibility_date is missing',
    ])
    const misspelt = HEAD.replace('index', 'indx')
    expect(check(written(RIGHT).text, false, '', misspelt)).toEqual([
      'wrangler.toml:1: main names a file that does not exist',
    ])
    const built = `${misspelt}[build]\ncommand = "make"\n`
    expect(check(written(RIGHT).text, false, '', built)).toEqual([])
  })

  it('accepts types without sites only if that is said', () => {
    const text = `${TRIGGERS}[vars.COUNTERS.page_view]\nrecord_type = 1\n`
    expect(check(text)).toEqual([expect.stringMatching(/^wrangler\.toml:3: vars lacks SITES, so no page may count/)])
    for (const more of ['allowed_origins = []', '[vars]\nSITES = ""']) expect(check(text + more)).toEqual([])
    expect(check(text, true)).toEqual([])
  })

  it('accepts logs without invocation logs only, unless an application decides', () => {
    const logs = (text: string) => `[observability]\n${text}\n${written(RIGHT).text}`
    const refused = [expect.stringMatching(/: observability\.logs\.invocation_logs must be false/)]
    expect(check(logs('enabled = true'))).toEqual(refused)
    expect(check(logs('logs = { enabled = true, invocation_logs = true }'))).toEqual(refused)
    expect(check(logs('enabled = true\nlogs.invocation_logs = true'), true)).toEqual([])
    for (const right of ['enabled = false', 'enabled = true\nlogs.invocation_logs = false']) {
      expect(check(logs(right))).toEqual([])
    }
  })

  it('suggests the name that a misspelt one probably is', () => {
    const text = `${TRIGGERS}[vars]\nSITES = ""\n[vars.COUNTERS.a]\nrecord_type = 1\nredirectto = "/f/"\npublik = true\nfoo = 1\n`
    expect(check(text)).toEqual([
      'wrangler.toml:7: COUNTERS.a.redirectto is unknown: did you mean redirect_to?',
      'wrangler.toml:8: COUNTERS.a.publik is unknown: did you mean public?',
      'wrangler.toml:9: COUNTERS.a.foo is unknown',
    ])
  })

  it('names a variable that the counter does not know, unless it is mounted beside others', () => {
    const { text } = written({ ...RIGHT, COUNTER: {} })
    expect(check(text)).toEqual([expect.stringMatching(/: COUNTER is unknown: did you mean COUNTERS\?$/)])
    expect(check(text, true)).toEqual([])
    const { text: withoutTable } = written({ ...RIGHT, redirect_to: 'https://files.test/' })
    expect(check(withoutTable)).toEqual([
      expect.stringContaining('redirect_to belongs below the [vars.COUNTERS.…] of a type'),
    ])
  })

  it('names an unknown binding, unless it may be that of the application', () => {
    const text = `${written(RIGHT).text}\n[[queues.producers]]\nbinding = "BATCHES_2"\nqueue = "mine"\n`
    expect(check(text)).toEqual([expect.stringMatching(/\.0\.binding must be one of BATCHES, DEAD_BATCHES$/)])
    expect(check(text, true)).toEqual([])
  })

  it('names a task without a cron trigger', () => {
    expect(check(written(RIGHT).text.replace(', "*/2 * * * *"', ''))).toEqual([
      'wrangler.toml:2: triggers.crons lacks "*/2 * * * *", so that task would never run',
    ])
  })

  it('reads bindings, inline tables, dotted keys and lists over several lines', () => {
    const queue = '[[queues.producers]]\nbinding = "BATCHES"\n'
    const types = 'vars.SITES = ""\nvars.COUNTERS.a = { record_type = 1, slots = 0 }\nvars.COUNTERS.b.record_type = 2\n'
    const list = '[vars.EXCLUDE]\nnetworks = [\n  "203.0.113.7",\n  "home",\n]\n'
    expect(check(types + TRIGGERS + queue + list)).toEqual([
      expect.stringMatching(/^wrangler\.toml:2: COUNTERS\.a\.slots must/),
      expect.stringMatching(/^wrangler\.toml:11: EXCLUDE\.networks\.1 must/),
    ])
  })

  const QUEUES = `[[queues.producers]]
binding = "BATCHES"
queue = "b"
[[queues.producers]]
binding = "DEAD_BATCHES"
queue = "dead"
`
  const CONSUMER = '[[queues.consumers]]\nqueue = "b"\ndead_letter_queue = "dead"\n'

  it.each<[what: string, text: string, line: number, said: RegExp]>([
    ['no files', '# no files', 1, /assets is missing: directory = "dist\/public", binding = "ASSETS"/],
    ['an empty [assets]', '[assets]', 3, /assets\.binding must be "ASSETS"/],
    ['another binding', filesOf('').replace('"ASSETS"', '"FILES"'), 6, /assets\.binding must be "ASSETS"/],
    [
      'another folder',
      filesOf('').replace('"public"', '"none"'),
      5,
      /directory has no \/slotted\.js: it must be "dist\/public"/,
    ],
    ['an unseen path', filesOf('').replace('"/v1/*",', ''), 7, /run_worker_first lacks "\/v1\/\*"/],
    ['no paths', filesOf('').replace(/run_w.*/, ''), 4, /run_worker_first lacks "\/hit", "\/hit\.gif"/],
    ['a misspelt queue', QUEUES.replace('"BATCHES"', '"BATCHS"'), 4, /producers\.0\.binding must be one of BATCHES/],
    ['dead batches without batches', QUEUES.slice(QUEUES.indexOf('[[', 2)), 5, /needs a queue for BATCHES beside it/],
    ['one queue for both', QUEUES.replace('"dead"', '"b"') + CONSUMER, 8, /is also that of BATCHES: name another one/],
    [
      'a misspelt consumer',
      QUEUES.replace('"b"', '"my-batches"') + CONSUMER.replace('"b"', '"my-batchs"'),
      10,
      /queues\.consumers\.0\.queue must be the queue of BATCHES, "my-batches"/,
    ],
    ['only dead batches', QUEUES + CONSUMER.replace('"b"', '"dead"'), 5, /queue has no \[\[queues\.consumers/],
    ['an excluded internet', '[vars.EXCLUDE]\nnetworks = ["0.0.0.0/0"]', 4, /must be an address or a network/],
    ['an unknown limit', LIMIT('VISITORS_LIMIT'), 4, /ratelimits\.0\.name must be one of/],
    ['a limit of 0', LIMIT('VISITOR_LIMIT').replace('600', '0'), 6, /limit must be at least 1/],
    [
      'a namespace twice',
      LIMIT('VISITOR_LIMIT') + LIMIT('READER_LIMIT'),
      10,
      /namespace_id is also that of VISITOR_LIMIT/,
    ],
    ['a limit twice', LIMIT('VISITOR_LIMIT') + LIMIT('VISITOR_LIMIT'), 9, /1\.name is already bound/],
    ['a queue twice', QUEUES.replace('DEAD_', '') + CONSUMER, 7, /producers\.1\.binding is already bound/],
    ['a queue without a consumer', QUEUES, 5, /queues\.producers\.0\.queue has no \[\[queues\.consumers/],
    ['another dead queue', QUEUES + CONSUMER.replace('"dead"', '"x"'), 11, /must be the queue of DEAD_BATCHES, "dead"/],
    ['a secret', '[vars]\nAPI_TOKEN = "a-token-of-the-owner"', 4, /API_TOKEN is a secret: remove it here/],
    ['__proto__', '[vars.COUNTERS.__proto__]\nrecord_type = 1', 3, /the name __proto__ is not allowed/],
  ])('names %s, which would stop counting, with its line', (_, text, line, said) => {
    const lines = check(`${TRIGGERS}${text}\n${/^\[vars/.test(text) ? '' : '[vars]\n'}SITES = "https://a.example"\n`)
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^wrangler.toml:${line}: .*${said.source}`)))
  })

  it('names what is missing in a table that has only tables, with the line of the first', () => {
    expect(check(`${TRIGGERS}[vars.PRUNING]\nidempotency_hours = 5\n[vars.HISTORY]\nhour_days = 40\n`)).toEqual([
      expect.stringMatching(/^wrangler\.toml:3: COUNTERS is missing/),
    ])
  })

  it('finds nothing wrong in queues, limits and files of a base path that fit together', () => {
    const limits = LIMIT('VISITOR_LIMIT') + LIMIT('READER_LIMIT', '', '2')
    const vars = '[vars]\nSITES = "https://a.example"\nBASE_PATH = "/counter"\n'
    expect(check(TRIGGERS + QUEUES + CONSUMER + limits + vars, false, '/counter')).toEqual([])
    const elsewhere = check(TRIGGERS + vars.replace('/counter', '/other'), false, '/other')
    expect(elsewhere).toEqual([expect.stringMatching(/has no \/other\/slotted\.js: run .*--base-path \/other/)])
    expect(check(TRIGGERS + vars.replace('/counter', 'other/'))).toEqual([expect.stringMatching(/: BASE_PATH must/)])
  })

  it('knows the paths that the Worker ships with', () => {
    const shipped = readFileSync(join(PROJECT, 'wrangler.toml'), 'utf8')
    expect(shipped).toContain(`run_worker_first = [${OWN_PATHS.map((path) => `"${path}"`).join(', ')}]`)
  })

  it('reads the variables of each environment', () => {
    const text = `${written(RIGHT).text}\n[env.staging.vars]\nPLAN = "paid"\nSITES = ""\n[env.staging.vars.COUNTERS.a]\nrecord_type = 0\n`
    expect(check(text)).toEqual([expect.stringMatching(/: COUNTERS\.a\.record_type must/)])
  })

  it('names once what environments inherit, unless it is wrong only there', () => {
    const environments = '[env.a.vars]\nSITES = ""\n[env.b.vars]\nSITES = ""\nBASE_PATH = "/b"\n'
    const text = `[observability]\nenabled = true\n${written(RIGHT).text}\n${environments}`
    expect(check(text)).toEqual([
      expect.stringMatching(/:1: observability\.logs\.invocation_logs must be false/),
      expect.stringMatching(/: assets\.directory has no \/b\/slotted\.js/),
      expect.stringMatching(/: assets\.run_worker_first lacks "\/b\/hit"/),
    ])
    expect(check(`${text}[env.b.observability]\nenabled = true\n`)).toHaveLength(4)
  })

  it.each([
    ['[vars.COUNTERS.page view]', 1],
    ['a = 1\nb = [1,\n2', 3],
    ['[vars]\nPLAN = "free"\nPLAN = "paid"', 3],
    ['[vars]\nPLAN = free', 2],
  ])('says where %j is not TOML', (text, line) => {
    expect(check(text)).toEqual([expect.stringMatching(`^wrangler.toml:${line}: this is not TOML: `)])
  })

  it.each([
    ['wrangler.toml', false],
    ['examples/blog/wrangler.toml', true],
    ['examples/in-process/wrangler.toml', true],
  ])('finds nothing wrong in %s', (path, isMounted) => {
    expect(wrongSettings(join(PROJECT, path), isMounted)).toEqual([])
  })
})
