/** The periods of pages that have a tile, with its label. */
export const TILES = { today: 'Today', '7d': '7 days', '30d': '30 days', '12m': '12 months', all: 'All time' } as const

/** Those among other days. */
export const OTHER_PERIODS = {
  yesterday: 'Yesterday',
  month: 'This month',
  'last-month': 'Last month',
  '90d': '90 days',
} as const

export type PeriodName = keyof typeof TILES | keyof typeof OTHER_PERIODS

/** All of them, as addresses name them. */
export const PERIOD_NAMES = Object.keys({ ...TILES, ...OTHER_PERIODS }) as PeriodName[]

/** The units of a chart that can be chosen. A short period has hours instead. */
export const CHART_UNITS = { day: 'Days', week: 'Weeks', month: 'Months' } as const
export type ChartUnit = keyof typeof CHART_UNITS
export const CHART_UNIT_NAMES = Object.keys(CHART_UNITS) as ChartUnit[]
