import { readConfig } from '../../src/config/config.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { SECRETS } from '../check/wrong-settings.ts'

export interface Answers {
  name: string
  sites: string
  /** The folder of the files that `/d/` redirects to; empty: none. */
  downloads: string
  plan: string
}

/** A queue's name may have 63 characters, and the longest one ends with "-dead-batches". */
const NAME = /^[a-z](?:[a-z0-9-]{0,48}[a-z0-9])?$/

/** Each question, and the setting that checks its answer as the Worker does. */
const QUESTIONS: Record<keyof Answers, { asks: string; setting?: (answer: string) => object }> = {
  name: { asks: 'Name of the Worker' },
  sites: {
    asks: 'Sites whose pages count, such as "https://blog.example, https://shop.example"',
    setting: (SITES) => ({ SITES }),
  },
  downloads: {
    asks: 'Folder of your downloads, such as https://files.example.com/dist/ (empty: none)',
    setting: (redirect_to) => (redirect_to === '' ? {} : { COUNTERS: { download: { record_type: 2, redirect_to } } }),
  },
  plan: { asks: 'Your Cloudflare Workers plan, free or paid (serve ignores it)', setting: (PLAN) => ({ PLAN }) },
}

/** Answers that are wrong: a line for each, with the field and the fix. */
export class WrongAnswers extends Error {}

/**
 * Completes answers with those of a person, or with defaults.
 *
 * @param given answers that need no question
 * @param defaults for empty answers
 * @param ask asks a person, who gets another try after a wrong answer; `null`: nobody is there
 * @throws {WrongAnswers} if a given answer is wrong, or one without a default is missing
 */
export async function readAnswers(
  given: Partial<Answers>,
  defaults: Partial<Answers>,
  ask: ((question: string) => Promise<string>) | null,
): Promise<Answers> {
  const answers: Partial<Answers> = {}
  const wrong: string[] = []
  for (const [field, { asks }] of Object.entries(QUESTIONS) as [keyof Answers, { asks: string }][]) {
    const otherwise = defaults[field] ?? ''
    let problem: string | null
    let asked = ''
    do {
      const answer = given[field] ?? (await ask?.(`${asked}${asks}${otherwise && ` [${otherwise}]`}: `)) ?? ''
      answers[field] = answer.trim() || otherwise
      problem = problemOf(field, answers[field])
      asked = `${problem}\n`
    } while (problem !== null && given[field] === undefined && ask !== null)
    if (problem !== null) wrong.push(`--${problem}`)
  }
  if (wrong.length > 0) throw new WrongAnswers(wrong.join('\n'))
  return answers as Answers
}

function problemOf(field: keyof Answers, answer: string): string | null {
  if (field === 'name') {
    const fix =
      'name must be up to 50 lower-case letters, digits and dashes, begin with a letter and not end with a dash: my-counter'
    return NAME.test(answer) ? null : fix
  }
  if (field === 'sites' && answer === '') return 'sites is missing: name at least one, such as "https://blog.example"'
  const settings = { ...SECRETS, SITES: '', ...QUESTIONS[field].setting?.(answer) }
  const [mistake] = readConfig(settings as unknown as Bindings).mistakes
  return mistake === undefined ? null : `${field} ${mistake.message}`
}
