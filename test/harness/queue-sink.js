/** Keeps the messages of the queues until a test takes them: `GET /QUEUE`. */
const kept = new Map()

export default {
  queue({ queue, messages }) {
    const taken = messages.map(({ id, timestamp, body, attempts }) => ({
      id,
      timestamp: timestamp.getTime(),
      body,
      attempts,
    }))
    kept.set(queue, [...(kept.get(queue) ?? []), ...taken])
  },

  fetch(request) {
    const queue = new URL(request.url).pathname.slice(1)
    const taken = kept.get(queue) ?? []
    kept.delete(queue)
    return Response.json(taken)
  },
}
