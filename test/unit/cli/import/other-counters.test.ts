import { describe, expect, it } from 'vitest'
import { readText } from '../../../../cli/import/input-text.ts'
import { OTHER_COUNTERS, toolOf } from '../../../../cli/import/other-counters.ts'
import { exportedCounts, pieces, sample } from './exported-counts.ts'

const toolThatWrote = async (content: string | Buffer, size = 7) => toolOf(await readText(pieces(content, size)))

describe('The tool that wrote a file', () => {
  it.each([
    ['goatcounter', 'goatcounter-1.csv'],
    ['goatcounter', 'goatcounter-2.csv'],
    ['goatcounter', 'goatcounter.jsonl'],
    ['plausible', 'plausible-pages.csv'],
    ['umami', 'umami.csv'],
  ])('is %s for %s, and the whole file is read', async (tool, name) => {
    const content = await sample(name)
    for (const size of [1, 50, 100_000]) expect(await toolThatWrote(content, size)).toBe(tool)
    expect((await exportedCounts(OTHER_COUNTERS[tool]!.read, content)).rows.length).toBeGreaterThan(0)
  })

  it.each([
    ['a byte order mark', '\uFEFFdate,page,pageviews\n', 'plausible'],
    ['columns in another order', 'pageviews,"page",date,new\r\n', 'plausible'],
    ['blanks around columns', ' created_at , event_type,\turl_path \n', 'umami'],
    ['blank lines before the header', '\n\r\ncreated_at,event_type,url_path\n', 'umami'],
    ['a later version', '3Path,Title,Event,Bot,Date\n', 'goatcounter'],
    ['hours before paths', '{"hour":"2026-10-30T08:00:00Z","path_id":1,"count":4}\n', 'goatcounter'],
  ])('is recognized with %s', async (_, content, tool) => {
    expect(await toolThatWrote(content)).toBe(tool)
  })

  it.each([
    ['nothing', ''],
    ['blanks', ' \n\n'],
    ['rows', 'type,key,count,day\npage_view,"date,page,pageviews",1,\n'],
    ['rows as JSON', '{"type":"page_view","key":"{\\"tag_name\\":1,\\"assets\\":2}","count":1}\n'],
    ['rows whose keys are names of columns', '{"type":"page_view","key":"id","count":1}\n{"type":"a","key":"path"}'],
    ['a column missing', 'date,page,visitors\n'],
    ['text', 'Path Event Bot\n'],
  ])('is none for %s', async (_, content) => {
    expect(await toolThatWrote(content)).toBeUndefined()
  })
})
