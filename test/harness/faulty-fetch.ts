/** The point at which a network fails. */
export interface Cut {
  /** Requests that succeed before. */
  after: number
  /** Whether the request at that point reaches the database, so that only its answer is lost. */
  delivered: boolean
  /** Whether a ROLLBACK succeeds afterwards, as it does if the caller survives the fault. */
  rollback: boolean
}

/** A `fetch` that fails from a certain request on, as if the Worker had been killed there. */
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
