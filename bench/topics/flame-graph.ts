import type { TopLevelSpec } from 'vega-lite'
import type { Chart } from '../report/chart.ts'
import type { Table } from '../topic.ts'

const TITLE = 'Stacks'
/** Share of the whole below which a frame is left out. */
const LEAST = 0.003
const WIDTH = 860
const ROW_HEIGHT = 17
const LETTER_WIDTH = 6.2

/** A function, called from where it stands in the tree. */
interface Frame {
  name: string
  part: string
  micros: number
  children: Map<string, Frame>
}

/** Sums of time by stack. */
export class Stacks {
  readonly #root: Frame = { name: '', part: '', micros: 0, children: new Map() }

  /** @param stack functions from the outermost to the innermost, each with the part of the project it belongs to */
  add(stack: readonly { name: string; part: string }[], micros: number): void {
    let frame = this.#root
    frame.micros += micros
    for (const { name, part } of stack) {
      const child = frame.children.get(name) ?? { name, part, micros: 0, children: new Map() }
      frame.children.set(name, child)
      child.micros += micros
      frame = child
    }
  }

  /** What is large enough to be seen, as it is kept with the results: depth, where it begins and ends (of 1), name, part. */
  table(): Table {
    const rows: string[][] = []
    const whole = this.#root.micros
    const walk = (frame: Frame, depth: number, from: number) => {
      let at = from
      const children = [...frame.children.values()].sort((a, b) => b.micros - a.micros)
      for (const child of children) {
        const share = child.micros / whole
        if (share < LEAST) continue
        rows.push([String(depth), at.toFixed(4), (at + share).toFixed(4), child.name, child.part])
        walk(child, depth + 1, at)
        at += share
      }
    }
    if (whole > 0) walk(this.#root, 0, 0)
    return { title: TITLE, hidden: true, headings: ['depth', 'from', 'to', 'function', 'part'], rows }
  }
}

/** Draws the stacks that were kept: the wider, the more time; what is above is called by what is below. */
export function flameGraph(name: string, alt: string, tables: readonly Table[]): Chart[] {
  const rows = tables.find(({ title }) => title === TITLE)?.rows ?? []
  if (rows.length === 0) return []
  const frames = rows.map(([depth, from, to, name, part]) => {
    const [begin, end] = [Number(from), Number(to)]
    const letters = Math.floor(((end - begin) * WIDTH) / LETTER_WIDTH) - 1
    const label = letters < 3 ? '' : name!.length <= letters ? name! : `${name!.slice(0, letters - 1)}…`
    return { depth: Number(depth), top: Number(depth) + 0.94, begin, end, label, name, part: groupOf(part!) }
  })
  const depths = Math.max(...frames.map(({ depth }) => depth)) + 1
  const y = { type: 'quantitative', axis: null, scale: { domain: [0, depths] } }
  const x = { type: 'quantitative', title: 'share of the time', axis: { format: '.0%' }, scale: { domain: [0, 1] } }
  const spec = {
    data: { values: frames },
    width: WIDTH,
    height: depths * ROW_HEIGHT,
    layer: [
      {
        mark: { type: 'rect', cornerRadius: 1, opacity: 0.9 },
        encoding: {
          x: { ...x, field: 'begin' },
          x2: { field: 'end' },
          y: { ...y, field: 'depth' },
          y2: { field: 'top' },
          color: { field: 'part', type: 'nominal', title: 'part', sort: null },
          description: { field: 'name' },
        },
      },
      {
        transform: [{ filter: 'datum.label != ""' }, { calculate: '(datum.depth + datum.top) / 2', as: 'middle' }],
        mark: {
          type: 'text',
          align: 'left',
          baseline: 'middle',
          dx: 3,
          fontSize: 10,
          color: '#ffffff',
          fontWeight: 600,
        },
        encoding: { x: { ...x, field: 'begin' }, y: { ...y, field: 'middle' }, text: { field: 'label' } },
      },
    ],
  }
  return [{ name, alt, spec: spec as unknown as TopLevelSpec }]
}

/** Few enough parts for colours to tell them apart. */
function groupOf(part: string): string {
  if (part.startsWith('src/')) return 'Slotted Counter'
  if (part === 'hono') return 'hono'
  if (part === '@planetscale/database') return 'driver'
  if (part.startsWith('(')) return part
  return part.startsWith('built into') ? 'workerd and V8' : 'other packages'
}
