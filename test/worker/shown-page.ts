/** An element of a page: its attributes, and its text as people read it. */
export interface Found {
  attributes: Record<string, string>
  text: string
}

/** The elements that a selector matches, in the order of the page. */
export async function findAll(page: string, selector: string): Promise<Found[]> {
  const found: Found[] = []
  const open: Found[] = []
  const rewriter = new HTMLRewriter().on(selector, {
    element(element) {
      const each = { attributes: Object.fromEntries([...element.attributes] as [string, string][]), text: '' }
      found.push(each)
      if (VOID.includes(element.tagName)) return
      open.push(each)
      element.onEndTag(() => void open.pop())
    },
    text({ text }) {
      for (const each of open) each.text += text
    },
  })
  await rewriter.transform(new Response(page)).text()
  const decode = (text: string) =>
    text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!).trim()
  return found.map(({ attributes, text }) => ({
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decode(value)])),
    text: decode(text),
  }))
}

/** Elements without an end. */
const VOID = ['input', 'img', 'br', 'meta', 'link']
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

/** A count as a page writes it; of text without digits, `null`. */
export function countIn(text: string): number | null {
  const digits = /-?\d[\d,]*/.exec(text)?.[0]
  return digits === undefined ? null : Number(digits.replaceAll(',', ''))
}

/** What a change says: its text and the two numbers of its tip. */
function changeOf({ text, attributes: { title = '' } }: Found) {
  const [, now, before, until] = /^(-?[\d,]+) compared with (-?[\d,]+)(?:, both up to (.*))?$/.exec(title) ?? []
  return { text, compared: countIn(now ?? ''), before: countIn(before ?? ''), until: until ?? null }
}

/** The numbers that a page shows. */
export async function numbersOn(page: string) {
  const all = (selector: string) => findAll(page, selector)
  const one = async (selector: string) => (await all(selector))[0]
  const heads = await all('#table thead th')
  const cells = await all('#table tbody tr > *')
  const rows = Array.from({ length: heads.length && cells.length / heads.length }, (_, row) =>
    cells.slice(row * heads.length, (row + 1) * heads.length),
  )
  const tiles = await Promise.all(
    ['today', '7d', '30d', '12m', 'all'].map(async (name) => {
      const parts = ['b', 'small', '.growth'].map((part) => one(`#tile-${name} ${part}`))
      const [count, also, change] = await Promise.all(parts)
      const counts = { count: countIn(count?.text ?? ''), also: countIn(also?.text ?? '') }
      return [name, { ...counts, ...changeOf(change!) }] as const
    }),
  )
  const [keys, counts, others, changes] = await Promise.all(
    ['#top bdi', '#top .count', '#top .also', '#top .growth'].map(all),
  )
  return {
    zone: (await one('main'))?.attributes['data-zone'],
    tiles: Object.fromEntries(tiles),
    days: (await one('#chart-days'))?.text,
    sum: (await one('#chart-sum'))?.text,
    change: changeOf((await one('.card-head .growth')) ?? { text: '', attributes: {} }),
    /** By the heads of the columns. */
    units: rows.map((row) => Object.fromEntries(row.map(({ text }, place) => [heads[place]!.text, text]))),
    list: keys!.map(({ text: key }, row) => ({
      key,
      count: countIn(counts![row]!.text),
      ...(others!.length > 0 && { also: countIn(others![row]!.text) }),
      change: changeOf(changes![row]!),
    })),
    note: (await one('#as-of'))?.text,
  }
}
