import { expect, it } from 'vitest'
import { areApart, RIGHT, WRONG_SETTINGS, withWrong } from '../../harness/wrong-settings.ts'
import { problemsOf, VALID } from './valid-config.ts'

const fieldsOf = (wrong: readonly (typeof WRONG_SETTINGS)[number][]) =>
  problemsOf(withWrong({ ...VALID, ...RIGHT }, wrong)).map((problem) => problem.split(' ')[0])

it('Of two wrong settings, each is named', { timeout: 60_000 }, () => {
  for (const [i, one] of WRONG_SETTINGS.entries()) {
    for (const other of WRONG_SETTINGS.slice(i + 1, i + 9)) {
      if (!areApart(one, other)) continue
      // A type that is left out is not compared with others.
      const compared = ({ field }: typeof one) => field !== 'COUNTERS.page_view.also' && !field.endsWith('.bots')
      const named = [one, other].filter(compared).map(({ field }) => field)
      expect(fieldsOf([one, other])).toEqual(expect.arrayContaining(named))
    }
  }
})
