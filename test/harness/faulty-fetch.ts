/** A network that dies at one point. */
export interface Cut {
  /** Requests that go through before. */
  after: number
  /** Whether the request at that point still reaches the database, only its answer being lost. */
  delivered: boolean
  /** Whether a ROLLBACK still goes through afterwards, as it does when the caller outlives the fault. */
  rollback: boolean
}

/**
 * A `fetch` that fails from a certain request on, as everything does for a Worker that is killed there.
 */
export function cutFetch({ after, delivered, rollback }: Cut): typeof fetch {
  let left = after
  let dead = false
  return async (input, init) => {
    const isRollback = /"query":"ROLLBACK"/.test(String(init?.body))
    if (!dead && left-- > 0) return fetch(input, init)
    if (isRollback && rollback) return fetch(input, init)
    if (!dead && delivered) {
      dead = true
      const response = await fetch(input, init)
      await response.arrayBuffer()
    }
    dead = true
    throw new TypeError('cut off by the test')
  }
}
