import { readFile } from 'node:fs/promises'
import { SourceMap, type SourceMapping } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { freePort } from '../../../local/processes/free-port.ts'
import { PROJECT } from '../../../local/project-root.ts'
import { type CpuProfile, cpuProfile } from '../../harness/cpu-profile.ts'
import { type Deployment, withDeployment } from '../../harness/deployment.ts'
import { Inspector } from '../../harness/inspector.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import { runWrk } from '../../harness/wrk.ts'
import type { Table } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256
const WARM_UP_SECONDS = 2
const FUNCTIONS = 10
const BY_PART = 'By part'
/** The name of the built module in workerd. */
const MODULE = 'worker.js'
const BUILT_IN = 'built into workerd and V8'

type CallFrame = CpuProfile['nodes'][number]['callFrame']

/** The CPU profile of a hit. */
export const profile: Topic = {
  name: 'profile',
  title: 'Where does a hit spend its CPU time?',
  text:
    `V8’s CPU profile of the Worker under \`POST /hit\` with one key and ${CONNECTIONS} connections, by self time. \`(program)\` is the part of workerd outside JavaScript: HTTP, streams, ` +
    'timers and the event loop.',
  variants: [],
  columns: [],
  comparisons: [],
  keptTables: [BY_PART],
  findings({ tables }) {
    const parts = tables.find(({ title }) => title === BY_PART)?.rows ?? []
    const own = parts.filter(([part]) => part!.startsWith('src/'))
    if (own.length === 0) return []
    const share = own.reduce((sum, [, time]) => sum + Number.parseFloat(time!), 0)
    return [
      `${share.toFixed(0)} % of the CPU time of a hit is spent in our own code. \`${own[0]![0]}\` takes the most, ${own[0]![1]}.`,
    ]
  },
  async once(testbed, seconds) {
    const inspectorPort = await freePort()
    return withDeployment(testbed, { worker: 'product', inspectorPort }, (deployment) =>
      profileHits(testbed, deployment, inspectorPort, seconds),
    )
  },
}

async function profileHits(
  testbed: Testbed,
  deployment: Deployment,
  inspectorPort: number,
  seconds: number,
): Promise<Table[]> {
  const inspector = await Inspector.open(inspectorPort)
  try {
    const load = {
      method: 'POST',
      url: `${deployment.url}/hit`,
      connections: CONNECTIONS,
      keys: 1,
      order: 'turn',
    } as const
    const send = (seconds: number) => runWrk({ ...load, seed: 1, rampSeconds: 0, seconds }, testbed.signal)
    await send(WARM_UP_SECONDS)
    const profile = await cpuProfile(inspector, () => send(seconds))
    return tablesOf(profile, await sourcesOf(await testbed.scriptOf('product')))
  } finally {
    inspector.close()
  }
}

function tablesOf({ nodes, samples, timeDeltas }: CpuProfile, locate: Locate): Table[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
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
  }
  return [
    { title: BY_PART, headings: ['part', 'self time'], rows: shares(parts, total) },
    {
      title: `By function, top ${FUNCTIONS}`,
      headings: ['function', 'source', 'self time'],
      rows: shares(functions, total).slice(0, FUNCTIONS),
    },
  ]
}

/** A function of a profile, with its place in the sources and the part of the project that it belongs to. */
function frameOf({ functionName, url, lineNumber, columnNumber }: CallFrame, locate: Locate) {
  const source = url === MODULE ? locate(lineNumber, columnNumber) : null
  return {
    functionName: functionName || '(anonymous)',
    where: source === null ? url : `${source.path}:${source.line}`,
    // Names in parentheses are V8's: (program), (garbage collector).
    part: source === null ? (functionName.startsWith('(') ? functionName : BUILT_IN) : partOf(source.path),
  }
}

/** Shares of the total, largest first. Tabs in a name separate cells. */
function shares(times: Map<string, number>, total: number): string[][] {
  const largest = [...times].sort((a, b) => b[1] - a[1])
  return largest.map(([name, time]) => [...name.split('\t'), `${((time / total) * 100).toFixed(1)} %`])
}

type Locate = (line: number, column: number) => { path: string; line: number } | null

/** Maps places in a built module to the sources, with paths relative to the project or the package. */
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
