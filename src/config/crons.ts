import * as z from 'zod/mini'
import { table } from './fields.ts'

/** The cron expressions of wrangler.toml. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '*/2 * * * *'

const RULE = 'must be the cron expression of a trigger, five fields such as "*/2 * * * *"'

const cron = (by: string) =>
  z._default(z.string({ error: RULE }).check(z.refine((value) => /^\S+(?: \S+){4}$/.test(value), RULE)), by)

/** `CRONS`: by which trigger each task runs. One run has not enough statements for both. */
export const crons = z.prefault(
  table({ roll_up: cron(ROLL_UP_CRON), pruning: cron(PRUNING_CRON) }).check(
    z.refine(({ rollUp, pruning }) => rollUp !== pruning, {
      path: ['pruning'],
      error: 'must differ from CRONS.roll_up: each task needs a run of its own',
    }),
  ),
  {},
)
