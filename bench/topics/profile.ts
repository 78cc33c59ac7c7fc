import { readFile } from 'node:fs/promises'
import { SourceMap, type SourceMapping } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { freePort } from '../../local/free-port.ts'
import { PROJECT } from '../../local/worker-process.ts'
import { Inspector } from '../harness/inspector.ts'
import type { Rig } from '../harness/rig.ts'
import { type Service, withService } from '../harness/service.ts'
import { runWrk } from '../harness/wrk.ts'
import type { Table, Topic } from '../topic.ts'
import { flameGraph, Stacks } from './flame-graph.ts'

const CONNECTIONS = 256
const WARM_UP_SECONDS = 2
const SAMPLE_MICROS = 200
const ROWS = 30
const BY_PART = 'By part'
/** What the built module is called in workerd. */
const MODULE = 'worker.js'
const BUILT_IN = 'built into workerd and V8'

/** The part of V8's CPU profile that is used here. Lines and columns count from 0. */
interface Profile {
  nodes: {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number }
    children?: number[]
  }[]
  samples: number[]
  timeDeltas: number[]
}

type CallFrame = Profile['nodes'][number]['callFrame']

/** Where the time of a hit goes. */
export const profile: Topic = {
  name: 'profile',
  title: 'Where does the time of a hit go?',
  text:
    `V8's CPU profile of the Worker under \`POST /hit\` to one key, ${CONNECTIONS} connections, by self time. \`(program)\` is ` +
    'workerd outside of JavaScript: HTTP, streams, timers, the event loop. The profiler itself takes its share.',
  variants: [],
  columns: [],
  comparisons: [],
  charts: ({ tables }) => flameGraph('flame-graph', 'Flame graph of the Worker under POST /hit', tables),
  findings({ tables }) {
    const parts = tables.find(({ title }) => title === BY_PART)?.rows ?? []
    const share = (wanted: (part: string) => boolean) =>
      parts.reduce((sum, [part, time]) => (wanted(part!) ? sum + Number.parseFloat(time!) : sum), 0)
    const own = parts.filter(([part]) => part!.startsWith('src/'))
    if (own.length === 0) return []
    return [
      `Of the time of a hit, ${share((part) => part.startsWith('src/')).toFixed(0)} % is Slotted Counter’s own code, ` +
        `${share((part) => !part.startsWith('src/') && !part.startsWith('(') && part !== BUILT_IN).toFixed(0)} % its packages’, and the rest the runtime’s.`,
      `Of its own code ${own[0]![0]} takes the most, ${own[0]![1]}: what would make hits cheaper has to begin there, or send no body at all.`,
    ]
  },
  async once(rig, seconds) {
    const inspectorPort = await freePort()
    return withService(rig, { worker: 'product', inspectorPort }, (service) =>
      profileHits(rig, service, inspectorPort, seconds),
    )
  },
}

async function profileHits(rig: Rig, service: Service, inspectorPort: number, seconds: number): Promise<Table[]> {
  const inspector = await Inspector.open(inspectorPort)
  try {
    const load = {
      method: 'POST',
      url: `${service.url}/hit`,
      connections: CONNECTIONS,
      keys: 1,
      order: 'turn',
    } as const
    const send = (seconds: number) => runWrk({ ...load, seed: 1, rampSeconds: 0, seconds }, rig.signal)
    await send(WARM_UP_SECONDS)
    await inspector.call('Profiler.enable')
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS })
    await inspector.call('Profiler.start')
    await send(seconds)
    const { profile } = (await inspector.call('Profiler.stop')) as { profile: Profile }
    return tablesOf(profile, await sourcesOf(await rig.scriptOf('product')))
  } finally {
    inspector.close()
  }
}

function tablesOf({ nodes, samples, timeDeltas }: Profile, locate: Locate): Table[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const stacks = new Stacks()
  const functions = new Map<string, number>()
  const parts = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const found = frameOf(frames.get(id)!, locate)
    if (found.functionName === '(idle)') continue
    const time = timeDeltas[index]!
    const name = `${found.functionName}\t${found.where}`
    functions.set(name, (functions.get(name) ?? 0) + time)
    parts.set(found.part, (parts.get(found.part) ?? 0) + time)
    total += time
    const stack: { name: string; part: string }[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName, part } = frameOf(frames.get(at)!, locate)
      if (functionName !== '(root)') stack.unshift({ name: functionName, part })
    }
    stacks.add(stack, time)
  }
  return [
    { title: BY_PART, headings: ['part', 'self time'], rows: shares(parts, total) },
    {
      title: `By function, the first ${ROWS}`,
      headings: ['function', 'where', 'self time'],
      rows: shares(functions, total),
    },
    stacks.table(),
  ]
}

/** A function of a profile, with where it is in the sources and what it is a part of. */
function frameOf({ functionName, url, lineNumber, columnNumber }: CallFrame, locate: Locate) {
  const source = url === MODULE ? locate(lineNumber, columnNumber) : null
  return {
    functionName: functionName || '(anonymous)',
    where: source === null ? url : `${source.path}:${source.line}`,
    // Names in parentheses are V8's own: (program), (garbage collector).
    part: source === null ? (functionName.startsWith('(') ? functionName : BUILT_IN) : partOf(source.path),
  }
}

/** The largest, as parts of a whole; tabs separate what goes into cells of its own. */
function shares(times: Map<string, number>, whole: number): string[][] {
  const largest = [...times].sort((a, b) => b[1] - a[1]).slice(0, ROWS)
  return largest.map(([name, time]) => [...name.split('\t'), `${((time / whole) * 100).toFixed(1)} %`])
}

type Locate = (line: number, column: number) => { path: string; line: number } | null

/** Finds where in the sources a place of a built module comes from, with paths from the project or the package on. */
async function sourcesOf(script: string): Promise<Locate> {
  const map = new SourceMap(JSON.parse(await readFile(`${script}.map`, 'utf8')))
  return (line, column) => {
    const { originalSource, originalLine } = map.findEntry(line, column) as Partial<SourceMapping>
    if (originalSource === undefined || originalLine === undefined) return null
    const path = relative(PROJECT, resolve(dirname(script), originalSource))
    return { path: path.replace(/^.*node_modules\//, ''), line: originalLine + 1 }
  }
}

/** The part of the project, or the package, that a source belongs to. */
function partOf(path: string): string {
  const [first, second] = path.split('/')
  return first === 'src' || first!.startsWith('@') ? `${first}/${second}` : first!
}
