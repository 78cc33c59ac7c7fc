import { createSlottedCounter } from 'slotted-counter'

const LINKS: Record<string, string> = {
  docs: 'https://developers.cloudflare.com/workers/',
  vitess: 'https://vitess.io/docs/',
}

const counter = createSlottedCounter({ COUNTERS: { follow: { record_type: 1 } } })

export default {
  async fetch(request: Request, env: object, ctx: ExecutionContext): Promise<Response> {
    const name = new URL(request.url).pathname.slice(1)
    const counting = counter.bind(env, ctx)
    if (name === '') {
      const answer = await counting.readMany('follow', Object.keys(LINKS))
      if (!answer.ok) return Response.json(answer, { status: answer.status })
      return Response.json(Object.fromEntries(answer.counters.map(({ key, count }) => [key, String(count)])))
    }
    const target = Object.hasOwn(LINKS, name) ? LINKS[name] : undefined
    if (target === undefined) return new Response('There is no such link.\n', { status: 404 })
    // Nobody waits for the count: it is written after the answer.
    void counting.increment('follow', name)
    return Response.redirect(target)
  },
  scheduled: counter.scheduled,
}
