import { inject, onTestFinished, TestRunner } from 'vitest'

/** The databases that a test may hold. On Vitess, there are only so many. */
const MOST_OF_A_TEST = 4

/** The names of the databases that the current test has taken, and of those that the tests of the current file share. */
const ofTest: string[] = []
const ofFile: string[] = []

/**
 * Takes a database from the test run, with all tables unless it is to be empty, until the current test ends or, between tests, until the current file ends.
 *
 * A test that takes a fifth gives its first one back, which refuses statements from then on.
 */
export async function takeDatabase({ empty = false } = {}): Promise<{ name: string; databaseUrl: string }> {
  // The test may end before the answer comes.
  const taken = TestRunner.getCurrentTest() ? ofTest : ofFile
  if (taken === ofTest) {
    if (taken.length === 0) onTestFinished(() => giveBackAll(ofTest))
    if (taken.length === MOST_OF_A_TEST) await giveBack(taken.shift()!)
  }
  const response = await fetch(`${inject('databases')}${empty ? '' : '?migrate'}`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const database = (await response.json()) as { name: string; databaseUrl: string }
  taken.push(database.name)
  return database
}

/** Gives back what the tests of the current file have shared. */
export const giveBackOfFile = (): Promise<void> => giveBackAll(ofFile)

async function giveBackAll(names: string[]): Promise<void> {
  await Promise.all(names.splice(0).map(giveBack))
}

async function giveBack(name: string): Promise<void> {
  const response = await fetch(inject('databases') + encodeURIComponent(name), { method: 'DELETE' })
  if (!response.ok) throw new Error(await response.text())
}
