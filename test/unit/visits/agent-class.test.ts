import { describe, expect, it } from 'vitest'
import { AGENT_CLASSES, classOf } from '../../../src/visits/visitors.ts'

const SEEDS = [0, 1, 0xdeadbeef, 0xffffffff]
const AGENTS: [string, (i: number) => string][] = [
  ['whose versions differ', (i) => `Mozilla/5.0 (X11; Linux x86_64; rv:${i}.0) Gecko/20100101 Firefox/${i}.0`],
  ['that differ in one letter', (i) => String.fromCharCode(i + 32)],
  ['that differ in length', (i) => 'x'.repeat(i)],
]

describe('Classes of user agents', () => {
  it.each(AGENTS)('are all used, and evenly, by agents %s', (_, agent) => {
    for (const seed of SEEDS) {
      const sizes = Array<number>(AGENT_CLASSES).fill(0)
      for (let i = 0; i < 6_400; i++) sizes[classOf(agent(i), seed)]!++
      // 100 each, with a standard deviation of 10.
      expect(Math.min(...sizes)).toBeGreaterThan(50)
      expect(Math.max(...sizes)).toBeLessThan(150)
    }
  })

  it('are others under another salt', () => {
    const agents = Array.from({ length: 6_400 }, (_, i) => `agent ${i}`)
    const same = agents.filter((agent) => classOf(agent, 1) === classOf(agent, 2))
    expect(same.length).toBeLessThan(200)
  })

  it('are the same for the same agent and salt, also for an empty one', () => {
    for (const agent of ['', 'curl/8.5.0', '\ud800', 'é'.repeat(10_000)]) {
      expect(classOf(agent, 7)).toBe(classOf(agent, 7))
      expect(classOf(agent, 7)).toBeGreaterThanOrEqual(0)
      expect(classOf(agent, 7)).toBeLessThan(AGENT_CLASSES)
    }
  })
})
