/** The chapters of the API, in the order in which they are shown. */
export const TAGS = {
  Counting: 'Adding to counters, from browsers and from programs. Every answer says in `X-Hit` what became of it.',
  Changing: 'Setting counters, and adding what was counted elsewhere.',
  Reading: 'Exact counts: `count = total + pending`, at every instant.',
  Badges: 'Counts as images, for README pages. Only for public types.',
  Operating: 'What the operator asks of a running Worker.',
  Reference: 'This documentation.',
} as const

export type Tag = keyof typeof TAGS
