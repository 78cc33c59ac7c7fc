/** A metric family that `parseOpenMetrics` found. */
export interface MetricFamily {
  name: string
  type: string
  unit: string | null
  help: string | null
  samples: { labels: Record<string, string>; value: string }[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const DESCRIPTOR = new RegExp(`^# (TYPE|UNIT|HELP) (${NAME}) (.+)$`)
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (-?\\d+(?:\\.\\d+)?)$`, 's')
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
/** Suffixes that belong to other types than gauges. */
const RESERVED = /_(total|created|count|sum|bucket|gcount|gsum|info)$/

/**
 * Reads the text format of OpenMetrics 1.0 by its grammar, as far as gauges without timestamps need it, and checks what the
 * specification demands beyond that: each family once, its lines together, each sample once, and units as suffixes.
 * https://prometheus.io/docs/specs/om/open_metrics_spec/
 * @throws {Error} for anything else
 */
export function parseOpenMetrics(text: string): MetricFamily[] {
  const end = '# EOF\n'
  if (!text.endsWith(`\n${end}`)) throw new Error('must end with # EOF')
  const families = new Map<string, MetricFamily>()
  let current: MetricFamily | null = null
  for (const line of text.slice(0, -end.length - 1).split('\n')) {
    const [, keyword, name, value] = DESCRIPTOR.exec(line) ?? []
    if (keyword === undefined) {
      current = withSample(current, line)
      continue
    }
    if (current?.name !== name) {
      if (families.has(name!)) throw new Error(`the lines of ${name} are not together`)
      if (RESERVED.test(name!)) throw new Error(`${name} has the suffix of another type`)
      current = { name: name!, type: 'unknown', unit: null, help: null, samples: [] }
      families.set(name!, current)
    }
    if (current!.samples.length > 0) throw new Error(`${line} must stand before the samples`)
    describeFamily(current!, keyword as 'TYPE' | 'UNIT' | 'HELP', value!)
  }
  return [...families.values()]
}

function describeFamily(family: MetricFamily, keyword: 'TYPE' | 'UNIT' | 'HELP', value: string): void {
  if (keyword === 'TYPE') {
    if (value !== 'gauge' || family.type !== 'unknown') throw new Error(`${family.name} must be a gauge, once`)
    family.type = value
  } else if (keyword === 'UNIT') {
    if (family.unit !== null || !family.name.endsWith(`_${value}`))
      throw new Error(`${family.name} must end with its unit`)
    family.unit = value
  } else {
    if (family.help !== null || /(?<!\\)(?:\\\\)*\\(?![n\\"])/.test(value)) throw new Error(`${value} is no help`)
    family.help = value
  }
}

function withSample(family: MetricFamily | null, line: string): MetricFamily {
  const [, name, labelsText, value] = SAMPLE.exec(line) ?? []
  if (family === null || name !== family.name) throw new Error(`${JSON.stringify(line)} belongs to no family`)
  const labels = labelsText === undefined ? {} : labelsOf(labelsText)
  const same = JSON.stringify(Object.entries(labels).sort())
  if (family.samples.some((sample) => JSON.stringify(Object.entries(sample.labels).sort()) === same)) {
    throw new Error(`${line} comes twice`)
  }
  family.samples.push({ labels, value: value! })
  return family
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (LABEL.lastIndex = 0; LABEL.lastIndex < text.length; ) {
    const at = LABEL.lastIndex
    const [, name, value, after] = LABEL.exec(text) ?? []
    if (name === undefined || name in labels) throw new Error(`${text.slice(at)} is no label`)
    if (after === ',' && LABEL.lastIndex === text.length) throw new Error(`${text} ends with a comma`)
    labels[name] = value!.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  }
  return labels
}
