/** The chapters of the API, in the order of the documentation. */
export const TAGS = {
  Counting: 'Add to counters, from browsers and from programs. Responses report the outcome in `X-Hit`.',
  Changing: 'Set, delete, rename and merge counters, and import counts from elsewhere.',
  Reading: 'Read exact counts: `count = total + pending`, at every instant.',
  Badges: 'Counts as images, for README pages. Public types only.',
  Operating: 'Monitor and maintain a running Worker.',
  Reference: 'This documentation.',
} as const

export type Tag = keyof typeof TAGS
