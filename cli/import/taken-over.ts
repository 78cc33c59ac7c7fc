/** What is taken from the export of another counter. */
export interface TakenOver {
  /** The counter type of its page views or downloads. */
  type: string
  /** The counter type of its visitors; without it, they are not taken. */
  visitors?: string | undefined
  /** The counter type of its events; without it, they are not taken. */
  events?: string | undefined
  /** Is put in front of each key. */
  prefix: string
}

/** What a file has that is not taken, and how often: `bots`, for example. */
export type LeftOut = Map<string, number>
