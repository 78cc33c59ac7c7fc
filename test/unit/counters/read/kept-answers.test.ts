import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { KeptAnswers } from '../../../../src/counters/read/kept-answers.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 20) }))
afterEach(() => void vi.useRealTimers())

const KEPT_MS = 10_000
const waitUntil = () => {}

/** Readings that end when they are told to. */
class Readings {
  readonly begun: PromiseWithResolvers<number>[] = []
  readonly read = () => {
    const reading = Promise.withResolvers<number>()
    this.begun.push(reading)
    return reading.promise
  }
}

const ask = async (answers: KeptAnswers, read: () => Promise<number>, question = 'a') =>
  (await answers.answer([question], { keptMs: KEPT_MS, read, waitUntil })).value

it('All who ask the same at once share one reading', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const asked = Array.from({ length: 50 }, () => ask(answers, readings.read))
  const other = ask(answers, readings.read, 'b')
  await vi.advanceTimersByTimeAsync(200)
  expect(readings.begun).toHaveLength(2)
  readings.begun[0]!.resolve(7)
  readings.begun[1]!.resolve(8)
  await vi.advanceTimersByTimeAsync(200)
  expect(await Promise.all(asked)).toEqual(Array(50).fill(7))
  expect(await other).toBe(8)
})

it('An answer is kept for its time, and not when the clock was set back', async () => {
  const answers = new KeptAnswers()
  let readings = 0
  const read = async () => ++readings
  expect(await ask(answers, read)).toBe(1)
  vi.advanceTimersByTime(KEPT_MS - 1)
  expect(await ask(answers, read)).toBe(1)
  vi.advanceTimersByTime(1)
  expect(await ask(answers, read)).toBe(2)
  vi.setSystemTime(Date.now() - 60_000)
  expect(await ask(answers, read)).toBe(3)
})

it('An error is for all who waited, and the next request reads again', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const asked = Promise.allSettled([ask(answers, readings.read), ask(answers, readings.read)])
  readings.begun[0]!.reject(new Error('away'))
  await vi.advanceTimersByTimeAsync(200)
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask(answers, async () => 5)).toBe(5)
})

it('A reading that gets no answer is repeated by one of those who wait', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const [, ...waiting] = Array.from({ length: 3 }, () => ask(answers, readings.read))
  await vi.advanceTimersByTimeAsync(8_000)
  expect(readings.begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(readings.begun).toHaveLength(2)
  for (const { resolve } of readings.begun.slice(1)) resolve(9)
  await vi.advanceTimersByTimeAsync(200)
  expect(await Promise.all(waiting)).toEqual([9, 9])
})

it('A reading continues for the others when the client of its reader hangs up', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const kept: Promise<unknown>[] = []
  void answers.answer(['a'], { keptMs: KEPT_MS, read: readings.read, waitUntil: (work) => void kept.push(work) })
  const other = ask(answers, readings.read)
  readings.begun[0]!.resolve(7)
  await Promise.all(kept)
  await vi.advanceTimersByTimeAsync(200)
  expect(await other).toBe(7)
})

it('An answer is kept for those who asked after its reading had begun, and for nobody else', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const isKept = async () => {
    return (await answers.answer(['a'], { keptMs: KEPT_MS, read: readings.read, waitUntil })).isKept
  }
  const first = isKept()
  const later = [isKept(), isKept()]
  // The reading falls silent. One of those who wait begins another, for both.
  await vi.advanceTimersByTimeAsync(9_000)
  expect(readings.begun).toHaveLength(2)
  const latest = isKept()
  for (const { resolve } of readings.begun) resolve(7)
  await vi.advanceTimersByTimeAsync(200)
  expect(await Promise.all([first, ...later, latest, isKept()])).toEqual([false, false, false, true, true])
})

it('Without a time to keep, an answer is read after the call, and shared by all who asked meanwhile', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const ask = async () => (await answers.answer(['a'], { keptMs: 0, read: readings.read, waitUntil })).value
  const first = ask()
  const meanwhile = [ask(), ask(), ask()]
  await vi.advanceTimersByTimeAsync(500)
  expect(readings.begun).toHaveLength(1)
  readings.begun[0]!.resolve(1)
  await vi.advanceTimersByTimeAsync(500)
  // One of them reads again, at the same instant or later.
  expect(readings.begun).toHaveLength(2)
  const late = ask()
  readings.begun[1]!.resolve(2)
  await vi.advanceTimersByTimeAsync(500)
  readings.begun[2]!.resolve(3)
  await vi.advanceTimersByTimeAsync(500)
  expect(await Promise.all([first, ...meanwhile, late])).toEqual([1, 2, 2, 2, 3])
})

it('Without a time to keep, a reading that fails or gets no answer is followed by another', async () => {
  const [answers, readings] = [new KeptAnswers(), new Readings()]
  const ask = async () => (await answers.answer(['a'], { keptMs: 0, read: readings.read, waitUntil })).value
  void ask()
  const waiting = ask()
  await vi.advanceTimersByTimeAsync(9_000)
  expect(readings.begun).toHaveLength(2)
  const second = expect(waiting).rejects.toThrow('away')
  const third = ask()
  readings.begun[1]!.reject(new Error('away'))
  await vi.advanceTimersByTimeAsync(500)
  readings.begun[2]!.resolve(3)
  await second
  expect(await third).toBe(3)
})
