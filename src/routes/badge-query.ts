import * as z from 'zod'
import { PERIOD_HOURS, type Period } from '../counters/read-period.ts'
import { once } from '../query.ts'
import { BADGE_STYLES, isBadgeText, MAX_LABEL } from '../views/badge.ts'
import { COLOR_RULE, parseColor } from '../views/badge-color.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(PERIOD_HOURS) as Period[])] as const
/** shields.io draws what the JSON says, and has styles that are not drawn here. */
const SHIELDS_STYLES = [...BADGE_STYLES, 'plastic', 'social'] as const

const oneOf = (values: readonly string[]) => `must be one of ${values.join(', ')}`

const color = z.string().transform((text, context) => {
  const color = parseColor(text)
  if (color === undefined) context.addIssue({ code: 'custom', message: COLOR_RULE })
  return color
})

const look = {
  label: once(z.string().refine(isBadgeText, LABEL_RULE).optional()),
  color: once(color.optional()),
  label_color: once(color.optional()),
  period: once(z.enum(PERIODS, { error: oneOf(PERIODS) }).default('all')),
  compact: once(z.enum(['true', 'false'], { error: 'must be true or false' }).default('false')),
}

/** What may be asked of a drawn badge. */
export const svgQuery = { ...look, style: once(z.enum(BADGE_STYLES, { error: oneOf(BADGE_STYLES) }).default('flat')) }

/** What may be asked of a badge that shields.io draws. */
export const jsonQuery = { ...look, style: once(z.enum(SHIELDS_STYLES, { error: oneOf(SHIELDS_STYLES) }).optional()) }
