/** A Worker that calls the counter over its service binding, as the query says. */
export default {
  async fetch(request, env, context) {
    const { pathname, searchParams } = new URL(request.url)
    const method = pathname.slice(1)
    if (method === 'fetch') return env.COUNTER.fetch(searchParams.get('url'))
    const call = env.COUNTER[method](...JSON.parse(searchParams.get('with')))
    if (searchParams.has('unawaited')) {
      context.waitUntil(call)
      return new Response(null, { status: 202 })
    }
    const text = (_, value) => (typeof value === 'bigint' ? `${value}n` : value)
    return new Response(JSON.stringify(await call, text))
  },
}
