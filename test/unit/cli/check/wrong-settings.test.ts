import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { wrongSettings } from '../../../../cli/check/wrong-settings.ts'
import { PROJECT } from '../../../../local/project-root.ts'
import { areApart, RIGHT, WRONG_SETTINGS, withWrong } from '../../../harness/wrong-settings.ts'

// Where wrangler is found.
const folder = mkdtempSync(join(PROJECT, 'node_modules/.settings ünï-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = join(folder, 'wrangler.toml')
const TRIGGERS = '[triggers]\ncrons = ["* * * * *", "*/2 * * * *"]\n'

/** What is wrong in a file, without the folder. */
function check(text: string, isMounted = false): string[] {
  writeFileSync(file, text)
  const found = wrongSettings(file, isMounted)
  for (const line of found) expect(line.startsWith(`${relative(process.cwd(), file)}:`)).toBe(true)
  return found.map((line) => line.slice(line.indexOf('wrangler.toml:')))
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
    const text = `foo_bar = 3\n[observability]\nenable = true\n[[ratelimits]]\nname = "VISITOR_LIMIT"\nlimits = 5\n`
    expect(check(`${text}${written(RIGHT).text}`)).toEqual([
      expect.stringMatching(/:1: foo_bar is not known to wrangler/),
      expect.stringMatching(/:3: observability\.enable is not known/),
      expect.stringMatching(/:6: ratelimits\.0\.limits is not known/),
    ])
  })

  it('names a variable that the counter does not know, unless it is mounted beside others', () => {
    const { text } = written({ ...RIGHT, COUNTER: {} })
    expect(check(text)).toEqual([expect.stringMatching(/: COUNTER is not known here$/)])
    expect(check(text, true)).toEqual([])
  })

  it('names a task without a cron trigger', () => {
    expect(check(written(RIGHT).text.replace(', "*/2 * * * *"', ''))).toEqual([
      'wrangler.toml:2: triggers.crons lacks "*/2 * * * *", so that task would never run',
    ])
  })

  it('reads bindings, inline tables, dotted keys and lists over several lines', () => {
    const queue = '[[queues.producers]]\nbinding = "BATCHES"\nqueue = "b"\n'
    const types = 'vars.COUNTERS.a = { record_type = 1, slots = 0 }\nvars.COUNTERS.b.record_type = 2\n'
    const list = '[vars.EXCLUDE]\nnetworks = [\n  "203.0.113.7",\n  "home",\n]\n'
    expect(check(types + TRIGGERS + queue + list)).toEqual([
      expect.stringMatching(/^wrangler\.toml:1: COUNTERS\.a\.slots must/),
      expect.stringMatching(/^wrangler\.toml:11: EXCLUDE\.networks\.1 must/),
    ])
  })

  it('reads the variables of each environment', () => {
    const text = `${written(RIGHT).text}\n[env.staging.vars]\nPLAN = "paid"\n[env.staging.vars.COUNTERS.a]\nrecord_type = 0\n`
    expect(check(text)).toEqual([expect.stringMatching(/: COUNTERS\.a\.record_type must/)])
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
